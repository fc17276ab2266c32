//! What the writer has read of agents, tokens and spaces, so that most units ask the database nothing.
//!
//! INVARIANT: what is known of a row counts only while the MAC it was read with is the one the gate
//! holds for that row. The MAC is over everything that is looked at here, so this is the row as it was
//! written last; where it is not, the row is read again, and refused if it is not genuine.

use std::collections::BTreeMap;

use narthex_core::{
    Agent, AgentId, Digest, Holder, Space, SpaceId, Tier, Timestamp, TokenId, TokenSummary,
    ToolName,
};
use narthex_store::Guard;

use crate::fault::Fault;
use crate::gate::{Bench, Gate};
use crate::identity::Name;
use crate::rows::{self, Fields};

/// Rows of each kind.
#[derive(Debug)]
pub(crate) struct Known {
    agents: Rows<Agent>,
    tokens: Rows<TokenSummary>,
    spaces: Rows<Space>,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            agents: Rows::read_by(rows::agent),
            tokens: Rows::read_by(rows::token_summary),
            spaces: Rows::read_by(rows::space),
        }
    }
}

impl Known {
    /// Whether a guard can be answered without the database.
    pub(super) fn answers(&self, guard: &Guard, gate: &Gate) -> bool {
        match guard {
            Guard::NotStopped(_) | Guard::TaintWithin { .. } | Guard::WithinBudget { .. } => true,
            Guard::AgentActive(agent) | Guard::TierStands { agent, .. } => {
                self.agents.knows(Name::Agent(*agent), gate)
            }
            Guard::TokenLive { token, .. } => self.tokens.knows(Name::Token(*token), gate),
            Guard::CeilingAdmits { holder, .. } => {
                let mut spaces = spaces_of(holder, gate).into_iter();
                self.agents.knows(Name::Agent(holder.agent), gate)
                    && spaces.all(|space| self.spaces.knows(Name::Space(space), gate))
            }
            Guard::Approved { .. } => false,
        }
    }

    /// Whether the agent is there and not disabled.
    pub(super) async fn is_active(
        &mut self,
        bench: &mut Bench<'_>,
        agent: AgentId,
    ) -> Result<bool, Fault> {
        let agent = self.agents.get(bench, Name::Agent(agent)).await?;
        Ok(agent.is_some_and(|agent| !agent.disabled))
    }

    /// Whether the token is there, and neither revoked nor expired.
    pub(super) async fn is_live(
        &mut self,
        bench: &mut Bench<'_>,
        token: TokenId,
        now: Timestamp,
    ) -> Result<bool, Fault> {
        let token = self.tokens.get(bench, Name::Token(token)).await?;
        Ok(token.is_some_and(|token| {
            token.revoked.is_none() && token.expires.is_none_or(|expires| expires > now)
        }))
    }

    /// Whether the agent, and the space or all of them, admit this tier. One that is not there admits
    /// nothing; a space without a ceiling everything.
    pub(super) async fn admits(
        &mut self,
        bench: &mut Bench<'_>,
        holder: &Holder,
        tier: Tier,
    ) -> Result<bool, Fault> {
        let agent = self.agents.get(bench, Name::Agent(holder.agent)).await?;
        let mut admits = agent.is_some_and(|agent| tier <= agent.ceiling);
        for space in spaces_of(holder, bench.gate) {
            let space = self.spaces.get(bench, Name::Space(space)).await?;
            let within = |space: &Space| space.ceiling.is_none_or(|ceiling| tier <= ceiling);
            admits &= space.is_some_and(within);
        }
        Ok(admits)
    }

    /// Whether what the owner gave the tool for the agent is this.
    pub(super) async fn is_tier(
        &mut self,
        bench: &mut Bench<'_>,
        agent: AgentId,
        tool: &ToolName,
        tier: Option<Tier>,
    ) -> Result<bool, Fault> {
        let agent = self.agents.get(bench, Name::Agent(agent)).await?;
        Ok(agent.is_some_and(|agent| agent.tiers.get(tool) == tier))
    }
}

/// Rows of a kind by whose they are, each with its MAC.
#[derive(Debug)]
struct Rows<V> {
    known: BTreeMap<Name, (Digest, V)>,
    read: fn(Fields<'_>) -> Result<V, Fault>,
}

impl<V> Rows<V> {
    const fn read_by(read: fn(Fields<'_>) -> Result<V, Fault>) -> Self {
        Self { known: BTreeMap::new(), read }
    }

    fn knows(&self, name: Name, gate: &Gate) -> bool {
        self.known.get(&name).is_some_and(|(mac, _)| gate.identities().holds(&name, mac))
    }

    /// The row as it is now, if there is one.
    async fn get(&mut self, bench: &mut Bench<'_>, name: Name) -> Result<Option<&V>, Fault> {
        if !self.knows(name, bench.gate) {
            let Some((row, signed)) = bench.identity(name.table(), name.id()).await? else {
                return Ok(None);
            };
            // Starts over rather than grow without end.
            if self.known.len() >= MOST {
                self.known.clear();
            }
            self.known.insert(name, (signed.mac(bench.key), (self.read)(Fields(&row))?));
        }
        Ok(self.known.get(&name).map(|(_, row)| row))
    }
}

/// The space a call is in; if in none, every one.
fn spaces_of(holder: &Holder, gate: &Gate) -> Vec<SpaceId> {
    let space = |name: &Name| match name {
        Name::Space(id) => Some(*id),
        Name::Agent(_) | Name::Token(_) => None,
    };
    match holder.space {
        Some(space) => vec![space],
        None => gate.identities().names().filter_map(space).collect(),
    }
}

/// Rows of a kind.
const MOST: usize = 4_096;
