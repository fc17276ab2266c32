//! Every tool and every method of a graph, for everyone, in both eras.

use std::collections::BTreeSet;

use narthex_core::{Mode, PolicyAction, Reason, Tier};
use narthex_test::{Era, HouseOptions, Persona};
use serde_json::{Value, json};

use super::cells::{
    Cell, door, every_refusal_recorded, hidden, left, looked, masked, no_resource, noted, proposed,
    refused, told, unknown,
};
use super::methods;
use crate::graph_surface::harbour::{EXPOSED, Harbour, SCHEMA, done, insert, options};

/// One kind of call. In its arguments `#` is a number no call had before, and `HEAD` the commit
/// `main` stands at.
pub(super) struct Row {
    pub(super) tool: &'static str,
    pub(super) action: Option<PolicyAction>,
    graph: &'static str,
    arguments: Value,
    /// For those of the space to whom policy shows the graph: agent a, reader, lowered.
    cells: [Cell; 3],
}

pub(super) fn table() -> Vec<Row> {
    use PolicyAction::{
        BranchCreate, BranchDelete, BranchMerge, Change, InvokeQuery, Read, SchemaApply,
    };
    let (t0, t1, t2, t3) = (Tier::T0, Tier::T1, Tier::T2, Tier::T3);
    let row = |tool, action, arguments, cells| Row {
        tool,
        action: Some(action),
        graph: "harbour",
        arguments,
        cells,
    };
    let looks = |tool, arguments| row(tool, Read, arguments, [looked(), looked(), looked()]);
    let over = |tier| refused(Reason::OverCeiling, tier);
    let mode = || refused(Reason::OverMode, t3);
    let denied = |tier| refused(Reason::PolicyDenied, tier);
    let bad = |tier| refused(Reason::InvalidArguments, tier);
    let gone = || hidden(t1);
    // On a branch of agent a's own, which is nobody else's.
    let own = || [proposed(), gone(), over(t2)];
    let update = |branch: &str| json!({"query": r#"update Person set { age: 41 } where slug = "bob""#, "branch": branch});
    let line = r#"{"type":"Person","data":{"slug":"cyd","name":"Cyd"}}"#;
    let add =
        |slug: &str, branch: &str| json!({"params": {"slug": slug, "name": "N"}, "branch": branch});
    let run = |name: &str, mut envelope: Value| {
        envelope["name"] = name.into();
        envelope
    };
    let mut rows = vec![
        Row { action: None, ..looks("graph_health", json!({})) },
        looks("graph_snapshot", json!({})),
        looks("schema_get", json!({"branch": "team"})),
        looks("branch_list", json!({})),
        looks("commit_list", json!({"limit": 1})),
        looks("commit_get", json!({"commit": "HEAD", "changes": true})),
        looks("graph_query", json!({"query": "match { $p: Person } return { $p.slug }"})),
        row("graph_mutate", Change, update("mine"), own()),
        row("graph_mutate", Change, update("team"), [over(t2), gone(), over(t2)]),
        row("graph_mutate", Change, update("main"), [mode(), gone(), mode()]),
        row("graph_load", Change, json!({"data": line, "branch": "mine"}), own()),
        row(
            "graph_load",
            BranchCreate,
            json!({"data": line, "branch": "load-#", "from": "main"}),
            [proposed(), gone(), over(t1)],
        ),
        row("branch_create", BranchCreate, json!({"name": "b-#"}), [proposed(), gone(), over(t1)]),
        row("branch_delete", BranchDelete, json!({"branch": "spare-#"}), own()),
        row(
            "branch_merge",
            BranchMerge,
            json!({"from": "worked-#", "into": "main"}),
            [proposed(), gone(), over(t1)],
        ),
        row("schema_apply", SchemaApply, json!({"schema": SCHEMA, "branch": "mine"}), own()),
        row("schema_apply", SchemaApply, json!({"schema": SCHEMA}), [mode(), gone(), mode()]),
        // Whoever may invoke it sees it; what it does is asked for as well.
        row("add", InvokeQuery, add("n-#", "mine"), [proposed(), denied(t1), over(t2)]),
        row("add", InvokeQuery, add("n-#", "main"), [mode(), denied(t1), mode()]),
        Row {
            graph: "quay",
            ..row(
                "stored_query_run",
                InvokeQuery,
                run("add", add("n-#", "mine")),
                [proposed(), denied(t0), over(t2)],
            )
        },
        Row {
            action: None,
            cells: [bad(t0), bad(t0), bad(t0)],
            ..looks("graph_query", json!({"query": "match { $p: Person } return { $p }", "x": 1}))
        },
        Row { action: None, cells: [unknown(), unknown(), unknown()], ..looks("purge", json!({})) },
        // The two are there for all of `quay`'s and for none of `harbour`'s.
        Row {
            action: None,
            cells: [unknown(), unknown(), unknown()],
            ..looks("stored_query_run", json!({"name": "person", "params": {"slug": "ada"}}))
        },
    ];
    for (name, params) in [
        ("person", json!({"slug": "ada"})),
        ("everyone", json!({})),
        ("named", json!({"branch": "ada", "snapshot": "Ada"})),
        ("scored", json!({"n": "9007199254740993"})),
        ("things", json!({})),
    ] {
        let cells = || [looked(), looked(), looked()];
        let envelope = json!({ "params": params });
        rows.push(row(name, InvokeQuery, envelope.clone(), cells()));
        let run = row("stored_query_run", InvokeQuery, run(name, envelope), cells());
        rows.push(Row { graph: "quay", ..run });
    }
    rows.push(Row { graph: "quay", ..looks("stored_query_list", json!({})) });
    rows
}

impl Row {
    fn cell(&self, persona: Persona) -> Cell {
        let [agent_a, reader, lowered] = &self.cells;
        match persona {
            Persona::AgentA => agent_a.clone(),
            Persona::Reader => reader.clone(),
            Persona::Lowered => lowered.clone(),
            // Another space's, and those to whom policy permits nothing of it.
            Persona::AgentB | Persona::Creator | Persona::Bare => masked(),
            _ => door(persona).expect("not let in"),
        }
    }
}

fn every_refusal() -> HouseOptions {
    HouseOptions { gate: every_refusal_recorded().gate, ..options() }
}

#[tokio::test]
async fn every_tool_for_everyone_in_both_eras_and_what_it_leaves() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(every_refusal()).await?;
    let house = &harbour.house;
    let head =
        harbour.change("harbour", "main", r#"update Person set { age: 40 } where slug = "bob""#);
    let head = head.await?;
    let mut number = 0;
    for row in table() {
        for persona in Persona::ALL {
            for era in Era::ALL {
                number += 1;
                let text = row.arguments.to_string();
                let text = text.replace('#', &number.to_string()).replace("HEAD", &head);
                let arguments: Value = serde_json::from_str(&text)?;
                made_ready(&harbour, &row, number).await?;
                let before = house.seq().await?;
                let client = house.graph_client(persona, row.graph).speaking(era);
                let answer = client.call(row.tool, arguments).await?;
                let expected = row.cell(persona);
                let what = format!("{persona:?} {era:?} {} {text}: {answer:?}", row.tool);
                assert_eq!(told(&answer)?, expected.told, "{what}");
                let records = house.records_after(before).await?;
                assert_eq!(records.iter().map(left).collect::<Vec<_>>(), expected.leaves, "{what}");
                let inside =
                    matches!(persona, Persona::AgentA | Persona::Reader | Persona::Lowered);
                for record in &records {
                    let draft = &record.draft;
                    let surface = inside.then(|| format!("graph/{}", row.graph));
                    assert_eq!(draft.tool, if inside { row.tool } else { "door" }, "{what}");
                    assert_eq!(draft.surface, surface, "{what}");
                    assert_eq!(draft.arguments.is_some(), inside, "{what}");
                }
            }
        }
    }
    house.verify().await?;
    Ok(())
}

/// Branches of agent a's own that a call needs.
async fn made_ready(harbour: &Harbour, row: &Row, number: u32) -> anyhow::Result<()> {
    let agent = harbour.agent(Persona::AgentA);
    match row.tool {
        "branch_delete" => {
            done(&agent, "branch_create", json!({"name": format!("spare-{number}")})).await?;
        }
        "branch_merge" => {
            let name = format!("worked-{number}");
            done(&agent, "branch_create", json!({"name": name})).await?;
            done(&agent, "graph_mutate", insert(&format!("w-{number}"), &name)).await?;
        }
        _ => {}
    }
    Ok(())
}

/// What of it is listed, for whom: nothing that no argument would be allowed for.
#[tokio::test]
async fn what_is_listed_is_what_some_call_of_could_be_allowed() -> anyhow::Result<()> {
    let looks = ["graph_health", "graph_snapshot", "schema_get", "branch_list", "commit_list"];
    let looks = looks.iter().chain(&["commit_get", "graph_query"]);
    let looks: BTreeSet<&str> = looks.copied().collect();
    let writes = ["graph_mutate", "graph_load", "branch_create", "branch_delete", "branch_merge"];
    let writes: BTreeSet<&str> = writes.into_iter().chain(["schema_apply"]).collect();
    let stored: BTreeSet<&str> = EXPOSED.iter().copied().collect();
    let reading: BTreeSet<&str> = stored.iter().copied().filter(|name| *name != "add").collect();
    let meta = BTreeSet::from(["stored_query_list", "stored_query_run"]);
    for mode in [Mode::Guarded, Mode::Readonly] {
        let harbour = Harbour::with(HouseOptions { mode, ..options() }).await?;
        for persona in [Persona::AgentA, Persona::Reader, Persona::Lowered] {
            let low = persona == Persona::Lowered || mode == Mode::Readonly;
            let mut expected = looks.clone();
            expected.extend(if low { &reading } else { &stored });
            if persona == Persona::AgentA && !low {
                expected.extend(&writes);
            }
            let mut of_meta: BTreeSet<&str> = expected.difference(&stored).copied().collect();
            of_meta.extend(&meta);
            for era in Era::ALL {
                for (graph, expected) in [("harbour", &expected), ("quay", &of_meta)] {
                    let client = harbour.house.graph_client(persona, graph).speaking(era);
                    let answer = client.request("tools/list", json!({})).await?;
                    assert!(answer.result().get("nextCursor").is_none());
                    let listed = answer.tool_names();
                    let listed: BTreeSet<&str> = listed.iter().map(String::as_str).collect();
                    assert_eq!(&listed, expected, "{persona:?} {mode} {graph}");
                }
            }
        }
    }
    Ok(())
}

/// The workspace's methods, with those of resources besides.
pub(super) fn methods() -> Vec<methods::Row> {
    let mut rows = methods::table();
    let mut read = None;
    for row in &mut rows {
        match row.method {
            "resources/list" | "resources/templates/list" => {
                (row.modern, row.legacy) = (noted(), noted());
            }
            "resources/read" => {
                (row.modern, row.legacy) = (no_resource(), no_resource());
                read = Some(row.clone());
            }
            _ => {}
        }
    }
    for uri in ["graph://schema", "graph://branches", "omnigraph://schema", "omnigraph://branches"]
    {
        let row = read.clone().expect("a row");
        let (modern, legacy, params) = (looked(), looked(), json!({"uri": uri}));
        rows.push(methods::Row { params, name: Some(uri), modern, legacy, ..row });
    }
    rows
}

#[tokio::test]
async fn every_method_for_everyone_in_both_eras_and_what_it_leaves() -> anyhow::Result<()> {
    let harbour = Harbour::with(every_refusal()).await?;
    let house = &harbour.house;
    for row in methods() {
        for persona in Persona::ALL {
            for era in Era::ALL {
                let inside =
                    matches!(persona, Persona::AgentA | Persona::Reader | Persona::Lowered);
                let expected = match door(persona) {
                    Some(cell) => cell,
                    None if inside => row.inside(era).clone(),
                    None => masked(),
                };
                let before = house.seq().await?;
                let client = harbour.agent(persona).speaking(era);
                let mut headers = vec![("mcp-protocol-version", era.version())];
                headers.extend(row.name.map(|name| ("mcp-name", name)));
                let message = client.message(row.method, row.params.clone());
                let answer = client.send(&headers, &message).await?;
                let what = format!("{persona:?} {era:?} {} {}: {answer:?}", row.method, row.params);
                if row.method == "tools/call" && inside {
                    assert_eq!(answer.rpc_code(), Some(-32602), "{what}");
                } else {
                    assert_eq!(told(&answer)?, expected.told, "{what}");
                }
                let records = house.records_after(before).await?;
                assert_eq!(records.iter().map(left).collect::<Vec<_>>(), expected.leaves, "{what}");
                for record in records.iter().filter(|_| inside) {
                    assert_eq!(record.draft.surface.as_deref(), Some("graph/harbour"), "{what}");
                }
            }
        }
    }
    house.verify().await?;
    Ok(())
}
