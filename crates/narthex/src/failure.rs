//! How a command ends: named exit codes, and failures that say the way out.

use std::fmt;
use std::io::{self, Write as _};
use std::process::{ExitCode, Termination};

use serde_json::json;

use crate::output::{Output, clean};

/// How a command ended. The numbers are part of the interface: scripts read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exit {
    /// As asked.
    Done,
    /// Not done, for a reason that has no code of its own.
    Failed,
    /// The command line or the settings make no sense.
    Usage,
    /// What was named is not there.
    NotFound,
    /// It changed meanwhile, or the name is taken.
    Conflict,
    /// The house cannot do it now: held by another process, or store or ledger out of order.
    Unavailable,
    /// The ledger was changed, cut or forged.
    LedgerBroken,
    /// A credential or a policy said no.
    Denied,
}

impl Exit {
    /// Every way to end.
    pub const ALL: [Self; 8] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::NotFound,
        Self::Conflict,
        Self::Unavailable,
        Self::LedgerBroken,
        Self::Denied,
    ];

    /// The process's exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Conflict => 4,
            Self::Unavailable => 5,
            Self::LedgerBroken => 6,
            Self::Denied => 7,
        }
    }

    /// The word in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::Unavailable => "unavailable",
            Self::LedgerBroken => "ledger_broken",
            Self::Denied => "denied",
        }
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(self.code())
    }
}

/// Why a command was not carried out.
///
/// The first line of the message says what is wrong. Further lines, where there are any, are an
/// excerpt of the file it is about: people see it, JSON does not carry it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// How to end.
    pub exit: Exit,
    /// What is wrong.
    pub message: String,
    /// The way out, where there is one.
    pub hint: Option<String>,
}

impl Failure {
    /// Without a way out.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hint: None }
    }

    /// With this way out.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// What a file or folder refused, and why.
    pub fn file(path: &std::path::Path, error: &io::Error) -> Self {
        let exit = match error.kind() {
            io::ErrorKind::NotFound => Exit::NotFound,
            _ => Exit::Failed,
        };
        Self::new(exit, format!("{}: {error}", path.display()))
    }

    /// The reader of our output has gone: nothing to say, and nobody to say it to.
    pub fn hung_up() -> Self {
        Self::new(Exit::Done, "")
    }

    /// What is wrong, in one line.
    pub fn summary(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }

    /// Says it on standard error, in the form that was asked for.
    pub fn print(&self, output: Output) {
        if self.message.is_empty() {
            return;
        }
        let text = match output {
            Output::Human => self.for_people(),
            Output::Json => self.as_json().to_string(),
        };
        // Nowhere is left to say that standard error is closed.
        let _ = writeln!(anstream::stderr().lock(), "{text}");
    }

    fn for_people(&self) -> String {
        let bold = anstyle::AnsiColor::Red.on_default().bold();
        let mut text = format!("{bold}error:{bold:#} {}", clean::text(&self.message));
        if let Some(hint) = &self.hint {
            text.push_str("\n  try: ");
            text.push_str(&clean::text(hint));
        }
        text
    }

    fn as_json(&self) -> serde_json::Value {
        json!({"error": {"code": self.exit.name(), "message": self.summary(), "hint": self.hint}})
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::{Exit, Failure};

    #[test]
    fn every_exit_has_its_own_code_and_name() {
        for (n, exit) in Exit::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(exit.code()), n);
            assert_eq!(Exit::ALL.iter().filter(|other| other.name() == exit.name()).count(), 1);
        }
    }

    #[test]
    fn json_carries_the_first_line_and_the_way_out() {
        let failure = Failure::new(Exit::Usage, "bad key\n  1 | lisen = 1").hint("write 'listen'");
        assert_eq!(
            failure.as_json().to_string(),
            r#"{"error":{"code":"usage","message":"bad key","hint":"write 'listen'"}}"#
        );
    }

    #[test]
    fn people_see_no_escape_that_came_from_outside() {
        let failure = Failure::new(Exit::Failed, "no page \u{1b}]0;x\u{7}y").hint("a\u{9b}b");
        let text = anstream::adapter::strip_str(&failure.for_people()).to_string();
        assert_eq!(text, "error: no page ⟨U+001B⟩]0;x⟨U+0007⟩y\n  try: a⟨U+009B⟩b");
    }
}
