//! A call that waits for the owner, told in the way its client speaks.
//!
//! | the client | with a console | without |
//! |---|---|---|
//! | 2026-07-28, URL elicitation declared on this request | `input_required` | result |
//! | 2025-11-25, URL elicitation declared in a handshake that is remembered | error -32042 | result |
//! | any other | result | result |
//!
//! The approval's secret is in none of them: the gate does not hand it out here.

use narthex_gate::{SessionTerms, Waiting};
use rmcp::model::{ElicitRequest, ElicitRequestParams, InputRequest, InputRequiredResult};
use serde_json::{Map, Value, json};

use super::wire::server_info_meta;
use crate::console::ConsoleUrl;
use crate::era::{CAPABILITIES_META_KEY, Era, negotiate};
use crate::fault::Fault;
use crate::message::Message;

/// How a client is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Way {
    /// An intermediate result that asks it to send a person to the console.
    InputRequired(ConsoleUrl),
    /// An error that asks for the same.
    UrlRequired(ConsoleUrl),
    /// A result the model reads.
    Result,
}

impl Way {
    /// Chooses by era, by what was declared, and by whether there is a console.
    pub(super) fn of(
        console: Option<&ConsoleUrl>,
        era: Era,
        message: &Message,
        terms: SessionTerms,
    ) -> Self {
        let Some(console) = console.cloned() else { return Self::Result };
        match era {
            // Who comes back with a state was sent to the console already: asked again at once,
            // it would only go round in circles.
            Era::Modern if message.params.contains_key(STATE_PARAM) => Self::Result,
            Era::Modern => {
                let declared = message.meta().and_then(|meta| meta.get(CAPABILITIES_META_KEY));
                if opens_urls(declared) { Self::InputRequired(console) } else { Self::Result }
            }
            Era::Legacy if terms.opens_urls => Self::UrlRequired(console),
            Era::Legacy => Self::Result,
        }
    }
}

/// Whether a handshake leads to a client that can be sent to a URL: only 2025-11-25 can say so.
pub(super) fn handshake_opens_urls(params: &Map<String, Value>) -> bool {
    negotiate(params.get("protocolVersion")) == rmcp::model::ProtocolVersion::V_2025_11_25
        && opens_urls(params.get("capabilities"))
}

/// `elicitation: {url: {}}`. An empty `elicitation` means forms, and no one is sent anywhere.
fn opens_urls(capabilities: Option<&Value>) -> bool {
    capabilities
        .and_then(|declared| declared.pointer("/elicitation/url"))
        .is_some_and(Value::is_object)
}

/// Whether the person in front of the client would not go where they were sent.
pub(super) fn turned_down(message: &Message) -> bool {
    let action = message
        .params
        .get(RESPONSES_PARAM)
        .and_then(|responses| responses.get(REQUEST_KEY))
        .and_then(|response| response.get("action"))
        .and_then(Value::as_str);
    matches!(action, Some("decline" | "cancel"))
}

pub(super) fn input_required(
    waiting: &Waiting,
    console: &ConsoleUrl,
    state: String,
) -> InputRequiredResult {
    let request = ElicitRequest::new(elicitation(waiting, console));
    let requests = [(REQUEST_KEY.to_owned(), InputRequest::Elicitation(request))];
    InputRequiredResult::new(Some(requests.into_iter().collect()), Some(state))
        .with_meta(server_info_meta())
}

pub(super) fn url_required(waiting: &Waiting, console: &ConsoleUrl) -> Fault {
    let elicitation = serde_json::to_value(elicitation(waiting, console)).unwrap_or_default();
    Fault::url_elicitation_required(
        waiting.because.message(),
        json!({ "elicitations": [elicitation] }),
    )
}

fn elicitation(waiting: &Waiting, console: &ConsoleUrl) -> ElicitRequestParams {
    ElicitRequestParams::UrlElicitationParams {
        meta: None,
        message: format!(
            "{}. Request {} waits until {}; the owner decides on it in the console.",
            waiting.because.message(),
            waiting.approval,
            waiting.until,
        ),
        url: console.approval(waiting.approval),
        elicitation_id: waiting.approval.to_string(),
    }
}

pub(super) const STATE_PARAM: &str = "requestState";
pub(super) const RESPONSES_PARAM: &str = "inputResponses";
/// What we call the one thing we ever ask for.
const REQUEST_KEY: &str = "approval";
