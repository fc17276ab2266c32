//! Text as words, for searching: the same folding for what is stored and what is looked for.
//!
//! Words are what is left between everything that is no letter or digit, in lower case, in
//! compatibility decomposition, without marks: `Ångström` is `angstrom`, `ﬁne` is `fine`. Scripts
//! that put no space between words are split into their characters, so that a part of a sentence is
//! found.

use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// The words of a text, in their order, at most [`MAX_WORDS`].
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let folded = text.nfkd().flat_map(char::to_lowercase).filter(|c| !is_combining_mark(*c));
    for c in folded {
        if words.len() >= MAX_WORDS {
            return words;
        }
        let alone = stands_alone(c);
        if (alone || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if alone {
            words.push(c.to_string());
        } else if c.is_alphanumeric() && word.len() < MAX_WORD_BYTES {
            word.push(c);
        }
    }
    if !word.is_empty() && words.len() < MAX_WORDS {
        words.push(word);
    }
    words
}

/// What is looked for: each word once, at most [`MAX_QUERY_WORDS`].
pub fn query_words(query: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut found = words(query);
    found.retain(|word| seen.insert(word.clone()));
    found.truncate(MAX_QUERY_WORDS);
    found
}

/// Whether a text has all the words of a query, each as a whole. A query without words finds
/// nothing.
pub fn matches_all(text: &str, query: &str) -> bool {
    let there: HashSet<String> = words(text).into_iter().collect();
    let wanted = query_words(query);
    !wanted.is_empty() && wanted.iter().all(|word| there.contains(word))
}

/// Whether a text has all the words of a query, each within a typing error or two.
pub fn fuzzy_all(text: &str, query: &str) -> bool {
    let there: HashSet<String> = words(text).into_iter().collect();
    let wanted = query_words(query);
    let near = |word: &String| there.contains(word) || there.iter().any(|has| fuzzy(has, word));
    !wanted.is_empty() && wanted.iter().all(near)
}

/// Whether two folded words are the same but for typing errors: none in up to three letters, one in
/// up to seven, two in more. Two neighbours changed about are one.
pub fn fuzzy(word: &str, wanted: &str) -> bool {
    if word == wanted {
        return true;
    }
    let (long, wanted_long) = (word.chars().count(), wanted.chars().count());
    let errors = match wanted_long.min(long) {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    };
    errors > 0
        && long.abs_diff(wanted_long) <= errors
        && strsim::osa_distance(word, wanted) <= errors
}

/// Han and kana: a character is as good as a word.
const fn stands_alone(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3fffd}')
        && !matches!(c, '\u{3099}'..='\u{30a0}' | '\u{30fb}')
}

/// Words of one text that can be found; those after them cannot.
pub const MAX_WORDS: usize = 20_000;
/// Words of one query.
pub const MAX_QUERY_WORDS: usize = 32;
/// What of a word counts, about: it ends with the character that reaches this.
const MAX_WORD_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use super::{
        MAX_QUERY_WORDS, MAX_WORD_BYTES, MAX_WORDS, fuzzy, fuzzy_all, matches_all, query_words,
        words,
    };
    use proptest::prelude::*;

    #[test]
    fn words_are_folded_and_split() {
        for (text, expected) in [
            ("", &[][..]),
            ("  --  ", &[]),
            ("Hello, World!", &["hello", "world"]),
            ("Ångström's ﬁne Café", &["angstrom", "s", "fine", "cafe"]),
            ("e\u{301}te\u{301}", &["ete"]),
            ("İstanbul", &["istanbul"]),
            ("foo_bar-baz42", &["foo", "bar", "baz42"]),
            ("ΣΊΣΥΦΟΣ", &["σισυφοσ"]),
            ("１２ Ⅳ ²", &["12", "iv", "2"]),
            ("東京 tower", &["東", "京", "tower"]),
            ("カ゛x", &["カ", "x"]),
            ("a\0b", &["a", "b"]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn everything_has_an_end() {
        assert_eq!(words(&"a ".repeat(MAX_WORDS + 5)).len(), MAX_WORDS);
        assert_eq!(words(&"東".repeat(MAX_WORDS + 5)).len(), MAX_WORDS);
        assert!(words(&"é".repeat(100_000))[0].len() <= MAX_WORD_BYTES + 4);
        let many: Vec<String> = (0..100).map(|n| format!("w{n}")).collect();
        assert_eq!(query_words(&many.join(" ")).len(), MAX_QUERY_WORDS);
        assert_eq!(query_words("b a b A"), ["b", "a"]);
    }

    #[test]
    fn all_the_words_must_be_there_as_wholes() {
        for (text, query, expected) in [
            ("The quick brown fox", "FOX quick", true),
            ("The quick brown fox", "quic", false),
            ("The quick brown fox", "quick cat", false),
            ("The quick brown fox", "", false),
            ("The quick brown fox", "…", false),
            ("", "x", false),
        ] {
            assert_eq!(matches_all(text, query), expected, "{text} / {query}");
        }
        assert!(fuzzy_all("The quick brown fox", "quikc borwn"));
        assert!(!fuzzy_all("The quick brown fox", "quikc cat"));
        assert!(!fuzzy_all("The quick brown fox", " "));
    }

    #[test]
    fn errors_are_forgiven_by_length() {
        for (word, wanted, expected) in [
            ("cat", "cat", true),
            ("cat", "cut", false),
            ("cats", "cat", false),
            ("anna", "anan", true),
            ("graph", "grpah", true),
            ("graph", "grap", true),
            ("graph", "grxxh", false),
            ("database", "dtaabase", true),
            ("database", "dtabsae", false),
            ("database", "datavasse", true),
            ("database", "xxxabase", false),
        ] {
            assert_eq!(fuzzy(word, wanted), expected, "{word} {wanted}");
            assert_eq!(fuzzy(wanted, word), expected, "{wanted} {word}");
        }
    }

    proptest! {
        #[test]
        fn folding_again_changes_nothing(text in "\\PC{0,40}") {
            let once = words(&text);
            prop_assert!(once.iter().all(|word| !word.is_empty() && !word.contains(' ')));
            prop_assert_eq!(words(&once.join(" ")), once);
        }
    }
}
