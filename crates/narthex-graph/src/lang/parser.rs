//! What a parser of either language stands on.

use super::lexer::lex;
use super::{Bounds, Tok, Token, Word};
use crate::{Diagnostic, Span};

/// What was read, or what is wrong.
pub(crate) type Parsed<T> = Result<T, Diagnostic>;

/// A place in a text that has been cut up.
#[derive(Debug)]
pub(crate) struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    end: Token,
}

impl<'s> Parser<'s> {
    /// At the beginning of a text.
    pub(crate) fn new(source: &'s str, what: &str, bytes: usize) -> Result<Self, Vec<Diagnostic>> {
        Ok(Self::over(source, lex(source, what, bytes)?))
    }

    /// At the beginning of what has been cut up already.
    pub(crate) fn over(source: &'s str, tokens: Vec<Token>) -> Self {
        let end = tokens.last().map_or(0, |token| token.span.end);
        let end = Token { tok: Tok::End, span: Span::new(end, end) };
        Self { source, tokens, at: 0, depth: 0, end }
    }

    /// The text.
    pub(crate) const fn source(&self) -> &'s str {
        self.source
    }

    /// What was written in a part of it.
    pub(crate) fn written(&self, span: Span) -> &'s str {
        self.source.get(span.start..span.end).unwrap_or_default()
    }

    /// How far it is, to see whether anything was read.
    pub(crate) const fn place(&self) -> usize {
        self.at
    }

    fn token_at(&self, ahead: usize) -> &Token {
        self.tokens.get(self.at + ahead).unwrap_or(&self.end)
    }

    /// What comes next.
    pub(crate) fn peek(&self) -> &Tok {
        &self.token_at(0).tok
    }

    /// What comes after so many.
    pub(crate) fn ahead(&self, so_many: usize) -> &Tok {
        &self.token_at(so_many).tok
    }

    /// Where the next is.
    pub(crate) fn span(&self) -> Span {
        self.token_at(0).span
    }

    /// Where the last one was.
    pub(crate) fn before(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(self.end.span, |t| t.span)
    }

    /// From the beginning of a part to what was read last.
    pub(crate) fn since(&self, start: Span) -> Span {
        start.to(self.before())
    }

    /// On to the next.
    pub(crate) fn skip(&mut self) {
        self.at += 1;
    }

    /// Whether there is nothing more.
    pub(crate) fn at_end(&self) -> bool {
        *self.peek() == Tok::End
    }

    /// Whether this sign comes next.
    pub(crate) fn is(&self, sign: &str) -> bool {
        is_sign(self.peek(), sign)
    }

    /// Whether this sign comes after so many.
    pub(crate) fn is_ahead(&self, so_many: usize, sign: &str) -> bool {
        is_sign(self.ahead(so_many), sign)
    }

    /// Takes the sign if it comes next.
    pub(crate) fn eat(&mut self, sign: &str) -> bool {
        let there = self.is(sign);
        if there {
            self.skip();
        }
        there
    }

    /// Takes the sign, which must come next.
    pub(crate) fn expect(&mut self, sign: &str) -> Parsed<Span> {
        let span = self.span();
        if self.eat(sign) { Ok(span) } else { Err(self.wanted(&format!("`{sign}`"))) }
    }

    /// Whether this word comes next.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Tok::Name(name) if name == word)
    }

    /// Takes the word if it comes next.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let there = self.is_word(word);
        if there {
            self.skip();
        }
        there
    }

    /// Takes a name, which must come next.
    pub(crate) fn name(&mut self, what: &str) -> Parsed<Word> {
        let span = self.span();
        let Tok::Name(name) = self.peek() else { return Err(self.wanted(what)) };
        let name = name.clone();
        self.skip();
        Ok(Word { name, span })
    }

    /// Takes a text, which must come next.
    pub(crate) fn text(&mut self, what: &str) -> Parsed<String> {
        let Tok::Text(text) = self.peek() else { return Err(self.wanted(what)) };
        let text = text.clone();
        self.skip();
        Ok(text)
    }

    /// Over commas and semicolons, where they are a matter of taste.
    pub(crate) fn separators(&mut self) {
        while self.eat(",") || self.eat(";") {}
    }

    /// Items parted by commas up to this sign, which is taken too. A comma may end them.
    pub(crate) fn list<T>(
        &mut self,
        close: &str,
        (most, what): (usize, &str),
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.eat(close) {
            if items.len() == most {
                return Err(self.wrong(format!("there are more than {most} {what} here")));
            }
            items.push(item(self)?);
            if !self.eat(",") && !self.is(close) {
                return Err(self.wanted(&format!("`,` or `{close}`")));
            }
        }
        Ok(items)
    }

    /// One level deeper.
    pub(crate) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= Bounds::DEPTH {
            let message = format!("this is nested more than {} deep", Bounds::DEPTH);
            return Err(self.wrong(message));
        }
        self.depth += 1;
        let read = inner(self);
        self.depth -= 1;
        read
    }

    /// Something is wrong with what comes next.
    pub(crate) fn wrong(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::at(self.source, self.span(), message)
    }

    /// Something is wrong here.
    pub(crate) fn wrong_at(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::at(self.source, span, message)
    }

    /// Something else was wanted.
    pub(crate) fn wanted(&self, what: &str) -> Diagnostic {
        match self.peek() {
            Tok::End => self.wrong(format!("{what} is missing at the end")),
            _ => self.wrong(format!("{what} is expected here")),
        }
    }

    /// Forgets how deep it was: a declaration that went wrong is left.
    pub(crate) fn recover(&mut self, begins: impl Fn(&Self) -> bool) {
        self.depth = 0;
        while !self.at_end() && !begins(self) {
            self.skip();
        }
    }
}

fn is_sign(tok: &Tok, sign: &str) -> bool {
    matches!(tok, Tok::Sign(found) if *found == sign)
}
