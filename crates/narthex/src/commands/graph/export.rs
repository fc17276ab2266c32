//! `narthex graph export`: rows as lines that load again.

use narthex_core::CommitId;
use narthex_server::owner::{GraphReply, GraphRequest, LinesPage, Reply, Request};
use serde_json::json;

use crate::ask::Asking;
use crate::cli::GraphExportArgs;
use crate::commands::new_file::NewFile;
use crate::commands::unexpected;
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &GraphExportArgs) -> Result<Exit, Failure> {
    let mut file = args.to.as_deref().map(NewFile::create).transpose()?;
    let mut asking = Asking::open(context).await?;
    let written = copy(&mut asking, args, file.as_mut()).await;
    asking.close().await?;
    let written = written?;
    if let Some(file) = &mut file {
        file.finish()?;
    }
    if written.left_out > 0 {
        output::note(format!(
            "{} edges were left out: the schema no longer has the type of one of their ends",
            written.left_out
        ));
    }
    if let Some(to) = &args.to {
        if context.is_json() {
            let Written { commit, lines, left_out } = written;
            output::json(&json!({
                "commit": commit, "lines": lines, "left_out": left_out, "to": to,
            }))?;
        } else {
            output::text(format!("{} lines written to {}", written.lines, to.display()))?;
        }
    }
    Ok(Exit::Done)
}

/// What was written.
#[derive(Debug, Default)]
struct Written {
    commit: Option<CommitId>,
    lines: u64,
    left_out: u64,
}

async fn copy(
    asking: &mut Asking,
    args: &GraphExportArgs,
    mut file: Option<&mut NewFile<'_>>,
) -> Result<Written, Failure> {
    let mut written = Written::default();
    let mut after = None;
    loop {
        let request =
            GraphRequest::Export { graph: args.graph.clone(), at: args.at.at.clone(), after };
        let reply = asking.ask(Request::Graph(request)).await?;
        let Reply::Graph(GraphReply::Lines(page)) = reply else { return Err(unexpected()) };
        let LinesPage { commit, lines, left_out, next } = page;
        match &mut file {
            Some(file) => lines.iter().try_for_each(|line| file.line(line.as_bytes()))?,
            None => output::json_lines(&lines)?,
        }
        written.commit = Some(commit);
        written.lines += lines.len() as u64;
        written.left_out += left_out;
        if next.is_none() {
            return Ok(written);
        }
        after = next;
    }
}
