//! Every behaviour of rmcp that the edge relies on. If one of these fails after an update, the
//! wire changed under us.

use std::sync::Arc;

use rmcp::model::{
    CacheScope, CallToolResult, ContentBlock, DiscoverResult, ElicitRequest, ElicitRequestParams,
    EmptyObject, ErrorCode, ErrorData, Implementation, InitializeResult, InputRequest,
    InputRequiredResult, ListToolsResult, MetaObject, ProtocolVersion, ResultType,
    ServerCapabilities, Tool, ToolAnnotations,
};
use serde_json::{Map, json, to_value};

#[test]
fn revisions() {
    let known: Vec<&str> =
        ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str).collect();
    // A new one here is a decision to take, not one to inherit.
    assert_eq!(known, ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
    assert_eq!(ProtocolVersion::LATEST_WITH_INITIALIZE.as_str(), "2025-11-25");
    assert!(ProtocolVersion::V_2025_11_25.has_initialize());
    assert!(!ProtocolVersion::V_2026_07_28.has_initialize());
}

#[test]
fn error_codes() {
    for (code, number) in [
        (ErrorCode::PARSE_ERROR, -32700),
        (ErrorCode::INVALID_REQUEST, -32600),
        (ErrorCode::METHOD_NOT_FOUND, -32601),
        (ErrorCode::INVALID_PARAMS, -32602),
        (ErrorCode::INTERNAL_ERROR, -32603),
        (ErrorCode::HEADER_MISMATCH, -32020),
        (ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY, -32021),
        (ErrorCode::UNSUPPORTED_PROTOCOL_VERSION, -32022),
    ] {
        assert_eq!(code.0, number);
    }
    let plain = ErrorData::new(ErrorCode::PARSE_ERROR, "no", None);
    assert_eq!(to_value(plain).expect("JSON"), json!({"code": -32700, "message": "no"}));
}

#[test]
fn handshake_and_discovery() {
    let capabilities = ServerCapabilities::builder().enable_tools().build();
    assert_eq!(to_value(&capabilities).expect("JSON"), json!({"tools": {}}));
    let me = Implementation::new("n", "1").with_title("t");
    assert_eq!(to_value(&me).expect("JSON"), json!({"name": "n", "title": "t", "version": "1"}));
    let initialize = InitializeResult::new(capabilities.clone())
        .with_protocol_version(ProtocolVersion::V_2025_06_18)
        .with_server_info(me.clone())
        .with_instructions("i");
    assert_eq!(
        to_value(initialize).expect("JSON"),
        json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "n", "title": "t", "version": "1"}, "instructions": "i",
        })
    );
    let discover = DiscoverResult::new(vec![ProtocolVersion::V_2026_07_28], capabilities)
        .with_ttl_ms(5)
        .with_cache_scope(CacheScope::Private)
        .with_server_info(me);
    assert_eq!(
        to_value(discover).expect("JSON"),
        json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}}, "ttlMs": 5, "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "n", "title": "t", "version": "1"}},
        })
    );
    assert_eq!(to_value(EmptyObject {}).expect("JSON"), json!({}));
}

#[test]
fn tools_and_lists() {
    let schema = Arc::new(Map::from_iter([("type".to_owned(), json!("object"))]));
    let annotations = ToolAnnotations::with_title("T")
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    let mut tool = Tool::new("name", "what", Arc::clone(&schema))
        .with_title("T")
        .with_annotations(annotations);
    tool.output_schema = Some(schema);
    let list = ListToolsResult::with_all_items(vec![tool])
        .with_ttl_ms(5)
        .with_cache_scope(CacheScope::Private);
    let tools = json!([{
        "name": "name", "title": "T", "description": "what",
        "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"},
        "annotations": {
            "title": "T", "readOnlyHint": true, "destructiveHint": false,
            "idempotentHint": true, "openWorldHint": false,
        },
    }]);
    assert_eq!(
        to_value(&list).expect("JSON"),
        json!({"resultType": "complete", "ttlMs": 5, "cacheScope": "private", "tools": tools})
    );
    let mut legacy = ListToolsResult::with_all_items(list.tools);
    legacy.result_type = None;
    assert_eq!(to_value(legacy).expect("JSON"), json!({"tools": tools}));
}

#[test]
fn call_results() {
    let mut result = CallToolResult::success(vec![ContentBlock::text("t")]);
    assert_eq!(
        to_value(&result).expect("JSON"),
        json!({
            "resultType": "complete", "content": [{"type": "text", "text": "t"}], "isError": false,
        })
    );
    result.structured_content = Some(json!({"a": 1}));
    result.result_type = None;
    result.meta = Some(MetaObject(Map::from_iter([("k".to_owned(), json!(1))])));
    assert_eq!(
        to_value(&result).expect("JSON"),
        json!({
            "content": [{"type": "text", "text": "t"}], "structuredContent": {"a": 1},
            "isError": false, "_meta": {"k": 1},
        })
    );
    let error = CallToolResult::error(vec![ContentBlock::text("t")]);
    assert_eq!(error.is_error, Some(true));
    assert_eq!(error.result_type, Some(ResultType::COMPLETE));
    assert!(error.structured_content.is_none());
}

#[test]
fn asking_for_input() {
    let params = ElicitRequestParams::UrlElicitationParams {
        meta: None,
        message: "m".to_owned(),
        url: "https://c/1".to_owned(),
        elicitation_id: "1".to_owned(),
    };
    let wire = json!({"mode": "url", "message": "m", "url": "https://c/1", "elicitationId": "1"});
    assert_eq!(to_value(&params).expect("JSON"), wire);
    let request = InputRequest::Elicitation(ElicitRequest::new(params));
    let requests = [("k".to_owned(), request)].into_iter().collect();
    let result = InputRequiredResult::new(Some(requests), Some("s".to_owned()));
    assert_eq!(
        to_value(result).expect("JSON"),
        json!({
            "resultType": "input_required", "requestState": "s",
            "inputRequests": {"k": {"method": "elicitation/create", "params": wire}},
        })
    );
}
