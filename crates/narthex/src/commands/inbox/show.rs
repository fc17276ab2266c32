//! `narthex inbox show`.

use std::fmt::Write as _;

use narthex_core::{ProposalStatus, Taint};
use narthex_server::owner::{ProposalDetail, Reply, Request};

use super::{status, subject};
use crate::cli::InboxIdArgs;
use crate::commands::{once, unexpected};
use crate::output::diff;
use crate::output::table::{self, Said, bad, fair};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &InboxIdArgs) -> Result<Exit, Failure> {
    let request = Request::InboxShow { proposal: args.proposal.clone() };
    let Reply::Proposal(detail) = once(context, request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&detail)?;
    } else {
        output::text(shown(&detail))?;
    }
    Ok(Exit::Done)
}

/// The facts, then the change.
pub(crate) fn shown(detail: &ProposalDetail) -> String {
    let mut out = table::facts(facts(detail));
    out.push_str("\n\n");
    out.push_str(&diff::coloured(&detail.diff));
    if matches!(detail.info.status, ProposalStatus::Pending) && !moved(detail) {
        let id = detail.info.id;
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "\n\nApply it:  narthex inbox approve {id}\n\
             Say no:    narthex inbox reject {id} --reason <why>"
        );
    }
    out
}

fn facts(detail: &ProposalDetail) -> Vec<(&'static str, Said)> {
    let info = &detail.info;
    let mut facts: Vec<(&'static str, Said)> = vec![
        ("proposal", info.id.to_string().into()),
        ("status", status(info.status)),
        ("agent", info.agent.to_string().into()),
        ("space", info.space.to_string().into()),
        ("action", format!("{} {} {}", info.action, info.entity_type, subject(info)).into()),
        ("reason", info.reason.clone().into()),
        ("taken in", taint(info.taint)),
        ("made", table::moment(info.created).into()),
    ];
    if let Some(base) = info.base_revision {
        let now = detail.current_revision.map_or_else(|| "gone".to_owned(), |n| n.to_string());
        facts.push(("revision", format!("made against {base}, now {now}").into()));
    }
    if let Some(decided) = info.decided {
        facts.push(("decided", table::moment(decided).into()));
    }
    if let Some(note) = &info.note {
        facts.push(("note", note.clone().into()));
    }
    if moved(detail) {
        facts.push(("conflict", bad("the page moved on since; approving it will be refused")));
    }
    facts
}

/// What the agent had taken in when it asked: what its text may carry.
fn taint(taint: Taint) -> Said {
    match (taint.private, taint.untrusted) {
        (false, false) => "nothing".into(),
        (true, false) => "private".into(),
        (false, true) => fair("untrusted"),
        (true, true) => bad("private and untrusted"),
    }
}

/// An open proposal whose page is no longer what it was made against.
fn moved(detail: &ProposalDetail) -> bool {
    let open = matches!(detail.info.status, ProposalStatus::Pending | ProposalStatus::Conflict);
    open && detail.info.base_revision.is_some()
        && detail.info.base_revision != detail.current_revision
}
