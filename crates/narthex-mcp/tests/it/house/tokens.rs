//! A second kind of credential: words in a table. Nothing behind the trait can tell.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use narthex_core::{Agent, TokenId};
use narthex_gate::{Verified, Verifier, VerifyError};
use uuid::Uuid;

use super::OWN;

#[derive(Debug)]
pub(crate) struct Tokens(Mutex<HashMap<String, (TokenId, Arc<Agent>)>>);

impl Tokens {
    pub(crate) fn new(known: &[(&str, &Agent)]) -> Self {
        let entry = |(n, (token, agent)): (usize, &(&str, &Agent))| {
            let id = TokenId::from_uuid(Uuid::from_u128(1000 + n as u128));
            ((*token).to_owned(), (id, Arc::new((*agent).clone())))
        };
        Self(Mutex::new(known.iter().enumerate().map(entry).collect()))
    }

    pub(crate) fn revoke(&self, token: &str) {
        self.0.lock().expect("not poisoned").remove(token);
    }
}

#[async_trait]
impl Verifier for Tokens {
    async fn verify(&self, bearer: &str) -> Result<Verified, VerifyError> {
        if bearer == OWN {
            return Ok(Verified::Owner);
        }
        let known = self.0.lock().expect("not poisoned").get(bearer).cloned();
        let (token, agent) = known.ok_or(VerifyError::Bad)?;
        Ok(Verified::Agent { agent, token })
    }

    async fn still_good(&self, token: TokenId) -> bool {
        self.0.lock().expect("not poisoned").values().any(|(id, _)| *id == token)
    }
}
