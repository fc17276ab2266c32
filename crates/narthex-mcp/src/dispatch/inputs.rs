//! What a server behind us asks of the client that made a call, told in the way its client speaks:
//! `input_required` in the newer revision, a request on the call's own stream in the older ones.

use std::collections::BTreeMap;

use narthex_core::Reason;
use narthex_gate::{Admitted, AskableClient, ClientCan, ClientWay, InputNeeded, Repeats, Ticket};
use serde_json::{Map, Value, json};

use super::request_state::{CallMark, INPUT};
use super::waiting::{RESPONSES_PARAM, STATE_PARAM, handshake_opens_urls};
use super::wire::server_info_meta;
use super::{Asked, Dispatch};
use crate::era::{CAPABILITIES_META_KEY, Era};
use crate::fault::Fault;

impl Asked {
    /// The client, as far as it can be asked anything.
    pub(super) fn client(&self) -> Option<AskableClient> {
        let (can, way) = match self.era {
            Era::Modern => {
                let declared = self.message.meta().and_then(|meta| meta.get(CAPABILITIES_META_KEY));
                (can(declared, true), ClientWay::ByRepeating)
            }
            Era::Legacy => {
                let voice = self.voice.clone()?;
                (self.carrier.terms().can, ClientWay::InPlace(voice))
            }
        };
        (!can.is_nothing()).then_some(AskableClient { can, way })
    }
}

impl Dispatch {
    /// What a call of a server's is known by when it comes back; none where it will not.
    pub(super) fn input_mark(
        &self,
        admitted: &Admitted,
        asked: &Asked,
        name: &str,
        arguments: &Value,
    ) -> Option<CallMark> {
        let comes_back = asked.era == Era::Modern && self.foreign().is_some();
        let surface = self.surface.surface().name();
        comes_back.then(|| CallMark::new(admitted, surface, name, arguments))
    }

    /// The call that this one repeats, if its state says so.
    pub(super) fn repeats(&self, asked: &Asked, mark: Option<&CallMark>) -> Option<Repeats> {
        let state = asked.message.params.get(STATE_PARAM)?;
        let ticket = mark?.check(&self.gate, INPUT, state).ok()?;
        let answers: BTreeMap<String, Value> = match asked.message.params.get(RESPONSES_PARAM) {
            Some(Value::Object(said)) => {
                let said = said.iter().take(MOST_ANSWERS);
                said.map(|(key, value)| (key.clone(), value.clone())).collect()
            }
            _ => BTreeMap::new(),
        };
        Some(Repeats { ticket: Ticket(ticket), answers })
    }

    /// The same for what is asked by another method than `tools/call`: a state must be ours.
    pub(super) async fn repeats_passage(
        &self,
        admitted: &Admitted,
        asked: &Asked,
        mark: Option<&CallMark>,
    ) -> Result<Option<Repeats>, Fault> {
        let repeats = self.repeats(asked, mark);
        let stray = asked.era == Era::Modern && asked.message.params.contains_key(STATE_PARAM);
        if repeats.is_none() && stray {
            let fault = Fault::invalid_params(
                "requestState is not one of this call's; make the call without it",
            );
            return self.refuse(admitted, &asked.method(), Reason::InvalidRequest, fault).await;
        }
        Ok(repeats)
    }

    /// What a client of the newer revision is told.
    pub(super) fn input_required(&self, needed: &InputNeeded, mark: Option<&CallMark>) -> Value {
        let asks = needed.asks.iter();
        let requests: Map<String, Value> = asks
            .map(|(key, ask)| (key.clone(), json!({"method": ask.method, "params": ask.params})))
            .collect();
        let state = mark.map(|mark| mark.seal(&self.gate, INPUT, needed.ticket.0, needed.until));
        json!({"resultType": "input_required", "inputRequests": requests, "requestState": state,
            "_meta": server_info_meta()})
    }
}

/// What a handshake says that its client can be asked.
pub(super) fn handshake_can(params: &Map<String, Value>) -> ClientCan {
    can(params.get("capabilities"), handshake_opens_urls(params))
}

/// `elicitation: {}` means forms; pages are said by name.
fn can(declared: Option<&Value>, knows_urls: bool) -> ClientCan {
    let is_there = |pointer: &str| {
        declared.and_then(|declared| declared.pointer(pointer)).is_some_and(Value::is_object)
    };
    let urls = is_there("/elicitation/url");
    ClientCan {
        forms: is_there("/elicitation/form") || (is_there("/elicitation") && !urls),
        urls: urls && knows_urls,
        samples: is_there("/sampling"),
        roots: is_there("/roots"),
    }
}

/// Answers in one message.
const MOST_ANSWERS: usize = 16;
