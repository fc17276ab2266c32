//! Which columns are under the MAC, in which order, and how the rows are read.

use narthex_core::{AgentId, IdError, SpaceId, TokenId};

use super::Name;

macro_rules! spaces {
    ($rest:literal) => {
        concat!("SELECT id, n, slug, name, ceiling, created, mac FROM spaces ", $rest)
    };
}
pub(crate) use spaces;

macro_rules! agents {
    ($rest:literal) => {
        concat!(
            "SELECT a.id, a.slug, a.name, a.kind, a.model, a.grants, a.ceiling, a.budget, a.space,
                    s.id AS space_id, a.disabled, a.created, a.tiers, a.mac
               FROM agents a LEFT JOIN spaces s ON s.n = a.space ",
            $rest
        )
    };
}
pub(crate) use agents;

macro_rules! tokens {
    ($rest:literal) => {
        concat!(
            "SELECT t.id, t.id AS token_id, t.agent AS token_agent, t.label, t.keyed_hash,
                    t.created AS token_created, t.expires, t.revoked, t.mac AS token_mac,
                    u.at AS last_used
               FROM tokens t LEFT JOIN token_use u ON u.token = t.id ",
            $rest
        )
    };
}
pub(crate) use tokens;

/// A table whose rows carry a MAC.
#[derive(Debug)]
pub(crate) struct Table {
    /// Its name, which is under the MAC too.
    pub(crate) name: &'static str,
    /// Its columns, the id first, as the statements below call them.
    pub(crate) columns: &'static [(&'static str, Kind)],
    /// What they call the MAC.
    pub(crate) mac: &'static str,
    /// Whose row has this id.
    pub(crate) name_of: fn(&[u8]) -> Result<Name, IdError>,
    /// One row.
    pub(crate) by_id: &'static str,
    /// Some rows after an id, in order. Each has its id as `id`.
    pub(crate) after: &'static str,
    /// Puts a MAC on a row, or takes it off.
    pub(crate) sign: &'static str,
}

impl Table {
    /// Where a column stands.
    pub(super) fn place(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|(name, _)| *name == column)
    }
}

/// What a column holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// Ids and hashes.
    Bytes,
    /// Words, and lists as JSON.
    Text,
    /// Numbers, flags and times.
    Number,
    /// Text in a column that is younger than some rows: under the MAC only where it holds something,
    /// so that those rows stay genuine.
    LaterText,
}

/// Spaces, with the short key their pages are found by.
pub(crate) static SPACES: Table = Table {
    name: "spaces",
    columns: &[
        ("id", Kind::Bytes),
        ("n", Kind::Number),
        ("slug", Kind::Text),
        ("name", Kind::Text),
        ("ceiling", Kind::Text),
        ("created", Kind::Number),
    ],
    mac: "mac",
    name_of: |id| SpaceId::from_bytes(id).map(Name::Space),
    by_id: spaces!("WHERE id = ?1"),
    after: spaces!("WHERE id > ?1 ORDER BY id LIMIT 256"),
    sign: "UPDATE spaces SET mac = ?2 WHERE id = ?1",
};

/// Agents. The space is there twice, by its short key and by the id that this leads to: whoever
/// exchanges the keys of two spaces moves no agent.
pub(crate) static AGENTS: Table = Table {
    name: "agents",
    columns: &[
        ("id", Kind::Bytes),
        ("slug", Kind::Text),
        ("name", Kind::Text),
        ("kind", Kind::Text),
        ("model", Kind::Text),
        ("grants", Kind::Text),
        ("ceiling", Kind::Text),
        ("budget", Kind::Text),
        ("space", Kind::Number),
        ("space_id", Kind::Bytes),
        ("disabled", Kind::Number),
        ("created", Kind::Number),
        ("tiers", Kind::LaterText),
    ],
    mac: "mac",
    name_of: |id| AgentId::from_bytes(id).map(Name::Agent),
    by_id: agents!("WHERE a.id = ?1"),
    after: agents!("WHERE a.id > ?1 ORDER BY a.id LIMIT 256"),
    sign: "UPDATE agents SET mac = ?2 WHERE id = ?1",
};

/// Tokens. Their columns have names of their own, as an agent's stand beside them.
pub(crate) static TOKENS: Table = Table {
    name: "tokens",
    columns: &[
        ("token_id", Kind::Bytes),
        ("token_agent", Kind::Bytes),
        ("label", Kind::Text),
        ("keyed_hash", Kind::Bytes),
        ("token_created", Kind::Number),
        ("expires", Kind::Number),
        ("revoked", Kind::Number),
    ],
    mac: "token_mac",
    name_of: |id| TokenId::from_bytes(id).map(Name::Token),
    by_id: tokens!("WHERE t.id = ?1"),
    after: tokens!("WHERE t.id > ?1 ORDER BY t.id LIMIT 256"),
    sign: "UPDATE tokens SET mac = ?2 WHERE id = ?1",
};
