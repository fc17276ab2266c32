//! `stop_me`: the agent engages its own kill switch. Only the owner lifts it.

use narthex_gate::{Gate, RecordedIntent, ToolError, ToolOutput, write_answer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Declared, Does};

pub(super) const DECLARED: Declared = Declared {
    name: "stop_me",
    title: "Stop this agent",
    description: "Stops everything this agent does here, at once and until the owner lifts it: for when \
                  you notice that you are being misled, or that something goes wrong. You cannot undo it.",
    does: Does::Stop,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Why, for the owner to read.
    #[schemars(length(min = 1, max = 300))]
    reason: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// Always true.
    stopped: bool,
    /// Who can lift it.
    note: &'static str,
}

pub(super) async fn run(
    gate: &Gate,
    intent: &RecordedIntent,
    input: Input,
) -> Result<ToolOutput, ToolError> {
    let agent = &intent.context().principal.agent;
    gate.stop_itself(agent, &input.reason)
        .await
        .map_err(|error| ToolError::Unavailable(error.to_string()))?;
    let output = Output { stopped: true, note: "only the owner can lift it: narthex resume" };
    Ok(ToolOutput::new(write_answer(&output)?))
}
