//! A host that answers as it is told, and every layer there is.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use narthex_core::{ApprovalId, Binary, Journal, Reason, RunAnswer, RunCall, Thrown, Timestamp};
use narthex_gate::Waiting;
use narthex_sandbox::drive::{Host, Made, Outcome, Program, Report, drive};
use narthex_sandbox::{Layer, ProcessLayer, SandboxConfig, WorkerOrder};
use serde_json::{Value, json};

pub(crate) const PERSONA: &str = env!("CARGO_BIN_EXE_sandbox-persona");

/// Every layer the suite runs against.
pub(crate) fn layers() -> Vec<ProcessLayer> {
    [false, true].into_iter().filter_map(layer).collect()
}

/// A layer, if this machine has its walls.
pub(crate) fn layer(without_walls: bool) -> Option<ProcessLayer> {
    if !without_walls && ProcessLayer::standing().missing.is_some() {
        eprintln!("this machine has no walls for workers: {:?}", ProcessLayer::standing());
        return None;
    }
    let config = SandboxConfig::default();
    let order = WorkerOrder {
        heap: config.heap as u64,
        // Out of reach: what ends a program in time is whoever drives it.
        cpu_seconds: config.script.as_secs() + 600,
        without_walls,
    };
    Some(ProcessLayer { program: PathBuf::from(PERSONA), order })
}

/// A host with a few functions in `host:test`.
#[derive(Debug, Default)]
pub(crate) struct Bench {
    pub(crate) made: AtomicUsize,
    /// What the owner has decided, by the target of a gated call.
    pub(crate) decided: HashMap<String, bool>,
}

pub(crate) const FUNCTIONS: &[&str] =
    &["echo", "add", "fail", "bad", "slow", "image", "big", "gated", "lost"];

impl Host for Bench {
    fn call(&self, call: RunCall) -> BoxFuture<'_, Made> {
        self.make(call).boxed()
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_123)
    }
}

impl Bench {
    async fn make(&self, call: RunCall) -> Made {
        let arguments = &call.arguments;
        let thrown = |code: &str| {
            RunAnswer::Thrown(Thrown {
                code: code.to_owned(),
                message: "it went wrong".to_owned(),
                parameters: (code == "invalid_arguments").then(|| "{ a: number }".to_owned()),
                retryable: false,
            })
        };
        let value = |value: Value| RunAnswer::Value { value, binaries: Vec::new() };
        let answer = match call.function.as_str() {
            "echo" => value(arguments.clone()),
            "add" => value(json!(
                arguments["a"].as_i64().unwrap_or(0) + arguments["b"].as_i64().unwrap_or(0)
            )),
            "fail" => thrown("upstream_failed"),
            "bad" => thrown("invalid_arguments"),
            "slow" => {
                let millis = arguments["ms"].as_u64().unwrap_or(50);
                tokio::time::sleep(Duration::from_millis(millis)).await;
                value(arguments.clone())
            }
            "image" => RunAnswer::Value {
                value: json!({"name": "cat", "picture": null}),
                binaries: vec![Binary {
                    at: "/picture".to_owned(),
                    mime: "image/png".to_owned(),
                    base64: "iVBORw==".to_owned(),
                }],
            },
            "big" => value(json!(
                "x".repeat(usize::try_from(arguments["n"].as_u64().unwrap_or(0)).unwrap_or(0))
            )),
            "gated" => match self.decided.get(arguments["target"].as_str().unwrap_or_default()) {
                None => {
                    return Made::Waits(Box::new(Waiting {
                        approval: ApprovalId::from_uuid(narthex_store::fresh_uuid()),
                        because: Reason::ApprovalNeeded,
                        until: Timestamp::from_millis(1),
                    }));
                }
                Some(true) => value(json!({"done": arguments["target"]})),
                Some(false) => thrown("denied"),
            },
            _ => thrown("outcome_unknown"),
        };
        self.made.fetch_add(1, Ordering::SeqCst);
        Made::Answered(answer, "allowed".to_owned())
    }
}

/// Runs a program from its beginning.
pub(crate) async fn run(layer: &ProcessLayer, source: &str) -> Report {
    run_with(layer, source, &SandboxConfig::default(), &Bench::default()).await
}

pub(crate) async fn run_with(
    layer: &ProcessLayer,
    source: &str,
    config: &SandboxConfig,
    bench: &Bench,
) -> Report {
    match go(layer, source, fresh(), config, bench).await {
        Outcome::Over(report) => *report,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn fresh() -> Journal {
    Journal::new(7, Timestamp::from_millis(1_700_000_000_000))
}

pub(crate) async fn go(
    layer: &ProcessLayer,
    source: &str,
    journal: Journal,
    config: &SandboxConfig,
    bench: &Bench,
) -> Outcome {
    let worker = layer.start().await.expect("a worker");
    let functions = FUNCTIONS.iter().map(|name| (*name).to_owned()).collect();
    let modules = vec![("host:test".to_owned(), functions)];
    let program = Program { source: source.to_owned(), modules, journal, script: None };
    drive(worker, program, config, bench).await
}

/// The value of a program, or the code of what went wrong.
pub(crate) fn ended(report: &Report) -> Result<Value, String> {
    match &report.value {
        Ok(Some(value)) => Ok(value.clone()),
        Ok(None) => Ok(json!("(nothing)")),
        Err(failed) => Err(failed.code.clone()),
    }
}
