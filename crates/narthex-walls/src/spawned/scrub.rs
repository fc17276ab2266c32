//! Secrets that somebody else's process was given, kept out of what it says.

use secrecy::{ExposeSecret as _, SecretString};

use super::clean::clean;

/// What must not be shown. A value of several lines is looked for line by line, since that is how
/// it would be said. A secret that was encoded, cut up or turned round is not found.
#[derive(Debug, Clone, Default)]
pub(super) struct Scrub {
    /// The longest first: one may be part of another.
    secrets: Vec<SecretString>,
    longest: usize,
}

impl Scrub {
    pub(super) fn new(secrets: &[SecretString]) -> Self {
        // As they would look after cleaning, which comes first.
        let mut lines: Vec<String> = secrets
            .iter()
            .flat_map(|secret| secret.expose_secret().lines())
            .map(|line| clean(line.as_bytes()).trim().to_owned())
            .filter(|line| line.len() >= SHORTEST)
            .collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.len()));
        let longest = lines.first().map_or(0, String::len);
        Self { secrets: lines.into_iter().map(SecretString::from).collect(), longest }
    }

    /// The longest there is, in bytes.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    pub(super) fn scrub(&self, text: String) -> String {
        self.secrets.iter().fold(text, |text, secret| {
            let secret = secret.expose_secret();
            if text.contains(secret) { text.replace(secret, SHOWN) } else { text }
        })
    }
}

/// What is shorter is in every second line by chance (`1`, `on`, `prod`), and no secret.
const SHORTEST: usize = 5;

pub(super) const SHOWN: &str = "[secret]";

#[cfg(test)]
mod tests {
    use super::Scrub;
    use secrecy::SecretString;

    fn scrub(secrets: &[&str], text: &str) -> String {
        let secrets: Vec<_> = secrets.iter().map(|secret| SecretString::from(*secret)).collect();
        Scrub::new(&secrets).scrub(text.to_owned())
    }

    #[test]
    fn secrets_are_replaced_wherever_they_stand() {
        assert_eq!(scrub(&["hunter22"], "pw=hunter22;hunter22"), "pw=[secret];[secret]");
        assert_eq!(scrub(&["abcdef", "abcdefghi"], "abcdefghi abcdef"), "[secret] [secret]");
        assert_eq!(scrub(&["-----KEY\nMIIEvQIBADAN\n"], "said MIIEvQIBADAN"), "said [secret]");
        assert_eq!(scrub(&["1", "on"], "1 on one"), "1 on one");
    }

    #[test]
    fn a_secret_is_not_in_what_is_printed_of_it() {
        let shown = format!("{:?}", Scrub::new(&[SecretString::from("hunter22")]));
        assert!(!shown.contains("hunter22"), "{shown}");
    }
}
