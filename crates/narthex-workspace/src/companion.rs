//! The registry for the owner's own assistant, on stdio only.

use std::sync::Arc;

use async_trait::async_trait;
use narthex_core::{EntityType, Question, SpaceId, Target};
use narthex_gate::{
    Asks, CallContext, Intent, Local, Observe, RecordedIntent, Staged, Surface, SurfaceInfo,
    ToolError, ToolOutput, ToolSpec,
};
use narthex_store::Store;
use serde_json::{Value, json};

use crate::WorkspaceConfig;
use crate::external::actions;
use crate::reach::Reach;
use crate::tools::{Declared, arguments, context, propose_change, read, search, spec};

/// Every tool the companion has: the same four, listed here on their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Search,
    Read,
    Context,
    ProposeChange,
}

impl Tool {
    const ALL: [Self; 4] = [Self::Search, Self::Read, Self::Context, Self::ProposeChange];

    const fn declared(self) -> &'static Declared {
        match self {
            Self::Search => &search::DECLARED,
            Self::Read => &read::DECLARED,
            Self::Context => &context::DECLARED,
            Self::ProposeChange => &propose_change::DECLARED,
        }
    }

    fn spec(self) -> ToolSpec {
        let declared = self.declared();
        let plain = match self {
            Self::Search => spec::<search::Input, search::Output>(declared, &[]),
            Self::Read => spec::<read::Input, read::Output>(declared, &[]),
            Self::Context => spec::<context::Input, context::Output>(declared, &[]),
            Self::ProposeChange => {
                spec::<propose_change::Input, propose_change::Output>(declared, STAMPED)
            }
        };
        with_space(plain)
    }

    fn named(name: &str) -> Result<Self, ToolError> {
        Self::ALL
            .into_iter()
            .find(|tool| tool.declared().name == name)
            .ok_or_else(|| ToolError::Internal(format!("no tool {name}")))
    }
}

/// The workspace as the owner's companion sees it.
#[derive(Debug)]
pub struct CompanionSurface {
    store: Arc<dyn Store>,
    config: WorkspaceConfig,
    tools: Vec<ToolSpec>,
}

impl CompanionSurface {
    /// Over this store.
    pub fn new(store: Arc<dyn Store>, config: WorkspaceConfig) -> Self {
        Self { store, config, tools: Tool::ALL.into_iter().map(Tool::spec).collect() }
    }

    fn reach<'a>(&'a self, context: &'a CallContext) -> Reach<'a> {
        Reach::of(&self.store, context)
    }
}

#[async_trait]
impl Surface for CompanionSurface {
    fn name(&self) -> &'static str {
        "companion"
    }

    fn info(&self, _context: &CallContext) -> SurfaceInfo {
        SurfaceInfo { title: "Narthex companion".to_owned(), instructions: INSTRUCTIONS.to_owned() }
    }

    fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    fn asks(&self, tool: &ToolSpec, arguments: Option<&Value>, context: &CallContext) -> Asks {
        let Ok(tool) = Tool::named(&tool.name) else { return Asks::new([]) };
        let everywhere = context.scope.space().map_or(Target::House, Target::Space);
        let kind = arguments.and_then(|arguments| arguments.get("kind")).and_then(Value::as_str);
        let (entity_type, target) = match (tool, kind) {
            (Tool::Read, Some("conversation")) => (EntityType::Conversation, Target::House),
            _ => (EntityType::Page, everywhere),
        };
        Asks::new(actions(tool.declared(), arguments).map(|action| Question {
            action,
            entity_type,
            target: target.clone(),
        }))
    }

    async fn space_of(
        &self,
        tool: &ToolSpec,
        arguments: &Value,
        context: &CallContext,
    ) -> Result<Option<SpaceId>, ToolError> {
        let said = |name: &str| arguments.get(name).and_then(Value::as_str);
        let (reach, named) = (self.reach(context), said("space"));
        match (Tool::named(&tool.name)?, said("id")) {
            // A conversation is in none.
            (Tool::Read, _) if said("kind") == Some("conversation") => Ok(None),
            (Tool::ProposeChange, Some(id)) => {
                let found = reach.page(id, named).await?.ok_or_else(ToolError::not_found)?;
                Ok(Some(found.0.id))
            }
            (Tool::ProposeChange, None) => Ok(Some(reach.one_space(named).await?.id)),
            (Tool::Search | Tool::Read | Tool::Context, _) if named.is_none() => {
                Ok(context.scope.space())
            }
            (Tool::Search | Tool::Read | Tool::Context, _) => {
                Ok(Some(reach.one_space(named).await?.id))
            }
        }
    }

    async fn observe(
        &self,
        intent: &Intent<Observe>,
        mut value: Value,
    ) -> Result<ToolOutput, ToolError> {
        let context = intent.context();
        let reach = self.reach(context);
        let space = take_space(&mut value);
        let (named, many) = (space.as_deref(), context.scope.space().is_none());
        match Tool::named(intent.tool())? {
            Tool::Search => search::run(&reach, arguments(value)?, named, many).await,
            Tool::Read => {
                let input: read::Input = arguments(value)?;
                match input.kind {
                    read::Kind::Page => read::page(&reach, &input.id, named, many).await,
                    read::Kind::Conversation => read::conversation(&reach, &input.id).await,
                }
            }
            Tool::Context => {
                let context::Input {} = arguments(value)?;
                context::run(&reach, &self.config, context, named).await
            }
            Tool::ProposeChange => Err(ToolError::Internal("propose_change is staged".to_owned())),
        }
    }

    async fn stage(&self, intent: &Intent<Local>, mut value: Value) -> Result<Staged, ToolError> {
        let reach = self.reach(intent.context());
        let space = take_space(&mut value);
        let input = arguments(value)?;
        propose_change::stage(&reach, &self.config, intent, input, space.as_deref()).await
    }

    async fn perform(
        &self,
        _intent: &RecordedIntent,
        _arguments: Value,
    ) -> Result<ToolOutput, ToolError> {
        Err(ToolError::Internal("this surface acts nowhere outside the house".to_owned()))
    }
}

/// The companion may say which space it means; it still only finds those in its scope.
fn with_space(mut spec: ToolSpec) -> ToolSpec {
    let properties = spec
        .input_schema
        .as_object_mut()
        .map(|schema| schema.entry("properties").or_insert_with(|| json!({})));
    if let Some(properties) = properties.and_then(Value::as_object_mut) {
        let said = "The slug of the space meant; all of them if absent (a change needs one).";
        properties.insert(
            "space".to_owned(),
            json!({"type": "string", "maxLength": 63, "description": said}),
        );
    }
    spec
}

fn take_space(value: &mut Value) -> Option<String> {
    let taken = value.as_object_mut()?.shift_remove("space")?;
    taken.as_str().map(str::to_owned)
}

/// What the server stamps, apart from the space, which the companion may name.
const STAMPED: &[&str] = match propose_change::STAMPED.split_first() {
    Some((_space, rest)) => rest,
    None => &[],
};

const INSTRUCTIONS: &str = "You are the owner's companion, on the owner's own machine. `search`, \
`read` and `context` reach every space you were started for; name one with `space`. You can read \
the owner's conversations. You cannot change anything yourself: `propose_change` puts a proposal \
into the owner's inbox.";

#[cfg(test)]
mod tests {
    use super::STAMPED;
    use crate::tools::propose_change;

    #[test]
    fn only_the_space_is_left_in() {
        assert_eq!(propose_change::STAMPED.first(), Some(&"space"));
        assert!(!STAMPED.contains(&"space") && STAMPED.contains(&"payload/space"));
    }
}
