//! Whether every number of a JSON text survives being a double.

/// Whether each number that is not a plain integer says exactly what the shortest decimal form
/// of its double says. The text is known to be JSON.
pub(super) fn all_exact(json: &[u8]) -> bool {
    let mut rest = json;
    while let Some((&byte, after)) = rest.split_first() {
        rest = match byte {
            b'"' => after_string(after),
            b'-' | b'0'..=b'9' => {
                let end = rest.iter().position(|b| !is_part(*b)).unwrap_or(rest.len());
                let (token, after) = rest.split_at_checked(end).unwrap_or((rest, &[]));
                if !is_exact(token) {
                    return false;
                }
                after
            }
            _ => after,
        };
    }
    true
}

fn after_string(mut rest: &[u8]) -> &[u8] {
    loop {
        match rest {
            [b'"', after @ ..] => return after,
            [b'\\', _, after @ ..] | [_, after @ ..] => rest = after,
            [] => return &[],
        }
    }
}

const fn is_part(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')
}

fn is_exact(token: &[u8]) -> bool {
    let Ok(token) = std::str::from_utf8(token) else { return false };
    if !token.contains(['.', 'e', 'E']) && token != "-0" {
        // An integer: kept in 64 bits, or refused while it was read.
        return true;
    }
    // Read by the same reader as the value itself.
    let Ok(double) = serde_json::from_str::<f64>(token) else { return false };
    Decimal::read(token).is_some_and(|said| Decimal::read(&format!("{double:e}")) == Some(said))
}

/// A decimal number in one form: digits without zeros at either end, and where the point is.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    fn read(token: &str) -> Option<Self> {
        let (negative, token) = match token.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, token),
        };
        let (mantissa, exponent) = match token.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (token, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let digits = digits.trim_start_matches('0');
        let shifted = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        let kept = digits.trim_end_matches('0');
        let cut = i64::try_from(digits.len() - kept.len()).ok()?;
        let exponent = if kept.is_empty() { 0 } else { shifted.checked_add(cut)? };
        Some(Self { negative, digits: kept.to_owned(), exponent })
    }
}

#[cfg(test)]
mod tests {
    use super::all_exact;

    #[test]
    fn only_what_reads_back_the_same_is_exact() {
        for (json, exact) in [
            ("1.50", true),
            ("-0", true),
            ("-0.0", true),
            ("0.000", true),
            ("1E+2", true),
            ("123456789.12345679", true),
            ("0.1", true),
            ("5e-324", true),
            ("123456789.123456789", false),
            ("0.10000000000000001", false),
            ("2e-324", false),
            ("1.00000000000000000001", false),
            (r#"{"0.10000000000000001":"0.10000000000000001\"1e5"}"#, true),
            (r#"["\\", 0.10000000000000001]"#, false),
        ] {
            assert_eq!(all_exact(json.as_bytes()), exact, "{json}");
        }
    }
}
