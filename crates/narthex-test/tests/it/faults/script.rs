//! What is done while a fault is due, what was acknowledged, and what must be left afterwards.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::{Context, ensure};
use async_trait::async_trait;
use narthex_core::{
    Actor, ApprovalStatus, CallId, Containment, EffectSite, Effects, EngagedBy, EntityType,
    PageKey, Phase, PolicyAction, Proposal, Question, Reads, Sends, SwitchScope, TakesIn, Target,
    Tier,
};
use narthex_gate::{
    Admitted, Annotations, Asks, CallContext, CallError, Gate, Intent, Invocation, Local, Observe,
    ReadySurface, RecordedIntent, Staged, Stdio, Surface, SurfaceInfo, ToolError, ToolOutput,
    ToolSpec,
};
use narthex_graph::engine::LoadMode;
use narthex_server::Following;
use narthex_server::owner::{
    Bytes, GraphChange, GraphReply, GraphRequest, LoadRequest, Reply, Request,
};
use narthex_store::{Clock, Effect, Effected, ProposalFilter, SystemClock, UnitOfWork};
use narthex_test::{HouseOptions, TestHouse, ledger_of};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::merges::net::Net;

/// What a run was told, and what it did outside.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Proposals that were acknowledged.
    proposals: BTreeSet<String>,
    /// Proposals whose approval was acknowledged.
    applied: BTreeSet<String>,
    /// The last word about the switch.
    stopped: Option<bool>,
    /// Calls that acted outside.
    acted: Vec<CallId>,
    /// Whether reading untrusted text was answered.
    took_in: bool,
    /// Whether the load of a file was answered.
    loaded: bool,
    /// It went through to the end without an error.
    pub(super) complete: bool,
}

/// A house with a page and an agent, made before any fault.
pub(super) async fn prepare(path: &Path) -> anyhow::Result<()> {
    let house = TestHouse::open(path, HouseOptions::default()).await?;
    house.owner(Request::SpaceAdd { slug: "a".to_owned(), name: None }).await?;
    house.write("a", "home", "# Home").await?;
    house.agent("worker", "a", &["read", "suggest"], Tier::T3).await?;
    Net::found(&house, "a", "worker").await?.ask().await?;
    house.stop().await?;
    Ok(())
}

pub(super) struct Script {
    house: TestHouse,
    gate: Gate,
    outside: Arc<Outside>,
    surface: Arc<ReadySurface>,
    admitted: Admitted,
    told: Told,
}

impl Script {
    /// Runs until something fails; what fails is no fault of the test.
    pub(super) async fn run(path: &Path) -> Told {
        let Ok(house) = TestHouse::open(path, HouseOptions::default()).await else {
            return Told::default();
        };
        let gate = house.house().gate().clone();
        let outside = Arc::new(Outside::default());
        let Ok(surface) = ReadySurface::new(Arc::clone(&outside) as _) else {
            return Told::default();
        };
        let agent = house.store().agent_by_slug(&"worker".parse().expect("a slug")).await;
        let Ok(Some(agent)) = agent else { return Told::default() };
        let Ok(admitted) = gate.admit_stdio(Stdio::Agent(agent.id)).await else {
            return Told::default();
        };
        let told = Told::default();
        // Whoever follows the ledger writes elsewhere, and beside: nobody waits for it.
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let anchor = Following { anchor: Some(path.join(ANCHOR)), ..Following::default() };
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        anchor.start(&house.store(), &clock, &tasks, &stop);
        let mut script = Self { house, gate, outside, surface: Arc::new(surface), admitted, told };
        let whole = script.steps().await;
        stop.cancel();
        tasks.close();
        tasks.wait().await;
        script.told.acted = std::mem::take(&mut *script.outside.acted.lock().unwrap());
        let closed = script.house.stop().await;
        script.told.complete = whole.is_ok() && closed.is_ok();
        script.told
    }

    /// Each step goes on after a failure: a house that cannot write must go on refusing.
    async fn steps(&mut self) -> anyhow::Result<()> {
        let results = [
            self.look().await,
            self.propose("one").await,
            self.act("note").await,
            self.approve_first().await,
            self.approved_call().await,
            self.merge().await,
            self.load().await,
            self.stop_and_lift().await,
            self.propose("two").await,
            self.act("note").await,
        ];
        results.into_iter().collect()
    }

    async fn look(&mut self) -> anyhow::Result<()> {
        let home = json!({"kind": "page", "id": "home"});
        let workspace = Arc::clone(self.house.house().workspace());
        self.call(&workspace, "read", home).await?;
        self.call(&Arc::clone(&self.surface), "mail", json!({})).await?;
        self.told.took_in = true;
        Ok(())
    }

    async fn propose(&mut self, slug: &str) -> anyhow::Result<()> {
        let change = json!({"action": "create", "entity_type": "page", "reason": "r",
            "payload": {"title": slug, "slug": slug, "body": "b"}});
        let workspace = Arc::clone(self.house.house().workspace());
        let answer = self.call(&workspace, "propose_change", change).await?;
        let id = answer.structured.get("pending_change_id").and_then(Value::as_str);
        self.told.proposals.insert(id.context("an id")?.to_owned());
        Ok(())
    }

    async fn act(&mut self, tool: &str) -> anyhow::Result<()> {
        // Tainted by now: it waits, and is approved, unless something fails.
        let surface = Arc::clone(&self.surface);
        match self.call(&surface, tool, json!({})).await {
            Ok(_) => Ok(()),
            Err(error) if error.to_string().contains("waits") => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn approve_first(&mut self) -> anyhow::Result<()> {
        let Some(id) = self.told.proposals.first().cloned() else { return Ok(()) };
        self.house.owner(Request::InboxApprove { proposal: id.clone() }).await?;
        self.told.applied.insert(id);
        Ok(())
    }

    /// The merge that waits since before.
    async fn merge(&mut self) -> anyhow::Result<()> {
        let id = merge_in(&self.house).await?.id.to_string();
        self.house.owner(Request::InboxApprove { proposal: id.clone() }).await?;
        self.told.applied.insert(id);
        Ok(())
    }

    /// A file that fills several pages of the database.
    async fn load(&mut self) -> anyhow::Result<()> {
        ensure!(load(&self.house).await?, "there was something to load");
        self.told.loaded = true;
        Ok(())
    }

    async fn approved_call(&mut self) -> anyhow::Result<()> {
        let surface = Arc::clone(&self.surface);
        let waits = self.raw(&surface, "publish", json!({})).await;
        let Err(CallError::Waiting(waiting)) = waits else { anyhow::bail!("it does not wait") };
        let store = self.house.store();
        let approval = store.approval(waiting.approval).await?.context("a request")?;
        let effect = Effect::DecideApproval {
            id: approval.id,
            digest: approval.digest,
            approve: true,
            note: None,
            at: SystemClock.moment(),
        };
        let unit = UnitOfWork { effect: Some(effect), ..UnitOfWork::default() };
        let decided = store.commit(unit).await?.effected;
        ensure!(decided == Effected::Approval(ApprovalStatus::Approved));
        self.call(&surface, "publish", json!({})).await.map(drop)
    }

    async fn stop_and_lift(&mut self) -> anyhow::Result<()> {
        let all = SwitchScope::Everything;
        self.gate.engage(all.clone(), EngagedBy::Owner, Actor::Owner, "").await?;
        self.told.stopped = Some(true);
        // From here on nobody can say, until it is answered: a flush that fails may have been one
        // that reached the disk.
        let lifted = self.gate.lift(&all).await;
        self.told.stopped = None;
        lifted?;
        Ok(())
    }

    async fn call(
        &self,
        surface: &Arc<ReadySurface>,
        tool: &str,
        arguments: Value,
    ) -> anyhow::Result<ToolOutput> {
        match self.raw(surface, tool, arguments).await {
            Ok(output) => Ok(output),
            Err(CallError::Waiting(_)) => anyhow::bail!("it waits"),
            Err(error) => anyhow::bail!("{tool}: {error:?}"),
        }
    }

    async fn raw(
        &self,
        surface: &Arc<ReadySurface>,
        tool: &str,
        arguments: Value,
    ) -> Result<ToolOutput, CallError> {
        let invocation = Invocation::new(tool, arguments);
        self.gate.call(&self.admitted, surface, invocation).await
    }
}

impl Told {
    /// What must be true of the house afterwards, whatever failed.
    pub(super) async fn check(&self, path: &Path) -> anyhow::Result<()> {
        let house = TestHouse::open(path, HouseOptions::default())
            .await
            .context("the house does not open again")?;
        house.verify().await.context("the ledger")?;
        anchor_holds(&house).await.context("the anchor")?;
        let intents: BTreeSet<CallId> = house
            .records()
            .await?
            .into_iter()
            .filter(|record| record.draft.phase == Phase::Intent)
            .map(|record| record.draft.call)
            .collect();
        for call in &self.acted {
            ensure!(intents.contains(call), "call {call} acted outside without a durable intent");
        }
        let store = house.store();
        for id in &self.proposals {
            let kept = store.proposal(id.parse()?).await?;
            ensure!(kept.is_some(), "proposal {id} was acknowledged and is gone");
        }
        for id in &self.applied {
            let kept = store.proposal(id.parse()?).await?.context("gone")?;
            let applied = kept.status == narthex_core::ProposalStatus::Applied;
            ensure!(applied, "proposal {id} was applied and is {}", kept.status);
        }
        self.applied_once(&house).await?;
        let (merge, net) = (merge_in(&house).await?, Net::of(&house, "worker").await?);
        let applied = merge.status == narthex_core::ProposalStatus::Applied;
        let from = merge.merge.context("a merge")?.from_commit;
        ensure!(net.has_merged(from).await? == applied, "merged, or marked so, but not both");
        let people = net.people("main").await?;
        let loaded = people.split(' ').filter(|one| one.starts_with("loaded-")).count();
        ensure!(loaded == 0 || loaded == LOADED, "{loaded} rows of a file of {LOADED}");
        ensure!(loaded == LOADED || !self.loaded, "a file was loaded and is gone");
        // Again, it is all made or nothing is: nobody holds the branch.
        ensure!(load(&house).await? == (loaded == 0), "half of a file was there");
        let engaged = !store.switches().await?.engaged().is_empty();
        if let Some(stopped) = self.stopped {
            ensure!(engaged || !stopped, "the switch was engaged and is not");
        }
        if self.took_in {
            let agent = store.agent_by_slug(&"worker".parse()?).await?.context("the agent")?;
            let holder = narthex_core::Holder { agent: agent.id, space: agent.space };
            ensure!(store.taint(holder).await?.untrusted, "what it took in is forgotten");
        }
        house.stop().await?;
        Ok(())
    }
}

impl Told {
    /// E22: what was approved is applied once or not at all, whatever was told about it.
    async fn applied_once(&self, house: &TestHouse) -> anyhow::Result<()> {
        let store = house.store();
        let space = store.space_by_slug(&"a".parse()?).await?.context("the space")?;
        for id in &self.proposals {
            let proposal = store.proposal(id.parse()?).await?.context("gone")?;
            let applied = proposal.status == narthex_core::ProposalStatus::Applied;
            let slug = proposal.draft.context("a draft")?.slug;
            let page = store.page(space.id, &PageKey::Slug(slug.clone())).await?;
            let revisions = page.map_or(0, |view| view.page.revision);
            ensure!(revisions == u32::from(applied), "{slug}: {revisions} revisions");
        }
        Ok(())
    }
}

/// An anchor is whole and of this ledger, or not there.
async fn anchor_holds(house: &TestHouse) -> anyhow::Result<()> {
    let path = house.dir().root().join(ANCHOR);
    if !path.exists() {
        return Ok(());
    }
    let mut ledger = ledger_of(house.dir())?;
    let key = ledger.keys.seal.clone().context("a key")?;
    ledger.anchors = vec![narthex_verify::Anchor::read(&path, &key)?];
    ledger.verify(|_| {}).await?;
    Ok(())
}

/// The proposed merge of the house.
async fn merge_in(house: &TestHouse) -> anyhow::Result<Proposal> {
    let filter = ProposalFilter { limit: 10, ..ProposalFilter::default() };
    let all = house.store().proposals(&filter).await?;
    all.into_iter().find(|proposal| proposal.merge.is_some()).context("a merge")
}

/// Loads a file, part by part; whether that changed something.
async fn load(house: &TestHouse) -> anyhow::Result<bool> {
    let mut lines = String::new();
    for no in 0..LOADED {
        let row = json!({"slug": format!("loaded-{no}"), "name": "n".repeat(600)});
        writeln!(lines, "{}", json!({"type": "Person", "data": row}))?;
    }
    let change = GraphChange { graph: "harbour".to_owned(), ..GraphChange::default() };
    let begin = LoadRequest::Begin { change, from: None, mode: LoadMode::Merge };
    house.owner(Request::Graph(GraphRequest::Load(begin))).await?;
    for part in lines.as_bytes().chunks(3_000) {
        let part = LoadRequest::Part { bytes: Bytes(part.to_vec()) };
        house.owner(Request::Graph(GraphRequest::Load(part))).await?;
    }
    match house.owner(Request::Graph(GraphRequest::Load(LoadRequest::End))).await? {
        Reply::Graph(GraphReply::Changed(done)) => Ok(done.committed),
        other => anyhow::bail!("{other:?}"),
    }
}

/// Where the anchor is kept.
const ANCHOR: &str = "anchor";
/// Rows of the file.
const LOADED: usize = 12;

/// What lies outside the house.
#[derive(Debug)]
struct Outside {
    tools: Vec<ToolSpec>,
    acted: Mutex<Vec<CallId>>,
}

impl Default for Outside {
    fn default() -> Self {
        let tools = [
            ("mail", Tier::T0, EffectSite::Observe, TakesIn::Foreign),
            ("note", Tier::T1, EffectSite::External, TakesIn::Owned),
            ("publish", Tier::T2, EffectSite::External, TakesIn::Owned),
        ];
        Self { tools: tools.map(spec).to_vec(), acted: Mutex::default() }
    }
}

fn spec((name, tier, site, takes_in): (&str, Tier, EffectSite, TakesIn)) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        title: name.to_owned(),
        description: name.to_owned(),
        input_schema: json!({"type": "object"}),
        output_schema: None,
        annotations: Annotations {
            read_only: tier == Tier::T0,
            destructive: false,
            idempotent: false,
            open_world: false,
        },
        tier,
        effects: Effects {
            reads: Reads::Nothing,
            takes_in,
            sends: Sends::Inside,
            containment: Containment::Direct,
            site,
        },
        ignored_arguments: &[],
        cost: None,
        target: None,
    }
}

#[async_trait]
impl Surface for Outside {
    fn name(&self) -> &'static str {
        "outside"
    }
    fn info(&self, _: &CallContext) -> SurfaceInfo {
        SurfaceInfo { title: String::new(), instructions: String::new() }
    }
    fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }
    fn asks(&self, _: &ToolSpec, _: Option<&Value>, context: &CallContext) -> Asks {
        let target = context.scope.space().map_or(Target::House, Target::Space);
        Asks::new([Question { action: PolicyAction::Read, entity_type: EntityType::Page, target }])
    }
    async fn observe(&self, _: &Intent<Observe>, _: Value) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new(json!({"text": "someone else's"})))
    }
    async fn stage(&self, _: &Intent<Local>, _: Value) -> Result<Staged, ToolError> {
        Err(ToolError::not_found())
    }
    async fn perform(&self, intent: &RecordedIntent, _: Value) -> Result<ToolOutput, ToolError> {
        self.acted.lock().unwrap().push(intent.call());
        Ok(ToolOutput::new(json!({"done": true})))
    }
}
