//! `page add|edit|show|list|import|export|history|move|delete`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::parse::at_least_one;

/// Pages: markdown with a history.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  narthex page import ./notes --space research
  narthex page list --space research
  narthex page show home --space research")]
pub enum PageCommand {
    Add(PageAddArgs),
    Edit(PageEditArgs),
    /// Show a page with its links
    #[command(after_help = "\
Examples:
  narthex page show guides/set-up --space research
  narthex page show home --space research --output json")]
    Show(PageNameArgs),
    /// List the pages of a space
    List(PageListArgs),
    Import(PageImportArgs),
    Export(PageExportArgs),
    /// List a page's revisions and who they came from
    #[command(after_help = "\
Examples:
  narthex page history home --space research
  narthex page history 0198c0de-0000-7000-8000-000000000001 --space research")]
    History(PageNameArgs),
    /// Move a page to another space
    Move(PageMoveArgs),
    /// Delete a page; its history stays
    #[command(after_help = "\
Examples:
  narthex page delete drafts/old --space research")]
    Delete(PageNameArgs),
}

/// Where a text comes from.
#[derive(Debug, Clone, Args)]
pub struct TextArgs {
    /// The text itself
    #[arg(long, value_name = "TEXT", conflicts_with = "file", allow_hyphen_values = true)]
    pub body: Option<String>,

    /// A file with the text; '-' is standard input
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Make a page
///
/// The text comes from --body, from --file, or from standard input.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex page add --space research --title \"Set-up\" --body \"See [[home]].\"
  narthex page add --space research --title \"Set-up\" --slug guides/set-up --file set-up.md
  narthex page add --space research --title \"Set-up\" --tag how-to --tag public --file set-up.md
  echo \"See [[home]].\" | narthex page add --space research --title \"Set-up\"")]
pub struct PageAddArgs {
    /// The space it goes into
    #[arg(long, value_name = "SLUG")]
    pub space: String,

    /// Its title
    #[arg(long)]
    pub title: String,

    /// Its slug [default: made from the title]
    #[arg(long)]
    pub slug: Option<String>,

    /// A tag; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,

    /// Where the text comes from.
    #[command(flatten)]
    pub text: TextArgs,
}

/// Change a page; without options, in your editor
///
/// What is not given stays as it is. With nothing given, on a terminal, opens $VISUAL or $EDITOR
/// on the page; with nothing given and no terminal, the text comes from standard input.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex page edit home --space research
  narthex page edit home --space research --title \"Welcome\" --tag start --tag public
  narthex page edit home --space research --file home.md --base 3")]
pub struct PageEditArgs {
    /// Its slug or id
    pub page: String,

    /// The space it is in
    #[arg(long, value_name = "SLUG")]
    pub space: String,

    /// A new title
    #[arg(long)]
    pub title: Option<String>,

    /// A new slug
    #[arg(long)]
    pub slug: Option<String>,

    /// A tag, instead of all it has; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,

    /// Take all tags away
    #[arg(long, conflicts_with = "tags")]
    pub clear_tags: bool,

    /// Refuse if the page is no longer at this revision
    #[arg(long, value_name = "REVISION")]
    pub base: Option<u32>,

    /// Where the text comes from.
    #[command(flatten)]
    pub text: TextArgs,
}

/// Names a page.
#[derive(Debug, Clone, Args)]
pub struct PageNameArgs {
    /// Its slug or id
    pub page: String,

    /// The space it is in
    #[arg(long, value_name = "SLUG")]
    pub space: String,
}

/// Lists pages.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex page list --space research
  narthex page list --space research --limit 20 --after guides/set-up")]
pub struct PageListArgs {
    /// The space they are in
    #[arg(long, value_name = "SLUG")]
    pub space: String,

    /// Go on after this slug
    #[arg(long, value_name = "SLUG")]
    pub after: Option<String>,

    /// At most so many [default: all]
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one())]
    pub limit: Option<u32>,
}

/// Import a folder of markdown
///
/// Every .md and .markdown file becomes a page. Folders become slug paths; index.md or README.md
/// stands for its folder, and for 'home' at the top. Front matter (YAML between '---', TOML
/// between '+++') may give title, slug and tags; otherwise the title is the first '# ' heading,
/// or the file's name. Links to other imported files become [[links]], unless the front matter
/// says 'links: as-is'. Hidden files, node_modules and symbolic links are left out.
///
/// Importing again writes only what changed: after an interruption, run the same command.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex page import ./notes --space research --dry-run
  narthex page import ./notes --space research
  narthex page import ./notes --space research --output json")]
pub struct PageImportArgs {
    /// The folder
    pub folder: PathBuf,

    /// The space they go into
    #[arg(long, value_name = "SLUG")]
    pub space: String,

    /// Only say what would be imported
    #[arg(long)]
    pub dry_run: bool,
}

/// Export a space as a folder of markdown
///
/// One file a page, with front matter, so that importing the folder again changes nothing.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex page export ./backup --space research
  narthex page export ./backup --space research --force")]
pub struct PageExportArgs {
    /// The folder; made if it is not there
    pub folder: PathBuf,

    /// The space they come from
    #[arg(long, value_name = "SLUG")]
    pub space: String,

    /// Write into a folder that is not empty, over files of the same name
    #[arg(long)]
    pub force: bool,
}

/// Moves a page to another space.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex page move drafts/plan --space research --to public")]
pub struct PageMoveArgs {
    /// Its slug or id
    pub page: String,

    /// The space it is in
    #[arg(long, value_name = "SLUG")]
    pub space: String,

    /// The space it goes to
    #[arg(long, value_name = "SLUG")]
    pub to: String,
}
