//! What a server says in `WWW-Authenticate` (RFC 9110, section 11; RFC 9728, section 5).

/// What is taken from it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Challenge {
    pub(crate) resource_metadata: Option<String>,
    pub(crate) scope: Option<String>,
}

impl Challenge {
    /// Reads the parameters of a `Bearer` challenge. What is said twice is not taken at all.
    pub(crate) fn read(text: &str) -> Self {
        let Some(start) = bearer(text) else { return Self::default() };
        let mut rest = text.get(start..).unwrap_or_default();
        let mut found: Vec<(String, String)> = Vec::new();
        while let Some((name, value, after)) = parameter(rest) {
            found.push((name, value));
            rest = after;
        }
        let one = |wanted: &str| {
            let mut named = found.iter().filter(|(name, _)| name == wanted);
            match (named.next(), named.next()) {
                (Some((_, value)), None) => Some(value.clone()),
                _ => None,
            }
        };
        Self { resource_metadata: one("resource_metadata"), scope: one("scope") }
    }
}

/// Where the parameters of `Bearer` begin.
fn bearer(text: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    let word = "bearer ";
    let starts = |at: &usize| {
        let before = lower.get(..*at).unwrap_or_default().trim_end();
        // Inside quotes it is a text of somebody's, and no scheme.
        let quotes = before.matches('"').count() - before.matches("\\\"").count();
        quotes % 2 == 0 && (before.is_empty() || before.ends_with(','))
    };
    lower.match_indices(word).map(|(at, _)| at).find(starts).map(|at| at + word.len())
}

/// The next `name=value`, and what is after it. None where another scheme begins.
fn parameter(text: &str) -> Option<(String, String, &str)> {
    let text = text.trim_start_matches([' ', ',', '\t']);
    let (name, rest) = text.split_once('=')?;
    let token = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(token) {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let Some(quoted) = rest.strip_prefix('"') else {
        let end = rest.find([',', ' ']).unwrap_or(rest.len());
        let (value, after) = rest.split_at_checked(end)?;
        return Some((name, value.to_owned(), after));
    };
    let (mut value, mut chars) = (String::new(), quoted.char_indices());
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((name, value, quoted.get(at + 1..).unwrap_or_default())),
            '\\' => value.push(chars.next()?.1),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::Challenge;

    #[test]
    fn what_is_said_once_of_bearer_is_taken() {
        for (text, metadata, scope) in [
            ("Bearer", None, None),
            (
                "Bearer resource_metadata=\"https://a/b\", scope=\"x y\"",
                Some("https://a/b"),
                Some("x y"),
            ),
            (
                "bearer error=invalid_token, resource_metadata=https://a/b",
                Some("https://a/b"),
                None,
            ),
            ("Basic realm=\"a, bearer b\", Bearer scope=\"x\"", None, Some("x")),
            ("Bearer scope=\"a\\\"b\"", None, Some("a\"b")),
            ("Bearer resource_metadata=\"a\", resource_metadata=\"b\"", None, None),
            ("Bearer resource_metadata=\"a", None, None),
            ("Bearer scope=x, Digest resource_metadata=\"b\"", None, Some("x")),
            ("Basic resource_metadata=\"b\"", None, None),
            ("", None, None),
        ] {
            let challenge = Challenge::read(text);
            assert_eq!(challenge.resource_metadata.as_deref(), metadata, "{text}");
            assert_eq!(challenge.scope.as_deref(), scope, "{text}");
        }
    }
}
