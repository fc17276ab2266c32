//! Words, numbers, texts and signs, each with where it is.

use super::{Bounds, Problems};
use crate::{Diagnostic, Span};

/// One of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tok {
    /// `match`, `Person`.
    Name(String),
    /// `$p`, without the `$`.
    Var(String),
    /// `@key`, without the `@`.
    Note(String),
    /// A whole number; its sign is a sign of its own.
    Int(i128),
    /// A number with a point or an exponent.
    Float(f64),
    /// A text, its escapes undone.
    Text(String),
    /// Anything else there is.
    Sign(&'static str),
    /// There is no more.
    End,
}

/// One of them with where it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) tok: Tok,
    /// Where it is.
    pub(crate) span: Span,
}

/// Cuts a text up. `what` it is and how long it may be are for the message.
pub(crate) fn lex(source: &str, what: &str, bytes: usize) -> Result<Vec<Token>, Vec<Diagnostic>> {
    if source.len() > bytes {
        let whole = Span::new(0, 0);
        let message = format!("{what} is {} bytes long; {bytes} is the most", source.len());
        return Err(vec![Diagnostic::at("", whole, message)]);
    }
    let mut lexer = Lexer { source, at: 0, problems: Problems::new(source) };
    let mut tokens = Vec::new();
    while !lexer.problems.is_full() {
        lexer.skip();
        let start = lexer.at;
        let Some(first) = lexer.peek() else { break };
        if let Some(tok) = lexer.token(first) {
            tokens.push(Token { tok, span: Span::new(start, lexer.at) });
        }
    }
    lexer.problems.unless(|| tokens)
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    problems: Problems<'s>,
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes what goes on like this.
    fn take(&mut self, like: impl Fn(char) -> bool) -> &'s str {
        let rest = self.rest();
        let end = rest.find(|c| !like(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// Over spaces and comments.
    fn skip(&mut self) {
        loop {
            self.take(|c| c.is_whitespace() || c == '\u{feff}');
            let rest = self.rest();
            if rest.starts_with("//") {
                self.take(|c| c != '\n');
            } else if rest.starts_with("/*") {
                // Its end is after its beginning: `/*/` is no comment yet.
                let Some(end) = rest.get(2..).and_then(|rest| rest.find("*/")) else {
                    self.problems.say(Span::new(self.at, self.at + 2), "this comment does not end");
                    self.at = self.source.len();
                    return;
                };
                self.at += end + 4;
            } else {
                return;
            }
        }
    }

    /// What begins with this character. None: it was wrong, and that has been said.
    fn token(&mut self, first: char) -> Option<Tok> {
        match first {
            'a'..='z' | 'A'..='Z' | '_' => self.word(self.at).map(Tok::Name),
            '$' => self.marked("a variable is `$` and a name").map(Tok::Var),
            '@' => self.marked("an annotation is `@` and a name").map(Tok::Note),
            '0'..='9' => self.number(),
            '"' | '\'' => self.text(first),
            _ => self.sign(first),
        }
    }

    /// A word that begins here, though what it belongs to may have begun earlier.
    fn word(&mut self, start: usize) -> Option<String> {
        let word = self.take(|c| c.is_ascii_alphanumeric() || c == '_');
        let span = Span::new(start, self.at);
        if word.len() > Bounds::NAME_BYTES {
            self.problems.say(span, format!("a name has at most {} letters", Bounds::NAME_BYTES));
            return None;
        }
        Some(word.to_owned())
    }

    fn marked(&mut self, what: &str) -> Option<String> {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            Some(first) if first.is_ascii_alphabetic() || first == '_' => self.word(start),
            _ => {
                self.problems.say(Span::new(start, self.at), what);
                None
            }
        }
    }

    fn number(&mut self) -> Option<Tok> {
        let start = self.at;
        self.take(|c| c.is_ascii_digit());
        let mut whole = true;
        // `0..5` is a range, not a number with a point.
        if self
            .rest()
            .strip_prefix('.')
            .is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()))
        {
            whole = false;
            self.at += 1;
            self.take(|c| c.is_ascii_digit());
        }
        if self.rest().starts_with(['e', 'E']) {
            whole = false;
            self.at += 1;
            if self.rest().starts_with(['+', '-']) {
                self.at += 1;
            }
            self.take(|c| c.is_ascii_digit());
        }
        let stray = self.take(|c| c.is_alphanumeric() || c == '_');
        let span = Span::new(start, self.at);
        let written = self.source.get(start..self.at).unwrap_or_default();
        if !stray.is_empty() {
            self.problems.say(span, "a number ends where its digits do");
            return None;
        }
        let read = if whole {
            written.parse().ok().map(Tok::Int)
        } else {
            written.parse().ok().filter(|n: &f64| n.is_finite()).map(Tok::Float)
        };
        if read.is_none() {
            self.problems.say(span, "this is no number, or too big a one");
        }
        read
    }

    fn text(&mut self, quote: char) -> Option<Tok> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            text.push_str(self.take(|c| c != quote && c != '\\' && c != '\n'));
            match self.peek() {
                Some('\\') => text.push(self.escape()?),
                Some(end) if end == quote => break,
                _ => {
                    let problem =
                        self.problems.at(Span::new(start, self.at), "this text does not end");
                    self.problems
                        .add(problem.help("a text is in quotes, on one line; `\\n` breaks it"));
                    return None;
                }
            }
        }
        self.at += 1;
        Some(Tok::Text(text))
    }

    /// What an escape stands for. Not one: the text is left at once.
    fn escape(&mut self) -> Option<char> {
        let start = self.at;
        self.at += 1;
        let letter = self.peek();
        self.at += letter.map_or(0, char::len_utf8);
        let meant = match letter {
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some('r') => Some('\r'),
            Some('0') => Some('\0'),
            Some(same @ ('"' | '\'' | '\\' | '/')) => Some(same),
            Some('u') => self.code_point(),
            _ => None,
        };
        if meant.is_none() {
            let problem = self.problems.at(Span::new(start, self.at), "this is no escape");
            self.problems.add(
                problem.help("there are \\n \\t \\r \\0 \\\" \\' \\\\ \\/ \\u00e9 \\u{1f600}"),
            );
            self.leave_text();
        }
        meant
    }

    /// `00e9` or `{1f600}`.
    fn code_point(&mut self) -> Option<char> {
        let rest = self.rest();
        let (digits, length) = match rest.strip_prefix('{') {
            Some(inner) => {
                let end = inner.char_indices().take(8).find(|(_, c)| *c == '}')?.0;
                (inner.get(..end)?, end + 2)
            }
            None => (rest.get(..4)?, 4),
        };
        let good = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let found = char::from_u32(u32::from_str_radix(digits, 16).ok().filter(|_| good)?)?;
        self.at += length;
        Some(found)
    }

    /// To the end of the line: what follows a broken text would only be misread.
    fn leave_text(&mut self) {
        self.take(|c| c != '\n');
    }

    fn sign(&mut self, first: char) -> Option<Tok> {
        let rest = self.rest();
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            self.at += sign.len();
            return Some(Tok::Sign(sign));
        }
        let start = self.at;
        // One problem for a run of them.
        self.take(|c| !c.is_ascii() || c == first);
        let problem =
            self.problems.at(Span::new(start, self.at), format!("`{first}` means nothing here"));
        self.problems.add(if first.is_alphabetic() {
            problem.help("names are made of a-z, A-Z, 0-9 and _")
        } else {
            problem
        });
        None
    }
}

/// Longer ones first.
const SIGNS: [&str; 26] = [
    "..", "->", "==", "!=", "<>", "<=", ">=", "{", "}", "(", ")", "[", "]", ",", ";", ":", ".",
    "?", "=", "<", ">", "+", "-", "*", "/", "%",
];
