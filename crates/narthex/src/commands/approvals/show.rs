//! `narthex approvals show`.

use std::fmt::Write as _;

use narthex_core::{ApprovalStatus, Taint};
use narthex_server::owner::{ApprovalDetail, RunShown};
use serde_json::Value;

use super::status;
use crate::cli::ApprovalsIdArgs;
use crate::commands::taint;
use crate::output::clean;
use crate::output::table::{self, Said, bad, fair};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &ApprovalsIdArgs) -> Result<Exit, Failure> {
    let detail = super::detail(context, &args.approval).await?;
    if context.is_json() {
        output::json(&detail)?;
    } else {
        output::text(shown(&detail))?;
    }
    Ok(Exit::Done)
}

/// The facts, the arguments, and what to do.
pub(super) fn shown(detail: &ApprovalDetail) -> String {
    let mut out = about(detail);
    if detail.info.status == ApprovalStatus::Waiting {
        let id = detail.info.id;
        let nonce = if detail.nonce.is_some() { " --nonce <the nonce above>" } else { "" };
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "\n\nLet it run once:  narthex approvals approve {id}{nonce}\n\
             Say no:           narthex approvals deny {id} --reason <why>"
        );
    }
    out
}

/// The facts and the arguments: what is decided on.
pub(super) fn about(detail: &ApprovalDetail) -> String {
    let mut out =
        format!("{}\n\narguments\n{}", table::facts(facts(detail)), arguments(&detail.arguments));
    if let Some(run) = &detail.run {
        out.push_str(&program(run));
    }
    out
}

/// The program that waits with the call: all of it, and what it did so far.
fn program(run: &RunShown) -> String {
    let mut out = format!("\n\nrun {} made these calls\n", run.id);
    for call in &run.calls {
        let arguments = clean::text(&call.arguments.to_string());
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "  {}  {}  {arguments}",
            clean::text(&call.outcome),
            clean::text(&call.call)
        );
    }
    let _ = write!(out, "\nof this program\n");
    for (number, line) in clean::text(&run.program).lines().enumerate() {
        let _ = write!(out, "\n  {:>3}  {line}", number + 1);
    }
    out
}

/// Pretty, with everything that hides made visible.
fn arguments(arguments: &Value) -> String {
    let text = serde_json::to_string_pretty(arguments).unwrap_or_else(|_| arguments.to_string());
    clean::text(&text).lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn facts(detail: &ApprovalDetail) -> Vec<(&'static str, Said)> {
    let info = &detail.info;
    let space = info.space.as_ref().map_or_else(|| "all".to_owned(), ToString::to_string);
    let tier = format!("{} in mode {}", info.tier, detail.mode);
    let mut facts: Vec<(&'static str, Said)> = vec![
        ("request", info.id.to_string().into()),
        ("status", status(info.status)),
        ("agent", info.agent.to_string().into()),
        ("space", space.into()),
        ("surface", info.surface.clone().into()),
        ("tool", info.tool.clone().into()),
        ("tier", if info.needs_nonce { bad(tier) } else { tier.into() }),
        ("why", info.because.message().into()),
    ];
    if let Some(target) = &info.target {
        facts.push(("target", fair(target.clone())));
    }
    if info.taint != Taint::CLEAN {
        facts.push(("took in", taint::said(info.taint)));
    }
    facts.extend(detail.latch.iter().flat_map(taint::causes));
    let hidden = hidden(&detail.arguments) + clean::hidden(info.target.as_deref().unwrap_or(""));
    if hidden > 0 {
        let said =
            format!("{hidden} hidden characters, shown as ⟨U+…⟩: read them before you decide");
        facts.push(("WARNING", bad(said)));
    }
    facts.push(("asked", table::moment(info.requested).into()));
    facts.push(("until", table::moment(info.until).into()));
    if let Some(decided) = info.decided {
        facts.push(("decided", table::moment(decided).into()));
    }
    if let Some(note) = &info.note {
        facts.push(("note", note.clone().into()));
    }
    if let Some(call) = info.used_by {
        facts.push(("used by", format!("call {call}").into()));
    }
    if info.wrong_nonces > 0 {
        facts.push(("nonces", bad(format!("{} wrong ones were typed", info.wrong_nonces))));
    }
    facts.push(("digest", info.digest.to_string().into()));
    if let Some(nonce) = &detail.nonce {
        facts.push(("NONCE", fair(nonce.in_clear())));
    }
    facts
}

/// Characters in any text of the arguments that a reader would not see.
fn hidden(value: &Value) -> usize {
    match value {
        Value::String(text) => clean::hidden(text),
        Value::Array(list) => list.iter().map(hidden).sum(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| clean::hidden(key) + hidden(value)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::shown;
    use narthex_server::owner::ApprovalDetail;
    use serde_json::json;

    #[test]
    fn everything_to_decide_on_is_there_and_nothing_hides_or_steers() {
        let text = plain(&shown(&detail("waiting", Some("7hq2m0xk"))));
        for line in [
            "request 0198c0de-0000-7000-8000-000000000001",
            "status waiting",
            "agent claude",
            "space research",
            "surface servers/web",
            "tool post",
            "tier T3 in mode open",
            "why this call needs the owner's approval",
            "target https://example.org/⟨U+202E⟩x",
            "took in private and untrusted",
            "WARNING 3 hidden characters, shown as ⟨U+…⟩: read them before you decide",
            "NONCE 7hq2m0xk",
            "    \"body\": \"a⟨U+200B⟩b\\u001b[2J\",",
            "    \"n\": 9007199254740993",
        ] {
            assert!(text.lines().any(|shown| words(shown) == words(line)), "{line}\n{text}");
        }
        assert!(text.contains("untrusted by  search on workspace, page 7, first 2026"), "{text}");
        assert!(text.contains("approve 0198c0de-0000-7000-8000-000000000001 --nonce"), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{200b}']), "{text:?}");
    }

    #[test]
    fn what_is_decided_is_not_offered() {
        let text = plain(&shown(&detail("used", None)));
        assert!(!text.contains("Let it run once") && !text.contains("NONCE"), "{text}");
    }

    fn words(line: &str) -> Vec<&str> {
        line.split_whitespace().collect()
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn detail(status: &str, nonce: Option<&str>) -> ApprovalDetail {
        let id = "0198c0de-0000-7000-8000-000000000001";
        let at = "2026-11-03T12:00:00.000Z";
        let digest = "ab".repeat(32);
        let cause = json!({
            "surface": "workspace", "tool": "search", "call": id, "about": "page 7",
            "first": at, "last": at, "until": null,
        });
        serde_json::from_value(json!({
            "id": id, "agent": "claude", "agent_id": id, "space": "research", "space_id": id,
            "surface": "servers/web", "tool": "post", "tier": "T3",
            "target": "https://example.org/\u{202e}x", "because": "approval_needed",
            "taint": {"private": true, "untrusted": true}, "needs_nonce": true, "status": status,
            "requested": at, "until": at, "decided": null, "note": null, "used_by": null,
            "wrong_nonces": 0, "digest": digest,
            "arguments": {"body": "a\u{200b}b\u{1b}[2J", "n": 9_007_199_254_740_993_u64},
            "mode": "open", "definition": digest, "policy": digest,
            "latch": {
                "agent": "claude", "agent_id": id, "space": "research", "space_id": id,
                "private": null, "untrusted": cause,
            },
            "nonce": nonce,
        }))
        .expect("a request")
    }
}
