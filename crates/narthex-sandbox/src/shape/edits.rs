//! Changes to a text that leave its lines where they are.

use super::places::{Lines, Place, Places, count};

/// What is to be changed, in any order. No two changes overlap.
#[derive(Debug, Default)]
pub(super) struct Edits {
    edits: Vec<Edit>,
}

#[derive(Debug)]
struct Edit {
    start: usize,
    end: usize,
    text: String,
}

impl Edits {
    /// Put this here.
    pub(super) fn insert(&mut self, at: usize, text: &str) {
        self.edits.push(Edit { start: at, end: at, text: text.to_owned() });
    }

    /// Put this in place of that, which has no line end in it.
    pub(super) fn replace(&mut self, start: usize, end: usize, text: &str) {
        self.edits.push(Edit { start, end, text: text.to_owned() });
    }

    /// Put this in place of that, and blanks for the rest of it. What follows keeps its place as long
    /// as the new text is not longer than the first line of the old one.
    pub(super) fn blank(&mut self, source: &str, start: usize, end: usize, text: &str) {
        let old = source.get(start..end).unwrap_or_default();
        let mut made = String::with_capacity(old.len().max(text.len()));
        made.push_str(text);
        let mut covered = text.len();
        for c in old.chars() {
            if c == '\n' || c == '\r' {
                made.push(c);
                covered = 0;
                continue;
            }
            for _ in 0..c.len_utf8() {
                match covered.checked_sub(1) {
                    Some(left) => covered = left,
                    None => made.push(' '),
                }
            }
        }
        self.edits.push(Edit { start, end, text: made });
    }

    /// The text with the changes, between what is put before its first line, on that line, and what
    /// is put after its end.
    pub(super) fn apply(mut self, source: &str, head: &str, tail: &str) -> (String, Places) {
        self.edits.sort_by_key(|edit| (edit.start, edit.end));
        let lines = Lines::of(source);
        let mut made = Made::default();
        let mut at = 0;
        if !head.is_empty() {
            made.put(head, (1, 1));
            made.places.copied(made.end, (1, 1));
        }
        for edit in &self.edits {
            made.copy(source.get(at..edit.start).unwrap_or_default());
            made.put(&edit.text, lines.place(edit.start));
            made.places.copied(made.end, lines.place(edit.end));
            at = edit.end;
        }
        made.copy(source.get(at..).unwrap_or_default());
        if !tail.is_empty() {
            let end = lines.place(source.len());
            for line in tail.split_inclusive('\n') {
                made.put(line, end);
            }
        }
        (made.text, made.places)
    }
}

/// The text as far as it is made.
#[derive(Debug)]
struct Made {
    text: String,
    end: Place,
    places: Places,
}

impl Default for Made {
    fn default() -> Self {
        Self { text: String::new(), end: (1, 1), places: Places::default() }
    }
}

impl Made {
    /// What was not there.
    fn put(&mut self, text: &str, was: Place) {
        self.places.stands_for(self.end, was);
        self.copy(text);
    }

    /// What was there.
    fn copy(&mut self, text: &str) {
        self.text.push_str(text);
        let ends = text.bytes().filter(|byte| *byte == b'\n').count();
        let last = text.rsplit('\n').next().unwrap_or_default();
        let column = if ends == 0 { self.end.1 } else { 1 };
        self.end = (self.end.0 + count(ends), column + count(last.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::Edits;

    #[test]
    fn what_is_untouched_is_found_where_it_was() {
        let source = "import a\n from 'b'; c\nd e";
        let mut edits = Edits::default();
        edits.blank(source, 0, 19, ";");
        edits.insert(24, "return ");
        let (made, places) = edits.apply(source, "head;", "\ntail");
        assert_eq!(made, "head;;       \n           c\nd return e\ntail");
        for (now, was) in [
            ((1, 3), (1, 1)),
            ((2, 12), (2, 12)),
            ((3, 1), (3, 1)),
            ((3, 5), (3, 3)),
            ((3, 10), (3, 3)),
            ((4, 2), (3, 4)),
        ] {
            assert_eq!(places.back(now), was, "{now:?}");
        }
    }

    #[test]
    fn a_longer_text_pushes_only_its_own_line() {
        let source = "ab\ncd ef";
        let mut edits = Edits::default();
        edits.blank(source, 0, 5, "longer=");
        let (made, places) = edits.apply(source, "", "");
        assert_eq!(made, "longer=\n   ef");
        assert_eq!(places.back((2, 4)), (2, 4));
    }
}
