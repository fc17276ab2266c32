//! What a client of the older revisions arranges once for all its calls: how much of the log it hears,
//! and which resources it watches.

use narthex_core::{AgentId, DefinitionName, Reason, Slug};
use narthex_gate::upstream::LogLevel;
use narthex_gate::{Foreign, ToolError, ToolOutput};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{answer, told};
use crate::hall::{Arranged, ServerHall, View};

/// Whether a method arranges something.
pub(super) fn is_arranged(method: &str) -> bool {
    [Foreign::SET_LEVEL, Foreign::SUBSCRIBE, Foreign::UNSUBSCRIBE].contains(&method)
}

/// Arranges it with the server, as its agent.
pub(super) async fn arrange(
    (hall, server): (&ServerHall, &Slug),
    view: &View,
    agent: AgentId,
    (method, wants): (&str, Option<&DefinitionName>),
    arguments: &Value,
) -> Result<ToolOutput, ToolError> {
    let text = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
    let arranged = if method == Foreign::SET_LEVEL {
        let level = LogLevel::parse(text("level")).ok_or_else(ToolError::not_found)?;
        hall.set_level(view, agent, level).await
    } else {
        let wants = wants.ok_or_else(ToolError::not_found)?;
        let watches = method == Foreign::SUBSCRIBE;
        hall.set_watch(view, agent, (text("uri"), watches), wants).await
    };
    match arranged.map_err(|fault| told(&fault))? {
        Arranged::Answered(answered) => {
            hall.heed(view, &answered.answer).await;
            // That it was done is all there is to say; what else the server says is dropped.
            answer::take(server, answered, None).and_then(|_| nothing())
        }
        Arranged::Here => nothing(),
        Arranged::NotOffered => Err(ToolError::Upstream {
            code: METHOD_NOT_FOUND,
            message: "the server does not offer this".to_owned(),
            data: None,
            taint: narthex_core::Taint::CLEAN,
        }),
        Arranged::Full => {
            let message = "no more resources of one server can be watched";
            Err(ToolError::caller(Reason::LimitReached, message))
        }
    }
}

fn nothing() -> Result<ToolOutput, ToolError> {
    let nothing = RawValue::from_string("{}".to_owned());
    let nothing = nothing.map_err(|error| ToolError::Internal(error.to_string()))?;
    Ok(ToolOutput::raw(nothing, Map::new()))
}

const METHOD_NOT_FOUND: i64 = -32601;
