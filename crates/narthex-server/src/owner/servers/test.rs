//! Trying a server: what an agent would see of it, and one call by hand.

use narthex_core::{Outcome, Phase, Reason, Subject};
use narthex_gate::Surface as _;
use narthex_gate::upstream::UpstreamQuestion;
use narthex_servers::hall::{View, Whose};
use narthex_servers::surface::{ServerSurface, by_hand};
use narthex_store::UnitOfWork;
use serde_json::{Map, Value};

use super::super::desk::{conflict, not_found, owner_record};
use super::super::{Desk, OwnerError, ServerReply, ServerSeen, ToolSeen, Trouble};
use super::show::waiting;

impl Desk {
    /// Connects as the owner, and shows what was approved and is offered, as a surface.
    pub(super) async fn server_test(
        &self,
        name: &str,
        agent: Option<&str>,
    ) -> Result<ServerReply, OwnerError> {
        let owners = self.server_named(name).await?;
        let offered = self.servers.look(&owners).await?;
        let view = match agent {
            Some(agent) => self.view_of(agent, &owners).await?,
            None => owners.clone(),
        };
        let approved = self.servers.approved(&view.standing).await?;
        let hall = self.servers.clone();
        let surface = ServerSurface::new(hall, &view.config, &approved, Some(&offered));
        let tools = surface.tools().iter().map(|spec| ToolSeen {
            name: spec.name.clone(),
            tier: spec.tier,
            description: spec.description.clone(),
        });
        let foreign = surface.foreign();
        let names = |items: &[narthex_gate::ForeignItem]| {
            items.iter().map(|item| item.name.clone()).collect::<Vec<_>>()
        };
        let mut resources: Vec<String> =
            foreign.and_then(|foreign| foreign.resources.as_deref()).map(names).unwrap_or_default();
        resources.extend(foreign.map(|foreign| names(&foreign.templates)).unwrap_or_default());
        Ok(ServerReply::Seen(Box::new(ServerSeen {
            server: view.config.name.to_string(),
            path: format!("/servers/{}/mcp", view.config.name),
            revision: offered.greeting.revision.clone(),
            tools: tools.collect(),
            resources,
            prompts: foreign
                .and_then(|foreign| foreign.prompts.as_deref())
                .map(names)
                .unwrap_or_default(),
            left_out: surface.left_out().to_vec(),
            waiting: waiting(&offered, &owners).cloned().collect(),
        })))
    }

    async fn view_of(&self, agent: &str, owners: &View) -> Result<View, OwnerError> {
        let agent = self.agent_named(agent).await?;
        let view = self.servers.view(agent.id, owners.config.name.slug()).await?;
        view.ok_or_else(|| {
            let (agent, server) = (&agent.slug, &owners.config.name);
            conflict(format!(
                "{agent} has no profile with {server} in it; give it one: narthex mcp profiles set {agent} PROFILE"
            ))
        })
    }

    /// One call by hand: recorded before it is made, and what came of it after.
    pub(super) async fn server_call(
        &self,
        name: &str,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ServerReply, OwnerError> {
        let view = self.server_named(name).await?;
        let definition =
            narthex_core::DefinitionName::new(narthex_core::DefinitionKind::Tool, tool);
        if !view.standing.definitions.contains_key(&definition) {
            return Err(not_found("approved tool", tool, &format!("narthex mcp test {name}")));
        }
        let subject = Subject::one("server", &view.config.name);
        let mut begun =
            owner_record("server.call", None, subject.clone(), Outcome::Open, Reason::OwnerAction);
        begun.phase = Phase::Intent;
        begun.surface = Some(format!("server/{}", view.config.name));
        begun.tool = format!("server.call:{tool}");
        let mut ended = begun.clone();
        self.store().commit(UnitOfWork::records(vec![begun])).await?;
        let question = UpstreamQuestion {
            method: "tools/call".to_owned(),
            params: Map::from_iter([
                ("name".to_owned(), tool.into()),
                ("arguments".to_owned(), Value::Object(arguments)),
            ]),
            name: Some(tool.to_owned()),
            input_schema: None,
            deadline: view.config.limits.call,
            progress: None,
            asked: None,
            logs: None,
        };
        let asked = self.servers.ask(&view, Whose::Owner, Some(&definition), question).await;
        let answer = asked.map_err(OwnerError::from).and_then(|answered| {
            by_hand(&view.config.name, answered).map_err(|error| OwnerError {
                kind: Trouble::Unavailable,
                message: error.to_string(),
            })
        });
        ended.phase = Phase::Outcome;
        ended.outcome = if answer.is_ok() { Outcome::Ok } else { Outcome::Error };
        ended.subject = subject;
        self.store().commit(UnitOfWork::records(vec![ended])).await?;
        answer.map(ServerReply::Answer)
    }
}
