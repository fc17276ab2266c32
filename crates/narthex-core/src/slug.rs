//! Names that people type and links point to.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Bound;

/// What is wrong with a slug.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SlugError {
    /// A space's or an agent's name.
    #[error(
        "a slug is 1 to 63 of a-z, 0-9 and '-', starting with a letter, not ending in '-' (got {0:?})"
    )]
    Name(String),
    /// A page's path.
    #[error(
        "a page slug is lower-case words of letters, digits, '-', '_' and '.', in folders parted by '/', at most 240 bytes (got {0:?})"
    )]
    Page(String),
}

/// The slug of a space or an agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Slug(String);

impl Slug {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Slug {
    type Err = SlugError;

    fn from_str(text: &str) -> Result<Self, SlugError> {
        let good = text.len() <= Bound::SLUG_BYTES
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && !text.ends_with('-')
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if good { Ok(Self(text.to_owned())) } else { Err(SlugError::Name(shown(text))) }
    }
}

/// The slug of a page: a path, so that a space's pages form a tree.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PageSlug(String);

impl PageSlug {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Makes a slug of any title or path: letters lower-cased, everything else a '-'.
    pub fn from_title(text: &str) -> Result<Self, SlugError> {
        let segments: Vec<String> =
            text.split('/').map(segment).filter(|s| !s.is_empty()).collect();
        segments.join("/").parse()
    }
}

impl FromStr for PageSlug {
    type Err = SlugError;

    fn from_str(text: &str) -> Result<Self, SlugError> {
        let good = text.len() <= Bound::PAGE_SLUG_BYTES
            && text.split('/').count() <= Bound::PAGE_SLUG_DEPTH
            && text.split('/').all(is_segment);
        if good { Ok(Self(text.to_owned())) } else { Err(SlugError::Page(shown(text))) }
    }
}

fn is_segment(text: &str) -> bool {
    text.starts_with(char::is_alphanumeric)
        && text.chars().all(|c| in_segment(c) && c.to_lowercase().eq(std::iter::once(c)))
}

fn in_segment(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

fn segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        if in_segment(c) && c.to_lowercase().eq(std::iter::once(c)) {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.trim_start_matches(|c: char| !c.is_alphanumeric()).trim_end_matches('-').to_owned()
}

/// A slug that came from outside, short enough to stand in an error.
fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

macro_rules! text_form {
    ($($name:ident),+) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = SlugError;
            fn try_from(text: String) -> Result<Self, SlugError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(slug: $name) -> Self {
                slug.0
            }
        }
    )+};
}

text_form!(Slug, PageSlug);

#[cfg(test)]
mod tests {
    use super::{PageSlug, Slug};

    #[test]
    fn names_are_plain_ascii_words() {
        for (text, good) in [
            ("research", true),
            ("a", true),
            ("claude-code-2", true),
            ("", false),
            ("2fast", false),
            ("-x", false),
            ("x-", false),
            ("Upper", false),
            ("caf\u{e9}", false),
            ("a_b", false),
            ("a/b", false),
            ("a\u{0430}", false),
            ("a\n", false),
        ] {
            assert_eq!(text.parse::<Slug>().is_ok(), good, "{text:?}");
        }
        assert!("a".repeat(63).parse::<Slug>().is_ok());
        assert!("a".repeat(64).parse::<Slug>().is_err());
    }

    #[test]
    fn page_slugs_are_paths_that_cannot_climb() {
        for (text, good) in [
            ("home", true),
            ("guides/set-up", true),
            ("v1.2/notes_old", true),
            ("\u{65e5}\u{672c}\u{8a9e}", true),
            ("", false),
            ("/home", false),
            ("home/", false),
            ("a//b", false),
            ("../etc", false),
            ("a/../b", false),
            (".hidden", false),
            ("Home", false),
            ("a b", false),
            ("a\u{0}", false),
            ("a]]b", false),
        ] {
            assert_eq!(text.parse::<PageSlug>().is_ok(), good, "{text:?}");
        }
    }

    #[test]
    fn any_title_becomes_a_slug_or_a_clear_error() {
        for (title, slug) in [
            ("Hello, World!", Some("hello-world")),
            ("  Guides / Set Up  ", Some("guides/set-up")),
            ("C++ & Rust", Some("c-rust")),
            ("../../etc/passwd", Some("etc/passwd")),
            ("!!!", None),
            ("", None),
        ] {
            let made = PageSlug::from_title(title).ok();
            assert_eq!(made.as_ref().map(PageSlug::as_str), slug, "{title:?}");
        }
    }
}
