//! The only way to standard output.

use std::io::{self, Write as _};

use serde::Serialize;

use crate::failure::{Exit, Failure};

/// Prints text and ends the line. Colours are taken out where nobody would see them.
pub fn text(text: impl AsRef<str>) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{}", text.as_ref()).and_then(|()| out.flush()).map_err(failed)
}

/// Prints one JSON document, for people to read too.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    print_json(serde_json::to_string_pretty(value))
}

/// Prints one JSON document on one line.
pub fn json_line(value: &impl Serialize) -> Result<(), Failure> {
    print_json(serde_json::to_string(value))
}

/// Prints lines that are whole JSON documents already.
pub fn json_lines(lines: &[String]) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    lines
        .iter()
        .try_for_each(|line| writeln!(out, "{line}"))
        .and_then(|()| out.flush())
        .map_err(failed)
}

/// Says something beside the answer, on standard error.
pub fn note(text: impl AsRef<str>) {
    // Nowhere is left to say that standard error is closed.
    let _ = writeln!(anstream::stderr().lock(), "{}", text.as_ref());
}

/// Not through the colour filter: JSON must come out as it is.
fn print_json(written: serde_json::Result<String>) -> Result<(), Failure> {
    let written = written
        .map_err(|error| Failure::new(Exit::Failed, format!("cannot write JSON: {error}")))?;
    let mut out = io::stdout().lock();
    writeln!(out, "{written}").and_then(|()| out.flush()).map_err(failed)
}

#[expect(clippy::needless_pass_by_value, reason = "the shape map_err wants")]
fn failed(error: io::Error) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Failure::hung_up();
    }
    Failure::new(Exit::Failed, format!("standard output: {error}"))
}
