//! The names of servers.

use std::fmt;
use std::str::FromStr;

use narthex_core::Slug;
use serde::{Deserialize, Serialize};

use crate::text::shown;

/// A server's name: part of a path (`/servers/{name}/mcp`) and of a module's name
/// (`host:mcp-{name}`), and the slug a kill switch names it by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ServerName(Slug);

/// Why a name is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    /// Not well formed.
    #[error(
        "a name is 1 to 63 of a-z, 0-9 and '-', starts with a letter and does not end in '-' (got {0:?})"
    )]
    Form(String),
    /// Taken.
    #[error("the name {name:?} is taken: {why}; give it another")]
    Reserved {
        /// The name.
        name: String,
        /// By what.
        why: &'static str,
    },
}

impl ServerName {
    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// As a kill switch names it.
    pub const fn slug(&self) -> &Slug {
        &self.0
    }
}

impl FromStr for ServerName {
    type Err = NameFault;

    fn from_str(text: &str) -> Result<Self, NameFault> {
        let slug = text.parse().map_err(|_| NameFault::Form(shown(text, 80)))?;
        match reserved(text) {
            Some(why) => Err(NameFault::Reserved { name: text.to_owned(), why }),
            None => Ok(Self(slug)),
        }
    }
}

fn reserved(name: &str) -> Option<&'static str> {
    let whole = RESERVED.iter().find(|(word, _)| *word == name);
    let start = || RESERVED_STARTS.iter().find(|(start, _)| name.starts_with(start));
    whole.or_else(start).map(|(_, why)| *why)
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl TryFrom<String> for ServerName {
    type Error = NameFault;
    fn try_from(text: String) -> Result<Self, NameFault> {
        text.parse()
    }
}

impl From<ServerName> for String {
    fn from(name: ServerName) -> Self {
        name.0.into()
    }
}

const SURFACE: &str = "it is a surface of the house itself";
const MODULE: &str = "scripts import a module of that name";
const HOUSE: &str = "it would pass for Narthex or its owner";
const WORD: &str = "it is a word of the command line and of settings";

/// Names that mean something else.
const RESERVED: &[(&str, &str)] = &[
    ("workspace", SURFACE),
    ("graph", SURFACE),
    ("graphs", SURFACE),
    ("code", SURFACE),
    ("servers", SURFACE),
    ("server", SURFACE),
    ("mcp", SURFACE),
    ("inbox", SURFACE),
    ("host", MODULE),
    ("ha", MODULE),
    ("fs-read", MODULE),
    ("fs-write", MODULE),
    ("json", MODULE),
    ("text", MODULE),
    ("time", MODULE),
    ("narthex", HOUSE),
    ("owner", HOUSE),
    ("companion", HOUSE),
    ("gate", HOUSE),
    ("ledger", HOUSE),
    ("policy", HOUSE),
    ("system", HOUSE),
    ("all", WORD),
    ("any", WORD),
    ("none", WORD),
    ("default", WORD),
    ("on", WORD),
    ("off", WORD),
    ("constructor", MODULE),
    ("prototype", MODULE),
];

/// And beginnings of names.
const RESERVED_STARTS: &[(&str, &str)] = &[
    ("graph-", "graphs are modules of such names"),
    ("mcp-", "the modules of servers have such names already: leave out \"mcp-\""),
    ("host-", MODULE),
    ("ha-", MODULE),
    ("narthex-", HOUSE),
];

#[cfg(test)]
mod tests {
    use super::{NameFault, RESERVED, RESERVED_STARTS, ServerName};

    #[test]
    fn a_name_is_a_plain_word() {
        for (text, good) in [
            ("github", true),
            ("a", true),
            ("my-server-2", true),
            ("graphite", true),
            ("hostname", true),
            ("memory", true),
            ("fetch", true),
            ("", false),
            ("-a", false),
            ("a-", false),
            ("2a", false),
            ("GitHub", false),
            ("git_hub", false),
            ("git hub", false),
            ("git/hub", false),
            ("git.hub", false),
            ("host:mcp", false),
            ("g\u{456}thub", false),
            ("git\u{200b}hub", false),
            ("github\n", false),
        ] {
            assert_eq!(text.parse::<ServerName>().is_ok(), good, "{text:?}");
        }
        assert!("a".repeat(63).parse::<ServerName>().is_ok());
        assert!("a".repeat(64).parse::<ServerName>().is_err());
    }

    #[test]
    fn what_is_taken_is_refused_with_its_reason() {
        let refused =
            |name: &str| matches!(name.parse::<ServerName>(), Err(NameFault::Reserved { .. }));
        for (name, why) in RESERVED {
            assert!(refused(name), "{name}");
            assert!(!why.is_empty());
        }
        for (start, _) in RESERVED_STARTS {
            assert!(refused(&format!("{start}x")), "{start}");
        }
    }
}
