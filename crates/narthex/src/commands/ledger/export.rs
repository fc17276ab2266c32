//! `narthex ledger export`: records exactly as they are stored.

use std::fs::OpenOptions;
use std::io::{BufWriter, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use narthex_server::owner::{Reply, Request, StoredLine};
use serde_json::json;

use crate::ask::Asking;
use crate::cli::LedgerExportArgs;
use crate::commands::unexpected;
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &LedgerExportArgs) -> Result<Exit, Failure> {
    let mut asking = Asking::open(context).await?;
    let written = match &args.to {
        None => copy(&mut asking, args.from, &mut Standard).await,
        Some(file) => copy(&mut asking, args.from, &mut Filed::create(file)?).await,
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

struct Filed<'a> {
    path: &'a Path,
    file: BufWriter<std::fs::File>,
}

impl<'a> Filed<'a> {
    /// A new file that only its owner can read; never over one that is there.
    fn create(path: &'a Path) -> Result<Self, Failure> {
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        match made {
            Ok(file) => Ok(Self { path, file: BufWriter::new(file) }),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let message = format!("{} exists already", path.display());
                Err(Failure::new(Exit::Conflict, message).hint("name a file that does not exist"))
            }
            Err(error) => Err(Failure::file(path, &error)),
        }
    }
}

impl Sink for Filed<'_> {
    fn put(&mut self, line: &StoredLine) -> Result<(), Failure> {
        serde_json::to_writer(&mut self.file, line)
            .map_err(std::io::Error::from)
            .and_then(|()| self.file.write_all(b"\n"))
            .map_err(|error| Failure::file(self.path, &error))
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let synced = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        synced.map_err(|error| Failure::file(self.path, &error))
    }
}

/// Records asked for at once.
const PAGE: u32 = 1_000;
