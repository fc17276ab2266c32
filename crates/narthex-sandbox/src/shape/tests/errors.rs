//! What is refused, and where.

use std::fmt::Write as _;

use crate::shape::shape;

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let mut wrong = String::new();
    for (source, line, fragment) in [
        ("const x = ;", 1, "Unexpected token"),
        ("const x = 1\nconst y = (2\n", 3, "Expected"),
        ("let a = 1\nlet a = 2", 1, "already been declared"),
        ("const s = 'abc", 1, "Unterminated string"),
        ("1\n/* abc", 2, "Unterminated"),
        ("const s = `abc\n${1}\n", 2, "Unterminated"),
        ("const x: number = ;\n", 1, "Unexpected token"),
        ("const x: number = 1\nconst y: = 2", 2, ""),
        ("const x: number = 1\nconst x = 2", 1, "already been declared"),
        ("break", 1, "break"),
        ("function f() {\n  await 1\n}", 2, "await"),
        ("with (x) {}", 1, "with"),
        ("var await = 1", 1, "await"),
        ("x = 010", 1, "octal"),
        ("const y = 1\nimport.meta.url", 2, "import.meta"),
        ("import x from 'y' with { type: 'json' }", 1, "attributes"),
        ("1\nimport('y', { with: { type: 'json' } })", 2, "attributes"),
        ("import defer * as x from 'y'", 1, "defer"),
        ("import.source('y')", 1, "defer"),
        ("1\nexport * from 'y'", 2, "export … from"),
        ("export * as z from 'y'", 1, "export … from"),
        ("export { z } from 'y'", 1, "export … from"),
        ("export default 1\nexport default 2", 1, "export"),
        ("export { nothing }", 1, "nothing"),
        ("let __hostRequire = 1", 1, "`__host`"),
        ("function f() {\n  const __hostX = 1\n}", 2, "`__hostX`"),
        ("const x: number = 1\nfunction f(__hostX: number) {}", 2, "`__hostX`"),
        ("import { a as __hostModule0 } from 'y'", 1, "__hostModule0"),
        ("class A {\n  @dec f() {}\n}", 2, "decorators"),
        ("const x: number = 1\n@dec\nclass A {}", 2, "decorators"),
        ("const x: number = 1\nimport.meta", 2, "import.meta"),
        ("const a = 1\nconst b = <div>{a}</div>", 2, "JSX"),
        ("import x from 'a\\\nb'", 1, "one line"),
        ("Here is what I would do.", 1, ""),
        ("Text:\n\n```js\nconst a = 1\nconst b = ;\n```", 5, "Unexpected token"),
        ("```js\nconst a = 1\nimport.meta\n```", 3, "import.meta"),
        ("```ts\nconst a: number = 1\nconst b: number = ;\n```", 3, "Unexpected token"),
        ("```js\n1\n```\n\n```js\n2\n```", 5, "Send one block"),
        ("Either\n```\n1\n```\nor\n```\n2\n```", 6, "Send one block"),
        ("/*\n```js\n1\n```\n*/\nconst x = ;", 6, "Unexpected token"),
        ("/**\n * ```js\n * 1\n * ```\n */\nconst x = ;", 6, "Unexpected token"),
        ("const x = ;\n/**\n * ```js\n * 1\n * ```\n */", 1, "Unexpected token"),
        ("1. Run:\n\n   ```js\n   1\n   2 +\n   ```", 6, "Unexpected token"),
        ("foo(\n```", 2, ""),
        ("const a = 1\r\nconst b = ;\r\n", 2, "Unexpected token"),
        ("const a = 1\rconst b = ;", 2, "Unexpected token"),
        ("\u{feff}const b = ;", 1, "Unexpected token"),
    ] {
        let Err(found) = shape(source) else {
            write!(wrong, "\n{source}\n--- is taken\n").unwrap();
            continue;
        };
        let mut lines = source.trim_start_matches('\u{feff}').split(['\n', '\r']);
        let shown = lines.any(|line| line == found.excerpt);
        if found.line != line || !found.message.contains(fragment) || !shown {
            write!(wrong, "\n{source}\n--- is not {line}, {fragment}, but {found}\n").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_column_counts_characters() {
    let wrong = shape("const a = 1\nconst \u{e9} = '\u{1f600}' + ;").unwrap_err();
    assert_eq!((wrong.line, wrong.column), (2, 17), "{wrong}");
    let wrong = shape("  ```js\n  const b = ;\n  ```").unwrap_err();
    assert_eq!((wrong.line, wrong.column), (2, 13), "{wrong}");
}

#[test]
fn an_error_reads_well() {
    let wrong = shape("let a = 1\n\nlet a = 2").unwrap_err();
    assert_eq!(
        wrong.message,
        "Identifier `a` has already been declared (line 3: It can not be redeclared here)"
    );
    let wrong = shape("const total = 1\nconst half = total / ;").unwrap_err();
    assert_eq!(wrong.to_string(), "line 2, column 22: Unexpected token\n  const half = total / ;");
}
