//! A call that cannot be undone, from the agent's asking to its one run, decided by command.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use narthex_core::{
    Consent, Containment, EffectSite, Effects, EntityType, Mode, PolicyAction, Question, Reads,
    Reason, Sends, TakesIn, Target, Tier,
};
use narthex_gate::{
    Annotations, Asks, CallContext, CallError, Intent, Invocation, Local, Observe, Presented,
    ReadySurface, RecordedIntent, Source, Staged, Surface, SurfaceInfo, ToolError, ToolOutput,
    ToolSpec,
};
use narthex_test::{HouseOptions, Persona, TestHouse};
use serde_json::{Value, json};

use crate::support::{answer, narthex};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_the_owner_approved_runs_once_and_what_was_denied_does_not() -> anyhow::Result<()> {
    let options = HouseOptions { mode: Mode::Open, ..HouseOptions::default() };
    let house = TestHouse::with(options).await?;
    let dir = house.dir().root();
    answer(&["agent", "set", "agent-a", "--ceiling", "T3"], dir);
    let post = Arc::new(Post { tools: vec![spec()], sent: AtomicUsize::new(0) });
    let surface = Arc::new(ReadySurface::new(Arc::clone(&post) as Arc<dyn Surface>)?);
    let call = async |to: &str| call(&house, &surface, json!({"to": to})).await;

    let Err(CallError::Waiting(waiting)) = call("bob").await else { panic!("it waits") };
    let id = waiting.approval.to_string();
    let Err(CallError::Waiting(again)) = call("bob").await else { panic!("it still waits") };
    assert_eq!(again.approval, waiting.approval, "the same call is not put there twice");
    let shown = answer(&["approvals", "show", &id], dir);
    assert_eq!((&shown["target"], &shown["tier"]), (&json!("bob"), &json!("T3")));
    assert_eq!(answer(&["agent", "show", "agent-a"], dir)["waiting_approvals"], 1);
    let nonce = shown["nonce"].as_str().expect("a nonce");
    assert!(!waiting.message().contains(nonce), "the agent is not told");
    assert_eq!(narthex(&["approvals", "approve", &id, "--nonce", "x"], dir).status.code(), Some(7));
    assert!(matches!(call("bob").await, Err(CallError::Waiting(_))), "a wrong nonce is no yes");
    answer(&["approvals", "approve", &id, "--nonce", nonce], dir);
    assert!(matches!(call("eve").await, Err(CallError::Waiting(_))), "another target");
    assert!(call("bob").await.is_ok(), "approved");
    assert_eq!(refused(&call("bob").await), Some(Reason::ApprovalUsed));
    assert_eq!(post.sent.load(Ordering::SeqCst), 1);
    let used = answer(&["approvals", "show", &id], dir);
    assert_eq!(used["status"], "used");
    assert!(used["used_by"].is_string() && used["nonce"].is_null(), "{used}");

    let eve = answer(&["approvals", "list"], dir)[0]["id"].as_str().expect("an id").to_owned();
    answer(&["approvals", "deny", &eve, "--reason", "not her"], dir);
    let Err(CallError::Refused { reason, message }) = call("eve").await else { panic!("denied") };
    assert_eq!(reason, Reason::ApprovalDenied);
    assert!(message.contains("not her"), "{message}");

    // Approved, and then everything is stopped: it does not run, and the approval is not used up.
    let Err(CallError::Waiting(third)) = call("ann").await else { panic!("it waits") };
    let id = third.approval.to_string();
    let shown = answer(&["approvals", "show", &id], dir);
    let nonce = shown["nonce"].as_str().expect("a nonce");
    answer(&["approvals", "approve", &id, "--nonce", nonce], dir);
    answer(&["stop"], dir);
    assert_eq!(refused(&call("ann").await), Some(Reason::Stopped));
    answer(&["resume"], dir);
    assert!(call("ann").await.is_ok(), "still approved");
    assert_eq!(post.sent.load(Ordering::SeqCst), 2);
    house.verify().await?;
    Ok(())
}

fn refused(ended: &Result<ToolOutput, CallError>) -> Option<Reason> {
    match ended {
        Err(CallError::Refused { reason, .. }) => Some(*reason),
        _ => None,
    }
}

async fn call(
    house: &TestHouse,
    surface: &Arc<ReadySurface>,
    arguments: Value,
) -> Result<ToolOutput, CallError> {
    let gate = house.house().gate();
    let token = house.token(Persona::AgentA);
    let presented = Presented { bearer: token.as_deref(), source: Source::Local };
    let stopped = |_| CallError::Refused { reason: Reason::Stopped, message: String::new() };
    let identified = gate.identify(presented).await.map_err(stopped)?;
    let admitted = gate.admit(identified).await.map_err(stopped)?;
    let (tool, consent) = ("post".to_owned(), Consent::Absent);
    let invocation = Invocation { consent, ..Invocation::new(tool, arguments) };
    gate.call(&admitted, surface, invocation).await
}

/// Sends something out of the house, and counts.
#[derive(Debug)]
struct Post {
    tools: Vec<ToolSpec>,
    sent: AtomicUsize,
}

fn spec() -> ToolSpec {
    ToolSpec {
        name: "post".to_owned(),
        title: "Post".to_owned(),
        description: "Sends something that cannot be taken back.".to_owned(),
        input_schema: json!({"type": "object", "properties": {"to": {"type": "string"}}}),
        output_schema: None,
        annotations: Annotations {
            read_only: false,
            destructive: true,
            idempotent: false,
            open_world: true,
        },
        tier: Tier::T3,
        effects: Effects {
            reads: Reads::Nothing,
            takes_in: TakesIn::Owned,
            sends: Sends::Outside,
            containment: Containment::Direct,
            site: EffectSite::External,
        },
        ignored_arguments: &[],
        cost: None,
        target: Some("/to".to_owned()),
    }
}

#[async_trait]
impl Surface for Post {
    fn name(&self) -> &'static str {
        "post"
    }

    fn info(&self, _context: &CallContext) -> SurfaceInfo {
        SurfaceInfo { title: "Post".to_owned(), instructions: String::new() }
    }

    fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    fn asks(&self, _tool: &ToolSpec, _arguments: Option<&Value>, context: &CallContext) -> Asks {
        let target = context.scope.space().map_or(Target::House, Target::Space);
        Asks::new([Question { action: PolicyAction::Read, entity_type: EntityType::Page, target }])
    }

    async fn observe(&self, _: &Intent<Observe>, _: Value) -> Result<ToolOutput, ToolError> {
        Err(ToolError::Internal("nothing is observed here".to_owned()))
    }

    async fn stage(&self, _: &Intent<Local>, _: Value) -> Result<Staged, ToolError> {
        Err(ToolError::Internal("nothing is staged here".to_owned()))
    }

    async fn perform(&self, _: &RecordedIntent, _: Value) -> Result<ToolOutput, ToolError> {
        self.sent.fetch_add(1, Ordering::SeqCst);
        Ok(ToolOutput::new(json!({"sent": true})))
    }
}
