//! The way out: values as the JSON of answers and exports.

use serde_json::{Value as Json, json};

use super::{Value, date_text, moment_text};
use crate::schema::Kind;

impl Value {
    /// As JSON. Whole numbers of 64 bits are text, whatever their size; numbers of single precision
    /// have as many digits as they need. [`Kind::accept`] reads it back as the same value.
    pub fn to_json(&self, kind: &Kind) -> Json {
        match self {
            Self::Null => Json::Null,
            Self::Bool(yes) => json!(yes),
            Self::Int(number) => whole(*number, kind),
            Self::Float(number) if *kind == Kind::F32 => single(*number),
            Self::Float(number) => json!(*number + 0.0),
            Self::Text(text) => json!(text),
            Self::Date(day) => json!(date_text(*day)),
            Self::DateTime(moment) => json!(moment_text(*moment)),
            Self::List(items) => {
                let item = if let Kind::List(item) = kind { item } else { kind };
                items.iter().map(|value| value.to_json(item)).collect()
            }
            Self::Vector(items) => items.iter().map(|item| single(f64::from(*item))).collect(),
        }
    }
}

fn whole(number: i128, kind: &Kind) -> Json {
    match i64::try_from(number) {
        Ok(number) if !kind.is_wide() => json!(number),
        _ => json!(number.to_string()),
    }
}

/// The shortest decimal that is read back as the same number of single precision.
fn single(number: f64) -> Json {
    #[expect(clippy::cast_possible_truncation, reason = "it was one before")]
    let short = number as f32;
    let read: Option<f64> = short.to_string().parse().ok();
    #[expect(clippy::cast_possible_truncation, reason = "what a reader does")]
    let same = read.filter(|read| (*read as f32).to_bits() == short.to_bits());
    json!(same.unwrap_or(number) + 0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::Value;
    use crate::schema::Kind;
    use crate::value::samples::{kinds, of_kind};

    #[test]
    fn what_answers_look_like() {
        let day = crate::value::parse_date("2026-01-31").unwrap();
        let moment = crate::value::parse_moment("2026-01-31T10:00:00.5+01:00").unwrap();
        for (value, kind, json) in [
            (Value::Int(3), Kind::I32, json!(3)),
            (Value::Int(3), Kind::I64, json!("3")),
            (Value::Int(u64::MAX.into()), Kind::U64, json!("18446744073709551615")),
            (Value::Int(i128::MAX), Kind::I32, json!("170141183460469231731687303715884105727")),
            (Value::Float(0.1_f32.into()), Kind::F32, json!(0.1)),
            (Value::Float(-0.0), Kind::F64, json!(0.0)),
            (Value::Date(day), Kind::Date, json!("2026-01-31")),
            (Value::DateTime(moment), Kind::DateTime, json!("2026-01-31T09:00:00.500000Z")),
            (Value::Vector(vec![0.1, 2.0]), Kind::Vector(2), json!([0.1, 2.0])),
            (Value::List(vec![Value::Int(1)]), Kind::List(Box::new(Kind::U64)), json!(["1"])),
            (Value::Null, Kind::I64, json!(null)),
        ] {
            assert_eq!(value.to_json(&kind), json, "{kind}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]
        #[test]
        fn what_goes_out_comes_in_again(
            (kind, value) in prop::sample::select(kinds())
                .prop_flat_map(|kind| (Just(kind.clone()), of_kind(&kind)))
        ) {
            let json = value.to_json(&kind);
            prop_assert_eq!(kind.accept(&json), Ok(value.clone()), "{}", json);
            let text = json.to_string();
            let read = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(kind.accept(&read), Ok(value), "{}", text);
        }

        #[test]
        fn every_single_comes_back(bits in any::<u32>()) {
            let number = f32::from_bits(bits);
            prop_assume!(number.is_finite());
            let json = super::single(number.into());
            prop_assert_eq!(Kind::F32.accept(&json), Ok(Value::Float(number.into())));
        }
    }
}
