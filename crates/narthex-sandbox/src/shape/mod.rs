//! The text that a language model sent as code, as the program that QuickJS runs.
//!
//! Models send what they are used to: a bare expression, a module with imports, TypeScript, a
//! function called `main`, a `return`, a fenced block with a sentence around it. All of these mean
//! something, and [`shape`] makes of each the one form that runs: a strict script that may await, and
//! whose last value is its result. Everything is decided by reading the text with a parser for what
//! it is in; nothing is searched for.
//!
//! What is run may rely on two functions that the engine defines: `__hostRequire(name)`, which gives
//! a module, and `__hostImport(name)`, which promises one. A value that is a function is for the
//! engine to call. The value of a program is, in this order: its default export, what its `main`
//! gives if nothing else in it mentions `main`, its own last value.
//!
//! Nothing here knows of the engine, or what modules there are. One more form is one more step
//! between the text and the script, which keeps the lines or says in [`Places`] where they were.

mod edits;
mod fence;
mod misshapen;
mod modules;
mod parse;
mod places;
mod program;
mod survey;
mod typescript;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use oxc_allocator::Allocator;

use misshapen::{Problem, character, line};
use places::{Lines, Place, Places};

pub use misshapen::Misshapen;

/// A program, ready to run.
#[derive(Debug, Clone)]
pub struct Shaped {
    /// What to run.
    pub code: String,
    /// What was sent.
    sent: String,
    /// The steps from one to the other.
    steps: Vec<Places>,
}

impl Shaped {
    /// Where a place of the code was in the text as it was sent. Lines and columns count from 1. The
    /// column is one of QuickJS, which counts bytes; what is given back counts characters.
    pub fn original(&self, line: u32, column: u32) -> (u32, u32) {
        let (number, byte) = back(&self.steps, (line, column));
        (number, character(self.line(number), byte))
    }

    /// A line of the text as it was sent.
    pub fn line(&self, number: u32) -> &str {
        line(&self.sent, number)
    }
}

/// Makes the program.
pub fn shape(source: &str) -> Result<Shaped, Misshapen> {
    let sent = with_plain_lines(source);
    let mut work = Work { sent: &sent, steps: Vec::new() };
    let arena = Allocator::default();

    let text = work.step(&sent, fence::pick(&sent))?;
    let parsed = work.check(&text, parse::parse(&arena, &text))?;
    let scoping = work.check(&text, parse::check(&parsed.program))?;
    let code = if parsed.typed {
        let stripped = typescript::strip(&arena, &text, parsed.program, scoping);
        let plain = work.step(&text, stripped)?;
        let program = work.check(&plain, parse::parse_plain(&arena, &plain))?;
        // Its rules are kept, it was checked with its types. Without them it may export what is gone.
        let (scoping, _) = parse::names(&program);
        work.step(&plain, program::rewrite(&plain, &program, &scoping))?
    } else {
        work.step(&text, program::rewrite(&text, &parsed.program, &scoping))?
    };
    let steps = work.steps;
    Ok(Shaped { code, sent: sent.into_owned(), steps })
}

/// A text on its way.
struct Work<'s> {
    sent: &'s str,
    steps: Vec<Places>,
}

impl Work<'_> {
    /// What a step made of a text.
    fn step<T>(&mut self, text: &str, made: Result<(T, Places), Problem>) -> Result<T, Misshapen> {
        let (made, places) = self.check(text, made)?;
        self.steps.push(places);
        Ok(made)
    }

    /// What was found in a text, or what is wrong with it, where that was in the text as it was sent.
    fn check<T>(&self, text: &str, found: Result<T, Problem>) -> Result<T, Misshapen> {
        found.map_err(|problem| {
            let lines = Lines::of(text);
            let mut message = problem.message;
            for (at, said) in problem.also {
                let (line, _) = back(&self.steps, lines.place(at));
                message = format!("{message} (line {line}: {said})");
            }
            Misshapen::new(self.sent, back(&self.steps, lines.place(problem.at)), message)
        })
    }
}

fn back(steps: &[Places], place: Place) -> Place {
    steps.iter().rev().fold(place, |place, step| step.back(place))
}

/// The text without a mark of its byte order, and with no line that ends in a carriage return alone:
/// that is a line end to JavaScript, but not to most who count lines. It means the same, and nothing
/// moves.
fn with_plain_lines(source: &str) -> Cow<'_, str> {
    let text = source.strip_prefix('\u{feff}').unwrap_or(source);
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\r') {
        made.push_str(before);
        made.push(if after.starts_with('\n') { '\r' } else { '\n' });
        rest = after;
    }
    if made.is_empty() {
        return Cow::Borrowed(text);
    }
    made.push_str(rest);
    Cow::Owned(made)
}
