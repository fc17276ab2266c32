//! Signed notes (C2SP signed-note): a text, an empty line, and lines that sign the text.
//!
//! A signature line is `— <key name> base64(key hash ‖ signature)`, where the key hash are the
//! first four bytes of `SHA-256(name ‖ "\n" ‖ 0x01 ‖ public key)`. The public key is written as
//! `name+hash+base64(0x01 ‖ public key)` (a "vkey"), so that any reader of notes can check ours.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use sha2::{Digest as _, Sha256};

/// The key checkpoints are signed with.
#[derive(Clone)]
pub struct SealKey {
    secret: SigningKey,
    public: PublicKey,
}

/// Its public half, with the name that notes call it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    name: String,
    key: VerifyingKey,
}

/// A note, or a key, that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// The text is no public key.
    #[error("this is not a public key of the form name+hash+base64")]
    Key,
    /// The text is no note.
    #[error("this is not a signed note")]
    Malformed,
    /// No signature by this key.
    #[error("the note is not signed with this key")]
    NotOurs,
    /// The signature does not match the text.
    #[error("the note's signature does not match its text")]
    Forged,
}

impl SealKey {
    /// From the 32 bytes of the key file. The name follows from the public key.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        let secret = SigningKey::from_bytes(seed);
        let key = secret.verifying_key();
        let mark: [u8; 32] = Sha256::digest(key.as_bytes()).into();
        let mark = mark.first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
        Self { secret, public: PublicKey { name: format!("narthex/{mark:016x}"), key } }
    }

    /// The public half.
    pub const fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs a text, which must end with a line break.
    pub fn sign(&self, text: &str) -> String {
        let mut signed = self.public.hash().to_vec();
        signed.extend(self.secret.sign(text.as_bytes()).to_bytes());
        format!("{text}\n\u{2014} {} {}\n", self.public.name, STANDARD.encode(signed))
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealKey({}, …)", self.public.name)
    }
}

impl PublicKey {
    /// What notes call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of a note that this key signed.
    pub fn open<'a>(&self, note: &'a str) -> Result<&'a str, NoteError> {
        if note.len() > MOST_BYTES || note.bytes().any(|byte| byte < b' ' && byte != b'\n') {
            return Err(NoteError::Malformed);
        }
        let end = note.rfind("\n\n").ok_or(NoteError::Malformed)? + 1;
        let (text, lines) = note.split_at_checked(end).ok_or(NoteError::Malformed)?;
        let lines = lines.strip_prefix('\n').and_then(|lines| lines.strip_suffix('\n'));
        let mut ours = None;
        for line in lines.ok_or(NoteError::Malformed)?.split('\n') {
            let (name, signed) = line
                .strip_prefix("\u{2014} ")
                .and_then(|line| line.split_once(' '))
                .ok_or(NoteError::Malformed)?;
            let signed = STANDARD.decode(signed).map_err(|_| NoteError::Malformed)?;
            let (hash, signature) = signed.split_first_chunk::<4>().ok_or(NoteError::Malformed)?;
            if name == self.name && *hash == self.hash() {
                ours = Some(Signature::from_slice(signature).map_err(|_| NoteError::Malformed)?);
            }
        }
        let ours = ours.ok_or(NoteError::NotOurs)?;
        self.key.verify_strict(text.as_bytes(), &ours).map_err(|_| NoteError::Forged)?;
        Ok(text)
    }

    fn hash(&self) -> [u8; 4] {
        let hasher = Sha256::new().chain_update(&self.name).chain_update([b'\n', ED25519]);
        let hash: [u8; 32] = hasher.chain_update(self.key.as_bytes()).finalize().into();
        hash.first_chunk().copied().unwrap_or_default()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut key = vec![ED25519];
        key.extend(self.key.as_bytes());
        let hash = u32::from_be_bytes(self.hash());
        write!(f, "{}+{hash:08x}+{}", self.name, STANDARD.encode(key))
    }
}

impl FromStr for PublicKey {
    type Err = NoteError;

    fn from_str(text: &str) -> Result<Self, NoteError> {
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(hash), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(NoteError::Key);
        };
        let plain = |c: char| c.is_ascii_graphic();
        if name.is_empty() || name.len() > MOST_NAME || !name.chars().all(plain) {
            return Err(NoteError::Key);
        }
        let key = STANDARD.decode(key).map_err(|_| NoteError::Key)?;
        let Some((&ED25519, key)) = key.split_first() else { return Err(NoteError::Key) };
        let key = key.try_into().map_err(|_| NoteError::Key)?;
        let key = VerifyingKey::from_bytes(key).map_err(|_| NoteError::Key)?;
        let parsed = Self { name: name.to_owned(), key };
        let same = format!("{:08x}", u32::from_be_bytes(parsed.hash())) == hash;
        if same && !parsed.key.is_weak() { Ok(parsed) } else { Err(NoteError::Key) }
    }
}

/// The algorithm's number in keys and key hashes.
const ED25519: u8 = 1;
/// No note of ours comes near it.
const MOST_BYTES: usize = 16 * 1024;
const MOST_NAME: usize = 128;

#[cfg(test)]
mod tests {
    use super::{NoteError, PublicKey, SealKey};

    const TEXT: &str = "narthex/x\n7\nabc\n";

    #[test]
    fn what_was_signed_opens_with_the_public_key_alone() {
        let key = SealKey::from_seed(&[7; 32]);
        let note = key.sign(TEXT);
        let public: PublicKey = key.public().to_string().parse().unwrap();
        assert_eq!(&public, key.public());
        assert_eq!(public.open(&note), Ok(TEXT));
        let other = SealKey::from_seed(&[8; 32]);
        assert_eq!(other.public().open(&note), Err(NoteError::NotOurs));
        // A note may carry other signatures too; ours must be among them.
        let witnessed = format!("{note}{}", other.sign("x\n").split("\n\n").nth(1).unwrap());
        assert_eq!(public.open(&witnessed), Ok(TEXT));
    }

    #[test]
    fn the_key_and_the_note_of_the_specification_are_read() {
        // From the package golang.org/x/mod/sumdb/note, which defined the format.
        let key = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
        let public: PublicKey = key.parse().unwrap();
        assert_eq!(public.to_string(), key);
        let text = "If you think cryptography is the answer to your problem,\n\
                    then you don't know what your problem is.\n";
        let signature = "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=";
        let note = format!("{text}\n\u{2014} PeterNeumann {signature}\n");
        assert_eq!(public.open(&note), Ok(text));
    }

    #[test]
    fn a_flip_of_any_bit_is_found() {
        let key = SealKey::from_seed(&[7; 32]);
        let note = key.sign(TEXT);
        for at in 0..note.len() {
            for bit in 0..8 {
                let mut bytes = note.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let opened = String::from_utf8(bytes).map(|note| key.public().open(&note).is_ok());
                assert_ne!(opened, Ok(true), "byte {at}, bit {bit}");
            }
        }
    }

    #[test]
    fn texts_that_are_no_note_are_refused() {
        let key = SealKey::from_seed(&[7; 32]);
        let note = key.sign(TEXT);
        for text in [
            String::new(),
            "\n\n".to_owned(),
            TEXT.to_owned(),
            format!("{note}\n"),
            note.trim_end().to_owned(),
            note.replace('\u{2014}', "-"),
            note.replace('\n', "\r\n"),
            format!("{}\n{note}", "x".repeat(20_000)),
        ] {
            assert!(key.public().open(&text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn texts_that_are_no_key_are_refused() {
        let vkey = SealKey::from_seed(&[7; 32]).public().to_string();
        for text in [
            "",
            "a+b",
            "a+00000000+AQ==",
            &vkey[1..],
            &vkey[..vkey.len() - 4],
            &vkey.replacen("narthex", "n rthex", 1),
            &vkey.replace("+A", "+B"),
        ] {
            assert!(text.parse::<PublicKey>().is_err(), "{text}");
        }
    }
}
