//! The calls of a run, carried out: each in the agent's name, through the gate.

use async_trait::async_trait;
use narthex_core::{RunAnswer, RunCall, Thrown, Timestamp};
use narthex_gate::{CallError, Gate, Run};

use crate::drive::{Host, Made};
use crate::modules::Modules;
use crate::value::{answered, thrown};

pub(super) struct RunHost<'a> {
    pub(super) gate: &'a Gate,
    pub(super) run: &'a Run,
    pub(super) modules: &'a Modules,
}

#[async_trait]
impl Host for RunHost<'_> {
    async fn call(&self, call: &RunCall) -> Made {
        let module = self.modules.get(&call.module);
        let found = module.and_then(|module| {
            Some((module, module.functions.iter().find(|f| f.identifier == call.function)?))
        });
        let Some((module, function)) = found else {
            // It was there when the run was parked, and is not any more.
            let gone = Thrown {
                code: narthex_core::Reason::UnknownTool.code().to_owned(),
                message: "there is no such function any more".to_owned(),
                parameters: None,
                retryable: false,
            };
            return Made::Answered(RunAnswer::Thrown(gone), "refused".to_owned());
        };
        let arguments = call.arguments.clone();
        match self.run.call(&module.surface, &function.spec.name, arguments).await {
            Ok(output) => Made::Answered(answered(output), "allowed".to_owned()),
            Err(CallError::Waiting(waiting)) => Made::Waits(waiting),
            Err(error) => match thrown(&error, || function.parameters()) {
                Some(thrown) => {
                    let decision = match error {
                        CallError::Refused { .. } | CallError::UnknownTool { .. } => "refused",
                        _ => "failed",
                    };
                    Made::Answered(RunAnswer::Thrown(thrown), decision.to_owned())
                }
                None => Made::Broken(error),
            },
        }
    }

    fn now(&self) -> Timestamp {
        self.gate.clock().now()
    }
}
