//! What looks like a secret: by the name it goes under, or by its shape.
//!
//! A guess, for warnings, for what an import does not copy, and for errors. Nothing is let through
//! because it did not look like one.

use std::sync::LazyLock;

use regex::Regex;

/// Whether the name of a variable, a header, an option or a query's field says so.
pub(crate) fn name_tells(name: &str) -> bool {
    let name: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let known = NAMES.iter().any(|part| name.contains(part));
    known || ["key", "pat", "pin", "sig", "jwt", "otp"].iter().any(|end| name.ends_with(end))
}

/// Whether it has the shape of a token, a key or a password in a URL.
pub(crate) fn shape_tells(value: &str) -> bool {
    shapes().is_some_and(|shapes| shapes.is_match(value)) || is_random(value)
}

/// Shapes of tokens anywhere in a text.
pub(crate) fn shapes() -> Option<&'static Regex> {
    SHAPES.as_ref()
}

/// A long word of letters and digits that no person would make up.
fn is_random(value: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '/' | '=');
    let has = |class: fn(&char) -> bool| value.chars().any(|c| class(&c));
    value.len() >= RANDOM
        && value.chars().all(word)
        && has(char::is_ascii_digit)
        && has(char::is_ascii_alphabetic)
        && !value.starts_with('/')
        && value.split(['-', '_', '/']).any(|part| part.len() >= RANDOM / 2)
}

const NAMES: &[&str] = &[
    "token",
    "secret",
    "passw",
    "passphrase",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "authorization",
    "bearer",
    "cookie",
    "session",
    "signature",
    "dsn",
    "connectionstring",
];

/// Characters from which on a word is taken for made by a machine.
const RANDOM: usize = 24;

/// The fixed beginnings that issuers give their tokens, so that they are found.
static SHAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let shapes = [
        r"gh[pousr]_[A-Za-z0-9]{16,}",
        r"github_pat_[A-Za-z0-9_]{20,}",
        r"glpat-[A-Za-z0-9_-]{16,}",
        r"sk-[A-Za-z0-9_-]{16,}",
        r"(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}",
        r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
        r"(?:AKIA|ASIA)[A-Z0-9]{16}",
        r"AIza[A-Za-z0-9_-]{30,}",
        r"ya29\.[A-Za-z0-9_-]{16,}",
        r"npm_[A-Za-z0-9]{30,}",
        r"hf_[A-Za-z0-9]{20,}",
        r"lin_api_[A-Za-z0-9]{20,}",
        r"(?:secret|ntn)_[A-Za-z0-9]{30,}",
        r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^-]*-----END [A-Z ]*PRIVATE KEY-----)?",
        r"[A-Za-z][A-Za-z0-9+.-]*://[^\x00-\x20/@:]*:[^\x00-\x20/@]+@",
        r"(?i:bearer|basic)\s+[A-Za-z0-9._~+/=-]{12,}",
    ];
    Regex::new(&shapes.join("|")).ok()
});

#[cfg(test)]
mod tests {
    use super::{name_tells, shape_tells, shapes};

    #[test]
    fn names_tell() {
        for (name, tells) in [
            ("GITHUB_TOKEN", true),
            ("API_KEY", true),
            ("apiKey", true),
            ("DB_PASSWORD", true),
            ("AWS_SECRET_ACCESS_KEY", true),
            ("Authorization", true),
            ("X-Api-Key", true),
            ("GITHUB_PAT", true),
            ("LOG_LEVEL", false),
            ("PORT", false),
            ("NODE_ENV", false),
            ("KEYBOARD", false),
            ("PATH", false),
        ] {
            assert_eq!(name_tells(name), tells, "{name}");
        }
    }

    #[test]
    fn shapes_tell() {
        for (value, tells) in [
            ("ghp_0123456789abcdefABCDEF0123456789abcd", true),
            ("sk-ant-api03-abcdefghijklmnop", true),
            ("xoxb-1234567890-abcdef", true),
            ("AKIAIOSFODNN7EXAMPLE", true),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", true),
            ("postgres://user:hunter2@db.example/x", true),
            ("Bearer 0123456789abcdef", true),
            ("-----BEGIN RSA PRIVATE KEY-----\nMII", true),
            ("0123456789abcdef0123456789abcdef", true),
            ("debug", false),
            ("https://api.example.com/v1", false),
            ("@modelcontextprotocol/server-everything", false),
            ("/usr/local/share/something-long-2/file", false),
            ("2026-07-28", false),
            ("production", false),
            ("", false),
        ] {
            assert_eq!(shape_tells(value), tells, "{value}");
        }
        assert!(shapes().is_some());
    }
}
