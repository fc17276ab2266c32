//! Agents' tokens.

use narthex_core::{AgentId, AgentKind, Timestamp, TokenId, TokenLabel};
use narthex_store::{Effected, Refused};

use crate::fault::Fault;
use crate::gate::Bench;
use crate::identity::{AGENTS, Name, Signed, TOKENS, bytes, number, text};
use crate::rows::Fields;

/// A token to be made.
pub(super) struct New {
    pub(super) id: TokenId,
    pub(super) agent: AgentId,
    pub(super) label: TokenLabel,
    pub(super) keyed_hash: [u8; 32],
    pub(super) created: Timestamp,
    pub(super) expires: Option<Timestamp>,
}

/// A new token, for an agent that may have one: the companion never comes by token.
pub(super) async fn add(bench: &mut Bench<'_>, token: &New) -> Result<Effected, Fault> {
    let agent = bench.identity(&AGENTS, token.agent.as_bytes()).await?;
    let kind = agent.map(|(row, _)| Fields(&row).get::<String>("kind")).transpose()?;
    if kind.as_deref() != Some(AgentKind::External.as_str()) {
        return Err(Refused::NotFound("agent").into());
    }
    sqlx::query(
        "INSERT INTO tokens (id, agent, label, keyed_hash, created, expires)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )
    .bind(token.id.as_bytes().as_slice())
    .bind(token.agent.as_bytes().as_slice())
    .bind(token.label.as_str())
    .bind(token.keyed_hash.as_slice())
    .bind(token.created.as_millis())
    .bind(token.expires.map(Timestamp::as_millis))
    .execute(&mut *bench.conn)
    .await?;
    bench.sign(&token.signed()).await?;
    Ok(Effected::Done)
}

/// Ends a token. Ending an ended one changes nothing.
pub(super) async fn revoke(
    bench: &mut Bench<'_>,
    id: TokenId,
    at: Timestamp,
) -> Result<Effected, Fault> {
    let found = bench.identity(&TOKENS, id.as_bytes()).await?;
    let (_, row) = found.ok_or(Fault::Refused(Refused::NotFound("token")))?;
    if !row.value("revoked").is_empty() {
        return Ok(Effected::Revoked(false));
    }
    sqlx::query("UPDATE tokens SET revoked = ?2 WHERE id = ?1")
        .bind(id.as_bytes().as_slice())
        .bind(at.as_millis())
        .execute(&mut *bench.conn)
        .await?;
    bench.sign(&row.with("revoked", number(at.as_millis()))?).await?;
    Ok(Effected::Revoked(true))
}

impl New {
    /// The columns, in the order of [`TOKENS`].
    fn signed(&self) -> Signed {
        let values = vec![
            bytes(self.id.as_bytes()),
            bytes(self.agent.as_bytes()),
            text(self.label.as_str()),
            bytes(&self.keyed_hash),
            number(self.created.as_millis()),
            self.expires.map(|at| number(at.as_millis())).unwrap_or_default(),
            Vec::new(),
        ];
        Signed::new(Name::Token(self.id), values)
    }
}
