//! Who asks, as Cedar sees it.

use std::collections::{HashMap, HashSet};

use cedar_policy::{
    Context, Entities, Entity, EntityId, EntityTypeName, EntityUid, RestrictedExpression, Schema,
};
use narthex_core::{
    Agent, AgentKind, Capability, EntityType, PolicyAction, Question, Scope, Target,
};

/// Who asks: an agent, and the scope the gate gave it.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    /// The agent.
    pub agent: &'a Agent,
    /// Where it may look.
    pub scope: Scope,
}

/// Why no question could be put. Always a denial.
pub(crate) type Unaskable = String;

/// The entity types and actions, parsed once.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    agent: EntityTypeName,
    companion: EntityTypeName,
    space: EntityTypeName,
    house: EntityUid,
    actions: HashMap<PolicyAction, EntityUid>,
}

impl Names {
    pub(crate) fn new() -> Result<Self, Unaskable> {
        let kind = |name: &str| name.parse::<EntityTypeName>().map_err(|e| e.to_string());
        let action = kind("Narthex::Action")?;
        let uid =
            |word: &str| EntityUid::from_type_name_and_id(action.clone(), EntityId::new(word));
        Ok(Self {
            agent: kind("Narthex::Agent")?,
            companion: kind("Narthex::Companion")?,
            space: kind("Narthex::Space")?,
            house: EntityUid::from_type_name_and_id(
                kind("Narthex::House")?,
                EntityId::new("house"),
            ),
            actions: PolicyAction::ALL.into_iter().map(|a| (a, uid(a.as_str()))).collect(),
        })
    }

    pub(crate) fn principal(&self, asker: &Asker<'_>) -> EntityUid {
        let kind = match asker.agent.kind {
            AgentKind::External => &self.agent,
            AgentKind::Companion => &self.companion,
        };
        EntityUid::from_type_name_and_id(kind.clone(), EntityId::new(asker.agent.id.to_string()))
    }

    pub(crate) fn action(&self, action: PolicyAction) -> Result<EntityUid, Unaskable> {
        self.actions.get(&action).cloned().ok_or_else(|| format!("no action {}", action.as_str()))
    }

    pub(crate) fn resource(&self, target: Target) -> EntityUid {
        match target {
            Target::Space(space) => self.space_uid(space),
            Target::House => self.house.clone(),
        }
    }

    fn space_uid(&self, space: narthex_core::SpaceId) -> EntityUid {
        EntityUid::from_type_name_and_id(self.space.clone(), EntityId::new(space.to_string()))
    }

    /// The asker and what is asked about, as entities.
    pub(crate) fn entities(
        &self,
        asker: &Asker<'_>,
        question: &Question,
        schema: &Schema,
    ) -> Result<Entities, Unaskable> {
        let mut attributes = HashMap::from([
            ("slug".to_owned(), text(asker.agent.slug.as_str())),
            ("grants".to_owned(), grants(asker.agent)?),
        ]);
        let mut entities = HashSet::from([self.resource(question.target)]);
        if let Some(space) = asker.scope.space() {
            let uid = self.space_uid(space);
            attributes
                .insert("space".to_owned(), RestrictedExpression::new_entity_uid(uid.clone()));
            entities.insert(uid);
        }
        let principal = Entity::new(self.principal(asker), attributes, HashSet::new())
            .map_err(|error| error.to_string())?;
        let others = entities.into_iter().map(Entity::with_uid);
        Entities::from_entities(others.chain([principal]), Some(schema)).map_err(|e| e.to_string())
    }
}

/// What stands beside the question.
pub(crate) fn context(question: &Question) -> Result<Context, Unaskable> {
    let wanted = grant(question.action.capability(), question.action, question.entity_type)?;
    Context::from_pairs([
        ("entity_type".to_owned(), text(question.entity_type.as_str())),
        ("wanted".to_owned(), wanted),
    ])
    .map_err(|error| error.to_string())
}

fn grants(agent: &Agent) -> Result<RestrictedExpression, Unaskable> {
    let all = agent.grants.expand().into_iter();
    let all: Vec<_> = all.map(|(c, a, e)| grant(c, a, e)).collect::<Result<_, _>>()?;
    Ok(RestrictedExpression::new_set(all))
}

fn grant(
    capability: Capability,
    action: PolicyAction,
    entity: EntityType,
) -> Result<RestrictedExpression, Unaskable> {
    RestrictedExpression::new_record([
        ("capability".to_owned(), text(capability.as_str())),
        ("action".to_owned(), text(action.as_str())),
        ("entity_type".to_owned(), text(entity.as_str())),
    ])
    .map_err(|error| error.to_string())
}

fn text(word: &str) -> RestrictedExpression {
    RestrictedExpression::new_string(word.to_owned())
}
