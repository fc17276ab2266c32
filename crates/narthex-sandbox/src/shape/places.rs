//! Where a place of one text was in the text that it was made from.
//!
//! A program is made in steps (taken out of its fence, stripped of its types, edited), and each step
//! keeps its own [`Places`]. A place is walked back through them, last step first.

/// A line and a byte in it, both from 1: how QuickJS counts.
pub(super) type Place = (u32, u32);

/// The places of one step.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    /// In the order of where they are now.
    anchors: Vec<Anchor>,
    /// Whether the text was printed anew, so that a line without an anchor belongs to what stands
    /// before it; else such a line is the same line, untouched.
    printed: bool,
}

#[derive(Debug, Clone, Copy)]
struct Anchor {
    now: Place,
    was: Place,
    /// Whether what follows in this line was copied, and so moves along.
    copied: bool,
}

impl Places {
    /// Of a text that was printed anew.
    pub(super) fn printed() -> Self {
        Self { anchors: Vec::new(), printed: true }
    }

    /// From here on, the line is a copy of what was there.
    pub(super) fn copied(&mut self, now: Place, was: Place) {
        self.anchors.push(Anchor { now, was, copied: true });
    }

    /// From here on, the line stands for that one place.
    pub(super) fn stands_for(&mut self, now: Place, was: Place) {
        self.anchors.push(Anchor { now, was, copied: false });
    }

    /// Where this was.
    pub(super) fn back(&self, now: Place) -> Place {
        let after = self.anchors.partition_point(|anchor| anchor.now <= now);
        let before = after.checked_sub(1).and_then(|last| self.anchors.get(last));
        match before {
            Some(anchor) if anchor.now.0 == now.0 && anchor.copied => {
                (anchor.was.0, anchor.was.1.saturating_add(now.1.saturating_sub(anchor.now.1)))
            }
            Some(anchor) if anchor.now.0 == now.0 || self.printed => anchor.was,
            _ => now,
        }
    }
}

/// Where the lines of a text begin.
#[derive(Debug)]
pub(super) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self { starts: std::iter::once(0).chain(ends.map(|(end, _)| end + 1)).collect() }
    }

    /// The place of a byte.
    pub(super) fn place(&self, at: usize) -> Place {
        let line = self.starts.partition_point(|start| *start <= at).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or_default();
        (count(line), count(at - start + 1))
    }
}

/// A count as it is told to others. Texts are far smaller than its end.
pub(super) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Lines, Places};

    #[test]
    fn a_byte_has_a_place() {
        let lines = Lines::of("ab\n\ncd");
        let places: Vec<_> = (0..=6).map(|at| lines.place(at)).collect();
        assert_eq!(places, [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (3, 2), (3, 3)]);
        assert_eq!(Lines::of("").place(0), (1, 1));
    }

    #[test]
    fn a_line_without_an_anchor_is_itself_unless_it_was_printed() {
        let mut edited = Places::default();
        edited.stands_for((2, 1), (2, 1));
        edited.copied((2, 8), (2, 1));
        for (now, was) in [((1, 9), (1, 9)), ((2, 5), (2, 1)), ((2, 10), (2, 3)), ((3, 4), (3, 4))]
        {
            assert_eq!(edited.back(now), was);
        }
        let mut printed = Places::printed();
        printed.stands_for((1, 1), (7, 3));
        assert_eq!(printed.back((4, 4)), (7, 3));
    }
}
