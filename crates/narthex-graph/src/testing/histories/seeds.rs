//! What chance begins with.

use narthex_store::fresh_uuid;

/// One seed that is always the same and a fresh one, for this part of the histories; or the one that
/// `NARTHEX_SEED` says, for the first part, to play what failed once more.
#[expect(clippy::disallowed_methods, reason = "asked for by whoever runs the test")]
pub fn seeds(part: u64) -> Vec<u64> {
    let said = std::env::var("NARTHEX_SEED").ok().and_then(|text| text.parse().ok());
    match said {
        Some(seed) if part == 1 => vec![seed],
        Some(_) => Vec::new(),
        None => vec![part, fresh_uuid().as_u64_pair().1],
    }
}

/// How many histories to play, all in all: as many as `NARTHEX_HISTORIES` says, or these.
#[expect(clippy::disallowed_methods, reason = "asked for by whoever runs the test")]
pub fn cases(unless_said: u32) -> u32 {
    let said = std::env::var("NARTHEX_HISTORIES").ok().and_then(|text| text.parse().ok());
    said.unwrap_or(unless_said)
}

/// A seed as a generator takes it.
pub fn seed_bytes(seed: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (place, byte) in bytes.iter_mut().zip(seed.to_le_bytes().into_iter().cycle()) {
        *place = byte;
    }
    bytes
}
