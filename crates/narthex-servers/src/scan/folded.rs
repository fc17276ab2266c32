//! Text as a model may read it: without what nobody sees, in plain small letters.

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkd_quick};

use crate::text::unseen;

/// A text in the form that phrases are looked for in: hidden characters and marks gone, look-alike
/// letters made Latin, small letters, emphasis gone, one blank between words.
pub(super) fn fold(text: &str) -> String {
    let mut folder = Folder::new(text.len());
    for c in text.chars() {
        folder.push(c);
    }
    folder.out
}

/// The part of a text that a part of its folded form came from, with what stands around it.
pub(super) fn around(text: &str, start: usize, end: usize) -> &str {
    let mut folder = Folder::new(text.len());
    let (mut from, mut to) = (text.len(), text.len());
    for (at, c) in text.char_indices() {
        if folder.out.len() <= start {
            from = at;
        }
        if folder.out.len() >= end {
            to = at;
            break;
        }
        folder.push(c);
    }
    let from = back(text, from, AROUND);
    let to = forward(text, to, AROUND);
    text.get(from..to).unwrap_or_default()
}

fn back(text: &str, from: usize, chars: usize) -> usize {
    let before = text.get(..from).unwrap_or_default();
    before.char_indices().rev().take(chars).last().map_or(from, |(at, _)| at)
}

fn forward(text: &str, from: usize, chars: usize) -> usize {
    let after = text.get(from..).unwrap_or_default();
    after.char_indices().nth(chars).map_or(text.len(), |(at, _)| from + at)
}

struct Folder {
    out: String,
}

impl Folder {
    fn new(size: usize) -> Self {
        Self { out: String::with_capacity(size) }
    }

    fn push(&mut self, c: char) {
        if c.is_ascii() {
            self.letter(c.to_ascii_lowercase());
            return;
        }
        if unseen(c).is_some() {
            return;
        }
        if let Some(latin) = look_alike(c) {
            self.letter(latin);
            return;
        }
        // Most letters are made of nothing else, and taking them apart is what costs.
        if is_nfkd_quick(std::iter::once(c)) == IsNormalized::Yes {
            self.part(c);
            return;
        }
        std::iter::once(c).nfkd().for_each(|part| self.part(part));
    }

    fn part(&mut self, c: char) {
        if is_combining_mark(c) {
            return;
        }
        for small in c.to_lowercase() {
            self.letter(look_alike(small).unwrap_or(small));
        }
    }

    fn letter(&mut self, c: char) {
        match c {
            '*' | '`' | '~' => {}
            '_' | '-' => self.blank(),
            c if c.is_whitespace() => self.blank(),
            c if c.is_control() => {}
            '\u{2018}' | '\u{2019}' | '\u{2bc}' => self.out.push('\''),
            c => self.out.push(c),
        }
    }

    fn blank(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with(' ') {
            self.out.push(' ');
        }
    }
}

/// Letters of other alphabets that pass for Latin ones.
pub(super) const fn look_alike(c: char) -> Option<char> {
    Some(match c {
        'а' | 'А' | 'α' | 'Α' | 'ɑ' => 'a',
        'В' | 'Β' | 'в' => 'b',
        'с' | 'С' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'Е' | 'Ε' | 'ε' => 'e',
        'ɡ' => 'g',
        'һ' | 'Н' | 'Η' | 'н' => 'h',
        'і' | 'І' | 'ι' | 'Ι' | 'ı' => 'i',
        'ј' | 'Ј' => 'j',
        'к' | 'К' | 'κ' | 'Κ' => 'k',
        'ӏ' | 'Ӏ' => 'l',
        'М' | 'Μ' | 'м' => 'm',
        'Ν' | 'п' => 'n',
        'о' | 'О' | 'ο' | 'Ο' | 'σ' => 'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' | 'Ѕ' => 's',
        'Т' | 'Τ' | 'т' | 'τ' => 't',
        'υ' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'Х' | 'Χ' | 'χ' => 'x',
        'у' | 'У' | 'Υ' | 'ү' => 'y',
        'Ζ' => 'z',
        _ => return None,
    })
}

const AROUND: usize = 40;

#[cfg(test)]
mod tests {
    use super::{around, fold};

    #[test]
    fn what_is_spelled_oddly_reads_plainly() {
        for (text, folded) in [
            ("Ignore  ALL\n\nprevious", "ignore all previous"),
            ("ig\u{200b}no\u{e0041}re", "ignore"),
            ("\u{456}gn\u{43e}r\u{435}", "ignore"),
            ("\u{ff29}\u{ff47}nore", "ignore"),
            ("\u{1d422}\u{1d420}nore", "ignore"),
            ("\u{ef}gn\u{f6}re", "ignore"),
            ("**ig**`nore`", "ignore"),
            ("do_not-tell", "do not tell"),
            ("don\u{2019}t", "don't"),
            ("\u{65e5}\u{672c}", "\u{65e5}\u{672c}"),
        ] {
            assert_eq!(fold(text), folded, "{text:?}");
        }
    }

    #[test]
    fn what_was_found_is_shown_as_it_stood() {
        let text = "First. Ig\u{200b}nore it. Last.";
        let folded = fold(text);
        let start = folded.find("ignore").unwrap();
        let shown = around(text, start, start + 6);
        assert!(shown.contains("Ig\u{200b}nore"), "{shown}");
        assert_eq!(around("", 0, 0), "");
        let long = format!("{}ignore{}", "a ".repeat(1_000), " b".repeat(1_000));
        let start = fold(&long).find("ignore").unwrap();
        assert!(around(&long, start, start + 6).len() < 120);
    }
}
