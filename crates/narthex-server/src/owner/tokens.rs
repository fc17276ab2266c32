//! Agents' tokens.

use std::collections::HashMap;

use narthex_core::{AgentKind, Slug, Subject, Timestamp, TokenId, TokenLabel, TokenSummary};
use narthex_gate::issue_token;
use narthex_store::{Effect, Effected, fresh_uuid};

use super::desk::{invalid, not_found};
use super::{Desk, OwnerError, Reply, TokenCreated, TokenInfo, TokenRevoked, Trouble};

impl Desk {
    pub(super) async fn token_create(
        &self,
        agent: &str,
        label: Option<&str>,
        expires_in: Option<u64>,
    ) -> Result<Reply, OwnerError> {
        let agent = self.agent_named(agent).await?;
        if agent.kind == AgentKind::Companion {
            return Err(invalid(
                "the companion has no tokens; it is started with: narthex stdio --companion",
            ));
        }
        let label = TokenLabel::parse(label.unwrap_or("token")).map_err(invalid)?;
        let created = self.now();
        let expires = expires_in.map(|seconds| expiry(created, seconds)).transpose()?;
        let id = TokenId::from_uuid(fresh_uuid());
        let issued = issue_token(&self.token_key, id).map_err(|error| OwnerError {
            kind: Trouble::Unavailable,
            message: format!("the machine gave no randomness: {error}"),
        })?;
        let effect = Effect::AddToken {
            id,
            agent: agent.id,
            label: label.clone(),
            keyed_hash: issued.keyed_hash,
            created,
            expires,
        };
        self.change("token.create", agent.space, Subject::one("token", id), effect).await?;
        let token = issued.into_clear();
        Ok(Reply::TokenCreated(TokenCreated { id, agent: agent.slug, label, token, expires }))
    }

    pub(super) async fn token_list(&self, agent: Option<&str>) -> Result<Reply, OwnerError> {
        let only = match agent {
            Some(name) => Some(self.agent_named(name).await?.id),
            None => None,
        };
        let slugs: HashMap<_, Slug> =
            self.store().agents().await?.into_iter().map(|agent| (agent.id, agent.slug)).collect();
        let now = self.now();
        let tokens = self.store().tokens(only).await?;
        let infos = tokens.into_iter().filter_map(|token| {
            let agent = slugs.get(&token.agent)?.clone();
            Some(info(token, agent, now))
        });
        Ok(Reply::Tokens(infos.collect()))
    }

    pub(super) async fn token_revoke(&self, token: &str) -> Result<Reply, OwnerError> {
        let missing = || not_found("token", token, "narthex token list");
        let id: TokenId = token.parse().map_err(|_| missing())?;
        let found = self.store().token(id).await?.ok_or_else(missing)?;
        let effect = Effect::RevokeToken { id, at: self.now() };
        let committed = self
            .change("token.revoke", found.agent.space, Subject::one("token", id), effect)
            .await?;
        let now = matches!(committed.effected, Effected::Revoked(true));
        Ok(Reply::TokenRevoked(TokenRevoked { id, now }))
    }
}

fn info(token: TokenSummary, agent: Slug, now: Timestamp) -> TokenInfo {
    let state = match (token.revoked, token.is_live(now)) {
        (Some(_), _) => "revoked",
        (None, true) => "live",
        (None, false) => "expired",
    };
    TokenInfo {
        id: token.id,
        agent,
        label: token.label,
        state: state.to_owned(),
        created: token.created,
        expires: token.expires,
        revoked: token.revoked,
        last_used: token.last_used,
    }
}

fn expiry(from: Timestamp, seconds: u64) -> Result<Timestamp, OwnerError> {
    let seconds = i64::try_from(seconds).ok().filter(|s| (1..=MAX_LIFE_SECONDS).contains(s));
    let seconds =
        seconds.ok_or_else(|| invalid("a token lives between one second and ten years"))?;
    Ok(from.plus_millis(seconds * 1_000))
}

const MAX_LIFE_SECONDS: i64 = 10 * 366 * 24 * 3_600;
