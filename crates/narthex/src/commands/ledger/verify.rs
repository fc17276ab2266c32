//! `narthex ledger verify`: offline, never through the server that wrote the ledger.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressDrawTarget};
use narthex_server::DataDir;
use narthex_store::chain::Verified;
use narthex_store_sqlite::{VerifyFailure, verify_offline};
use serde_json::json;

use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context) -> Result<Exit, Failure> {
    let progress = ProgressBar::with_draw_target(None, target());
    let verified = verify(context, |records| progress.set_position(records)).await;
    progress.finish_and_clear();
    let Verified { records, head } = verified?;
    if context.is_json() {
        output::json(&json!({"ok": true, "records": records, "head": head}))?;
    } else {
        output::text(format!("ok: {records} records, whole and in order\nhead: {head}"))?;
    }
    Ok(Exit::Done)
}

/// Walks the ledger of the house, whether a server runs or not.
pub(crate) async fn verify(
    context: &Context,
    progress: impl FnMut(u64),
) -> Result<Verified, Failure> {
    let dir = DataDir::at(&context.data_dir);
    let key = dir.keys()?.ledger;
    if !dir.database().exists() {
        return Err(broken(format!("{} is missing", dir.database().display())));
    }
    let walked = verify_offline(&dir.database(), &dir.head_file(), &key, progress).await;
    walked.map_err(|failure| match failure {
        VerifyFailure::Chain(fault) => broken(fault.to_string()),
        VerifyFailure::Database(said) => broken(format!("the database cannot be read: {said}")),
        VerifyFailure::HeadFile(error) => Failure::file(&dir.head_file(), &error),
    })
}

fn broken(said: String) -> Failure {
    Failure::new(Exit::LedgerBroken, said)
        .hint("stop the server, keep a copy of the data directory, and compare it with a backup")
}

fn target() -> ProgressDrawTarget {
    if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    }
}
