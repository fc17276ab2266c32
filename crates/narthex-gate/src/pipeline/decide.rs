//! Stages three and four: which tool, and may this call of it be made?

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use narthex_core::{
    Binding, Budget, Ceiling, Consent, Digest, Holder, Place, Reaches, Reason, RequestId, Ruling,
    SessionId, SpaceId, Standing, Taint, Tier, ToolName, canonical_json, rule,
};
use narthex_store::{StoreError, UnitOfWork};
use serde_json::Value;
use tokio::sync::mpsc;

use super::Admitted;
use super::approve::{Approved, Asked};
use super::aside::Begun;
use super::record::Trace;
use super::saying::ClientLog;
use crate::answer::over_budget;
use crate::gate::{Inner, new_call};
use crate::input::{AskableClient, Repeats};
use crate::ready::ReadyTool;
use crate::upstream::UpstreamProgress;
use crate::{Asks, CallContext, CallError, ReadySurface, ToolError, ToolSpec, Weight};

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
    /// It comes through another method than the one that calls tools.
    pub passage: bool,
    /// Where an upstream's word on how far it is goes, for a client that wants it.
    pub progress: Option<mpsc::Sender<UpstreamProgress>>,
    /// Where what an upstream says to the log goes, for a client that wants it.
    pub logs: Option<ClientLog>,
    /// The client, as far as an upstream may ask it something.
    pub client: Option<AskableClient>,
    /// The call that was put aside and is repeated with this one, and what is answered.
    pub repeats: Option<Repeats>,
}

impl Invocation {
    /// Of a client that says no more than which tool, and with what.
    pub fn new(tool: impl Into<String>, arguments: Value) -> Self {
        Self {
            tool: tool.into(),
            arguments,
            consent: Consent::Absent,
            request: None,
            session: None,
            passage: false,
            progress: None,
            logs: None,
            client: None,
            repeats: None,
        }
    }
}

/// A call every check has passed for. Only `decide` makes one.
#[derive(Debug)]
pub(super) struct Permit {
    pub(super) trace: Trace,
    pub(super) spec: Arc<ToolSpec>,
    /// What it is decided on.
    pub(super) weight: Weight,
    /// What it weighs by itself, before the owner's word on the tool.
    pub(super) weighed: Weight,
    /// The tool, and the tier the owner gave it.
    pub(super) tier: Option<(ToolName, Option<Tier>)>,
    pub(super) arguments: Value,
    pub(super) context: CallContext,
    pub(super) holder: Holder,
    pub(super) place: Place,
    /// The one space it is in, if there is one.
    pub(super) space: Option<SpaceId>,
    pub(super) budget: Budget,
    pub(super) approved: Option<Approved>,
    /// Where it stood when it was decided on.
    pub(super) standing: Standing,
    /// The approval that covers it, its own or that of the call it goes on with.
    pub(super) covered: Option<Digest>,
    pub(super) progress: Option<mpsc::Sender<UpstreamProgress>>,
    pub(super) logs: Option<ClientLog>,
    pub(super) client: Option<AskableClient>,
    pub(super) consent: Consent,
}

/// Why a call is not permitted.
enum Denied {
    /// With how it is recorded.
    Tell { error: CallError, record: Box<narthex_core::RecordDraft> },
    /// It is in the ledger already.
    Told(CallError),
    /// The surface could not say what it weighs.
    Failed(ToolError, Box<Trace>),
}

impl Inner {
    /// Decides; what is refused is recorded before the refusal is told.
    pub(super) async fn decide(
        &self,
        admitted: &Admitted,
        surface: &ReadySurface,
        invocation: Invocation,
        begun: Option<&Begun>,
    ) -> Result<Permit, CallError> {
        let mut trace =
            Trace::inside(new_call(), admitted, surface.surface().name(), &invocation.tool);
        trace.arguments = Some(self.digest_of(&invocation.arguments));
        if self.config.keep_values {
            trace.values = self.values(&invocation.arguments);
        }
        trace.request.clone_from(&invocation.request);
        trace.session.clone_from(&invocation.session);
        match self.weigh(admitted, surface, invocation, trace, begun).await {
            Ok(permit) => Ok(permit),
            Err(denied) => match denied {
                Denied::Told(error) => Err(error),
                Denied::Failed(error, trace) => {
                    let told = self.fail(&trace, admitted.holder(), error).await;
                    Err(told.err().unwrap_or(CallError::Internal))
                }
                Denied::Tell { error, record } => Err(self.refuse(error, *record).await),
            },
        }
    }

    async fn weigh(
        &self,
        admitted: &Admitted,
        surface: &ReadySurface,
        mut invocation: Invocation,
        mut trace: Trace,
        begun: Option<&Begun>,
    ) -> Result<Permit, Denied> {
        let (holder, mut place) = (admitted.holder(), self.place(admitted, surface));
        self.is_stopped(&place).map_err(|reason| said(&trace, reason))?;
        let taint = self.taint_of(holder).await.map_err(|error| unavailable(&trace, &error))?;
        // What a program was told already counts, durable or not.
        let taint = admitted.run.map_or(taint, |run| taint.and(run.taint));
        trace.taint = taint;
        let ceiling = self.space_ceiling(admitted.scope.space()).await;
        let ceiling = ceiling.map_err(|error| unavailable(&trace, &error))?;
        let agent = &admitted.principal.agent;
        let mut standing = self.standing(agent.ceiling, invocation.consent, ceiling, taint);
        let mut context = self.context(admitted, standing, place.reaches.past());
        let unknown = |trace: &Trace, name: &str, reason| {
            let error = CallError::UnknownTool { name: name.to_owned() };
            Denied::Tell { error, record: Box::new(trace.refused(reason, 1)) }
        };
        let found = surface.tool(&invocation.tool);
        let Some(tool) = found.filter(|tool| tool.passage == invocation.passage) else {
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
        let failed = |trace: &Trace, error| Denied::Failed(error, Box::new(trace.clone()));
        let asks = surface.surface().asks_now(&tool.spec, &invocation.arguments, &context).await;
        let asks = asks.map_err(|error| failed(&trace, error))?;
        self.policy_permits_all(admitted, &asks).map_err(|reason| said(&trace, reason))?;
        let space = self.space_of(surface, tool, &invocation.arguments, &context).await;
        let space = space.map_err(|error| failed(&trace, error))?;
        if admitted.scope.space().is_none() {
            // Now that it is known where the call is, what holds there holds for it.
            if let Some(space) = space {
                place.reaches = Reaches::One(space);
                self.is_stopped(&place).map_err(|reason| said(&trace, reason))?;
            }
            let ceiling = self.ceiling_of(space, tool).await;
            let ceiling = ceiling.map_err(|error| unavailable(&trace, &error))?;
            standing = self.standing(agent.ceiling, invocation.consent, ceiling, taint);
            context.ceiling = standing.ceiling.tier();
        }
        let weighed = surface.surface().weigh(&tool.spec, &invocation.arguments, &context).await;
        let weighed = weighed.map_err(|error| failed(&trace, error))?;
        let weighed = weighed.at_least(tool.spec.weight());
        let given = surface.given(agent, tool);
        let weight = weighed.given(tool.spec.tier, given);
        if !weight.is_sound() {
            let error = ToolError::Internal(format!("{} weighs {weight:?}", tool.spec.name));
            return Err(failed(&trace, error));
        }
        trace.tier = Some(weight.tier);
        let budget = agent.budget.unwrap_or(self.config.budget);
        let mut covered = None;
        let approved = match rule(&standing, weight.tier, &weight.effects) {
            Ruling::Allow => None,
            Ruling::Refuse(reason) => {
                let way_out = surface.surface().way_out(&tool.spec, reason);
                let way_out = way_out.map(|way| format!("; {way}")).unwrap_or_default();
                return Err(told(&trace, reason, format!("{}{way_out}", reason.message())));
            }
            Ruling::NeedsApproval { because, nonce } => {
                let target = tool.one_target(&invocation.arguments);
                if nonce && target.is_none() {
                    return Err(said(&trace, Reason::OneTarget));
                }
                let room = self.has_room(holder, &budget, weight.tier).await;
                room.map_err(|error| unavailable(&trace, &error))?
                    .map_err(|over| told(&trace, Reason::OverBudget, over_budget(over)))?;
                let binding = Binding {
                    holder,
                    surface: surface.surface().name().to_owned(),
                    tool: tool.spec.name.clone(),
                    definition: tool.definition,
                    arguments: invocation.arguments.clone(),
                    tier: weight.tier,
                    mode: standing.mode,
                    policy: self.policy.load().version(),
                    run: admitted.run.as_ref().map(|run| run.id),
                };
                if let Some(begun) = begun {
                    // What was approved of it holds for exactly this call. Nothing else is asked of
                    // the owner here, who would not see what is answered.
                    covered = begun.approved.filter(|approved| *approved == binding.digest());
                    if covered.is_none() {
                        return Err(told(&trace, because, not_to_go_on(because)));
                    }
                    None
                } else {
                    let asked = Asked { binding, because, taint, target, nonce };
                    let approved = self.approved(&trace, asked).await.map_err(Denied::Told)?;
                    covered = Some(approved.digest);
                    Some(approved)
                }
            }
        };
        trace.approval = approved.as_ref().map(Approved::mark);
        Ok(Permit {
            trace,
            spec: Arc::clone(&tool.spec),
            weight,
            weighed,
            tier: surface.name_of(tool).map(|name| (name, given)),
            arguments: invocation.arguments,
            budget,
            context,
            holder,
            place,
            space,
            approved,
            standing,
            covered,
            progress: invocation.progress,
            logs: invocation.logs,
            client: invocation.client,
            consent: invocation.consent,
        })
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
        let ceiling = admitted.principal.agent.ceiling;
        let standing = self.standing(ceiling, consent, space, Taint::CLEAN);
        let context = self.context(admitted, standing, BTreeSet::new());
        let given = surface.given(&admitted.principal.agent, tool);
        let weight = tool.spec.weight().given(tool.spec.tier, given);
        let ruling = rule(&standing, weight.tier, &weight.effects);
        !matches!(ruling, Ruling::Refuse(_))
            && self.policy_permits_some(admitted, surface, tool, &context).is_ok()
    }

    pub(super) fn policy_permits_some(
        &self,
        admitted: &Admitted,
        surface: &ReadySurface,
        tool: &ReadyTool,
        context: &CallContext,
    ) -> Result<(), Reason> {
        let asks = surface.surface().asks(&tool.spec, None, context);
        if asks.is_open() {
            return Ok(());
        }
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

    fn policy_permits_all(&self, admitted: &Admitted, asks: &Asks) -> Result<(), Reason> {
        if asks.is_open() {
            return Ok(());
        }
        // No question means nothing permitted.
        if asks.questions().is_empty() {
            return Err(Reason::PolicyDenied);
        }
        let policy = self.policy.load();
        asks.questions().iter().try_for_each(|question| self.permits(&policy, admitted, question))
    }

    /// Where the agent stands.
    pub(super) fn standing(
        &self,
        agent: Tier,
        consent: Consent,
        space: Option<Tier>,
        taint: Taint,
    ) -> Standing {
        let mode = **self.mode.load();
        Standing { mode, ceiling: Ceiling::of(mode, space, agent, consent), taint }
    }

    pub(super) fn context(
        &self,
        admitted: &Admitted,
        standing: Standing,
        past: BTreeSet<SpaceId>,
    ) -> CallContext {
        CallContext {
            principal: admitted.principal.clone(),
            scope: admitted.scope,
            past,
            taint: standing.taint,
            ceiling: standing.ceiling.tier(),
            policy: self.policy.load_full(),
            transport: admitted.transport,
            now: self.clock.now(),
        }
    }

    /// The keyed hash of each argument, so that equal values are found again.
    fn values(&self, arguments: &Value) -> BTreeMap<String, narthex_core::Digest> {
        let named = arguments.as_object().into_iter().flatten().take(MAX_VALUES);
        named
            .map(|(name, value)| {
                let name = name.chars().take(MAX_NAME_CHARS).collect();
                (name, self.rows.value(canonical_json(value).as_bytes()))
            })
            .collect()
    }

    pub(super) async fn refuse(
        &self,
        error: CallError,
        record: narthex_core::RecordDraft,
    ) -> CallError {
        match self.store.commit(UnitOfWork::records(vec![record])).await {
            Ok(_) => error,
            Err(error) => {
                tracing::error!(%error, "a refusal could not be recorded");
                CallError::Unavailable
            }
        }
    }
}

fn said(trace: &Trace, reason: Reason) -> Denied {
    told(trace, reason, reason.message().to_owned())
}

fn told(trace: &Trace, reason: Reason, message: String) -> Denied {
    let error = CallError::Refused { reason, message };
    Denied::Tell { error, record: Box::new(trace.refused(reason, 1)) }
}

fn not_to_go_on(because: Reason) -> String {
    format!(
        "{}; so the answer to what the server asked was not sent: make the call anew, without requestState",
        because.message()
    )
}

fn unavailable(trace: &Trace, error: &StoreError) -> Denied {
    tracing::error!(%error, "the store cannot be read");
    let record = Box::new(trace.refused(Reason::Unavailable, 1));
    Denied::Tell { error: CallError::Unavailable, record }
}

const MAX_VALUES: usize = 32;
const MAX_NAME_CHARS: usize = 64;
