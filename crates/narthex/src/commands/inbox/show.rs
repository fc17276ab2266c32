//! `narthex inbox show`.

use std::fmt::Write as _;

use narthex_core::{BranchName, CommitId, ProposalStatus};
use narthex_server::owner::{ProposalDetail, Reply, Request};

use super::{rows, server, status, subject};
use crate::cli::InboxIdArgs;
use crate::commands::{once, taint, unexpected};
use crate::output::table::{self, Said, bad};
use crate::output::{clean, diff};
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
    if !detail.diff.is_empty() || (detail.change.is_none() && detail.server.is_none()) {
        out.push_str("\n\n");
        out.push_str(&diff::coloured(&detail.diff));
    }
    if let Some(change) = &detail.change {
        out.push_str("\n\n");
        out.push_str(&rows::shown(change));
    }
    let id = detail.info.id;
    if let Some(requested) = &detail.server
        && detail.info.status == ProposalStatus::Pending
    {
        out.push_str(&server::next(&detail.info, requested));
    } else if detail.change.as_ref().is_some_and(|change| change.conflicts_total > 0) {
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "\n\nSay how:   narthex inbox approve {id} --resolve <file>\n\
             Say no:    narthex inbox reject {id} --reason <why>"
        );
    } else if is_offered(detail) {
        let _ = write!(
            out,
            "\n\nApply it:  narthex inbox approve {id}\n\
             Say no:    narthex inbox reject {id} --reason <why>"
        );
    }
    out
}

/// Whether it can be applied as it is.
fn is_offered(detail: &ProposalDetail) -> bool {
    let trouble = detail.change.as_ref().is_some_and(|change| change.trouble.is_some());
    let merge = detail.info.merge.is_some() && detail.info.status == ProposalStatus::Conflict;
    let open = detail.info.status == ProposalStatus::Pending || merge;
    open && !moved(detail) && !trouble
}

/// Characters of the proposal that a reader of the page would not see.
fn hidden(detail: &ProposalDetail) -> usize {
    let draft = detail.proposed.as_ref();
    let texts = draft.map(|d| [d.title.as_str(), d.body.as_str(), d.slug.as_str()]);
    let texts = texts.into_iter().flatten().chain([detail.info.reason.as_str()]);
    let rows = detail.change.as_ref().map_or(0, rows::hidden);
    texts.map(clean::hidden).sum::<usize>() + rows
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
        ("made", table::moment(info.created).into()),
    ];
    facts.push(("taken in", taint::said(info.taint)));
    let hidden = hidden(detail);
    if hidden > 0 {
        let said =
            format!("{hidden} hidden characters, shown as ⟨U+…⟩: read them before you decide");
        facts.push(("WARNING", bad(&said)));
    }
    if let Some(base) = info.base_revision {
        let now = detail.current_revision.map_or_else(|| "gone".to_owned(), |n| n.to_string());
        facts.push(("revision", format!("made against {base}, now {now}").into()));
    }
    if let (Some(merge), Some(change)) = (&info.merge, &detail.change) {
        let place = |branch: &BranchName, then: CommitId, now: Option<CommitId>| match now {
            Some(now) if now == then => format!("{branch} at {then}"),
            Some(now) => format!("{branch} at {then}, now {now}"),
            None => format!("{branch} at {then}, gone by now"),
        };
        facts.push(("from", place(&merge.from, merge.from_commit, change.from_now).into()));
        facts.push(("into", place(&merge.into, merge.into_commit, change.into_now).into()));
        if merge.allow_data_loss {
            facts.push(("loses", bad("what the merged schema no longer shows: types, properties")));
        }
        if let Some(trouble) = &change.trouble {
            facts.push(("trouble", bad(trouble)));
        }
    }
    if let Some(requested) = &detail.server {
        facts.extend(server::facts(info, requested));
    }
    if let Some(decided) = info.decided {
        facts.push(("decided", table::moment(decided).into()));
    }
    if let Some(note) = &info.note {
        facts.push(("note", note.clone().into()));
    }
    if moved(detail) {
        let what = if info.merge.is_some() { "branch" } else { "page" };
        let said = format!("the {what} moved on since; approving it will be refused");
        facts.push(("conflict", bad(said)));
    }
    facts
}

/// An open proposal whose page, or the branch that is brought in, is no longer what it was made of.
fn moved(detail: &ProposalDetail) -> bool {
    let open = matches!(detail.info.status, ProposalStatus::Pending | ProposalStatus::Conflict);
    let page =
        detail.info.base_revision.is_some() && detail.info.base_revision != detail.current_revision;
    let merge = detail.info.merge.as_ref().zip(detail.change.as_ref());
    // Into what it is brought may move: exactly what was proposed is merged all the same.
    let branch = merge.is_some_and(|(merge, change)| change.from_now != Some(merge.from_commit));
    open && (page || branch)
}

#[cfg(test)]
mod tests {
    use super::shown;
    use narthex_server::owner::ProposalDetail;
    use serde_json::json;

    #[test]
    fn facts_and_diff_are_shown_and_nothing_in_them_steers_the_terminal() {
        let text = plain(&shown(&detail("pending", 3, "\u{1b}[2Jbecause\nof \u{202e}x")));
        assert!(text.starts_with("proposal  0198c0de-0000-7000-8000-000000000001\n"), "{text}");
        for line in [
            "status    pending",
            "agent     claude",
            "space     research",
            "action    update page guides/set-up",
            "reason    ⟨U+001B⟩[2Jbecause of ⟨U+202E⟩x",
            "taken in  private and untrusted",
            "WARNING   2 hidden characters, shown as ⟨U+…⟩: read them before you decide",
            "revision  made against 3, now 3",
            "-old",
            "+new ⟨U+001B⟩]0;owned⟨U+0007⟩",
            "Apply it:  narthex inbox approve 0198c0de-0000-7000-8000-000000000001",
        ] {
            assert!(text.lines().any(|shown| shown == line), "{line}\n{text}");
        }
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text:?}");
    }

    #[test]
    fn a_page_that_moved_on_is_a_conflict_and_is_not_offered() {
        for (status, current, conflict, offered) in [
            ("pending", 3, false, true),
            ("pending", 4, true, false),
            ("conflict", 4, true, false),
            ("applied", 4, false, false),
        ] {
            let text = plain(&shown(&detail(status, current, "r")));
            assert_eq!(text.contains("\nconflict  "), conflict, "{status} {current}");
            assert_eq!(text.contains("Apply it:"), offered, "{status} {current}");
        }
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn detail(status: &str, current: u32, reason: &str) -> ProposalDetail {
        serde_json::from_value(json!({
            "id": "0198c0de-0000-7000-8000-000000000001",
            "agent": "claude", "space": "research", "entity_type": "page", "action": "update",
            "slug": "guides/set-up", "page": "0198c0de-0000-7000-8000-000000000002",
            "base_revision": 3, "reason": reason,
            "taint": {"private": true, "untrusted": true}, "status": status, "note": null,
            "created": "2026-11-03T12:00:00.000Z", "decided": null,
            "base": null, "current": null, "current_revision": current, "proposed": null,
            "diff": "--- now\n+++ proposed\n@@ -1 +1 @@\n-old\n+new \u{1b}]0;owned\u{7}\n",
        }))
        .expect("a proposal")
    }
}
