//! Random calls of two agents, sessions, tokens, revisions, approvals, restarts and passing time
//! against a small model: nothing is shed, and nothing uncontained happens unapproved once tainted. Every call goes
//! through the edge, in the session and the revision it is made in. More cases with
//! `PROPTEST_CASES`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use narthex_core::{Actor, EngagedBy};
use narthex_core::{Budget, Mode, Reason, SwitchScope, Taint, Tier};
use narthex_gate::SessionConfig;
use narthex_mcp::EdgeConfig;
use narthex_store::{Effect, UnitOfWork};
use narthex_test::{Answer, Era, SideDoor};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Value, json};

use super::workshop::Workshop;

/// What may happen.
#[derive(Debug, Clone)]
enum Step {
    Call {
        who: usize,
        tool: usize,
        n: u8,
        consent: Option<Tier>,
    },
    /// The owner answers the oldest request that waits.
    Decide {
        approve: bool,
    },
    NewToken(usize),
    /// The agent's calls that follow are made in it, where their revision has sessions.
    NewSession {
        who: usize,
        consent: Option<Tier>,
    },
    /// The calls that follow are made in this revision.
    Revision(usize),
    Restart,
    /// Minutes pass.
    Pass(u8),
    Mode(usize),
    Ceiling(usize, usize),
    Stop(bool),
    ClearLatch(usize),
}

/// Two of the same space: nothing of the one's is the other's.
const AGENTS: [&str; 2] = ["worker", "neighbour"];

const TOOLS: [&str; 9] =
    ["peek", "diary", "mail", "ask_web", "note", "suggest", "send", "publish", "erase"];
/// What each may make of a tier in the window.
const LIMITS: [Option<u64>; 4] = [None, Some(6), Some(4), Some(2)];

/// The model: everything that decides, in one place.
#[derive(Debug)]
struct Model {
    mode: Mode,
    agents: [Agent; 2],
    stopped: bool,
    /// Minutes since the start.
    now: u64,
    /// Calls approved and not used: until when.
    approved: HashMap<String, u64>,
    used: HashMap<String, u64>,
    denied: HashMap<String, u64>,
    waiting: Vec<(String, u64)>,
    executed: usize,
}

#[derive(Debug)]
struct Agent {
    ceiling: Tier,
    taint: Taint,
    /// When calls were made, by tier.
    made: [Vec<u64>; 4],
}

impl Agent {
    fn new() -> Self {
        Self { ceiling: Tier::T3, taint: Taint::CLEAN, made: Default::default() }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Expected {
    Done,
    Waits,
    Refused(Reason),
}

fn tier(tool: &str) -> Tier {
    match tool {
        "peek" | "diary" | "mail" | "ask_web" => Tier::T0,
        "note" | "suggest" | "send" => Tier::T1,
        "publish" => Tier::T2,
        _ => Tier::T3,
    }
}

impl Model {
    /// The rule, and what it does to the model.
    fn call(&mut self, who: usize, tool: &str, n: u8, consent: Option<Tier>) -> Expected {
        let tier = tier(tool);
        let agent = &mut self.agents[who];
        if self.stopped {
            return Expected::Refused(Reason::Stopped);
        }
        if tier > self.mode.ceiling() {
            return Expected::Refused(Reason::OverMode);
        }
        if tier > agent.ceiling.min(consent.unwrap_or(Tier::T3)) {
            return Expected::Refused(Reason::OverCeiling);
        }
        let sends = matches!(tool, "ask_web" | "send" | "erase");
        let asks = tier >= Tier::T2
            || (tier == Tier::T1 && tool != "suggest" && agent.taint.untrusted)
            || (sends && agent.taint.is_trifecta());
        let key = format!("{who} {tool} {n} {}", self.mode);
        // A step of the window counts until all of it has passed: one minute of sixty.
        let made = &mut agent.made[tier as usize];
        let lately = made.iter().filter(|at| **at + 60 >= self.now).count() as u64;
        if LIMITS[tier as usize].is_some_and(|limit| lately >= limit) {
            return Expected::Refused(Reason::OverBudget);
        }
        if asks && self.approved.get(&key).is_none_or(|until| self.now > *until) {
            if self.used.get(&key).is_some_and(|until| self.now <= *until) {
                return Expected::Refused(Reason::ApprovalUsed);
            }
            if self.denied.get(&key).is_some_and(|until| self.now <= *until) {
                return Expected::Refused(Reason::ApprovalDenied);
            }
            if !self.waiting.iter().any(|(known, until)| *known == key && self.now <= *until) {
                self.waiting.retain(|(known, _)| *known != key);
                self.waiting.push((key, self.now + 60));
            }
            return Expected::Waits;
        }
        made.push(self.now);
        if asks && let Some(until) = self.approved.remove(&key) {
            self.used.insert(key, until);
        }
        match tool {
            "diary" => agent.taint.private = true,
            "mail" | "ask_web" => agent.taint.untrusted = true,
            _ => {}
        }
        self.executed += 1;
        Expected::Done
    }
}

/// The agents' side of the wire: a door, and how it is spoken to.
struct Wire {
    door: SideDoor,
    revision: &'static str,
    /// The session each agent is in, with what it consented to when it opened it.
    sessions: [Option<(String, Option<Tier>)>; 2],
    /// Ids that were given out.
    seen: HashSet<String>,
}

/// Every revision that is served; only the first has no sessions.
const REVISIONS: [&str; 4] = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];

impl Wire {
    async fn open(shop: &Workshop) -> anyhow::Result<Self> {
        let (gate, surface) = (shop.gate.clone(), Arc::clone(&shop.surface));
        let door = SideDoor::open(gate, surface, EdgeConfig::default()).await?;
        let (revision, sessions) = (REVISIONS[0], Default::default());
        Ok(Self { door, revision, sessions, seen: HashSet::new() })
    }

    async fn shake_hands(
        &mut self,
        shop: &Workshop,
        who: usize,
        consent: Option<Tier>,
    ) -> anyhow::Result<()> {
        let mut hello = json!({"protocolVersion": self.legacy(), "capabilities": {}});
        if let Some(tier) = consent {
            hello["consentCeiling"] = json!(tier);
        }
        let client = self.door.client(&shop.token(AGENTS[who])).speaking(Era::Legacy);
        let answer = client.request("initialize", hello).await?;
        let id = answer.header("mcp-session-id").context("no session")?.to_owned();
        anyhow::ensure!(self.seen.insert(id.clone()), "a session id twice");
        self.sessions[who] = Some((id, consent));
        Ok(())
    }

    /// The revision of a handshake.
    fn legacy(&self) -> &'static str {
        if self.is_modern() { REVISIONS[1] } else { self.revision }
    }

    fn is_modern(&self) -> bool {
        self.revision == REVISIONS[0]
    }

    /// Makes a call; says how it ended, and what the session it was made in allowed.
    async fn call(
        &mut self,
        shop: &Workshop,
        who: usize,
        tool: &str,
        arguments: Value,
        consent: Option<Tier>,
    ) -> anyhow::Result<(Expected, Option<Tier>)> {
        let mut params = json!({"name": tool, "arguments": arguments});
        if let Some(tier) = consent {
            params["_meta"] = json!({"narthex/consentCeiling": tier});
        }
        let client = self.door.client(&shop.token(AGENTS[who]));
        if self.is_modern() {
            return Ok((ended(&client.request("tools/call", params).await?)?, None));
        }
        if self.sessions[who].is_none() {
            self.shake_hands(shop, who, None).await?;
        }
        let (id, lowered) = self.sessions[who].clone().context("a session")?;
        let client = client.speaking(Era::Legacy);
        let message = client.message("tools/call", params);
        let headers = [("mcp-session-id", id.as_str()), ("mcp-protocol-version", self.revision)];
        Ok((ended(&client.send(&headers, &message).await?)?, lowered))
    }
}

fn ended(answer: &Answer) -> anyhow::Result<Expected> {
    if answer.is_ok() {
        return Ok(Expected::Done);
    }
    if answer.result()["_meta"]["narthex/error"]["approval"].is_object() {
        return Ok(Expected::Waits);
    }
    let code = answer.tool_code().with_context(|| format!("{answer:?}"))?;
    Ok(Expected::Refused(serde_json::from_value(json!(code))?))
}

async fn run(steps: &[Step]) -> anyhow::Result<()> {
    let budget = Budget { calls: LIMITS, ..Budget::default() };
    let mut shop = Workshop::with(|config| {
        config.mode = Mode::Open;
        config.budget = budget;
        config.approvals_waiting = 1_000;
        // None ends while it is played.
        let ever = Duration::from_hours(24 * 365);
        config.sessions = Some(SessionConfig { idle: ever, absolute: ever, per_agent: 1_000 });
    })
    .await?;
    shop.agent(AGENTS[1], "a", Tier::T3).await?;
    let mut model = Model {
        mode: Mode::Open,
        agents: [Agent::new(), Agent::new()],
        stopped: false,
        now: 0,
        approved: HashMap::new(),
        used: HashMap::new(),
        denied: HashMap::new(),
        waiting: Vec::new(),
        executed: 0,
    };
    let mut wire = Wire::open(&shop).await?;
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Call { who, tool, n, consent } => {
                let tool = TOOLS[*tool];
                let arguments = json!({"n": n, "target": "one"});
                let (got, lowered) = wire.call(&shop, *who, tool, arguments, *consent).await?;
                let least = consent.iter().copied().chain(lowered).min();
                let expected = model.call(*who, tool, *n, least);
                anyhow::ensure!(got == expected, "step {at} {step:?}: {got:?}, not {expected:?}");
            }
            Step::Decide { approve } => {
                // The oldest that still waits, in both.
                model.waiting.retain(|(_, until)| model.now <= *until);
                let mut waiting = shop.waiting().await;
                waiting.retain(|it| it.until >= narthex_store::Clock::now(shop.clock.as_ref()));
                waiting.sort_by_key(|it| (it.requested.up, it.id));
                anyhow::ensure!(waiting.len() == model.waiting.len(), "step {at}: {waiting:?}");
                if let Some(oldest) = waiting.first() {
                    let (key, _) = model.waiting.remove(0);
                    shop.decide(oldest.id, *approve).await?;
                    model.used.remove(&key);
                    if *approve {
                        model.denied.remove(&key);
                        model.approved.insert(key, model.now + 10);
                    } else {
                        model.approved.remove(&key);
                        model.denied.insert(key, model.now + 60);
                    }
                }
            }
            Step::NewToken(who) => shop.new_token(AGENTS[*who]).await?,
            Step::NewSession { who, consent } => wire.shake_hands(&shop, *who, *consent).await?,
            Step::Revision(n) => wire.revision = REVISIONS[*n],
            Step::Restart => {
                let Wire { door, revision, seen, .. } = wire;
                // What is remembered of sessions goes with the process; the agent goes on as it was.
                door.close().await;
                shop = shop.restart(|_| {}).await?;
                wire = Wire { revision, seen, ..Wire::open(&shop).await? };
            }
            Step::Pass(minutes) => {
                shop.advance(Duration::from_mins(u64::from(*minutes)));
                model.now += u64::from(*minutes);
            }
            Step::Mode(n) => {
                let mode = Mode::ALL[*n];
                shop.gate.set_mode(mode).await?;
                model.mode = mode;
            }
            Step::Ceiling(who, n) => {
                let (agent, ceiling) = (shop.agent_id(AGENTS[*who]).await, Tier::ALL[*n]);
                let effect = Effect::SetAgentCeiling { agent, ceiling };
                shop.store()
                    .commit(UnitOfWork { effect: Some(effect), ..UnitOfWork::default() })
                    .await?;
                model.agents[*who].ceiling = ceiling;
            }
            Step::Stop(stop) => {
                let everything = SwitchScope::Everything;
                if *stop {
                    shop.gate.engage(everything, EngagedBy::Owner, Actor::Owner, "").await?;
                } else {
                    let _ = shop.gate.lift(&everything).await;
                }
                model.stopped = *stop;
            }
            Step::ClearLatch(who) => {
                let holder = shop.holder(AGENTS[*who]).await;
                let taint = Taint { private: true, untrusted: true };
                let effect = Effect::ClearLatch { holder, taint, ran_out: None };
                shop.store()
                    .commit(UnitOfWork { effect: Some(effect), ..UnitOfWork::default() })
                    .await?;
                model.agents[*who].taint = Taint::CLEAN;
            }
        }
        for (agent, name) in model.agents.iter().zip(AGENTS) {
            let latch = shop.latch(name).await.taint();
            anyhow::ensure!(latch == agent.taint, "step {at} {step:?}: the latch of {name}");
        }
        let executed = shop.bench.done.lock().unwrap().len();
        anyhow::ensure!(executed == model.executed, "step {at} {step:?}: {executed} executed");
    }
    wire.door.close().await;
    shop.house.verify().await?;
    Ok(())
}

fn step() -> impl Strategy<Value = Step> {
    let consent = || {
        prop_oneof![
            6 => Just(None),
            1 => (0..4_usize).prop_map(|n| Some(Tier::ALL[n])),
        ]
    };
    // Mostly the first, so that it gets somewhere.
    let who = || prop_oneof![3 => Just(0_usize), 1 => Just(1)];
    prop_oneof![
        30 => (who(), 0..TOOLS.len(), 0..3_u8, consent())
            .prop_map(|(who, tool, n, consent)| Step::Call { who, tool, n, consent }),
        8 => prop::bool::weighted(0.75).prop_map(|approve| Step::Decide { approve }),
        2 => who().prop_map(Step::NewToken),
        3 => (who(), consent()).prop_map(|(who, consent)| Step::NewSession { who, consent }),
        3 => (0..REVISIONS.len()).prop_map(Step::Revision),
        1 => Just(Step::Restart),
        3 => (1..40_u8).prop_map(Step::Pass),
        2 => (0..3_usize).prop_map(Step::Mode),
        2 => (who(), 0..4_usize).prop_map(|(who, n)| Step::Ceiling(who, n)),
        1 => prop::bool::weighted(0.4).prop_map(Step::Stop),
        1 => who().prop_map(Step::ClearLatch),
    ]
}

#[test]
fn nothing_is_shed_whatever_happens() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    // The default of 256 is more than a test should take; whoever sets PROPTEST_CASES means it.
    let given = Config::default();
    let cases = if given.cases == 256 { 24 } else { given.cases };
    let config = Config { cases, max_shrink_iters: 200, failure_persistence: None, ..given };
    let mut runner = TestRunner::new(config);
    let steps = prop::collection::vec(step(), 20..90);
    runner
        .run(&steps, |steps| {
            runtime.block_on(run(&steps)).map_err(|error| TestCaseError::fail(format!("{error:#}")))
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}
