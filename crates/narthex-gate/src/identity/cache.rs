//! The verifier of agent tokens, which remembers what it looked up until anything changed.

use std::sync::Arc;

use async_trait::async_trait;
use moka::sync::Cache;
use narthex_core::{Agent, Timestamp, TokenId};
use narthex_store::{Clock, Guard, Store, TokenRecord};
use subtle::ConstantTimeEq;

use super::{BearerForm, SecretKey, Verified, Verifier, VerifyError, parse_bearer};

/// Verifies `nx_…` tokens against the store.
pub struct TokenVerifier {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    key: SecretKey,
    known: Cache<TokenId, Known>,
}

impl std::fmt::Debug for TokenVerifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenVerifier").finish_non_exhaustive()
    }
}

/// What is remembered of a token, and as of when.
#[derive(Clone)]
struct Known {
    epoch: u64,
    keyed_hash: [u8; 32],
    expires: Option<Timestamp>,
    revoked: bool,
    agent: Arc<Agent>,
}

impl TokenVerifier {
    /// Over this store, remembering at most so many tokens.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        key: SecretKey,
        remembered: u64,
    ) -> Self {
        Self { store, clock, key, known: Cache::new(remembered) }
    }

    /// What is known of a token now. Memory is good only while the store's epoch stands still,
    /// so a revocation is seen by the very next request.
    async fn known(&self, id: TokenId) -> Result<Option<Known>, VerifyError> {
        let epoch = self.store.identity_epoch();
        if let Some(known) = self.known.get(&id)
            && known.epoch == epoch
        {
            return Ok(Some(known));
        }
        let found = self.store.token(id).await;
        let found = found.map_err(|error| VerifyError::Unavailable(error.to_string()))?;
        // Unknown ids are not remembered: a million guesses cost a million look-ups, no memory.
        let known = found.map(|record| Known::of(record, epoch));
        if let Some(known) = &known {
            self.known.insert(id, known.clone());
        }
        Ok(known)
    }
}

impl Known {
    fn of(record: TokenRecord, epoch: u64) -> Self {
        Self {
            epoch,
            keyed_hash: record.keyed_hash,
            expires: record.summary.expires,
            revoked: record.summary.revoked.is_some(),
            agent: Arc::new(record.agent),
        }
    }

    fn is_live(&self, now: Timestamp) -> bool {
        !self.revoked && !self.agent.disabled && self.expires.is_none_or(|end| now < end)
    }
}

#[async_trait]
impl Verifier for TokenVerifier {
    async fn verify(&self, bearer: &str) -> Result<Verified, VerifyError> {
        let (id, secret) = match parse_bearer(bearer, &self.key) {
            None => return Err(VerifyError::Bad),
            Some(BearerForm::Owner) => return Ok(Verified::Owner),
            Some(BearerForm::Agent(id, secret)) => (id, secret),
        };
        let presented = self.key.hash_agent(id, secret.as_ref());
        let known = self.known(id).await?;
        // The comparison happens also for an unknown id, against something that never matches.
        let expected = known.as_ref().map_or([0; 32], |known| known.keyed_hash);
        let same = bool::from(presented.ct_eq(&expected));
        match known {
            Some(known) if same && known.is_live(self.clock.now()) => {
                Ok(Verified::Agent { agent: known.agent, token: id })
            }
            _ => Err(VerifyError::Bad),
        }
    }

    async fn still_good(&self, token: TokenId) -> bool {
        matches!(self.known(token).await, Ok(Some(known)) if known.is_live(self.clock.now()))
    }

    fn guard(&self, token: TokenId, now: Timestamp) -> Option<Guard> {
        Some(Guard::TokenLive { token, now })
    }
}
