//! Whether an address is one of a family.

/// Whether a template (RFC 6570) could have given this address. What is between braces matches within
/// a part of a path; only an operator that says so matches beyond it.
pub(super) fn matches(template: &str, uri: &str) -> bool {
    // Nothing climbs out of where its template put it.
    if uri.split(['/', '\\']).any(|part| part == "..") || uri.chars().any(char::is_control) {
        return false;
    }
    pieces(template).is_some_and(|pieces| fits(&pieces, uri))
}

enum Piece<'a> {
    Literal(&'a str),
    /// A value: whether a stroke, a question mark or a hash may be in it.
    Value {
        wide: bool,
    },
}

fn pieces(mut template: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    while let Some((before, rest)) = template.split_once('{') {
        let (inside, after) = rest.split_once('}')?;
        if !before.is_empty() {
            pieces.push(Piece::Literal(before));
        }
        pieces.push(Piece::Value { wide: inside.starts_with(['+', '#', '/', '?', '&', ';', '.']) });
        if pieces.len() > MAX_PIECES {
            return None;
        }
        template = after;
    }
    if !template.is_empty() {
        pieces.push(Piece::Literal(template));
    }
    Some(pieces)
}

/// Which places of the text the pieces so far can have led to, as long as there is one.
fn fits(pieces: &[Piece<'_>], uri: &str) -> bool {
    let mut at = vec![false; uri.len() + 1];
    if let Some(start) = at.first_mut() {
        *start = true;
    }
    for piece in pieces {
        let mut next = vec![false; at.len()];
        for from in (0..at.len()).filter(|from| at.get(*from) == Some(&true)) {
            let Some(rest) = uri.get(from..) else { continue };
            match piece {
                Piece::Literal(text) => {
                    if rest.starts_with(text)
                        && let Some(to) = next.get_mut(from + text.len())
                    {
                        *to = true;
                    }
                }
                Piece::Value { wide } => {
                    let stops = |c: char| !*wide && matches!(c, '/' | '?' | '#');
                    let end = rest.find(stops).unwrap_or(rest.len());
                    for to in next.iter_mut().skip(from).take(end + 1) {
                        *to = true;
                    }
                }
            }
        }
        at = next;
    }
    at.last() == Some(&true)
}

const MAX_PIECES: usize = 32;

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn an_address_is_of_a_family_or_not() {
        for (template, uri, expected) in [
            ("test://t/{id}/data", "test://t/1/data", true),
            ("test://t/{id}/data", "test://t/a b/data", true),
            ("test://t/{id}/data", "test://t/1/2/data", false),
            ("test://t/{id}/data", "test://t/1/date", false),
            ("test://t/{id}/data", "test://t/1/data/", false),
            ("test://t/{id}", "test://u/1", false),
            ("file:///{+path}", "file:///a/b/c", true),
            ("file:///{+path}", "file:///a/../etc/passwd", false),
            ("file:///srv/{+path}", "file:///etc/passwd", false),
            ("a://{x}{y}", "a://b", true),
            ("a://x{?q}", "a://x?q=1", true),
            ("a://x{?q}", "a://x", true),
            ("a://{x", "a://1", false),
            ("a://{x}", "a://1\n2", false),
            ("{+all}", "anything://at/all", true),
        ] {
            assert_eq!(matches(template, uri), expected, "{template} {uri}");
        }
        let many = "{a}".repeat(100);
        assert!(!matches(&many, "x"));
        let evil = "{a}".repeat(30);
        assert!(!matches(&format!("{evil}/end"), &"x".repeat(2_000)));
    }
}
