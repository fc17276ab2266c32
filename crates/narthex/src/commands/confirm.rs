//! A word from the person at the terminal, where there is one.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use crate::{Exit, Failure};

/// Asks for a yes. Without a terminal there is nobody to ask: running the command was the answer.
pub(super) fn confirmed(question: &str, yes: bool) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    match typed(&format!("{question} [y/N] "))? {
        None => Ok(()),
        Some(answer) if matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes") => Ok(()),
        Some(_) => Err(Failure::new(Exit::Denied, "not confirmed, so nothing was changed")
            .hint("answer y, or give --yes")),
    }
}

/// What a person types after a prompt; nothing where there is no terminal.
pub(super) fn typed(prompt: &str) -> Result<Option<String>, Failure> {
    if !is_interactive() {
        return Ok(None);
    }
    let mut errors = io::stderr().lock();
    let mut line = String::new();
    write!(errors, "{prompt}")
        .and_then(|()| errors.flush())
        .and_then(|()| io::stdin().lock().read_line(&mut line))
        .map_err(|error| Failure::new(Exit::Failed, format!("the terminal: {error}")))?;
    Ok(Some(line.trim().to_owned()))
}

/// Whether a person sits there.
pub(super) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}
