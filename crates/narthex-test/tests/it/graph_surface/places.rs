//! Looking at a branch, a commit and a moment; pages of one answer.

use narthex_test::{Era, Persona};
use serde_json::{Value, json};

use super::harbour::{Harbour, code, done, insert, options, slugs, slugs_of};

#[tokio::test]
async fn a_branch_a_commit_and_a_moment() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(options()).await?;
    let agent = harbour.agent(Persona::AgentA);
    let base = done(&agent, "graph_snapshot", json!({})).await?["commit"].clone();
    let first = done(&agent, "graph_mutate", insert("cyd", "mine")).await?["commit"].clone();
    let log = done(&agent, "commit_list", json!({"branch": "mine", "limit": 1})).await?;
    let moment = log["commits"][0]["at"].as_str().expect("a moment").to_owned();
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    let second = done(&agent, "graph_mutate", insert("dan", "mine")).await?["commit"].clone();
    let (two, three, four) =
        (vec!["ada", "bob"], vec!["ada", "bob", "cyd"], vec!["ada", "bob", "cyd", "dan"]);
    for era in Era::ALL {
        let agent = agent.speaking(era);
        for (place, expected, commit) in [
            (json!({}), &two, &base),
            (json!({"branch": "main"}), &two, &base),
            (json!({"branch": "mine"}), &four, &second),
            (json!({"snapshot": base}), &two, &base),
            (json!({"snapshot": first}), &three, &first),
            (json!({"snapshot": second}), &four, &second),
            (json!({"branch": "mine", "snapshot": moment}), &three, &first),
            (json!({"branch": "main", "snapshot": moment}), &two, &base),
        ] {
            let found = done(&agent, "graph_query", slugs(&place)).await?;
            assert_eq!(&slugs_of(&found), expected, "{place}");
            assert_eq!(&found["commit"], commit, "{place}");
            let stored = done(&agent, "everyone", place.clone()).await?;
            assert_eq!(&slugs_of(&stored), expected, "{place}");
            let counted = done(&agent, "graph_snapshot", place.clone()).await?;
            let people = counted["types"].as_array().expect("types");
            let people = people.iter().find(|of| of["name"] == "Person").expect("people");
            assert_eq!(people["rows"], json!(expected.len().to_string()), "{place}");
            assert_eq!(&done(&agent, "schema_get", place).await?["commit"], commit);
        }
        let none = "0".repeat(64);
        for (place, told) in [
            (json!({"branch": "none"}), "not_found"),
            (json!({"snapshot": none}), "not_found"),
            (json!({"branch": "mine", "snapshot": "1970-01-01T00:00:00Z"}), "not_found"),
            (json!({"branch": "mine", "snapshot": first}), "invalid_arguments"),
            (json!({"snapshot": "yesterday"}), "invalid_arguments"),
            (json!({"snapshot": ""}), "invalid_arguments"),
        ] {
            for tool in ["graph_query", "everyone", "graph_snapshot", "schema_get"] {
                let arguments = if tool == "graph_query" { slugs(&place) } else { place.clone() };
                assert_eq!(code(&agent, tool, arguments).await?, told, "{tool} {place}");
            }
        }
    }
    Ok(())
}

/// Pages are of the commit of the first, whatever is written meanwhile, and of that answer alone.
#[tokio::test]
async fn pages_are_of_one_answer() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(options()).await?;
    let agent = harbour.agent(Persona::AgentA);
    for slug in ["cyd", "dan"] {
        done(&agent, "graph_mutate", insert(slug, "mine")).await?;
    }
    let (mut all, mut cursor) = (Vec::new(), Value::Null);
    let mut pages = 0;
    loop {
        let mut place = json!({"branch": "mine", "page_size": 1});
        if cursor.is_string() {
            place["cursor"] = cursor.clone();
        }
        let page = done(&agent, "graph_query", slugs(&place)).await?;
        all.extend(slugs_of(&page));
        pages += 1;
        done(&agent, "graph_mutate", insert(&format!("a{pages}"), "mine")).await?;
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!((all, pages), (["ada", "bob", "cyd", "dan"].map(str::to_owned).to_vec(), 4));
    let first = done(&agent, "graph_query", slugs(&json!({"page_size": 1}))).await?;
    let cursor = first["next_cursor"].as_str().expect("a cursor").to_owned();
    let other = "match { $p: Person } return { $p.name as slug } order { $p.slug }";
    let mut cut = cursor.clone();
    cut.pop();
    for arguments in [
        json!({"query": other, "page_size": 1, "cursor": cursor}),
        json!({"query": other, "cursor": "x"}),
        slugs(&json!({"cursor": ""})),
        slugs(&json!({"cursor": cut})),
        slugs(&json!({"cursor": "A".repeat(4_096)})),
    ] {
        assert_eq!(
            code(&agent, "graph_query", arguments.clone()).await?,
            "invalid_arguments",
            "{arguments}"
        );
    }
    // Another graph's is of a commit that is not in this one.
    let quay = harbour.house.graph_client(Persona::AgentA, "quay");
    let foreign =
        code(&quay, "graph_query", slugs(&json!({"page_size": 1, "cursor": cursor}))).await?;
    assert_eq!(foreign, "not_found");
    Ok(())
}

/// Another graph's commits and branches are nowhere in this one.
#[tokio::test]
async fn nothing_of_one_graph_is_reached_through_another() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(options()).await?;
    let agent = harbour.agent(Persona::AgentA);
    let lagoon = harbour.house.graph_client(Persona::AgentB, "lagoon");
    let there = done(&lagoon, "graph_snapshot", json!({})).await?["commit"].clone();
    let none = json!("f".repeat(64));
    for tool in ["graph_snapshot", "schema_get", "everyone", "branch_create"] {
        let mut seen = Vec::new();
        for commit in [&there, &none] {
            let mut arguments = json!({"snapshot": commit});
            if tool == "branch_create" {
                arguments["name"] = "fork".into();
            }
            let answer = agent.call(tool, arguments).await?;
            assert_eq!(answer.tool_code().as_deref(), Some("not_found"), "{tool}: {answer:?}");
            seen.push(answer.text.replace(commit.as_str().expect("a commit"), "COMMIT"));
        }
        assert_eq!(seen[0], seen[1], "{tool}");
    }
    assert_eq!(code(&agent, "commit_get", json!({"commit": there})).await?, "not_found");
    let expected = json!({"query": r#"update Person set { age: 1 } where slug = "ada""#, "branch": "mine", "expected_head": there});
    let told = agent.call("graph_mutate", expected).await?;
    assert_eq!(told.tool_code().as_deref(), Some("conflict"), "{told:?}");
    for (method, params) in [
        ("tools/list", json!({})),
        ("resources/read", json!({"uri": "graph://branches"})),
        ("tools/call", json!({"name": "commit_list", "arguments": {}})),
        ("tools/call", json!({"name": "graph_query", "arguments": slugs(&json!({}))})),
    ] {
        let answer = agent.request(method, params).await?;
        assert!(!answer.text.contains(super::harbour::CANARY), "{method}: {answer:?}");
        assert!(!answer.text.contains("lagoon"), "{method}: {answer:?}");
    }
    Ok(())
}
