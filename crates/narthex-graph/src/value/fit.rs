//! Values that a query made, brought to the kind of the property they are for.

use super::accept::{MAX_LIST_ITEMS, bounded_text, single};
use super::moment::is_day;
use super::uri::is_uri;
use super::{Mismatch, Value, to_micros};
use crate::schema::Kind;

impl Kind {
    /// The value as this kind has it: a whole number where a float is wanted, the nearest of single
    /// precision, a moment to the microsecond. Refused if there is none such. Null stays null.
    pub fn fit(&self, value: Value) -> Result<Value, Mismatch> {
        let value = match (self, value) {
            (_, Value::Null) => return Ok(Value::Null),
            #[expect(clippy::cast_precision_loss, reason = "a float is the nearest there is")]
            (Self::F32 | Self::F64, Value::Int(number)) => {
                return self.fit(Value::Float(number as f64));
            }
            (Self::F64, Value::Float(number)) => Value::Float(number + 0.0),
            (Self::F32, Value::Float(number)) => {
                Value::Float(single(number).ok_or_else(|| self.beyond())?.into())
            }
            (Self::DateTime, Value::DateTime(moment)) => {
                Value::DateTime(to_micros(moment).ok_or_else(|| self.unlike())?)
            }
            (Self::List(item), Value::List(items)) => Value::List(
                items.into_iter().map(|value| item.fit(value)).collect::<Result<_, _>>()?,
            ),
            (_, value) => value,
        };
        self.check(&value).map(|()| value)
    }

    /// Whether a value is one that this kind has. Null is not.
    pub fn check(&self, value: &Value) -> Result<(), Mismatch> {
        let holds = match (self, value) {
            (Self::String, Value::Text(text)) => return bounded_text(text),
            (Self::Blob, Value::Text(text)) => is_uri(text),
            (Self::Bool, Value::Bool(_)) => true,
            (Self::I32 | Self::I64 | Self::U32 | Self::U64, Value::Int(number)) => {
                return if self.has(*number) { Ok(()) } else { Err(self.beyond()) };
            }
            (Self::F32, Value::Float(number)) => {
                single(*number).is_some_and(|single| f64::from(single) - *number == 0.0)
            }
            (Self::F64, Value::Float(number)) => number.is_finite(),
            (Self::Date, Value::Date(day)) => is_day(*day),
            (Self::DateTime, Value::DateTime(moment)) => to_micros(*moment) == Some(*moment),
            (Self::Vector(length), Value::Vector(items)) => {
                items.len() == *length as usize && items.iter().all(|item| item.is_finite())
            }
            (Self::Enum(words), Value::Text(text)) => words.contains(text),
            (Self::List(kind), Value::List(items)) => {
                if items.len() > MAX_LIST_ITEMS {
                    return Err(Mismatch(format!("a list has at most {MAX_LIST_ITEMS} items")));
                }
                return items.iter().try_for_each(|item| kind.check(item));
            }
            (
                Self::String
                | Self::Blob
                | Self::Bool
                | Self::I32
                | Self::I64
                | Self::U32
                | Self::U64
                | Self::F32
                | Self::F64
                | Self::Date
                | Self::DateTime
                | Self::Vector(_)
                | Self::Enum(_)
                | Self::List(_),
                _,
            ) => false,
        };
        if holds { Ok(()) } else { Err(self.unlike()) }
    }

    fn unlike(&self) -> Mismatch {
        Mismatch(format!("the value is no {self}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::schema::Kind;
    use crate::value::Value;
    use crate::value::samples::{any_value, kinds, of_kind};

    #[test]
    fn what_a_query_made_fits_or_is_refused() {
        let text = |text: &str| Value::Text(text.to_owned());
        for (kind, value, fits) in [
            (Kind::F64, Value::Int(3), Some(Value::Float(3.0))),
            (Kind::F32, Value::Float(0.1), Some(Value::Float(f64::from(0.1_f32)))),
            (Kind::F32, Value::Float(1e39), None),
            (Kind::F64, Value::Float(f64::NAN), None),
            (Kind::I32, Value::Int(1 << 31), None),
            (Kind::I32, Value::Float(1.0), None),
            (Kind::U64, Value::Int(u64::MAX.into()), Some(Value::Int(u64::MAX.into()))),
            (Kind::Enum(vec!["a".to_owned()]), text("b"), None),
            (Kind::Blob, text("nowhere"), None),
            (Kind::Date, text("2026-01-31"), None),
            (Kind::Vector(1), Value::Vector(vec![f32::NAN]), None),
            (
                Kind::List(Box::new(Kind::F64)),
                Value::List(vec![Value::Int(1)]),
                Some(Value::List(vec![Value::Float(1.0)])),
            ),
            (Kind::List(Box::new(Kind::F64)), Value::List(vec![Value::Null]), None),
            (Kind::Bool, Value::Null, Some(Value::Null)),
        ] {
            assert_eq!(kind.fit(value.clone()).ok(), fits, "{kind} {value:?}");
        }
    }

    #[test]
    fn leap_seconds_and_finer_parts_are_left_off() {
        let moment = |text: &str| text.parse::<chrono::DateTime<chrono::Utc>>().unwrap();
        for (given, kept) in [
            ("2016-12-31T23:59:60.5Z", "2016-12-31T23:59:59.999999Z"),
            ("2026-01-31T09:30:00.123456789Z", "2026-01-31T09:30:00.123456Z"),
        ] {
            let given = Value::DateTime(moment(given));
            assert!(Kind::DateTime.check(&given).is_err());
            assert_eq!(Kind::DateTime.fit(given), Ok(Value::DateTime(moment(kept))));
        }
        let far = Value::DateTime(chrono::DateTime::<chrono::Utc>::MAX_UTC);
        assert!(Kind::DateTime.fit(far).is_err());
        let far = Value::Date(chrono::NaiveDate::MAX);
        assert!(Kind::Date.fit(far).is_err());
    }

    proptest! {
        #[test]
        fn what_fits_is_of_the_kind_and_stays(
            kind in prop::sample::select(kinds()), value in any_value()
        ) {
            if let Ok(fitted) = kind.fit(value) {
                prop_assert!(fitted.is_null() || kind.check(&fitted).is_ok());
                prop_assert_eq!(kind.fit(fitted.clone()), Ok(fitted));
            }
        }

        #[test]
        fn what_is_of_a_kind_is_so_by_every_way(
            (kind, value) in prop::sample::select(kinds())
                .prop_flat_map(|kind| (Just(kind.clone()), of_kind(&kind)))
        ) {
            prop_assert_eq!(kind.check(&value), Ok(()));
            prop_assert_eq!(kind.fit(value.clone()), Ok(value));
        }
    }
}
