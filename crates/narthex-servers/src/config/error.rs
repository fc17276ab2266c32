//! What can be wrong with the file, where, and what to do about it.

use crate::located::{JsonFault, Place};

use super::name::NameFault;

/// Something in the file is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {}{fault}", before(.path))]
pub struct ConfigError {
    /// Where in the file.
    pub at: Place,
    /// Which setting (`mcpServers.github.env.TOKEN`); empty for the file itself.
    pub path: String,
    /// What.
    pub fault: ConfigFault,
}

fn before(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}

/// What is wrong. Nothing here repeats a value: it may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigFault {
    /// Not JSON.
    #[error(transparent)]
    Json(#[from] JsonFault),
    /// No servers in it.
    #[error(
        "there is neither `mcpServers` nor `servers` in it; name your servers under one of them"
    )]
    NoServers,
    /// Both spellings.
    #[error("both `mcpServers` and `servers` are in it; move everything under one of them")]
    BothSpellings,
    /// A key nobody knows.
    #[error("the key {key:?} is not known here{}", near.as_ref().map(|near| format!("; did you mean {near:?}?")).unwrap_or_default())]
    UnknownKey {
        /// The key.
        key: String,
        /// One that is known and looks like it.
        near: Option<&'static str>,
    },
    /// Another kind of value.
    #[error("{expected} is expected here, and this is {found}")]
    Kind {
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A word that is not one of those that mean something.
    #[error("this must be one of {0}")]
    Word(&'static str),
    /// A server's or a profile's name.
    #[error(transparent)]
    Name(#[from] NameFault),
    /// More than there may be.
    #[error("more than {most} {what}{way_out}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The bound.
        most: usize,
        /// What to do, if anything can be done.
        way_out: &'static str,
    },
    /// Empty, too long, or with characters in it that have no business there.
    #[error("{what} must have 1 to {most} characters and none that cannot be seen")]
    Text {
        /// Which text.
        what: &'static str,
        /// The bound.
        most: usize,
    },
    /// A number out of its range.
    #[error("this must be a whole number from {least} to {most}")]
    Range {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// Not a cost.
    #[error(transparent)]
    Cost(#[from] narthex_core::CostError),
    /// The transport that MCP gave up.
    #[error(
        "`sse` is no longer spoken here; servers that have it offer streamable HTTP as well: try \"type\": \"http\" and the server's /mcp address"
    )]
    Sse,
    /// Neither a command nor a URL.
    #[error("a server needs a `command` (a process) or a `url` (HTTP)")]
    NoReach,
    /// Both.
    #[error("a server has a `command` or a `url`, not both")]
    TwoReaches,
    /// A key of the other kind of server.
    #[error("`{key}` is for servers {kind}; take it out")]
    Misplaced {
        /// The key.
        key: &'static str,
        /// Which servers have it.
        kind: &'static str,
    },
    /// Not a URL a server is reached at.
    #[error("not a URL of a server: {0}")]
    Url(&'static str),
    /// Not the name of a variable.
    #[error("a variable's name is letters, digits and '_', at most 128, not starting with a digit")]
    VariableName,
    /// Not the name of a header, or one that is not the owner's to set.
    #[error("{0}")]
    Header(&'static str),
    /// Not a path.
    #[error("a path here is absolute and has no `..` in it")]
    NotAbsolute,
    /// A substitution that cannot be read.
    #[error("{0}")]
    Substitution(&'static str),
    /// A substitution where there is none.
    #[error("nothing is substituted here: what is approved is what is written")]
    NoSubstitution,
    /// VS Code asks for it; nobody is there to ask.
    #[error(
        "`${{input:{id}}}` is asked for by an editor, and here nobody is asked; write `${{{variable}}}` and export {variable}"
    )]
    Input {
        /// What it is called there.
        id: String,
        /// A variable to use instead.
        variable: String,
    },
    /// Something only an editor knows.
    #[error("`${{{0}}}` is known only to an editor; write it out")]
    Editor(String),
    /// Not set.
    #[error(
        "the variable {0} is not set; export it before Narthex starts, or write `${{{0}:-something}}`"
    )]
    MissingVariable(String),
    /// A file that cannot be read.
    #[error("the file of `${{file:{path}}}` cannot be read: {why}")]
    File {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
    /// What came in its place cannot stand there.
    #[error("what stands in place of {0} holds a control character, or is too long")]
    Substituted(String),
    /// A secret in the file, where none may be.
    #[error(
        "a secret does not belong in the file; write `${{NAME}}` and export NAME, or `${{file:/path}}`"
    )]
    LiteralSecret,
    /// Two settings that exclude each other.
    #[error("{0}")]
    Conflict(&'static str),
    /// A tool of T3 that names no target.
    #[error(
        "a tool of T3 needs a `target`: the JSON pointer of the argument that names what it is done to, as in \"/id\""
    )]
    NoTarget,
}

/// Something in the file that is taken, but not as one might think.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {}{kind}", before(.path))]
pub struct ConfigWarning {
    /// Where in the file.
    pub at: Place,
    /// Which setting.
    pub path: String,
    /// What.
    pub kind: WarningKind,
}

/// What to know about a setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WarningKind {
    /// A key of another client's.
    #[error("`{key}` is another client's and has no effect here: {why}")]
    Ignored {
        /// The key.
        key: &'static str,
        /// What is so here.
        why: &'static str,
    },
    /// It looks like a secret, and is in the file.
    #[error("this looks like a secret; write `${{{variable}}}` here and export {variable}")]
    LiteralSecret {
        /// A variable to use.
        variable: String,
    },
    /// In clear over the network.
    #[error("this is http: whoever is on the way reads it, tokens included; use https")]
    PlainHttp,
}
