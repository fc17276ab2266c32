//! The problems found in one text.

use super::Bounds;
use crate::{Diagnostic, Span};

/// The problems found so far; beyond a bound they are not told any more.
#[derive(Debug)]
pub(crate) struct Problems<'s> {
    source: &'s str,
    found: Vec<Diagnostic>,
}

impl<'s> Problems<'s> {
    /// None yet.
    pub(crate) const fn new(source: &'s str) -> Self {
        Self { source, found: Vec::new() }
    }

    /// Something is wrong here. It must be [`Problems::add`]ed.
    pub(crate) fn at(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        // Finding the line takes a walk over the text: not for what will not be told.
        let source = if self.is_full() { "" } else { self.source };
        Diagnostic::at(source, span, message)
    }

    /// Adds one.
    pub(crate) fn add(&mut self, problem: Diagnostic) {
        if !self.is_full() && !self.found.contains(&problem) {
            self.found.push(problem);
        }
    }

    /// Whether there are so many that no more are told.
    pub(crate) const fn is_full(&self) -> bool {
        self.found.len() >= Bounds::PROBLEMS
    }

    /// Something is wrong here, and there is nothing more to say about it.
    pub(crate) fn say(&mut self, span: Span, message: impl Into<String>) {
        let problem = self.at(span, message);
        self.add(problem);
    }

    /// What was read, if nothing was wrong.
    pub(crate) fn unless<T>(self, read: impl FnOnce() -> T) -> Result<T, Vec<Diagnostic>> {
        if self.found.is_empty() { Ok(read()) } else { Err(self.all()) }
    }

    /// All of them, in the order of the text.
    pub(crate) fn all(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|problem| problem.span.start);
        self.found
    }

    /// Whether nothing was wrong so far.
    pub(crate) const fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Those of another part of the same text too.
    pub(crate) fn extend(&mut self, others: Vec<Diagnostic>) {
        for problem in others {
            self.add(problem);
        }
    }
}
