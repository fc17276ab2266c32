//! The command line as types: every command, its arguments and its help.
//!
//! What a command does stands in `commands/`, under the same name. To add one: its arguments
//! here (with examples in `after_help`), its file there, its line in `commands::run`.

mod agent;
mod approvals;
mod budget;
mod code;
mod conversation;
mod gate;
mod graph;
mod graph_history;
mod inbox;
mod ledger;
mod mcp;
mod page;
mod parse;
mod policy;
mod serving;
mod small;
mod space;
mod stopping;
mod token;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use self::agent::{AgentAddArgs, AgentCommand, AgentNameArgs, AgentSetArgs};
pub use self::approvals::{
    ApprovalsApproveArgs, ApprovalsCommand, ApprovalsDenyArgs, ApprovalsIdArgs, ApprovalsListArgs,
};
pub use self::code::{RunArgs, TypesArgs};
pub use self::conversation::{
    ConversationAddArgs, ConversationCommand, ConversationListArgs, ConversationShowArgs,
};
pub use self::gate::{
    ModeArgs, ModeCommand, ModeSetArgs, TaintClearArgs, TaintCommand, TaintShowArgs,
};
pub use self::graph::{
    AtArgs, ChangeArgs, GraphApplyArgs, GraphCheckArgs, GraphCommand, GraphExportArgs,
    GraphInitArgs, GraphListArgs, GraphLoadArgs, GraphMutateArgs, GraphPlanArgs, GraphQueryArgs,
    GraphRemoveArgs, GraphSchemaArgs, GraphStoredArgs, LoadWord, Params, QueryArgs, SourceArgs,
};
pub use self::graph_history::{
    GraphBranchCommand, GraphBranchCreateArgs, GraphBranchDeleteArgs, GraphBranchListArgs,
    GraphBranchNameArgs, GraphDiffArgs, GraphLogArgs, GraphMergeArgs, GraphRevertArgs,
};
pub use self::inbox::{
    InboxApproveArgs, InboxCommand, InboxIdArgs, InboxListArgs, InboxRejectArgs,
};
pub use self::ledger::{
    LedgerCheckProofArgs, LedgerCommand, LedgerExportArgs, LedgerProveArgs, LedgerPruneArgs,
    LedgerTailArgs, LedgerVerifyArgs,
};
pub use self::mcp::{
    McpApproveArgs, McpCallArgs, McpCommand, McpDiffArgs, McpImportArgs, McpLoginArgs, McpNameArgs,
    McpProfilesCommand, McpProfilesSetArgs, McpRevokeArgs, McpTestArgs,
};
pub use self::page::{
    PageAddArgs, PageCommand, PageEditArgs, PageExportArgs, PageImportArgs, PageListArgs,
    PageMoveArgs, PageNameArgs, TextArgs,
};
pub use self::parse::Before;
pub use self::policy::{PolicyCheckArgs, PolicyCommand, PolicyExplainArgs};
pub use self::serving::{InitArgs, ProxyArgs, ServeArgs, StdioArgs};
pub use self::small::{CompletionsArgs, ReferenceArgs, ReferenceWhat};
pub use self::space::{SpaceAddArgs, SpaceCommand, SpaceNameArgs, SpaceSetArgs};
pub use self::stopping::{ResumeArgs, ScopeArgs, StopArgs};
pub use self::token::{TokenCommand, TokenCreateArgs, TokenListArgs, TokenRevokeArgs};
use crate::output::{Colour, Output};

/// The antechamber between AI agents and what you own.
///
/// Agents may look, ask and propose. What else they may do is decided by policy, by ceilings,
/// and where it matters by you; and everything they did, or were refused, is in a ledger.
#[derive(Debug, Parser)]
#[command(
    name = "narthex",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = EXAMPLES
)]
pub struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub globals: Globals,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What holds for every command.
#[derive(Debug, Clone, Args)]
pub struct Globals {
    /// The folder the house lives in [default: $XDG_DATA_HOME/narthex or ~/.local/share/narthex]
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "NARTHEX_DATA_DIR",
        hide_env_values = true,
        help_heading = GLOBAL
    )]
    pub data_dir: Option<PathBuf>,

    /// The settings [default: narthex.toml in the data directory, if it is there]
    #[arg(long, global = true, value_name = "FILE", help_heading = GLOBAL)]
    pub config: Option<PathBuf>,

    /// How answers are printed
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "human",
        value_name = "FORM",
        help_heading = GLOBAL
    )]
    pub output: Output,

    /// When to use colours
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "auto",
        value_name = "WHEN",
        help_heading = GLOBAL
    )]
    pub color: Colour,

    /// Say more on standard error (twice for everything)
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = GLOBAL)]
    pub verbose: u8,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    Init(InitArgs),
    Serve(ServeArgs),
    Stdio(StdioArgs),
    Proxy(ProxyArgs),
    /// Spaces: the units of isolation
    #[command(subcommand)]
    Space(SpaceCommand),
    /// Pages: markdown with a history
    #[command(subcommand)]
    Page(PageCommand),
    /// Graphs: typed, branched, merged
    #[command(subcommand)]
    Graph(GraphCommand),
    /// Other people's MCP servers, behind the same door
    #[command(subcommand)]
    Mcp(McpCommand),
    Run(RunArgs),
    Types(TypesArgs),
    /// Agents: registered outsiders
    #[command(subcommand)]
    Agent(AgentCommand),
    /// Tokens: what an agent shows at the door
    #[command(subcommand)]
    Token(TokenCommand),
    /// Proposals that wait for you
    #[command(subcommand)]
    Inbox(InboxCommand),
    /// Calls that wait for your go-ahead
    #[command(subcommand)]
    Approvals(ApprovalsCommand),
    Stop(StopArgs),
    Resume(ResumeArgs),
    Mode(ModeArgs),
    /// What agents have taken in
    #[command(subcommand)]
    Taint(TaintCommand),
    /// Your own conversations, which no agent bound to a space can read
    #[command(subcommand)]
    Conversation(ConversationCommand),
    /// Policy: who may ask for what
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// The ledger: everything agents did, or were refused
    #[command(subcommand)]
    Ledger(LedgerCommand),
    /// How the house is
    #[command(after_help = small::STATUS_EXAMPLES)]
    Status,
    /// Look for what is wrong, and say the way out
    #[command(after_help = small::DOCTOR_EXAMPLES)]
    Doctor,
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print a generated reference
    #[command(hide = true)]
    Reference(ReferenceArgs),
}

/// The heading the global options stand under in every help.
const GLOBAL: &str = "Global options";

const EXAMPLES: &str = "\
Examples:
  narthex serve --demo
  narthex init
  narthex space add research
  narthex page import ./notes --space research
  narthex agent add claude --space research
  narthex token create claude
  narthex serve
  narthex inbox list
  narthex approvals list
  narthex stop

Exit codes:
  0 done, 1 failed, 2 usage, 3 not found, 4 conflict, 5 unavailable, 6 ledger broken, 7 denied";
