//! Runs that wait, go on, and are not done twice.

use std::sync::atomic::Ordering;

use narthex_core::{Journal, RunAnswer, RunCall, RunEvent, Timestamp};
use narthex_sandbox::SandboxConfig;
use narthex_sandbox::drive::Outcome;
use serde_json::json;

use crate::support::{Bench, ended, fresh, go, layers};

fn bench(decided: &[(&str, bool)]) -> Bench {
    Bench {
        decided: decided.iter().map(|(target, yes)| ((*target).to_owned(), *yes)).collect(),
        ..Bench::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_waits_and_goes_on_where_it_was() {
    let source = "const t = require('host:test');
        const seen = [t.add({a: 1, b: 1}), Math.random(), Date.now()];
        let got; try { got = t.gated({target: 'x'}) } catch (e) { got = e.code }
        seen.push(t.add({a: 2, b: 2}));
        ({seen, got})";
    let config = SandboxConfig::default();
    for layer in layers() {
        let first = bench(&[]);
        let Outcome::Parked { journal: Some(journal), waiting, report } =
            go(&layer, source, fresh(), &config, &first).await
        else {
            panic!("it did not wait")
        };
        assert_eq!((waiting.len(), report.calls.len()), (1, 2));
        // Nobody has decided: it waits again, and does nothing again.
        let Outcome::Parked { journal: Some(journal), .. } =
            go(&layer, source, journal, &config, &first).await
        else {
            panic!("it did not wait")
        };
        assert_eq!(first.made.load(Ordering::SeqCst), 1);
        // What is kept is plain data.
        let journal: Journal =
            serde_json::from_value(serde_json::to_value(&journal).unwrap()).unwrap();
        for (yes, got) in [(true, json!({"done": "x"})), (false, json!("denied"))] {
            let second = bench(&[("x", yes)]);
            let Outcome::Over(report) = go(&layer, source, journal.clone(), &config, &second).await
            else {
                panic!("it did not end")
            };
            let value = ended(&report).expect("a value");
            assert_eq!(value["got"], got);
            assert_eq!(value["seen"][0], json!(2));
            assert_eq!(value["seen"][2], json!(1_700_000_000_123_i64));
            assert_eq!(
                second.made.load(Ordering::SeqCst),
                2,
                "only the gated one and the one after it"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_wait_at_once_and_those_that_do_not_are_not_made_again() {
    let source = "const t = require('host:test');
        const all = parallel([
            () => t.gated({target: 'a'}),
            () => t.add({a: 1, b: 1}),
            async () => { const x = await t.add({a: 2, b: 2}); return (await t.add({a: x, b: x})) },
            () => t.gated({target: 'b'}),
        ]);
        all";
    let config = SandboxConfig::default();
    for layer in layers() {
        let first = bench(&[]);
        let Outcome::Parked { journal: Some(journal), waiting, .. } =
            go(&layer, source, fresh(), &config, &first).await
        else {
            panic!("it did not wait")
        };
        assert_eq!(waiting.len(), 2);
        assert_eq!(first.made.load(Ordering::SeqCst), 3);
        let second = bench(&[("a", true)]);
        let Outcome::Parked { journal: Some(journal), waiting, .. } =
            go(&layer, source, journal, &config, &second).await
        else {
            panic!("it did not wait")
        };
        assert_eq!((waiting.len(), second.made.load(Ordering::SeqCst)), (1, 1));
        let third = bench(&[("a", true), ("b", true)]);
        let Outcome::Over(report) = go(&layer, source, journal, &config, &third).await else {
            panic!("it did not end")
        };
        assert_eq!(ended(&report), Ok(json!([{"done": "a"}, 2, 8, {"done": "b"}])));
        assert_eq!(third.made.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_does_something_else_is_ended() {
    let config = SandboxConfig::default();
    let source = "const t = require('host:test'); t.add({a: 1, b: 1}); t.gated({target: 'x'})";
    for layer in layers() {
        let Outcome::Parked { journal: Some(mut journal), .. } =
            go(&layer, source, fresh(), &config, &bench(&[])).await
        else {
            panic!("it did not wait")
        };
        if let Some(RunEvent::Called(call)) = journal.events.first_mut() {
            call.arguments = json!({"a": 1, "b": 2});
        }
        let second = bench(&[("x", true)]);
        let Outcome::Over(report) = go(&layer, source, journal, &config, &second).await else {
            panic!("it did not end")
        };
        assert_eq!(ended(&report), Err("diverged".to_owned()));
        assert_eq!(second.made.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_knows_the_outcome_of_is_not_tried_again() {
    let config = SandboxConfig::default();
    let source = "const t = require('host:test'); let c; try { t.lost({}) } catch (e) { c = e.code } t.gated({target: 'x'}); c";
    for layer in layers() {
        let Outcome::Parked { journal: Some(journal), .. } =
            go(&layer, source, fresh(), &config, &bench(&[])).await
        else {
            panic!("it did not wait")
        };
        let second = bench(&[("x", true)]);
        let Outcome::Over(report) = go(&layer, source, journal, &config, &second).await else {
            panic!("it did not end")
        };
        assert_eq!(ended(&report), Ok(json!("outcome_unknown")));
        assert_eq!(second.made.load(Ordering::SeqCst), 1);
    }
}

/// A program that ends before it did what it did before is another one, whatever it is that keeps it from
/// doing so: a module that is gone, for instance.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_does_less_than_before_is_ended() {
    let config = SandboxConfig::default();
    let source = "const t = require('host:test'); t.gated({target: 'x'}); 'done'";
    for layer in layers() {
        let Outcome::Parked { journal: Some(mut journal), .. } =
            go(&layer, source, fresh(), &config, &bench(&[])).await
        else {
            panic!("it did not wait")
        };
        let Some(RunEvent::Called(call)) = journal.events.first().cloned() else { panic!() };
        let answer = RunAnswer::Value { value: json!(1), binaries: Vec::new() };
        let at = Timestamp::from_millis(1);
        journal.events.push(RunEvent::Answered { call: 0, at, answer });
        journal.events.push(RunEvent::Called(RunCall { call: 1, ..call }));
        let second = bench(&[("x", true)]);
        let Outcome::Over(report) = go(&layer, source, journal, &config, &second).await else {
            panic!("it did not end")
        };
        assert_eq!(ended(&report), Err("diverged".to_owned()));
        assert_eq!(second.made.load(Ordering::SeqCst), 0);
    }
}

/// What was told is kept up to a bound, while it runs as well; beyond it the run can end, and cannot wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_more_than_may_be_kept_is_not() {
    let config = SandboxConfig { journal: 100_000, ..SandboxConfig::default() };
    let told = |then: &str| {
        format!(
            "const t = require('host:test'); for (let i = 0; i < 20; i++) t.big({{n: 10000}}); {then}"
        )
    };
    for layer in layers() {
        let parked =
            go(&layer, &told("t.gated({target: 'x'})"), fresh(), &config, &bench(&[])).await;
        assert!(matches!(parked, Outcome::Parked { journal: None, .. }), "{parked:?}");
        let over = go(&layer, &told("7"), fresh(), &config, &bench(&[])).await;
        let Outcome::Over(report) = over else { panic!("{over:?}") };
        assert_eq!(ended(&report), Ok(json!(7)));
    }
}
