//! What was found.

use std::fmt;

use serde::Serialize;

use crate::text::{Unseen, shown};

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// What it is.
    pub code: Code,
    /// How grave it is.
    pub severity: Severity,
    /// Where, as a JSON pointer.
    pub place: String,
    /// The text in question, made visible and cut short.
    pub text: String,
}

impl Finding {
    /// With the severity that its code has in definitions.
    pub(super) fn new(code: Code, place: impl Into<String>, text: &str) -> Self {
        Self::graded(code, code.severity(), place, text)
    }

    pub(super) fn graded(
        code: Code,
        severity: Severity,
        place: impl Into<String>,
        text: &str,
    ) -> Self {
        let place = shown(&place.into(), MAX_PLACE);
        Self { code, severity, place, text: shown(text, MAX_TEXT) }
    }
}

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// To be known.
    Info,
    /// To be looked at.
    Warn,
    /// Puts a definition in quarantine.
    High,
}

impl Severity {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::High => "high",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! codes {
    ($($name:ident $word:literal $severity:ident $says:literal;)+) => {
        /// What can be found.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Code {
            $(#[doc = $says] $name,)+
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The word for it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }

            /// How grave it is in a definition, unless the place says otherwise.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)+ }
            }

            /// What it means, for people.
            pub const fn says(self) -> &'static str {
                match self { $(Self::$name => $says,)+ }
            }
        }
    };
}

codes! {
    Control "control" High "Control characters: they move a cursor, overwrite, or break a line unseen.";
    Sequence "sequence" High "Terminal control sequences: colours, links, the clipboard.";
    ZeroWidth "zero-width" High "Characters that take no room.";
    Bidi "bidi" High "Characters that reorder what is shown.";
    Tag "tag" High "The Unicode tag block: a second alphabet that only machines read.";
    Variation "variation" High "Variation selectors where there is nothing to vary: they can spell bytes.";
    Private "private" High "Private-use characters: they mean whatever someone agreed on.";
    Instruction "instruction" High "Tells the model to disregard or replace what it was told.";
    Role "role" High "Speaks as the system, the developer or another part of the conversation.";
    HiddenDirective "hidden-directive" High "Text that a person does not see and a model does.";
    Secrecy "secrecy" High "Asks to keep something from the person.";
    SecretPlace "secret-place" High "Names a place where secrets are kept.";
    SideEffect "side-effect" High "Asks to put other data into an argument, or to send it somewhere.";
    Precedence "precedence" Warn "Wants to be called before, after or instead of others.";
    Pressure "pressure" Warn "Presses the model with urgency or commands.";
    Padding "padding" Warn "Blank space that pushes text out of sight.";
    Encoded "encoded" Warn "A long run of encoded text.";
    MixedScript "mixed-script" Warn "A word of letters from different alphabets.";
    Shadowing "shadowing" Warn "Names a tool of another server.";
    Image "image" High "An image that is fetched when it is shown: its address carries data out.";
    Link "link" Warn "A link that carries data out, or leads somewhere odd.";
    Markup "markup" High "Markup that runs, or hides something.";
    LongText "long-text" Warn "More text than a description needs.";
    NameForm "name-form" Warn "A name with characters that names do not have.";
    LookAlike "look-alike" High "A name that looks like another one.";
    Doubled "doubled" High "Two definitions of one name.";
    NameTaken "name-taken" Info "Another server has something of this name.";
    ParamHeader "param-header" High "An x-mcp-header that must not be.";
    RefOutside "ref-outside" High "A schema that refers to another place.";
    SchemaBomb "schema-bomb" High "A schema that grows without end when it is used.";
    Recursive "recursive" Warn "A schema that refers to itself.";
    Unpinnable "unpinnable" High "A definition that cannot be taken: beyond its bounds, or read in more than one way.";
    Internal "internal" Warn "An address inside: a file, this machine, the local network.";
    More "more" Info "There is more than is told here.";
}

impl From<Unseen> for Code {
    fn from(unseen: Unseen) -> Self {
        match unseen {
            Unseen::Control => Self::Control,
            Unseen::Sequence => Self::Sequence,
            Unseen::ZeroWidth => Self::ZeroWidth,
            Unseen::Bidi => Self::Bidi,
            Unseen::Tag => Self::Tag,
            Unseen::Variation => Self::Variation,
            Unseen::Private => Self::Private,
        }
    }
}

/// What was found in one place, no more than can be read.
#[derive(Debug, Default)]
pub(super) struct Findings {
    all: Vec<Finding>,
    more: usize,
}

impl Findings {
    pub(super) fn add(&mut self, finding: Finding) {
        if self.all.contains(&finding) {
            return;
        }
        if self.all.len() < MAX_FINDINGS {
            self.all.push(finding);
            return;
        }
        self.more += 1;
        // A grave one is never lost behind many small ones.
        let small = self.all.iter_mut().rev().find(|known| known.severity < finding.severity);
        if let Some(small) = small {
            *small = finding;
        }
    }

    pub(super) fn done(mut self) -> Vec<Finding> {
        if self.more > 0 {
            self.all.push(Finding::new(Code::More, "", &format!("and {} more", self.more)));
        }
        self.all
    }
}

/// Findings that are told of one definition or result.
pub(super) const MAX_FINDINGS: usize = 64;
const MAX_TEXT: usize = 240;
const MAX_PLACE: usize = 300;

#[cfg(test)]
mod tests {
    use super::{Code, Finding, Findings, MAX_FINDINGS, Severity};

    #[test]
    fn a_grave_finding_is_not_lost_in_a_flood() {
        let mut findings = Findings::default();
        for n in 0..1_000 {
            findings.add(Finding::new(Code::Link, format!("/{n}"), "x"));
        }
        findings.add(Finding::new(Code::Tag, "/x", "y"));
        let done = findings.done();
        assert_eq!(done.len(), MAX_FINDINGS + 1);
        assert!(done.iter().any(|finding| finding.severity == Severity::High));
        assert_eq!(done.last().unwrap().code, Code::More);
    }

    #[test]
    fn each_code_has_its_own_word() {
        let mut words: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Code::ALL.len());
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}
