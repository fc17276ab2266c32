//! What a worker says is believed in nothing: frames that no worker of ours sends end the run, and no
//! call is made that the program could not have made.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use narthex_sandbox::drive::{Outcome, Program, drive};
use narthex_sandbox::{Gone, LayerFault, SandboxConfig, Worker};

use crate::support::{Bench, FUNCTIONS, ended, fresh};

/// Says these frames, whatever it is told.
#[derive(Debug)]
struct Liar(VecDeque<Vec<u8>>);

#[async_trait]
impl Worker for Liar {
    async fn send(&mut self, _frame: &[u8]) -> Result<(), LayerFault> {
        Ok(())
    }

    async fn receive(&mut self) -> Result<Vec<u8>, LayerFault> {
        self.0.pop_front().ok_or(LayerFault::Gone)
    }

    async fn end(self: Box<Self>) -> Gone {
        Gone::Ended
    }
}

#[tokio::test]
async fn frames_that_cannot_be_end_the_run_and_make_no_call() {
    let call = |fields: &str| format!("{{\"Call\":{{{fields}}}}}");
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let cases: Vec<(&str, Vec<String>)> = vec![
        ("no JSON", vec!["{".to_owned()]),
        ("nothing", vec![String::new()]),
        ("another frame", vec!["{\"Owner\":{}}".to_owned()]),
        ("ready again", vec!["\"Ready\"".to_owned()]),
        (
            "a module that is not there",
            vec![call(
                "\"call\":0,\"module\":7,\"function\":0,\"arguments\":{},\"deferred\":false",
            )],
        ),
        (
            "a function that is not there",
            vec![call(
                "\"call\":0,\"module\":0,\"function\":99,\"arguments\":{},\"deferred\":false",
            )],
        ),
        (
            "a number that is none",
            vec![call(
                "\"call\":-1,\"module\":0,\"function\":0,\"arguments\":{},\"deferred\":false",
            )],
        ),
        (
            "calls out of order",
            vec![call(
                "\"call\":5,\"module\":0,\"function\":0,\"arguments\":{},\"deferred\":false",
            )],
        ),
        (
            "arguments too deep",
            vec![call(&format!(
                "\"call\":0,\"module\":0,\"function\":0,\"arguments\":{deep},\"deferred\":false"
            ))],
        ),
        ("bytes nobody has", vec!["{\"Fetch\":{\"binary\":3}}".to_owned()]),
    ];
    for (name, frames) in cases {
        let bench = Bench::default();
        let liar = Liar(frames.into_iter().map(String::into_bytes).collect());
        let functions = FUNCTIONS.iter().map(|name| (*name).to_owned()).collect();
        let program = Program {
            source: "1".to_owned(),
            modules: vec![("host:test".to_owned(), functions)],
            journal: fresh(),
            script: None,
        };
        let outcome = drive(Box::new(liar), program, &SandboxConfig::default(), &bench).await;
        let Outcome::Over(report) = outcome else { panic!("{name}: {outcome:?}") };
        assert_eq!(ended(&report), Err("crashed".to_owned()), "{name}");
        assert_eq!(bench.made.load(Ordering::SeqCst), 0, "{name}");
    }
}

#[tokio::test]
async fn what_is_too_much_is_held_back_whatever_a_worker_says() {
    let config = SandboxConfig { result: 100, console: 50, ..SandboxConfig::default() };
    let said =
        "{\"Said\":{\"level\":\"log\",\"text\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}}";
    let mut frames = vec![said.to_owned(); 1_000];
    frames.push(format!(
        "{{\"Done\":{{\"ended\":{{\"Value\":\"{}\"}},\"heap\":1,\"micros\":1}}}}",
        "y".repeat(500)
    ));
    let liar = Liar(frames.into_iter().map(String::into_bytes).collect());
    let program =
        Program { source: "1".to_owned(), modules: Vec::new(), journal: fresh(), script: None };
    let outcome = drive(Box::new(liar), program, &config, &Bench::default()).await;
    let Outcome::Over(report) = outcome else { panic!("{outcome:?}") };
    assert_eq!(ended(&report), Err("result_too_large".to_owned()));
    let kept: usize = report.said.iter().map(|said| said.text.len()).sum();
    assert!(kept <= 50 && report.said.len() <= 3, "{kept}");
}
