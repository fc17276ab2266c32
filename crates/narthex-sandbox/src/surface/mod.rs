//! The code surface: a handful of tools, behind which everything the agent may use is a module.

mod execute_code;
mod host;
mod list_mcp_servers;
mod list_modules;
mod manage_mcp;
mod mcp_server_info;
mod module_info;
mod result;
mod resume_run;
mod servers;
mod stop_me;

use std::sync::Arc;

use async_trait::async_trait;
use narthex_core::{
    Containment, EffectSite, Effects, EntityType, PolicyAction, Question, Reads, Sends, TakesIn,
    Target, Tier,
};
use narthex_gate::{
    Annotations, Asks, CallContext, Gate, Intent, Local, Observe, RecordedIntent, Staged, Surface,
    SurfaceInfo, ToolError, ToolOutput, ToolSpec, input_schema, output_schema, read_arguments,
};
use schemars::JsonSchema;
use serde_json::Value;

pub use servers::{AskedServer, ServerLine, ServerShelf};

use crate::modules::{Modules, Shelf};
use crate::pool::Pool;

/// What the surface is made of.
#[derive(Debug, Clone)]
pub struct CodeParts {
    /// Where every call of a program goes.
    pub gate: Gate,
    /// Where programs are run.
    pub pool: Pool,
    /// Where modules come from.
    pub shelf: Arc<dyn Shelf>,
    /// Other people's servers, while the owner has them turned on.
    pub servers: Option<Arc<dyn ServerShelf>>,
}

/// Code mode, for one agent.
#[derive(Debug)]
pub struct CodeSurface {
    parts: CodeParts,
    modules: Vec<String>,
    tools: Vec<ToolSpec>,
}

/// Every tool there is. A new variant does not build without its place in each match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    ListModules,
    ModuleInfo,
    ExecuteCode,
    ResumeRun,
    StopMe,
    ListMcpServers,
    McpServerInfo,
    ManageMcp,
}

impl Tool {
    const ALL: [Self; 8] = [
        Self::ListModules,
        Self::ModuleInfo,
        Self::ExecuteCode,
        Self::ResumeRun,
        Self::ListMcpServers,
        Self::McpServerInfo,
        Self::ManageMcp,
        Self::StopMe,
    ];

    const fn declared(self) -> &'static Declared {
        match self {
            Self::ListModules => &list_modules::DECLARED,
            Self::ModuleInfo => &module_info::DECLARED,
            Self::ExecuteCode => &execute_code::DECLARED,
            Self::ResumeRun => &resume_run::DECLARED,
            Self::StopMe => &stop_me::DECLARED,
            Self::ListMcpServers => &list_mcp_servers::DECLARED,
            Self::McpServerInfo => &mcp_server_info::DECLARED,
            Self::ManageMcp => &manage_mcp::DECLARED,
        }
    }

    /// Whether it speaks of other people's servers, and so is there only while they are.
    const fn is_about_servers(self) -> bool {
        match self {
            Self::ListMcpServers | Self::McpServerInfo | Self::ManageMcp => true,
            Self::ListModules
            | Self::ModuleInfo
            | Self::ExecuteCode
            | Self::ResumeRun
            | Self::StopMe => false,
        }
    }

    fn spec(self) -> ToolSpec {
        let declared = self.declared();
        match self {
            Self::ListModules => spec::<list_modules::Input, list_modules::Output>(declared),
            Self::ModuleInfo => spec::<module_info::Input, module_info::Output>(declared),
            Self::ExecuteCode => spec::<execute_code::Input, result::RunResult>(declared),
            Self::ResumeRun => spec::<resume_run::Input, result::RunResult>(declared),
            Self::StopMe => spec::<stop_me::Input, stop_me::Output>(declared),
            Self::ListMcpServers => {
                spec::<list_mcp_servers::Input, list_mcp_servers::Output>(declared)
            }
            Self::McpServerInfo => {
                spec::<mcp_server_info::Input, mcp_server_info::Output>(declared)
            }
            Self::ManageMcp => spec::<manage_mcp::Input, manage_mcp::Output>(declared),
        }
    }

    fn named(name: &str) -> Result<Self, ToolError> {
        let named = |tool: &Self| tool.declared().name == name;
        let found = Self::ALL.into_iter().find(named);
        found.ok_or_else(|| ToolError::Internal(format!("no tool {name}")))
    }
}

impl CodeSurface {
    /// For an agent that has these modules.
    pub fn new(parts: CodeParts, modules: Vec<String>) -> Self {
        let there = |tool: &Tool| parts.servers.is_some() || !tool.is_about_servers();
        let tools = Tool::ALL.into_iter().filter(there).map(Tool::spec).collect();
        Self { parts, modules, tools }
    }

    async fn modules(&self, context: &CallContext) -> Result<Modules, ToolError> {
        Modules::of(&self.parts.gate, self.parts.shelf.as_ref(), context).await
    }

    fn servers(&self) -> Result<&dyn ServerShelf, ToolError> {
        self.parts.servers.as_deref().ok_or_else(ToolError::not_found)
    }
}

#[async_trait]
impl Surface for CodeSurface {
    fn name(&self) -> &'static str {
        "code"
    }

    fn info(&self, _context: &CallContext) -> SurfaceInfo {
        // What is asked about code mode is followed by a program, as a rule.
        self.parts.pool.warm();
        SurfaceInfo {
            title: "Narthex code mode".to_owned(),
            instructions: instructions(&self.modules),
        }
    }

    fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    fn asks(&self, tool: &ToolSpec, _arguments: Option<&Value>, context: &CallContext) -> Asks {
        let Some(space) = context.scope.space() else { return Asks::new([]) };
        match Tool::named(&tool.name) {
            // Whoever was let in may stop itself.
            Ok(Tool::StopMe) => Asks::nothing(),
            Ok(_) => Asks::new([Question {
                action: PolicyAction::RunCode,
                entity_type: EntityType::Code,
                target: Target::Space(space),
            }]),
            Err(_) => Asks::new([]),
        }
    }

    async fn observe(
        &self,
        intent: &Intent<Observe>,
        arguments: Value,
    ) -> Result<ToolOutput, ToolError> {
        let context = intent.context();
        match Tool::named(intent.tool())? {
            Tool::ListModules => {
                list_modules::run(&self.modules(context).await?, &read_arguments(arguments)?)
            }
            Tool::ModuleInfo => {
                module_info::run(&self.modules(context).await?, &read_arguments(arguments)?)
            }
            Tool::ListMcpServers => list_mcp_servers::run(self.servers()?, context).await,
            Tool::McpServerInfo => {
                mcp_server_info::run(self.servers()?, context, read_arguments(arguments)?).await
            }
            Tool::ExecuteCode | Tool::ResumeRun | Tool::StopMe | Tool::ManageMcp => {
                wrong(intent.tool())
            }
        }
    }

    async fn stage(&self, intent: &Intent<Local>, arguments: Value) -> Result<Staged, ToolError> {
        match Tool::named(intent.tool())? {
            Tool::ManageMcp => {
                manage_mcp::run(self.servers()?, intent.context(), read_arguments(arguments)?).await
            }
            _ => wrong(intent.tool()),
        }
    }

    async fn perform(
        &self,
        intent: &RecordedIntent,
        arguments: Value,
    ) -> Result<ToolOutput, ToolError> {
        match Tool::named(intent.tool())? {
            Tool::ExecuteCode => execute_code::run(self, intent, read_arguments(arguments)?).await,
            Tool::ResumeRun => resume_run::run(self, intent, &read_arguments(arguments)?).await,
            Tool::StopMe => {
                stop_me::run(&self.parts.gate, intent, read_arguments(arguments)?).await
            }
            _ => wrong(intent.tool()),
        }
    }
}

fn wrong<T>(tool: &str) -> Result<T, ToolError> {
    Err(ToolError::Internal(format!("{tool} is carried out elsewhere")))
}

/// What a model is told when it connects.
fn instructions(modules: &[String]) -> String {
    let mut names = modules.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
    if modules.len() > MOST_NAMED {
        names.push_str(", … (list_modules has all)");
    }
    format!(
        "Write one JavaScript or TypeScript program instead of many calls. Modules: {names}. \
         Find functions with list_modules, read their types with module_info, run with execute_code: \
         `const w = require(\"host:workspace\"); const hits = w.search({{query: \"tea\"}}).hits; hits.length`. \
         Calls look synchronous and throw on failure; parallel([() => a.f({{}}), () => b.g({{}})]) makes \
         several at once; the last expression is the result. A run that is paused waits for the owner: \
         resume_run goes on with it."
    )
}

/// What a tool declares about itself, apart from its schemas.
struct Declared {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    does: Does,
}

/// The kinds of thing these tools do.
#[derive(Clone, Copy)]
enum Does {
    /// Says what there is.
    Look,
    /// Runs a program. It is no more than its calls, and each of those is decided on by itself.
    Run,
    /// Asks the owner.
    Ask,
    /// Stops the agent.
    Stop,
}

impl Does {
    const fn site(self) -> EffectSite {
        match self {
            Self::Look => EffectSite::Observe,
            Self::Ask => EffectSite::Local,
            Self::Run | Self::Stop => EffectSite::External,
        }
    }

    const fn tier(self) -> Tier {
        match self {
            Self::Look | Self::Run | Self::Stop => Tier::T0,
            Self::Ask => Tier::T1,
        }
    }
}

fn spec<Input: JsonSchema, Output: JsonSchema>(declared: &Declared) -> ToolSpec {
    let does = declared.does;
    ToolSpec {
        name: declared.name.to_owned(),
        title: declared.title.to_owned(),
        description: declared.description.to_owned(),
        input_schema: input_schema::<Input>(),
        output_schema: Some(output_schema::<Output>()),
        annotations: Annotations {
            read_only: matches!(does, Does::Look),
            destructive: matches!(does, Does::Run),
            idempotent: !matches!(does, Does::Run),
            open_world: matches!(does, Does::Run),
        },
        tier: does.tier(),
        effects: Effects {
            reads: Reads::Nothing,
            // What a program takes in, it takes in by its calls.
            takes_in: TakesIn::Owned,
            sends: Sends::Inside,
            containment: Containment::Contained,
            site: does.site(),
        },
        ignored_arguments: &[],
        target: None,
        cost: None,
    }
}

/// Modules that are named when a client connects.
const MOST_NAMED: usize = 12;
