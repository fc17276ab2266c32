//! `narthex ledger verify`: offline, by code that has nothing in common with what writes.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget};
use narthex_server::DataDir;
use narthex_verify::{Anchor, HeadKey, Keys, Ledger, PublicKey, Report, verify_segment};
use serde_json::{Value, json};

use crate::cli::LedgerVerifyArgs;
use crate::output::table;
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &LedgerVerifyArgs) -> Result<Exit, Failure> {
    let progress = bar();
    let told = |records| progress.set_position(records);
    let verified = match &args.segment {
        Some(segment) => verify_one(context, args, segment, told),
        None => verify(context, args, told).await,
    };
    progress.finish_and_clear();
    let report = verified?;
    if context.is_json() {
        output::json(&as_json(&report)?)?;
    } else {
        output::text(as_text(&report))?;
    }
    Ok(Exit::Done)
}

/// Walks the ledger of the house, whether a server runs or not.
pub(crate) async fn verify(
    context: &Context,
    args: &LedgerVerifyArgs,
    progress: impl FnMut(u64),
) -> Result<Report, Failure> {
    let ledger = ledger(context, args)?;
    ledger.verify(progress).await.map_err(|failure| broken(&failure))
}

/// The ledger in its files, with the keys that are there and what it is to be held against.
pub(crate) fn ledger(context: &Context, args: &LedgerVerifyArgs) -> Result<Ledger, Failure> {
    let dir = DataDir::at(&context.data_dir);
    let head = dir.head_key_bytes()?.map(HeadKey::new);
    let seal = public_key(context, args.public_key.as_deref())?;
    if head.is_none() && seal.is_none() {
        return Err(crate::house::no_house(&dir));
    }
    if !dir.database().exists() {
        let missing = format!("{} is missing", dir.database().display());
        return Err(Failure::new(Exit::LedgerBroken, missing).hint(WAY_OUT));
    }
    if seal.is_none() && dir.has_seal_key()? {
        let missing = format!(
            "{} is missing, and the other half of the key is there",
            dir.public_key().display()
        );
        return Err(Failure::new(Exit::LedgerBroken, missing).hint(WAY_OUT));
    }
    let mut anchors = anchors(args, seal.as_ref())?;
    if args.anchor.is_none() {
        anchors.extend(kept_anchor(context, seal.as_ref())?);
    }
    Ok(Ledger {
        anchors,
        database: dir.database(),
        head_file: Some(dir.head_file()),
        keys: Keys { seal, head },
    })
}

/// The anchor the settings name: it is always held against the ledger. One that is not there yet
/// says nothing; one that cannot be read, or not be checked, is not passed over.
pub(super) fn kept_anchor(
    context: &Context,
    key: Option<&PublicKey>,
) -> Result<Option<Anchor>, Failure> {
    let Some(kept) = &context.config.ledger.anchor else { return Ok(None) };
    if !kept.try_exists().map_err(|error| Failure::file(kept, &error))? {
        return Ok(None);
    }
    let key = key.ok_or_else(no_key)?;
    can_be_read(kept)?;
    Anchor::read(kept, key).map(Some).map_err(|failure| broken(&failure))
}

/// The key that was named, or the house's own.
pub(super) fn public_key(
    context: &Context,
    named: Option<&str>,
) -> Result<Option<PublicKey>, Failure> {
    let dir = DataDir::at(&context.data_dir);
    let text = match named {
        Some(text) if text.parse::<PublicKey>().is_ok() => text.to_owned(),
        Some(file) => read(Path::new(file))?,
        None if dir.has_public_key()? => read(&dir.public_key())?,
        None => return Ok(None),
    };
    let key = text.parse().map_err(|error| Failure::new(Exit::Usage, format!("{error}")));
    key.map(Some)
}

fn anchors(args: &LedgerVerifyArgs, key: Option<&PublicKey>) -> Result<Vec<Anchor>, Failure> {
    let mut anchors = Vec::new();
    if let Some(text) = &args.expect_head {
        let anchor = Anchor::expected(text).ok_or_else(|| {
            Failure::new(Exit::Usage, "--expect-head is <size>:<root in hexadecimal digits>")
                .hint("narthex ledger verify prints both")
        })?;
        anchors.push(anchor);
    }
    if let Some(file) = &args.anchor {
        let key = key.ok_or_else(no_key)?;
        can_be_read(file)?;
        anchors.push(Anchor::read(file, key).map_err(|failure| broken(&failure))?);
    }
    Ok(anchors)
}

fn verify_one(
    context: &Context,
    args: &LedgerVerifyArgs,
    segment: &Path,
    progress: impl FnMut(u64),
) -> Result<Report, Failure> {
    let key = public_key(context, args.public_key.as_deref())?.ok_or_else(no_key)?;
    can_be_read(segment)?;
    let anchors = anchors(args, Some(&key))?;
    verify_segment(segment, &key, anchors, progress).map_err(|failure| broken(&failure))
}

fn as_json(report: &Report) -> Result<Value, Failure> {
    let mut value = serde_json::to_value(report)
        .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    if let Some(fields) = value.as_object_mut() {
        fields.insert("ok".to_owned(), json!(true));
    }
    Ok(value)
}

fn as_text(report: &Report) -> String {
    let signed = report.signed_by.as_ref().map_or_else(
        || "not signed: this house has no key for it yet".to_owned(),
        |name| format!("{} by {name}, up to record {}", report.checkpoints, report.sealed),
    );
    let heads = if report.heads_authenticated {
        "genuine"
    } else {
        "agree (the key that would prove them genuine is not here)"
    };
    let anchors = match report.anchors {
        0 => "none: an older copy of everything would look the same".to_owned(),
        count => format!("{count} met"),
    };
    let mut facts = vec![
        ("head", report.head.clone()),
        ("root", format!("{}:{}", report.records, report.root)),
        ("checkpoints", signed),
        ("heads", heads.to_owned()),
        ("anchors", anchors),
    ];
    if report.base > 0 {
        facts.push(("taken out", format!("records 1 to {}, by the owner", report.base)));
    }
    let count = report.records - report.base;
    format!("ok: {count} records, whole and in order\n{}", table::facts(facts))
}

/// What verifying found, and the way out.
pub(crate) fn broken(failure: &narthex_verify::Failure) -> Failure {
    Failure::new(Exit::LedgerBroken, failure.to_string()).hint(WAY_OUT)
}

pub(super) fn no_key() -> Failure {
    Failure::new(Exit::Usage, "there is no public key to check with")
        .hint("name one with --public-key; narthex ledger key prints it")
}

pub(super) fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| Failure::file(path, &error))
}

/// A file that was named and cannot be read says nothing about the ledger.
fn can_be_read(path: &Path) -> Result<(), Failure> {
    let opened = File::open(path).and_then(|file| file.metadata()).and_then(|file| {
        if file.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(()) }
    });
    opened.map_err(|error| Failure::file(path, &error))
}

pub(super) fn bar() -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    ProgressBar::with_draw_target(None, target)
}

const WAY_OUT: &str =
    "stop the server, keep a copy of the data directory, and compare it with a backup";
