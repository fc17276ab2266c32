//! Whatever is sent, an answer comes back.

use oxc_allocator::Allocator;
use oxc_ast::ast::Statement;
use oxc_parser::Parser;
use oxc_span::SourceType;

use crate::shape::places::count;
use crate::shape::shape;

#[test]
fn no_text_makes_it_panic() {
    let mut chance = Chance(0x5eed);
    let mut taken = 0;
    for round in 0..ROUNDS {
        let mut text: Vec<char> = PROGRAMS[round % PROGRAMS.len()].chars().collect();
        for _ in 0..=chance.below(4) {
            let at = chance.below(text.len() + 1);
            match chance.below(4) {
                0 if at < text.len() => drop(text.remove(at)),
                1 => text.truncate(at),
                2 => {
                    let end = (at + chance.below(12)).min(text.len());
                    let piece: Vec<char> = text[at..end].to_vec();
                    let to = chance.below(text.len() + 1);
                    text.splice(to..to, piece);
                }
                _ => drop(text.splice(at..at, PIECES[chance.below(PIECES.len())].chars())),
            }
        }
        let text: String = text.into_iter().collect();
        let ends = text.split(['\n', '\r']).count();
        match shape(&text) {
            Ok(shaped) => {
                taken += 1;
                is_script(&text, &shaped.code);
                for line in 0..shaped.code.split('\n').count() {
                    let column = chance.below(40);
                    let (line, _) = shaped.original(count(line + 1), count(column));
                    // What is put after the end has a line or two of its own.
                    assert!(line as usize <= ends + 2, "{text:?}");
                }
            }
            Err(wrong) => assert!(wrong.line as usize <= ends, "{text:?} {wrong}"),
        }
    }
    // Else this shows nothing.
    assert!(taken > ROUNDS / 20, "{taken}");
}

/// Nothing is left that only a module may have, or only a function.
fn is_script(text: &str, code: &str) {
    let arena = Allocator::default();
    let read = Parser::new(&arena, code, SourceType::mjs()).parse();
    assert!(!read.diagnostics.has_errors(), "{text:?}\n{code}\n{:?}", read.diagnostics);
    let modular = read.program.body.iter().any(Statement::is_module_declaration);
    assert!(!modular, "{text:?}\n{code}");
}

/// A small generator of numbers, the same every time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}

const ROUNDS: usize = 6_000;

const PROGRAMS: &[&str] = &[
    "import a, { b as c } from 'host:x'\nexport default async () => a(c)\n",
    "import * as n from \"host:x\";\nexport const x = n.y, { z } = n;\nexport { x as default }",
    "#!/usr/bin/env node\n'use strict'\nif (a) return `b${c}`\nimport('d')\n",
    "interface A<T> { a: T }\nenum E { B = 1 }\nnamespace N { export const c = 1 }\nconst d = e as A<E>\n",
    "class P { constructor(private x: number) {} #y = 1; static { this.z = 2 } }\nexport = P",
    "Text \u{e9}\u{1f600}:\r\n\r\n  ```ts\r\n  const a: number = 1\r\n  return a\r\n  ```\r\n",
    "```js\nasync function main() { return a<!--b }\n```\nand\n```json\n{}\n```",
    "export default class { @d f() {} }\nexport function main() { for await (const x of y) yield x }",
];

const PIECES: &[&str] = &[
    "`",
    "```",
    "```js\n",
    "~~~",
    "\n",
    "\r",
    "\r\n",
    "\u{2028}",
    "\u{feff}",
    "\u{0}",
    "\u{1f600}",
    "${",
    "}",
    "{",
    "(",
    ")",
    "/*",
    "*/",
    "//",
    "'",
    "\"",
    "\\",
    "<",
    ">",
    ": any",
    "import ",
    "import(",
    "import.meta",
    "export ",
    "export default ",
    "return ",
    "await ",
    "async ",
    "main",
    "__host",
    "function ",
    "class ",
    "=>",
    ";",
    "type X = ",
    "enum ",
    "> ",
    "* ",
    "    ",
    "\t",
    "#!",
    "@",
    "using ",
    "accessor ",
    "abstract ",
];
