//! The reference: rmcp's own server on pipes and over HTTP, asked in both eras.

use std::sync::Arc;

use narthex_gate::upstream::{
    AskedByServer, Connection, Connector as _, Line, List, ListCaps, Terms, UpstreamEra,
    UpstreamFault, UpstreamQuestion, whole_list,
};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResult, ContentBlock, ProgressNotificationParam, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _, tool, tool_handler, tool_router,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::{Answers, ask, call, connector, terms};

#[derive(Debug, Clone)]
struct Reference;

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    #[schemars(extend("x-mcp-header" = "Text"))]
    text: String,
}

#[tool_router]
impl Reference {
    #[tool(description = "Says it again.")]
    async fn echo(
        &self,
        Parameters(Echo { text }): Parameters<Echo>,
    ) -> Result<CallToolResult, ErrorData> {
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
    }

    #[tool(description = "Says how far it is.")]
    async fn steps(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let token = context.meta.get_progress_token();
        for n in 1..=3 {
            if let Some(token) = token.clone() {
                let said = ProgressNotificationParam::new(token, f64::from(n));
                let _ = context.peer.notify_progress(said).await;
            }
        }
        Ok(CallToolResult::success(vec![ContentBlock::text("done")]))
    }

    #[tool(description = "Asks its client for roots.")]
    #[expect(deprecated, reason = "older servers do")]
    async fn roots(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let said = match context.peer.list_roots().await {
            Ok(roots) => format!("{} roots", roots.roots.len()),
            Err(_) => "refused".to_owned(),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(said)]))
    }
}

#[tool_handler]
impl ServerHandler for Reference {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed();
        ServerConfig::new(capabilities.build())
    }
}

fn pipes() -> (Line, AbortOnDropHandle<()>) {
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    let (from, to) = tokio::io::split(theirs);
    #[expect(clippy::disallowed_methods, reason = "ends with the test")]
    let serving = tokio::spawn(async move {
        if let Ok(running) = Reference.serve(tokio::io::split(ours)).await {
            let _ = running.waiting().await;
        }
    });
    let line = Line::Pipes { to: Box::new(to), from: Box::new(from) };
    (line, AbortOnDropHandle::new(serving))
}

async fn http(change: fn(&mut StreamableHttpServerConfig)) -> (Line, AbortOnDropHandle<()>) {
    let mut config = StreamableHttpServerConfig::default();
    change(&mut config);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Reference), sessions, config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a listener");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let router = axum::Router::new().route_service("/mcp", service);
    #[expect(clippy::disallowed_methods, reason = "ends with the test")]
    let serving = tokio::spawn(async move {
        let _ = axum::serve(listener, router).await;
    });
    let line = Line::Http { url, headers: Vec::new(), credentials: None };
    (line, AbortOnDropHandle::new(serving))
}

async fn connect(
    line: Line,
    era: UpstreamEra,
    asked: Arc<dyn AskedByServer>,
) -> Arc<dyn Connection> {
    let connection = connector().connect(line, Terms { era, ..terms() }, asked).await;
    connection.expect("a connection")
}

fn value(raw: &serde_json::value::RawValue) -> Value {
    serde_json::from_str(raw.get()).expect("JSON")
}

/// What every server of the reference does, whichever way it is reached.
async fn behaves(connection: &dyn Connection, modern: bool) {
    let greeting = connection.greeting();
    assert_eq!(greeting.modern, modern);
    assert_eq!(greeting.revision, if modern { "2026-07-28" } else { "2025-11-25" });
    assert!(greeting.server_info.get("name").is_some(), "{greeting:?}");
    let tools = whole_list(connection, List::Tools, &ListCaps::default()).await.expect("tools");
    let mut names: Vec<_> = tools.iter().map(|tool| value(tool)["name"].clone()).collect();
    names.sort_by_key(ToString::to_string);
    assert_eq!(names, ["echo", "roots", "steps"]);
    let echo = tools.iter().map(|tool| value(tool)).find(|tool| tool["name"] == "echo");
    let schema = Arc::new(echo.expect("echo")["inputSchema"].clone());
    for text in ["plain", " padded ", "caf\u{e9} \u{2028}", "a\r\nb: c", "=?base64?eA==?="] {
        let params = json!({"name": "echo", "arguments": {"text": text}});
        let input_schema = Some(Arc::clone(&schema));
        let question = UpstreamQuestion { input_schema, ..ask("tools/call", &params) };
        let said = value(&connection.ask(question).await.expect("a result"));
        assert_eq!(said["content"][0]["text"], text);
        assert_eq!(said.get("resultType").is_some(), modern, "{said}");
    }
    let (to, mut heard) = mpsc::channel(8);
    let steps = UpstreamQuestion { progress: Some(to), ..call("steps") };
    connection.ask(steps).await.expect("a result");
    assert!(heard.recv().await.is_some_and(|said| said.progress >= 1.0));
    let unknown = connection.ask(call("nobody")).await.expect_err("unknown");
    assert!(matches!(unknown, UpstreamFault::Refused { code: -32602, .. }), "{unknown:?}");
    let missing = connection.ask(ask("x/y", &json!({}))).await.expect_err("missing");
    assert!(matches!(missing, UpstreamFault::Refused { .. }), "{missing:?}");
    assert_eq!(connection.passed_over(), 0);
    assert!(connection.ended().is_none());
}

#[tokio::test]
async fn pipes_in_both_eras() {
    for (era, modern) in
        [(UpstreamEra::Either, true), (UpstreamEra::Modern, true), (UpstreamEra::Legacy, false)]
    {
        let (line, _serving) = pipes();
        let connection = connect(line, era, Arc::new(Answers::default())).await;
        behaves(&*connection, modern).await;
        if !modern {
            let said = value(&connection.ask(call("roots")).await.expect("a result"));
            assert_eq!(said["content"][0]["text"], "0 roots");
        }
        connection.close().await;
    }
}

#[tokio::test]
async fn http_in_both_eras_with_and_without_sessions() {
    let changes: [fn(&mut StreamableHttpServerConfig); 3] = [
        |_| {},
        |config| config.legacy_session_mode = false,
        |config| (config.legacy_session_mode, config.json_response) = (false, true),
    ];
    for (n, change) in changes.into_iter().enumerate() {
        for (era, modern) in
            [(UpstreamEra::Either, true), (UpstreamEra::Modern, true), (UpstreamEra::Legacy, false)]
        {
            let (line, _serving) = http(change).await;
            let connection = connect(line, era, Arc::new(Answers::default())).await;
            if n < 2 {
                behaves(&*connection, modern).await;
            } else {
                connection.ask(call("steps")).await.expect("JSON alone");
            }
            if n == 0 && !modern {
                let said = value(&connection.ask(call("roots")).await.expect("a result"));
                assert_eq!(said["content"][0]["text"], "0 roots");
            }
            connection.close().await;
        }
    }
}
