//! Values to test with.

use chrono::{DateTime, NaiveTime, Utc};
use proptest::prelude::*;

use super::Value;
use super::moment::nth_day;
use crate::schema::{EdgeType, Kind, NodeType, Property};

/// Anything, those that no property has included, with small numbers often enough to meet.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-3_i128..3).prop_map(Value::Int),
        any::<i128>().prop_map(Value::Int),
        prop_oneof![Just(-0.0), Just(0.0), Just(0.5), Just(1.0), Just(-1.5), any::<f64>()]
            .prop_map(Value::Float),
        "[a-cé]{0,2}".prop_map(Value::Text),
        days().prop_map(Value::Date),
        moments().prop_map(Value::DateTime),
        prop::collection::vec(-1.0_f32..1.0, 0..3).prop_map(Value::Vector),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| prop::collection::vec(inner, 0..3).prop_map(Value::List))
}

/// A property of this kind, nullable and not indexed.
pub(crate) fn property(name: &str, kind: Kind) -> Property {
    Property {
        name: name.to_owned(),
        slot: name.to_owned(),
        kind,
        nullable: true,
        index: None,
        lapsed: 0,
        range: None,
        embed: None,
        description: None,
    }
}

/// Every kind there is. A new one does not compile until it is here.
pub(crate) fn kinds() -> Vec<Kind> {
    let first = Kind::String;
    let mut kinds = vec![first.clone()];
    let mut at = first;
    while let Some(next) = kind_after(&at) {
        kinds.push(next.clone());
        at = next;
    }
    kinds
}

fn kind_after(kind: &Kind) -> Option<Kind> {
    let words = || vec!["lead".to_owned(), "member".to_owned(), "été".to_owned()];
    Some(match kind {
        Kind::String => Kind::Blob,
        Kind::Blob => Kind::Bool,
        Kind::Bool => Kind::I32,
        Kind::I32 => Kind::I64,
        Kind::I64 => Kind::U32,
        Kind::U32 => Kind::U64,
        Kind::U64 => Kind::F32,
        Kind::F32 => Kind::F64,
        Kind::F64 => Kind::Date,
        Kind::Date => Kind::DateTime,
        Kind::DateTime => Kind::Vector(3),
        Kind::Vector(_) => Kind::Enum(words()),
        Kind::Enum(_) => Kind::List(Box::new(Kind::U64)),
        Kind::List(item) => match **item {
            Kind::U64 => Kind::List(Box::new(Kind::String)),
            Kind::String => Kind::List(Box::new(Kind::F32)),
            Kind::F32 => Kind::List(Box::new(Kind::Date)),
            Kind::Date => Kind::List(Box::new(Kind::Enum(words()))),
            _ => return None,
        },
    })
}

/// A value of this kind.
pub(crate) fn of_kind(kind: &Kind) -> BoxedStrategy<Value> {
    let int = |low: i128, high: i128| {
        prop_oneof![Just(low), Just(high), low..=high].prop_map(Value::Int).boxed()
    };
    match kind {
        Kind::String => prop_oneof!["\\PC{0,12}", ".{0,6}", Just("\0\u{1F600}\"\\".to_owned())]
            .prop_map(Value::Text)
            .boxed(),
        Kind::Blob => "(https|s3|file)://[a-z0-9.-]{1,8}(/[a-zA-Z0-9._~%20]{0,6}){0,3}"
            .prop_map(|uri| Value::Text(uri.replace('%', "%2F")))
            .boxed(),
        Kind::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Kind::I32 => int(i32::MIN.into(), i32::MAX.into()),
        Kind::I64 => int(i64::MIN.into(), i64::MAX.into()),
        Kind::U32 => int(0, u32::MAX.into()),
        Kind::U64 => int(0, u64::MAX.into()),
        Kind::F32 => singles().prop_map(|n| Value::Float(n.into())).boxed(),
        Kind::F64 => prop_oneof![
            prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO,
            Just(f64::MAX),
            Just(f64::MIN),
            Just(9_007_199_254_740_993.0),
        ]
        .prop_map(Value::Float)
        .boxed(),
        Kind::Date => days().prop_map(Value::Date).boxed(),
        Kind::DateTime => moments().prop_map(Value::DateTime).boxed(),
        Kind::Vector(length) => {
            prop::collection::vec(singles(), *length as usize).prop_map(Value::Vector).boxed()
        }
        Kind::Enum(words) => prop::sample::select(words.clone()).prop_map(Value::Text).boxed(),
        Kind::List(item) => {
            prop::collection::vec(of_kind(item), 0..4).prop_map(Value::List).boxed()
        }
    }
}

fn singles() -> impl Strategy<Value = f32> {
    prop_oneof![
        prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL | prop::num::f32::ZERO,
        Just(f32::MAX),
        Just(f32::MIN),
        Just(0.1),
    ]
}

fn days() -> impl Strategy<Value = chrono::NaiveDate> {
    prop_oneof![Just(0), Just(3_652_058), 0_u64..=3_652_058].prop_map(|n| nth_day(n).unwrap())
}

fn moments() -> impl Strategy<Value = DateTime<Utc>> {
    let time = (0_u32..86_400, prop_oneof![Just(0), Just(999_999), 0_u32..1_000_000]);
    (days(), time).prop_map(|(day, (second, micros))| {
        let time = NaiveTime::from_num_seconds_from_midnight_opt(second, micros * 1000).unwrap();
        day.and_time(time).and_utc()
    })
}

/// A type of node with these properties, the first its key.
pub(crate) fn node_type(name: &str, properties: Vec<Property>) -> NodeType {
    NodeType {
        name: name.to_owned(),
        slot: name.to_owned(),
        interfaces: vec![],
        properties,
        key: 0,
        uniques: vec![],
        checks: vec![],
        description: None,
    }
}

/// A type of edge.
pub(crate) fn edge_type(name: &str, from: &str, to: &str, properties: Vec<Property>) -> EdgeType {
    EdgeType {
        name: name.to_owned(),
        slot: name.to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
        properties,
        key: vec![],
        uniques: vec![],
        checks: vec![],
        card: None,
        description: None,
    }
}
