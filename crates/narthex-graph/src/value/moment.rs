//! Days and moments as text: one form out, strictly read in.
//!
//! Years are those from 1 to 9999, so that texts of one width sort as what they stand for.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike, Utc};

/// `2026-01-31`.
pub fn date_text(day: NaiveDate) -> String {
    format!("{:04}-{:02}-{:02}", day.year(), day.month(), day.day())
}

/// `2026-01-31T09:30:00.000000Z`.
pub fn moment_text(moment: DateTime<Utc>) -> String {
    let time = moment.time();
    format!(
        "{}T{:02}:{:02}:{:02}.{:06}Z",
        date_text(moment.date_naive()),
        time.hour(),
        time.minute(),
        time.second(),
        time.nanosecond() / 1000 % 1_000_000,
    )
}

/// Reads `2026-01-31`: four, two and two digits, a day of the calendar.
pub fn parse_date(text: &str) -> Option<NaiveDate> {
    let bytes: &[u8; 10] = text.as_bytes().try_into().ok()?;
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *bytes else { return None };
    let year = number(&[y1, y2, y3, y4])?;
    let day =
        NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, number(&[m1, m2])?, number(&[d1, d2])?)?;
    (year > 0).then_some(day)
}

/// Reads a moment as RFC 3339 writes it, with `T` and `Z` in capitals and up to six digits of a
/// second. A minute has sixty seconds: leap seconds are refused.
///
/// In the first and the last year there is no other offset than `Z`, so that no moment falls out of
/// the years there are.
pub fn parse_moment(text: &str) -> Option<DateTime<Utc>> {
    let (day, rest) = text.split_at_checked(10)?;
    let day = parse_date(day)?;
    let (time, rest) = rest.as_bytes().split_first_chunk::<9>()?;
    let [b'T', h1, h2, b':', m1, m2, b':', s1, s2] = *time else { return None };
    let (micros, rest) = fraction(rest)?;
    let (hour, minute, second) = (number(&[h1, h2])?, number(&[m1, m2])?, number(&[s1, s2])?);
    let time = NaiveTime::from_hms_micro_opt(hour, minute, second, micros)?;
    let offset = offset(rest)?;
    if rest != b"Z" && !(2..=9998).contains(&day.year()) {
        return None;
    }
    Some(NaiveDateTime::new(day, time).checked_sub_signed(offset)?.and_utc())
}

/// Whether a day can be written in the one form.
pub(super) fn is_day(day: NaiveDate) -> bool {
    (1..=9999).contains(&day.year())
}

/// A moment to the microsecond, as it is kept: what is finer is left off, a leap second is the one
/// before it. None if its year cannot be written.
pub fn to_micros(moment: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let nanos = moment.nanosecond().min(999_999_999);
    let moment = moment.with_nanosecond(nanos - nanos % 1000)?;
    is_day(moment.date_naive()).then_some(moment)
}

/// The days of a number counted from the first of January of the year 1, for tests and samples.
#[cfg(test)]
pub(crate) fn nth_day(n: u64) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(1, 1, 1)?.checked_add_days(chrono::Days::new(n))
}

fn fraction(rest: &[u8]) -> Option<(u32, &[u8])> {
    let Some((b'.', digits)) = rest.split_first() else { return Some((0, rest)) };
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = digits.split_at_checked(count)?;
    let scale = 10_u32.checked_pow(6_u32.checked_sub(u32::try_from(count).ok()?)?)?;
    if count == 0 {
        return None;
    }
    Some((number(digits)? * scale, rest))
}

fn offset(text: &[u8]) -> Option<TimeDelta> {
    if text == b"Z" {
        return Some(TimeDelta::zero());
    }
    let [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] = *text else { return None };
    let (hours, minutes) = (number(&[h1, h2])?, number(&[m1, m2])?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let minutes = i64::from(hours * 60 + minutes);
    Some(TimeDelta::minutes(if sign == b'-' { -minutes } else { minutes }))
}

/// A few ASCII digits as a number.
fn number(digits: &[u8]) -> Option<u32> {
    let mut number = 0_u32;
    for digit in digits {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number = number.checked_mul(10)?.checked_add(u32::from(digit))?;
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::{date_text, moment_text, parse_date, parse_moment};

    #[test]
    fn days_are_those_of_the_calendar() {
        for text in ["2026-01-31", "2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31"] {
            assert_eq!(parse_date(text).map(date_text).as_deref(), Some(text));
        }
        for text in [
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-04-31",
            "2026-1-1",
            "0000-01-01",
            "+2026-01-01",
            "10000-01-01",
            " 2026-01-01",
            "2026-01-01 ",
            "20260101",
            "2026-01-01T00:00:00Z",
            "２０２６-01-01",
            "2026/01/01",
            "-001-01-01",
            "",
        ] {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }

    #[test]
    fn moments_are_brought_to_utc() {
        for (text, kept) in [
            ("2026-01-31T09:30:00Z", Some("2026-01-31T09:30:00.000000Z")),
            ("2026-01-31T09:30:00.5Z", Some("2026-01-31T09:30:00.500000Z")),
            ("2026-01-31T09:30:00.000001Z", Some("2026-01-31T09:30:00.000001Z")),
            ("2026-01-01T00:30:00+01:00", Some("2025-12-31T23:30:00.000000Z")),
            ("2024-02-28T23:59:59-23:59", Some("2024-02-29T23:58:59.000000Z")),
            ("2026-01-01T00:00:00-00:00", Some("2026-01-01T00:00:00.000000Z")),
            ("0001-01-01T00:00:00Z", Some("0001-01-01T00:00:00.000000Z")),
            ("9999-12-31T23:59:59.999999Z", Some("9999-12-31T23:59:59.999999Z")),
            ("9999-12-31T23:59:59-01:00", None),
            ("0001-01-01T00:00:00+00:00", None),
            ("2026-01-31T09:30:60Z", None),
            ("2016-12-31T23:59:60Z", None),
            ("2026-01-31T24:00:00Z", None),
            ("2026-01-31T09:30:00.1234567Z", None),
            ("2026-01-31T09:30:00.Z", None),
            ("2026-01-31T09:30Z", None),
            ("2026-01-31t09:30:00z", None),
            ("2026-01-31 09:30:00Z", None),
            ("2026-01-31T09:30:00", None),
            ("2026-01-31T09:30:00+0100", None),
            ("2026-01-31T09:30:00+24:00", None),
            ("2026-01-31T09:30:00+01:60", None),
            ("2026-02-30T09:30:00Z", None),
            ("2026-01-3１T09:30:00Z", None),
            ("2026-01-31T09:30:00ZZ", None),
        ] {
            assert_eq!(parse_moment(text).map(moment_text).as_deref(), kept, "{text}");
        }
    }
}
