//! Programs that mean harm: each ends within its limits, and nothing of it is left.

use std::time::{Duration, Instant};

use narthex_sandbox::{Layer as _, SandboxConfig};
use serde_json::json;

use crate::support::{Bench, ended, layers, run, run_with};

/// What must come of a program: one of these codes, or this value.
type Expected = &'static [&'static str];

const HOSTILE: &[(&str, &str, Expected)] = &[
    ("endless loop", "for (;;) {}", &["out_of_time"]),
    ("endless loop that catches", "for (;;) { try { for (;;) {} } catch {} }", &["out_of_time"]),
    ("endless loop in finally", "try { for (;;) {} } finally { for (;;) {} }", &["out_of_time"]),
    (
        "endless generator",
        "const g = function* () { for (;;) yield 1 }; [...g()]",
        &["out_of_time", "uncaught_error", "crashed"],
    ),
    (
        "endless promise chain",
        "const f = () => Promise.resolve().then(f); await f()",
        &["out_of_time", "uncaught_error", "crashed", "stuck"],
    ),
    (
        "endless async recursion",
        "const f = async () => { await null; return f() }; await f()",
        &["out_of_time", "uncaught_error", "crashed", "stuck"],
    ),
    (
        "promise flood",
        "const all = []; for (;;) all.push(new Promise(() => {}))",
        &["out_of_time", "uncaught_error", "crashed", "stuck"],
    ),
    (
        "builtin that hangs",
        "new Array(1e9).join('ab').length",
        &["out_of_time", "uncaught_error", "crashed"],
    ),
    (
        "builtin that hangs while it is told something",
        "const t = require('host:test'); parallel([() => t.big({n: 1e6}), () => t.big({n: 1e6}), () => new Array(1e9).join('ab').length])",
        &["out_of_time", "uncaught_error"],
    ),
    (
        "builtin that hangs longer",
        "Array.from({length: 2 ** 31}, () => 0)",
        &["out_of_time", "uncaught_error", "crashed"],
    ),
    (
        "sorting that hangs",
        "const a = []; a.length = 2 ** 32 - 1; a.sort(); 1",
        &["out_of_time", "uncaught_error", "crashed"],
    ),
    (
        "memory",
        "const a = []; for (;;) a.push(new Array(1000).fill(a.length))",
        &["uncaught_error", "out_of_time", "crashed"],
    ),
    ("memory in one piece", "new Uint8Array(2 ** 31)", &["uncaught_error", "crashed"]),
    ("giant string", "let s = 'x'; for (;;) s += s", &["uncaught_error", "out_of_time", "crashed"]),
    (
        "giant string by repeat",
        "'x'.repeat(2 ** 30)",
        &["uncaught_error", "out_of_time", "crashed"],
    ),
    ("recursion", "const f = () => f() + 1; f()", &["uncaught_error", "crashed"]),
    (
        "recursion that catches",
        "const f = () => { try { return f() } catch { return 1 } }; f()",
        &["1", "uncaught_error", "out_of_time", "crashed"],
    ),
    (
        "recursion in JSON",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a)",
        &["uncaught_error", "crashed"],
    ),
    (
        "deep result",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a",
        &["uncaught_error", "crashed"],
    ),
    (
        "regex bomb",
        "/^(a+)+$/.test('a'.repeat(40) + 'b')",
        &["out_of_time", "uncaught_error", "crashed"],
    ),
    (
        "regex recursion",
        "new RegExp('('.repeat(1e5) + ')'.repeat(1e5))",
        &["uncaught_error", "crashed"],
    ),
    (
        "big numbers",
        "let n = 3n; for (;;) n = n ** 3n",
        &["uncaught_error", "out_of_time", "crashed"],
    ),
    (
        "prototype pollution",
        "Object.prototype.polluted = 1; Array.prototype.map = () => 'x'; JSON.stringify = () => 'x'; require('host:test').add({a: 1, b: 2})",
        &["3"],
    ),
    (
        "getters that throw",
        "try { require('host:test').echo({get a() { throw new Error('mine') }}) } catch (e) { e.message }",
        &["\"mine\""],
    ),
    (
        "a proxy as arguments",
        "require('host:test').echo(new Proxy({a: 1}, {ownKeys: () => ['a'], get: () => 2}))",
        &["{\"a\":2}"],
    ),
    (
        "an endless proxy as arguments",
        "require('host:test').echo(new Proxy({}, {ownKeys() { for (;;) {} }}))",
        &["out_of_time"],
    ),
    (
        "a __proto__ key",
        "const o = JSON.parse('{\"__proto__\": {\"x\": 1}}'); const r = require('host:test').echo(o); [r.x, Object.keys(r)]",
        &["[null,[\"__proto__\"]]"],
    ),
    (
        "a toJSON that lies",
        "require('host:test').echo({toJSON: () => 'text'})",
        &["uncaught_error"],
    ),
    ("then of a value", "({then(resolve) { for (;;) {} }})", &["out_of_time"]),
    ("a result that never ends", "({get a() { for (;;) {} }})", &["out_of_time"]),
    (
        "ten thousand calls",
        "const t = require('host:test'); let n = 0; for (let i = 0; i < 10000; i++) { try { t.add({a: 1, b: 1}); n++ } catch (e) { if (e.code !== 'limit_reached') throw e } } n",
        &["limit_reached", "out_of_time"],
    ),
    (
        "ten thousand calls at once",
        "const t = require('host:test'); try { parallel(Array.from({length: 10000}, () => () => t.add({a: 1, b: 1}))) } catch (e) { e.code }",
        &["limit_reached", "out_of_time"],
    ),
    ("output flood", "for (;;) console.log('x'.repeat(1000))", &["out_of_time"]),
    ("empty output flood", "for (;;) console.log('')", &["out_of_time"]),
    ("nested text", NESTED, &["syntax_error", "crashed", "uncaught_error"]),
    ("eval", "eval('for (;;) {}')", &["out_of_time"]),
    ("function constructor", "new Function('for (;;) {}')()", &["out_of_time"]),
    (
        "host names",
        "typeof __hostRequire + typeof native + typeof std + typeof os + typeof process",
        &["\"functionundefinedundefinedundefinedundefined\""],
    ),
    ("import of files", "await import('/etc/passwd')", &["uncaught_error"]),
    (
        "atomics wait",
        "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
        &["uncaught_error", "out_of_time", "crashed"],
    ),
    (
        "weak references",
        "const r = new FinalizationRegistry(() => { for (;;) {} }); r.register({}, 1); 1",
        &["1", "out_of_time"],
    ),
];

const NESTED: &str = "NESTED";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_hostile_program_ends_within_its_limits() {
    let config = SandboxConfig {
        script: Duration::from_millis(700),
        margin: Duration::from_millis(500),
        wall: Duration::from_secs(20),
        ..SandboxConfig::default()
    };
    for layer in layers() {
        for (name, source, expected) in HOSTILE {
            let nested = "[".repeat(120_000);
            let source = if *source == NESTED { nested.as_str() } else { source };
            let began = Instant::now();
            let report = run_with(&layer, source, &config, &Bench::default()).await;
            let came = match ended(&report) {
                Ok(value) => value.to_string(),
                Err(code) => code,
            };
            let took = began.elapsed();
            assert!(expected.contains(&came.as_str()), "{name}: {came} {:?}", report.value);
            // Generous: the machine may be busy. Without the end from outside some take a minute, and end
            // with deadline_exceeded.
            assert!(took < Duration::from_secs(18), "{name} took {took:?}");
            let said: usize = report.said.iter().map(|said| said.text.len() + 1).sum();
            assert!(said <= config.console + 1, "{name} said {said}");
            // And the next one is as if nothing had been.
            let after = run(&layer, "require('host:test').add({a: 1, b: 1})").await;
            assert_eq!(ended(&after), Ok(json!(2)), "after {name}");
        }
    }
    assert_eq!(workers(), Vec::<u32>::new(), "no worker is left behind");
}

/// What a terminal sends to everything in it is for us to act on: runs that are under way are drained.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_is_in_a_group_of_its_own() {
    for layer in layers() {
        let worker = layer.start().await.expect("a worker");
        let group = |id: &str| {
            let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
            let (named, rest) = stat.rsplit_once(") ")?;
            named.ends_with("(sandbox-persona").then_some(())?;
            let mut fields = rest.split(' ').skip(1);
            Some((fields.next()?.to_owned(), fields.next()?.to_owned()))
        };
        let own = std::process::id().to_string();
        let all = std::fs::read_dir("/proc").expect("processes");
        let ids = all.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let ours: Vec<(String, String)> = ids
            .filter_map(|id| group(&id).filter(|(parent, _)| *parent == own).map(|(_, g)| (id, g)))
            .collect();
        assert!(!ours.is_empty());
        for (id, group) in ours {
            assert_eq!(id, group);
        }
        drop(worker);
    }
}

/// Workers of this process that still are.
fn workers() -> Vec<u32> {
    let own = std::process::id().to_string();
    let of_ours = |id: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let is = |key: &str, value: &str| {
            status
                .lines()
                .any(|line| line.strip_prefix(key).is_some_and(|rest| rest.trim() == value))
        };
        is("PPid:", &own)
            && status.contains("Name:\tsandbox-persona")
            && !status.contains("State:\tZ")
    };
    for _ in 0..100 {
        let all = std::fs::read_dir("/proc").expect("processes");
        let ids = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
        let left: Vec<u32> = ids.filter(of_ours).collect();
        if left.is_empty() {
            return left;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    vec![0]
}
