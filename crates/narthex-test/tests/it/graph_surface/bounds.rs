//! Bounds: of messages, of names, of branches, of what a query may take.

use anyhow::Context as _;
use narthex_test::{Era, Persona};
use serde_json::{Value, json};

use super::harbour::{Harbour, code, done, insert, options};

const BODY: usize = 16 * 1024;
const LOAD: usize = 64 * 1024;

/// A message of exactly so many bytes: a call of `tool` with filling where it may be.
fn sized(mut message: Value, at: &str, bytes: usize) -> String {
    let length = message.to_string().len();
    let filling = message.pointer_mut(at).expect("a place");
    *filling = "\n".repeat((bytes - length) / 2).into();
    let text = message.to_string();
    // A line feed is two bytes in JSON; a blank more makes an odd number even.
    format!("{text}{}", " ".repeat(bytes - text.len()))
}

/// A load has a bound of its own, higher or lower than that of the rest, and loosens no other.
#[tokio::test]
async fn only_a_load_may_be_large() -> anyhow::Result<()> {
    for (body, load) in [(BODY, LOAD), (LOAD, BODY)] {
        let mut options = options();
        (options.edge.body_bytes, options.graphs.load_bytes) = (body, load);
        let harbour = Harbour::with_mine(options).await?;
        for era in Era::ALL {
            let graph = harbour.agent(Persona::AgentA).speaking(era);
            let workspace = harbour.house.client(Persona::AgentA).speaking(era);
            let call = |tool: &str, arguments: Value| {
                graph.message("tools/call", json!({"name": tool, "arguments": arguments}))
            };
            let rows = call("graph_load", json!({"data": "", "branch": "mine"}));
            let other = call("graph_query", json!({"query": ""}));
            let looks_like = call("graph_query", json!({"query": "", "name": "graph_load"}));
            let method = graph
                .message("graph_load", json!({"name": "graph_load", "arguments": {"data": ""}}));
            let data = "/params/arguments/data";
            let query = "/params/arguments/query";
            for (client, message, at, most) in [
                (&graph, &rows, data, load),
                (&graph, &other, query, body),
                (&graph, &looks_like, query, body),
                (&graph, &method, data, body),
                (&workspace, &rows, data, body),
                (&workspace, &other, query, body),
            ] {
                for (bytes, large) in [(most, false), (most + 1, true)] {
                    let before = harbour.house.seq().await?;
                    let name = message["params"]["name"].as_str().unwrap_or_default().to_owned();
                    let mut headers = vec![
                        ("content-type", "application/json"),
                        ("accept", "application/json, text/event-stream"),
                        ("mcp-protocol-version", era.version()),
                    ];
                    if era == Era::Modern {
                        headers
                            .push(("mcp-method", message["method"].as_str().unwrap_or_default()));
                        headers.push(("mcp-name", &name));
                    }
                    let sent = sized(message.clone(), at, bytes);
                    assert_eq!(sent.len(), bytes);
                    let answer = client.post(&headers, sent).await?;
                    let what = format!("{era:?} {body} {load} {bytes} {name}: {answer:?}");
                    assert_eq!(answer.status == 413, large, "{what}");
                    if large {
                        assert_eq!(
                            answer.door_code().as_deref(),
                            Some("payload_too_large"),
                            "{what}"
                        );
                        assert!(harbour.house.records_after(before).await?.len() <= 1, "{what}");
                    } else if message == &rows && std::ptr::eq(client, &raw const graph) {
                        assert!(answer.is_ok(), "{what}");
                    }
                }
            }
        }
    }
    Ok(())
}

/// Names that are none: told what one is, without a path, a row or a record of them being made.
#[tokio::test]
async fn hostile_names_of_branches_are_refused() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(options()).await?;
    let agent = harbour.agent(Persona::AgentA);
    let long = "a".repeat(10_240);
    let fits = "a".repeat(128);
    let names = [
        "../x",
        "..",
        ".",
        "/",
        "/etc/passwd",
        "a/../b",
        "a/",
        "/a",
        "a//b",
        "a\u{0}b",
        "\u{0}",
        "a b",
        " a",
        "a\n",
        "ä",
        "а",
        "\u{202e}x",
        "x\u{200b}",
        "a%2fb",
        "a\\b",
        "-a",
        ".a",
        "a.",
        "main'--",
        "main;DROP TABLE graphs",
        "*",
        "$x",
        "a@b",
        "",
        long.as_str(),
    ];
    let head = done(&agent, "graph_snapshot", json!({})).await?["commit"].clone();
    for (n, name) in names.iter().copied().enumerate() {
        let line = "";
        let calls = [
            ("branch_create", json!({"name": name})),
            ("branch_create", json!({"name": "fine", "from": name})),
            ("branch_delete", json!({"branch": name})),
            ("branch_merge", json!({"from": name, "into": "mine"})),
            ("branch_merge", json!({"from": "mine", "into": name})),
            ("graph_mutate", insert("x", name)),
            ("graph_load", json!({"data": line, "branch": name, "from": "main"})),
            ("graph_load", json!({"data": line, "branch": "fine", "from": name})),
            (
                "graph_query",
                json!({"query": "match { $p: Person } return { $p.slug }", "branch": name}),
            ),
            ("graph_snapshot", json!({"branch": name})),
            ("commit_list", json!({"branch": name})),
            ("schema_apply", json!({"schema": "", "branch": name})),
            ("everyone", json!({"branch": name})),
            ("add", json!({"params": {"slug": "x", "name": "X"}, "branch": name})),
        ];
        // Each tool meets the worst of them, and each name some of the tools.
        let worst = ["../x", "\u{0}", "", long.as_str()].contains(&name);
        for (_, (tool, arguments)) in
            calls.into_iter().enumerate().filter(|(at, _)| worst || (at + n) % 5 == 0)
        {
            let answer = agent.call(tool, arguments).await?;
            let told = answer.tool_code();
            assert_eq!(told.as_deref(), Some("invalid_arguments"), "{tool} {name:?}: {answer:?}");
            assert!(answer.text.len() < 2_000, "{tool} {name:?}: {answer:?}");
        }
    }
    let branches = done(&agent, "branch_list", json!({})).await?;
    let names: Vec<_> = branches["branches"]
        .as_array()
        .expect("branches")
        .iter()
        .map(|one| one["name"].clone())
        .collect();
    assert_eq!(names, ["main", "mine", "team"]);
    assert_eq!(done(&agent, "graph_snapshot", json!({})).await?["commit"], head);
    done(&agent, "branch_create", json!({"name": fits})).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_has_so_many_branches_of_its_own() -> anyhow::Result<()> {
    let harbour = Harbour::open().await?;
    let agent = harbour.agent(Persona::AgentA);
    // However many it asks for at once.
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..120 {
        let (agent, name) = (agent.clone(), format!("b{n}"));
        let (tool, arguments) = if n % 3 == 0 {
            ("graph_load", json!({"data": "", "branch": name, "from": "main"}))
        } else {
            ("branch_create", json!({"name": name}))
        };
        calls.spawn(
            async move { Ok::<_, anyhow::Error>((name, agent.call(tool, arguments).await?)) },
        );
    }
    let mut made = Vec::new();
    while let Some(answer) = calls.join_next().await {
        let (name, answer) = answer??;
        match answer.tool_code().as_deref() {
            None if answer.is_ok() => made.push(name),
            told => assert_eq!(told, Some("limit_reached"), "{answer:?}"),
        }
    }
    assert_eq!(made.len(), 100);
    let load = json!({"data": "", "branch": "one-more", "from": "main"});
    assert_eq!(code(&agent, "branch_create", json!({"name": "one-more"})).await?, "limit_reached");
    assert_eq!(code(&agent, "graph_load", load.clone()).await?, "limit_reached");
    // Another's are its own, and one that is gone makes room.
    let other = harbour.newcomer("scout", narthex_core::Tier::T1).await?;
    done(&other, "branch_create", json!({"name": "theirs"})).await?;
    // (A load leaves a commit on its branch, which would be lost with it.)
    let empty =
        |name: &&String| name.trim_start_matches('b').parse::<u32>().is_ok_and(|n| n % 3 != 0);
    let empty = made.iter().find(empty).context("one without a commit of its own")?;
    done(&agent, "branch_delete", json!({"branch": empty})).await?;
    done(&agent, "graph_load", load).await?;
    Ok(())
}

/// What would take too much says so, changes nothing, and is over at once for others.
#[tokio::test]
async fn what_would_take_too_much_says_so() -> anyhow::Result<()> {
    let mut options = options();
    let limits = &mut options.graphs.limits;
    (limits.bindings, limits.changes) = (2_000, 100);
    let harbour = Harbour::with_mine(options).await?;
    let agent = harbour.agent(Persona::AgentA);
    let line = |n: u32| format!(r#"{{"type":"Person","data":{{"slug":"p{n}","name":"P"}}}}"#);
    let lines: Vec<_> = (0..140).map(line).collect();
    done(&agent, "graph_load", json!({"data": lines.join("\n"), "branch": "mine"})).await?;
    let cross = "match { $a: Person  $b: Person  $c: Person } return { count($a) as n }";
    let asked = json!({"query": cross, "branch": "mine"});
    let answer = agent.call("graph_query", asked).await?;
    assert_eq!(answer.tool_code().as_deref(), Some("limit_reached"), "{answer:?}");
    let before = harbour.people("mine").await?;
    let all =
        json!({"query": r#"update Person set { age: 1 } where slug != """#, "branch": "mine"});
    let answer = agent.call("graph_mutate", all).await?;
    assert_eq!(answer.tool_code().as_deref(), Some("limit_reached"), "{answer:?}");
    assert_eq!(harbour.people("mine").await?, before);
    let many = (0..65).map(|n| format!(r#"insert Person {{ slug: "q{n}", name: "Q" }} "#));
    let many = json!({"query": many.collect::<String>(), "branch": "mine"});
    assert_eq!(code(&agent, "graph_mutate", many).await?, "invalid_arguments");
    // Deep and long texts are refused as texts.
    for query in [
        format!("match {{ $p: Person  {} }} return {{ $p.slug }}", "not { ".repeat(2_000)),
        format!(
            "match {{ $p: Person  $p.age > {}1{} }} return {{ $p.slug }}",
            "(".repeat(20_000),
            ")".repeat(20_000)
        ),
        "query ".repeat(10_000),
        "\u{0}".repeat(1_000),
        "x".repeat(131_073),
        "match { $p: Person  $p knows {1,99} $f } return { $f.slug }".to_owned(),
    ] {
        let answer = agent.call("graph_query", json!({"query": query})).await?;
        assert_eq!(answer.tool_code().as_deref(), Some("invalid_arguments"), "{answer:?}");
        assert!(answer.text.len() < 20_000, "{}", answer.text.len());
    }
    Ok(())
}

/// A load is all or nothing, and says which line is wrong.
#[tokio::test]
async fn a_load_is_all_or_nothing() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(options()).await?;
    let agent = harbour.agent(Persona::AgentA);
    let good = r#"{"type":"Person","data":{"slug":"cyd","name":"Cyd"}}"#;
    for bad in [
        "{",
        "[]",
        "null",
        "\u{0}",
        r#"{"type":"Persn","data":{}}"#,
        r#"{"type":"Person","data":{"slug":"x"}}"#,
        r#"{"type":"Person","data":{"slug":"x","name":"X","age":"1"}}"#,
        r#"{"type":"Person","data":{"slug":"x","name":"X","score":1}}"#,
        r#"{"type":"Person","data":{"slug":"x","name":"X"},"more":1}"#,
        r#"{"edge":"Knows","from":"ada","to":"nobody"}"#,
        r#"{"type":"Person","type":"Person","data":{"slug":"x","name":"X"}}"#,
    ] {
        let data = format!("{good}\n{bad}");
        let answer = agent.call("graph_load", json!({"data": data, "branch": "mine"})).await?;
        assert_eq!(answer.tool_code().as_deref(), Some("invalid_arguments"), "{bad}: {answer:?}");
        assert_eq!(harbour.people("mine").await?, "ada:36 bob:40", "{bad}");
    }
    let answer = agent.call("graph_load", json!({"data": good, "branch": "new"})).await?;
    assert_eq!(answer.tool_code().as_deref(), Some("not_found"), "{answer:?}");
    let made =
        done(&agent, "graph_load", json!({"data": good, "branch": "new", "from": "main"})).await?;
    assert_eq!(made["counts"]["nodes_inserted"], "1");
    let again = json!({"data": good, "branch": "new", "from": "main"});
    assert_eq!(code(&agent, "graph_load", again).await?, "conflict");
    let same = done(&agent, "graph_load", json!({"data": good, "branch": "new"})).await?;
    assert_eq!((&same["committed"], &same["commit"]), (&json!(false), &made["commit"]));
    let append = json!({"data": good, "branch": "new", "mode": "append"});
    assert_eq!(code(&agent, "graph_load", append).await?, "invalid_arguments");
    Ok(())
}
