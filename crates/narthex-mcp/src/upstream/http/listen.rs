//! What a server announces by itself: a stream that is kept open while the connection stands.
//!
//! What was missed of changes of lists between two streams counts as one; what was missed of a log, or
//! of what is said of a resource, is missed.

use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT, HeaderValue};
use http::{Method, StatusCode};
use narthex_egress::{Answering, LineRequest};
use narthex_gate::upstream::{Greeting, UpstreamFault};
use serde_json::{Map, Value};

use super::exchange::Exchange;
use super::headers;
use super::receiving::kind;
use crate::upstream::greet;
use crate::upstream::outgoing;

/// Listens in a task of its own, if the server said that it announces anything.
pub(super) fn begin(exchange: &Arc<Exchange>, greeting: &Greeting) {
    let announces = greet::announces(greeting);
    let speaks = !greeting.modern && greet::speaks_up(greeting);
    if announces.is_empty() && !speaks {
        return;
    }
    let modern = greeting.modern.then_some(announces);
    let listening = listen(Arc::clone(exchange), modern);
    let stop = exchange.talk.stop.clone();
    drop(exchange.talk.tasks.spawn(stop.run_until_cancelled_owned(listening)));
}

async fn listen(exchange: Arc<Exchange>, modern: Option<Map<String, Value>>) {
    let (mut vain, mut again) = (0_u32, false);
    while vain < MOST_IN_VAIN {
        let id = exchange.talk.next_id();
        match exchange.open(id, modern.as_ref()).await {
            Ok(answer) if answer.status.is_success() && kind(&answer.headers) == EVENTS => {
                if std::mem::replace(&mut again, true) {
                    exchange.talk.raise_lists();
                }
                let heard = exchange.overhear(id, answer).await;
                vain = if heard > 0 { 0 } else { vain + 1 };
            }
            Ok(answer) if is_final(answer.status) => return,
            Err(UpstreamFault::Unauthorized { .. }) => return,
            _ => vain += 1,
        }
        tokio::time::sleep(PAUSE * 2_u32.saturating_pow(vain.min(6))).await;
    }
}

impl Exchange {
    async fn open(
        &self,
        id: u64,
        modern: Option<&Map<String, Value>>,
    ) -> Result<Answering, UpstreamFault> {
        let Some(announces) = modern else {
            let mut headers = self.session().headers();
            headers.insert(ACCEPT, HeaderValue::from_static(EVENTS));
            return self
                .knock(LineRequest {
                    method: Method::GET,
                    headers,
                    body: bytes::Bytes::new(),
                    deadline: self.config.listen,
                    body_bytes: MOST_BYTES,
                })
                .await;
        };
        let mut params = Map::new();
        params.insert("notifications".to_owned(), announces.clone().into());
        let headers = headers::modern(METHOD, &params, None, None)?;
        outgoing::dress(&mut params, Some(&Map::new()), None, None);
        self.post(headers, outgoing::request(id, METHOD, &params), self.config.listen).await
    }
}

/// A session may be lost and found again, and a server may be busy; everything else that is the
/// client's fault stays so.
fn is_final(status: StatusCode) -> bool {
    let may_pass = [StatusCode::NOT_FOUND, StatusCode::TOO_MANY_REQUESTS];
    status.is_success() || (status.is_client_error() && !may_pass.contains(&status))
}

const METHOD: &str = "subscriptions/listen";
const EVENTS: &str = "text/event-stream";
/// Streams that said nothing, one after the other, before it is given up.
const MOST_IN_VAIN: u32 = 8;
const PAUSE: Duration = Duration::from_secs(1);
/// Read of one stream before it is opened anew.
const MOST_BYTES: usize = 64 << 20;
