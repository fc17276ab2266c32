//! What a server answered, made fit to be handed on: bounded already, now cleaned, checked against its
//! own word, and marked as the server's.

use narthex_core::{Cost, Reason, Slug};
use narthex_gate::upstream::UpstreamFault;
use narthex_gate::{ToolError, ToolOutput};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::doubled::has_doubled_keys;
use super::inert::make_inert;
use crate::hall::Answered;
use crate::sanitise::Scrubber;
use crate::scan::{self, Finding};

/// Takes an answer: untouched, byte for byte, unless something had to be taken out of it.
pub(super) fn take(
    server: &Slug,
    answered: Answered,
    schema: Option<&jsonschema::Validator>,
) -> Result<ToolOutput, ToolError> {
    let Answered { answer, scrubber } = answered;
    match answer {
        Ok(raw) => result(server, raw, &scrubber, schema),
        Err(fault) => Err(error(&fault, &scrubber)),
    }
}

fn result(
    server: &Slug,
    raw: Box<RawValue>,
    scrubber: &Scrubber,
    schema: Option<&jsonschema::Validator>,
) -> Result<ToolOutput, ToolError> {
    // What it did, it did; only what that cost nobody says.
    let failed = |why: &str| Err(ToolError::caller(Reason::UpstreamFailed, why).unpriced());
    let hidden = scrubber.hide(raw.get());
    let text = hidden.as_deref().unwrap_or_else(|| raw.get());
    let Ok(value @ Value::Object(_)) = serde_json::from_str::<Value>(text) else {
        return failed("the server's answer is no object");
    };
    if value.get("resultType").and_then(Value::as_str).is_some_and(|kind| kind != "complete") {
        return failed(
            "the server wants to ask something before it answers, which the owner has not allowed it",
        );
    }
    let cost = match value.pointer(COST) {
        None => None,
        Some(said) => match said.as_f64().map(Cost::from_figure) {
            Some(Ok(cost)) => Some(cost),
            _ => return failed("the server says of its answer that it cost what is no cost"),
        },
    };
    let clean = scan::result(value);
    let mut value = clean.value;
    // A key that is there twice would mean one thing to one reader and another to the next.
    let mut changed =
        hidden.is_some() || has_doubled_keys(text) || clean.findings.iter().any(|f| f.code.bars());
    changed |= make_inert(&mut value) > 0;
    if value.get("isError") == Some(&Value::Bool(true)) {
        changed |= scrub_texts(&mut value, scrubber);
    } else if let Some(schema) = schema {
        let fits = value.get("structuredContent").is_some_and(|content| schema.is_valid(content));
        if !fits {
            return failed("the server's answer is not what its own output schema says it is");
        }
    }
    let raw = if changed {
        to_raw_value(&value).map_err(|error| ToolError::Internal(error.to_string()))?
    } else {
        raw
    };
    let mut output = ToolOutput::raw(raw, notes(server, &clean.findings));
    output.cost = cost;
    Ok(output)
}

/// Whose it is, and what was found in it.
fn notes(server: &Slug, findings: &[Finding]) -> Map<String, Value> {
    let told = findings.iter().take(MAX_TOLD).map(|finding| {
        json!({"code": finding.code, "severity": finding.severity, "place": finding.place})
    });
    let told: Vec<Value> = told.collect();
    let mut said = json!({"server": server, "trust": "untrusted"});
    if let (false, Some(said)) = (told.is_empty(), said.as_object_mut()) {
        said.insert("findings".to_owned(), told.into());
    }
    Map::from_iter([(PROVENANCE.to_owned(), said)])
}

/// Takes secrets and places out of the texts of an error. Says whether there were any.
fn scrub_texts(value: &mut Value, scrubber: &Scrubber) -> bool {
    let mut changed = false;
    for item in value.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(Value::String(text)) = item.get_mut("text") else { continue };
        let scrubbed = scrubber.scrub(text);
        changed |= scrubbed != *text;
        *text = scrubbed;
    }
    if let Some(content) = value.get_mut("structuredContent") {
        changed |= scrub_all(content, scrubber);
    }
    changed
}

/// Takes secrets and places out of every text. Says whether there were any.
pub(super) fn scrub_all(value: &mut Value, scrubber: &Scrubber) -> bool {
    match value {
        Value::String(text) => {
            let scrubbed = scrubber.scrub(text);
            let changed = scrubbed != *text;
            *text = scrubbed;
            changed
        }
        // Each is looked at, whatever the others had in them.
        Value::Array(items) => {
            items.iter_mut().fold(false, |c, item| scrub_all(item, scrubber) | c)
        }
        Value::Object(map) => map.values_mut().fold(false, |c, item| scrub_all(item, scrubber) | c),
        _ => false,
    }
}

/// What an agent is told of a question that was not answered.
fn error(fault: &UpstreamFault, scrubber: &Scrubber) -> ToolError {
    match fault {
        UpstreamFault::Refused { code, message, data } => {
            let data = data.as_ref().map(|data| {
                let mut data = scan::result((**data).clone()).value;
                scrub_all(&mut data, scrubber);
                data.to_string()
            });
            ToolError::Upstream {
                code: *code,
                message: scrubber.scrub(message),
                data: data.filter(|data| data.len() <= MAX_DATA),
                taint: narthex_core::Taint { private: false, untrusted: true },
            }
        }
        fault => {
            let told =
                ToolError::caller(Reason::UpstreamFailed, scrubber.scrub(&fault.to_string()));
            if may_have_acted(fault) { told.unpriced() } else { told }
        }
    }
}

/// Whether the question reached the server, and perhaps had its effect.
const fn may_have_acted(fault: &UpstreamFault) -> bool {
    match fault {
        UpstreamFault::Ended(_)
        | UpstreamFault::Late(_)
        | UpstreamFault::TooLarge { .. }
        | UpstreamFault::Garbled(_) => true,
        UpstreamFault::Unreachable(_)
        | UpstreamFault::Unauthorized { .. }
        | UpstreamFault::Refused { .. }
        | UpstreamFault::Busy => false,
    }
}

/// Where it is said whose something is.
pub(super) const PROVENANCE: &str = "narthex/provenance";
const COST: &str = "/_meta/narthex~1cost";
const MAX_TOLD: usize = 16;
const MAX_DATA: usize = 16 * 1024;
