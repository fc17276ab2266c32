//! Who asks, as Cedar sees it.

use std::collections::{HashMap, HashSet};

use cedar_policy::{
    Context, Entities, Entity, EntityId, EntityTypeName, EntityUid, RestrictedExpression, Schema,
};
use narthex_core::{
    Agent, AgentKind, BranchAsk, BranchShape, Capability, EntityType, GraphTarget, PolicyAction,
    Question, Scope, ServerTarget, Target,
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
    graph: EntityTypeName,
    server: EntityTypeName,
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
            graph: kind("Narthex::Graph")?,
            server: kind("Narthex::Server")?,
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

    pub(crate) fn resource(&self, target: &Target) -> EntityUid {
        match target {
            Target::Space(space) => self.space_uid(*space),
            Target::House => self.house.clone(),
            Target::Graph(graph) => self.graph_uid(graph),
            Target::Server(server) => self.server_uid(server),
        }
    }

    fn server_uid(&self, target: &ServerTarget) -> EntityUid {
        EntityUid::from_type_name_and_id(self.server.clone(), EntityId::new(target.name.as_str()))
    }

    fn graph_uid(&self, target: &GraphTarget) -> EntityUid {
        let id = EntityId::new(target.graph.to_string());
        EntityUid::from_type_name_and_id(self.graph.clone(), id)
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
        let mut entities = HashSet::new();
        let mut about = None;
        match &question.target {
            Target::Graph(target) => {
                let space = self.space_uid(target.space);
                about = Some(self.graph_entity(target, space.clone())?);
                entities.insert(space);
            }
            Target::Server(target) => about = Some(self.server_entity(target)?),
            other @ (Target::Space(_) | Target::House) => _ = entities.insert(self.resource(other)),
        }
        if let Some(space) = asker.scope.space() {
            let uid = self.space_uid(space);
            attributes
                .insert("space".to_owned(), RestrictedExpression::new_entity_uid(uid.clone()));
            entities.insert(uid);
        }
        let principal = Entity::new(self.principal(asker), attributes, HashSet::new())
            .map_err(|error| error.to_string())?;
        let others = entities.into_iter().map(Entity::with_uid);
        let all = others.chain([principal]).chain(about);
        Entities::from_entities(all, Some(schema)).map_err(|e| e.to_string())
    }

    fn server_entity(&self, target: &ServerTarget) -> Result<Entity, Unaskable> {
        let attributes = HashMap::from([("name".to_owned(), text(target.name.as_str()))]);
        Entity::new(self.server_uid(target), attributes, HashSet::new())
            .map_err(|error| error.to_string())
    }

    fn graph_entity(&self, target: &GraphTarget, space: EntityUid) -> Result<Entity, Unaskable> {
        let attributes = HashMap::from([
            ("slug".to_owned(), text(target.slug.as_str())),
            ("space".to_owned(), RestrictedExpression::new_entity_uid(space.clone())),
        ]);
        Entity::new(self.graph_uid(target), attributes, HashSet::from([space]))
            .map_err(|error| error.to_string())
    }
}

/// What stands beside the question.
pub(crate) fn context(question: &Question) -> Result<Context, Unaskable> {
    let wanted = grant(question.action.capability(), question.action, question.entity_type)?;
    let mut pairs = vec![
        ("entity_type".to_owned(), text(question.entity_type.as_str())),
        ("wanted".to_owned(), wanted),
    ];
    if let Target::Graph(graph) = &question.target {
        for (name, shape) in [("branch", &graph.branch), ("into", &graph.into)] {
            match shape {
                BranchAsk::None => {}
                BranchAsk::Any => {
                    pairs.push((name.to_owned(), RestrictedExpression::new_unknown(name)));
                }
                BranchAsk::This(shape) => pairs.push((name.to_owned(), branch(shape)?)),
            }
        }
        pairs.extend(graph.query.as_deref().map(|query| ("query".to_owned(), text(query))));
    }
    if let Target::Server(server) = &question.target {
        pairs.push(("assigned".to_owned(), RestrictedExpression::new_bool(server.assigned)));
        if let Some(what) = &server.what {
            pairs.push((what.kind.as_str().to_owned(), text(&what.name)));
        }
    }
    Context::from_pairs(pairs).map_err(|error| error.to_string())
}

fn branch(shape: &BranchShape) -> Result<RestrictedExpression, Unaskable> {
    RestrictedExpression::new_record([
        ("name".to_owned(), text(shape.name.as_str())),
        ("protected".to_owned(), RestrictedExpression::new_bool(shape.protected)),
        ("own".to_owned(), RestrictedExpression::new_bool(shape.own)),
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
