//! What the gate holds against an agent: ceiling, latch, budget, sessions.

use std::time::Duration;

use narthex_core::{Cost, Tier};
use narthex_server::owner::{AgentInfo, BudgetInfo};

use crate::commands::taint;
use crate::output::table::{Said, bad, fair};

/// Its ceiling; where another is in force, what lowers it.
pub(super) fn ceiling(agent: &AgentInfo) -> String {
    let held = agent.effective_ceiling;
    if held == agent.ceiling {
        return held.to_string();
    }
    let mut by = Vec::new();
    if agent.mode.ceiling() == held {
        by.push(format!("mode {}", agent.mode));
    }
    if agent.space_ceiling == Some(held) {
        by.push("its space".to_owned());
    }
    format!("{} (in force: {held}, because of {})", agent.ceiling, by.join(" and "))
}

/// What it took in, what it has left, and where it is connected.
pub(super) fn facts(agent: &AgentInfo) -> Vec<(&'static str, Said)> {
    let tiers = agent.tool_tiers.iter();
    let mut facts: Vec<(&'static str, Said)> =
        tiers.map(|(tool, tier)| ("tool tier", format!("{tool} is {tier}").into())).collect();
    facts.push(("took in", taint::said(agent.taint())));
    facts.extend(agent.latches.iter().flat_map(taint::causes));
    facts.extend(budget(&agent.budget));
    for session in &agent.sessions {
        let open = span(Duration::from_secs(session.open_seconds));
        let idle = span(Duration::from_secs(session.idle_seconds));
        facts.push(("session", format!("open for {open}, idle for {idle}").into()));
    }
    facts
}

/// Each part of a budget that has a limit, with what is left of it.
fn budget(budget: &BudgetInfo) -> Vec<(&'static str, Said)> {
    let (limits, used) = (&budget.limits, &budget.used);
    let window = span(limits.window());
    let whose = if budget.own { "its own" } else { "the house's" };
    let mut facts: Vec<(&'static str, Said)> =
        vec![("budget", format!("{whose}, in any {window}").into())];
    let calls = Tier::ALL.into_iter().zip(limits.calls).zip(used.calls);
    for ((tier, limit), used) in calls {
        if let Some(limit) = limit {
            facts.push((call_name(tier), left(used, limit, "calls")));
        }
    }
    if let Some(limit) = limits.bytes {
        facts.push(("  bytes", left(used.bytes, limit, "bytes")));
    }
    if let Some(limit) = limits.millis {
        facts.push(("  time", left(used.micros / 1_000, limit, "ms")));
    }
    if let Some(limit) = limits.cost {
        facts.push(("  cost", cost(used.cost, limit)));
    }
    facts
}

const fn call_name(tier: Tier) -> &'static str {
    match tier {
        Tier::T0 => "  T0",
        Tier::T1 => "  T1",
        Tier::T2 => "  T2",
        Tier::T3 => "  T3",
    }
}

fn left(used: u64, limit: u64, of: &str) -> Said {
    let left = limit.saturating_sub(used);
    toned(format!("{used} of {limit} {of} used, {left} left"), left, limit)
}

fn cost(used: Cost, limit: Cost) -> Said {
    let left = limit.millionths().saturating_sub(used.millionths());
    let (used, all) = (figure(used.millionths()), figure(limit.millionths()));
    toned(format!("{used} of {all} used, {} left", figure(left)), left, limit.millionths())
}

fn toned(text: String, left: u64, limit: u64) -> Said {
    match left {
        0 => bad(text),
        left if left <= limit / 10 => fair(text),
        _ => text.into(),
    }
}

/// Millionths as people write them.
fn figure(millionths: u64) -> String {
    let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A span of time in its largest whole unit.
fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    for (unit, each) in [("d", 86_400), ("h", 3_600), ("m", 60)] {
        if seconds >= each && seconds.is_multiple_of(each) {
            return format!("{}{unit}", seconds / each);
        }
    }
    format!("{seconds}s")
}

#[cfg(test)]
mod tests {
    use super::{figure, span};
    use std::time::Duration;

    #[test]
    fn figures_and_spans_are_short() {
        for (millionths, text) in
            [(0, "0"), (2_500_000, "2.5"), (1, "0.000001"), (10_000_000, "10")]
        {
            assert_eq!(figure(millionths), text);
        }
        for (seconds, text) in
            [(0, "0s"), (59, "59s"), (3_600, "1h"), (5_400, "90m"), (86_400, "1d")]
        {
            assert_eq!(span(Duration::from_secs(seconds)), text);
        }
    }
}
