//! Large texts take no longer than their size.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::shape::shape;

#[test]
fn a_large_program_is_shaped_in_no_time() {
    let texts = [
        ("imports", many(|n| format!("import a{n}, {{ b as c{n} }} from 'host:x';\n"))),
        ("imports on a line", many(|n| format!("import * as a{n} from 'host:x';"))),
        ("dynamic imports", many(|_| "import('a');".to_owned())),
        ("templates", many(|n| format!("`a${{`b${{{n}}}`}}`;\n"))),
        ("fences in templates", many(|_| "`\n~~~js\n1\n~~~\n`;\n".to_owned())),
        ("fences", many(|_| "a\n```\n1\n```\n".to_owned())),
        ("backticks", many(|_| "``".to_owned())),
        ("exports", many(|n| format!("export const a{n} = 1;\n"))),
        (
            "export lists",
            format!("function main() {{}}\n{}", many(|n| format!("export {{ main as a{n} }};\n"))),
        ),
        ("returns", many(|_| "if (a) return b;\n".to_owned())),
        ("typescript", many(|n| format!("const a{n}: string = '\u{e9}';\n"))),
        ("typescript on a line", many(|n| format!("const a{n}: string = '\u{e9}';"))),
        ("types", many(|n| format!("import {{ A{n} }} from 'x'; let b{n}: A{n};\n"))),
        ("one string", format!("'{}'", "a".repeat(SIZE))),
        ("a comment", format!("/*{}*/", "*\n".repeat(SIZE / 2))),
        ("carriage returns", "\r".repeat(SIZE)),
        ("lines", "\n".repeat(SIZE)),
        ("words", many(|_| "words and ".to_owned())),
    ];
    let mut slow = String::new();
    for (name, text) in &texts {
        let start = Instant::now();
        let shaped = shape(text);
        let taken = start.elapsed();
        println!("{name}: {taken:?} {}", shaped.is_ok());
        if taken > Duration::from_secs(1) {
            writeln!(slow, "{name}: {taken:?}").unwrap();
        }
    }
    assert_eq!(slow, "");
}

fn many(piece: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for n in 0.. {
        text.push_str(&piece(n));
        if text.len() >= SIZE {
            break;
        }
    }
    text
}

const SIZE: usize = 256 * 1024;
