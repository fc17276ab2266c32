//! What a house of the tests' own process needs to run programs.

use std::sync::Arc;

use async_trait::async_trait;
use narthex_sandbox::{Layer, LayerFault, ProcessLayer, SandboxConfig, Worker, WorkerOrder};
use narthex_server::CodeConfig;

use crate::upstream;

/// Locked processes, where this machine has the walls for them.
pub(crate) fn config(bounds: &SandboxConfig) -> anyhow::Result<Option<CodeConfig>> {
    let without_walls = ProcessLayer::standing().missing.is_some();
    let order = WorkerOrder {
        heap: u64::try_from(bounds.heap)?,
        cpu_seconds: bounds.script.as_secs() + 3,
        without_walls,
    };
    Ok(Some(CodeConfig {
        layer: Arc::new(LateLayer(order)),
        bounds: bounds.clone(),
        without_walls,
    }))
}

/// Finds the worker's program when one is started, and not before: most tests start none.
#[derive(Debug)]
struct LateLayer(WorkerOrder);

#[async_trait]
impl Layer for LateLayer {
    fn name(&self) -> &'static str {
        "locked process"
    }

    async fn start(&self) -> Result<Box<dyn Worker>, LayerFault> {
        let program = upstream::program();
        let program = program.map_err(|error| LayerFault::NotStarted(format!("{error:#}")))?;
        ProcessLayer { program, order: self.0 }.start().await
    }
}
