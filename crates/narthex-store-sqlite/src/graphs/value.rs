//! Values as bytes that compare as the values do.
//!
//! SQLite would compare numbers and texts itself, but it has no whole numbers beyond 63 bits, and
//! two of those must not meet in one float.

use narthex_core::Digest;
use serde_json::Value;

/// The bytes of a value.
pub(crate) fn key(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    put(&mut bytes, value);
    if bytes.len() > MOST_BYTES {
        // A long text keeps its beginning, which is what order and prefixes are about, and is told
        // from others that begin alike by its digest.
        let digest = Digest::of(&bytes);
        bytes.truncate(MOST_BYTES);
        bytes.extend_from_slice(digest.as_bytes());
    }
    bytes
}

/// The bytes of one end of a range. None if it is too long to be compared with what was cut.
pub(super) fn bound(value: &Value) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    put(&mut bytes, value);
    (bytes.len() <= MOST_BYTES).then_some(bytes)
}

/// Below every value of the kind that this is of.
pub(super) fn kind_start(bound: &[u8]) -> Vec<u8> {
    bound.iter().take(1).copied().collect()
}

/// Above everything that begins like this.
pub(super) fn after_all(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if let Some(next) = last.checked_add(1) {
            end.push(next);
            return Some(end);
        }
    }
    None
}

fn put(bytes: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => bytes.push(NULL),
        Value::Bool(is) => bytes.extend([BOOL, u8::from(*is)]),
        Value::Number(number) => {
            bytes.push(NUMBER);
            let (float, rest) = parts(number);
            bytes.extend(ordered(float).to_be_bytes());
            bytes.extend(rest.to_be_bytes());
        }
        Value::String(text) => {
            bytes.push(TEXT);
            bytes.extend_from_slice(text.as_bytes());
        }
        // Only ever compared for being equal.
        Value::Array(values) => {
            bytes.push(LIST);
            for value in values {
                let mut one = Vec::new();
                put(&mut one, value);
                bytes.extend((one.len() as u64).to_be_bytes());
                bytes.append(&mut one);
            }
        }
        Value::Object(_) => {
            bytes.push(OTHER);
            bytes.extend_from_slice(value.to_string().as_bytes());
        }
    }
}

/// A number as the greatest float that is not above it, and what is left. No two differ that are
/// equal, and they compare as pairs.
fn parts(number: &serde_json::Number) -> (f64, u16) {
    let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    let Some(whole) = whole else {
        return (number.as_f64().unwrap_or_default(), 0);
    };
    #[expect(clippy::cast_precision_loss, reason = "what is lost is the second part")]
    let mut float = whole as f64;
    if as_whole(float) > whole {
        float = float.next_down();
    }
    let rest = whole.saturating_sub(as_whole(float));
    (float, u16::try_from(rest).unwrap_or(u16::MAX))
}

#[expect(clippy::cast_possible_truncation, reason = "within 64 bits, where it is exact")]
const fn as_whole(float: f64) -> i128 {
    float as i128
}

/// Bits that compare as the float does; both zeros are one.
fn ordered(float: f64) -> u64 {
    let bits = if float == 0.0 { 0 } else { float.to_bits() };
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

const NULL: u8 = 1;
const BOOL: u8 = 2;
const NUMBER: u8 = 3;
const TEXT: u8 = 4;
const LIST: u8 = 5;
const OTHER: u8 = 6;

/// Of a value, in an index.
const MOST_BYTES: usize = 1_024;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{after_all, bound, key, kind_start};

    #[test]
    fn bytes_compare_as_values_do() {
        let rising = [
            json!(null),
            json!(false),
            json!(true),
            json!(f64::MIN),
            json!(i64::MIN),
            json!(i64::MIN + 1),
            json!(-9_007_199_254_740_993_i64),
            json!(-9_007_199_254_740_992.0),
            json!(-1.5),
            json!(-1),
            json!(-0.25),
            json!(0),
            json!(0.5),
            json!(1),
            json!(1.5),
            json!(9_007_199_254_740_992.0),
            json!(9_007_199_254_740_993_i64),
            json!(i64::MAX - 1),
            json!(i64::MAX),
            json!(9_223_372_036_854_775_808_u64),
            json!(u64::MAX - 1),
            json!(u64::MAX),
            json!(18_446_744_073_709_551_616.0),
            json!(f64::MAX),
            json!(""),
            json!("a"),
            json!("a b"),
            json!("ab"),
            json!("b"),
            json!("\u{e9}"),
            json!("\u{10ffff}"),
        ];
        for (n, low) in rising.iter().enumerate() {
            for (m, high) in rising.iter().enumerate() {
                assert_eq!(key(low).cmp(&key(high)), n.cmp(&m), "{low} {high}");
            }
        }
    }

    #[test]
    fn equal_values_have_equal_bytes_and_others_do_not() {
        for (a, b, equal) in [
            (json!(1), json!(1.0), true),
            (json!(0.0), json!(-0.0), true),
            (json!(["a", 1]), json!(["a", 1.0]), true),
            (json!(["a", "b"]), json!(["ab"]), false),
            (json!(["a", "b"]), json!(["a", "b", ""]), false),
            (json!("1"), json!(1), false),
            (json!("x".repeat(5_000)), json!("x".repeat(5_000)), true),
            (json!("x".repeat(5_000)), json!("x".repeat(5_001)), false),
        ] {
            assert_eq!(key(&a) == key(&b), equal, "{a} {b}");
        }
        assert!(key(&json!("x".repeat(5_000))).len() < 1_100);
    }

    #[test]
    fn ranges_end_where_they_should() {
        let prefix = bound(&json!("ab")).unwrap();
        let end = after_all(&prefix).unwrap();
        for (text, inside) in [("ab", true), ("abz", true), ("ab\u{10ffff}", true), ("ac", false)] {
            let key = key(&json!(text));
            assert_eq!(key >= prefix && key < end, inside, "{text}");
        }
        assert!(kind_start(&prefix) < key(&json!("")) || kind_start(&prefix) == key(&json!("")));
        assert!(kind_start(&prefix) > key(&json!(u64::MAX)));
        assert_eq!(after_all(&[0xff, 0xff]), None);
        assert_eq!(bound(&json!("x".repeat(2_000))), None);
    }
}
