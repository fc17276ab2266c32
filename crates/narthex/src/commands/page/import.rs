//! `narthex page import`.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use narthex_core::PageDraft;
use narthex_server::owner::{Imported, MAX_IMPORT_BATCH, Reply, Request};
use serde::Serialize;
use serde_json::json;

use crate::ask::Asking;
use crate::cli::PageImportArgs;
use crate::commands::unexpected;
use crate::markdown::tree::{Planned, Skipped, Tree};
use crate::output::table::{self, Column};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &PageImportArgs) -> Result<Exit, Failure> {
    let tree = Tree::look(&args.folder).map_err(|error| Failure::file(&args.folder, &error))?;
    if args.dry_run {
        return print_plan(context, &tree);
    }
    let mut asking = Asking::open(context).await?;
    let mut import = Import::new(&args.space, &tree);
    let done = import.all(&mut asking, &tree).await;
    asking.close().await?;
    import.progress.finish_and_clear();
    done.map_err(|failure| import.interrupted(failure, &tree))?;
    print_report(context, &import.report)
}

/// What became of every file.
#[derive(Debug, Default, Serialize)]
struct Report {
    space: String,
    created: usize,
    updated: usize,
    unchanged: usize,
    skipped: Vec<Skipped>,
}

/// An import under way: pages go out in batches, each of them written whole or not at all.
struct Import {
    report: Report,
    batch: Vec<PageDraft>,
    bytes: usize,
    progress: ProgressBar,
}

impl Import {
    fn new(space: &str, tree: &Tree) -> Self {
        let report = Report {
            space: space.to_owned(),
            skipped: tree.skipped().to_vec(),
            ..Report::default()
        };
        Self { report, batch: Vec::new(), bytes: 0, progress: progress(tree.pages().len()) }
    }

    async fn all(&mut self, asking: &mut Asking, tree: &Tree) -> Result<(), Failure> {
        // A space that is not there is said at once, also where there is nothing to import.
        asking.ask(Request::SpaceShow { space: self.report.space.clone() }).await?;
        for planned in tree.pages() {
            match tree.draft(planned) {
                Ok(draft) => self.put(asking, draft).await?,
                Err(skipped) => self.report.skipped.push(skipped),
            }
        }
        self.send(asking).await
    }

    async fn put(&mut self, asking: &mut Asking, draft: PageDraft) -> Result<(), Failure> {
        let bytes = draft.body.len() + PAGE_OVERHEAD;
        if self.batch.len() >= MAX_IMPORT_BATCH || self.bytes + bytes > BATCH_BYTES {
            self.send(asking).await?;
        }
        self.bytes += bytes;
        self.batch.push(draft);
        Ok(())
    }

    async fn send(&mut self, asking: &mut Asking) -> Result<(), Failure> {
        let pages = std::mem::take(&mut self.batch);
        self.bytes = 0;
        if pages.is_empty() {
            return Ok(());
        }
        let count = pages.len();
        let request = Request::PageImport { space: self.report.space.clone(), pages };
        let Reply::Imported(became) = asking.ask(request).await? else {
            return Err(unexpected());
        };
        for one in became {
            match one {
                Imported::Created => self.report.created += 1,
                Imported::Updated => self.report.updated += 1,
                Imported::Unchanged => self.report.unchanged += 1,
            }
        }
        self.progress.inc(count as u64);
        Ok(())
    }

    /// What is written stays; running the command again finishes the rest.
    fn interrupted(&self, failure: Failure, tree: &Tree) -> Failure {
        let Report { created, updated, unchanged, .. } = &self.report;
        let done = created + updated + unchanged;
        if done == 0 {
            return failure;
        }
        let message = format!("{} (after {done} of {} pages)", failure.message, tree.pages().len());
        let hint = "run the same command again: it goes on where it stopped".to_owned();
        Failure { message, hint: Some(hint), ..failure }
    }
}

fn print_report(context: &Context, report: &Report) -> Result<Exit, Failure> {
    if context.is_json() {
        output::json(report)?;
        return Ok(Exit::Done);
    }
    let Report { space, created, updated, unchanged, skipped } = report;
    let mut text = format!(
        "{space}: {created} created, {updated} updated, {unchanged} unchanged, {} skipped",
        skipped.len()
    );
    if !skipped.is_empty() {
        text.push_str("\n\n");
        text.push_str(&skipped_table(skipped));
    }
    output::text(text)?;
    Ok(Exit::Done)
}

fn print_plan(context: &Context, tree: &Tree) -> Result<Exit, Failure> {
    if context.is_json() {
        let plan = json!({"dry_run": true, "pages": tree.pages(), "skipped": tree.skipped()});
        output::json(&plan)?;
        return Ok(Exit::Done);
    }
    if !tree.pages().is_empty() {
        let row = |page: &Planned| {
            [page.file.display().to_string(), page.slug.to_string(), page.title.clone()]
        };
        let columns = [Column::Flows("FILE"), Column::Flows("PAGE"), Column::Flows("TITLE")];
        output::text(format!("{}\n", table::rows(&columns, tree.pages().iter().map(row))))?;
    }
    let (pages, skipped) = (tree.pages().len(), tree.skipped());
    output::text(format!("{pages} would be imported, {} skipped", skipped.len()))?;
    if !skipped.is_empty() {
        output::text(format!("\n{}", skipped_table(skipped)))?;
    }
    Ok(Exit::Done)
}

fn skipped_table(skipped: &[Skipped]) -> String {
    let columns = [Column::Flows("SKIPPED"), Column::Flows("WHY")];
    table::rows(&columns, skipped.iter().map(|one| [one.file.clone(), one.reason.clone()]))
}

fn progress(pages: usize) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(pages as u64), target);
    match ProgressStyle::with_template("{bar:30} {pos}/{len} pages, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Bytes of one batch, and what a page weighs beside its body.
const BATCH_BYTES: usize = 8 * 1024 * 1024;
const PAGE_OVERHEAD: usize = 1024;
