//! As much of TypeScript's grammar as declarations may use: whatever else stands in one has left its
//! string or its comment.

/// The words of a declaration outside of strings and comments, if everything in it is closed.
pub(crate) fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = vec![String::new()];
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '$') {
            words.last_mut().unwrap().push(c);
            rest = after;
            continue;
        }
        words.push(String::new());
        rest = match c {
            '"' => after_string(after)?,
            '/' => after_comment(rest)?,
            '{' | '[' | '(' | '<' => {
                open.push(c);
                after
            }
            '}' | ']' | ')' | '>' => {
                let pair = format!("{}{c}", open.pop().ok_or("closed too often")?);
                if !["{}", "[]", "()", "<>"].contains(&pair.as_str()) {
                    return Err(format!("{pair} before {}", start(after)));
                }
                after
            }
            ' ' | '\n' | ':' | ';' | ',' | '.' | '?' | '|' | '&' | '=' | '+' | '-' => after,
            c => return Err(format!("{c:?} before {}", start(after))),
        };
    }
    words.retain(|word| !word.is_empty());
    if open.is_empty() { Ok(words) } else { Err(format!("left open: {open:?}")) }
}

fn after_string(text: &str) -> Result<&str, String> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => break,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Ok(&text[at + 1..]),
            _ => {}
        }
    }
    Err(format!("a string that does not end: {}", start(text)))
}

fn after_comment(text: &str) -> Result<&str, String> {
    let body = text.strip_prefix("/**").ok_or_else(|| format!("no comment: {}", start(text)))?;
    let end = body.find("*/").ok_or_else(|| format!("no end: {}", start(text)))?;
    let comment = &body[..end];
    let tag = |at: usize| comment[..at].ends_with(|c: char| !c.is_alphanumeric() && c != '\\');
    if comment.match_indices('@').any(|(at, _)| tag(at)) {
        return Err(format!("a tag: {comment}"));
    }
    let odd = |c: char| {
        (c.is_control() && c != '\n')
            || ('\u{200b}'..='\u{202e}').contains(&c) && !('\u{2010}'..='\u{2027}').contains(&c)
    };
    if comment.contains(odd) {
        return Err(format!("something hidden: {comment:?}"));
    }
    Ok(&body[end + 2..])
}

fn start(text: &str) -> String {
    text.chars().take(60).collect()
}
