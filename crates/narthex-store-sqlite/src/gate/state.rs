//! Latches, kill switches and the noted mode, as one value.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use narthex_core::{
    AgentId, Digest, Engaged, Holder, Latch, Mode, ServerBook, Slug, SwitchScope, Switches, Taint,
};
use narthex_store::RowKey;

use crate::identity::Identities;
use crate::matter::Matters;

/// The posture in force, and what the owner chose while it ran.
pub(crate) type NotedMode = (Mode, Option<Mode>);

/// Everything of the gate's state that changes seldom.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gate {
    /// In order, so that those of one agent stand together.
    latches: BTreeMap<Holder, Arc<Latch>>,
    switches: Switches,
    mode: Option<NotedMode>,
    servers: Arc<ServerBook>,
    /// The MAC of every row this is kept in.
    macs: BTreeMap<RowName, Digest>,
    /// The MACs of agents, tokens and spaces.
    identities: Identities,
    /// The MACs of open approvals and proposals.
    matters: Matters,
    /// The seal over all of those, once someone asked for it.
    seal: OnceLock<Digest>,
}

/// Which row it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RowName {
    /// Of an agent in a space.
    Latch(Holder),
    /// Of a scope.
    Switch(SwitchScope),
    /// Something that was set.
    Setting(Setting),
}

/// What was set. In the order of the keys they are kept under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Setting {
    /// The noted mode.
    Mode,
    /// The profiles of an agent.
    Profiles(AgentId),
    /// What was approved of a server.
    Server(Slug),
    /// Whether there are servers.
    Servers,
}

impl Setting {
    /// The key it is kept under.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Mode => MODE.to_owned(),
            Self::Profiles(agent) => format!("{PROFILES}{agent}"),
            Self::Server(name) => format!("{SERVER}{name}"),
            Self::Servers => SERVERS.to_owned(),
        }
    }

    /// What is kept under this key.
    pub(crate) fn of(key: &str) -> Option<Self> {
        match key {
            MODE => Some(Self::Mode),
            SERVERS => Some(Self::Servers),
            other => match other.strip_prefix(PROFILES) {
                Some(agent) => agent.parse().ok().map(Self::Profiles),
                None => other.strip_prefix(SERVER)?.parse().ok().map(Self::Server),
            },
        }
    }
}

impl Ord for Setting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Setting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

const MODE: &str = "mode";
const PROFILES: &str = "profiles/";
const SERVER: &str = "server/";
const SERVERS: &str = "servers";

impl Gate {
    pub(crate) fn latch(&self, holder: &Holder) -> Option<&Latch> {
        self.latches.get(holder).map(AsRef::as_ref)
    }

    /// What is set for this agent, wherever that was.
    pub(crate) fn taint(&self, holder: &Holder) -> Taint {
        self.latches_of(holder.agent).fold(Taint::CLEAN, |taint, (_, own)| taint.and(own.taint()))
    }

    /// The latches of one agent.
    pub(crate) fn latches_of(&self, agent: AgentId) -> impl Iterator<Item = (&Holder, &Latch)> {
        let from = Holder { agent, space: None };
        let own = self.latches.range(from..).take_while(move |(holder, _)| holder.agent == agent);
        own.map(|(holder, latch)| (holder, latch.as_ref()))
    }

    pub(crate) fn latches(&self) -> impl Iterator<Item = (&Holder, &Latch)> {
        self.latches.iter().map(|(holder, latch)| (holder, latch.as_ref()))
    }

    pub(crate) const fn switches(&self) -> &Switches {
        &self.switches
    }

    pub(crate) const fn mode(&self) -> Option<NotedMode> {
        self.mode
    }

    /// The MACs of agents, tokens and spaces.
    pub(crate) const fn identities(&self) -> &Identities {
        &self.identities
    }

    pub(crate) fn identities_mut(&mut self) -> &mut Identities {
        self.seal.take();
        &mut self.identities
    }

    /// The MACs of open approvals and proposals.
    pub(crate) const fn matters(&self) -> &Matters {
        &self.matters
    }

    pub(crate) fn matters_mut(&mut self) -> &mut Matters {
        self.seal.take();
        &mut self.matters
    }

    /// The MAC over the MACs of all rows, in their order: none is missing, none is too many. Those
    /// over agents, tokens and spaces and over open matters come first.
    pub(crate) fn seal(&self, key: &RowKey) -> Digest {
        let sealed = || self.sealed(key, &[self.identities.seal(key), self.matters.seal(key)]);
        *self.seal.get_or_init(sealed)
    }

    /// The seal as it was before open matters were under it. No state of today has this seal, nor
    /// the one below, as it begins with other kinds of MACs.
    pub(crate) fn seal_without_matters(&self, key: &RowKey) -> Digest {
        self.sealed(key, &[self.identities.seal(key)])
    }

    /// The seal as it was before agents, tokens and spaces were under it either.
    pub(crate) fn seal_of_gate_alone(&self, key: &RowKey) -> Digest {
        self.sealed(key, &[])
    }

    fn sealed(&self, key: &RowKey, first: &[Digest]) -> Digest {
        let macs = first.iter().chain(self.macs.values());
        let macs: Vec<&[u8]> = macs.map(|mac| &mac.as_bytes()[..]).collect();
        key.row("gate_seal gate", &macs)
    }

    /// Whether no row is needed for it.
    #[cfg(test)]
    pub(crate) fn is_bare(&self) -> bool {
        self.macs.is_empty()
    }

    /// A latch with nothing set is none.
    pub(crate) fn set_latch(&mut self, holder: Holder, latch: Latch) {
        if latch.taint().is_clean() {
            self.latches.remove(&holder);
        } else {
            self.latches.insert(holder, Arc::new(latch));
        }
    }

    /// False if its scope was engaged already.
    pub(crate) fn engage(&mut self, engaged: Engaged) -> bool {
        self.switches.engage(engaged)
    }

    /// False if it was not engaged.
    pub(crate) fn lift(&mut self, scope: &SwitchScope) -> bool {
        self.switches.lift(scope)
    }

    pub(crate) const fn servers(&self) -> &Arc<ServerBook> {
        &self.servers
    }

    pub(crate) fn servers_mut(&mut self) -> &mut ServerBook {
        Arc::make_mut(&mut self.servers)
    }

    pub(crate) const fn set_mode(&mut self, mode: NotedMode) {
        self.mode = Some(mode);
    }

    pub(crate) fn keep_mac(&mut self, name: RowName, mac: Digest) {
        self.macs.insert(name, mac);
        self.seal.take();
    }

    pub(crate) fn forget_mac(&mut self, name: &RowName) {
        self.macs.remove(name);
        self.seal.take();
    }

    pub(crate) fn forget_macs(&mut self) {
        self.macs.clear();
        self.seal.take();
    }
}
