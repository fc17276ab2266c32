//! `narthex agent set`.

use narthex_core::Tier;
use narthex_server::owner::{AgentInfo, BudgetChange, Reply, Request, SettingRequest, loosens};

use super::print;
use crate::cli::AgentSetArgs;
use crate::commands::confirm::confirmed;
use crate::commands::{once, unexpected};
use crate::{Context, Exit, Failure};

pub(super) async fn run(context: &Context, args: &AgentSetArgs) -> Result<Exit, Failure> {
    let show = Request::AgentShow { agent: args.agent.clone() };
    let Reply::Agent(before) = once(context, show).await? else { return Err(unexpected()) };
    let wider = wider(args, &before);
    if !wider.is_empty() {
        let question = format!("{} gets {}. Go on?", before.slug, wider.join(" and "));
        confirmed(&question, args.yes)?;
    }
    let request = Request::Setting(SettingRequest::SetAgent {
        agent: args.agent.clone(),
        ceiling: args.ceiling,
        budget: args.budget,
        tool_tiers: args.tool_tiers.clone(),
    });
    let Reply::Agent(agent) = once(context, request).await? else { return Err(unexpected()) };
    print(context, &agent)
}

/// What becomes possible that was not.
fn wider(args: &AgentSetArgs, before: &AgentInfo) -> Vec<String> {
    let mut wider = Vec::new();
    if let Some(ceiling) = args.ceiling.filter(|ceiling| *ceiling > before.ceiling) {
        wider.push(format!("a ceiling of {ceiling} instead of {}", before.ceiling));
    }
    let more = match args.budget {
        Some(BudgetChange::Own(spec)) => {
            loosens(&before.budget.limits, &spec.over(before.budget.limits))
        }
        // What the house gives may be more or less; whoever takes the own budget away is asked.
        Some(BudgetChange::House) => before.budget.own,
        None => false,
    };
    if more {
        wider.push("a wider budget".to_owned());
    }
    for (tool, tier) in &args.tool_tiers {
        // What a tool declares is not known here, so only more than it has is surely no loosening.
        let now = before.tool_tiers.get(tool).unwrap_or(Tier::T3);
        match tier {
            Some(tier) if *tier >= now => {}
            Some(tier) => wider.push(format!("{tool} at {tier}")),
            None => wider.push(format!("{tool} at the tier it declares")),
        }
    }
    wider
}
