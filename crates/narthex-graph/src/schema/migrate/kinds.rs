//! What becomes of values when a property is of another kind.
//!
//! Values are kept as they are written, and a migration rewrites none. So a kind can become another
//! where what is kept of the one can be read as the other: always, or if the values happen to fit.

use super::super::Kind;

/// Whether what is kept of one kind can be read as another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KindChange {
    /// It is the same kind.
    Same,
    /// Every value can.
    Widens,
    /// Some values can.
    MayFit,
    /// None can.
    Never,
}

/// Whether what is kept of one kind can be read as another.
#[expect(clippy::match_same_arms, reason = "by what values are kept as")]
pub fn kind_change(from: &Kind, to: &Kind) -> KindChange {
    use KindChange::{MayFit, Never, Same, Widens};
    match (from, to) {
        _ if from == to => Same,
        (Kind::I32 | Kind::U32, Kind::I64) | (Kind::U32, Kind::U64) | (Kind::F32, Kind::F64) => {
            Widens
        }
        (
            Kind::I32 | Kind::I64 | Kind::U32 | Kind::U64,
            Kind::I32 | Kind::I64 | Kind::U32 | Kind::U64,
        )
        | (Kind::F64, Kind::F32) => MayFit,
        (Kind::Blob | Kind::Enum(_) | Kind::Date | Kind::DateTime, Kind::String) => Widens,
        (Kind::Enum(from), Kind::Enum(to)) if from.iter().all(|word| to.contains(word)) => Widens,
        (
            Kind::String | Kind::Blob | Kind::Enum(_),
            Kind::Blob | Kind::Enum(_) | Kind::Date | Kind::DateTime,
        )
        | (Kind::Date | Kind::DateTime, Kind::Blob | Kind::Enum(_)) => MayFit,
        (Kind::List(from), Kind::List(to)) => kind_change(from, to),
        (
            Kind::String
            | Kind::Blob
            | Kind::Bool
            | Kind::I32
            | Kind::I64
            | Kind::U32
            | Kind::U64
            | Kind::F32
            | Kind::F64
            | Kind::Date
            | Kind::DateTime
            | Kind::Vector(_)
            | Kind::Enum(_)
            | Kind::List(_),
            _,
        ) => Never,
    }
}

/// Whether a kind can become another where values of it are part of a row's name. Rows are numbered
/// by the text of a key; of an edge's key, by what kind of value it is as well.
pub(super) fn keeps_names(from: &Kind, to: &Kind, edge: bool) -> bool {
    let text = |kind: &Kind| matches!(kind, Kind::String | Kind::Enum(_));
    let day = |kind: &Kind| matches!(kind, Kind::Date);
    (from.is_whole() && to.is_whole())
        || (text(from) && text(to))
        || (!edge && (text(from) || day(from)) && (text(to) || day(to)))
}
