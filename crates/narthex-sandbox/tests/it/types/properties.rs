//! Whatever a schema says, what comes out is whole, bounded and the same every time.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    dead_code,
    unreachable_pub,
    reason = "tests"
)]

use std::time::Instant;

use super::support::{HOSTILE, Random, lexer, sampled, wild};
use narthex_sandbox::types::{
    FUNCTION_BYTES, Function, SIGNATURE_CHARS, declare, prelude, signature,
};
use proptest::prelude::*;

#[test]
fn the_reader_of_declarations_sees_what_is_wrong() {
    assert!(lexer::words("/** x */ a: \"}\";").is_ok());
    for wrong in ["{", "}", "(]", "\"a", "\"a\nb\"", "/** a", "// a", "/* a */", "'a'", "/** @x */"]
    {
        assert!(lexer::words(wrong).is_err(), "{wrong}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_schema_comes_out_whole(seed: u64, text in "\\PC{0,30}|[\\x00-\\x7f]{0,30}") {
        let random = &mut Random::new(seed);
        let (input, output) = (wild::document(random), wild::document(random));
        let notes = [random.pick(HOSTILE).to_owned(), text.clone()];
        let (title, name) = (random.pick(HOSTILE), random.pick(HOSTILE));
        let function = |identifier| Function {
            identifier, name, title, description: &text, input: &input, output: Some(&output), notes: &notes,
        };
        let functions = [function("f"), function(&text), function(name), function("F")];
        let started = Instant::now();
        let declared = declare(&text, &text, &functions);
        prop_assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
        prop_assert!(declared.len() < 4 * (FUNCTION_BYTES + 8_000), "{}", declared.len());
        let words = lexer::words(&declared);
        prop_assert!(words.is_ok(), "{}\n{}", words.unwrap_err(), declared);
        prop_assert!(!words.unwrap().iter().any(|word| word == "PWNED"), "{}", declared);
        prop_assert_eq!(declare(&text, &text, &functions), declared);

        let line = signature(&input);
        prop_assert!(line.chars().count() <= SIGNATURE_CHARS && !line.contains(char::is_control));
        let words = lexer::words(&line.replace('\u{2026}', "etc"));
        prop_assert!(words.is_ok(), "{}\n{}", words.unwrap_err(), line);
    }

    #[test]
    fn a_schema_with_a_meaning_comes_out_in_full(seed: u64) {
        let sample = sampled::document(&mut Random::new(seed));
        let function = Function {
            identifier: "f", name: "f", title: "", description: "", input: &sample.schema, output: None, notes: &[],
        };
        let declared = declare("m", "", &[function]);
        let words = lexer::words(&declared);
        prop_assert!(words.is_ok(), "{}\n{}", words.unwrap_err(), declared);
        prop_assert!(!declared.contains("too large"), "{}", declared);
        prop_assert!(declared.contains("export const f: HostFunction<FInput, any>;"), "{}", declared);
    }
}

#[test]
fn the_prelude_is_whole() {
    assert!(prelude().matches(['{', '(']).count() == prelude().matches(['}', ')']).count());
}
