//! One request over the line, and who we are: a server that does not believe the first token is shown
//! one more, and no third.

use http::HeaderMap;
use http::StatusCode;
use http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use narthex_egress::{Answering, LineRequest};
use narthex_gate::upstream::UpstreamFault;
use secrecy::{ExposeSecret as _, SecretString};

use super::exchange::Exchange;
use super::fault_of;
use crate::upstream::incoming::garbled;

impl Exchange {
    /// Sends, with the owner's headers and the token of now. A 401 comes back only as a fault.
    pub(super) async fn knock(&self, mut request: LineRequest) -> Result<Answering, UpstreamFault> {
        for (name, value) in &self.owner {
            request.headers.append(name, value.clone());
        }
        let Some(credentials) = &self.credentials else {
            return admitted(self.line.send(request).await.map_err(fault_of)?);
        };
        let token = credentials.bearer(None).await?;
        let answer = self.shown(request.clone(), token.as_ref()).await?;
        if answer.status != StatusCode::UNAUTHORIZED {
            return admitted(answer);
        }
        // Turned away before anything was done, so the same may be sent once more.
        let challenge = challenge(&answer.headers);
        drop(answer);
        let refused = token.unwrap_or_default();
        let said = challenge.as_deref().unwrap_or_default();
        let fresh = credentials.bearer(Some((&refused, said))).await?;
        match fresh.filter(|fresh| fresh.expose_secret() != refused.expose_secret()) {
            Some(fresh) => admitted(self.shown(request, Some(&fresh)).await?),
            None => Err(UpstreamFault::Unauthorized { challenge }),
        }
    }

    async fn shown(
        &self,
        mut request: LineRequest,
        token: Option<&SecretString>,
    ) -> Result<Answering, UpstreamFault> {
        if let Some(token) = token {
            let value = HeaderValue::from_str(&format!("Bearer {}", token.expose_secret()));
            let mut value =
                value.map_err(|_| garbled("our token is not one line of plain text"))?;
            value.set_sensitive(true);
            request.headers.insert(AUTHORIZATION, value);
        }
        self.line.send(request).await.map_err(fault_of)
    }
}

fn admitted(answer: Answering) -> Result<Answering, UpstreamFault> {
    match answer.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Err(UpstreamFault::Unauthorized { challenge: challenge(&answer.headers) })
        }
        _ => Ok(answer),
    }
}

/// What a server says in `WWW-Authenticate`, on one line and bounded.
fn challenge(headers: &HeaderMap) -> Option<String> {
    let said = headers.get(WWW_AUTHENTICATE)?.as_bytes();
    let plain = |byte: &u8| if (b' '..=b'~').contains(byte) { char::from(*byte) } else { '?' };
    Some(said.iter().take(MAX_CHALLENGE).map(plain).collect())
}

const MAX_CHALLENGE: usize = 2048;
