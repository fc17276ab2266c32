//! What indexes have of a row, and what is looked up in them.
//!
//! What an index holds is a text or a number, one or the other in any one index, that sorts as the
//! values do: see [`index_value`]. Looking something up finds every row that may match and perhaps
//! more (long texts are cut, and stale entries may be there), so that whoever looks checks the rows.

use std::cmp::Ordering;

use narthex_core::{Digest, canonical_json};
use narthex_store::{IndexRange, Tag, TextEntry};
use serde_json::{Value as Json, json};

use super::number::key_part;
use crate::query::BinaryOp;
use crate::schema::{Kind, Property, tag};
use crate::value::{Value, date_text, moment_text, whole, words};

/// What indexes have of one row.
#[derive(Debug, Clone, Default)]
pub struct IndexEntries {
    /// By value.
    pub index: Vec<(Tag, Json)>,
    /// By word.
    pub texts: Vec<TextEntry>,
}

/// What the indexes over a type's properties have of a row. Nulls are in none; of a list, each item
/// is there once.
pub fn index_entries(type_slot: &str, properties: &[Property], values: &[Value]) -> IndexEntries {
    let mut entries = IndexEntries::default();
    for (property, value) in properties.iter().zip(values) {
        let Some(index) = property.index_tag(type_slot) else { continue };
        let mut kept = match (&property.kind, value) {
            (Kind::List(item), Value::List(items)) => {
                items.iter().filter_map(|value| index_value(item, value)).collect()
            }
            (kind, value) => Vec::from_iter(index_value(kind, value)),
        };
        kept.sort_by_cached_key(canonical_json);
        kept.dedup();
        entries.index.extend(kept.into_iter().map(|value| (index, value)));
        if let (true, Value::Text(text)) = (property.is_searched(), value) {
            entries.texts.push(TextEntry { index, words: words(text).join(" ") });
        }
    }
    entries
}

/// What the indexes behind `@unique` have of a row: one text for each set of properties, the same
/// exactly for the same values. Where one of them is null, the row is like no other and is not there.
pub fn unique_entries(
    type_slot: &str,
    properties: &[Property],
    uniques: &[Vec<usize>],
    values: &[Value],
) -> Vec<(Tag, Json)> {
    let entry = |unique: &Vec<usize>| {
        let digest = unique_digest(properties, unique, values)?;
        Some((unique_tag(type_slot, properties, unique)?, Json::String(digest.to_string())))
    };
    uniques.iter().filter_map(entry).collect()
}

/// What the index behind one `@unique` has of a row, as a digest.
pub fn unique_digest(
    properties: &[Property],
    unique: &[usize],
    values: &[Value],
) -> Option<Digest> {
    let part = |number: &usize| {
        let value = values.get(*number).filter(|value| !value.is_null())?;
        Some((&properties.get(*number)?.slot, key_part(&value.group_key())))
    };
    let mut parts = unique.iter().map(part).collect::<Option<Vec<_>>>()?;
    parts.sort_unstable();
    Some(Digest::of_json(&json!(parts)))
}

/// The index behind one `@unique`. In whichever order its properties are written, it is the same;
/// once a rule over one of them lapsed, it is another.
pub fn unique_tag(type_slot: &str, properties: &[Property], unique: &[usize]) -> Option<Tag> {
    let slots = unique.iter().map(|number| properties.get(*number).map(|p| p.slot.as_str()));
    let mut names = slots.collect::<Option<Vec<_>>>()?;
    names.sort_unstable();
    names.insert(0, type_slot);
    let lapsed = unique.iter().filter_map(|number| Some(properties.get(*number)?.lapsed));
    match lapsed.fold(0, u32::saturating_add) {
        0 => Some(tag("unique", &names)),
        lapsed => {
            let lapsed = lapsed.to_string();
            names.push(&lapsed);
            Some(tag("unique again", &names))
        }
    }
}

/// A value as an index has it: a text or a number that sorts as the values of its kind do.
///
/// Texts are compared by their bytes; of a long one, and of one with a NUL in it, the index has the
/// beginning. Days and moments are text of one width. I64 and smaller are whole numbers of 64 bits,
/// floats doubles, no is 0 and yes 1. A U64 does not fit where a back end keeps whole numbers, and
/// so is a text of twenty digits. Lists, vectors and nulls have no place.
pub fn index_value(kind: &Kind, value: &Value) -> Option<Json> {
    match (kind, value) {
        (Kind::String | Kind::Blob | Kind::Enum(_), Value::Text(text)) => Some(json!(cut(text))),
        (Kind::Bool, Value::Bool(yes)) => Some(json!(i64::from(*yes))),
        (Kind::I32 | Kind::I64 | Kind::U32, Value::Int(number)) => {
            i64::try_from(*number).ok().map(Json::from)
        }
        (Kind::U64, Value::Int(number)) => {
            u64::try_from(*number).ok().map(|number| json!(format!("{number:020}")))
        }
        (Kind::F32 | Kind::F64, Value::Float(number)) => Some(json!(*number + 0.0)),
        (Kind::Date, Value::Date(day)) => Some(json!(date_text(*day))),
        (Kind::DateTime, Value::DateTime(moment)) => Some(json!(moment_text(*moment))),
        _ => None,
    }
}

/// Where in its index a property of this kind is that stands so to a value. None if the index does
/// not help: the comparison is none, or of kinds that are not looked up. A comparison that nothing
/// can meet is a range of nothing.
pub fn index_range(kind: &Kind, op: BinaryOp, value: &Value) -> Option<IndexRange> {
    let ask = Ask::of(op)?;
    if value.is_null() {
        return Some(NOTHING);
    }
    match (kind, value) {
        (Kind::I32 | Kind::I64 | Kind::U32 | Kind::U64, Value::Int(_) | Value::Float(_)) => {
            Some(whole_range(kind, ask, value))
        }
        (Kind::F32 | Kind::F64, Value::Int(number)) => {
            #[expect(clippy::cast_precision_loss, reason = "what is lost is made good")]
            let near = *number as f64;
            Some(placed(kind, ask, &Value::Float(near), value))
        }
        (Kind::String | Kind::Blob | Kind::Enum(_), Value::Text(text)) => {
            let ask = if cut(text).len() < text.len() { ask.widened() } else { ask };
            Some(ask.range(index_value(kind, value)?))
        }
        _ => Some(ask.range(index_value(kind, value)?)),
    }
}

/// Where in its index the texts are that begin like this. None if it is no index of texts.
pub fn prefix_range(kind: &Kind, prefix: &str) -> Option<IndexRange> {
    match kind {
        Kind::String | Kind::Blob | Kind::Enum(_) => {
            Some(IndexRange::Prefix(cut(prefix).to_owned()))
        }
        _ => None,
    }
}

/// A comparison that an index can answer.
#[derive(Clone, Copy)]
enum Ask {
    Equal,
    /// Whether the end is in it.
    Below(bool),
    Above(bool),
}

impl Ask {
    const fn of(op: BinaryOp) -> Option<Self> {
        Some(match op {
            BinaryOp::Equal => Self::Equal,
            BinaryOp::Less => Self::Below(false),
            BinaryOp::LessOrEqual => Self::Below(true),
            BinaryOp::Greater => Self::Above(false),
            BinaryOp::GreaterOrEqual => Self::Above(true),
            BinaryOp::NotEqual
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Modulo => return None,
        })
    }

    /// With the end in it: of a text that was cut, others with the same beginning may be meant.
    const fn widened(self) -> Self {
        match self {
            Self::Equal => Self::Equal,
            Self::Below(_) => Self::Below(true),
            Self::Above(_) => Self::Above(true),
        }
    }

    fn range(self, value: Json) -> IndexRange {
        match self {
            Self::Equal => IndexRange::Any(vec![value]),
            Self::Below(with) => IndexRange::Between { low: None, high: Some((value, with)) },
            Self::Above(with) => IndexRange::Between { low: Some((value, with)), high: None },
        }
    }
}

/// The range by a value that the kind can have, next to the one that was asked for.
fn placed(kind: &Kind, ask: Ask, near: &Value, asked: &Value) -> IndexRange {
    let Some(value) = index_value(kind, near) else { return NOTHING };
    match (near.total(asked), ask) {
        (Ordering::Equal, _) => ask.range(value),
        (_, Ask::Equal) => NOTHING,
        (Ordering::Less, Ask::Below(_)) => Ask::Below(true).range(value),
        (Ordering::Less, Ask::Above(_)) => Ask::Above(false).range(value),
        (Ordering::Greater, Ask::Below(_)) => Ask::Below(false).range(value),
        (Ordering::Greater, Ask::Above(_)) => Ask::Above(true).range(value),
    }
}

/// The range of whole numbers: what is asked for may lie between them, or beyond the kind's.
fn whole_range(kind: &Kind, ask: Ask, value: &Value) -> IndexRange {
    let (lowest, highest): (i128, i128) = match kind {
        Kind::I32 => (i32::MIN.into(), i32::MAX.into()),
        Kind::U32 => (0, u32::MAX.into()),
        Kind::U64 => (0, u64::MAX.into()),
        _ => (i64::MIN.into(), i64::MAX.into()),
    };
    let near = match value {
        Value::Int(number) => *number,
        Value::Float(number) => match whole(number.floor()) {
            Some(number) => number,
            None if *number < 0.0 => lowest,
            None => highest,
        },
        _ => return NOTHING,
    };
    placed(kind, ask, &Value::Int(near.clamp(lowest, highest)), value)
}

/// What an index has of a text: up to a NUL, which some back ends cannot keep, and not too long.
/// The beginnings of texts sort as the texts do.
fn cut(text: &str) -> &str {
    let text = text.split('\0').next().unwrap_or_default();
    let end = (0..=INDEXED_BYTES.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

const NOTHING: IndexRange = IndexRange::Any(Vec::new());
/// How much of a text an index has.
const INDEXED_BYTES: usize = 256;

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use narthex_store::IndexRange;
    use proptest::prelude::*;
    use serde_json::{Value as Json, json};

    use super::{
        INDEXED_BYTES, index_entries, index_range, index_value, prefix_range, unique_entries,
    };
    use crate::query::BinaryOp;
    use crate::schema::{Kind, Property};
    use crate::value::Value;
    use crate::value::samples::{kinds, of_kind, property};

    fn indexed(name: &str, kind: Kind) -> Property {
        Property { index: Some(1), ..property(name, kind) }
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn a_row_is_where_its_values_are() {
        let properties = [
            indexed("name", Kind::String),
            property("age", Kind::I32),
            indexed("tags", Kind::List(Box::new(Kind::String))),
            indexed("big", Kind::U64),
            indexed("yes", Kind::Bool),
            indexed("none", Kind::I32),
            indexed("vector", Kind::Vector(1)),
        ];
        let values = [
            text("Ada Lövelace"),
            Value::Int(3),
            Value::List(vec![text("b"), text("a"), text("b")]),
            Value::Int(18),
            Value::Bool(true),
            Value::Null,
            Value::Vector(vec![1.0]),
        ];
        let entries = index_entries("Person", &properties, &values);
        let tag = |n: usize| properties[n].index_tag("Person").unwrap();
        assert_eq!(
            entries.index,
            [
                (tag(0), json!("Ada Lövelace")),
                (tag(2), json!("a")),
                (tag(2), json!("b")),
                (tag(3), json!("00000000000000000018")),
                (tag(4), json!(1)),
            ]
        );
        let texts: Vec<_> = entries.texts.iter().map(|t| (t.index, t.words.as_str())).collect();
        assert_eq!(texts, [(tag(0), "ada lovelace")]);
    }

    #[test]
    fn unique_rows_meet_where_all_values_are_equal() {
        let properties = [property("a", Kind::String), property("b", Kind::F64)];
        let entry = |uniques: &[usize], values: &[Value]| {
            unique_entries("T", &properties, &[uniques.to_vec()], values)
        };
        let one = entry(&[0, 1], &[text("x"), Value::Float(0.0)]);
        assert_eq!(one.len(), 1);
        assert_eq!(one, entry(&[0, 1], &[text("x"), Value::Float(-0.0)]));
        assert_eq!(one, entry(&[1, 0], &[text("x"), Value::Float(0.0)]));
        assert_ne!(one, entry(&[0, 1], &[text("x"), Value::Float(1.0)]));
        assert_ne!(one[0].0, entry(&[0], &[text("x"), Value::Null])[0].0);
        assert!(entry(&[0, 1], &[text("x"), Value::Null]).is_empty());
        assert!(entry(&[7], &[text("x"), Value::Null]).is_empty());
    }

    /// As a back end does it: texts by their bytes, numbers as numbers.
    fn order(a: &Json, b: &Json) -> Ordering {
        match (a, b) {
            (Json::String(a), Json::String(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Json::Number(a), Json::Number(b)) => match (a.as_i64(), b.as_i64()) {
                (Some(a), Some(b)) => a.cmp(&b),
                (None, None) => a.as_f64().unwrap().total_cmp(&b.as_f64().unwrap()),
                _ => panic!("whole numbers and floats in one index"),
            },
            _ => panic!("{a} and {b} in one index"),
        }
    }

    fn finds(range: &IndexRange, value: &Json) -> bool {
        match range {
            IndexRange::Any(values) => values.iter().any(|v| order(v, value).is_eq()),
            IndexRange::Between { low, high } => {
                let above = low.as_ref().is_none_or(|(low, with)| match order(value, low) {
                    Ordering::Equal => *with,
                    order => order.is_gt(),
                });
                let below = high.as_ref().is_none_or(|(high, with)| match order(value, high) {
                    Ordering::Equal => *with,
                    order => order.is_lt(),
                });
                above && below
            }
            IndexRange::Prefix(prefix) => value.as_str().unwrap().starts_with(prefix),
        }
    }

    type Holds = fn(Ordering) -> bool;
    const OPS: [(BinaryOp, Holds); 5] = [
        (BinaryOp::Equal, Ordering::is_eq),
        (BinaryOp::Less, Ordering::is_lt),
        (BinaryOp::LessOrEqual, Ordering::is_le),
        (BinaryOp::Greater, Ordering::is_gt),
        (BinaryOp::GreaterOrEqual, Ordering::is_ge),
    ];

    fn agrees(kind: &Kind, stored: &Value, asked: &Value) {
        let kept = index_value(kind, stored).unwrap();
        for (op, holds) in OPS {
            let truth = stored.compare(asked).is_some_and(holds);
            let found = index_range(kind, op, asked).is_none_or(|range| finds(&range, &kept));
            assert_eq!(found, truth, "{kind} {stored:?} {op:?} {asked:?}");
        }
    }

    #[test]
    fn numbers_beyond_and_between_are_placed() {
        use Value::{Float, Int};
        let edge = 9_007_199_254_740_992;
        for (kind, stored, asked) in [
            (Kind::I32, Int(2), Float(2.5)),
            (Kind::I32, Int(3), Float(2.5)),
            (Kind::I32, Int(-3), Float(-2.5)),
            (Kind::I32, Int(i32::MAX.into()), Int(i128::MAX)),
            (Kind::I32, Int(i32::MIN.into()), Float(f64::MIN)),
            (Kind::I32, Int(i32::MAX.into()), Float(f64::MAX)),
            (Kind::U64, Int(0), Int(-1)),
            (Kind::U64, Int(u64::MAX.into()), Float(18_446_744_073_709_551_616.0)),
            (Kind::U64, Int(u64::MAX.into()), Int(i64::MAX.into())),
            (Kind::I64, Int(edge + 1), Float(9_007_199_254_740_992.0)),
            (Kind::F64, Float(9_007_199_254_740_992.0), Int(edge + 1)),
            (Kind::F64, Float(9_007_199_254_740_994.0), Int(edge + 1)),
            (Kind::F64, Float(9_007_199_254_740_996.0), Int(edge + 3)),
            (Kind::F64, Float(-0.0), Int(0)),
        ] {
            agrees(&kind, &stored, &asked);
        }
        for op in [BinaryOp::NotEqual, BinaryOp::Add] {
            assert_eq!(index_range(&Kind::I32, op, &Int(1)), None);
        }
        let nothing = index_range(&Kind::I32, BinaryOp::Less, &Value::Null);
        assert_eq!(nothing, Some(IndexRange::Any(vec![])));
        assert_eq!(index_range(&Kind::I32, BinaryOp::Less, &text("1")), None);
        assert_eq!(index_range(&Kind::Vector(1), BinaryOp::Equal, &Value::Vector(vec![1.0])), None);
    }

    #[test]
    fn of_long_texts_the_beginning_finds_at_least_what_is_meant() {
        let long = |end: &str| text(&format!("{}{end}", "é".repeat(INDEXED_BYTES)));
        for (stored, asked) in [
            (long("a"), long("b")),
            (long("b"), long("a")),
            (long(""), long("")),
            (text("a\0b"), text("a\0c")),
            (text("a\0c"), text("a\0b")),
            (text("a"), text("a\0b")),
            (text("a\u{1}"), text("a\0b")),
        ] {
            let kept = index_value(&Kind::String, &stored).unwrap();
            assert!(!kept.as_str().unwrap().contains('\0'));
            for (op, holds) in OPS {
                let found = finds(&index_range(&Kind::String, op, &asked).unwrap(), &kept);
                assert!(found || !stored.compare(&asked).is_some_and(holds), "{op:?}");
            }
            let Value::Text(asked) = &asked else { unreachable!() };
            let found = finds(&prefix_range(&Kind::String, asked).unwrap(), &kept);
            let Value::Text(stored) = &stored else { unreachable!() };
            assert!(found || !stored.starts_with(asked));
        }
        assert_eq!(prefix_range(&Kind::I32, "1"), None);
    }

    fn looked_up() -> Vec<Kind> {
        let alone = |kind: &Kind| !matches!(kind, Kind::List(_) | Kind::Vector(_));
        kinds().into_iter().filter(alone).collect()
    }

    fn whole_text(value: &Value) -> bool {
        !matches!(value, Value::Text(text) if text.contains('\0'))
    }

    proptest! {
        #[test]
        fn ranges_find_what_conditions_hold_for(
            (kind, stored, asked) in prop::sample::select(looked_up()).prop_flat_map(|kind| {
                (Just(kind.clone()), of_kind(&kind), of_kind(&kind))
            }),
            float in any::<f64>(), int in any::<i128>(), near in -2_i128..=2,
        ) {
            prop_assume!(whole_text(&stored) && whole_text(&asked));
            agrees(&kind, &stored, &asked);
            agrees(&kind, &stored, &stored);
            if kind.is_number() {
                agrees(&kind, &stored, &Value::Int(int));
                if let Value::Int(stored_int) = stored {
                    agrees(&kind, &stored, &Value::Int(stored_int + near));
                }
                if float.is_finite() {
                    agrees(&kind, &stored, &Value::Float(float));
                }
            }
        }
    }
}
