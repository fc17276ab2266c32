//! Those who follow the ledger, as the settings say.

use std::path::{Path, PathBuf};

use narthex_server::Following;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Context;
use crate::house::OpenHouse;

/// Starts them beside a server. They end when the returned token is cancelled, after having caught
/// up once more: cancel it when nobody writes any more.
pub(crate) fn start(context: &Context, open: &OpenHouse, tasks: &TaskTracker) -> CancellationToken {
    let stop = CancellationToken::new();
    let settings = &context.config.ledger;
    let following = Following {
        anchor: settings.anchor.clone(),
        file: settings.sink.file.clone(),
        syslog: settings.sink.syslog.then(|| (PathBuf::from(SYSTEM_LOG), told(&open.dir))),
    };
    let gate = open.house.gate();
    let watched = following.start(gate.store(), gate.clock(), tasks, &stop);
    open.house.desk().watch(watched);
    stop
}

/// Remembers how far the system log was told.
fn told(dir: &narthex_server::DataDir) -> PathBuf {
    let root: &Path = dir.root();
    root.join("ledger.syslog")
}

const SYSTEM_LOG: &str = "/dev/log";
