//! A server, as the owner describes it.

use std::collections::BTreeMap;

use narthex_core::Tier;
use narthex_gate::upstream::UpstreamEra;

use super::error::{ConfigFault, ConfigWarning};
use super::fields::{Field, Fields, Outcome};
use super::keys::IN_SERVER;
use super::limits::{Limits, LimitsSaid};
use super::name::ServerName;
use super::reach::Reach;
use super::tools::{RuleSaid, ToolFilter, ToolRule, by_tool};
use super::walls::Walls;

/// A server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Its name.
    pub name: ServerName,
    /// How it is reached.
    pub reach: Reach,
    /// Which of its tools are shown.
    pub filter: ToolFilter,
    /// Whether one connection may serve several agents: it keeps nothing of one for another.
    pub stateless: bool,
    /// Which revisions are tried.
    pub era: UpstreamEra,
    /// What it is held to.
    pub limits: Limits,
    /// What is so of its tools that nothing is said about.
    pub rule: ToolRule,
    /// What is so of the others.
    pub tools: BTreeMap<String, ToolRule>,
    /// What it may ask of its client.
    pub allow: Allow,
    /// What its process may reach.
    pub walls: Walls,
    /// Whether it is left alone.
    pub disabled: bool,
}

/// What a server may ask of its client. By itself nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Allow {
    /// To ask the person something.
    pub elicitation: bool,
    /// To have the model say something.
    pub sampling: bool,
    /// Which folders the client works in.
    pub roots: bool,
}

impl ServerConfig {
    /// What is so of a tool.
    pub fn rule_for(&self, tool: &str) -> &ToolRule {
        self.tools.get(tool).unwrap_or(&self.rule)
    }

    pub(super) fn read(field: Field<'_>, warnings: &mut Vec<ConfigWarning>) -> Outcome<Self> {
        let name: ServerName = field.key.parse().map_err(|fault| super::error::ConfigError {
            at: field.key_at,
            path: field.path.clone(),
            fault: super::error::ConfigFault::Name(fault),
        })?;
        let whole = field.clone();
        let mut fields = field.fields()?;
        let reach = Reach::read(&mut fields, warnings)?;
        let said = RuleSaid::of_server(&mut fields)?;
        let rule = said.over(&ToolRule::default());
        if rule.tier == Tier::T3 {
            // Each tool has a target of its own, if any.
            return whole.fault(ConfigFault::NoTarget);
        }
        let tools = fields.take("tools").map(by_tool).transpose()?.unwrap_or_default();
        let tools = tools.into_iter().map(|(tool, said)| (tool, said.over(&rule))).collect();
        let limits = fields.take("limits").map(LimitsSaid::read).transpose()?.unwrap_or_default();
        let server = Self {
            name,
            reach,
            filter: ToolFilter::read(&mut fields)?,
            stateless: yes(&mut fields, "stateless")?,
            era: era(&mut fields)?,
            limits: limits.over(Limits::default()),
            rule,
            tools,
            allow: fields.take("allow").map(Allow::read).transpose()?.unwrap_or_default(),
            walls: fields.take("walls").map(Walls::read).transpose()?.unwrap_or_else(Walls::none),
            disabled: yes(&mut fields, "disabled")?,
        };
        fields.ignore(IN_SERVER, warnings);
        fields.finish()?;
        Ok(server)
    }
}

impl Allow {
    fn read(field: Field<'_>) -> Outcome<Self> {
        let mut fields = field.fields()?;
        let allow = Self {
            elicitation: yes(&mut fields, "elicitation")?,
            sampling: yes(&mut fields, "sampling")?,
            roots: yes(&mut fields, "roots")?,
        };
        fields.finish()?;
        Ok(allow)
    }
}

fn yes(fields: &mut Fields<'_>, key: &'static str) -> Outcome<bool> {
    fields.take(key).map_or(Ok(false), |field| field.bool())
}

fn era(fields: &mut Fields<'_>) -> Outcome<UpstreamEra> {
    let words = [
        ("either", UpstreamEra::Either),
        ("modern", UpstreamEra::Modern),
        ("legacy", UpstreamEra::Legacy),
    ];
    let read = |field: Field<'_>| field.word(&words, "either, modern and legacy");
    fields.take("era").map_or(Ok(UpstreamEra::Either), read)
}
