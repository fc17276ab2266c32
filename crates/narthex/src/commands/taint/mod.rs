//! `narthex taint`.

mod clear;
mod show;

use narthex_core::Taint;
use narthex_server::owner::{CauseInfo, LatchInfo};

use crate::cli::TaintCommand;
use crate::output::table::{self, Said, bad, fair};
use crate::{Context, Exit, Failure};

/// Carries out `narthex taint …`.
pub async fn run(context: &Context, command: &TaintCommand) -> Result<Exit, Failure> {
    match command {
        TaintCommand::Show(args) => show::run(context, args).await,
        TaintCommand::Clear(args) => clear::run(context, args).await,
    }
}

/// What was taken in, in words.
pub(super) fn said(taint: Taint) -> Said {
    match (taint.private, taint.untrusted) {
        (false, false) => "nothing".into(),
        (true, false) => "private".into(),
        (false, true) => fair("untrusted"),
        (true, true) => bad("private and untrusted"),
    }
}

/// What set a latch, fact by fact.
pub(super) fn causes(latch: &LatchInfo) -> Vec<(&'static str, Said)> {
    let bits = [("private by", &latch.private), ("untrusted by", &latch.untrusted)];
    let set = bits.into_iter().filter_map(|(name, bit)| Some((name, bit.as_ref()?)));
    set.map(|(name, cause)| (name, words(cause).into())).collect()
}

fn words(cause: &CauseInfo) -> String {
    let about = cause.about.as_ref().map(|about| format!(", {about}")).unwrap_or_default();
    let first = table::moment(cause.first);
    let again =
        (cause.last != cause.first).then(|| format!(", last {}", table::moment(cause.last)));
    let until = cause.until.map(|until| format!(", until {}", table::moment(until)));
    format!(
        "{} on {}{about}, first {first}{}{}",
        cause.tool,
        cause.surface,
        again.unwrap_or_default(),
        until.unwrap_or_default()
    )
}
