//! Many rows as one text: each row that SQLite hands over by itself costs more than finding it.

use narthex_store::{LineNo, RowNo, StoredRow, Tag};

use crate::fault::Fault;

/// Packs the rows of `from`, which has the columns `layer, seq, row, a, b, body` in this order. An
/// edge has both ends, a node none; one that is gone has no body.
pub(super) fn packed(from: &str) -> String {
    format!(
        "SELECT group_concat(format('%d %d %d %s %s %s ', layer, seq, row, a, b,
                                    octet_length(body)) || coalesce(body, ''), '')
           FROM ({from})"
    )
}

/// The same where nobody asks for bodies: `layer, seq, row, a, b`.
pub(super) fn packed_ends(from: &str) -> String {
    format!(
        "SELECT group_concat(format('%d %d %d %s %s 0 ', layer, seq, row, a, b), '')
           FROM ({from})"
    )
}

/// Reads what was packed. `lines` are the layers.
pub(super) fn unpack(text: &str, tag: Tag, lines: &[i64]) -> Result<Vec<StoredRow>, Fault> {
    let mut rest = text;
    let mut rows = Vec::new();
    while !rest.is_empty() {
        let layer = usize::try_from(number(word(&mut rest)?)?).map_err(Fault::damaged)?;
        let line = *lines.get(layer).ok_or_else(|| Fault::damaged("a layer that is not there"))?;
        let seq = u64::try_from(number(word(&mut rest)?)?).map_err(Fault::damaged)?;
        let row = RowNo(number(word(&mut rest)?)?);
        let ends = match (word(&mut rest)?, word(&mut rest)?) {
            ("", _) | (_, "") => None,
            (a, b) => Some((RowNo(number(a)?), RowNo(number(b)?))),
        };
        let body = match word(&mut rest)? {
            "" => None,
            bytes => {
                let bytes = usize::try_from(number(bytes)?).map_err(Fault::damaged)?;
                let (body, after) = rest.split_at_checked(bytes).ok_or_else(cut)?;
                rest = after;
                Some(body.to_owned())
            }
        };
        rows.push(StoredRow { tag, row, line: LineNo(line), seq, ends, body });
    }
    Ok(rows)
}

/// Numbers parted by spaces.
pub(super) fn numbers(text: &str) -> Result<Vec<RowNo>, Fault> {
    text.split_ascii_whitespace().map(|word| number(word).map(RowNo)).collect()
}

/// Numbers as a list that a statement reads with `json_each`.
pub(crate) fn list(numbers: impl IntoIterator<Item = i64>) -> String {
    use std::fmt::Write as _;
    let mut text = String::from("[");
    for number in numbers {
        let comma = if text.len() > 1 { "," } else { "" };
        let _ = write!(text, "{comma}{number}");
    }
    text.push(']');
    text
}

pub(super) fn number(word: &str) -> Result<i64, Fault> {
    word.parse().map_err(Fault::damaged)
}

fn word<'a>(rest: &mut &'a str) -> Result<&'a str, Fault> {
    let (word, after) = rest.split_once(' ').ok_or_else(cut)?;
    *rest = after;
    Ok(word)
}

fn cut() -> Fault {
    Fault::damaged("a packed row was cut")
}

#[cfg(test)]
mod tests {
    use narthex_store::{LineNo, RowNo, Tag};

    use super::{list, unpack};

    #[test]
    fn rows_are_read_back() {
        let text = "0 3 -7   5 a b c1 9 8 1 2 0 0 1 2    ";
        let rows = unpack(text, Tag(1), &[10, 20]).unwrap();
        let seen: Vec<_> = rows
            .iter()
            .map(|row| (row.line, row.seq, row.row, row.ends, row.body.as_deref()))
            .collect();
        assert_eq!(
            seen,
            [
                (LineNo(10), 3, RowNo(-7), None, Some("a b c")),
                (LineNo(20), 9, RowNo(8), Some((RowNo(1), RowNo(2))), Some("")),
                (LineNo(10), 1, RowNo(2), None, None),
            ]
        );
        assert!(unpack("0 3 7", Tag(1), &[1]).is_err());
        assert!(unpack("0 3 7   9 abc", Tag(1), &[1]).is_err());
        assert!(unpack("1 3 7   0 ", Tag(1), &[1]).is_err());
        assert_eq!(list([]), "[]");
        assert_eq!(list([1, -2]), "[1,-2]");
    }
}
