//! A surface with as little in it as possible.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use narthex_core::{
    Containment, EffectSite, Effects, EntityType, PolicyAction, Question, Reads, Reason, Scope,
    Sends, Subject, SwitchScope, TakesIn, Target, Tier,
};
use narthex_gate::{
    Annotations, Asks, CallContext, Intent, Local, Observe, RecordedIntent, Staged, Surface,
    SurfaceInfo, ToolError, ToolOutput, ToolSpec,
};
use narthex_store::Effect;
use serde_json::{Value, json};

#[derive(Debug)]
pub(crate) struct Trivial {
    pub(crate) ran: AtomicUsize,
    pub(crate) finished: AtomicUsize,
    tools: Vec<ToolSpec>,
}

impl Default for Trivial {
    fn default() -> Self {
        let text = json!({"text": {"type": "string"}});
        let millis = json!({"millis": {"type": "integer"}});
        let bytes = json!({"bytes": {"type": "integer"}});
        let tools = vec![
            spec("echo", Tier::T0, EffectSite::Observe, &text),
            spec("repeat", Tier::T0, EffectSite::Observe, &json!({"n": {}})),
            spec("slow", Tier::T0, EffectSite::Observe, &millis),
            spec("big", Tier::T0, EffectSite::Observe, &bytes),
            spec("nothing", Tier::T0, EffectSite::Observe, &json!({})),
            spec("missing", Tier::T0, EffectSite::Observe, &json!({})),
            spec("boom", Tier::T0, EffectSite::Observe, &json!({})),
            spec("suggest", Tier::T1, EffectSite::Local, &text),
            spec("publish", Tier::T2, EffectSite::Local, &text),
        ];
        Self { ran: AtomicUsize::new(0), finished: AtomicUsize::new(0), tools }
    }
}

fn spec(name: &str, tier: Tier, site: EffectSite, properties: &Value) -> ToolSpec {
    let observes = site == EffectSite::Observe;
    ToolSpec {
        name: name.to_owned(),
        title: format!("The {name} tool"),
        description: format!("Does {name}."),
        input_schema: json!({
            "type": "object", "properties": properties, "additionalProperties": false,
        }),
        output_schema: (name == "echo")
            .then(|| json!({"type": "object", "properties": {"text": {"type": "string"}}})),
        annotations: Annotations {
            read_only: observes,
            destructive: false,
            idempotent: observes,
            open_world: false,
        },
        tier,
        effects: Effects {
            reads: Reads::Nothing,
            takes_in: TakesIn::Owned,
            sends: Sends::Inside,
            containment: Containment::Contained,
            site,
        },
        ignored_arguments: &["space"],
        cost: None,
        target: None,
    }
}

#[async_trait]
impl Surface for Trivial {
    fn name(&self) -> &'static str {
        "trivial"
    }

    fn info(&self, _: &CallContext) -> SurfaceInfo {
        SurfaceInfo { title: "A trivial surface".into(), instructions: "Call echo.".into() }
    }

    fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    fn asks(&self, tool: &ToolSpec, _: Option<&Value>, context: &CallContext) -> Asks {
        let action = if tool.tier == Tier::T0 { PolicyAction::Read } else { PolicyAction::Create };
        let Scope::Space(space) = context.scope else { return Asks::new([]) };
        let target = Target::Space(space);
        Asks::new([Question { action, entity_type: EntityType::Page, target }])
    }

    async fn observe(
        &self,
        intent: &Intent<Observe>,
        arguments: Value,
    ) -> Result<ToolOutput, ToolError> {
        self.ran.fetch_add(1, Ordering::SeqCst);
        let number = |name: &str| arguments.get(name).and_then(Value::as_u64).unwrap_or(0);
        let structured = match intent.tool() {
            "echo" | "repeat" => arguments,
            "slow" => {
                tokio::time::sleep(Duration::from_millis(number("millis"))).await;
                json!({"slept": number("millis")})
            }
            "big" => json!({"text": "x".repeat(usize::try_from(number("bytes")).expect("a size"))}),
            "nothing" => Value::Null,
            "missing" => return Err(ToolError::caller(Reason::NotFound, "not found")),
            _ => panic!("on purpose"),
        };
        self.finished.fetch_add(1, Ordering::SeqCst);
        Ok(ToolOutput::new(structured))
    }

    async fn stage(&self, intent: &Intent<Local>, _: Value) -> Result<Staged, ToolError> {
        self.ran.fetch_add(1, Ordering::SeqCst);
        if intent.tool() == "publish" {
            // The store of this house does nothing with effects, so this changes nothing.
            let effect = Effect::LiftSwitch { scope: SwitchScope::Everything };
            let answer = ToolOutput::new(json!({"published": true}));
            return Ok(Staged::new(effect, Subject::default(), answer));
        }
        Err(ToolError::caller(Reason::Conflict, "it changed"))
    }

    async fn perform(&self, _: &RecordedIntent, _: Value) -> Result<ToolOutput, ToolError> {
        unreachable!("no tool of this surface reaches outside")
    }
}
