//! Readers for what people type.

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

/// Ten years: longer than that is meant to be no end at all.
const LONGEST: u64 = 3_650 * 86_400;

#[cfg(test)]
mod tests {
    use super::seconds;

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
