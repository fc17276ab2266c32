//! What a worker says is believed in nothing: frames that no worker of ours sends end the run, and no
//! call is made that the program could not have made.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use narthex_sandbox::drive::{Outcome, Program, Report, drive};
use narthex_sandbox::{Gone, LayerFault, SandboxConfig, Worker};

use crate::support::{Bench, FUNCTIONS, ended, fresh};

/// Says these frames, whatever it is told.
#[derive(Debug)]
struct Liar(VecDeque<Vec<u8>>);

#[async_trait]
impl Worker for Liar {
    fn send(&mut self, _frame: &[u8]) {}

    async fn receive(&mut self) -> Result<Vec<u8>, LayerFault> {
        match self.0.pop_front() {
            // From here on it says nothing.
            Some(frame) if frame == SILENCE => std::future::pending().await,
            // Or the same again, without end and without a breath.
            Some(frame) if frame.starts_with(AGAIN) => {
                let said = frame.get(AGAIN.len()..).unwrap_or_default().to_vec();
                self.0.push_front(frame);
                Ok(said)
            }
            frame => frame.ok_or(LayerFault::Gone),
        }
    }

    fn is_there(&mut self) -> bool {
        true
    }

    async fn end(self: Box<Self>) -> Gone {
        Gone::Ended
    }
}

#[tokio::test]
async fn frames_that_cannot_be_end_the_run_and_make_no_call() {
    let call = |fields: &str| format!("{{\"Call\":{{{fields}}}}}");
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
        ("bytes nobody has", vec!["{\"Fetch\":{\"binary\":3}}".to_owned()]),
    ];
    for (name, frames) in cases {
        let (report, bench) = forged(frames, &SandboxConfig::default()).await;
        assert_eq!(ended(&report), Err("crashed".to_owned()), "{name}");
        assert_eq!(bench.made.load(Ordering::SeqCst), 0, "{name}");
    }
}

/// Arguments that the door would not take are answered with an error, and no call is made of them.
#[tokio::test]
async fn arguments_that_are_too_much_are_not_taken() {
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let many = format!("{{\"a\":[{}0]}}", "{},".repeat(60_000));
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(5_000_000));
    for arguments in [deep.as_str(), &many, &long, r#"{"a":1,"a":2}"#, r#"{"a":"\ud83d"}"#] {
        let call = format!(
            "{{\"Call\":{{\"call\":0,\"module\":0,\"function\":0,\"arguments\":{arguments},\"deferred\":false}}}}"
        );
        let (report, bench) = forged(vec![call], &SandboxConfig::default()).await;
        let what = arguments.get(..40).unwrap_or(arguments);
        assert_eq!(ended(&report), Err("crashed".to_owned()), "{what}: it goes after that");
        let made: Vec<_> = report.calls.iter().map(|call| call.error.as_deref()).collect();
        assert_eq!(made, [Some("invalid_arguments")], "{what}");
        assert_eq!(bench.made.load(Ordering::SeqCst), 0, "{what}");
    }
}

/// One that says it waits, and has nothing to wait for, is still at work for all we know.
#[tokio::test]
async fn a_worker_that_only_says_it_waits_is_ended_in_time() {
    let config = SandboxConfig {
        script: Duration::from_millis(50),
        margin: Duration::from_millis(50),
        wall: Duration::from_secs(20),
        ..SandboxConfig::default()
    };
    let waits = "{\"Waits\":{\"heard\":0}}".to_owned();
    let silence = String::from_utf8_lossy(SILENCE).into_owned();
    let (report, _) = forged(vec![waits, silence], &config).await;
    assert_eq!(ended(&report), Err("out_of_time".to_owned()));
}

async fn forged(frames: Vec<String>, config: &SandboxConfig) -> (Report, Bench) {
    let bench = Bench::default();
    let liar = Liar(frames.into_iter().map(String::into_bytes).collect());
    let functions = FUNCTIONS.iter().map(|name| (*name).to_owned()).collect();
    let modules = vec![("host:test".to_owned(), functions)];
    let program = Program { source: "1".to_owned(), modules, journal: fresh(), script: None };
    match drive(Box::new(liar), program, config, &bench).await {
        Outcome::Over(report) => (*report, bench),
        other => panic!("{other:?}"),
    }
}

const SILENCE: &[u8] = b"silence";
const AGAIN: &[u8] = b"again";

/// One that talks without end is ended by its own time, or by all of its time if it waits for a call; and
/// others have their turn meanwhile, whoever could stop it among them.
#[tokio::test]
async fn a_worker_that_talks_without_end_is_ended_in_time() {
    let said = r#"{"Said":{"level":"log","text":""}}"#;
    let waits = r#"{"Waits":{"heard":0}}"#;
    let slow =
        r#"{"Call":{"call":0,"module":0,"function":4,"arguments":{"ms":20000},"deferred":false}}"#;
    let cases = [
        (vec![format!("again{said}")], 100, 20_000, "out_of_time"),
        (vec![format!("again{waits}")], 100, 20_000, "out_of_time"),
        (vec![slow.to_owned(), format!("again{said}")], 10_000, 200, "deadline_exceeded"),
    ];
    for (frames, script, wall, code) in cases {
        let config = SandboxConfig {
            script: Duration::from_millis(script),
            wall: Duration::from_millis(wall),
            ..SandboxConfig::default()
        };
        let breaths = AtomicUsize::new(0);
        let others = async {
            loop {
                breaths.fetch_add(1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let (report, _) = tokio::select! {
            ran = forged(frames.clone(), &config) => ran,
            () = others => unreachable!("it goes on for ever"),
        };
        assert_eq!(ended(&report), Err(code.to_owned()), "{frames:?}");
        assert!(breaths.load(Ordering::SeqCst) > 10, "{frames:?}: nobody else had a turn");
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
    let (report, _) = forged(frames, &config).await;
    assert_eq!(ended(&report), Err("result_too_large".to_owned()));
    let kept: usize = report.said.iter().map(|said| said.text.len()).sum();
    assert!(kept <= 50 && report.said.len() <= 3, "{kept}");
}

/// Errors as well.
#[tokio::test]
async fn what_went_wrong_is_told_in_so_many_words() {
    let long = "z".repeat(5_000_000);
    for ended in [
        format!(
            "{{\"Threw\":{{\"name\":\"{long}\",\"message\":\"{long}\",\"code\":\"{long}\",\"at\":null}}}}"
        ),
        format!(
            "{{\"Misshapen\":{{\"line\":1,\"column\":1,\"message\":\"{long}\",\"excerpt\":\"{long}\"}}}}"
        ),
    ] {
        let done = format!("{{\"Done\":{{\"ended\":{ended},\"heap\":1,\"micros\":1}}}}");
        let (report, _) = forged(vec![done], &SandboxConfig::default()).await;
        let failed = report.value.expect_err("it threw");
        let bytes =
            failed.code.len() + failed.message.len() + failed.excerpt.map_or(0, |e| e.len());
        assert!(bytes < 10_000, "{bytes}");
    }
}
