//! What a schema takes and what is accepted are the same: for a corpus, and for what nobody thought
//! of. Whether or not formats are asserted, by either engine for patterns.

use std::sync::LazyLock;

use jsonschema::{PatternOptions, Validator};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::{columns_json_schema, params_json_schema};
use crate::params::bind;
use crate::query::{Column, Expr, Param};
use crate::schema::Kind;
use crate::value::samples::{kinds, of_kind};
use crate::value::{MAX_LIST_ITEMS, MAX_TEXT_CHARS, MAX_URI_CHARS, Value};

fn validators(schema: &Json) -> Vec<Validator> {
    let draft = || jsonschema::options().with_draft(jsonschema::Draft::Draft202012);
    [draft().should_validate_formats(true), draft().should_validate_formats(false)]
        .into_iter()
        .flat_map(|options| {
            let linear = options.clone().with_pattern_options(PatternOptions::regex());
            [options.build(schema).unwrap(), linear.build(schema).unwrap()]
        })
        .collect()
}

/// Every kind with the validators of its schema, which take longer to make than to ask.
static KINDS: LazyLock<Vec<(Kind, Vec<Validator>)>> = LazyLock::new(|| {
    let with = |kind: Kind| (kind.clone(), validators(&kind.json_schema(false)));
    kinds().into_iter().map(with).collect()
});

fn agree(kind: &Kind, json: &Json) -> bool {
    let accepted = kind.accept(json);
    let (_, validators) = KINDS.iter().find(|(known, _)| known == kind).unwrap();
    for validator in validators {
        assert_eq!(
            validator.is_valid(json),
            accepted.is_ok(),
            "{kind}: {} {accepted:?}",
            short(json)
        );
    }
    accepted.is_ok()
}

fn short(json: &Json) -> String {
    json.to_string().chars().take(200).collect()
}

/// Texts that are, or are nearly, of some kind.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> = include_str!("corpus.txt").lines().map(str::to_owned).collect();
    for edge in [i128::from(i32::MAX), i64::MAX.into(), u32::MAX.into(), u64::MAX.into()] {
        for near in -11..=11 {
            texts.extend([(edge + near).to_string(), (-edge + near).to_string()]);
            texts.extend([format!("0{}", edge + near), format!("{}0", edge + near)]);
        }
    }
    // Each digit of the greatest numbers one up and one down.
    for most in [i64::MAX.to_string(), i64::MIN.to_string(), u64::MAX.to_string()] {
        for at in 0..most.len() {
            for digit in ['0', '1', '8', '9', '٣', '-', ' '] {
                let mut changed: Vec<char> = most.chars().collect();
                changed[at] = digit;
                texts.push(changed.into_iter().collect());
            }
        }
    }
    for year in
        ["0000", "0001", "0004", "0100", "0400", "1900", "2000", "2023", "2024", "9996", "9999"]
    {
        for day in ["01-31", "02-28", "02-29", "02-30", "04-30", "04-31", "12-31", "12-32", "00-10"]
        {
            texts.push(format!("{year}-{day}"));
            for rest in ["T00:00:00Z", "T23:59:59.999999Z", "T00:00:00+00:01", "T23:59:59-23:59"] {
                texts.push(format!("{year}-{day}{rest}"));
            }
        }
    }
    let ends = ["\n", "\0", "\u{2028}", " ", "\t"];
    let padded: Vec<String> = ["1", "2026-01-31", "2026-01-31T09:30:00Z", "lead", "https://h/p"]
        .iter()
        .flat_map(|text| ends.map(|end| [format!("{text}{end}"), format!("{end}{text}")]))
        .flatten()
        .collect();
    texts.extend(padded);
    texts.extend(["9".repeat(10_000), "é".repeat(MAX_TEXT_CHARS), "é".repeat(MAX_TEXT_CHARS + 1)]);
    for length in [MAX_URI_CHARS, MAX_URI_CHARS + 1] {
        texts.push(format!("a:{}", "x".repeat(length - 2)));
    }
    texts.extend(["𝟙".repeat(MAX_TEXT_CHARS / 2 + 1), String::new(), "\u{1F600}".to_owned()]);
    texts
}

fn numbers() -> Vec<Json> {
    let written = [
        "0",
        "-0",
        "0.0",
        "-0.0",
        "1",
        "-1",
        "1.0",
        "1e0",
        "1e3",
        "1E-3",
        "1.5",
        "-1.5",
        "1e300",
        "-1e300",
        "5e-324",
        "1e-400",
        "2147483647",
        "2147483648",
        "2147483647.0",
        "2147483647.5",
        "-2147483648",
        "-2147483649",
        "-2147483648.0",
        "4294967295",
        "4294967296",
        "4294967295.0",
        "-1.0",
        "-0.5",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "3.4028234663852886e38",
        "-3.4028234663852886e38",
        "3.4028234663852889e38",
        "3.4028235e38",
        "3.5e38",
        "1.7976931348623157e308",
        "1e38",
        "1e39",
        "340282346638528859811704183484516925440",
        "0.1",
        "1e-46",
        "123456789.123456789",
    ];
    written.iter().map(|text| serde_json::from_str(text).unwrap()).collect()
}

fn corpus() -> Vec<Json> {
    let mut leaves: Vec<Json> = texts().into_iter().map(Json::String).collect();
    leaves.extend(numbers());
    leaves.extend([json!(null), json!(true), json!(false), json!({}), json!({"0": 1})]);
    let mut all = leaves.clone();
    for leaf in leaves.iter().filter(|leaf| leaf.as_str().is_none_or(|text| text.len() < 100)) {
        all.extend([
            json!([leaf]),
            json!([leaf, leaf, leaf]),
            json!([0.5, 1, leaf]),
            json!([[leaf]]),
        ]);
    }
    for length in [0, 2, 3, 4, MAX_LIST_ITEMS, MAX_LIST_ITEMS + 1, 100_000] {
        all.extend([
            json!(vec!["1"; length]),
            json!(vec![0.5; length]),
            json!(vec!["lead"; length]),
        ]);
    }
    all.extend([json!([1, "1"]), json!(["2026-01-31", 1]), json!([1, null, 2])]);
    all
}

#[test]
fn the_corpus_is_taken_by_both_or_by_neither() {
    let corpus = corpus();
    assert!(corpus.len() > 2000, "{}", corpus.len());
    for kind in kinds() {
        let taken = corpus.iter().filter(|json| agree(&kind, json)).count();
        assert!((2..corpus.len() - 2).contains(&taken), "{kind} takes {taken}");
    }
}

#[test]
fn nullable_takes_null_and_nothing_else_more() {
    let corpus = corpus();
    for kind in kinds() {
        let nullable = jsonschema::validator_for(&kind.json_schema(true)).unwrap();
        for json in &corpus {
            let expected = json.is_null() || kind.accept(json).is_ok();
            assert_eq!(nullable.is_valid(json), expected, "{kind} {}", short(json));
        }
    }
}

#[test]
fn every_day_there_is_and_none_else() {
    for year in (0..=9999).filter(|year| year % 97 == 0 || year % 100 == 0 || year % 4 == 0) {
        for (month, day) in [(1, 31), (2, 28), (2, 29), (2, 30), (6, 30), (6, 31), (13, 1), (12, 0)]
        {
            agree(&Kind::Date, &json!(format!("{year:04}-{month:02}-{day:02}")));
        }
    }
}

fn param(name: &str, kind: Kind, nullable: bool, default: Option<Value>) -> Param {
    Param { name: name.to_owned(), kind, nullable, default }
}

#[test]
fn parameters_are_bound_exactly_where_their_schema_takes_them() {
    let params = [
        param("slug", Kind::String, false, None),
        param("min", Kind::I64, false, Some(Value::Int(18))),
        param("since", Kind::Date, true, None),
    ];
    let schema = params_json_schema(&params);
    assert_eq!(schema["required"], json!(["slug"]));
    assert_eq!(schema["properties"]["min"]["default"], json!("18"));
    let validators = validators(&schema);
    for (given, expected) in [
        (json!({"slug": "a"}), true),
        (json!({"slug": "a", "min": "3", "since": "2026-01-31"}), true),
        (json!({"slug": "a", "since": null}), true),
        (json!({}), false),
        (json!({"slug": null}), false),
        (json!({"slug": "a", "min": null}), false),
        (json!({"slug": "a", "min": 3}), false),
        (json!({"slug": "a", "Slug": "a"}), false),
        (json!({"slug": "a", "$min": "3"}), false),
    ] {
        assert_eq!(bind(&params, given.as_object().unwrap()).is_ok(), expected, "{given}");
        assert!(validators.iter().all(|v| v.is_valid(&given) == expected), "{given}");
    }
}

#[test]
fn answers_are_what_their_schema_says() {
    let column = |name: &str, kind: Option<Kind>, nullable| Column {
        name: name.to_owned(),
        value: Expr::Const(Value::Null),
        kind,
        nullable,
    };
    let columns = [
        column("f.slug", Some(Kind::String), false),
        column("n", Some(Kind::I64), true),
        column("f", None, true),
    ];
    let validators = validators(&columns_json_schema(&columns));
    for (row, expected) in [
        (json!({"f.slug": "a", "n": "3", "f": {}}), true),
        (json!({"f.slug": "a", "n": null, "f": null}), true),
        (json!({"f.slug": null, "n": null, "f": null}), false),
        (json!({"f.slug": "a", "n": 3, "f": {}}), false),
        (json!({"f.slug": "a", "n": "3"}), false),
        (json!({"f.slug": "a", "n": "3", "f": {}, "more": 1}), false),
    ] {
        assert!(validators.iter().all(|v| v.is_valid(&row) == expected), "{row}");
    }
}

/// A text that something was done to.
fn mutated(text: &str, at: usize, what: char) -> [String; 3] {
    let chars: Vec<char> = text.chars().collect();
    let at = at % (chars.len() + 1);
    let (before, after) = chars.split_at(at);
    let with = |middle: &[char], after: &[char]| before.iter().chain(middle).chain(after).collect();
    let rest = after.get(1..).unwrap_or_default();
    [with(&[what], after), with(&[what], rest), with(&[], rest)]
}

proptest! {
    #[test]
    fn what_goes_out_is_as_the_schema_says(
        (kind, value) in prop::sample::select(kinds())
            .prop_flat_map(|kind| (Just(kind.clone()), of_kind(&kind)))
    ) {
        prop_assert!(agree(&kind, &value.to_json(&kind)));
    }

    #[test]
    fn what_was_changed_is_still_judged_alike(
        (kind, value) in prop::sample::select(kinds())
            .prop_flat_map(|kind| (Just(kind.clone()), of_kind(&kind))),
        at in any::<usize>(),
        what in prop_oneof![prop::char::range('0', '9'), prop::char::range(' ', '~'), any::<char>()],
    ) {
        match value.to_json(&kind) {
            Json::String(text) => {
                for text in mutated(&text, at, what) {
                    agree(&kind, &json!(text));
                }
            }
            Json::Number(number) => {
                for text in mutated(&number.to_string(), at, what) {
                    if let Ok(json) = serde_json::from_str::<Json>(&text) {
                        agree(&kind, &json);
                    }
                    agree(&kind, &json!(text));
                }
            }
            Json::Array(mut items) => {
                let at = at % (items.len() + 1);
                items.insert(at, json!(what.to_string()));
                agree(&kind, &json!(items));
                items[at] = json!(1);
                agree(&kind, &json!(items));
                items.remove(0);
                agree(&kind, &json!(items));
            }
            other => _ = agree(&kind, &other),
        }
    }

    #[test]
    fn texts_of_nearly_the_right_shape_are_judged_alike(
        day in "(000[0-2]|[0-9]{4}|999[89])-[01][0-9]-[0-3][0-9]",
        time in "T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{1,7})?(Z|[+-][0-2][0-9]:[0-6][0-9])",
        uri in "[a-z+1]{1,3}:(//)?([a:@/?#\\[\\]%é-]|%[0-9a-g]{2}){0,8}",
        digits in "-?[0-9]{1,21}",
    ) {
        agree(&Kind::Date, &json!(day));
        agree(&Kind::DateTime, &json!(format!("{day}{time}")));
        agree(&Kind::Blob, &json!(uri));
        agree(&Kind::I64, &json!(digits));
        agree(&Kind::U64, &json!(digits));
    }

    #[test]
    fn any_text_and_number_is_judged_alike(text in ".{0,20}", number in any::<f64>(), int in any::<i64>()) {
        for kind in kinds() {
            for json in [json!(text), json!(number), json!(int), json!(int.to_string())] {
                agree(&kind, &json);
            }
        }
    }
}
