//! `narthex keep` and `narthex sandbox`: our own binary, between us and a process of somebody else's, or
//! around a program. Narthex starts itself with them; a person has no use for either.

use std::ffi::OsString;
use std::process::ExitCode;

/// Keeps or works, if that is what was asked for. Before anything else, the reading of the command line
/// included: both have one thread, no settings, no log and no house, and little memory.
pub fn instead(mut words: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    match words.nth(1)?.to_str()? {
        narthex_walls::KEEP => Some(narthex_walls::keep(words)),
        narthex_sandbox::WORK => {
            let words: Option<Vec<String>> = words.map(|word| word.into_string().ok()).collect();
            let order = words.as_deref().and_then(narthex_sandbox::WorkerOrder::of);
            Some(order.map_or(ExitCode::FAILURE, narthex_sandbox::work))
        }
        _ => None,
    }
}
