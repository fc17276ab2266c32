//! What the owner says of a server's tools: which are shown, how much each can change, what it does.

use std::collections::{BTreeMap, BTreeSet};

use narthex_core::{Containment, Cost, EffectSite, Effects, Reads, Sends, TakesIn, Tier};

use super::error::ConfigFault;
use super::fields::{Field, Fields, Outcome};

/// Which tools are shown: if there is a list, only those on it; then what is denied is taken away.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolFilter {
    /// Only these, if it is said.
    pub allow: Option<BTreeSet<String>>,
    /// And none of these.
    pub deny: BTreeSet<String>,
}

impl ToolFilter {
    /// Whether a tool is shown.
    pub fn shows(&self, tool: &str) -> bool {
        self.allow.as_ref().is_none_or(|allow| allow.contains(tool)) && !self.deny.contains(tool)
    }

    /// What both show.
    pub fn both(&self, other: &Self) -> Self {
        let allow = match (&self.allow, &other.allow) {
            (Some(a), Some(b)) => Some(a & b),
            (Some(one), None) | (None, Some(one)) => Some(one.clone()),
            (None, None) => None,
        };
        Self { allow, deny: &self.deny | &other.deny }
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Outcome<Self> {
        let mut list = |key| fields.take(key).map(|field| names(&field)).transpose();
        let allow = list("allowTools")?;
        Ok(Self { allow, deny: list("denyTools")?.unwrap_or_default() })
    }
}

fn names(field: &Field<'_>) -> Outcome<BTreeSet<String>> {
    let items = field.items("tools in a list", MAX_TOOLS)?;
    items.iter().map(|item| item.plain("a tool's name", TOOL_NAME).map(str::to_owned)).collect()
}

/// How a call of a tool is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRule {
    /// How much it can change.
    pub tier: Tier,
    /// What it does.
    pub effects: Effects,
    /// The argument that names what it is done to, as a JSON pointer.
    pub target: Option<String>,
    /// The most that one call of it costs, where the owner says so.
    pub cost: Option<Cost>,
}

impl Default for ToolRule {
    /// What is so of a tool that nobody said anything about: it changes shared state, brings back
    /// text that the owner did not write, and what it is given leaves the house.
    fn default() -> Self {
        let effects = Effects {
            reads: Reads::Nothing,
            takes_in: TakesIn::Foreign,
            sends: Sends::Outside,
            containment: Containment::Direct,
            site: EffectSite::External,
        };
        Self { tier: Tier::T2, effects, target: None, cost: None }
    }
}

impl ToolRule {
    /// The more careful of two. Whoever names a target names it for both.
    pub fn stricter(&self, other: &Self) -> Self {
        let (a, b) = (self.effects, other.effects);
        let private = a.reads == Reads::Private || b.reads == Reads::Private;
        let public = a.reads == Reads::Public || b.reads == Reads::Public;
        let effects = Effects {
            reads: match (private, public) {
                (true, _) => Reads::Private,
                (false, true) => Reads::Public,
                (false, false) => Reads::Nothing,
            },
            takes_in: if a.takes_in == b.takes_in { a.takes_in } else { TakesIn::Foreign },
            sends: if a.sends == b.sends { a.sends } else { Sends::Outside },
            containment: Containment::Direct,
            site: EffectSite::External,
        };
        let target = self.target.clone().or_else(|| other.target.clone());
        Self { tier: self.tier.max(other.tier), effects, target, cost: self.cost.max(other.cost) }
    }
}

/// What of a rule someone said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuleSaid {
    tier: Option<Tier>,
    reads: Option<Reads>,
    takes_in: Option<TakesIn>,
    sends: Option<Sends>,
    target: Option<String>,
    cost: Option<Cost>,
}

impl RuleSaid {
    /// What was said, and this where nothing was.
    pub fn over(&self, base: &ToolRule) -> ToolRule {
        ToolRule {
            tier: self.tier.unwrap_or(base.tier),
            effects: Effects {
                reads: self.reads.unwrap_or(base.effects.reads),
                takes_in: self.takes_in.unwrap_or(base.effects.takes_in),
                sends: self.sends.unwrap_or(base.effects.sends),
                ..base.effects
            },
            target: self.target.clone().or_else(|| base.target.clone()),
            cost: self.cost.or(base.cost),
        }
    }

    /// The server's own, which a tool's stand on.
    pub(super) fn of_server(fields: &mut Fields<'_>) -> Outcome<Self> {
        let tier = fields.take("tier").map(|field| tier(&field)).transpose()?;
        let mut said = Self { tier, ..Self::default() };
        if let Some(effects) = fields.take("effects") {
            said.read_effects(effects)?;
        }
        Ok(said)
    }

    fn of_tool(field: Field<'_>) -> Outcome<Self> {
        let whole = field.clone();
        let mut fields = field.fields()?;
        let mut said = Self::of_server(&mut fields)?;
        said.target = fields.take("target").map(|field| pointer(&field)).transpose()?;
        said.cost = fields.take("cost").map(|field| field.cost()).transpose()?;
        fields.finish()?;
        if said.tier == Some(Tier::T3) && said.target.is_none() {
            return whole.fault(ConfigFault::NoTarget);
        }
        Ok(said)
    }

    fn read_effects(&mut self, field: Field<'_>) -> Outcome<()> {
        let mut fields = field.fields()?;
        let reads =
            [("nothing", Reads::Nothing), ("public", Reads::Public), ("private", Reads::Private)];
        let takes_in = [("owned", TakesIn::Owned), ("foreign", TakesIn::Foreign)];
        let sends = [("inside", Sends::Inside), ("outside", Sends::Outside)];
        if let Some(field) = fields.take("reads") {
            self.reads = Some(field.word(&reads, "nothing, public and private")?);
        }
        if let Some(field) = fields.take("takesIn") {
            self.takes_in = Some(field.word(&takes_in, "owned and foreign")?);
        }
        if let Some(field) = fields.take("sends") {
            self.sends = Some(field.word(&sends, "inside and outside")?);
        }
        fields.finish()
    }
}

/// What was said of each tool.
pub(super) fn by_tool(field: Field<'_>) -> Outcome<BTreeMap<String, RuleSaid>> {
    let mut rules = BTreeMap::new();
    for tool in field.fields()?.all("tools", MAX_TOOLS)? {
        let name = tool.key.to_owned();
        let good = !name.is_empty() && name.chars().count() <= TOOL_NAME;
        if !good || name.chars().any(|c| crate::text::unseen(c).is_some()) {
            return tool.fault(ConfigFault::Text { what: "a tool's name", most: TOOL_NAME });
        }
        rules.insert(name, RuleSaid::of_tool(tool)?);
    }
    Ok(rules)
}

fn tier(field: &Field<'_>) -> Outcome<Tier> {
    let words = Tier::ALL.map(|tier| (tier.as_str(), tier));
    field.word(&words, "T0, T1, T2 and T3")
}

fn pointer(field: &Field<'_>) -> Outcome<String> {
    let text = field.plain("a JSON pointer", 256)?;
    if !text.starts_with('/') {
        return field.fault(ConfigFault::Text { what: "a JSON pointer (\"/id\")", most: 256 });
    }
    Ok(text.to_owned())
}

const MAX_TOOLS: usize = 1_000;
/// Characters of a tool's name, as the ledger keeps it.
const TOOL_NAME: usize = narthex_core::Bound::TOOL_NAME_CHARS;
