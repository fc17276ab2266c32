//! Every tool, for everyone, in both eras.

use std::collections::BTreeSet;

use narthex_core::{Mode, PolicyAction, Reason, Tier};
use narthex_test::{Era, Persona, TestHouse};
use serde_json::{Value, json};

use super::cells::{
    Cell, Told, door, every_refusal_recorded, found_nothing, hidden, left, looked, proposed,
    refused, told, unknown,
};

/// One kind of call: the tool, what policy is asked, and arguments that are good in every way.
pub(super) struct Row {
    pub(super) tool: &'static str,
    pub(super) action: Option<PolicyAction>,
    arguments: Value,
    /// For those who are let in: agent a, agent b, reader, creator, lowered, bare.
    cells: [Cell; 6],
}

pub(super) fn table() -> Vec<Row> {
    let row = |tool, action, arguments, cells| Row { tool, action: Some(action), arguments, cells };
    let change = |action: &str, id: Option<&str>, payload: Option<Value>| {
        let mut arguments = json!({"entity_type": "page", "action": action, "reason": "because"});
        if let Some(id) = id {
            arguments["id"] = id.into();
        }
        if let Some(payload) = payload {
            arguments["payload"] = payload;
        }
        arguments
    };
    let (t0, t1) = (Tier::T0, Tier::T1);
    let denied = || refused(Reason::PolicyDenied, t1);
    let over = || refused(Reason::OverCeiling, t1);
    let bad = || refused(Reason::InvalidArguments, t0);
    let (gone, absent) = (|| hidden(t0), || hidden(t1));
    let nothing = || refused(Reason::NotFound, t1);
    vec![
        row(
            "search",
            PolicyAction::Search,
            json!({"query": "welcome"}),
            [looked(), looked(), looked(), gone(), looked(), gone()],
        ),
        row(
            "read",
            PolicyAction::Read,
            json!({"kind": "page", "id": "home"}),
            [looked(), looked(), looked(), gone(), looked(), gone()],
        ),
        row(
            "read",
            PolicyAction::Read,
            json!({"kind": "page", "id": "guides/setup"}),
            [looked(), found_nothing(), looked(), gone(), looked(), gone()],
        ),
        row(
            "read",
            PolicyAction::Read,
            json!({"kind": "conversation", "id": "home"}),
            [found_nothing(), found_nothing(), found_nothing(), gone(), found_nothing(), gone()],
        ),
        row(
            "context",
            PolicyAction::Context,
            json!({}),
            [looked(), looked(), looked(), gone(), looked(), gone()],
        ),
        row(
            "propose_change",
            PolicyAction::Create,
            change("create", None, Some(json!({"title": "New"}))),
            [proposed(), proposed(), absent(), proposed(), over(), absent()],
        ),
        row(
            "propose_change",
            PolicyAction::Update,
            change("update", Some("home"), Some(json!({"body": "Other."}))),
            [proposed(), proposed(), absent(), denied(), over(), absent()],
        ),
        row(
            "propose_change",
            PolicyAction::Update,
            change("update", Some("guides/setup"), Some(json!({"body": "Other."}))),
            [proposed(), nothing(), absent(), denied(), over(), absent()],
        ),
        row(
            "propose_change",
            PolicyAction::Delete,
            change("delete", Some("home"), None),
            [proposed(), proposed(), absent(), denied(), over(), absent()],
        ),
        Row {
            tool: "search",
            action: None,
            arguments: json!({"query": "welcome", "everywhere": true}),
            cells: [bad(), bad(), bad(), gone(), bad(), gone()],
        },
        Row {
            tool: "purge",
            action: None,
            arguments: json!({}),
            cells: [unknown(), unknown(), unknown(), unknown(), unknown(), unknown()],
        },
    ]
}

impl Row {
    pub(super) fn cell(&self, persona: Persona) -> Cell {
        let [agent_a, agent_b, reader, creator, lowered, bare] = &self.cells;
        let inside = match persona {
            Persona::AgentA => agent_a,
            Persona::AgentB => agent_b,
            Persona::Reader => reader,
            Persona::Creator => creator,
            Persona::Lowered => lowered,
            Persona::Bare => bare,
            Persona::Unbound
            | Persona::Disabled
            | Persona::Revoked
            | Persona::Owner
            | Persona::Stranger
            | Persona::Nobody => return door(persona).expect("not let in"),
        };
        inside.clone()
    }
}

#[tokio::test]
async fn every_tool_for_everyone_in_both_eras_and_what_it_leaves() -> anyhow::Result<()> {
    let house = TestHouse::with(every_refusal_recorded()).await?;
    for row in table() {
        for persona in Persona::ALL {
            for era in Era::ALL {
                let before = house.seq().await?;
                let client = house.client(persona).speaking(era);
                let answer = client.call(row.tool, row.arguments.clone()).await?;
                let expected = row.cell(persona);
                let what =
                    format!("{persona:?} {era:?} {} {}: {answer:?}", row.tool, row.arguments);
                assert_eq!(told(&answer)?, expected.told, "{what}");
                let records = house.records_after(before).await?;
                let leaves: Vec<_> = records.iter().map(left).collect();
                assert_eq!(leaves, expected.leaves, "{what}");
                for record in &records {
                    let at_door = door(persona).is_some();
                    let tool = if at_door { "door" } else { row.tool };
                    assert_eq!(record.draft.tool, tool, "{what}");
                    assert_eq!(record.draft.surface.is_none(), at_door, "{what}");
                    assert_eq!(record.draft.arguments.is_none(), at_door, "{what}");
                }
            }
        }
    }
    house.verify().await?;
    Ok(())
}

#[tokio::test]
async fn what_is_listed_is_exactly_what_can_be_called() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    for persona in Persona::ALL.into_iter().filter(|persona| door(*persona).is_none()) {
        let callable: BTreeSet<_> = table()
            .iter()
            .filter(|row| row.cell(persona).told == Told::Done)
            .map(|row| row.tool.to_owned())
            .collect();
        for era in Era::ALL {
            let listed = house.client(persona).speaking(era).tools().await?;
            assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), callable, "{persona:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_house_that_is_readonly_lists_only_what_looks() -> anyhow::Result<()> {
    let mut options = every_refusal_recorded();
    options.mode = Mode::Readonly;
    let house = TestHouse::with(options).await?;
    let agent = house.client(Persona::AgentA);
    assert_eq!(agent.tools().await?, ["search", "read", "context"]);
    let create = json!({"entity_type": "page", "action": "create", "payload": {"title": "New"}, "reason": "because"});
    let answer = agent.call("propose_change", create).await?;
    assert_eq!(answer.tool_code().as_deref(), Some(Reason::OverMode.code()), "{answer:?}");
    Ok(())
}
