//! Signed notes and the checkpoints in them, read strictly.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest as _, Sha256};

use crate::hash::{Hash, hex, unhex_hash};

/// The public key of a house: `name+hash+base64(0x01 ‖ key)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    name: String,
    mark: [u8; 4],
    key: VerifyingKey,
}

/// A text is no public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is not a public key of the form name+hash+base64")]
pub struct NoKey;

/// What a signed checkpoint says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    /// How many records it covers.
    pub size: u64,
    /// The root of the tree over them.
    pub root: Hash,
    /// The chain's value at the last of them.
    pub chain: Hash,
}

/// Which of the two kinds of note it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A checkpoint.
    Checkpoint,
    /// What stands for records that were taken out.
    Base,
}

impl PublicKey {
    /// What notes call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads a checkpoint that this key signed, or says why it is none.
    pub fn checkpoint(&self, note: &str) -> Result<Checkpoint, &'static str> {
        self.read(note, Kind::Checkpoint)
    }

    pub(crate) fn read(&self, note: &str, kind: Kind) -> Result<Checkpoint, &'static str> {
        let text = self.open(note)?;
        let origin = match kind {
            Kind::Checkpoint => self.name.clone(),
            Kind::Base => format!("{}/base", self.name),
        };
        parse(text, &origin).ok_or("its text is of another form")
    }

    fn open<'a>(&self, note: &'a str) -> Result<&'a str, &'static str> {
        if note.len() > MOST_BYTES || note.bytes().any(|byte| byte < b' ' && byte != b'\n') {
            return Err(NO_NOTE);
        }
        let end = note.rfind("\n\n").ok_or(NO_NOTE)?;
        let (text, lines) = note.split_at_checked(end + 1).ok_or(NO_NOTE)?;
        let lines = lines.strip_prefix('\n').and_then(|lines| lines.strip_suffix('\n'));
        let mut signature = None;
        for line in lines.ok_or(NO_NOTE)?.split('\n') {
            let line = line.strip_prefix("\u{2014} ").ok_or(NO_NOTE)?;
            let (name, signed) = line.split_once(' ').ok_or(NO_NOTE)?;
            let signed = STANDARD.decode(signed).map_err(|_| NO_NOTE)?;
            let (mark, bytes) = signed.split_first_chunk::<4>().ok_or(NO_NOTE)?;
            if name == self.name && *mark == self.mark {
                signature = Some(Signature::from_slice(bytes).map_err(|_| NO_NOTE)?);
            }
        }
        let signature = signature.ok_or("it is signed with another key")?;
        let genuine = self.key.verify_strict(text.as_bytes(), &signature);
        genuine.map(|()| text).map_err(|_| "its signature does not match its text")
    }
}

impl FromStr for PublicKey {
    type Err = NoKey;

    fn from_str(text: &str) -> Result<Self, NoKey> {
        let mut parts = text.trim_end_matches('\n').splitn(3, '+');
        let (Some(name), Some(mark), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(NoKey);
        };
        let named = !name.is_empty() && name.len() <= MOST_NAME;
        if !named || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(NoKey);
        }
        let bytes = STANDARD.decode(key).map_err(|_| NoKey)?;
        let Some((&ED25519, key)) = bytes.split_first() else { return Err(NoKey) };
        let key = VerifyingKey::from_bytes(key.try_into().map_err(|_| NoKey)?);
        let key = key.map_err(|_| NoKey)?;
        let hash = Sha256::new().chain_update(name).chain_update(b"\n").chain_update(&bytes);
        let hash: Hash = hash.finalize().into();
        let mark_of_key = hash.first_chunk().copied().unwrap_or_default();
        let read = Self { name: name.to_owned(), mark: mark_of_key, key };
        if key.is_weak() || hex(&read.mark) != mark { Err(NoKey) } else { Ok(read) }
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = [&[ED25519], self.key.as_bytes().as_slice()].concat();
        write!(f, "{}+{}+{}", self.name, hex(&self.mark), STANDARD.encode(key))
    }
}

/// There is one way to write a checkpoint; anything else is none.
fn parse(text: &str, origin: &str) -> Option<Checkpoint> {
    let mut lines = text.strip_suffix('\n')?.split('\n');
    if lines.next()? != origin {
        return None;
    }
    let digits = lines.next()?;
    let size: u64 = digits.parse().ok()?;
    let encoded = lines.next()?;
    let root: Hash = STANDARD.decode(encoded).ok()?.try_into().ok()?;
    let chain = unhex_hash(lines.next()?.strip_prefix("chain ")?)?;
    let exact = size.to_string() == digits && STANDARD.encode(root) == encoded;
    (exact && lines.next().is_none()).then_some(Checkpoint { size, root, chain })
}

const ED25519: u8 = 1;
const MOST_BYTES: usize = 16 * 1024;
const MOST_NAME: usize = 128;
const NO_NOTE: &str = "it is not a signed note";
