//! A search query, read once and the same way for every back end. Whatever is in it is text.

use narthex_core::Bound;

/// One thing to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Term {
    /// A word.
    Word(String),
    /// The beginning of a word, written `word*`.
    Prefix(String),
    /// Words in this order, written `"some words"`.
    Phrase(Vec<String>),
}

/// What to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    terms: Vec<Term>,
}

impl SearchQuery {
    /// Reads a query. Quotes make phrases and a trailing `*` a prefix; everything else, the
    /// operators of any query language included, is a word to look for or is passed over.
    pub fn parse(text: &str) -> Self {
        let text: String = text.chars().take(Bound::QUERY_CHARS).collect();
        let mut terms = Vec::new();
        for (n, part) in text.split('"').enumerate() {
            if n % 2 == 1 {
                let words = words(part);
                if !words.is_empty() {
                    terms.push(Term::Phrase(words));
                }
            } else {
                terms.extend(part.split_whitespace().flat_map(bare));
            }
        }
        terms.truncate(MAX_TERMS);
        Self { terms }
    }

    /// What to look for; empty if there was nothing to look for in the text.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }
}

fn bare(word: &str) -> Vec<Term> {
    let mut parts: Vec<Term> = words(word).into_iter().map(Term::Word).collect();
    if word.ends_with('*')
        && let Some(Term::Word(last)) = parts.pop()
    {
        parts.push(Term::Prefix(last));
    }
    parts
}

/// The runs of letters and digits (with the marks that belong to them).
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric() && !is_mark(c))
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .map(str::to_owned)
        .collect()
}

/// Combining marks continue a letter.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036F}' | '\u{0591}'..='\u{05C7}' | '\u{064B}'..='\u{065F}' | '\u{093A}'..='\u{094F}' | '\u{0E31}'..='\u{0E4E}')
}

/// Terms looked for at once.
const MAX_TERMS: usize = 32;

#[cfg(test)]
mod tests {
    use super::{SearchQuery, Term};

    #[test]
    fn whatever_is_in_it_is_text() {
        let word = |w: &str| Term::Word(w.into());
        for (text, expected) in [
            ("hello world", vec![word("hello"), word("world")]),
            (
                "\"hello world\" x",
                vec![Term::Phrase(vec!["hello".into(), "world".into()]), word("x")],
            ),
            ("pre*", vec![Term::Prefix("pre".into())]),
            ("a OR b", vec![word("a"), word("OR"), word("b")]),
            ("title:secret", vec![word("title"), word("secret")]),
            ("NEAR(a b, 2)", vec![word("NEAR"), word("a"), word("b"), word("2")]),
            ("\" OR 1=1 --", vec![Term::Phrase(vec!["OR".into(), "1".into(), "1".into()])]),
            ("'; DROP TABLE pages;--", vec![word("DROP"), word("TABLE"), word("pages")]),
            ("* ^ - + ( ) { } : \"\" \0", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(SearchQuery::parse(text).terms(), expected, "{text:?}");
        }
    }

    #[test]
    fn long_queries_are_cut() {
        assert!(SearchQuery::parse(&"ab ".repeat(10_000)).terms().len() <= 32);
    }
}
