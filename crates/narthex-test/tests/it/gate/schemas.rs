//! What a tool says about itself is true: its schemas, its hints, its two ways of answering.

use narthex_server::owner::{Reply, Request};
use narthex_test::{Era, LineClient, Persona, TestHouse};
use serde_json::{Value, json};

#[tokio::test]
async fn structured_content_fits_the_advertised_schema_and_the_text_mirrors_it()
-> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    for era in Era::ALL {
        let agent = house.client(Persona::AgentA).speaking(era);
        let tools = agent.request("tools/list", json!({})).await?.result()["tools"].clone();
        let mut seen = Vec::new();
        for (tool, arguments) in calls(&format!("{era:?}").to_lowercase()) {
            let answer = agent.call(tool, arguments).await?;
            fits(&tools, tool, &answer)?;
            seen.push(tool);
        }
        house
            .owner(Request::PageEdit {
                space: "a".into(),
                page: "home".into(),
                base: None,
                slug: None,
                title: None,
                body: Some(format!("Edited {era:?} [[nowhere]]")),
                tags: Some(Vec::new()),
            })
            .await?;
        let inbox = Request::InboxList { space: None, statuses: Vec::new(), limit: 10 };
        let Reply::Proposals(waiting) = house.owner(inbox).await? else {
            anyhow::bail!("no inbox")
        };
        for (n, proposal) in waiting.iter().enumerate() {
            let proposal = proposal.id.to_string();
            // Applied, rejected and in conflict: each has its own shape in `context`.
            let _ = if n == 0 {
                house.owner(Request::InboxReject { proposal, reason: "no".into() }).await
            } else {
                house.owner(Request::InboxApprove { proposal }).await
            };
        }
        let answer = agent.call("context", json!({})).await?;
        fits(&tools, "context", &answer)?;
        let listed = tools.as_array().map_or(0, Vec::len);
        seen.dedup();
        assert_eq!(seen.len(), listed, "a tool whose answers were not looked at");
    }
    Ok(())
}

#[tokio::test]
async fn the_companions_answers_fit_their_schemas_too() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let talk = Request::ConversationAdd { title: "Talk".into(), body: "words".into() };
    let Reply::Conversation(talk) = house.owner(talk).await? else { anyhow::bail!("no talk") };
    let mut companion =
        LineClient::start(house.house(), Request::Companion { space: None }).await?;
    let tools = companion.request("tools/list", json!({})).await?.result()["tools"].clone();
    for (tool, mut arguments) in calls("companion") {
        if tool == "propose_change" {
            arguments["space"] = "a".into();
        }
        fits(&tools, tool, &companion.call(tool, arguments).await?)?;
    }
    let talk = json!({"kind": "conversation", "id": talk.id.to_string()});
    fits(&tools, "read", &companion.call("read", talk).await?)?;
    companion.close().await;
    Ok(())
}

/// What the schema takes is what the tool takes: nothing beside it, at any level.
#[tokio::test]
async fn every_tool_says_everything_about_itself() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    for era in Era::ALL {
        let agent = house.client(Persona::AgentA).speaking(era);
        let list = agent.request("tools/list", json!({})).await?;
        let result = list.result();
        assert_eq!(list.tool_names(), ["search", "read", "context", "propose_change"]);
        assert!(result.get("nextCursor").is_none_or(Value::is_null), "{result}");
        for tool in result["tools"].as_array().cloned().unwrap_or_default() {
            let name = tool["name"].as_str().unwrap_or_default();
            for text in ["title", "description"] {
                assert!(tool[text].as_str().is_some_and(|text| text.len() > 3), "{name} {text}");
            }
            let looks = name != "propose_change";
            let hints = &tool["annotations"];
            assert_eq!(hints["readOnlyHint"], looks, "{name}");
            assert_eq!(hints["destructiveHint"], false, "{name}");
            assert_eq!(hints["idempotentHint"], looks, "{name}");
            assert_eq!(hints["openWorldHint"], false, "{name}");
            for schema in ["inputSchema", "outputSchema"] {
                assert_eq!(tool[schema]["type"], "object", "{name} {schema}");
                jsonschema::meta::validate(&tool[schema])
                    .map_err(|error| anyhow::anyhow!("{name}: {error}"))?;
            }
            assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
            let asked = tool["inputSchema"].to_string();
            assert!(!asked.contains("\"space"), "{name} asks for a space");
        }
    }
    Ok(())
}

fn calls(word: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("search", json!({"query": "welcome"})),
        ("search", json!({"query": "nothing-has-this"})),
        ("read", json!({"kind": "page", "id": "home"})),
        ("read", json!({"kind": "page", "id": "guides/setup"})),
        ("context", json!({})),
        (
            "propose_change",
            json!({"entity_type": "page", "action": "create", "reason": "r",
            "payload": {"slug": format!("new-{word}"), "title": "New", "tags": ["x", "a"]}}),
        ),
        (
            "propose_change",
            json!({"entity_type": "page", "action": "update", "id": "home", "reason": "r",
            "payload": {"body": "Other."}}),
        ),
        (
            "propose_change",
            json!({"entity_type": "page", "action": "delete", "id": "guides/setup", "reason": "r"}),
        ),
    ]
}

fn fits(tools: &Value, name: &str, answer: &narthex_test::Answer) -> anyhow::Result<()> {
    anyhow::ensure!(answer.is_ok(), "{name}: {answer:?}");
    let tool = tools.as_array().into_iter().flatten().find(|tool| tool["name"] == name);
    let schema = tool.map(|tool| tool["outputSchema"].clone()).unwrap_or_default();
    let structured = answer.structured();
    anyhow::ensure!(structured.is_object(), "{name}: {answer:?}");
    jsonschema::validate(&schema, &structured)
        .map_err(|error| anyhow::anyhow!("{name}: {error}: {structured}"))?;
    let text =
        answer.result().pointer("/content/0/text").and_then(Value::as_str).map(str::to_owned);
    let mirror: Value = serde_json::from_str(&text.unwrap_or_default())?;
    anyhow::ensure!(
        mirror == structured,
        "{name}: text and structure differ: {mirror} {structured}"
    );
    Ok(())
}
