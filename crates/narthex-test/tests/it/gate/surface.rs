//! A surface of the test's own: tools that do what no tool of the house does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use async_trait::async_trait;
use narthex_core::{
    Containment, EffectSite, Effects, EntityType, Phase, PolicyAction, Question, Reads, Sends,
    TakesIn, Target, Tier,
};
use narthex_gate::{
    Annotations, Asks, CallContext, Intent, Local, Observe, RecordedIntent, Staged, Surface,
    SurfaceInfo, ToolError, ToolOutput, ToolSpec,
};
use narthex_store::Store;
use serde_json::{Value, json};

/// The tools: name, site, tier.
pub(super) const TOOLS: &[(&str, EffectSite, Tier)] = &[
    ("look", EffectSite::Observe, Tier::T0),
    ("look-panic", EffectSite::Observe, Tier::T0),
    ("look-hang", EffectSite::Observe, Tier::T0),
    ("change-panic", EffectSite::Local, Tier::T1),
    ("change-hang", EffectSite::Local, Tier::T1),
    ("send", EffectSite::External, Tier::T1),
    ("send-fail", EffectSite::External, Tier::T1),
    ("send-refused", EffectSite::External, Tier::T1),
    ("send-lost", EffectSite::External, Tier::T1),
    ("send-panic", EffectSite::External, Tier::T1),
    ("send-hang", EffectSite::External, Tier::T1),
    ("publish", EffectSite::External, Tier::T2),
    ("erase", EffectSite::External, Tier::T3),
];

/// A surface that misbehaves on command and counts what it did.
#[derive(Debug)]
pub(super) struct Rig {
    store: Arc<dyn Store>,
    tools: Vec<ToolSpec>,
    /// How often anything was looked up.
    pub(super) observed: AtomicUsize,
    /// How often anything was acted on outside.
    pub(super) performed: AtomicUsize,
    /// The last intent that was durable when its tool ran.
    pub(super) durable: AtomicU64,
}

impl Rig {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        let tools = TOOLS.iter().map(|(name, site, tier)| spec(name, *site, *tier)).collect();
        let (observed, performed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { store, tools, observed, performed, durable: AtomicU64::new(0) }
    }

    async fn behave(&self, tool: &str) -> Result<ToolOutput, ToolError> {
        match tool.split_once('-').map(|(_, how)| how) {
            Some("panic") => panic!("on purpose"),
            Some("hang") => std::future::pending().await,
            Some("fail") => Err(ToolError::Internal("a secret of the tool".to_owned())),
            Some("lost") => Err(ToolError::Unavailable("a secret of the store".to_owned())),
            Some("refused") => Err(ToolError::Upstream {
                code: -32602,
                message: "no such thing there".to_owned(),
                data: None,
                taint: narthex_core::Taint::CLEAN,
            }),
            _ => Ok(ToolOutput::new(json!({"done": true}))),
        }
    }
}

fn spec(name: &str, site: EffectSite, tier: Tier) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        title: name.to_owned(),
        description: name.to_owned(),
        input_schema: json!({
            "type": "object", "additionalProperties": false, "properties": {"what": {"type": "string"}},
        }),
        output_schema: None,
        annotations: Annotations {
            read_only: tier == Tier::T0,
            destructive: tier == Tier::T3,
            idempotent: false,
            open_world: site == EffectSite::External,
        },
        tier,
        effects: Effects {
            reads: Reads::Nothing,
            takes_in: TakesIn::Owned,
            sends: if site == EffectSite::External { Sends::Outside } else { Sends::Inside },
            containment: Containment::Direct,
            site,
        },
        ignored_arguments: &[],
        cost: None,
        target: (tier == Tier::T3).then(|| "/what".to_owned()),
    }
}

#[async_trait]
impl Surface for Rig {
    fn name(&self) -> &'static str {
        "rig"
    }

    fn info(&self, _context: &CallContext) -> SurfaceInfo {
        SurfaceInfo { title: "Rig".to_owned(), instructions: String::new() }
    }

    fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    fn asks(&self, _tool: &ToolSpec, _arguments: Option<&Value>, context: &CallContext) -> Asks {
        let target = context.scope.space().map_or(Target::House, Target::Space);
        Asks::new([Question { action: PolicyAction::Read, entity_type: EntityType::Page, target }])
    }

    async fn observe(&self, intent: &Intent<Observe>, _: Value) -> Result<ToolOutput, ToolError> {
        self.observed.fetch_add(1, Ordering::SeqCst);
        self.behave(intent.tool()).await
    }

    async fn stage(&self, intent: &Intent<Local>, _: Value) -> Result<Staged, ToolError> {
        self.behave(intent.tool()).await?;
        Err(ToolError::Internal("nothing here is ever staged".to_owned()))
    }

    async fn perform(&self, intent: &RecordedIntent, _: Value) -> Result<ToolOutput, ToolError> {
        self.performed.fetch_add(1, Ordering::SeqCst);
        // Whoever looks into the ledger from inside the act finds the intent there already.
        let seq = intent.receipt().seq();
        let found = self.store.records(seq, 1).await?.first().and_then(|record| record.read().ok());
        if found.is_some_and(|r| r.draft.call == intent.call() && r.draft.phase == Phase::Intent) {
            self.durable.store(seq, Ordering::SeqCst);
        }
        self.behave(intent.tool()).await
    }
}
