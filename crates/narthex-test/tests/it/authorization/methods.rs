//! Every method of the protocol, for everyone, in both eras.

use narthex_core::Reason;
use narthex_test::{Era, Persona, TestHouse};
use serde_json::{Value, json};

use super::cells::{
    Cell, Told, door, every_refusal_recorded, left, no_method, noted, told, unrecorded,
};

/// A method with its parameters, the header that repeats what they name, and how each era ends.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) method: &'static str,
    pub(super) params: Value,
    pub(super) name: Option<&'static str>,
    pub(super) modern: Cell,
    pub(super) legacy: Cell,
}

impl Row {
    /// How it ends for those who are let in.
    pub(super) fn inside(&self, era: Era) -> &Cell {
        if era == Era::Modern { &self.modern } else { &self.legacy }
    }
}

/// The workspace's.
pub(super) fn table() -> Vec<Row> {
    let row =
        |method, modern, legacy| Row { method, params: json!({}), name: None, modern, legacy };
    let handshake = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    });
    let mut rows = vec![
        Row { params: handshake, ..row("initialize", no_method(), noted()) },
        row("server/discover", noted(), no_method()),
        row("ping", no_method(), unrecorded(Told::Done)),
        row("tools/list", noted(), noted()),
        row("tools/call", no_name(), no_name()),
    ];
    // Nothing of this is advertised, so none of it is there: for agents that could use it no
    // more than for agents that could not.
    let unadvertised: &[(&str, Value, Option<&str>)] = &[
        ("prompts/list", json!({}), None),
        ("prompts/get", json!({"name": "x"}), Some("x")),
        ("resources/list", json!({}), None),
        ("resources/templates/list", json!({}), None),
        ("resources/read", json!({"uri": "narthex://b/home"}), Some("narthex://b/home")),
        ("resources/subscribe", json!({"uri": "narthex://b/home"}), None),
        ("resources/unsubscribe", json!({"uri": "narthex://b/home"}), None),
        ("completion/complete", json!({}), None),
        ("logging/setLevel", json!({"level": "debug"}), None),
        ("subscriptions/listen", json!({"resources": ["narthex://b/home"]}), None),
        ("tasks/list", json!({}), None),
        ("tasks/get", json!({"taskId": "1"}), Some("1")),
        ("tasks/update", json!({"taskId": "1"}), Some("1")),
        ("tasks/cancel", json!({"taskId": "1"}), Some("1")),
        ("tasks/result", json!({"taskId": "1"}), None),
        ("roots/list", json!({}), None),
        ("sampling/createMessage", json!({}), None),
        ("elicitation/create", json!({}), None),
        ("ledger/tail", json!({}), None),
        ("inbox/approve", json!({}), None),
        ("tools/CALL", json!({"name": "search"}), None),
    ];
    for (method, params, name) in unadvertised {
        rows.push(Row {
            params: params.clone(),
            name: *name,
            ..row(method, no_method(), no_method())
        });
    }
    rows
}

/// `tools/call` without a name; what it does with one is the tools' table.
fn no_name() -> Cell {
    let mut cell = no_method();
    cell.leaves[0].2 = Reason::InvalidArguments;
    cell
}

#[tokio::test]
async fn every_method_for_everyone_in_both_eras_and_what_it_leaves() -> anyhow::Result<()> {
    let house = TestHouse::with(every_refusal_recorded()).await?;
    for row in table() {
        for persona in Persona::ALL {
            for era in Era::ALL {
                let expected = door(persona).unwrap_or_else(|| row.inside(era).clone());
                let before = house.seq().await?;
                let client = house.client(persona).speaking(era);
                let mut headers = vec![("mcp-protocol-version", era.version())];
                headers.extend(row.name.map(|name| ("mcp-name", name)));
                let message = client.message(row.method, row.params.clone());
                let answer = client.send(&headers, &message).await?;
                let what = format!("{persona:?} {era:?} {}: {answer:?}", row.method);
                if row.method == "tools/call" && door(persona).is_none() {
                    assert_eq!(answer.rpc_code(), Some(-32602), "{what}");
                } else {
                    assert_eq!(told(&answer)?, expected.told, "{what}");
                }
                if expected.told == Told::NoSuchMethod && row.method != "tools/call" {
                    let status = if era == Era::Modern { 404 } else { 200 };
                    assert_eq!(answer.status, status, "{what}");
                }
                let records = house.records_after(before).await?;
                assert_eq!(records.iter().map(left).collect::<Vec<_>>(), expected.leaves, "{what}");
                for record in records.iter().filter(|_| door(persona).is_none()) {
                    assert_eq!(record.draft.tool, row.method, "{what}");
                }
            }
        }
    }
    house.verify().await?;
    Ok(())
}

/// Without an id nothing runs and nothing is recorded, whatever the method says it is.
#[tokio::test]
async fn a_notification_runs_nothing_for_anyone() -> anyhow::Result<()> {
    let house = TestHouse::with(every_refusal_recorded()).await?;
    let create = json!({"name": "propose_change", "arguments": {
        "entity_type": "page", "action": "create", "payload": {"title": "New"}, "reason": "because",
    }});
    for (method, params) in [
        ("notifications/initialized", json!({})),
        ("notifications/cancelled", json!({"requestId": 1})),
        ("notifications/nobody-knows", json!({})),
        ("tools/call", create),
        ("tools/list", json!({})),
        ("resources/list", json!({})),
    ] {
        for persona in Persona::ALL {
            for era in Era::ALL {
                let before = house.seq().await?;
                let client = house.client(persona).speaking(era);
                let mut message = client.message(method, params.clone());
                message.as_object_mut().map(|map| map.remove("id"));
                let answer = client.send(&[], &message).await?;
                let expected = door(persona).unwrap_or_else(|| unrecorded(Told::Accepted));
                let what = format!("{persona:?} {era:?} {method}: {answer:?}");
                assert_eq!(told(&answer)?, expected.told, "{what}");
                let records = house.records_after(before).await?;
                assert_eq!(records.iter().map(left).collect::<Vec<_>>(), expected.leaves, "{what}");
            }
        }
    }
    let open = house.client(Persona::AgentA).call("context", json!({})).await?.structured();
    assert_eq!(open["open_proposals"], json!([]), "a notification proposed something");
    Ok(())
}
