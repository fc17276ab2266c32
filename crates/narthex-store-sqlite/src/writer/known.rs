//! What the writer has read of agents, tokens and spaces, so that most units ask the database nothing.
//!
//! INVARIANT: what is known of a row counts only while the MAC it was read with is the one the gate
//! holds for that row. The MAC is over everything that is looked at here, so this is the row as it was
//! written last; where it is not, the row is read again, and refused if it is not genuine.

use std::collections::HashMap;

use narthex_core::{
    Agent, AgentId, Digest, Holder, Space, SpaceId, Tier, Timestamp, TokenId, TokenSummary,
    ToolName,
};
use narthex_store::Guard;

use crate::fault::Fault;
use crate::gate::{Bench, Gate};
use crate::identity::{AGENTS, Name, SPACES, TOKENS};
use crate::rows::{self, Fields};

/// Rows by whose they are, each with its MAC.
#[derive(Debug, Default)]
pub(crate) struct Known {
    agents: HashMap<AgentId, (Digest, Agent)>,
    tokens: HashMap<TokenId, (Digest, TokenSummary)>,
    spaces: HashMap<SpaceId, (Digest, Space)>,
}

impl Known {
    /// Whether a guard can be answered without the database.
    pub(super) fn answers(&self, guard: &Guard, gate: &Gate) -> bool {
        match guard {
            Guard::NotStopped(_) | Guard::TaintWithin { .. } | Guard::WithinBudget { .. } => true,
            Guard::AgentActive(agent) | Guard::TierStands { agent, .. } => {
                self.knows_agent(*agent, gate)
            }
            Guard::TokenLive { token, .. } => {
                self.tokens.get(token).is_some_and(|(mac, _)| holds(gate, Name::Token(*token), mac))
            }
            Guard::CeilingAdmits { holder, .. } => {
                self.knows_agent(holder.agent, gate)
                    && spaces_of(holder, gate).into_iter().all(|space| {
                        let known = self.spaces.get(&space);
                        known.is_some_and(|(mac, _)| holds(gate, Name::Space(space), mac))
                    })
            }
            Guard::Approved { .. } => false,
        }
    }

    fn knows_agent(&self, agent: AgentId, gate: &Gate) -> bool {
        self.agents.get(&agent).is_some_and(|(mac, _)| holds(gate, Name::Agent(agent), mac))
    }

    /// Whether the agent is there and not disabled.
    pub(super) async fn is_active(
        &mut self,
        bench: &mut Bench<'_>,
        agent: AgentId,
    ) -> Result<bool, Fault> {
        Ok(self.agent(bench, agent).await?.is_some_and(|agent| !agent.disabled))
    }

    /// Whether the token is there, and neither revoked nor expired.
    pub(super) async fn is_live(
        &mut self,
        bench: &mut Bench<'_>,
        token: TokenId,
        now: Timestamp,
    ) -> Result<bool, Fault> {
        Ok(self.token(bench, token).await?.is_some_and(|token| {
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
        let agent = self.agent(bench, holder.agent).await?;
        let mut admits = agent.is_some_and(|agent| tier <= agent.ceiling);
        for space in spaces_of(holder, bench.gate) {
            let space = self.space(bench, space).await?;
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
        Ok(self.agent(bench, agent).await?.is_some_and(|agent| agent.tiers.get(tool) == tier))
    }

    async fn agent(&mut self, bench: &mut Bench<'_>, id: AgentId) -> Result<Option<&Agent>, Fault> {
        if !self.knows_agent(id, bench.gate) {
            let Some((row, signed)) = bench.identity(&AGENTS, id.as_bytes()).await? else {
                return Ok(None);
            };
            keep(&mut self.agents, id, (signed.mac(bench.key), rows::agent(Fields(&row))?));
        }
        Ok(self.agents.get(&id).map(|(_, agent)| agent))
    }

    async fn token(
        &mut self,
        bench: &mut Bench<'_>,
        id: TokenId,
    ) -> Result<Option<&TokenSummary>, Fault> {
        let known = self.tokens.get(&id);
        if !known.is_some_and(|(mac, _)| holds(bench.gate, Name::Token(id), mac)) {
            let Some((row, signed)) = bench.identity(&TOKENS, id.as_bytes()).await? else {
                return Ok(None);
            };
            keep(&mut self.tokens, id, (signed.mac(bench.key), rows::token_summary(Fields(&row))?));
        }
        Ok(self.tokens.get(&id).map(|(_, token)| token))
    }

    async fn space(&mut self, bench: &mut Bench<'_>, id: SpaceId) -> Result<Option<&Space>, Fault> {
        let known = self.spaces.get(&id);
        if !known.is_some_and(|(mac, _)| holds(bench.gate, Name::Space(id), mac)) {
            let Some((row, signed)) = bench.identity(&SPACES, id.as_bytes()).await? else {
                return Ok(None);
            };
            keep(&mut self.spaces, id, (signed.mac(bench.key), rows::space(Fields(&row))?));
        }
        Ok(self.spaces.get(&id).map(|(_, space)| space))
    }
}

fn holds(gate: &Gate, name: Name, mac: &Digest) -> bool {
    gate.identities().holds(&name, mac)
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

/// Starts over rather than grow without end.
fn keep<K: std::hash::Hash + Eq, V>(known: &mut HashMap<K, V>, id: K, row: V) {
    if known.len() >= MOST {
        known.clear();
    }
    known.insert(id, row);
}

/// Rows of a kind.
const MOST: usize = 4_096;
