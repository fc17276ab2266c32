//! One server of somebody else's as a surface: what was approved of it, under its own names.
//!
//! What is listed is what the owner approved, from the text that was approved, so nothing has to run
//! for it. A call looks again: at what is approved now, and at what the server offers now.

mod answer;
mod arrange;
mod asks;
mod doubled;
mod heard;
mod inert;
mod specs;
mod template;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use narthex_core::{
    AgentId, DefinitionKind, DefinitionName, EntityType, PolicyAction, Question, Reason,
    ServerTarget, Slug, Target,
};
use narthex_gate::{
    Asks, CallContext, Foreign, Intent, Local, Observe, RecordedIntent, Staged, Surface,
    SurfaceInfo, ToolError, ToolOutput, ToolSpec,
};
use serde_json::{Map, Value, json};
use tokio::sync::broadcast;

use self::arrange::{arrange, is_arranged};
use self::asks::{Call, Wanted};
use self::heard::Hearing;
use crate::config::{ServerConfig, ServerName};
use crate::hall::{Answered, HallFault, Offered, ServerHall, View, Whose};
use crate::pin::Definition;

/// A server as one agent sees it.
#[derive(Debug)]
pub struct ServerSurface {
    hall: ServerHall,
    slug: Slug,
    name: String,
    info: SurfaceInfo,
    tools: Vec<ToolSpec>,
    passages: Vec<ToolSpec>,
    foreign: Foreign,
    schemas: HashMap<String, Schemas>,
    templates: Vec<String>,
    /// What is approved and not shown, and why: for its owner.
    left_out: Vec<(String, String)>,
}

/// What a tool's arguments and answers are held to.
#[derive(Debug)]
struct Schemas {
    input: Arc<Value>,
    output: Option<jsonschema::Validator>,
}

impl ServerSurface {
    /// Of these approved definitions, as far as the server was not seen to depart from them.
    pub fn new(
        hall: ServerHall,
        config: &ServerConfig,
        approved: &[Definition],
        seen: Option<&Offered>,
    ) -> Self {
        let built = specs::build(config, approved, seen);
        let slug = config.name.slug().clone();
        Self {
            hall,
            name: format!("server/{slug}"),
            slug,
            info: built.info,
            tools: built.tools,
            passages: built.passages,
            foreign: built.foreign,
            schemas: built.schemas,
            templates: built.templates,
            left_out: built.left_out,
        }
    }

    /// What is approved and not shown all the same, with why.
    pub fn left_out(&self) -> &[(String, String)] {
        &self.left_out
    }

    /// What a call is about: the definition that must be approved for it.
    fn wants(&self, tool: &str, arguments: &Value) -> Option<DefinitionName> {
        let text = |pointer: &str| arguments.pointer(pointer).and_then(Value::as_str);
        match tool {
            Foreign::READ | Foreign::SUBSCRIBE | Foreign::UNSUBSCRIBE => {
                let uri = text("/uri")?;
                let listed = self.foreign.resources.iter().flatten().any(|item| item.name == uri);
                if listed {
                    return Some(DefinitionName::new(DefinitionKind::Resource, uri));
                }
                let template = self.templates.iter().find(|t| template::matches(t, uri))?;
                Some(DefinitionName::new(DefinitionKind::Template, template))
            }
            Foreign::PROMPT => {
                let name = text("/name")?;
                let listed = self.foreign.prompts.iter().flatten().any(|item| item.name == name);
                listed.then(|| DefinitionName::new(DefinitionKind::Prompt, name))
            }
            Foreign::COMPLETE => match text("/ref/type")? {
                "ref/prompt" => {
                    let name = text("/ref/name")?;
                    let mut prompts = self.foreign.prompts.iter().flatten();
                    let listed = prompts.any(|item| item.name == name);
                    listed.then(|| DefinitionName::new(DefinitionKind::Prompt, name))
                }
                "ref/resource" => {
                    let uri = text("/ref/uri")?;
                    let listed = self.templates.iter().any(|template| template == uri);
                    listed.then(|| DefinitionName::new(DefinitionKind::Template, uri))
                }
                _ => None,
            },
            _ => {
                let known = self.schemas.contains_key(tool);
                known.then(|| DefinitionName::new(DefinitionKind::Tool, tool))
            }
        }
    }

    fn question(&self, tool: &str, arguments: Value, intent: &RecordedIntent) -> Wanted {
        let named = |key: &str| arguments.get(key).and_then(Value::as_str).map(str::to_owned);
        let (method, name, params) = match tool {
            Foreign::READ => (tool, named("uri"), arguments),
            Foreign::PROMPT => (tool, named("name"), arguments),
            Foreign::COMPLETE => (tool, None, arguments),
            _ => {
                let params = json!({"name": tool, "arguments": arguments});
                ("tools/call", Some(tool.to_owned()), params)
            }
        };
        let params = match params {
            Value::Object(params) => params,
            _ => Map::new(),
        };
        Wanted {
            method: method.to_owned(),
            params,
            name,
            input_schema: self.schemas.get(tool).map(|schemas| Arc::clone(&schemas.input)),
            progress: intent.progress().cloned(),
            logs: None,
        }
    }

    /// Asks the server: once, or as often as it takes if it may ask something itself.
    async fn asked(
        &self,
        view: &View,
        intent: &RecordedIntent,
        wants: &DefinitionName,
        question: Wanted,
    ) -> Result<Answered, ToolError> {
        let can = Self::may_ask(view, intent);
        if can.is_nothing() && intent.goes_on().is_none() {
            let question = question.once(view.config.limits.call);
            let whose = Whose::Agent(intent.context().principal.agent.id);
            let asked = self.hall.ask(view, whose, Some(wants), question).await;
            return asked.map_err(|fault| told(&fault));
        }
        let (hall, server) = (&self.hall, &self.slug);
        let answered = Call { hall, server, view, intent, wants }.made(question, can).await?;
        self.hall.heed(view, &answered.answer).await;
        Ok(answered)
    }

    /// The server as the caller has it now, which may be otherwise than when it was listed.
    async fn view(&self, intent: &RecordedIntent) -> Result<View, ToolError> {
        let agent = intent.context().principal.agent.id;
        let view = self.hall.view(agent, &self.slug).await.map_err(|fault| told(&fault))?;
        view.ok_or_else(ToolError::not_found)
    }
}

#[async_trait]
impl Surface for ServerSurface {
    fn name(&self) -> &str {
        &self.name
    }

    fn upstream(&self) -> Option<&Slug> {
        Some(&self.slug)
    }

    fn info(&self, _context: &CallContext) -> SurfaceInfo {
        self.info.clone()
    }

    fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    fn passages(&self) -> &[ToolSpec] {
        &self.passages
    }

    fn foreign(&self) -> Option<&Foreign> {
        Some(&self.foreign)
    }

    fn changes(&self, agent: AgentId) -> Option<broadcast::Receiver<Arc<str>>> {
        let name = self.slug.as_str().parse().ok().filter(|_| self.foreign.watches)?;
        Some(self.hall.changes(&name, agent))
    }

    fn asks(&self, tool: &ToolSpec, arguments: Option<&Value>, _context: &CallContext) -> Asks {
        let is_passage = self.passages.iter().any(|passage| passage.name == tool.name);
        let what = match arguments {
            // It is about all of the server.
            Some(_) if tool.name == Foreign::SET_LEVEL => None,
            Some(arguments) => match self.wants(&tool.name, arguments) {
                Some(what) => Some(what),
                // It is about nothing that was approved.
                None => return Asks::new([]),
            },
            None if is_passage => None,
            None => Some(DefinitionName::new(DefinitionKind::Tool, &tool.name)),
        };
        // Only who has the server by a profile is led to this surface.
        let target = ServerTarget { name: self.slug.clone(), assigned: true, what };
        Asks::new([Question {
            action: PolicyAction::UseServer,
            entity_type: EntityType::Server,
            target: Target::Server(Box::new(target)),
        }])
    }

    async fn observe(
        &self,
        _intent: &Intent<Observe>,
        _arguments: Value,
    ) -> Result<ToolOutput, ToolError> {
        Err(ToolError::Internal("a server's tools act outside".to_owned()))
    }

    async fn stage(&self, _intent: &Intent<Local>, _arguments: Value) -> Result<Staged, ToolError> {
        Err(ToolError::Internal("a server's tools act outside".to_owned()))
    }

    async fn perform(
        &self,
        intent: &RecordedIntent,
        arguments: Value,
    ) -> Result<ToolOutput, ToolError> {
        let tool = intent.tool();
        let wants = self.wants(tool, &arguments);
        let view = self.view(intent).await?;
        if is_arranged(tool) {
            let (hall, agent) = (&self.hall, intent.context().principal.agent.id);
            let wanted = (tool, wants.as_ref());
            return arrange((hall, &self.slug), &view, agent, wanted, &arguments).await;
        }
        let wants = wants.ok_or_else(ToolError::not_found)?;
        let mut question = self.question(tool, arguments, intent);
        let hearing = Hearing::begin(&self.hall, &self.slug, &view, intent);
        let (ear, hearing) = hearing.unzip();
        question.logs = ear;
        let asking = self.asked(&view, intent, &wants, question);
        let answered = match hearing {
            Some(hearing) => hearing.during(asking).await?,
            None => asking.await?,
        };
        let output = self.schemas.get(tool).and_then(|schemas| schemas.output.as_ref());
        answer::take(&self.slug, answered, output)
    }
}

/// What a tool answered its owner, who called it by hand.
pub fn by_hand(server: &ServerName, answered: Answered) -> Result<Value, ToolError> {
    let output = answer::take(server.slug(), answered, None)?;
    let raw = output.raw.ok_or_else(|| ToolError::Internal("no answer".to_owned()))?;
    serde_json::from_str(raw.json.get()).map_err(|error| ToolError::Internal(error.to_string()))
}

/// What an agent is told of a server that cannot be asked.
fn told(fault: &HallFault) -> ToolError {
    match fault {
        HallFault::Store(why) => ToolError::Unavailable(why.clone()),
        HallFault::NotApproved(_) => ToolError::caller(
            Reason::UpstreamFailed,
            "the server changed what it offers here since the owner approved it; only the owner can approve it again",
        ),
        fault => ToolError::caller(Reason::UpstreamFailed, fault.for_agents()),
    }
}
