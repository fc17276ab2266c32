//! Numbers and texts as bytes, and back.

use std::io::{self, Read};

pub(super) fn put_number(bytes: &mut Vec<u8>, number: i64) {
    bytes.extend_from_slice(&number.to_le_bytes());
}

/// A length and as many bytes.
pub(super) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_number(bytes, i64::try_from(text.len()).unwrap_or(i64::MAX));
    bytes.extend_from_slice(text.as_bytes());
}

pub(super) fn number(from: &mut impl Read) -> io::Result<i64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(i64::from_le_bytes(bytes))
}

pub(super) fn count(from: &mut impl Read) -> io::Result<usize> {
    usize::try_from(number(from)?).map_err(io::Error::other)
}

pub(super) fn text(from: &mut impl Read) -> io::Result<String> {
    let mut bytes = vec![0; count(from)?];
    from.read_exact(&mut bytes)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// One of two, where there may be none.
pub(super) fn put_pair(bytes: &mut Vec<u8>, pair: Option<(i64, i64)>) {
    bytes.push(u8::from(pair.is_some()));
    if let Some((one, other)) = pair {
        put_number(bytes, one);
        put_number(bytes, other);
    }
}

pub(super) fn pair(from: &mut impl Read) -> io::Result<Option<(i64, i64)>> {
    Ok(if flag(from)? { Some((number(from)?, number(from)?)) } else { None })
}

pub(super) fn flag(from: &mut impl Read) -> io::Result<bool> {
    let mut byte = [0; 1];
    from.read_exact(&mut byte)?;
    Ok(byte != [0])
}
