//! `resume_run`: goes on with a run that waited for the owner.

use std::time::Duration;

use narthex_core::{Reason, RunId};
use narthex_gate::{RecordedIntent, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::execute_code::{Ready, Started, failed, go};
use super::{CodeSurface, Declared, Does};

pub(super) const DECLARED: Declared = Declared {
    name: "resume_run",
    title: "Go on with a run",
    description: "Goes on with a run that execute_code answered as paused. If the owner has approved the \
                  waiting call it is made, once; if the owner said no, it throws with the code denied; if \
                  nobody has decided yet, the run stays paused.",
    does: Does::Run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The run, as execute_code named it.
    #[schemars(length(min = 36, max = 36))]
    run: String,
}

pub(super) async fn run(
    surface: &CodeSurface,
    intent: &RecordedIntent,
    input: &Input,
) -> Result<ToolOutput, ToolError> {
    let id: Option<RunId> = input.run.parse().ok();
    let done = match id {
        Some(id) => resume(surface, intent, id).await?,
        None => None,
    };
    // One of somebody else's, one that is over and one that never was are the same.
    done.ok_or_else(|| {
        ToolError::caller(
            Reason::NotFound,
            "no run of this name waits: it went on, is over, or never was",
        )
    })
}

/// Goes on with a run of the caller's, if it waits.
pub(super) async fn resume(
    surface: &CodeSurface,
    intent: &RecordedIntent,
    id: RunId,
) -> Result<Option<ToolOutput>, ToolError> {
    let gate = &surface.parts.gate;
    if !gate.run_waits(intent, id).await.map_err(failed)? {
        return Ok(None);
    }
    // Everything it takes is at hand before the run is taken up: from there on it waits no more.
    let ready = Ready::new(surface, intent).await?;
    let place = surface.parts.pool.place_of(intent.holder().agent);
    let Some((parked, run)) = gate.take_up_run(intent, id).await.map_err(failed)? else {
        return Ok(None);
    };
    let started = Started {
        source: parked.program,
        asked: parked.asked,
        script: parked.script_ms.map(Duration::from_millis),
        journal: parked.journal,
        waited: Some((parked.until, place)),
    };
    go(surface, intent, run, started, ready).await.map(Some)
}
