//! What a URI is here: absolute, by the grammar of RFC 3986, without hosts in brackets.

/// Whether this is one. [`URI_PATTERN`] says the same.
pub(super) fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    text.len() <= MAX_URI_CHARS
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
        && is_place(place)
        && made_of(query, b":@/?")
        && made_of(fragment, b":@/?")
}

fn is_place(place: &str) -> bool {
    let Some(after) = place.strip_prefix("//") else {
        return !place.is_empty() && made_of(place, b":@/");
    };
    let end = after.find('/').unwrap_or(after.len());
    let (authority, path) = after.split_at_checked(end).unwrap_or((after, ""));
    let (user, host) = authority.split_once('@').unwrap_or(("", authority));
    let (host, port) = host.split_once(':').unwrap_or((host, ""));
    made_of(user, b":")
        && made_of(host, b"")
        && port.bytes().all(|byte| byte.is_ascii_digit())
        && made_of(path, b":@/")
}

/// Whether a text has only what may be anywhere, these, and bytes in hexadecimal.
fn made_of(text: &str, also: &[u8]) -> bool {
    let mut rest = text.as_bytes();
    loop {
        rest = match rest {
            [] => return true,
            [b'%', one, other, rest @ ..]
                if one.is_ascii_hexdigit() && other.is_ascii_hexdigit() =>
            {
                rest
            }
            [byte, rest @ ..]
                if byte.is_ascii_alphanumeric()
                    || b"-._~!$&'()*+,;=".contains(byte)
                    || also.contains(byte) =>
            {
                rest
            }
            _ => return false,
        };
    }
}

/// Characters of one URI.
pub const MAX_URI_CHARS: usize = 2048;

/// The grammar as one pattern.
pub(super) const URI_PATTERN: &str = concat!(
    "^[A-Za-z][A-Za-z0-9+.-]*:",
    "(?://(?:(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*@)?",
    "(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*(?::[0-9]*)?",
    "(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?",
    "|/|/?(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})",
    "(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)",
    "(?:\\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?",
    "(?:#(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?$",
);

#[cfg(test)]
mod tests {
    use super::is_uri;

    #[test]
    fn uris_are_absolute() {
        for (text, expected) in [
            ("https://example.org/a.png", true),
            ("s3://bucket/key%20with/é", false),
            ("s3://bucket/key%20with/e", true),
            ("file:///a/x", true),
            ("urn:isbn:0451450523", true),
            ("data:,hello", true),
            ("mailto:a@b.c", true),
            ("http://u:p@h:80/p?q=1?2#f/?", true),
            ("a:/", true),
            ("/relative", false),
            ("relative", false),
            ("//host/x", false),
            ("1http://x", false),
            (":x", false),
            ("", false),
            ("a:", false),
            ("http://a b", false),
            ("http://h/%zz", false),
            ("http://h/%2", false),
            ("http://h:8x/", false),
            ("http://a@b@c/", false),
            ("http://[::1]/", false),
            ("http://h/#a#b", false),
            ("http://h/\n", false),
            (" http://h/", false),
            ("http://h/<x>", false),
        ] {
            assert_eq!(is_uri(text), expected, "{text}");
        }
    }
}
