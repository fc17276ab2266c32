//! The names of things in a graph.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Bound, Digest, digest::ParseDigestError};

/// The name of a branch: words of a small alphabet, parted by `/`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BranchName(String);

/// Not the name of a branch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a branch name is words of a-z, A-Z, 0-9, '-', '_' and '.', parted by '/', each beginning with a letter or a digit, without '..', at most 128 bytes (got {0:?})"
)]
pub struct BranchNameError(String);

impl BranchName {
    /// The branch every graph begins with.
    pub fn main() -> Self {
        Self("main".to_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is `other`, or lies under it.
    pub fn is_under(&self, other: &str) -> bool {
        self.0.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl FromStr for BranchName {
    type Err = BranchNameError;

    fn from_str(text: &str) -> Result<Self, BranchNameError> {
        let word = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_alphanumeric())
                && !word.ends_with('.')
                && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        };
        let good =
            text.len() <= Bound::BRANCH_BYTES && !text.contains("..") && text.split('/').all(word);
        if good {
            Ok(Self(text.to_owned()))
        } else {
            Err(BranchNameError(text.chars().take(SHOWN_CHARS).collect()))
        }
    }
}

impl TryFrom<String> for BranchName {
    type Error = BranchNameError;
    fn try_from(text: String) -> Result<Self, BranchNameError> {
        text.parse()
    }
}

impl From<BranchName> for String {
    fn from(name: BranchName) -> Self {
        name.0
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A commit: the digest of its parents, its schema, its changes and what is said about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommitId(Digest);

impl CommitId {
    /// Of a digest.
    pub const fn of(digest: Digest) -> Self {
        Self(digest)
    }

    /// The digest.
    pub const fn digest(&self) -> Digest {
        self.0
    }
}

impl FromStr for CommitId {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, ParseDigestError> {
        text.parse().map(Self)
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How much of a bad name is shown back.
const SHOWN_CHARS: usize = 64;

#[cfg(test)]
mod tests {
    use super::BranchName;

    #[test]
    fn a_branch_name_is_small_and_plain() {
        let long = "a".repeat(129);
        for (text, good) in [
            ("main", true),
            ("a", true),
            ("agents/scout/fix-1", true),
            ("v1.2_x", true),
            ("", false),
            ("/", false),
            ("a/", false),
            ("/a", false),
            ("a//b", false),
            ("..", false),
            ("a/../b", false),
            ("a..b", false),
            (".a", false),
            ("a.", false),
            ("-a", false),
            ("a b", false),
            ("a\nb", false),
            ("ä", false),
            ("a\u{0}", false),
            (long.as_str(), false),
        ] {
            assert_eq!(text.parse::<BranchName>().is_ok(), good, "{text:?}");
        }
        let under: BranchName = "agents/scout/x".parse().unwrap();
        assert!(under.is_under("agents/scout") && under.is_under("agents/scout/x"));
        assert!(!under.is_under("agents/sc"));
    }
}
