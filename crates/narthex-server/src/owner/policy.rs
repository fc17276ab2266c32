//! Why policy, and the whole gate, say what they say.

use narthex_core::{ChangeAction, EntityType, PolicyAction, Question, Scope, Target};
use narthex_policy::Asker;

use super::desk::invalid;
use super::{Desk, Explained, OwnerError, Reply};

/// What is to be explained.
pub(super) struct About {
    pub(super) tool: String,
    pub(super) action: Option<ChangeAction>,
    pub(super) entity_type: Option<EntityType>,
    pub(super) space: Option<String>,
}

impl Desk {
    pub(super) async fn policy_explain(
        &self,
        agent: &str,
        about: About,
    ) -> Result<Reply, OwnerError> {
        let agent = self.agent_named(agent).await?;
        let actions = actions(&about.tool, about.action)?;
        let entity_type = about.entity_type.unwrap_or(EntityType::Page);
        let scope = match Scope::of_agent(&agent) {
            Ok(scope) => scope,
            Err(_) if agent.kind == narthex_core::AgentKind::Companion => Scope::companion(None),
            Err(none) => {
                return Err(invalid(format!(
                    "{none}, so every surface refuses it before policy is asked"
                )));
            }
        };
        let (target, shown) = match (&about.space, scope.space()) {
            (Some(name), _) => {
                let space = self.space_named(name).await?;
                (Target::Space(space.id), space.slug.to_string())
            }
            (None, Some(id)) => {
                let space = self.store().space(id).await?;
                (
                    Target::Space(id),
                    space.map_or_else(|| id.to_string(), |space| space.slug.to_string()),
                )
            }
            (None, None) => (Target::House, "house".to_owned()),
        };
        let policy = self.gate.policy();
        let asker = Asker { agent: &agent, scope };
        let mut explained = Vec::new();
        for action in actions {
            let question = Question { action, entity_type, target: target.clone() };
            let verdict = policy.decide(&asker, &question);
            let foreseen = self.gate.foresee(&agent, &self.workspace, &about.tool, &verdict);
            let (decision, reason) = foreseen.await?;
            explained.push(Explained {
                tool: about.tool.clone(),
                action: action.as_str().to_owned(),
                entity_type,
                target: shown.clone(),
                permitted: verdict.is_permitted(),
                policies: verdict.policies().to_vec(),
                errors: verdict.errors().to_vec(),
                decision: decision.to_owned(),
                reason: reason.code().to_owned(),
            });
        }
        Ok(Reply::Explained(explained))
    }
}

fn actions(tool: &str, action: Option<ChangeAction>) -> Result<Vec<PolicyAction>, OwnerError> {
    match (tool, action) {
        ("search", _) => Ok(vec![PolicyAction::Search]),
        ("read", _) => Ok(vec![PolicyAction::Read]),
        ("context", _) => Ok(vec![PolicyAction::Context]),
        ("propose_change", None) => Ok(PAGES.map(PolicyAction::from).to_vec()),
        ("propose_change", Some(action)) if PAGES.contains(&action) => Ok(vec![action.into()]),
        ("propose_change", Some(_)) => Err(invalid("an action is create, update or delete")),
        _ => Err(invalid("the tools are search, read, context and propose_change")),
    }
}

/// What is asked for of pages. Merges are asked for on a graph's own surface, servers where there is
/// code.
const PAGES: [ChangeAction; 3] = [ChangeAction::Create, ChangeAction::Update, ChangeAction::Delete];
