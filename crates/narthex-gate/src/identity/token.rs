//! Agent tokens: `nx_<id>_<secret>`, with 256 bits of secret, kept only as a keyed hash.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use narthex_core::TokenId;
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use uuid::Uuid;
use zeroize::Zeroizing;

/// The key token secrets are hashed with; lives in a file of the data directory, never in it.
#[derive(Clone)]
pub struct SecretKey(Zeroizing<[u8; 32]>);

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(…)")
    }
}

impl SecretKey {
    /// Wraps the bytes of the key file.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The keyed hash of an agent token's secret. The id is part of what is hashed, so that a
    /// hash copied to another row opens nothing.
    pub fn hash_agent(&self, id: TokenId, secret: &[u8]) -> [u8; 32] {
        self.hash(b"narthex agent token v1\n", id.as_bytes(), secret)
    }

    fn hash(&self, domain: &[u8], id: &[u8], secret: &[u8]) -> [u8; 32] {
        let mut block = [0_u8; 64];
        block.iter_mut().zip(self.0.iter()).for_each(|(to, from)| *to = *from);
        let mut mac = Hmac::<Sha256>::new(&block.into());
        mac.update(domain);
        mac.update(id);
        mac.update(secret);
        mac.finalize().into_bytes().into()
    }

    /// The owner's token: derived from the key, so that it needs no row and survives a restart.
    fn owner_secret(&self) -> [u8; 32] {
        self.hash(b"narthex owner token v1\n", &[], &[])
    }
}

/// A token that was just made. The only moment its secret exists in clear.
#[derive(Debug)]
pub struct IssuedToken {
    /// Its public id.
    pub id: TokenId,
    /// What is stored.
    pub keyed_hash: [u8; 32],
    /// What is shown once.
    pub token: SecretString,
}

impl IssuedToken {
    /// The token in clear, to be shown this once.
    pub fn into_clear(self) -> String {
        self.token.expose_secret().to_owned()
    }
}

/// Makes a token.
pub fn issue_token(key: &SecretKey, id: TokenId) -> Result<IssuedToken, getrandom::Error> {
    let mut secret = Zeroizing::new([0_u8; 32]);
    getrandom::fill(secret.as_mut())?;
    let keyed_hash = key.hash_agent(id, secret.as_ref());
    let token = format!("nx_{}_{}", id.uuid().simple(), hex(secret.as_ref()).as_str());
    Ok(IssuedToken { id, keyed_hash, token: token.into() })
}

/// The owner's token of a house.
fn owner_token(key: &SecretKey) -> SecretString {
    format!("nxo_{}", hex(&key.owner_secret()).as_str()).into()
}

/// The same in clear, for the ready line of a demo.
pub fn owner_token_in_clear(key: &SecretKey) -> String {
    owner_token(key).expose_secret().to_owned()
}

/// What a bearer looks like.
pub(crate) enum BearerForm {
    /// An agent's token.
    Agent(TokenId, Zeroizing<[u8; 32]>),
    /// The owner's token, and it is the right one.
    Owner,
}

/// Reads a bearer strictly: one spelling per token, ASCII only.
pub(crate) fn parse_bearer(bearer: &str, key: &SecretKey) -> Option<BearerForm> {
    if let Some(rest) = bearer.strip_prefix("nx_") {
        let (id, secret) = rest.split_once('_')?;
        let id = unhex::<16>(id)?;
        return Some(BearerForm::Agent(
            TokenId::from_uuid(Uuid::from_bytes(*id)),
            unhex::<32>(secret)?,
        ));
    }
    let owner = owner_token(key);
    let same = bearer.as_bytes().ct_eq(owner.expose_secret().as_bytes());
    bool::from(same).then_some(BearerForm::Owner)
}

fn hex(bytes: &[u8]) -> Zeroizing<String> {
    use fmt::Write as _;
    let mut text = Zeroizing::new(String::with_capacity(bytes.len() * 2));
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn unhex<const N: usize>(text: &str) -> Option<Zeroizing<[u8; N]>> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = Zeroizing::new([0_u8; N]);
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = (digit(*high)? << 4) | digit(*low)?;
    }
    Some(bytes)
}

/// Lower case only: an upper-case spelling would be a second name for one token.
fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{BearerForm, SecretKey, issue_token, owner_token, parse_bearer};
    use narthex_core::TokenId;
    use secrecy::ExposeSecret;

    #[test]
    fn a_token_reads_in_one_spelling_only() {
        let key = SecretKey::new([7; 32]);
        let id = TokenId::from_uuid(uuid::Uuid::from_u128(0xABC));
        let Ok(issued) = issue_token(&key, id) else { unreachable!("randomness") };
        let token = issued.token.expose_secret().to_owned();
        assert!(matches!(parse_bearer(&token, &key), Some(BearerForm::Agent(read, secret))
            if read == id && key.hash_agent(read, secret.as_ref()) == issued.keyed_hash));
        for bad in [
            token.to_uppercase(),
            format!("{token} "),
            format!("{token}0"),
            format!("{token}\0"),
            token.replace("nx_", "nxo_"),
            token.replace('_', "-"),
            token.get(..token.len() - 2).unwrap_or_default().to_owned(),
            String::new(),
            "nx__".into(),
            "nx_\u{212A}_\u{212A}".into(),
        ] {
            assert!(parse_bearer(&bad, &key).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn a_hash_moved_to_another_id_or_key_opens_nothing() {
        let key = SecretKey::new([7; 32]);
        let a = TokenId::from_uuid(uuid::Uuid::from_u128(1));
        let b = TokenId::from_uuid(uuid::Uuid::from_u128(2));
        assert_ne!(key.hash_agent(a, &[1; 32]), key.hash_agent(b, &[1; 32]));
        assert_ne!(key.hash_agent(a, &[1; 32]), SecretKey::new([8; 32]).hash_agent(a, &[1; 32]));
    }

    #[test]
    fn the_owners_token_is_known_and_belongs_to_one_house() {
        let key = SecretKey::new([7; 32]);
        let owner = owner_token(&key).expose_secret().to_owned();
        assert!(matches!(parse_bearer(&owner, &key), Some(BearerForm::Owner)));
        assert!(parse_bearer(&owner, &SecretKey::new([8; 32])).is_none());
    }
}
