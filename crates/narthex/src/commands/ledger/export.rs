//! `narthex ledger export`: records exactly as they are stored.

use narthex_server::owner::{Reply, Request, StoredLine};
use serde_json::json;

use crate::ask::Asking;
use crate::cli::LedgerExportArgs;
use crate::commands::new_file::NewFile;
use crate::commands::unexpected;
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &LedgerExportArgs) -> Result<Exit, Failure> {
    let mut asking = Asking::open(context).await?;
    let written = match &args.to {
        None => copy(&mut asking, args.from, &mut Standard).await,
        Some(file) => copy(&mut asking, args.from, &mut NewFile::create(file)?).await,
    };
    asking.close().await?;
    let records = written?;
    if let Some(file) = &args.to {
        if context.is_json() {
            output::json(&json!({"records": records, "from": args.from, "to": file}))?;
        } else {
            output::text(format!("{records} records written to {}", file.display()))?;
        }
    }
    Ok(Exit::Done)
}

/// Where lines go.
trait Sink {
    fn put(&mut self, line: &StoredLine) -> Result<(), Failure>;
    fn finish(&mut self) -> Result<(), Failure>;
}

async fn copy(asking: &mut Asking, from: u64, sink: &mut impl Sink) -> Result<u64, Failure> {
    let (mut next, mut count) = (from, 0);
    loop {
        let request = Request::LedgerRead { from: next, limit: PAGE };
        let Reply::Stored(lines) = asking.ask(request).await? else { return Err(unexpected()) };
        let Some(last) = lines.last() else { break };
        next = last.seq.saturating_add(1);
        for line in &lines {
            sink.put(line)?;
            count += 1;
        }
    }
    sink.finish()?;
    Ok(count)
}

struct Standard;

impl Sink for Standard {
    fn put(&mut self, line: &StoredLine) -> Result<(), Failure> {
        output::json_line(line)
    }

    fn finish(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

impl Sink for NewFile<'_> {
    fn put(&mut self, line: &StoredLine) -> Result<(), Failure> {
        let text = serde_json::to_vec(line)
            .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
        self.line(&text)
    }

    fn finish(&mut self) -> Result<(), Failure> {
        Self::finish(self)
    }
}

/// Records asked for at once.
const PAGE: u32 = 1_000;
