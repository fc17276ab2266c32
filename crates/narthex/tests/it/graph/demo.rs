//! The graph of the demo, and loads through a running server.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use narthex_graph::engine::LoadMode;
use narthex_server::owner::{
    Bytes, GraphChange, GraphReply, GraphRequest, LoadRequest, Reply, Request, Trouble,
};
use narthex_server::{DataDir, OwnerClient};
use serde_json::{Value, json};

use crate::support::{answer, command};

struct Server(Child, Value);

impl Server {
    fn demo(house: &Path) -> Self {
        let args = ["serve", "--demo", "--listen", "127.0.0.1:0", "--output", "json"];
        let mut child = command(&args, house)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("narthex runs");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("open"));
        out.read_line(&mut line).expect("a line");
        let ready = serde_json::from_str(&line).expect("JSON");
        Self(child, ready)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_demo_has_a_graph_and_keeps_what_was_changed_in_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let house = folder.path().join("house");
    {
        let server = Server::demo(&house);
        let (mcp, graph) = (server.1["mcp_url"].as_str(), server.1["graph_url"].as_str());
        let base = mcp.and_then(|url| url.strip_suffix("/mcp")).expect("a URL");
        assert_eq!(graph, Some(format!("{base}/graphs/harbour/mcp").as_str()));
        let kept = answer(&["graph", "query", "harbour", "kept_by", "-p", "person=ines"], &house);
        assert_eq!(kept["rows"].as_array().map(Vec::len), Some(4));
        // Hidden from agents, not from the owner.
        let unkept = answer(&["graph", "query", "harbour", "unkept"], &house);
        assert_eq!(unkept["rows"], json!([{"instrument": "rain-gauge", "name": "Rain gauge"}]));
        answer(&["graph", "mutate", "harbour", "retire", "-p", "instrument=rain-gauge"], &house);
    }
    let log = || answer(&["graph", "log", "harbour"], &house);
    let before = log();
    drop(Server::demo(&house));
    assert_eq!(log(), before, "a second start changed the graph");
    // Without the server too: the folder says that it is a demo.
    let unkept = answer(&["graph", "query", "harbour", "unkept"], &house);
    assert_eq!(unkept["rows"], json!([]));
}

async fn load(client: &mut OwnerClient, request: LoadRequest) -> Result<GraphReply, Trouble> {
    match client.ask(&Request::Graph(GraphRequest::Load(request))).await {
        Ok(Reply::Graph(reply)) => Ok(reply),
        Ok(_) => Err(Trouble::Internal),
        Err(error) => Err(error.kind),
    }
}

fn begin() -> LoadRequest {
    let change = GraphChange { graph: "harbour".to_owned(), ..GraphChange::default() };
    LoadRequest::Begin { change, from: None, mode: LoadMode::Merge }
}

#[tokio::test]
async fn a_load_goes_with_its_connection_and_only_a_few_are_under_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let house = folder.path().join("house");
    let _server = Server::demo(&house);
    let dir = DataDir::at(&house);
    let connect = || async { OwnerClient::connect(&dir).await.expect("well").expect("someone") };
    let mut clients = Vec::new();
    for _ in 0..4 {
        let mut client = connect().await;
        load(&mut client, begin()).await.expect("begun");
        let row = br#"{"type":"Place","data":{"slug":"nowhere","name":"Nowhere"}}"#.to_vec();
        load(&mut client, LoadRequest::Part { bytes: Bytes(row) }).await.expect("taken");
        clients.push(client);
    }
    let mut late = connect().await;
    assert_eq!(load(&mut late, begin()).await.err(), Some(Trouble::Unavailable));
    assert_eq!(load(&mut late, LoadRequest::End).await.err(), Some(Trouble::Conflict));
    // Beginning again takes the place of one's own.
    load(&mut clients[0], begin()).await.expect("begun again");
    clients.truncate(3);
    // That the connection is gone is noticed soon, if not at once.
    while load(&mut late, begin()).await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let bytes = Bytes(vec![b'x'; narthex_server::owner::MAX_LOAD_PART + 1]);
    let part = LoadRequest::Part { bytes };
    assert_eq!(load(&mut late, part).await.err(), Some(Trouble::Invalid));
    assert_eq!(load(&mut late, LoadRequest::End).await.err(), Some(Trouble::Conflict));
    drop(clients);
    let rows = answer(
        &[
            "graph",
            "query",
            "harbour",
            "--text",
            "query q() { match { $p: Place { slug: \"nowhere\" } } return { $p.slug } }",
        ],
        &house,
    );
    assert_eq!(rows["rows"], json!([]), "what never ended was loaded");
}
