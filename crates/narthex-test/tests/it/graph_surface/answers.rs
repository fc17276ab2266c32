//! Answers hold to the schemas they are listed with, and arguments to what they are for.

use std::collections::BTreeMap;

use narthex_test::{Answer, Client, Era, Persona};
use serde_json::{Value, json};

use super::harbour::{Harbour, SCHEMA, code, done, insert, options, slugs_of};

const THING: &str = r#"
    insert Thing { slug: "all", flag: true, whole: 4294967295, big: -9223372036854775808,
        huge: 18446744073709551615, real: 0.5, day: date("2026-01-31"),
        moment: datetime("2026-01-31T12:00:00.000001Z"), place: "https://example.org/x",
        word: "red", at: [0.5, 1.0], list: ["a", "b"] }
    insert Thing { slug: "none", list: [] }
"#;

/// The schemas of the tools as they are listed, by name.
async fn schemas(client: &Client) -> anyhow::Result<BTreeMap<String, Value>> {
    let listed = client.request("tools/list", json!({})).await?.result();
    let tools = listed["tools"].as_array().cloned().unwrap_or_default();
    let one = |tool: Value| {
        (tool["name"].as_str().unwrap_or_default().to_owned(), tool["outputSchema"].clone())
    };
    Ok(tools.into_iter().map(one).collect())
}

fn holds(schemas: &BTreeMap<String, Value>, tool: &str, answer: &Answer) {
    let what = format!("{tool}: {answer:?}");
    assert!(answer.is_ok(), "{what}");
    let structured = answer.structured();
    assert!(structured.is_object(), "{what}");
    let schema = schemas.get(tool).unwrap_or_else(|| panic!("{tool} is not listed"));
    let validator = jsonschema::draft202012::new(schema).expect("a schema");
    let errors: Vec<_> =
        validator.iter_errors(&structured).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?} {what}");
    let result = answer.result();
    let text = result.pointer("/content/0/text").and_then(Value::as_str).expect("a mirror");
    let mirror: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(mirror, structured, "{what}");
}

#[tokio::test]
async fn every_answer_holds_to_the_schema_it_is_listed_with() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(options()).await?;
    let head = harbour.change("harbour", "main", THING).await?;
    harbour.change("quay", "main", THING).await?;
    let agent = harbour.agent(Persona::AgentA);
    done(&agent, "branch_create", json!({"name": "worked"})).await?;
    for era in Era::ALL {
        let agent = agent.speaking(era);
        let of = format!("{era:?}").to_lowercase();
        let whole =
            "match { $p: Person  $p $k:knows $f } return { $p, $k, $f.name, count($f) as n }";
        let calls = [
            ("graph_health", json!({})),
            ("graph_snapshot", json!({})),
            ("schema_get", json!({})),
            ("branch_list", json!({})),
            ("commit_list", json!({"limit": 1})),
            ("commit_list", json!({})),
            ("commit_get", json!({"commit": head})),
            ("commit_get", json!({"commit": head, "changes": true})),
            ("graph_query", json!({"query": "match { $t: Thing } return { $t }"})),
            ("graph_query", json!({"query": whole})),
            (
                "graph_query",
                json!({"query": "match { $p: Person } return { $p.slug }", "page_size": 1}),
            ),
            (
                "graph_query",
                json!({"query": r#"match { $p: Person { slug: "none" } } return { $p.slug }"#}),
            ),
            ("person", json!({"params": {"slug": "ada"}})),
            ("person", json!({"params": {"slug": "nobody"}})),
            ("everyone", json!({"page_size": 1})),
            ("things", json!({})),
            ("scored", json!({"params": {"n": "9007199254740993"}})),
            ("named", json!({"params": {"branch": "ada", "snapshot": "Ada"}})),
            ("graph_mutate", insert(&of, "mine")),
            ("graph_load", json!({"data": "", "branch": "mine"})),
            ("schema_apply", json!({"schema": super::harbour::SCHEMA, "branch": "mine"})),
            ("add", json!({"params": {"slug": format!("{of}-2"), "name": "N"}, "branch": "mine"})),
            ("branch_merge", json!({"from": "mine", "into": "worked"})),
            ("branch_merge", json!({"from": "main", "into": "main", "propose": true})),
            ("branch_create", json!({"name": format!("of-{of}")})),
            ("branch_delete", json!({"branch": format!("of-{of}")})),
        ];
        let listed = schemas(&agent).await?;
        for (tool, schema) in &listed {
            assert_eq!(schema["type"], "object", "{tool}: {schema}");
            assert!(calls.iter().any(|(called, _)| called == tool), "{tool} is not tried");
        }
        for (tool, arguments) in calls {
            let answer = agent.call(tool, arguments.clone()).await?;
            if arguments["propose"] == true {
                // A branch into itself is nothing to anybody.
                assert!(answer.is_ok() || answer.tool_code().is_some(), "{answer:?}");
                continue;
            }
            holds(&listed, tool, &answer);
        }
        let quay = harbour.house.graph_client(Persona::AgentA, "quay").speaking(era);
        let listed = schemas(&quay).await?;
        for (tool, arguments) in [
            ("stored_query_list", json!({})),
            ("stored_query_list", json!({"detail_level": "names"})),
            ("stored_query_list", json!({"detail_level": "full"})),
            ("stored_query_run", json!({"name": "things"})),
            ("stored_query_run", json!({"name": "person", "params": {"slug": "ada"}})),
            (
                "stored_query_run",
                json!({"name": "add", "params": {"slug": of, "name": "N"}, "branch": "mine"}),
            ),
        ] {
            holds(&listed, tool, &quay.call(tool, arguments).await?);
        }
    }
    Ok(())
}

/// The schema of a stored query's answer says something: rows that are not its own do not fit it.
#[tokio::test]
async fn a_stored_querys_schema_is_of_its_own_rows() -> anyhow::Result<()> {
    let harbour = Harbour::open().await?;
    let agent = harbour.agent(Persona::AgentA);
    let listed = schemas(&agent).await?;
    let person = done(&agent, "person", json!({"params": {"slug": "ada"}})).await?;
    let fits = |tool: &str, answer: &Value| {
        jsonschema::draft202012::new(&listed[tool]).expect("a schema").is_valid(answer)
    };
    assert!(fits("person", &person));
    assert!(!fits("things", &person));
    for (pointer, wrong) in [
        ("/rows/0/score", json!(9_007_199_254_740_993_i64)),
        ("/rows/0/name", json!(null)),
        ("/rows/0/age", json!("36")),
        ("/commit", json!(null)),
    ] {
        let mut other = person.clone();
        *other.pointer_mut(pointer).expect("it is there") = wrong;
        assert!(!fits("person", &other), "{pointer} {other}");
    }
    Ok(())
}

/// 64 bits are text in and out, whatever the value, and nothing else is taken for it.
#[tokio::test]
async fn whole_numbers_of_64_bits_are_text() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(options()).await?;
    let agent = harbour.agent(Persona::AgentA);
    for (n, score) in
        ["0", "1", "-1", "9007199254740993", "9223372036854775807", "-9223372036854775808"]
            .iter()
            .enumerate()
    {
        let params = json!({"slug": format!("s{n}"), "name": "S", "score": score});
        done(&agent, "add", json!({"params": params, "branch": "mine"})).await?;
        let found =
            done(&agent, "person", json!({"params": {"slug": format!("s{n}")}, "branch": "mine"}))
                .await?;
        assert_eq!(found["rows"][0]["score"], *score);
        let found =
            done(&agent, "scored", json!({"params": {"n": score}, "branch": "mine"})).await?;
        assert!(slugs_of(&found).contains(&format!("s{n}")), "{found}");
    }
    for wrong in [
        json!(1),
        json!(1.5),
        json!("1.0"),
        json!("9223372036854775808"),
        json!("1e3"),
        json!(" 1"),
        json!("+1"),
        json!(""),
        json!(true),
        json!([]),
    ] {
        let arguments = json!({"params": {"n": wrong}});
        assert_eq!(
            code(&agent, "scored", arguments.clone()).await?,
            "invalid_arguments",
            "{wrong}"
        );
        let query = "query q($n: I64) { match { $p: Person  $p.score = $n } return { $p.slug } }";
        let adhoc = json!({"query": query, "params": {"n": wrong}});
        assert_eq!(code(&agent, "graph_query", adhoc).await?, "invalid_arguments", "{wrong}");
    }
    Ok(())
}

/// What a query is told is apart from where it looks, and nothing is taken that is for neither.
#[tokio::test]
async fn parameters_do_not_collide_with_where_it_looks() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(options()).await?;
    let agent = harbour.agent(Persona::AgentA);
    done(&agent, "add", json!({"params": {"slug": "main", "name": "mine"}, "branch": "mine"}))
        .await?;
    // `branch` and `snapshot` are parameters of this query, and where it looks, at once.
    let both = json!({"params": {"branch": "main", "snapshot": "mine"}, "branch": "mine"});
    assert_eq!(slugs_of(&done(&agent, "named", both.clone()).await?), ["main"]);
    let quay = harbour.house.graph_client(Persona::AgentA, "quay");
    let mut run = json!({"params": {"branch": "ada", "snapshot": "Ada"}, "branch": "main"});
    run["name"] = "named".into();
    assert_eq!(slugs_of(&done(&quay, "stored_query_run", run).await?), ["ada"]);
    let wrong = [
        ("named", json!({"params": {"branch": "main"}})),
        ("named", json!({"params": {}})),
        ("named", json!({})),
        ("named", json!({"branch": "main", "snapshot": "mine"})),
        ("named", json!({"params": {"branch": null, "snapshot": "x"}})),
        ("named", json!({"params": {"branch": "a", "snapshot": "b", "x": 1}})),
        ("person", json!({"slug": "ada"})),
        ("person", json!({"params": {"slug": "ada"}, "x": 1})),
        ("person", json!({"params": {"slug": 1}})),
        ("person", json!({"params": [["slug", "ada"]]})),
        ("person", json!({"params": {"slug": "ada"}, "expected_head": "0"})),
        ("person", json!({"params": {"slug": "ada"}, "message": "x"})),
        ("person", json!({"params": {"slug": "ada"}, "page_size": 0})),
        ("person", json!({"params": {"slug": "ada"}, "page_size": 10_001})),
        ("person", json!({"params": {"slug": "ada"}, "snapshot": "yesterday"})),
        (
            "add",
            json!({"params": {"slug": "x", "name": "X"}, "branch": "mine", "snapshot": "2026-01-31T12:00:00Z"}),
        ),
        ("add", json!({"params": {"slug": "x", "name": "X"}, "branch": "mine", "page_size": 1})),
        ("add", json!({"params": {"slug": "x", "name": "X"}, "branch": "mine", "cursor": "x"})),
        ("add", json!({"params": {"slug": "x"}, "branch": "mine"})),
        (
            "graph_query",
            json!({"query": "query q($a: String) { match { $p: Person { slug: $a } } return { $p } }"}),
        ),
        (
            "graph_query",
            json!({"query": "match { $p: Person } return { $p.slug }", "params": {"x": 1}}),
        ),
        ("graph_query", json!({"query": r#"insert Person { slug: "x", name: "X" }"#})),
        (
            "graph_query",
            json!({"query": r#"match { $p: Person } return { $p.slug } insert Person { slug: "x", name: "X" }"#}),
        ),
        ("graph_query", json!({"query": ""})),
        ("graph_query", json!({"query": "match { $p: Persn } return { $p.slug }"})),
        (
            "graph_mutate",
            json!({"query": "match { $p: Person } return { $p.slug }", "branch": "mine"}),
        ),
        ("graph_mutate", json!({"query": STORED_TWO, "branch": "mine"})),
        (
            "graph_mutate",
            json!({"query": r#"insert Person { slug: "x", name: "X" }"#, "branch": "mine", "snapshot": "x"}),
        ),
    ];
    for (tool, arguments) in wrong {
        assert_eq!(
            code(&agent, tool, arguments.clone()).await?,
            "invalid_arguments",
            "{tool} {arguments}"
        );
        if !["person", "add", "named"].contains(&tool) {
            continue;
        }
        let mut run = arguments;
        run["name"] = tool.into();
        assert_eq!(
            code(&quay, "stored_query_run", run.clone()).await?,
            "invalid_arguments",
            "{run}"
        );
    }
    assert_eq!(harbour.people("mine").await?, "ada:36 bob:40 main:null");
    Ok(())
}

const STORED_TWO: &str = r#"
    query a() { insert Person { slug: "x", name: "X" } }
    query b() { insert Person { slug: "y", name: "Y" } }
"#;

/// What is said at the handshake, of a graph and of the workspace.
#[tokio::test]
async fn resources_are_advertised_where_they_are() -> anyhow::Result<()> {
    let harbour = Harbour::open().await?;
    let handshake = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    });
    for (era, method, params) in
        [(Era::Modern, "server/discover", json!({})), (Era::Legacy, "initialize", handshake)]
    {
        let graph = harbour.agent(Persona::AgentA).speaking(era);
        let said = graph.request(method, params.clone()).await?.result();
        let resources = json!({"subscribe": false, "listChanged": false});
        assert_eq!(said["capabilities"]["resources"], resources, "{said}");
        assert!(said["capabilities"]["tools"].is_object(), "{said}");
        let workspace = harbour.house.client(Persona::AgentA).speaking(era);
        let said = workspace.request(method, params).await?.result();
        assert!(said["capabilities"].get("resources").is_none(), "{said}");
        let list = graph.request("resources/list", json!({})).await?.result();
        let uris: Vec<_> = list["resources"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| one["uri"].clone())
            .collect();
        assert_eq!(
            uris,
            ["graph://schema", "graph://branches", "omnigraph://schema", "omnigraph://branches"]
        );
        assert!(list.get("nextCursor").is_none(), "{list}");
        for (one, other) in [(0, 2), (1, 3)] {
            let read = |at: usize| graph.request("resources/read", json!({"uri": uris[at]}));
            let (one, other) = (read(one).await?.result(), read(other).await?.result());
            let text =
                |of: &Value| of["contents"][0]["text"].as_str().map(str::to_owned).expect("text");
            assert_eq!(text(&one), text(&other));
            assert!(text(&one).contains("node Person") || text(&one).contains("\"main\""), "{one}");
        }
    }
    Ok(())
}

/// What is found by words and vectors is found through the surface too.
#[tokio::test]
async fn words_and_vectors_are_asked_for() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(options()).await?;
    let agent = harbour.agent(Persona::AgentA);
    let schema = SCHEMA.replace("list: [String]", "list: [String]  said: String? @index");
    done(&agent, "schema_apply", json!({"schema": schema, "branch": "mine"})).await?;
    let more = r#"
        insert Person { slug: "eve", name: "engines and poems" }
        insert Person { slug: "fay", name: "poems" }
        insert Thing { slug: "one", said: "an engine", at: [1.0, 0.0] }
        insert Thing { slug: "two", said: "an engine", at: [0.0, 1.0] }
        insert Thing { slug: "boat", said: "a boat", at: [1.0, 0.1] }"#;
    done(&agent, "graph_mutate", json!({"query": more, "branch": "mine"})).await?;
    let ranked = "match { $t: Thing } return { $t.slug as slug } order { \
        rrf(nearest($t.at, [1.0, 0.0]), bm25($t.said, \"engine\")) desc } limit 1";
    for (query, found) in [
        (r#"match { $p: Person  fuzzy($p.name, "enginse") } return { $p.slug as slug }"#, "eve"),
        (
            r#"match { $p: Person  match_text($p.name, "poems engines") } return { $p.slug as slug }"#,
            "eve",
        ),
        (ranked, "one"),
    ] {
        let answer = done(&agent, "graph_query", json!({"query": query, "branch": "mine"})).await?;
        assert_eq!(slugs_of(&answer), [found], "{query}: {answer}");
    }
    Ok(())
}
