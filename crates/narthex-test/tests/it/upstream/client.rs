//! Our own client takes the HTTP form for a server, in both eras.

use std::sync::Arc;
use std::time::Duration;

use narthex_egress::{EgressClient, EgressConfig, EgressPolicy, LoopbackHttp};
use narthex_gate::upstream::{
    Connector as _, Line, List, ListCaps, RefusesAll, Terms, UpstreamEra, UpstreamQuestion,
    whole_list,
};
use narthex_mcp::{UpstreamConfig, UpstreamConnector};
use narthex_test::upstream::{HttpServer, Offer, Script, Speaks, Step, When, definition};
use serde_json::{Value, json};

use super::chaos::NoNames;

fn question(tool: &str) -> UpstreamQuestion {
    UpstreamQuestion {
        method: "tools/call".to_owned(),
        params: json!({"name": tool}).as_object().cloned().unwrap(),
        name: Some(tool.to_owned()),
        input_schema: None,
        deadline: Duration::from_secs(10),
        progress: None,
        asked: None,
        logs: None,
    }
}

#[tokio::test]
async fn it_greets_lists_calls_and_hears_of_changes() {
    let config = EgressConfig { loopback_http: LoopbackHttp::Allowed, ..EgressConfig::default() };
    let egress = EgressClient::new(EgressPolicy::new(config).unwrap(), Arc::new(NoNames)).unwrap();
    let connector = UpstreamConnector::new(egress, UpstreamConfig::default());
    for (era, modern) in [(Speaks::Both, true), (Speaks::Modern, true), (Speaks::Legacy, false)] {
        let script = Script::new()
            .speaking(era)
            .tool("ask", [Step::roots()])
            .tool("flip", [Step::Flip])
            .turning(When::Flipped, Offer::tools([definition("b")]));
        let server = HttpServer::start(script).await.unwrap();
        let line =
            Line::Http { url: server.url().to_owned(), headers: Vec::new(), credentials: None };
        let terms = Terms {
            era: UpstreamEra::Either,
            connect_deadline: Duration::from_secs(10),
            line_bytes: 1 << 20,
            result_bytes: 1 << 20,
            questions: 8,
        };
        let connection = connector.connect(line, terms, Arc::new(RefusesAll)).await.unwrap();
        assert_eq!(connection.greeting().modern, modern);
        let tools = whole_list(&*connection, List::Tools, &ListCaps::default()).await.unwrap();
        assert_eq!(tools.len(), 2);
        if !modern {
            let said = connection.ask(question("ask")).await.unwrap();
            let said: Value = serde_json::from_str(said.get()).unwrap();
            assert!(said["structuredContent"]["ask"][0]["error"].is_object(), "{said}");
        }
        let mut changes = connection.lists_changed();
        // The stream is opened beside everything else.
        while !server
            .came()
            .iter()
            .any(|came| came.method == "GET" || came.rpc().contains("listen"))
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        connection.ask(question("flip")).await.unwrap();
        tokio::time::timeout(Duration::from_secs(10), changes.changed()).await.unwrap().unwrap();
        assert_eq!(connection.passed_over(), 0);
        connection.close().await;
    }
}
