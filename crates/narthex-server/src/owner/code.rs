//! Programs, as their owner runs them: exactly as an agent's would be.

use std::sync::Arc;

use narthex_core::{Agent, ParkedRun, RunAnswer};
use narthex_gate::{Admitted, CallError, Invocation, Refusal, Stdio, ToolError};
use narthex_sandbox::types;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::desk::{conflict, invalid};
use super::{Desk, OwnerError, Reply, Trouble};
use crate::code_rooms::CodeRooms;

/// What an owner can ask about programs.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum CodeRequest {
    /// Runs a program in an agent's name.
    Run {
        /// Whose.
        agent: String,
        /// The program.
        code: String,
        /// Milliseconds of its own time.
        timeout_ms: Option<u32>,
    },
    /// Goes on with a run that waited.
    Resume {
        /// Whose.
        agent: String,
        /// Which.
        run: String,
    },
    /// The types of what an agent's programs can use.
    Types {
        /// Whose.
        agent: String,
        /// Only of this module.
        module: Option<String>,
    },
}

/// What is answered about programs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeReply {
    /// What an agent would have been told.
    Ran(Value),
    /// Files of declarations, by name.
    Types(Vec<(String, String)>),
}

/// A run that waits, as the owner sees it beside the call it waits with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunShown {
    /// Its id.
    pub id: narthex_core::RunId,
    /// The whole program.
    pub program: String,
    /// The calls it made so far.
    pub calls: Vec<RunCallShown>,
}

/// A call a program made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCallShown {
    /// Module and function.
    pub call: String,
    /// The arguments.
    pub arguments: Value,
    /// What came of it.
    pub outcome: String,
}

impl RunShown {
    pub(super) fn of(run: ParkedRun) -> Self {
        let calls = run.journal.calls().map(|(call, answer)| RunCallShown {
            call: format!("{}.{}", call.module, call.function),
            arguments: call.arguments.clone(),
            outcome: match answer {
                None => "waits for you".to_owned(),
                Some(RunAnswer::Value { .. }) => "answered".to_owned(),
                Some(RunAnswer::Thrown(thrown)) => format!("failed: {}", thrown.code),
            },
        });
        Self { id: run.id, calls: calls.collect(), program: run.program }
    }
}

impl Desk {
    pub(super) async fn code(&self, request: CodeRequest) -> Result<Reply, OwnerError> {
        let rooms = self.code_rooms()?;
        let reply = match request {
            CodeRequest::Run { agent, code, timeout_ms } => {
                let mut arguments = json!({"code": code});
                if let (Some(map), Some(millis)) = (arguments.as_object_mut(), timeout_ms) {
                    map.insert("timeout_ms".to_owned(), millis.into());
                }
                CodeReply::Ran(self.run_as(&rooms, &agent, "execute_code", arguments).await?)
            }
            CodeRequest::Resume { agent, run } => CodeReply::Ran(
                self.run_as(&rooms, &agent, "resume_run", json!({"run": run})).await?,
            ),
            CodeRequest::Types { agent, module } => {
                let (_, admitted) = self.agent_at_the_door(&agent).await?;
                let modules = rooms.modules(&admitted).await.map_err(|error| failed(&error))?;
                let mut files = vec![("narthex.d.ts".to_owned(), types::prelude().to_owned())];
                let wanted = modules.iter().filter(|known| {
                    module
                        .as_deref()
                        .is_none_or(|name| modules.get(name).is_some_and(|m| m.name == known.name))
                });
                files.extend(wanted.map(|known| {
                    let name = known.name.trim_start_matches("host:");
                    (format!("{name}.d.ts"), known.declarations(None))
                }));
                let module = module.filter(|name| !types::is_text_module(name));
                if let (1, Some(module)) = (files.len(), module) {
                    let names: Vec<&str> = modules.iter().map(|m| m.name.as_str()).collect();
                    let names = names.join(", ");
                    return Err(invalid(format!(
                        "{agent} has no module {module:?}; it has {names}"
                    )));
                }
                CodeReply::Types(files)
            }
        };
        Ok(Reply::Code(reply))
    }

    fn code_rooms(&self) -> Result<Arc<CodeRooms>, OwnerError> {
        self.code.clone().ok_or_else(|| {
            conflict("no programs are run here: a wall is missing, or [code] enabled is false; see narthex doctor")
        })
    }

    async fn agent_at_the_door(&self, name: &str) -> Result<(Agent, Admitted), OwnerError> {
        let agent = self.agent_named(name).await?;
        let admitted = self.gate.admit_stdio(Stdio::Agent(agent.id)).await;
        Ok((agent, admitted.map_err(|refusal| not_admitted(&refusal))?))
    }

    async fn run_as(
        &self,
        rooms: &CodeRooms,
        agent: &str,
        tool: &str,
        arguments: Value,
    ) -> Result<Value, OwnerError> {
        let (_, admitted) = self.agent_at_the_door(agent).await?;
        let surface = rooms.surface(&admitted).await.map_err(not_called)?;
        let invocation = Invocation::new(tool, arguments);
        let output = self.gate.call(&admitted, &surface, invocation).await.map_err(not_called)?;
        Ok(output.structured)
    }
}

fn not_admitted(refusal: &Refusal) -> OwnerError {
    conflict(refusal.reason.message())
}

fn not_called(error: CallError) -> OwnerError {
    match error {
        CallError::Refused { reason, message } => conflict(format!("{message} ({reason})")),
        CallError::UnknownTool { .. } => conflict("policy does not let this agent run programs"),
        CallError::Unavailable => OwnerError {
            kind: Trouble::Unavailable,
            message: "the run could not be recorded, so nothing of it was done".to_owned(),
        },
        other => OwnerError { kind: Trouble::Internal, message: format!("{other:?}") },
    }
}

fn failed(error: &ToolError) -> OwnerError {
    OwnerError { kind: Trouble::Unavailable, message: error.to_string() }
}
