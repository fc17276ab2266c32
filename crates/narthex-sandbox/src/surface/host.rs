//! The calls of a run, carried out: each in the agent's name, through the gate.

use std::future::ready;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use narthex_core::{RunAnswer, RunCall, Thrown, Timestamp};
use narthex_gate::{CallError, Gate, Run, ToolOutput};

use crate::drive::{Host, Made};
use crate::modules::{Function, Modules};
use crate::value::{answered, thrown};

pub(super) struct RunHost<'a> {
    pub(super) gate: &'a Gate,
    pub(super) run: &'a Run,
    pub(super) modules: &'a Modules,
}

impl Host for RunHost<'_> {
    fn call(&self, call: RunCall) -> BoxFuture<'_, Made> {
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
            let made = Made::Answered(RunAnswer::Thrown(gone), "refused".to_owned());
            return ready(made).boxed();
        };
        let under_way = self.run.call(&module.surface, &function.spec.name, call.arguments);
        under_way.map(|answer| made(function, answer)).boxed()
    }

    fn now(&self) -> Timestamp {
        self.gate.clock().now()
    }
}

fn made(function: &Function, answer: Result<ToolOutput, CallError>) -> Made {
    match answer {
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
