//! Stages three and four: which tool, and may this call of it be made?

use std::sync::Arc;

use narthex_core::{
    Ceiling, Consent, Digest, Mode, Question, Reason, RequestId, Ruling, SessionId, Standing,
    Taint, Tier, rule,
};
use narthex_store::UnitOfWork;
use serde_json::Value;

use super::Admitted;
use super::record::Trace;
use crate::gate::{Inner, new_call};
use crate::ready::ReadyTool;
use crate::{CallContext, CallError, ReadySurface, ToolSpec};

/// A call as a client asks for it: everything in it is the client's word.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The tool's name.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
    /// What the client consents to.
    pub consent: Consent,
    /// The client's request id.
    pub request: Option<RequestId>,
    /// The legacy session, where there is one.
    pub session: Option<SessionId>,
}

/// A call every check has passed for. Only `decide` makes one.
#[derive(Debug)]
pub(super) struct Permit {
    pub(super) trace: Trace,
    pub(super) spec: Arc<ToolSpec>,
    pub(super) arguments: Value,
    pub(super) context: CallContext,
}

/// Why a call is not permitted, with how it is recorded.
struct Denied {
    error: CallError,
    record: narthex_core::RecordDraft,
}

impl Inner {
    /// Decides; what is refused is recorded before the refusal is told.
    pub(super) async fn decide(
        &self,
        admitted: &Admitted,
        surface: &ReadySurface,
        invocation: Invocation,
    ) -> Result<Permit, CallError> {
        let mut trace =
            Trace::inside(new_call(), admitted, surface.surface().name(), &invocation.tool);
        trace.arguments = Some(Digest::of_json(&invocation.arguments));
        trace.request.clone_from(&invocation.request);
        trace.session.clone_from(&invocation.session);
        match self.weigh(admitted, surface, invocation, trace).await {
            Ok(permit) => Ok(permit),
            Err(denied) => Err(self.refuse(*denied).await),
        }
    }

    async fn weigh(
        &self,
        admitted: &Admitted,
        surface: &ReadySurface,
        mut invocation: Invocation,
        mut trace: Trace,
    ) -> Result<Permit, Box<Denied>> {
        let context = self.context(admitted);
        let unknown = |trace: &Trace, name: &str, reason| {
            let error = CallError::UnknownTool { name: name.to_owned() };
            Box::new(Denied { error, record: trace.refused(reason, 1) })
        };
        let Some(tool) = surface.tool(&invocation.tool) else {
            return Err(unknown(&trace, &invocation.tool, Reason::UnknownTool));
        };
        trace.tier = Some(tool.spec.tier);
        // A tool that policy denies whatever the arguments is not there for this agent.
        if let Err(reason) = self.policy_permits_some(admitted, surface, tool, &context) {
            return Err(unknown(&trace, &invocation.tool, reason));
        }
        if let Err(message) = tool.check(&mut invocation.arguments) {
            return Err(told(&trace, Reason::InvalidArguments, message));
        }
        let asks = surface.surface().asks(&tool.spec, Some(&invocation.arguments), &context);
        self.policy_permits_all(admitted, asks.questions())
            .map_err(|reason| said(&trace, reason))?;
        let space =
            self.space_ceiling(admitted).await.map_err(|error| unavailable(&trace, &error))?;
        let standing = self.standing(admitted, invocation.consent, space);
        match rule(&standing, tool.spec.tier, &tool.spec.effects) {
            Ruling::Allow => {}
            Ruling::Refuse(reason) => return Err(said(&trace, reason)),
            // No approval can be given yet, so none is there: the call waits, which is a refusal.
            Ruling::NeedsApproval { because, .. } => {
                let error = refused(because, because.message().to_owned());
                return Err(Box::new(Denied { error, record: trace.waits(because) }));
            }
        }
        Ok(Permit { trace, spec: Arc::clone(&tool.spec), arguments: invocation.arguments, context })
    }

    /// Whether some arguments could be permitted: what a list shows.
    pub(super) fn is_shown(
        &self,
        admitted: &Admitted,
        surface: &ReadySurface,
        tool: &ReadyTool,
        consent: Consent,
        space: Option<Tier>,
    ) -> bool {
        let context = self.context(admitted);
        let standing = self.standing(admitted, consent, space);
        let ruling = rule(&standing, tool.spec.tier, &tool.spec.effects);
        !matches!(ruling, Ruling::Refuse(_))
            && self.policy_permits_some(admitted, surface, tool, &context).is_ok()
    }

    fn policy_permits_some(
        &self,
        admitted: &Admitted,
        surface: &ReadySurface,
        tool: &ReadyTool,
        context: &CallContext,
    ) -> Result<(), Reason> {
        let asks = surface.surface().asks(&tool.spec, None, context);
        let policy = self.policy.load();
        let mut reason = Reason::PolicyDenied;
        for question in asks.questions() {
            match self.permits(&policy, admitted, question) {
                Ok(()) => return Ok(()),
                Err(because) => reason = because,
            }
        }
        Err(reason)
    }

    fn policy_permits_all(
        &self,
        admitted: &Admitted,
        questions: &[Question],
    ) -> Result<(), Reason> {
        // Nothing asked means nothing permitted.
        if questions.is_empty() {
            return Err(Reason::PolicyDenied);
        }
        let policy = self.policy.load();
        questions.iter().try_for_each(|question| self.permits(&policy, admitted, question))
    }

    /// Where the agent stands. Taint joins here when it is kept.
    fn standing(&self, admitted: &Admitted, consent: Consent, space: Option<Tier>) -> Standing {
        let mode: Mode = self.config.mode;
        let agent = admitted.principal.agent.ceiling;
        Standing { mode, ceiling: Ceiling::of(mode, space, agent, consent), taint: Taint::CLEAN }
    }

    pub(super) fn context(&self, admitted: &Admitted) -> CallContext {
        CallContext {
            principal: admitted.principal.clone(),
            scope: admitted.scope,
            taint: Taint::CLEAN,
            transport: admitted.transport,
            now: self.clock.now(),
        }
    }

    /// The ceiling of the space the call is in.
    pub(super) async fn space_ceiling(
        &self,
        admitted: &Admitted,
    ) -> Result<Option<Tier>, narthex_store::StoreError> {
        let Some(id) = admitted.scope.space() else { return Ok(None) };
        let epoch = self.store.identity_epoch();
        if let Some((known, ceiling)) = self.spaces.get(&id)
            && known == epoch
        {
            return Ok(ceiling);
        }
        // A space that is gone admits nothing but looking, and looking finds nothing.
        let Some(space) = self.store.space(id).await? else { return Ok(Some(Tier::T0)) };
        self.spaces.insert(id, (epoch, space.ceiling));
        Ok(space.ceiling)
    }

    async fn refuse(&self, denied: Denied) -> CallError {
        match self.store.commit(UnitOfWork::records(vec![denied.record])).await {
            Ok(_) => denied.error,
            Err(error) => {
                tracing::error!(%error, "a refusal could not be recorded");
                CallError::Unavailable
            }
        }
    }
}

fn refused(reason: Reason, message: String) -> CallError {
    CallError::Refused { reason, message }
}

fn said(trace: &Trace, reason: Reason) -> Box<Denied> {
    told(trace, reason, reason.message().to_owned())
}

fn told(trace: &Trace, reason: Reason, message: String) -> Box<Denied> {
    Box::new(Denied { error: refused(reason, message), record: trace.refused(reason, 1) })
}

fn unavailable(trace: &Trace, error: &narthex_store::StoreError) -> Box<Denied> {
    tracing::error!(%error, "the store cannot be read");
    Box::new(Denied {
        error: CallError::Unavailable,
        record: trace.refused(Reason::Unavailable, 1),
    })
}
