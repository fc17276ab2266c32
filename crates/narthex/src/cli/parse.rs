//! Readers for what people type.

use clap::builder::RangedI64ValueParser;
use narthex_core::Tier;

/// Reads a span of time (`45s`, `90m`, `12h`, `30d`, `2w`) as seconds.
pub(super) fn seconds(text: &str) -> Result<u64, String> {
    let bad = || "write a number and a unit: 45s, 90m, 12h, 30d or 2w".to_owned();
    let unit = text.chars().last().ok_or_else(bad)?;
    let number = text.strip_suffix(unit).ok_or_else(bad)?;
    let each: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return Err(bad()),
    };
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let count: u64 = if digits { number.parse().map_err(|_| bad())? } else { return Err(bad()) };
    match count.checked_mul(each) {
        Some(0) => Err("the time must be longer than nothing".to_owned()),
        Some(seconds) if seconds <= LONGEST => Ok(seconds),
        _ => Err("the time must be at most 3650d".to_owned()),
    }
}

/// Reads how many rows to show.
pub(super) fn at_least_one() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..)
}

/// Reads a JSON object.
pub(super) fn object(text: &str) -> Result<serde_json::Map<String, serde_json::Value>, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("write a JSON object, like {{\"slug\":\"ada\"}} ({error})"))
}

/// Reads `name=value`.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write a name and a value: slug=ada".to_owned()),
    }
}

/// Where old records end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// At this record.
    Record(u64),
    /// At this moment, in milliseconds since the Unix epoch.
    Moment(i64),
    /// So many seconds ago.
    Ago(u64),
}

/// Reads a record's number, a day, or a span of time.
pub(super) fn before(text: &str) -> Result<Before, String> {
    if let Ok(day) = chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        let midnight = day.and_time(chrono::NaiveTime::MIN).and_utc();
        return Ok(Before::Moment(midnight.timestamp_millis()));
    }
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().map(Before::Record).map_err(|error| error.to_string());
    }
    seconds(text).map(Before::Ago).map_err(|_| {
        "write a record's number, a day like 2026-01-31, or a time like 90d".to_owned()
    })
}

/// A ceiling of a space, or none of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpaceCeiling(pub Option<Tier>);

/// Reads a tier, or `none`.
pub(super) fn ceiling(text: &str) -> Result<SpaceCeiling, String> {
    match text {
        "none" => Ok(SpaceCeiling(None)),
        text => text
            .parse()
            .map(|tier| SpaceCeiling(Some(tier)))
            .map_err(|_| "a ceiling is T0, T1, T2, T3, or none".to_owned()),
    }
}

/// Ten years: longer than that is meant to be no end at all.
const LONGEST: u64 = 3_650 * 86_400;

#[cfg(test)]
mod tests {
    use super::{Before, before, seconds};

    #[test]
    fn old_is_a_number_a_day_or_a_span_of_time() {
        for (text, expected) in [
            ("512", Some(Before::Record(512))),
            ("1970-01-02", Some(Before::Moment(86_400_000))),
            ("90d", Some(Before::Ago(7_776_000))),
            ("", None),
            ("-1", None),
            ("2026-02-30", None),
            ("yesterday", None),
        ] {
            assert_eq!(before(text).ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn spans_of_time_have_a_unit_and_a_bound() {
        for (text, expected) in [
            ("45s", Some(45)),
            ("90m", Some(5_400)),
            ("12h", Some(43_200)),
            ("30d", Some(2_592_000)),
            ("2w", Some(1_209_600)),
            ("3650d", Some(315_360_000)),
            ("3651d", None),
            ("0d", None),
            ("", None),
            ("d", None),
            ("30", None),
            ("-1d", None),
            ("+1d", None),
            ("1.5h", None),
            ("1 d", None),
            ("30D", None),
            ("1\u{e9}", None),
            ("99999999999999999999w", None),
            ("18446744073709551615w", None),
        ] {
            assert_eq!(seconds(text).ok(), expected, "{text:?}");
        }
    }
}
