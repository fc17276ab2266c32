//! `narthex graph load`: a file of any size, with no more of it in memory than a part.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use narthex_server::owner::{
    Bytes, GraphReply, GraphRequest, LoadRequest, MAX_LOAD_PART, Reply, Request,
};

use super::{change, print_changed};
use crate::ask::Asking;
use crate::cli::GraphLoadArgs;
use crate::commands::unexpected;
use crate::{Context, Exit, Failure};

pub(super) async fn run(context: &Context, args: &GraphLoadArgs) -> Result<Exit, Failure> {
    let standard = args.file == Path::new("-");
    let (input, size): (Box<dyn Read + Send>, Option<u64>) = if standard {
        (Box::new(io::stdin()), None)
    } else {
        let failed = |error: io::Error| Failure::file(&args.file, &error);
        let file = File::open(&args.file).map_err(failed)?;
        let facts = file.metadata().map_err(failed)?;
        if facts.is_dir() {
            let message = format!("{}: a folder, not a file", args.file.display());
            return Err(Failure::new(Exit::Usage, message));
        }
        (Box::new(file), facts.is_file().then_some(facts.len()))
    };
    let begin = LoadRequest::Begin {
        change: change(&args.graph, args.branch.as_ref(), &args.change),
        from: args.from.clone(),
        mode: args.mode.into(),
    };
    let progress = progress(size);
    let mut asking = Asking::open(context).await?;
    let loaded = send(&mut asking, begin, input, &args.file, &progress).await;
    asking.close().await?;
    progress.finish_and_clear();
    print_changed(context, loaded?)
}

async fn send(
    asking: &mut Asking,
    begin: LoadRequest,
    mut input: Box<dyn Read + Send>,
    file: &Path,
    progress: &ProgressBar,
) -> Result<GraphReply, Failure> {
    ask(asking, begin).await?;
    loop {
        let mut bytes = Vec::with_capacity(MAX_LOAD_PART);
        // Whoever feeds standard input may take their time; nothing else waits in this process.
        let read = input.by_ref().take(MAX_LOAD_PART as u64).read_to_end(&mut bytes);
        read.map_err(|error| Failure::file(file, &error))?;
        if bytes.is_empty() {
            break;
        }
        let count = bytes.len() as u64;
        ask(asking, LoadRequest::Part { bytes: Bytes(bytes) }).await?;
        progress.inc(count);
    }
    ask(asking, LoadRequest::End).await
}

async fn ask(asking: &mut Asking, request: LoadRequest) -> Result<GraphReply, Failure> {
    match asking.ask(Request::Graph(GraphRequest::Load(request))).await? {
        Reply::Graph(reply) => Ok(reply),
        _ => Err(unexpected()),
    }
}

/// By bytes; where nobody knows how many there are, they are counted.
fn progress(size: Option<u64>) -> ProgressBar {
    let target = if io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(size, target);
    let template = match size {
        Some(_) => "{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
        None => "{spinner} {bytes}, {bytes_per_sec}",
    };
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
