//! `narthex inbox show`.

use std::fmt::Write as _;

use narthex_core::ProposalStatus;
use narthex_server::owner::{ProposalDetail, Reply, Request};

use super::{status, subject};
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

/// Characters of the proposal that a reader of the page would not see.
fn hidden(detail: &ProposalDetail) -> usize {
    let draft = detail.proposed.as_ref();
    let texts = draft.map(|d| [d.title.as_str(), d.body.as_str(), d.slug.as_str()]);
    texts.into_iter().flatten().chain([detail.info.reason.as_str()]).map(clean::hidden).sum()
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

/// An open proposal whose page is no longer what it was made against.
fn moved(detail: &ProposalDetail) -> bool {
    let open = matches!(detail.info.status, ProposalStatus::Pending | ProposalStatus::Conflict);
    open && detail.info.base_revision.is_some()
        && detail.info.base_revision != detail.current_revision
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
