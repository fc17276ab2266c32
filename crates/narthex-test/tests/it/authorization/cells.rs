//! The words of the table: how a request ends, and which records it leaves.

use narthex_core::{Outcome, Phase, Reason, Ruled, Tier};
use narthex_store::chain::Record;
use narthex_test::{Answer, HouseOptions, Persona};

/// What a client is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// It is done.
    Done,
    /// Taken without a word.
    Accepted,
    /// A result with `isError` and this reason.
    Says(Reason),
    /// There is no such tool, denied or not.
    NoSuchTool,
    /// There is no such method.
    NoSuchMethod,
    /// There is no such resource, denied or not.
    NoSuchResource,
    /// It did not get past the door: this status, this reason.
    Door(u16, Reason),
}

/// One record: phase, decision, reason, outcome, tier.
pub(super) type Left = (Phase, Ruled, Reason, Outcome, Option<Tier>);

/// One cell of the table.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) told: Told,
    pub(super) leaves: Vec<Left>,
}

/// Looked up and answered.
pub(super) fn looked() -> Cell {
    let left = (Phase::Observed, Ruled::Allow, Reason::Permitted, Outcome::Ok, Some(Tier::T0));
    Cell { told: Told::Done, leaves: vec![left] }
}

/// Allowed, but there is nothing there for this caller.
pub(super) fn found_nothing() -> Cell {
    let left = (Phase::Observed, Ruled::Allow, Reason::NotFound, Outcome::Error, Some(Tier::T0));
    Cell { told: Told::Says(Reason::NotFound), leaves: vec![left] }
}

/// A proposal that now waits: intent and outcome, in one transaction.
pub(super) fn proposed() -> Cell {
    let t1 = Some(Tier::T1);
    let intent = (Phase::Intent, Ruled::Allow, Reason::Permitted, Outcome::Open, t1);
    let outcome = (Phase::Outcome, Ruled::Allow, Reason::Permitted, Outcome::Ok, t1);
    Cell { told: Told::Done, leaves: vec![intent, outcome] }
}

/// Told to the model as an error it can act on.
pub(super) fn refused(reason: Reason, tier: Tier) -> Cell {
    Cell { told: Told::Says(reason), leaves: vec![no(reason, Some(tier))] }
}

/// Denied whatever the arguments, so not there: told like a name nobody has.
pub(super) fn hidden(tier: Tier) -> Cell {
    Cell { told: Told::NoSuchTool, leaves: vec![no(Reason::PolicyDenied, Some(tier))] }
}

/// A name nobody has.
pub(super) fn unknown() -> Cell {
    Cell { told: Told::NoSuchTool, leaves: vec![no(Reason::UnknownTool, None)] }
}

/// A method that is answered and noted.
pub(super) fn noted() -> Cell {
    let left = (Phase::Observed, Ruled::Allow, Reason::Permitted, Outcome::Ok, None);
    Cell { told: Told::Done, leaves: vec![left] }
}

/// A method that is not advertised.
pub(super) fn no_method() -> Cell {
    Cell { told: Told::NoSuchMethod, leaves: vec![no(Reason::UnknownMethod, None)] }
}

/// A resource nobody has.
pub(super) fn no_resource() -> Cell {
    Cell { told: Told::NoSuchResource, leaves: vec![no(Reason::NotFound, None)] }
}

/// Let in, but to nothing of this path: told like a path that leads nowhere.
pub(super) fn masked() -> Cell {
    let told = Told::Door(404, Reason::NotFound);
    Cell { told, leaves: vec![no(Reason::NotFound, None)] }
}

/// Answered without a record.
pub(super) fn unrecorded(told: Told) -> Cell {
    Cell { told, leaves: Vec::new() }
}

/// Who does not get past the door, whatever is asked.
pub(super) fn door(persona: Persona) -> Option<Cell> {
    let (status, reason) = match persona {
        Persona::Unbound => (403, Reason::NoSpaceScope),
        Persona::Owner => (401, Reason::AgentRequired),
        Persona::Disabled | Persona::Revoked | Persona::Stranger | Persona::Nobody => {
            (401, Reason::Unauthorized)
        }
        Persona::AgentA
        | Persona::AgentB
        | Persona::Reader
        | Persona::Creator
        | Persona::Lowered
        | Persona::Bare => return None,
    };
    Some(Cell { told: Told::Door(status, reason), leaves: vec![no(reason, None)] })
}

const fn no(reason: Reason, tier: Option<Tier>) -> Left {
    (Phase::Refused, Ruled::Refuse, reason, Outcome::Refused, tier)
}

/// What an answer tells.
pub(super) fn told(answer: &Answer) -> anyhow::Result<Told> {
    let reason = |code: &str| Reason::ALL.iter().copied().find(|reason| reason.code() == code);
    if let Some(reason) = answer.door_code().as_deref().and_then(reason) {
        return Ok(Told::Door(answer.status, reason));
    }
    if let Some(reason) = answer.tool_code().as_deref().and_then(reason) {
        return Ok(Told::Says(reason));
    }
    let message = answer.json().pointer("/error/message").cloned().unwrap_or_default();
    match (answer.status, answer.rpc_code(), message.as_str()) {
        (202, None, _) if answer.text.is_empty() => Ok(Told::Accepted),
        (200, Some(-32602), Some(said)) if said.starts_with("unknown tool: ") => {
            Ok(Told::NoSuchTool)
        }
        (200, Some(-32602 | -32002), Some("unknown resource")) => Ok(Told::NoSuchResource),
        (200 | 404, Some(-32601), _) => Ok(Told::NoSuchMethod),
        (200, None, _) if answer.is_ok() => Ok(Told::Done),
        _ => anyhow::bail!("an answer the table has no word for: {answer:?}"),
    }
}

/// What a record is in the table.
pub(super) fn left(record: &Record) -> Left {
    let draft = &record.draft;
    (draft.phase, draft.decision, draft.reason, draft.outcome, draft.tier)
}

/// Every refusal at the door has a record of its own, so that one can be told from another.
pub(super) fn every_refusal_recorded() -> HouseOptions {
    let mut options = HouseOptions::default();
    options.gate.refusal_window = std::time::Duration::ZERO;
    options
}
