//! `graph branch|merge|log|diff|revert`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::graph::ChangeArgs;
use super::parse::at_least_one;

/// Branches of a graph.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  narthex graph branch list harbour
  narthex graph branch create harbour ideas
  narthex graph branch delete harbour ideas")]
pub enum GraphBranchCommand {
    /// List branches
    #[command(after_help = "\
Examples:
  narthex graph branch list harbour
  narthex graph branch list harbour --output json")]
    List(GraphBranchListArgs),
    Create(GraphBranchCreateArgs),
    Delete(GraphBranchDeleteArgs),
    /// Protect a branch: agents change it only with your approval
    #[command(after_help = "\
Examples:
  narthex graph branch protect harbour release")]
    Protect(GraphBranchNameArgs),
    /// Take the protection off a branch
    #[command(after_help = "\
Examples:
  narthex graph branch unprotect harbour release")]
    Unprotect(GraphBranchNameArgs),
}

/// Lists branches.
#[derive(Debug, Clone, Args)]
pub struct GraphBranchListArgs {
    /// The graph
    pub graph: String,
}

/// Make a branch
///
/// Whatever the size of the graph, this takes no time and no space.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex graph branch create harbour ideas
  narthex graph branch create harbour release --from 3f2a91c0 --protected
  narthex graph branch create harbour last-year --from main@2026-01-01")]
pub struct GraphBranchCreateArgs {
    /// The graph
    pub graph: String,

    /// Its name
    pub branch: String,

    /// Where it begins: a branch, a commit, or a branch at a time [default: main]
    #[arg(long, value_name = "PLACE")]
    pub from: Option<String>,

    /// Protect it
    #[arg(long)]
    pub protected: bool,
}

/// Delete a branch
///
/// Refused while it has commits that no other branch has. What was merged from it stays.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex graph branch delete harbour ideas
  narthex graph branch delete harbour ideas --force")]
pub struct GraphBranchDeleteArgs {
    /// The graph
    pub graph: String,

    /// Its name
    pub branch: String,

    /// Delete it with commits that no other branch has
    #[arg(long)]
    pub force: bool,
}

/// Names a branch.
#[derive(Debug, Clone, Args)]
pub struct GraphBranchNameArgs {
    /// The graph
    pub graph: String,

    /// Its name
    pub branch: String,
}

/// Bring one branch into another
///
/// Where both changed the same, nothing is merged, and what has to be decided is listed (exit code
/// 4). Say how in a JSON file, a row each: {"row":{"type":"Person","key":"ada"},"take":"theirs"},
/// with 'ours', 'theirs' or 'gone', or with "given":{…} instead of "take".
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex graph merge harbour ideas
  narthex graph merge harbour main --into ideas
  narthex graph merge harbour ideas --resolve decided.json -m \"what we agreed on\"")]
pub struct GraphMergeArgs {
    /// The graph
    pub graph: String,

    /// The branch that is brought in
    pub from: String,

    /// The branch it is brought into [default: main]
    #[arg(long, value_name = "NAME")]
    pub into: Option<String>,

    /// A file that says how rows are to be: a JSON array; '-' is standard input
    #[arg(long, value_name = "FILE")]
    pub resolve: Option<PathBuf>,

    /// Merge even if something can no longer be seen under the merged schema
    #[arg(long)]
    pub allow_data_loss: bool,

    /// What every change can say.
    #[command(flatten)]
    pub change: ChangeArgs,
}

/// Lists commits.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex graph log harbour
  narthex graph log harbour --branch ideas -n 5
  narthex graph log harbour --before 3f2a91c0 --output json")]
pub struct GraphLogArgs {
    /// The graph
    pub graph: String,

    /// As this branch sees them [default: main]
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,

    /// From before this commit on
    #[arg(long, value_name = "COMMIT")]
    pub before: Option<String>,

    /// At most so many, to 500
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one(), default_value = "20")]
    pub limit: u32,
}

/// Show what differs between two places, row by row
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex graph diff harbour main ideas
  narthex graph diff harbour main@2026-01-01 main
  narthex graph diff harbour 3f2a91c0 main -n 500 --output json")]
pub struct GraphDiffArgs {
    /// The graph
    pub graph: String,

    /// The first place: a branch, a commit, or a branch at a time
    pub from: String,

    /// The second
    pub to: String,

    /// At most so many rows
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one(), default_value = "100")]
    pub limit: u32,

    /// Go on from here: the 'next' of the page before
    #[arg(long, value_name = "NEXT")]
    pub after: Option<String>,
}

/// Take a commit back
///
/// What was changed since stays; where that and the commit met, somebody has to say how, as in a
/// merge. A schema is changed back by applying the old one.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex graph revert harbour 3f2a91c0
  narthex graph revert harbour 3f2a91c0 --branch ideas --resolve decided.json")]
pub struct GraphRevertArgs {
    /// The graph
    pub graph: String,

    /// The commit
    pub commit: String,

    /// The branch [default: main]
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,

    /// A file that says how rows are to be: a JSON array; '-' is standard input
    #[arg(long, value_name = "FILE")]
    pub resolve: Option<PathBuf>,

    /// Refuse if the branch no longer stands at this commit
    #[arg(long, value_name = "COMMIT")]
    pub expected: Option<String>,
}
