//! Which of two values comes first, and when they are the same.
//!
//! Three things that agree with each other: [`Value::compare`] is what a condition asks and knows
//! no answer for nulls and unlike kinds; [`Value::total`] is what sorting asks and always knows one;
//! [`Value::group_key`] is what grouping hashes. Two values that are equal for one are for all.
//! Whole numbers and floats are compared as the numbers they are, never by way of a rounded one.

use std::cmp::Ordering;

use chrono::{DateTime, NaiveDate, Utc};

use super::Value;

impl Value {
    /// How this stands to another. None if either is null, or they are of unlike kinds.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Null, _) | (_, Self::Null) => None,
            (Self::List(these), Self::List(those)) => {
                for (this, that) in these.iter().zip(those) {
                    match this.compare(that)? {
                        Ordering::Equal => {}
                        unlike => return Some(unlike),
                    }
                }
                Some(these.len().cmp(&those.len()))
            }
            _ => (self.rank() == other.rank()).then(|| self.total(other)),
        }
    }

    /// The one order of all values, nulls last.
    pub fn total(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(this), Self::Bool(that)) => this.cmp(that),
            (Self::Int(this), Self::Int(that)) => this.cmp(that),
            (Self::Int(this), Self::Float(that)) => int_to_float(*this, *that),
            (Self::Float(this), Self::Int(that)) => int_to_float(*that, *this).reverse(),
            (Self::Float(this), Self::Float(that)) => floats(*this, *that),
            (Self::Text(this), Self::Text(that)) => this.cmp(that),
            (Self::Date(this), Self::Date(that)) => this.cmp(that),
            (Self::DateTime(this), Self::DateTime(that)) => this.cmp(that),
            (Self::List(these), Self::List(those)) => {
                let first = these.iter().zip(those).map(|(this, that)| this.total(that));
                first
                    .into_iter()
                    .find(|order| order.is_ne())
                    .unwrap_or_else(|| these.len().cmp(&those.len()))
            }
            (Self::Vector(these), Self::Vector(those)) => {
                let pairs = these.iter().zip(those);
                pairs
                    .map(|(this, that)| floats(f64::from(*this), f64::from(*that)))
                    .find(|order| order.is_ne())
                    .unwrap_or_else(|| these.len().cmp(&those.len()))
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }

    /// What groups and sets are made by: equal exactly where [`Value::total`] says so.
    pub fn group_key(&self) -> GroupKey {
        match self {
            Self::Null => GroupKey::Null,
            Self::Bool(yes) => GroupKey::Bool(*yes),
            Self::Int(number) => GroupKey::Int(*number),
            Self::Float(number) => match whole(*number) {
                Some(number) => GroupKey::Int(number),
                None => GroupKey::Float(same_bits(*number)),
            },
            Self::Text(text) => GroupKey::Text(text.clone()),
            Self::Date(day) => GroupKey::Date(*day),
            Self::DateTime(moment) => GroupKey::DateTime(*moment),
            Self::List(items) => GroupKey::List(items.iter().map(Self::group_key).collect()),
            Self::Vector(items) => {
                GroupKey::Vector(items.iter().map(|item| same_bits(f64::from(*item))).collect())
            }
        }
    }

    /// Kinds that can be compared have the same rank; nulls the last.
    const fn rank(&self) -> u8 {
        match self {
            Self::Bool(_) => 0,
            Self::Int(_) | Self::Float(_) => 1,
            Self::Text(_) => 2,
            Self::Date(_) => 3,
            Self::DateTime(_) => 4,
            Self::List(_) => 5,
            Self::Vector(_) => 6,
            Self::Null => 7,
        }
    }
}

/// A value as something that can be hashed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the value of that name")]
pub enum GroupKey {
    Null,
    Bool(bool),
    /// Also a float that is a whole number.
    Int(i128),
    /// The bits of one that is not.
    Float(u64),
    Text(String),
    Date(NaiveDate),
    DateTime(DateTime<Utc>),
    List(Vec<GroupKey>),
    /// The bits of each.
    Vector(Vec<u64>),
}

/// The whole number that a float is, if it is one that an [`Value::Int`] can be.
pub(crate) fn whole(number: f64) -> Option<i128> {
    if !(-TWO_TO_127..TWO_TO_127).contains(&number) || number.fract() != 0.0 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
    Some(number as i128)
}

fn int_to_float(int: i128, float: f64) -> Ordering {
    if float.is_nan() || float >= TWO_TO_127 {
        return Ordering::Less;
    }
    let Some(floor) = whole(float.floor()) else { return Ordering::Greater };
    // Equal to its floor, a whole number is still less than anything above that.
    int.cmp(&floor).then(if float > float.floor() { Ordering::Less } else { Ordering::Equal })
}

/// Zero has one sign; what is no number comes last, so that the order is one whatever comes in.
fn floats(this: f64, that: f64) -> Ordering {
    this.partial_cmp(&that).unwrap_or_else(|| this.is_nan().cmp(&that.is_nan()))
}

fn same_bits(number: f64) -> u64 {
    if number.is_nan() { f64::NAN.to_bits() } else { (number + 0.0).to_bits() }
}

/// One more than the greatest `i128`.
const TWO_TO_127: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;

#[cfg(test)]
mod tests {
    use std::cmp::Ordering::{self, Equal, Greater, Less};

    use proptest::prelude::*;

    use super::{TWO_TO_127, Value};
    use crate::value::samples;

    const EDGE: i128 = 9_007_199_254_740_992;

    #[test]
    fn numbers_are_compared_as_what_they_are() {
        use Value::{Float, Int};
        for (this, that, order) in [
            (Int(1), Float(1.0), Equal),
            (Int(EDGE), Float(9_007_199_254_740_992.0), Equal),
            (Int(EDGE + 1), Float(9_007_199_254_740_992.0), Greater),
            (Int(-EDGE - 1), Float(-9_007_199_254_740_992.0), Less),
            (Int(i128::from(u64::MAX)), Float(18_446_744_073_709_551_616.0), Less),
            (Int(i128::MAX), Float(TWO_TO_127), Less),
            (Int(i128::MIN), Float(-TWO_TO_127), Equal),
            (Int(i128::MIN), Float(f64::MIN), Greater),
            (Int(2), Float(2.5), Less),
            (Int(3), Float(2.5), Greater),
            (Int(-2), Float(-2.5), Greater),
            (Int(-3), Float(-2.5), Less),
            (Int(0), Float(-0.0), Equal),
            (Int(0), Float(5e-324), Less),
            (Int(0), Float(-5e-324), Greater),
            (Float(-0.0), Float(0.0), Equal),
            (Int(1), Float(f64::INFINITY), Less),
            (Int(1), Float(f64::NEG_INFINITY), Greater),
        ] {
            assert_eq!(this.compare(&that), Some(order), "{this:?} {that:?}");
            assert_eq!(that.compare(&this), Some(order.reverse()), "{that:?} {this:?}");
        }
    }

    #[test]
    fn nulls_and_unlike_kinds_have_no_answer_but_a_place() {
        let text = || Value::Text("1".to_owned());
        for (this, that) in [
            (Value::Null, Value::Null),
            (Value::Null, Value::Int(1)),
            (Value::Int(1), text()),
            (Value::Bool(true), Value::Int(1)),
            (Value::List(vec![]), Value::Vector(vec![])),
            (Value::List(vec![Value::Null]), Value::List(vec![Value::Null])),
            (Value::List(vec![Value::Int(1)]), Value::List(vec![text()])),
        ] {
            assert_eq!(this.compare(&that), None, "{this:?} {that:?}");
        }
        let mut values = [Value::Null, text(), Value::Int(1), Value::Null, Value::Bool(true)];
        values.sort_by(Value::total);
        assert_eq!(values, [Value::Bool(true), Value::Int(1), text(), Value::Null, Value::Null]);
        let list = |items: &[i128]| Value::List(items.iter().map(|n| Value::Int(*n)).collect());
        assert_eq!(list(&[1, 2]).compare(&list(&[1])), Some(Greater));
        assert_eq!(list(&[0, 2]).compare(&list(&[1])), Some(Less));
    }

    fn holds_together(a: &Value, b: &Value) -> Ordering {
        let order = a.total(b);
        assert_eq!(b.total(a), order.reverse(), "{a:?} {b:?}");
        assert_eq!(a.group_key() == b.group_key(), order == Equal, "{a:?} {b:?}");
        if let Some(compared) = a.compare(b) {
            assert_eq!(compared, order, "{a:?} {b:?}");
        }
        order
    }

    proptest! {
        #[test]
        fn the_order_is_one(
            a in samples::any_value(), b in samples::any_value(), c in samples::any_value(),
        ) {
            let (ab, bc, ac) =
                (holds_together(&a, &b), holds_together(&b, &c), holds_together(&a, &c));
            prop_assert_eq!(holds_together(&a, &a), Equal);
            if ab == bc || bc == Equal {
                prop_assert_eq!(ac, ab);
            } else if ab == Equal {
                prop_assert_eq!(ac, bc);
            }
        }

        #[test]
        fn near_numbers_are_told_apart(n in any::<i64>(), off in -2_i128..=2) {
            #[expect(clippy::cast_precision_loss, reason = "the loss is what is looked at")]
            let float = n as f64;
            let int = i128::from(n) + off;
            let exact = int.cmp(&super::whole(float).unwrap());
            prop_assert_eq!(Value::Int(int).compare(&Value::Float(float)), Some(exact));
        }
    }
}
