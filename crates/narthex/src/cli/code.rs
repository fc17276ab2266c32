//! `run` and `types`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

/// Run a program as an agent would
///
/// Runs a JavaScript or TypeScript program in the sandbox, in the agent's name: every call it makes is
/// decided on, recorded and charged exactly as if the agent had sent it. A program that needs your
/// approval waits; decide with `narthex approvals`, then go on with --resume.
#[derive(Debug, Clone, Args)]
#[command(
    group = ArgGroup::new("what").required(true).args(["script", "resume", "eval"]),
    after_help = "\
Examples:
  narthex run report.ts --agent claude
  narthex run report.ts --agent claude --explain
  narthex run --agent claude --eval 1+1
  narthex run --agent claude --resume 0198c0de-0000-7000-8000-000000000001"
)]
pub struct RunArgs {
    /// The program; - reads standard input
    #[arg(value_name = "FILE")]
    pub script: Option<PathBuf>,

    /// Run for this agent
    #[arg(long, value_name = "SLUG")]
    pub agent: String,

    /// Show each call, with what was decided on it
    #[arg(long)]
    pub explain: bool,

    /// A program right here
    #[arg(long, value_name = "CODE")]
    pub eval: Option<String>,

    /// Go on with a run that waited
    #[arg(long, value_name = "RUN")]
    pub resume: Option<String>,

    /// Milliseconds of the program's own time
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub timeout_ms: Option<u32>,
}

/// Print the TypeScript declarations of what an agent's programs can use
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex types --agent claude
  narthex types --agent claude --module host:workspace
  narthex types --agent claude --out ./types")]
pub struct TypesArgs {
    /// For this agent
    #[arg(long, value_name = "SLUG")]
    pub agent: String,

    /// Only this module
    #[arg(long, value_name = "MODULE")]
    pub module: Option<String>,

    /// Write a file each into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}
