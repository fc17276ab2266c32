//! The fixture of the conformance suite, as the process that Narthex would start.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use narthex_gate::upstream::{
    Connector as _, Line, List, ListCaps, Terms, UpstreamEra, whole_list,
};
use serde_json::{Value, json};
use tokio::net::unix::pipe::{Receiver, Sender};

use super::{Answers, ask, call, connector, terms};

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Examples are built with the tests, in a folder beside theirs.
fn program() -> PathBuf {
    let own = std::env::current_exe().expect("this program");
    let built = own.ancestors().nth(2).expect("a folder").join("examples/fixture");
    assert!(built.is_file(), "cargo build -p narthex-mcp --example fixture");
    built
}

fn start() -> (Process, Line) {
    let mut command = Command::new(program());
    let piped = command.arg("stdio").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.stderr(Stdio::null()).spawn().expect("the fixture");
    let (to, from) = (child.stdin.take().expect("stdin"), child.stdout.take().expect("stdout"));
    let to = Sender::from_owned_fd(to.into()).expect("a pipe");
    let from = Receiver::from_owned_fd(from.into()).expect("a pipe");
    (Process(child), Line::Pipes { to: Box::new(to), from: Box::new(from) })
}

fn value(raw: &serde_json::value::RawValue) -> Value {
    serde_json::from_str(raw.get()).expect("JSON")
}

#[tokio::test]
async fn it_is_whole_in_both_eras() {
    for (era, modern) in [(UpstreamEra::Either, true), (UpstreamEra::Legacy, false)] {
        let (_process, line) = start();
        let (connector, terms) = (connector(), Terms { era, ..terms() });
        let connection = connector.connect(line, terms, Arc::new(Answers::default())).await;
        let connection = connection.expect("a connection");
        assert_eq!(connection.greeting().modern, modern);
        for (list, entries) in
            [(List::Tools, 28), (List::Resources, 3), (List::Templates, 1), (List::Prompts, 5)]
        {
            let listed = whole_list(&*connection, list, &ListCaps::default()).await;
            assert_eq!(listed.expect("a list").len(), entries, "{list:?}");
        }
        let said = value(&connection.ask(call("test_simple_text")).await.expect("a result"));
        assert_eq!(said["content"][0]["type"], "text");
        assert_eq!(said.get("resultType").is_some(), modern);
        let uri = json!({"uri": "test://template/7/data"});
        let read = value(&connection.ask(ask("resources/read", &uri)).await.expect("a result"));
        assert!(read["contents"][0]["text"].as_str().is_some_and(|text| text.contains("ID: 7")));
        let wants = connection.ask(call("test_input_required_result_elicitation")).await;
        assert_eq!(wants.is_ok(), modern, "{wants:?}");
        if let Ok(wants) = wants {
            assert_eq!(value(&wants)["resultType"], "input_required");
        }
        connection.close().await;
    }
}
