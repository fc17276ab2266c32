//! Over the database: several edges between the same two, and what is found by words and vectors.

use narthex_graph::GraphError;
use narthex_test::TestHouse;
use serde_json::{Value, json};

use super::Net;

const SCHEMA: &str = "
node Person { slug: String @key  bio: String @index  place: Vector(2)? }
edge Calls: Person -> Person { no: I32 @key  day: Date @key  note: String? }
";

const PEOPLE: &str = r#"{"type":"Person","data":{"slug":"ada","bio":"engines and poems","place":[1,0]}}
{"type":"Person","data":{"slug":"bob","bio":"boats, engine rooms","place":[0,1]}}
{"type":"Person","data":{"slug":"cyd","bio":"poems of the sea","place":[0.6,0.8]}}
"#;

fn call(no: u32, day: &str, note: &str) -> String {
    let data = json!({"no": no, "day": day, "note": note});
    json!({"edge": "Calls", "from": "ada", "to": "bob", "data": data}).to_string() + "\n"
}

async fn calls(net: &Net, on: &str) -> Result<String, GraphError> {
    let source = "match { $p: Person  $p $c:calls $q } \
                  return { $c.no as no, $c.day as day, $c.note as note } order { no, day }";
    let line = |row: &Value| format!("{} {} {}", row["no"], row["day"], row["note"]);
    let rows = net.ask(on, source).await?;
    let lines: Vec<String> = rows.as_array().into_iter().flatten().map(line).collect();
    Ok(lines.join(", ").replace('"', ""))
}

#[tokio::test]
async fn edges_with_keys_are_loaded_and_merged() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let net = Net::open(&house).await?;
    net.schema(SCHEMA).await?;
    let file = [PEOPLE, &call(1, "2026-01-01", "a"), &call(1, "2026-01-02", "b")].concat();
    assert_eq!(net.load("main", &file).await?.counts.edges_inserted, 2);
    assert!(!net.load("main", &file).await?.committed, "the same edges are the same");
    net.fork("work", "main").await?;
    net.load("work", &[call(1, "2026-01-01", "z"), call(2, "2026-01-01", "c")].concat()).await?;
    net.mutate("main", "delete Calls where no = 1 and day = date(\"2026-01-02\")").await?;
    net.merge("work", "main").await?;
    assert_eq!(calls(&net, "main").await?, "1 2026-01-01 z, 2 2026-01-01 c");
    // Which of them two sides disagree on is said by its keys, and resolved by them.
    net.mutate("work", "update Calls set { note: \"w\" } where no = 2").await?;
    net.mutate("main", "update Calls set { note: \"m\" } where no = 2").await?;
    let Err(GraphError::Conflicts(found)) = net.merge("work", "main").await else {
        anyhow::bail!("no conflict")
    };
    let row = json!({"type": "Calls", "from": ["Person", "ada"], "to": ["Person", "bob"],
        "key": ["2", "2026-01-01"]});
    assert_eq!(serde_json::to_value(&found.listed[0].row)?, row);
    let theirs = [serde_json::from_value(json!({"row": row, "take": "theirs"}))?];
    net.merge_with("work", "main", &theirs).await?;
    assert_eq!(calls(&net, "main").await?, "1 2026-01-01 z, 2 2026-01-01 w");
    Ok(())
}

#[tokio::test]
async fn words_are_found_as_in_memory() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let net = Net::open(&house).await?;
    net.schema(SCHEMA).await?;
    net.load("main", PEOPLE).await?;
    net.fork("work", "main").await?;
    net.mutate("work", "update Person set { bio: \"enginse\" } where slug = \"cyd\"").await?;
    let ranked = "order { rrf(nearest($p.place, [1.0, 0.0]), bm25($p.bio, \"poems\")) desc }";
    for (on, condition, order, found) in [
        ("main", "fuzzy($p.bio, \"enginse\")", "order { s }", json!(["ada", "bob"])),
        ("work", "fuzzy($p.bio, \"engines\")", "order { s }", json!(["ada", "bob", "cyd"])),
        ("main", "match_text($p.bio, \"engine rooms\")", "order { s }", json!(["bob"])),
        ("main", "match_text($p.bio, \"poems\")", "order { s }", json!(["ada", "cyd"])),
        ("work", "match_text($p.bio, \"poems\")", "order { s }", json!(["ada"])),
        ("main", "", ranked, json!(["ada", "cyd", "bob"])),
        ("main", "$p.slug != \"ada\"", ranked, json!(["cyd", "bob"])),
    ] {
        let source = format!(
            "match {{ $p: Person  {condition} }} return {{ $p.slug as s }} {order} limit 9"
        );
        let rows = net.ask(on, &source).await?;
        let slugs: Vec<&Value> = rows.as_array().into_iter().flatten().map(|of| &of["s"]).collect();
        assert_eq!(json!(slugs), found, "{on}: {source}");
    }
    Ok(())
}

#[tokio::test]
async fn scores_are_of_what_is_seen_there_whatever_other_branches_say() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let net = Net::open(&house).await?;
    net.schema(SCHEMA).await?;
    net.load("main", PEOPLE).await?;
    let scores = "match { $p: Person } \
                  return { $p.slug as s, bm25($p.bio, \"poems\") as score } order { s }";
    let before = net.ask("main", scores).await?;
    assert!(before[0]["score"].as_f64() > before[2]["score"].as_f64(), "{before}");
    assert!(before[1]["score"].is_null(), "{before}");
    // On another branch, and for a while on this one.
    net.fork("work", "main").await?;
    let person = |n: usize| {
        json!({"type": "Person", "data": {"slug": format!("p{n}"),
        "bio": "poems, many poems, nothing but poems and more of them"}})
    };
    let many: Vec<String> = (0..40).map(|n| person(n).to_string()).collect();
    net.load("work", &many.join("\n")).await?;
    net.mutate("main", "update Person set { bio: \"poems, poems\" } where slug = \"bob\"").await?;
    let then = net.ask("main", scores).await?;
    assert_ne!(then[0]["score"], before[0]["score"], "the texts that are found are others");
    net.mutate("main", "update Person set { bio: \"boats, engine rooms\" } where slug = \"bob\"")
        .await?;
    assert_eq!(net.ask("main", scores).await?, before);
    Ok(())
}
