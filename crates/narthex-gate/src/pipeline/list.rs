//! Listing: a relaxation of the call's own decision. Shown if some arguments could be allowed.

use std::collections::BTreeSet;
use std::sync::Arc;

use narthex_core::{
    Agent, AgentKind, Consent, Holder, Outcome, Place, Reaches, Reason, Ruling, Subject, Taint,
    rule,
};
use narthex_policy::Verdict;
use narthex_store::{StoreError, UnitOfWork};

use super::record::Trace;
use super::{Admitted, Method};
use crate::gate::new_call;
use crate::{CallContext, CallError, Gate, ReadySurface, ToolSpec};

impl Gate {
    /// The tools this agent could call, now and with this consent.
    pub async fn list(
        &self,
        admitted: &Admitted,
        surface: &Arc<ReadySurface>,
        method: &Method,
    ) -> Result<Vec<Arc<ToolSpec>>, CallError> {
        let inner = self.inner();
        let space = inner
            .space_ceiling(admitted.scope.space())
            .await
            .map_err(|_| CallError::Unavailable)?;
        let runs = inner.is_stopped(&inner.place(admitted, surface)).is_ok();
        let shown = surface
            .tools()
            // While it is stopped it would all be refused.
            .filter(|_| runs)
            .filter(|tool| inner.is_shown(admitted, surface, tool, method.consent, space))
            .map(|tool| Arc::clone(&tool.spec))
            .collect();
        self.note(admitted, surface, method).await?;
        Ok(shown)
    }

    /// The tools of another surface that whoever makes this call could call there.
    pub fn offers(&self, context: &CallContext, surface: &ReadySurface) -> Vec<Arc<ToolSpec>> {
        let inner = self.inner();
        let admitted = Admitted::of(context);
        if inner.is_stopped(&inner.place(&admitted, surface)).is_err() {
            return Vec::new();
        }
        // What holds for the call holds for what it is told.
        let consent = Consent::AtMost(context.ceiling);
        let shown =
            surface.tools().filter(|tool| inner.is_shown(&admitted, surface, tool, consent, None));
        shown.map(|tool| Arc::clone(&tool.spec)).collect()
    }

    /// Whether this agent could ask through a passage, now and with this consent.
    pub async fn list_passage(
        &self,
        admitted: &Admitted,
        surface: &Arc<ReadySurface>,
        method: &Method,
        passage: &str,
    ) -> Result<bool, CallError> {
        let inner = self.inner();
        let space = inner
            .space_ceiling(admitted.scope.space())
            .await
            .map_err(|_| CallError::Unavailable)?;
        let runs = inner.is_stopped(&inner.place(admitted, surface)).is_ok();
        let shown = surface
            .tool(passage)
            .is_some_and(|tool| inner.is_shown(admitted, surface, tool, method.consent, space));
        self.note(admitted, surface, method).await?;
        Ok(runs && shown)
    }

    /// Whether policy lets this agent know of a surface at all: it could make some call there.
    pub fn may_see(&self, admitted: &Admitted, surface: &ReadySurface) -> bool {
        let inner = self.inner();
        let ceiling = admitted.principal.agent.ceiling;
        let standing = inner.standing(ceiling, Consent::Absent, None, Taint::CLEAN);
        let context = inner.context(admitted, standing, BTreeSet::new());
        surface.everything().any(|tool| {
            let asks = surface.surface().asks(&tool.spec, None, &context);
            !asks.is_open() && inner.policy_permits_some(admitted, surface, tool, &context).is_ok()
        })
    }

    /// Records that a method which calls no tool was answered.
    pub async fn note(
        &self,
        admitted: &Admitted,
        surface: &Arc<ReadySurface>,
        method: &Method,
    ) -> Result<(), CallError> {
        let trace = method_trace(admitted, surface, method);
        let record = trace.observed(Outcome::Ok, Reason::Permitted, Subject::default());
        self.keep(record).await
    }

    /// Records that a method was refused.
    pub async fn refuse_method(
        &self,
        admitted: &Admitted,
        surface: &Arc<ReadySurface>,
        method: &Method,
        reason: Reason,
    ) -> Result<(), CallError> {
        let trace = method_trace(admitted, surface, method);
        self.keep(trace.refused(reason, 1)).await
    }

    /// What the whole gate would say to a call that policy says this about: for explaining.
    pub async fn foresee(
        &self,
        agent: &Agent,
        surface: &ReadySurface,
        tool: &str,
        verdict: &Verdict,
    ) -> Result<(&'static str, Reason), StoreError> {
        let inner = self.inner();
        let Some(tool) = surface.tool(tool) else {
            return Ok(("refuse", Reason::UnknownTool));
        };
        let upstream = surface.surface().upstream().cloned();
        let reaches = match agent.kind {
            AgentKind::Companion => Reaches::across(&inner.stops.now()),
            AgentKind::External => Reaches::of(agent.space),
        };
        let place = Place { agent: agent.id, reaches, upstream };
        if inner.is_stopped(&place).is_err() {
            return Ok(("refuse", Reason::Stopped));
        }
        if agent.disabled {
            return Ok(("refuse", Reason::AgentDisabled));
        }
        if !verdict.is_permitted() {
            return Ok(("refuse", verdict.reason()));
        }
        let holder = Holder { agent: agent.id, space: agent.space };
        let taint = inner.store.taint(holder).await?;
        let space = inner.space_ceiling(agent.space).await?;
        let standing = inner.standing(agent.ceiling, Consent::Absent, space, taint);
        let weight = tool.spec.weight().given(tool.spec.tier, surface.given(agent, tool));
        Ok(match rule(&standing, weight.tier, &weight.effects) {
            Ruling::Allow => ("allow", Reason::Permitted),
            Ruling::Refuse(reason) => ("refuse", reason),
            Ruling::NeedsApproval { because, .. } => ("approval", because),
        })
    }

    /// Who is asking and where, for whoever says what there is before a call is made.
    pub fn context_for(&self, admitted: &Admitted) -> CallContext {
        let inner = self.inner();
        let ceiling = admitted.principal.agent.ceiling;
        let standing = inner.standing(ceiling, Consent::Absent, None, Taint::CLEAN);
        inner.context(admitted, standing, BTreeSet::new())
    }

    /// What a client is told about a surface when it connects.
    pub fn describe(&self, admitted: &Admitted, surface: &ReadySurface) -> crate::SurfaceInfo {
        surface.surface().info(&self.context_for(admitted))
    }

    async fn keep(&self, record: narthex_core::RecordDraft) -> Result<(), CallError> {
        match self.inner().store.commit(UnitOfWork::records(vec![record])).await {
            Ok(_) => Ok(()),
            Err(error) => {
                tracing::error!(%error, "a record could not be made durable");
                Err(CallError::Unavailable)
            }
        }
    }
}

fn method_trace(admitted: &Admitted, surface: &ReadySurface, method: &Method) -> Trace {
    let mut trace = Trace::inside(new_call(), admitted, surface.surface().name(), &method.name);
    trace.request.clone_from(&method.request);
    trace.session.clone_from(&method.session);
    trace
}
