//! A house with a workshop in it: one tool of every tier and effect, a clock the test holds, and
//! a count of everything that was really done.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use narthex_core::{
    AgentId, Approval, ApprovalId, ApprovalStatus, Consent, Containment, Cost, Digest, EffectSite,
    Effects, EntityType, Holder, Latch, Mode, PolicyAction, Question, Reads, Reason, RequestId,
    Sends, Slug, Space, SpaceId, Subject, Taint, TakesIn, Target, Tier, Timestamp,
};
use narthex_gate::{
    Admitted, Annotations, Asks, CallContext, CallError, Gate, GateConfig, GateParts, Intent,
    Invocation, Local, Observe, Presented, ReadySurface, RecordedIntent, Source, Staged, Surface,
    SurfaceInfo, TokenVerifier, ToolError, ToolOutput, ToolSpec, Weight,
};
use narthex_policy::PolicyEngine;
use narthex_store::{
    ApprovalFilter, Effect, Effected, ManualClock, Store, StoreError, UnitOfWork, fresh_uuid,
};
use narthex_test::{HouseOptions, TestHouse};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

/// A tool: name, site, tier, reads, takes in, sends, containment.
type Tool = (&'static str, EffectSite, Tier, Reads, TakesIn, Sends, Containment);

/// One of each kind.
pub(super) const TOOLS: &[Tool] = {
    use Containment::{Contained, Direct};
    use EffectSite::{External, Local, Observe};
    use Reads::{Nothing, Private, Public};
    use Sends::{Inside, Outside};
    use TakesIn::{ByAnswer, Foreign, Owned};
    &[
        ("peek", Observe, Tier::T0, Nothing, Owned, Inside, Direct),
        ("diary", Observe, Tier::T0, Private, Owned, Inside, Direct),
        ("mail", Observe, Tier::T0, Nothing, Foreign, Inside, Direct),
        ("page", Observe, Tier::T0, Private, ByAnswer, Inside, Direct),
        ("mail_error", External, Tier::T0, Public, Foreign, Inside, Direct),
        ("ask_web", External, Tier::T0, Public, Foreign, Outside, Direct),
        ("note", External, Tier::T1, Nothing, Owned, Inside, Direct),
        ("suggest", External, Tier::T1, Nothing, Owned, Inside, Contained),
        ("send", External, Tier::T1, Nothing, Owned, Outside, Direct),
        ("hang", External, Tier::T1, Nothing, Owned, Inside, Direct),
        ("publish", External, Tier::T2, Nothing, Owned, Inside, Direct),
        ("erase", External, Tier::T3, Nothing, Owned, Outside, Direct),
        ("shift", External, Tier::T1, Nothing, Owned, Inside, Contained),
        ("buy", External, Tier::T1, Nothing, Owned, Inside, Direct),
        ("stage", Local, Tier::T1, Nothing, Owned, Inside, Contained),
    ]
};

/// The surface, and what was done through it.
#[derive(Debug, Default)]
pub(super) struct Bench {
    tools: Vec<ToolSpec>,
    upstream: Option<Slug>,
    pub(super) done: Mutex<Vec<(String, Value)>>,
    pub(super) begun: Notify,
}

impl Bench {
    pub(super) fn new(upstream: Option<Slug>) -> Self {
        Self { tools: TOOLS.iter().map(spec).collect(), upstream, ..Self::default() }
    }

    pub(super) fn count(&self, tool: &str) -> usize {
        self.done.lock().unwrap().iter().filter(|(name, _)| name == tool).count()
    }

    async fn act(&self, tool: &str, arguments: Value) -> Result<ToolOutput, ToolError> {
        self.done.lock().unwrap().push((tool.to_owned(), arguments.clone()));
        self.begun.notify_waiters();
        if tool == "buy" {
            // Long enough for all the others to begin.
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        match tool {
            "hang" => std::future::pending().await,
            "mail_error" => Err(ToolError::caller(Reason::NotFound, "the upstream's own words")),
            _ => {
                let foreign = arguments.get("foreign") == Some(&Value::Bool(true));
                let mut output = ToolOutput::new(json!({"did": tool}));
                output.taint = Taint { private: false, untrusted: foreign };
                if let Some(figure) = arguments.get("cost").and_then(Value::as_f64) {
                    let bad =
                        |error| ToolError::caller(Reason::InvalidArguments, format!("{error}"));
                    output.cost = Some(Cost::from_figure(figure).map_err(bad)?);
                }
                Ok(output)
            }
        }
    }
}

fn spec(&(name, site, tier, reads, takes_in, sends, containment): &Tool) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        title: name.to_owned(),
        description: name.to_owned(),
        input_schema: json!({"type": "object", "properties": {
            "target": {"type": ["string", "array", "number", "null"]},
            "text": {"type": "string"},
            "foreign": {"type": "boolean"},
            "n": {"type": "integer"},
            "cost": {"type": "number"},
        }, "additionalProperties": false}),
        output_schema: None,
        annotations: Annotations {
            read_only: tier == Tier::T0,
            destructive: tier == Tier::T3,
            idempotent: false,
            open_world: sends == Sends::Outside,
        },
        tier,
        effects: Effects { reads, takes_in, sends, containment, site },
        ignored_arguments: &[],
        cost: (name == "buy").then(|| Cost::from_millionths(1_000_000)),
        target: (tier == Tier::T3 || name == "shift").then(|| "/target".to_owned()),
    }
}

#[async_trait]
impl Surface for Bench {
    fn name(&self) -> &'static str {
        "workshop"
    }
    fn upstream(&self) -> Option<&Slug> {
        self.upstream.as_ref()
    }
    fn info(&self, _: &CallContext) -> SurfaceInfo {
        SurfaceInfo { title: "Workshop".to_owned(), instructions: String::new() }
    }
    fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }
    fn asks(&self, _: &ToolSpec, _: Option<&Value>, context: &CallContext) -> Asks {
        let target = context.scope.space().map_or(Target::House, Target::Space);
        Asks::new([Question { action: PolicyAction::Read, entity_type: EntityType::Page, target }])
    }
    /// `shift` weighs what its argument says, `stage` its spec.
    async fn weigh(
        &self,
        tool: &ToolSpec,
        arguments: &Value,
        _: &CallContext,
    ) -> Result<Weight, ToolError> {
        Ok(if tool.name == "shift" { weight(tool, arguments)? } else { tool.weight() })
    }
    async fn observe(&self, intent: &Intent<Observe>, it: Value) -> Result<ToolOutput, ToolError> {
        self.act(intent.tool(), it).await
    }
    /// What it finds weighs what the argument says: more than anybody decided on, if it says so.
    async fn stage(&self, intent: &Intent<Local>, it: Value) -> Result<Staged, ToolError> {
        let spec = self.tools.iter().find(|spec| spec.name == intent.tool());
        let spec = spec.ok_or_else(|| ToolError::Internal("no such tool".to_owned()))?;
        let space = Space {
            id: SpaceId::from_uuid(fresh_uuid()),
            slug: "staged".parse().map_err(|_| ToolError::Internal(String::new()))?,
            name: "Staged".to_owned().try_into().map_err(|_| ToolError::Internal(String::new()))?,
            ceiling: None,
            created: intent.context().now,
        };
        self.act(intent.tool(), it.clone()).await?;
        Ok(Staged {
            weight: Some(weight(spec, &it)?),
            ..Staged::new(Effect::AddSpace(space), Subject::default(), ToolOutput::new(json!({})))
        })
    }
    async fn perform(&self, intent: &RecordedIntent, it: Value) -> Result<ToolOutput, ToolError> {
        self.act(intent.tool(), it).await
    }
}

fn weight(tool: &ToolSpec, arguments: &Value) -> Result<Weight, ToolError> {
    let (tier, containment) = match arguments.get("n").and_then(Value::as_i64) {
        None => (tool.tier, tool.effects.containment),
        Some(0) => (Tier::T0, Containment::Contained),
        Some(1) => (Tier::T1, Containment::Direct),
        Some(2) => (Tier::T2, Containment::Direct),
        Some(3) => (Tier::T3, Containment::Direct),
        Some(_) => return Err(ToolError::caller(Reason::NotFound, "nothing of that weight")),
    };
    Ok(Weight { tier, effects: Effects { containment, ..tool.effects } })
}

/// How a call ended, in a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    Done,
    Waits(ApprovalId),
    Refused(Reason),
    Other(CallError),
}

impl Said {
    pub(super) fn waits(&self) -> ApprovalId {
        let Self::Waits(id) = self else { panic!("it does not wait: {self:?}") };
        *id
    }
}

/// The house, the workshop and the clock.
pub(super) struct Workshop {
    pub(super) house: TestHouse,
    pub(super) gate: Gate,
    pub(super) surface: Arc<ReadySurface>,
    pub(super) bench: Arc<Bench>,
    pub(super) clock: Arc<ManualClock>,
    options: GateConfig,
    policies: Vec<(String, String)>,
    path: PathBuf,
    folder: Option<TempDir>,
    tokens: HashMap<String, String>,
}

impl Workshop {
    /// With an agent `worker` in space `a`, ceiling T3, in this posture.
    pub(super) async fn open(mode: Mode) -> anyhow::Result<Self> {
        Self::with(|config| config.mode = mode).await
    }

    /// With other bounds.
    pub(super) async fn with(change: impl FnOnce(&mut GateConfig)) -> anyhow::Result<Self> {
        let mut options = GateConfig {
            requests_per_minute: 100_000_000,
            failures_per_minute: 100_000_000,
            calls_in_flight: 100_000,
            budget: narthex_core::Budget::default(),
            ..GateConfig::default()
        };
        change(&mut options);
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("house");
        let house = Box::pin(open_house(&path, &options, &clock)).await?;
        for space in ["a", "b"] {
            let (slug, name) = (space.to_owned(), None);
            house.owner(narthex_server::owner::Request::SpaceAdd { slug, name }).await?;
        }
        let bench = Arc::new(Bench::new(None));
        let surface = Arc::new(ReadySurface::new(Arc::clone(&bench) as _)?);
        let gate = gate(&house, &options, &[], &clock).await?;
        let mut workshop = Self {
            house,
            gate,
            surface,
            bench,
            clock,
            options,
            policies: Vec::new(),
            path,
            folder: Some(folder),
            tokens: HashMap::new(),
        };
        workshop.agent("worker", "a", Tier::T3).await?;
        Ok(workshop)
    }

    pub(super) async fn agent(
        &mut self,
        slug: &str,
        space: &str,
        ceiling: Tier,
    ) -> anyhow::Result<()> {
        self.house.agent(slug, space, &["read", "suggest"], ceiling).await?;
        self.new_token(slug).await
    }

    pub(super) async fn new_token(&mut self, slug: &str) -> anyhow::Result<()> {
        let token = self.house.new_token(slug, None, None).await?.token;
        self.tokens.insert(slug.to_owned(), token);
        Ok(())
    }

    /// Lets the agent in anew: a new connection each time.
    pub(super) async fn admitted(&self, agent: &str) -> Admitted {
        let bearer = self.tokens.get(agent).map(String::as_str);
        let presented = Presented { bearer, source: Source::Local };
        let identified = self.gate.identify(presented).await.expect("identified");
        self.gate.admit(identified).await.expect("admitted")
    }

    /// Its newest token.
    pub(super) fn token(&self, agent: &str) -> String {
        self.tokens.get(agent).cloned().unwrap_or_default()
    }

    /// Makes a call as `worker`.
    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Said {
        self.call_as("worker", tool, arguments, Consent::Absent).await
    }

    pub(super) async fn call_as(
        &self,
        agent: &str,
        tool: &str,
        arguments: Value,
        consent: Consent,
    ) -> Said {
        let admitted = self.admitted(agent).await;
        said(call(&self.gate, &self.surface, &admitted, tool, arguments, consent).await)
    }

    /// The owner's answer to a request, as the desk gives it.
    pub(super) async fn decide(
        &self,
        id: ApprovalId,
        approve: bool,
    ) -> Result<Effected, StoreError> {
        let approval = self.store().approval(id).await?.expect("a request");
        let effect = Effect::DecideApproval {
            id,
            digest: approval.digest,
            approve,
            note: (!approve).then(|| "not today".to_owned()),
            at: narthex_store::Clock::moment(self.clock.as_ref()),
        };
        let unit = UnitOfWork { effect: Some(effect), ..UnitOfWork::default() };
        Ok(self.store().commit(unit).await?.effected)
    }

    pub(super) async fn approve(&self, id: ApprovalId) {
        let done = self.decide(id, true).await;
        assert!(matches!(done, Ok(Effected::Approval(ApprovalStatus::Approved))), "{done:?}");
    }

    pub(super) async fn waiting(&self) -> Vec<Approval> {
        let filter = ApprovalFilter {
            statuses: vec![ApprovalStatus::Waiting],
            limit: 10_000,
            ..ApprovalFilter::default()
        };
        self.store().approvals(&filter).await.expect("a list")
    }

    pub(super) async fn latch(&self, agent: &str) -> Latch {
        self.store().latch(self.holder(agent).await).await.expect("a latch")
    }

    pub(super) async fn holder(&self, agent: &str) -> Holder {
        let found = self.store().agent_by_slug(&agent.parse().unwrap()).await.unwrap().unwrap();
        Holder { agent: found.id, space: found.space }
    }

    pub(super) async fn agent_id(&self, agent: &str) -> AgentId {
        self.holder(agent).await.agent
    }

    pub(super) fn store(&self) -> Arc<dyn Store> {
        self.house.store()
    }

    pub(super) fn advance(&self, by: Duration) {
        self.clock.advance_millis(i64::try_from(by.as_millis()).unwrap());
    }

    /// Another policy in force, with the same meaning or another.
    pub(super) fn policy(&mut self, text: &str) -> anyhow::Result<()> {
        self.policies = vec![("owner.cedar".to_owned(), text.to_owned())];
        self.gate.set_policy(PolicyEngine::with_files(&self.policies)?);
        Ok(())
    }

    /// Ends the house and opens it again, with other bounds if wanted.
    pub(super) async fn restart(
        self,
        change: impl FnOnce(&mut GateConfig),
    ) -> anyhow::Result<Self> {
        let Self {
            house, bench, surface, clock, mut options, policies, path, folder, tokens, ..
        } = self;
        Box::pin(house.stop()).await?;
        change(&mut options);
        let house = Box::pin(open_house(&path, &options, &clock)).await?;
        let gate = Box::pin(gate(&house, &options, &policies, &clock)).await?;
        Ok(Self { house, gate, surface, bench, clock, options, policies, path, folder, tokens })
    }
}

/// Makes a call; for tasks that cannot borrow the workshop.
pub(super) async fn call(
    gate: &Gate,
    surface: &Arc<ReadySurface>,
    admitted: &Admitted,
    tool: &str,
    arguments: Value,
    consent: Consent,
) -> Result<ToolOutput, CallError> {
    let request = Some(RequestId::new("1"));
    let invocation = Invocation { consent, request, ..Invocation::new(tool, arguments) };
    gate.call(admitted, surface, invocation).await
}

pub(super) fn said(ended: Result<ToolOutput, CallError>) -> Said {
    match ended {
        Ok(_) => Said::Done,
        Err(CallError::Waiting(waiting)) => Said::Waits(waiting.approval),
        Err(CallError::Refused { reason, .. }) => Said::Refused(reason),
        Err(other) => Said::Other(other),
    }
}

/// A digest that no call has.
pub(super) fn no_digest() -> Digest {
    Digest::of(b"no call at all")
}

async fn open_house(
    path: &std::path::Path,
    gate: &GateConfig,
    clock: &Arc<ManualClock>,
) -> anyhow::Result<TestHouse> {
    let options = HouseOptions {
        mode: gate.mode,
        gate: gate.clone(),
        clock: Arc::clone(clock) as _,
        ..HouseOptions::default()
    };
    TestHouse::open(path, options).await
}

async fn gate(
    house: &TestHouse,
    config: &GateConfig,
    policies: &[(String, String)],
    clock: &Arc<ManualClock>,
) -> anyhow::Result<Gate> {
    let store = house.house().gate().store().clone();
    let key = house.dir().keys()?.token;
    let verifier = TokenVerifier::new(Arc::clone(&store), Arc::clone(clock) as _, key, 100);
    Ok(Gate::open(GateParts {
        store,
        verifier: Arc::new(verifier),
        policy: PolicyEngine::with_files(policies)?,
        clock: Arc::clone(clock) as _,
        rows: house.row_key()?,
        config: config.clone(),
    })
    .await)
}
