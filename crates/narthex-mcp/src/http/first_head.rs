//! A NUL in a header is no HTTP, and the parser below would answer a bare 400 to it. In a
//! credential it is an attack on whoever cuts text at a NUL, and gets what every bad credential
//! gets: so it is read as a byte that may stand in a header's value and in no token.

/// Watches the head of a connection's first request. Later ones are the parser's alone.
#[derive(Debug, Default)]
pub(super) struct FirstHead {
    /// How much of the blank line that ends a head has been seen.
    ended: usize,
}

impl FirstHead {
    /// Takes the next bytes of the connection, in place.
    pub(super) fn watch(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            if self.ended == END.len() {
                return;
            }
            self.ended = match END.get(self.ended) {
                Some(expected) if expected == byte => self.ended + 1,
                _ => usize::from(*byte == b'\r'),
            };
            if *byte == 0 {
                *byte = NO_TOKEN_BYTE;
            }
        }
    }
}

const END: &[u8] = b"\r\n\r\n";
/// Opaque text in a header's value (RFC 9110), refused in a name, a length or a token.
const NO_TOKEN_BYTE: u8 = 0xff;

#[cfg(test)]
mod tests {
    use super::FirstHead;

    #[test]
    fn only_the_first_head_is_touched_however_it_is_cut() {
        let sent = b"P /\0 H\r\na: \0\r\n\r\r\n\r\nbody \0\r\n\r\n\0";
        let expected = b"P /\xff H\r\na: \xff\r\n\r\r\n\r\nbody \0\r\n\r\n\0";
        for size in 1..=sent.len() {
            let mut head = FirstHead::default();
            let mut bytes = sent.to_vec();
            bytes.chunks_mut(size).for_each(|piece| head.watch(piece));
            assert_eq!(bytes, expected, "cut at {size}");
        }
    }
}
