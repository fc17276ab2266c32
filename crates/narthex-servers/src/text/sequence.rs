//! Where a terminal's control sequence ends (ECMA-48).

/// Finds sequences in one text, each byte looked at a bounded number of times.
#[derive(Debug, Default)]
pub(super) struct Sequences {
    /// No string terminator follows any more: it was looked for and not found.
    unterminated: bool,
}

impl Sequences {
    /// How many bytes of `text`, which starts with ESC or a C1 control, are one sequence. One that
    /// has no end is only its introducer: what follows stays to be read.
    pub(super) fn length(&mut self, text: &str) -> usize {
        let mut chars = text.char_indices();
        let (kind, start) = match chars.next() {
            Some((_, '\u{1b}')) => match chars.next() {
                Some((_, c)) => (c, 1 + c.len_utf8()),
                None => return 1,
            },
            // C1: the same in one character, 0x40 above.
            Some((_, c @ '\u{80}'..='\u{9f}')) => {
                (char::from_u32(c as u32 - 0x40).unwrap_or('@'), c.len_utf8())
            }
            Some((_, c)) => return c.len_utf8(),
            None => return 0,
        };
        let rest = text.get(start..).unwrap_or_default();
        match kind {
            '[' => start + control_sequence(rest),
            ']' | 'P' | 'X' | '^' | '_' => start + self.string(rest),
            ' '..='/' => start + with_intermediates(rest),
            '0'..='~' => start,
            // ESC before something that is no part of a sequence.
            _ => text.chars().next().map_or(0, char::len_utf8),
        }
    }

    /// Up to BEL, ESC \ or ST, which belong to it. Another ESC breaks it off: then it has no end.
    fn string(&mut self, text: &str) -> usize {
        if self.unterminated {
            return 0;
        }
        for (at, c) in text.char_indices() {
            match c {
                '\u{7}' | '\u{9c}' => return at + c.len_utf8(),
                '\u{1b}' => {
                    let closes = text.get(at + 1..).is_some_and(|rest| rest.starts_with('\\'));
                    return if closes { at + 2 } else { 0 };
                }
                _ => {}
            }
        }
        self.unterminated = true;
        0
    }
}

/// Parameters, intermediates and a final byte; nothing of it if they are not all there.
fn control_sequence(text: &str) -> usize {
    let bytes = text.as_bytes();
    let run = |from: usize, low: u8, high: u8| {
        let rest = bytes.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|b| (low..=high).contains(b)).count()
    };
    let end = run(run(0, b'0', b'?'), b' ', b'/');
    match bytes.get(end) {
        Some(b'@'..=b'~') => end + 1,
        _ => 0,
    }
}

fn with_intermediates(text: &str) -> usize {
    let bytes = text.as_bytes();
    let end = bytes.iter().take_while(|b| (b' '..=b'/').contains(b)).count();
    match bytes.get(end) {
        Some(b'0'..=b'~') => end + 1,
        _ => 0,
    }
}
