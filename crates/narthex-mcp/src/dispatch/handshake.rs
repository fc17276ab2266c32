//! `initialize` (legacy) and `server/discover` (modern): who is here and what can be asked.

use narthex_core::{Consent, Reason};
use narthex_gate::{Admitted, Foreign, SessionTerms};
use rmcp::model::{
    CacheScope, DiscoverResult, InitializeResult, PromptsCapability, ResourcesCapability,
    ServerCapabilities,
};
use secrecy::ExposeSecret as _;
use serde_json::{Map, Value};

use super::inputs::handshake_can;
use super::waiting::handshake_opens_urls;
use super::wire::implementation;
use super::{Asked, Carrier, Dispatch};
use crate::era::{Era, SERVED, negotiate};
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
        let mut method = asked.method();
        let params = &asked.message.params;
        let opened = match asked.carrier {
            Carrier::Http(_) if self.gate.keeps_sessions() => {
                Some(self.open_session(admitted, terms(params), &method).await?)
            }
            // Without sessions there is nothing that could remember it, and a limit that is
            // taken and then forgotten is worse than none.
            Carrier::Http(_) if says_consent(params) => {
                let fault = cannot_hold("this endpoint keeps no sessions", "initialize");
                return self.refuse(admitted, &method, Reason::InvalidArguments, fault).await;
            }
            Carrier::Http(_) | Carrier::Stdio(_) => None,
        };
        method.session = opened.as_ref().map(|opened| opened.session.id.clone());
        if let Err(fault) = self.note(admitted, &method).await {
            // A session that is in no record is no session.
            if let Some(opened) = &opened {
                self.gate.end_session(admitted, opened.secret.expose_secret());
            }
            return Err(fault);
        }
        let info = self.gate.describe(admitted, &self.surface);
        let result = InitializeResult::new(self.capabilities(Era::Legacy))
            .with_protocol_version(negotiate(params.get("protocolVersion")))
            .with_server_info(implementation().with_title(info.title))
            .with_instructions(info.instructions);
        let reply = Reply::result(id, &result);
        Ok(match opened {
            Some(opened) => reply.in_session(&opened.secret),
            None => reply,
        })
    }

    pub(super) async fn discover(
        &self,
        admitted: &Admitted,
        id: &Id,
        asked: &Asked,
    ) -> Result<Reply, Fault> {
        let method = asked.method();
        if asked.message.params.contains_key(CONSENT_PARAM) {
            let fault = cannot_hold("each request stands alone", "server/discover");
            return self.refuse(admitted, &method, Reason::InvalidArguments, fault).await;
        }
        self.note(admitted, &method).await?;
        let info = self.gate.describe(admitted, &self.surface);
        let mut result = DiscoverResult::new(SERVED.to_vec(), self.capabilities(Era::Modern))
            .with_ttl_ms(self.ttl_ms())
            .with_cache_scope(CacheScope::Private)
            .with_server_info(implementation().with_title(info.title));
        result.instructions = Some(info.instructions);
        Ok(Reply::result(id, &result))
    }

    /// What is not named here answers as an unknown method. Changes are announced in sessions, and only
    /// of what somebody else defines.
    fn capabilities(&self, era: Era) -> ServerCapabilities {
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        let announces = era == Era::Legacy && self.announces();
        if let (true, Some(tools)) = (announces, &mut capabilities.tools) {
            tools.list_changed = Some(true);
        }
        let resources = || {
            let mut resources = ResourcesCapability::default();
            resources.subscribe = Some(self.has_passage_in(era, Foreign::SUBSCRIBE));
            resources.list_changed = Some(announces);
            resources
        };
        if self.has_resources() || self.has_passage(Foreign::READ) {
            capabilities.resources = Some(resources());
        }
        if self.has_passage(Foreign::PROMPT) {
            let mut prompts = PromptsCapability::default();
            prompts.list_changed = Some(announces);
            capabilities.prompts = Some(prompts);
        }
        if self.has_passage(Foreign::COMPLETE) {
            capabilities.completions = Some(serde_json::Map::new());
        }
        if self.hears_logs() {
            capabilities.logging = Some(serde_json::Map::new());
        }
        capabilities
    }

    /// Whether a client in a session is told when a list changes.
    pub(crate) fn announces(&self) -> bool {
        self.foreign().is_some() && self.gate.keeps_sessions()
    }

    /// Whether an upstream may have something to say to a log.
    pub(crate) fn hears_logs(&self) -> bool {
        self.has_passage(Foreign::SET_LEVEL)
    }

    pub(super) fn ttl_ms(&self) -> u64 {
        u64::try_from(self.list_ttl.as_millis()).unwrap_or(u64::MAX)
    }
}

/// What a client says in its handshake, for as long as it is connected.
pub(crate) fn terms(params: &Map<String, Value>) -> SessionTerms {
    let by_meta = params.get("_meta").and_then(|meta| meta.get(CONSENT_META_KEY));
    SessionTerms {
        // Said in either place, it is said for all that follows; the lower one holds.
        consent: Consent::parse(params.get(CONSENT_PARAM)).and(Consent::parse(by_meta)),
        opens_urls: handshake_opens_urls(params),
        can: handshake_can(params),
    }
}

/// Whether a handshake limits what follows it, in either place.
fn says_consent(params: &Map<String, Value>) -> bool {
    let by_meta = params.get("_meta").and_then(|meta| meta.get(CONSENT_META_KEY));
    params.contains_key(CONSENT_PARAM) || by_meta.is_some()
}

fn cannot_hold(why: &str, place: &str) -> Fault {
    Fault::invalid_params(format!(
        "{why}, so a consent ceiling in {place} cannot hold; send params._meta[\"{CONSENT_META_KEY}\"] with each request that follows"
    ))
}

/// Where a client says for a whole process or session how far it consents to go.
const CONSENT_PARAM: &str = "consentCeiling";
