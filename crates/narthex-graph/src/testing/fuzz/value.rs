//! Values: a kind takes what its JSON Schema takes, and gives it back.

use std::sync::LazyLock;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value as Json;

use crate::schema::Kind;

/// The first byte says the kind; the rest is JSON, or text where it is none.
pub fn value(data: &[u8]) {
    let Some((which, rest)) = data.split_first() else { return };
    let (kind, validators) = &KINDS[usize::from(*which) % KINDS.len()];
    let text = || Json::String(String::from_utf8_lossy(rest).into_owned());
    judged(kind, validators, &text());
    if let Ok(json) = serde_json::from_slice::<Json>(rest) {
        judged(kind, validators, &json);
        judged(kind, validators, &Json::Array(vec![json.clone(), json]));
    }
}

fn judged(kind: &Kind, validators: &[Validator], json: &Json) {
    let accepted = kind.accept(json);
    for validator in validators {
        assert_eq!(validator.is_valid(json), accepted.is_ok(), "{kind}: {accepted:?} {json}");
    }
    if let Ok(value) = accepted {
        let again = kind.accept(&value.to_json(kind));
        assert_eq!(again.as_ref().ok(), Some(&value), "{kind}: {json}");
    }
}

/// Kinds with the validators of their schemas, which take longer to make than to ask.
static KINDS: LazyLock<Vec<(Kind, Vec<Validator>)>> = LazyLock::new(|| {
    let words = |words: &[&str]| Kind::Enum(words.iter().map(|&word| word.to_owned()).collect());
    let scalars = [
        Kind::String,
        Kind::Blob,
        Kind::Bool,
        Kind::I32,
        Kind::I64,
        Kind::U32,
        Kind::U64,
        Kind::F32,
        Kind::F64,
        Kind::Date,
        Kind::DateTime,
        words(&["lead", "été", "b c", "0"]),
    ];
    let lists = scalars.clone().map(|kind| Kind::List(Box::new(kind)));
    let vectors = [1, 2, 3].map(Kind::Vector);
    let all = scalars.into_iter().chain(lists).chain(vectors);
    all.map(|kind| (kind.clone(), validators(&kind.json_schema(false)))).collect()
});

fn validators(schema: &Json) -> Vec<Validator> {
    let options = || jsonschema::options().with_draft(Draft::Draft202012);
    let linear = options().with_pattern_options(PatternOptions::regex());
    [options().should_validate_formats(true), linear.should_validate_formats(false)]
        .map(|options| options.build(schema).unwrap_or_else(|error| panic!("{error}")))
        .into_iter()
        .collect()
}
