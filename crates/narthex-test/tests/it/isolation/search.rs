//! A query is only ever text, and only ever finds what is in the space (D03).

use narthex_test::{CANARY_A, CANARY_B, Era, Persona, TestHouse};
use serde_json::{Value, json};

/// Operators of FTS5, of SQL, of other people's search engines; tricks with quotes and nulls.
const HOSTILE: &[&str] = &[
    "quokka",
    "quokka*",
    "\"quokka-canary-b\"",
    "quokka-canary-b",
    "space:b",
    "space:B quokka",
    "space_id:b",
    "*",
    "**",
    "q*",
    "\"",
    "\"\"",
    "\"quokka",
    "'",
    "''",
    "\\",
    "%",
    "_",
    "?",
    "^quokka",
    "body:quokka",
    "title:plans",
    "{body title}: quokka",
    "- {body} : quokka",
    "NEAR(secret plans, 10)",
    "secret NEAR/2 plans",
    "a OR quokka",
    "a AND quokka",
    "NOT a",
    "(quokka)",
    "((",
    "))",
    "welcome OR quokka*",
    "quokka + canary",
    "' OR 1=1 --",
    "'; DROP TABLE pages; --",
    "\" UNION SELECT body FROM pages --",
    "quokka\u{0}canary",
    "\u{feff}quokka",
    "QUOKKA",
    "\u{ff51}\u{ff55}okka",
    "secret plans of B",
    "rowid:1",
    "rank MATCH 'bm25(1)'",
    "fts_2 MATCH quokka",
    "../../b quokka",
    "zebrafinch quokka",
];

#[tokio::test]
async fn forty_hostile_queries_find_nothing_of_another_space() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    assert!(HOSTILE.len() >= 40);
    for era in Era::ALL {
        let (a, b) = (
            house.client(Persona::AgentA).speaking(era),
            house.client(Persona::AgentB).speaking(era),
        );
        let own = slugs(&a.call("context", json!({})).await?.structured()["recent"]);
        for query in HOSTILE {
            for limit in [1, 50] {
                let found = a.call("search", json!({"query": query, "limit": limit})).await?;
                assert!(found.is_ok(), "{query:?}: {found:?}");
                assert!(!found.text.contains(CANARY_B), "{query:?}: {found:?}");
                for slug in slugs(&found.structured()["hits"]) {
                    assert!(own.contains(&slug), "{query:?} found {slug}");
                }
                let found = b.call("search", json!({"query": query, "limit": limit})).await?;
                assert!(found.is_ok() && !found.text.contains(CANARY_A), "{query:?}: {found:?}");
            }
        }
        // The same words do find what is there: an index that finds nothing proves nothing.
        let found = b.call("search", json!({"query": "quokka"})).await?;
        assert!(found.text.contains("quokka"), "{found:?}");
    }
    Ok(())
}

/// A score is a number about the space: what is written elsewhere must not move it.
#[tokio::test]
async fn what_is_written_in_another_space_changes_no_score() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let agent = house.client(Persona::AgentA);
    let before = agent.call("search", json!({"query": "backup server"})).await?;
    assert!(!before.structured()["hits"].as_array().is_none_or(Vec::is_empty), "{before:?}");
    for n in 0..20 {
        house.write("b", &format!("noise-{n}"), &"backup server ".repeat(n + 1)).await?;
    }
    let after = agent.call("search", json!({"query": "backup server"})).await?;
    assert_eq!(after.text, before.text);
    Ok(())
}

fn slugs(list: &Value) -> Vec<String> {
    let slug = |hit: &Value| hit["slug"].as_str().map(str::to_owned);
    list.as_array().map(|list| list.iter().filter_map(slug).collect()).unwrap_or_default()
}
