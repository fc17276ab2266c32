//! An error of a running program is found where it was written.

use super::harness::throws;
use crate::shape::shape;

#[test]
fn what_is_thrown_is_found_in_the_text_as_it_was_sent() {
    let mut wrong = Vec::new();
    for (source, line, column) in [
        ("const a = 1\nfail()", 2, 1),
        ("const a = 1;\r\n\r\nfail()", 3, 1),
        ("  fail()", 1, 3),
        ("import 'host:math'; fail()", 1, 21),
        (
            "import { PI } from 'host:math'\nimport {\n  add\n} from 'host:math'\nadd(PI, fail())",
            5,
            9,
        ),
        ("export default fail()", 1, 16),
        ("export default () => fail()", 1, 22),
        ("export const a = fail()", 1, 18),
        ("async function main() {\n  fail()\n}", 2, 3),
        ("if (loaded.length) return\nfail()", 2, 1),
        ("import('host:math').then(() => {}); fail()", 1, 37),
        ("const \u{e9} = '\u{1f600}'; fail()", 1, 16),
        ("\u{feff}#!/usr/bin/env node\nfail()", 2, 1),
    ] {
        let (message, at, found) = throws(source);
        if (at, found) != (line, column) || !message.contains("failed") {
            wrong.push((source, message, at, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn typescript_and_fences_keep_their_lines() {
    for (source, line) in [
        ("interface A {\n  a: number\n}\n\nconst x: A = { a: 1 }\n\nfail()", 7),
        (
            "type A = {\n  a: 1\n}\nimport { PI } from 'host:math'\nfunction f(x: A) {\n\n  return fail()\n}\nf({ a: 1 })",
            7,
        ),
        ("enum E {\n  A,\n  B,\n}\nasync function main(): Promise<void> {\n  fail()\n}", 6),
        ("const s: string = '\u{1f600}\u{2028}'\n\nfail()", 3),
        ("```js\nconst a = 1\n\nfail()\n```", 4),
        ("Text.\n\n```ts\ninterface A {\n  a: 1\n}\nif (loaded.length) return\nfail()\n```\n", 8),
        ("Text:\r\n\r\n```ts\r\ninterface A {}\r\n\r\nfail()\r\n```\r\n", 6),
    ] {
        assert_eq!(throws(source).1, line, "{source}");
    }
    assert_eq!(throws("   ```js\n   fail()\n   ```").2, 4);
}

#[test]
fn an_untouched_program_is_not_touched() {
    for source in ["", "1\n2", "const a = `\n`;\r\na // b", "async () => { return 1 }"] {
        assert_eq!(shape(source).unwrap().code, source);
    }
}

#[test]
fn a_line_can_be_shown() {
    let shaped = shape("Text:\n\n```js\nfoo()\n```").unwrap();
    assert_eq!(shaped.line(4), "foo()");
    assert_eq!(shaped.line(99), "");
    assert_eq!(shaped.original(99, 99), (99, 1));
}
