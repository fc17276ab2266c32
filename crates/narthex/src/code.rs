//! What it takes to run agents' programs, from what this process knows.

use std::sync::Arc;

use narthex_sandbox::{ProcessLayer, WorkerOrder};
use narthex_server::CodeConfig;

use crate::config::CodeWalls;
use crate::{Context, Exit, Failure};

/// What code mode is told; none if it is off, or cannot be shut in.
pub(crate) fn config(context: &Context) -> Result<Option<CodeConfig>, Failure> {
    let keys = &context.config.code;
    if !keys.enabled {
        return Ok(None);
    }
    let missing = ProcessLayer::standing().missing;
    if let (Some(missing), CodeWalls::Required) = (&missing, keys.walls) {
        tracing::warn!(%missing, "code mode is not served");
        return Ok(None);
    }
    let bounds = keys.bounds();
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(Exit::Failed, format!("our own program: {error}")))?;
    let order = WorkerOrder {
        heap: u64::try_from(bounds.heap).unwrap_or(u64::MAX),
        cpu_seconds: bounds.script.as_secs() + SPARE_SECONDS,
        without_walls: missing.is_some(),
    };
    let layer = Arc::new(ProcessLayer { program, order });
    Ok(Some(CodeConfig { layer, bounds, without_walls: missing.is_some() }))
}

/// What reading a program and being ready takes, and the margin before it is ended.
const SPARE_SECONDS: u64 = 3;
