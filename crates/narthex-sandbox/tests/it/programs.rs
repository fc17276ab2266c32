//! What a program gets, on every layer.

use std::time::Duration;

use narthex_sandbox::SandboxConfig;
use serde_json::{Value, json};

use crate::support::{Bench, ended, layers, run, run_with};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_of_every_shape_have_their_value() {
    let cases: Vec<(&str, Value)> = vec![
        ("1 + 1", json!(2)),
        ("const t = require('host:test'); t.add({a: 1, b: 2})", json!(3)),
        ("import { add } from 'host:test'; await add({a: 1, b: 2})", json!(3)),
        (
            "import * as t from 'host:test'; return t.echo({x: [1, null, 'é']})",
            json!({"x": [1, null, "é"]}),
        ),
        (
            "```js\nasync function main() { return (await import('host:test')).add({a: 4, b: 4}) }\n```",
            json!(8),
        ),
        ("type A = {a: number}; const x: A = {a: 5}; enum E { One = 1 } x.a + E.One", json!(6)),
        ("async () => 'called'", json!("called")),
        ("export default function () { return 'default' }", json!("default")),
        ("module.exports = {a: 1}; undefined", json!({"a": 1})),
        ("class A {}; new A()", json!({})),
        ("new Map([['a', 1]])", json!({"a": 1})),
        ("new Set([1, 2])", json!([1, 2])),
        ("10n ** 20n", json!("100000000000000000000")),
        ("({d: new Date()})", json!({"d": "2023-11-14T22:13:20.000Z"})),
        ("const t = require('host:test'); t.echo({}); Date.now()", json!(1_700_000_000_123_i64)),
        (
            "[Date.now(), Math.random() === Math.random(), typeof performance]",
            json!([1_700_000_000_000_i64, false, "undefined"]),
        ),
        ("new Date(0).getTimezoneOffset()", json!(0)),
        // Cutting a text may leave half a character, which is one nowhere else.
        ("'\u{1f600}\u{1f600}'.slice(0, 3)", json!("\u{1f600}\u{fffd}")),
        ("({a: ['\u{1f600}'.slice(1)]})", json!({"a": ["\u{fffd}"]})),
        (
            "console.log('\u{1f600}'.slice(0, 1)); require('host:test').echo({x: '\u{1f600}'.slice(0, 1)})",
            json!({"x": "\u{fffd}"}),
        ),
        ("require('host:text').toUtf8('\u{1f600}'.slice(0, 1)).length", json!(3)),
        // Bytes are asked for while answers are on their way.
        (
            "const t = require('host:test'); const size = async () => (await t.image({})).picture.bytes().length; parallel([size, size, size])",
            json!([4, 4, 4]),
        ),
        // Much goes both ways at once.
        (
            "const t = require('host:test'); const s = 'x'.repeat(300000);
             parallel(Array.from({length: 24}, (_, i) => i % 2 ? () => t.big({n: 300000}) : () => t.echo({s}).then((e) => e.s))).every((got) => got === s)",
            json!(true),
        ),
        (
            "try { require('host:test').echo({s: 'x'.repeat(5e6)}) } catch (e) { e.code }",
            json!("invalid_arguments"),
        ),
        (
            "let a = {}; for (let i = 0; i < 100; i++) a = {a}; try { require('host:test').echo(a) } catch (e) { e.code }",
            json!("invalid_arguments"),
        ),
        (
            "try { require('host:test').fail({}) } catch (e) { [e instanceof HostError, e.name, e.code, e.message] }",
            json!([true, "HostError", "upstream_failed", "it went wrong"]),
        ),
        (
            "try { require('host:test').bad({}) } catch (e) { [e.code, e.parameters, e.message] }",
            json!(["invalid_arguments", "{ a: number }", "it went wrong; it takes { a: number }"]),
        ),
        (
            "const t = require('host:test'); [t.add.try({a: 1, b: 1}), t.fail.try({}).error.code]",
            json!([{"value": 2}, "upstream_failed"]),
        ),
        (
            "const t = require('host:test'); parallel([() => t.add({a: 1, b: 1}), async () => (await t.add({a: 2, b: 2})) + 1])",
            json!([2, 5]),
        ),
        (
            "const t = require('host:test'); await Promise.all([t.add({a: 1, b: 1}), t.add({a: 2, b: 2})])",
            json!([2, 4]),
        ),
        (
            "const t = require('host:test'); try { parallel([() => t.add({}), () => t.fail({})]) } catch (e) { e.code }",
            json!("upstream_failed"),
        ),
        (
            "const t = require('host:test'); try { parallel([() => t.echo({a: {b: 1}}).a.b]) } catch (e) { e.message.includes('inside parallel') }",
            json!(true),
        ),
        (
            "const i = require('host:test').image({}); [i.name, i.picture.mimeType, i.picture.size, Array.from(i.picture.bytes())]",
            json!(["cat", "image/png", 4, [137, 80, 78, 71]]),
        ),
        ("require('host:test').image({}).picture", json!({"mimeType": "image/png", "size": 4})),
        (
            "const t = require('host:text'); [t.fromUtf8(t.toUtf8('é')), t.toBase64(t.toUtf8('hi')), t.fromBase64('aGk=').length]",
            json!(["é", "aGk=", 2]),
        ),
        ("Object.keys(require('host:test')).length", json!(9)),
        (
            "const t = require('host:test'); try { t.echo(1) } catch (e) { e.message }",
            json!("echo takes one object with its arguments by name"),
        ),
        (
            "try { require('host:nothing') } catch (e) { e.message }",
            json!("there is no module \"host:nothing\"; there are: host:test, host:text"),
        ),
        ("require('host:test').echo()", json!({})),
        ("console.log('said'); undefined", json!("(nothing)")),
        ("", json!("(nothing)")),
    ];
    for layer in layers() {
        for (source, expected) in &cases {
            let report = run(&layer, source).await;
            assert_eq!(ended(&report).as_ref(), Ok(expected), "{source}\n{report:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_goes_wrong_is_said_with_its_line() {
    let cases: Vec<(&str, &str, Option<u32>, &str)> = vec![
        ("let a = 1;\nlet b = ;\n", "syntax_error", Some(2), "Unexpected token"),
        (
            "function f() {\n  throw new TypeError('no');\n}\nf()",
            "uncaught_error",
            Some(2),
            "TypeError: no",
        ),
        (
            "const t = require('host:test');\n\nt.fail({})",
            "upstream_failed",
            Some(3),
            "HostError: it went wrong",
        ),
        ("throw {a: 1}", "uncaught_error", None, "threw {\"a\":1}"),
        ("await new Promise(() => {})", "stuck", None, "no timers"),
        ("setTimeout(() => {}, 1)", "uncaught_error", Some(1), "there are no timers"),
        ("fetch('https://x')", "uncaught_error", Some(1), "see list_modules"),
        ("const a = {}; a.a = a; a", "uncaught_error", None, "circular"),
        ("'x'.repeat(1024 * 1024 + 10)", "result_too_large", None, "return less of it"),
        ("let a = []; for (let i = 0; i < 200; i++) a = [a]; a", "bad_result", None, "too deeply"),
        (
            "const t = require('host:test'); const p = (async () => { await null; return t.add({a: 1, b: 1}) + 1 })(); parallel([() => t.slow({})]); await p",
            "uncaught_error",
            None,
            "returns a promise",
        ),
        (
            "```ts\nconst x: number = 1;\nconst g = () => { throw new Error('deep') };\ng();\n```",
            "uncaught_error",
            Some(3),
            "deep",
        ),
    ];
    for layer in layers() {
        for (source, code, line, says) in &cases {
            let report = run(&layer, source).await;
            let failed = report.value.as_ref().expect_err(source);
            assert_eq!(failed.code, *code, "{source}: {failed:?}");
            assert!(failed.message.contains(says), "{source}: {failed:?}");
            if line.is_some() {
                assert_eq!(failed.at.map(|(line, _)| line), *line, "{source}: {failed:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_program_says_is_kept_within_bounds() {
    let config = SandboxConfig { console: 40, ..SandboxConfig::default() };
    for layer in layers() {
        let source = "console.log('a', {b: [1]}, null, undefined, 2n); console.warn('w'); console.error(new Error('e')); for (let i = 0; i < 100; i++) console.log('xxxxxxxxxx')";
        let report = run_with(&layer, source, &config, &Bench::default()).await;
        let lines: Vec<String> =
            report.said.iter().map(narthex_sandbox::drive::Said::line).collect();
        assert_eq!(lines[0], "a {\"b\":[1]} null undefined 2");
        assert_eq!(lines[1], "warning: w");
        assert_eq!(lines[2], "error: Error: e");
        let said: usize = report.said.iter().map(|said| said.text.len()).sum();
        assert!(said <= 40 && report.said_more, "{lines:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_at_once_wait_together_and_waiting_is_not_the_programs_time() {
    let config = SandboxConfig { script: Duration::from_millis(400), ..SandboxConfig::default() };
    for layer in layers() {
        let source = "const t = require('host:test'); t.slow({ms: 700}); parallel(Array.from({length: 8}, (_, n) => () => t.slow({ms: 300, n}))).map((r) => r.n)";
        let report = run_with(&layer, source, &config, &Bench::default()).await;
        assert_eq!(ended(&report), Ok(json!([0, 1, 2, 3, 4, 5, 6, 7])));
        assert!(report.used.wall < Duration::from_millis(2_900), "{:?}", report.used);
        assert!(report.used.script < Duration::from_millis(400), "{:?}", report.used);
        assert_eq!(report.calls.len(), 9);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_seed_is_the_same_randomness_and_nothing_is_shared_between_runs() {
    for layer in layers() {
        let source = "globalThis.kept = (globalThis.kept ?? 0) + 1; Array.prototype.mark = 1; [kept, Math.random(), Math.random()]";
        let (one, two) = (run(&layer, source).await, run(&layer, source).await);
        assert_eq!(ended(&one), ended(&two));
        assert_eq!(ended(&one).expect("a value")[0], json!(1));
    }
}

/// A program that ends before it has heard all its answers has its result all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_program_does_not_wait_for_takes_nothing_from_its_result() {
    let source = "const t = require('host:test');
        try { parallel([...Array.from({length: 8}, () => () => t.big({n: 100000})), 1]) } catch {}
        'over'";
    for layer in layers() {
        for _ in 0..20 {
            let report = run(&layer, source).await;
            assert_eq!(ended(&report), Ok(json!("over")), "{layer:?}");
        }
    }
}
