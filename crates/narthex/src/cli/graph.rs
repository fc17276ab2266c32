//! `graph init|list|schema|plan|apply|query|mutate|load|export|stored|check|remove`; branches and
//! history are in `graph_history.rs`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use narthex_graph::engine::LoadMode;

use super::graph_history::{
    GraphBranchCommand, GraphDiffArgs, GraphLogArgs, GraphMergeArgs, GraphRevertArgs,
};
use super::parse::{at_least_one, object, pair};

/// Graphs: typed, branched, merged.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  narthex graph init harbour --space research --schema harbour.pg
  narthex graph load harbour rows.ndjson
  narthex graph query harbour --file friends.gq -p slug=ada
  narthex graph branch create harbour ideas
  narthex graph merge harbour ideas")]
pub enum GraphCommand {
    Init(GraphInitArgs),
    /// List graphs
    #[command(after_help = "\
Examples:
  narthex graph list
  narthex graph list --space research --output json")]
    List(GraphListArgs),
    /// Show a schema, as it is somewhere in a graph's history
    #[command(after_help = "\
Examples:
  narthex graph schema harbour
  narthex graph schema harbour --at ideas
  narthex graph schema harbour --at main@2026-01-31T12:00:00Z")]
    Schema(GraphSchemaArgs),
    Plan(GraphPlanArgs),
    Apply(GraphApplyArgs),
    Query(GraphQueryArgs),
    Mutate(GraphMutateArgs),
    Load(GraphLoadArgs),
    Export(GraphExportArgs),
    /// Branches of a graph
    #[command(subcommand)]
    Branch(GraphBranchCommand),
    Merge(GraphMergeArgs),
    /// List commits, newest first
    Log(GraphLogArgs),
    Diff(GraphDiffArgs),
    Revert(GraphRevertArgs),
    Stored(GraphStoredArgs),
    Check(GraphCheckArgs),
    Remove(GraphRemoveArgs),
}

/// Make a graph
///
/// It lives in one space, and agents of other spaces cannot tell that it exists. Without a schema
/// it has no types; give it one later with 'narthex graph apply'.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex graph init harbour --space research
  narthex graph init harbour --space research --schema harbour.pg
  cat harbour.pg | narthex graph init harbour --space research --schema -")]
pub struct GraphInitArgs {
    /// Its slug, unlike any other graph's in the house
    pub graph: String,

    /// The space it lives in
    #[arg(long, value_name = "SLUG")]
    pub space: String,

    /// A file with its schema (.pg); '-' is standard input
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
}

/// Lists graphs.
#[derive(Debug, Clone, Args)]
pub struct GraphListArgs {
    /// Only of this space
    #[arg(long, value_name = "SLUG")]
    pub space: Option<String>,
}

/// A place in a graph's history.
#[derive(Debug, Clone, Args)]
pub struct AtArgs {
    /// Where to look: a branch, a commit, or a branch at a time (main@2026-01-31T12:00:00Z)
    /// [default: main]
    #[arg(long, value_name = "PLACE")]
    pub at: Option<String>,
}

/// What every change can say.
#[derive(Debug, Clone, Args)]
pub struct ChangeArgs {
    /// Refuse if the branch no longer stands at this commit
    #[arg(long, value_name = "COMMIT")]
    pub expected: Option<String>,

    /// What to say about it in the log
    #[arg(short, long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub message: String,
}

/// A text that is given, or in a file.
#[derive(Debug, Clone, Args)]
pub struct SourceArgs {
    /// The text itself
    #[arg(long, value_name = "TEXT", conflicts_with = "file", allow_hyphen_values = true)]
    pub text: Option<String>,

    /// A file with the text; '-' is standard input
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Shows a schema.
#[derive(Debug, Clone, Args)]
pub struct GraphSchemaArgs {
    /// The graph
    pub graph: String,

    /// Where to look.
    #[command(flatten)]
    pub at: AtArgs,
}

/// Show what applying a schema would do
///
/// Each step is additive, needs every row to be as it asks already, is destructive (made only with
/// --allow-data-loss), or cannot be made. Whether the rows there are allow it is found when it is
/// applied.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex graph plan harbour --file harbour.pg
  narthex graph plan harbour --file harbour.pg --branch ideas --output json")]
pub struct GraphPlanArgs {
    /// The graph
    pub graph: String,

    /// Where the schema comes from.
    #[command(flatten)]
    pub source: SourceArgs,

    /// The branch [default: main]
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
}

/// Apply a schema
///
/// It is one commit on one branch; other branches keep the schema they have until they are merged.
/// On main the stored queries must hold to it.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex graph apply harbour --file harbour.pg
  narthex graph apply harbour --file harbour.pg --branch ideas -m \"boats have a flag\"
  narthex graph apply harbour --file harbour.pg --allow-data-loss")]
pub struct GraphApplyArgs {
    /// The graph
    pub graph: String,

    /// Where the schema comes from.
    #[command(flatten)]
    pub source: SourceArgs,

    /// The branch [default: main]
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,

    /// Apply it even if something can no longer be seen afterwards
    #[arg(long)]
    pub allow_data_loss: bool,

    /// What every change can say.
    #[command(flatten)]
    pub change: ChangeArgs,
}

/// A query and what it is told.
#[derive(Debug, Clone, Args)]
pub struct QueryArgs {
    /// Which of several queries in the text; without a text, the name of a stored query
    pub query: Option<String>,

    /// Where its text comes from.
    #[command(flatten)]
    pub source: SourceArgs,

    /// Its parameters, as a JSON object
    #[arg(long, value_name = "JSON", value_parser = object)]
    pub params: Option<Params>,

    /// One parameter; may be given several times
    #[arg(short = 'p', long = "param", value_name = "NAME=VALUE", value_parser = pair)]
    pub words: Vec<(String, String)>,
}

/// Parameters as JSON.
pub type Params = serde_json::Map<String, serde_json::Value>;

/// Answer a query that looks
///
/// The query is a text (--text, --file) or the name of a stored query, exposed to agents or not. A
/// value given with -p is read as what its parameter is: a number, a date, a list as JSON, else
/// text.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex graph query harbour kept_by -p person=ines
  narthex graph query harbour --file friends.gq -p slug=ada -p min=30
  narthex graph query harbour --file all.gq friends --params {} --at ideas
  narthex graph query harbour --text \"query q() { match { $p: Person } return { $p.slug } }\"")]
pub struct GraphQueryArgs {
    /// The graph
    pub graph: String,

    /// The query.
    #[command(flatten)]
    pub query: QueryArgs,

    /// Where to look.
    #[command(flatten)]
    pub at: AtArgs,

    /// At most so many rows, to 1000
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one(), default_value = "100")]
    pub limit: u32,

    /// Go on from here: the 'next' of the page before
    #[arg(long, value_name = "CURSOR")]
    pub cursor: Option<String>,
}

/// Carry out a query that changes something
///
/// All its statements are one commit, or nothing is changed.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex graph mutate harbour retire -p instrument=rain-gauge
  narthex graph mutate harbour --file changes.gq grow -p slug=ada -p age=37 --branch ideas
  narthex graph mutate harbour --file changes.gq grow --params {} -m \"a birthday\"")]
pub struct GraphMutateArgs {
    /// The graph
    pub graph: String,

    /// The query.
    #[command(flatten)]
    pub query: QueryArgs,

    /// The branch [default: main]
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,

    /// What every change can say.
    #[command(flatten)]
    pub change: ChangeArgs,
}

/// What a load does with what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum LoadWord {
    /// Rows of the file take the place of those with the same key; the rest stays
    #[default]
    Merge,
    /// Every row of the file is new; one that is there already is an error
    Append,
    /// The branch has what the file has, and nothing else
    Overwrite,
}

impl From<LoadWord> for LoadMode {
    fn from(word: LoadWord) -> Self {
        match word {
            LoadWord::Merge => Self::Merge,
            LoadWord::Append => Self::Append,
            LoadWord::Overwrite => Self::Overwrite,
        }
    }
}

/// Load a file of rows
///
/// One JSON object a line: {"type":"Person","data":{…}} is a node, {"edge":"Knows","from":"ada",
/// "to":"bob","data":{…}} an edge. All of the file is one commit, or nothing is changed; loading
/// the same file again changes nothing.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex graph load harbour rows.ndjson
  narthex graph load harbour rows.ndjson --branch import --from main
  narthex graph load harbour rows.ndjson --mode overwrite --expected 3f2a91c0
  zcat rows.ndjson.gz | narthex graph load harbour -")]
pub struct GraphLoadArgs {
    /// The graph
    pub graph: String,

    /// The file; '-' is standard input
    pub file: PathBuf,

    /// The branch; it must be there, unless --from is given [default: main]
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,

    /// Make the branch, beginning at this branch, commit or branch at a time
    #[arg(long, value_name = "PLACE", requires = "branch")]
    pub from: Option<String>,

    /// What to do with what is there
    #[arg(long, value_enum, default_value = "merge", value_name = "MODE")]
    pub mode: LoadWord,

    /// What every change can say.
    #[command(flatten)]
    pub change: ChangeArgs,
}

/// Export rows as lines that load again
///
/// Nodes first, then edges, all of one commit. A file is never written over.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex graph export harbour > rows.ndjson
  narthex graph export harbour --to rows.ndjson
  narthex graph export harbour --at main@2026-01-31 --to january.ndjson")]
pub struct GraphExportArgs {
    /// The graph
    pub graph: String,

    /// Where to look.
    #[command(flatten)]
    pub at: AtArgs,

    /// A file to write to, which must not exist [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
}

/// List the stored queries of a graph, and how agents see them
///
/// They are declared in the settings, under [graphs.NAME].
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex graph stored harbour
  narthex graph stored harbour --output json")]
pub struct GraphStoredArgs {
    /// The graph
    pub graph: String,
}

/// Check the schema and the queries of a folder
///
/// Needs no house: every .pg and .gq file under the folder is parsed and type-checked, and every
/// name must be free. With --config, what the mcp block of the graph says is checked too.
///
/// Ends with 0 if all is well, 1 if something is wrong, 2 if there is not exactly one schema, 3 if
/// there is no such folder or file.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex graph check ./harbour
  narthex graph check ./harbour/queries --schema harbour/harbour.pg
  narthex graph check ./harbour --config narthex.toml --graph harbour --output json")]
pub struct GraphCheckArgs {
    /// The folder
    pub folder: PathBuf,

    /// The schema, instead of the one in the folder
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,

    /// The graph whose mcp block is meant, where the settings have several
    #[arg(long, value_name = "SLUG")]
    pub graph: Option<String>,
}

/// Take a graph away with all that is in it
///
/// Its history goes too. You are asked to type its name again; without a terminal, give it with
/// --confirm.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex graph remove harbour
  narthex graph remove harbour --confirm harbour")]
pub struct GraphRemoveArgs {
    /// The graph
    pub graph: String,

    /// Its name again
    #[arg(long, value_name = "SLUG")]
    pub confirm: Option<String>,
}
