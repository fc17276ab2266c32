//! What programs give.

use std::fmt::Write as _;

use super::harness::run;

#[track_caller]
fn all(programs: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (source, expected) in programs {
        let given = run(source).unwrap_or_else(|problem| problem);
        if given != *expected {
            write!(wrong, "\n{source}\n--- should give {expected}, not {given}\n").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn plain_programs_give_their_last_value() {
    all(&[
        ("", "undefined"),
        ("  \n\t\n", "undefined"),
        ("// nothing", "undefined"),
        ("/* nothing */", "undefined"),
        ("1 + 1", "2"),
        ("({ a: 1 })", r#"{"a":1}"#),
        ("\"hello\"", "\"hello\""),
        ("const x = 20; x + 1", "21"),
        ("const x = 20", "undefined"),
        ("5;;", "5"),
        ("await Promise.resolve(3)", "3"),
        ("Promise.resolve(4)", "4"),
        ("for await (const x of [1, 2]) { x * 10 }", "20"),
        ("if (true) { 'a' } else { 'b' }", "\"a\""),
        ("async () => { return 6 }", "6"),
        ("(async () => { return 7 })()", "7"),
        ("(function () { return 8 })", "8"),
        ("module.exports = async () => 9", "9"),
        ("const { add } = require('host:math'); add(1, 2)", "3"),
        ("this === globalThis", "true"),
    ]);
}

#[test]
fn odd_beginnings_and_line_ends_are_taken() {
    all(&[
        ("'use strict'; const x = 1;", "undefined"),
        ("\"use strict\"\nfunction f() { return this }\nf() === undefined", "true"),
        ("'use strict'", "undefined"),
        ("'use strict'\n;[1].map(x => x)", "[1]"),
        ("#!/usr/bin/env node\n42", "42"),
        ("#!/usr/bin/env node\nimport { PI } from 'host:math'\nPI", "3"),
        ("\u{feff}43", "43"),
        ("\u{feff}#!/usr/bin/env node\n43", "43"),
        ("\u{feff}```js\n44\n```", "44"),
        ("const a = 1;\r\nconst b = 2;\r\na + b\r\n", "3"),
        ("// a\rconst a = 1\ra", "1"),
        ("`a\r\nb\rc`", r#""a\nb\nc""#),
        ("let a = 1, b = 2; a<!--b", "false"),
        ("let n = 2, s = 0; while (n --> 0) s++; s", "2"),
    ]);
}

#[test]
fn imports_become_constants() {
    all(&[
        ("import { add } from 'host:math'; add(1, 2)", "3"),
        ("import { add as plus, PI } from \"host:math\"\nplus(PI, 1)", "4"),
        ("import { 'odd-name' as odd, if as then } from 'host:math'; [odd, then]", "[7,8]"),
        ("import * as math from 'host:math'; math.PI", "3"),
        ("import double from 'host:double'; double(4)", "8"),
        ("import double, { extra } from 'host:double'; double(extra)", "2"),
        ("import double, * as all from 'host:double'; [double(2), all.extra]", "[4,1]"),
        ("import { default as double } from 'host:double'; double(5)", "10"),
        ("import plain from 'host:plain'; plain.x", "1"),
        ("import zero from 'host:zero'; zero", "0"),
        ("import 'host:math'; loaded", r#"["host:math"]"#),
        ("import 'host:math'", "undefined"),
        ("import {} from 'host:math'; loaded", r#"["host:math"]"#),
        ("import unused from 'host:plain'; loaded", r#"["host:plain"]"#),
        // Before all else, in their order, wherever they stand.
        (
            "const seen = [...loaded]\nimport 'host:math'\nimport 'host:plain'\nseen",
            r#"["host:math","host:plain"]"#,
        ),
        ("add(2, 2)\nimport {\n  add,\n} from 'host:math'", "4"),
        ("const f = 1\nimport 'host:math'\n;(f)", "1"),
        ("let g = () => 5\nimport 'host:math'\n(g)()", "5"),
        ("const require = () => 1; import { PI } from 'host:math'; PI + require()", "4"),
        ("(await import('host:math')).PI", "3"),
        ("const { default: double } = await import(`host:${'double'}`); double(1)", "2"),
        ("import('host:plain')\n  .then(m => m.x)", "1"),
        ("const o = { import(x) { return x } }; o.import(5)", "5"),
    ]);
}

#[test]
fn exports_lose_their_keyword_and_the_default_is_the_value() {
    all(&[
        ("export const x = 1; x + 1", "2"),
        ("export let a = 1\nexport var b = 2\na + b", "3"),
        ("export function f() { return 4 }\nf()", "4"),
        ("export async function f() { return 4 }\nf()", "4"),
        ("export class A { static x = 5 }\nA.x", "5"),
        ("const a = 1, b = 2; export { a, b as c }; a + b", "3"),
        ("const a = () => 9\nexport { a }\n(a)()", "9"),
        ("1\nexport {}", "1"),
        ("export default 6", "6"),
        ("export default { a: 1 }", r#"{"a":1}"#),
        ("export default await Promise.resolve(7);\n8", "7"),
        ("export default async () => 8", "8"),
        ("export default function () { return 9 }", "9"),
        ("export default function () { return 9 }\n(10)", "9"),
        ("export default async function run() { return 10 }", "10"),
        ("run.x = 1\nexport default function run() { return run.x }", "1"),
        ("export default function* () {}\n[1].map(x => x)", "{}"),
        ("export /* default */ default // why\n\n  (12)", "12"),
        ("const x = () => 13; export { x as default }", "13"),
        ("export default () => import('host:plain')", r#"{"x":1}"#),
        ("export default import('host:plain')", r#"{"x":1}"#),
        ("import d from 'host:double'; export default () => d(7)", "14"),
    ]);
}

#[test]
fn a_main_that_nothing_mentions_is_called() {
    all(&[
        ("async function main() { return 1 }", "1"),
        ("function main() { return 1 } // end", "1"),
        ("const main = async () => 2", "2"),
        ("const main = (async () => { return 2 })", "2"),
        ("let main = function () { return 3 }", "3"),
        ("export async function main() { return 4 }", "4"),
        ("async function main() { return 5 }\nexport { main }", "5"),
        ("function main() { return 6 }\nmain() + 1", "7"),
        ("let n = 0; function main() { n++ }\nmain(); n", "1"),
        ("let n = 0; function main() { n++ }\nfunction go() { main() }\nn", "0"),
        ("function main() { return 7 }\nmodule.exports = main", "7"),
        ("export default async function main() { return 8 }", "8"),
        ("function main() { return 9 }\nexport default 10", "10"),
        ("{ function main() { return 9 } }\n11", "11"),
        ("const main = 12; main", "12"),
        ("const main = 12", "undefined"),
        ("const o = { main() { return 1 } }; 13", "13"),
        ("import { PI } from 'host:math'\nasync function main() { return PI }\n", "3"),
    ]);
}

#[test]
fn a_return_outside_of_functions_ends_the_program() {
    all(&[
        ("return 1", "1"),
        ("const x = await Promise.resolve(2); return x", "2"),
        ("if (loaded.length > 0) return 1\n2", "2"),
        ("if (loaded.length > 0) return 1\n2;\n;function f() {} // end", "2"),
        ("if (loaded.length > 0) return 1\nconst x = 3", "undefined"),
        ("if (loaded.length > 0) return 1;\n({ a: 1 })", r#"{"a":1}"#),
        ("if (loaded.length > 0) return 1\nimport('host:plain')", r#"{"x":1}"#),
        ("for (const x of [4, 5]) { if (x > 4) return x }", "5"),
        ("'use strict'\nreturn this === globalThis", "true"),
        ("import { PI } from 'host:math'\nreturn PI", "3"),
        ("export const x = 6; return x", "6"),
        ("if (loaded.length > 0) return 1\nexport default 7", "7"),
        ("if (loaded.length > 0) return 1\nasync function main() { return 8 }", "8"),
        ("async function main() { return 8 }\nreturn main()", "8"),
        ("return () => 9", "9"),
        ("try { return 10 } finally { loaded.length = 0 }", "10"),
        ("return // nothing", "undefined"),
        ("const f = () => { return 11 }; f()", "11"),
        ("#!/usr/bin/env node\nreturn 12", "12"),
    ]);
}

#[test]
fn typescript_loses_its_types() {
    all(&[
        ("const x: number = 1; x", "1"),
        ("interface A { a: number }\nconst a: A = { a: 2 }\na", r#"{"a":2}"#),
        ("type A = string\nconst f = <T,>(x: T): T => x\nf<A>('b')", "\"b\""),
        ("const a = [1, 2] as const satisfies readonly number[]; a", "[1,2]"),
        ("let a: number | undefined = 3; a!", "3"),
        ("enum Color { Red, Green = 5, Blue }\n[Color.Blue, Color[0]]", r#"[6,"Red"]"#),
        ("const enum E { A = 'a' }\nE.A", "\"a\""),
        ("namespace N { export const x = 4 }\nN.x", "4"),
        (
            "class P { constructor(private x: number, readonly y = 2) {} }\nnew P(1)",
            r#"{"x":1,"y":2}"#,
        ),
        (
            "abstract class A { abstract f(): void; #p = 1; get p() { return this.#p } }\nclass B extends A { f() {} }\nnew B().p",
            "1",
        ),
        ("import type { A } from 'no:such'\nconst a: A = 5; a", "5"),
        ("import { type A } from 'no:such'\nconst a: A = 5; a", "5"),
        ("import { A } from 'no:such'\nconst a: A = 6; a", "6"),
        ("import { PI, type A } from 'host:math'\nconst a: A = PI; a", "3"),
        ("import unused from 'host:plain'\nconst a: string[] = loaded; a", r#"["host:plain"]"#),
        ("import math = require('host:math')\nmath.PI as number", "3"),
        ("const f = (): number => 7\nexport = f", "7"),
        (
            "export interface A {}\nexport type B = A\nexport default async (x?: B): Promise<number> => 8",
            "8",
        ),
        ("interface T { a: 1 }\nexport { T }\nconst t: T = { a: 1 }; t.a", "1"),
        ("async function main(): Promise<number> { return 9 }", "9"),
        (
            "function f(a: string): string\nfunction f(a: number): number\nfunction f(a: any) { return a }\nf(10)",
            "10",
        ),
        ("declare const nothing: number\nconst x: number = 11\nreturn x", "11"),
        ("const x: number = 12\nif (x < 0) return\nx", "12"),
        ("function g(this: { v: number }) { return this.v }\ng.call({ v: 13 })", "13"),
        ("const s: string = `import x from 'y' \u{1f600}`; s.length", "20"),
        ("export type { A } from 'x'\nexport type * from 'y'\nconst x: number = 15; x", "15"),
        ("let v: unknown = 14; export { v as default }", "14"),
    ]);
}

#[test]
fn a_fenced_block_is_the_program() {
    all(&[
        ("```js\n1\n```", "1"),
        ("```\n2\n```\n", "2"),
        ("~~~javascript\n3\n~~~", "3"),
        ("```ts\nconst x: number = 4; x\n```", "4"),
        ("```TypeScript title=\"a\"\nconst x: number = 4; x\n```", "4"),
        ("\n\n```js\n5\n```\n", "5"),
        ("```js\n6", "6"),
        ("````js\n/*\n```\n*/ 6\n````", "6"),
        ("Here is the code:\n\n```js\nconst x = `a`; x + 'b'\n```\n\nIt gives ab.", "\"ab\""),
        ("Code:\n```js\nreturn 7\n```", "7"),
        ("Code:\n```js\nlet x = `8`\nx\n```\nThis prints 8.", "\"8\""),
        ("  ```js\n  `a\n    b`\n  ```", r#""a\n  b""#),
        ("```js\r\n`a\r\nb`\r\n```\r\n", r#""a\nb""#),
        ("```js\n9\n```\nwhich gives\n```json\n9\n```", "9"),
        ("Install:\n```sh\nnpm i\n```\nRun:\n```ts\nconst x: number = 10\nx\n```", "10"),
        ("```\n```", "undefined"),
        ("> ```js\n> `a\n> b`\n> ```", r#""a\nb""#),
        ("1. Run this:\n   ```js\n   11\n   ```\n2. Look.", "11"),
        ("```js\nimport { PI } from 'host:math'\nexport default PI\n```", "3"),
    ]);
}

#[test]
fn a_program_with_a_fence_in_it_stays_itself() {
    all(&[
        ("const md = `\n~~~js\nthrow 1\n~~~\n`\nmd.length", "19"),
        ("const md = '```js\\n1\\n```'; md.length", "11"),
        ("/*\n```js\nthrow 1\n```\n*/\n2", "2"),
        ("/**\n * ```js\n * throw 1\n * ```\n */\n3", "3"),
        ("// see\n// ```js\n// throw 1\n// ```\n4", "4"),
        ("const f = s => s.raw[0]\nf`5`", "\"5\""),
    ]);
}

#[test]
fn what_is_unusual_but_valid_stays_as_it_is() {
    all(&[
        ("a: for (;;) { for (;;) break a }\n1", "1"),
        ("class A { #x = 2; static #y = 3; static f() { return new A().#x + A.#y } }\nA.f()", "5"),
        (
            "async function* g() { yield 1; yield* [2, 3] }\nconst r = []; for await (const x of g()) r.push(x); r",
            "[1,2,3]",
        ),
        ("String(2n ** 64n)", "\"18446744073709551616\""),
        ("/[\\p{L}--[a-z]]/v.test('A')", "true"),
        (
            "`import x from 'y'; export default ${1}; return`",
            "\"import x from 'y'; export default 1; return\"",
        ),
        ("\"export default 1\".length", "16"),
        ("const { a, ...rest } = { a: 1, b: 2 }; rest", r#"{"b":2}"#),
        ("let x = null; x ??= 4; x?.y ?? x", "4"),
        ("class A { static { this.x = 6 } }\nA.x", "6"),
        ("const async = 1, of = 2, get = 3, from = 4, as = 5; async + of + get + from + as", "15"),
        ("const \u{e9}t\u{e9} = 7; \\u00e9t\\u00e9", "7"),
        ("label: { break label }\n8", "8"),
        ("const t = (s, ...v) => s.raw.join('|') + v; t`a${1}b\\n`", r#""a|b\\n1""#),
        ("(() => { 'use strict'; return typeof this })()", "\"object\""),
        (
            "var undefined_ = void 0, o = { __proto__: null, 'use strict': 1 }; o",
            r#"{"use strict":1}"#,
        ),
        ("1_000", "1000"),
    ]);
}
