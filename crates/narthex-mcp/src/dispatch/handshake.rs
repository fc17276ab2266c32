//! `initialize` (legacy) and `server/discover` (modern): who is here and what can be asked.

use narthex_core::Reason;
use narthex_gate::Admitted;
use rmcp::model::{CacheScope, DiscoverResult, InitializeResult};

use super::wire::{capabilities, implementation};
use super::{Asked, Carrier, Dispatch};
use crate::era::{SERVED, negotiate};
use crate::fault::Fault;
use crate::message::{CONSENT_META_KEY, Id};
use crate::reply::Reply;

impl Dispatch {
    pub(super) async fn initialize(
        &self,
        admitted: &Admitted,
        id: &Id,
        asked: &Asked,
    ) -> Result<Reply, Fault> {
        let method = asked.method();
        let params = &asked.message.params;
        // Without sessions there is nothing that could remember it, and a limit that is taken
        // and then forgotten is worse than none.
        if matches!(asked.carrier, Carrier::Http) && params.contains_key(CONSENT_PARAM) {
            let fault = Fault::invalid_params(format!(
                "this endpoint keeps no sessions, so consentCeiling in initialize cannot hold; send params._meta[\"{CONSENT_META_KEY}\"] with each request"
            ));
            return self.refuse(admitted, &method, Reason::InvalidArguments, fault).await;
        }
        self.gate.note(admitted, &self.surface, &method).await.map_err(Fault::of_call)?;
        let info = self.gate.describe(admitted, &self.surface);
        let result = InitializeResult::new(capabilities())
            .with_protocol_version(negotiate(params.get("protocolVersion")))
            .with_server_info(implementation().with_title(info.title))
            .with_instructions(info.instructions);
        Ok(Reply::result(id, &result))
    }

    pub(super) async fn discover(
        &self,
        admitted: &Admitted,
        id: &Id,
        asked: &Asked,
    ) -> Result<Reply, Fault> {
        self.gate.note(admitted, &self.surface, &asked.method()).await.map_err(Fault::of_call)?;
        let info = self.gate.describe(admitted, &self.surface);
        let mut result = DiscoverResult::new(SERVED.to_vec(), capabilities())
            .with_ttl_ms(self.ttl_ms())
            .with_cache_scope(CacheScope::Private)
            .with_server_info(implementation().with_title(info.title));
        result.instructions = Some(info.instructions);
        Ok(Reply::result(id, &result))
    }

    pub(super) fn ttl_ms(&self) -> u64 {
        u64::try_from(self.list_ttl.as_millis()).unwrap_or(u64::MAX)
    }
}

/// Where a client says for a whole process how far it consents to go.
pub(crate) const CONSENT_PARAM: &str = "consentCeiling";
