//! What doctor says about the gate: its state and its seals, what is stopped, the clock, the user.

use narthex_server::DataDir;
use narthex_server::owner::{Checked, Reply, Request, SwitchRequest};

use super::Finding;
use crate::commands::stopping::words;
use crate::commands::{once, unexpected};
use crate::{Context, Exit, Failure};

/// Who runs this, and so most likely the server too.
pub(super) fn user() -> Finding {
    if rustix::process::geteuid().is_root() {
        return Finding::warn(
            "user",
            "root: whoever breaks into the server is root with it",
            "run Narthex as a user of its own",
        );
    }
    Finding::ok("user", format!("uid {}", rustix::process::geteuid().as_raw()))
}

/// The file that stops everything.
pub(super) fn stop_file(dir: &DataDir) -> Finding {
    let file = dir.stop_file();
    let path = file.path().display();
    if file.is_there() {
        let way_out = format!("rm {path}, then narthex resume, when agents may go on");
        return Finding::warn(
            "stop file",
            format!("{path} is there: everything is stopped"),
            way_out,
        );
    }
    Finding::ok("stop file", "not there")
}

/// What the house says of itself: the running one, or the one that was opened for this.
pub(super) async fn state(context: &Context) -> Vec<Finding> {
    let mut findings = match once(context, Request::Check).await {
        Ok(Reply::Checked(checked)) => checked.iter().map(finding).collect(),
        Ok(_) => vec![Finding::fail("gate", &unexpected())],
        Err(failure) => vec![Finding::fail("gate", &failure)],
    };
    findings.extend(stops(context).await);
    findings
}

fn finding(checked: &Checked) -> Finding {
    let what = name(&checked.what);
    match &checked.found {
        Ok(found) => Finding::ok(what, found.clone()),
        Err(wrong) => {
            let way_out = match what {
                "clock" => "set the machine's clock; approvals are void over a jump of 5 minutes",
                "damage" => {
                    "look at agents, tokens, approvals and proposals; narthex resume answers it"
                }
                "mode" => "start the server again; if that does not help, restore a backup",
                _ => "someone changed the database: narthex ledger verify, then restore a backup",
            };
            Finding::fail(what, &Failure::new(Exit::Failed, wrong.clone()).hint(way_out))
        }
    }
}

/// The names doctor has for what the house looked at.
fn name(what: &str) -> &'static str {
    let known =
        ["kill switches", "latches", "approvals", "rows", "damage", "budgets", "mode", "clock"];
    known.into_iter().find(|known| *known == what).unwrap_or("gate")
}

/// What is stopped is no fault, and worth a word.
async fn stops(context: &Context) -> Option<Finding> {
    let asked = once(context, Request::Switch(SwitchRequest::List)).await;
    let Ok(Reply::Stops(stops)) = asked else { return None };
    let said: Vec<String> =
        stops.engaged.iter().map(|stop| words(&stop.scope, stop.name.as_ref())).collect();
    if said.is_empty() {
        return None;
    }
    let way_out = "narthex stop --list says why; narthex resume lets it go on";
    Some(Finding::warn("stopped", said.join(", "), way_out))
}
