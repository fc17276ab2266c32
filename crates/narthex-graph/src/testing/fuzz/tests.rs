//! The bodies over the corpus in `fuzz/`, and over what chance makes of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use narthex_store::fresh_uuid;

use super::{BODIES, Body};

/// The inputs that are kept for a target, by name.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus");
    let entries = std::fs::read_dir(PathBuf::from(folder).join(target)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// A number that nobody would have chosen.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    #[expect(clippy::cast_possible_truncation, reason = "it is less than a usize")]
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn one<'a, T: ?Sized>(&mut self, of: &'a [&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

/// A word, a number, or a single sign: what mutations put in each other's place.
fn pieces(text: &[u8]) -> Vec<&[u8]> {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 128;
    text.chunk_by(|one, other| word(*one) && word(*other)).collect()
}

const ODD: [&[u8]; 36] = [
    b"-1",
    b"0",
    b"2147483648",
    b"9223372036854775808",
    b"18446744073709551616",
    b"1e308",
    b"-0.0",
    b"0..1",
    b"..",
    b"?",
    b"@",
    b"\"",
    b"\\u{110000}",
    b"\\",
    b"/*",
    b"*/",
    b"//",
    b"{",
    b"}",
    b"(",
    b"[",
    b"]",
    b"not",
    b"null",
    b"in",
    b"$_",
    b"$",
    b"\xff",
    b"\xc3\xa9",
    b"\xef\xbb\xbf",
    b"\0",
    b"\r\n",
    b"@key",
    b"@rename_from(name)",
    b"\n===\n",
    b"{1,10}",
];

/// One of the corpus with something done to it, up to four times.
fn mutated(chance: &mut Chance, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut input = corpus[chance.below(corpus.len())].clone();
    for _ in 0..=chance.below(4) {
        let other = &corpus[chance.below(corpus.len())];
        let (mut parts, theirs) = (pieces(&input), pieces(other));
        let at = chance.below(parts.len() + 1);
        let until = (at + 1 + chance.below(6)).min(parts.len());
        match chance.below(8) {
            0 => parts.insert(at, chance.one(&ODD)),
            1 if at < parts.len() => parts[at] = chance.one(&ODD),
            2 if at < parts.len() && !theirs.is_empty() => parts[at] = chance.one(&theirs),
            3 if at < parts.len() => _ = parts.drain(at..until),
            4 if at < parts.len() => {
                let again = parts[at..until].to_vec();
                parts.splice(at..at, again);
            }
            5 => parts.truncate(at),
            6 if !theirs.is_empty() => {
                let from = chance.below(theirs.len());
                let upto = (from + 1 + chance.below(40)).min(theirs.len());
                parts.splice(at..at, theirs[from..upto].iter().copied());
            }
            _ => {
                let mut bytes = input.clone();
                let at = chance.below(bytes.len());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << chance.below(8);
                }
                input = bytes;
                continue;
            }
        }
        input = parts.concat();
    }
    input.truncate(LONGEST);
    input
}

fn run(target: &str, body: Body, input: &[u8], why: &str) {
    if catch_unwind(AssertUnwindSafe(|| body(input))).is_err() {
        let shown = String::from_utf8_lossy(input);
        panic!("`{target}` does not hold for {why}: {input:?}\n{shown}");
    }
}

fn holds(target: &str) {
    let (_, body) = BODIES.into_iter().find(|(name, _)| *name == target).unwrap();
    let corpus = corpus(target);
    assert!(corpus.len() >= 3, "there is too little in fuzz/corpus/{target}");
    for input in &corpus {
        run(target, body, input, "the corpus");
    }
    for seed in [1, fresh_uuid().as_u64_pair().1] {
        println!("{target}: seed {seed}");
        let mut chance = Chance(seed);
        for round in 0..ROUNDS {
            let input = mutated(&mut chance, &corpus);
            run(target, body, &input, &format!("round {round} of seed {seed}"));
        }
    }
}

#[test]
fn cursors_hold() {
    holds("cursor");
}

#[test]
fn files_hold() {
    holds("load");
}

#[test]
fn queries_hold() {
    holds("query");
}

#[test]
fn schemas_hold() {
    holds("schema");
}

#[test]
fn values_hold() {
    holds("value");
}

/// A new body has its test, its target and its corpus. A target is nothing but a call of its body,
/// word for word: nothing else compiles it here.
#[test]
fn every_body_is_run() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz");
    let manifest = std::fs::read_to_string(format!("{root}/Cargo.toml")).unwrap();
    for (name, _) in BODIES {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        let target = std::fs::read_to_string(format!("{root}/fuzz_targets/{name}.rs")).unwrap();
        let call = format!(
            "#![no_main]\n\nlibfuzzer_sys::fuzz_target!(|data: &[u8]| narthex_graph::testing::fuzz::{name}(data));\n"
        );
        assert_eq!(target, call);
        assert!(include_str!("tests.rs").contains(&format!("holds(\"{name}\")")), "{name}");
    }
}

/// What chance makes of the corpus for each seed.
const ROUNDS: usize = 2_000;
/// Bytes of what it makes.
const LONGEST: usize = 6_000;
