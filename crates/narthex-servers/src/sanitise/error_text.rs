//! Errors of servers, fit for a person or a model: no secret, no place on this machine, no control
//! sequence, and short.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::{Captures, Regex};
use secrecy::{ExposeSecret as _, SecretString};

use crate::config::{Resolved, ResolvedAuth};
use crate::secret_look::{shape_tells, shapes};
use crate::text::strip;

use super::description::cut;

/// Characters of an error that anyone is shown.
pub const ERROR_CHARS: usize = 2_000;

/// Takes secrets and places out of texts. One a server: it knows that server's values.
#[derive(Clone, Default)]
pub struct Scrubber {
    secrets: Option<AhoCorasick>,
    labels: Vec<String>,
    longest: usize,
    /// Labels of what is in the file for all to read: no secret in an answer.
    open: BTreeSet<String>,
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is looked for is what must not be shown.
        write!(f, "Scrubber({} texts)", self.labels.len())
    }
}

impl Scrubber {
    /// That knows these values, each by the name that stands in its place, and these folders of
    /// this machine (the owner's home, the data directory, where the server was started).
    pub fn new<'a>(
        values: impl IntoIterator<Item = (&'a str, &'a SecretString)>,
        folders: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let mut texts: Vec<(String, String)> = Vec::new();
        for (name, value) in values {
            for form in forms(value.expose_secret()) {
                texts.push((form, format!("[{name}]")));
            }
        }
        for folder in folders.into_iter().filter(|folder| folder.len() >= SHORTEST) {
            texts.push((folder.trim_end_matches('/').to_owned(), PLACE.to_owned()));
        }
        texts.retain(|(text, _)| text.len() >= SHORTEST);
        let (patterns, labels): (Vec<String>, Vec<String>) = texts.into_iter().unzip();
        let longest = patterns.iter().map(String::len).max().unwrap_or(0);
        let secrets =
            AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&patterns);
        // Too much to look for at once does not happen within the bounds of the file.
        Self { secrets: secrets.ok(), labels, longest, open: BTreeSet::new() }
    }

    /// That knows every value a server is started with.
    pub fn of<'a>(resolved: &'a Resolved, folders: impl IntoIterator<Item = &'a str>) -> Self {
        Self::new(values(resolved), folders)
    }

    /// That takes only these variables and headers for secrets in an answer. What the file says in
    /// clear (a folder, a word) may well be what the answer is about.
    #[must_use]
    pub fn confiding(mut self, names: &BTreeSet<&str>) -> Self {
        let fixed = |label: &String| FIXED.contains(&label.as_str());
        let kept = |label: &String| names.iter().any(|name| *label == format!("[{name}]"));
        self.open = self.labels.iter().filter(|l| !fixed(l) && !kept(l)).cloned().collect();
        self
    }

    /// The text without the values themselves, if any of them is in it. All else stays: an answer is
    /// the server's own, and only what it was given in confidence is taken out.
    pub fn hide(&self, text: &str) -> Option<String> {
        let secrets = self.secrets.as_ref()?;
        let secret = |found: &aho_corasick::Match| {
            let label = self.labels.get(found.pattern().as_usize());
            let told = |label: &String| label != PLACE && !self.open.contains(label);
            label.is_some_and(told) && found.len() >= SURELY_SECRET
        };
        if !secrets.find_iter(text).any(|found| secret(&found)) {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        secrets.replace_all_with(text, &mut out, |found, same, out| {
            let label = self.labels.get(found.pattern().as_usize()).filter(|_| secret(found));
            out.push_str(label.map_or(same, String::as_str));
            true
        });
        Some(out)
    }

    /// The text without any of it, cut to [`ERROR_CHARS`].
    pub fn scrub(&self, text: &str) -> String {
        self.scrub_to(text, ERROR_CHARS)
    }

    /// The text without any of it, cut to a length.
    pub fn scrub_to(&self, text: &str, most: usize) -> String {
        // First what hides, so that nothing hides behind it.
        let read = self.within(text);
        let mut text = strip(read).text.into_owned();
        if let Some(secrets) = &self.secrets {
            let mut out = String::with_capacity(text.len());
            secrets.replace_all_with(&text, &mut out, |found, _, out| {
                let label = self.labels.get(found.pattern().as_usize());
                out.push_str(label.map_or("[secret]", String::as_str));
                true
            });
            text = out;
        }
        if let Some(shapes) = shapes() {
            text = shapes.replace_all(&text, "[secret]").into_owned();
        }
        for pattern in [URL_SECRETS.as_ref(), PLACES.as_ref()].into_iter().flatten() {
            let keep = |found: &Captures<'_>| {
                let before = found.name("before").map_or("", |before| before.as_str());
                let what = if found.name("secret").is_some() { "[secret]" } else { PLACE };
                format!("{before}{what}")
            };
            text = pattern.replace_all(&text, keep).into_owned();
        }
        cut(&text, most)
    }

    /// As much as is read at all, without half a secret at its end.
    fn within<'t>(&self, text: &'t str) -> &'t str {
        if text.len() <= MAX_READ {
            return text;
        }
        let mut end = MAX_READ.saturating_sub(self.longest.max(USUAL_SECRET));
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.get(..end).unwrap_or_default()
    }
}

/// A value as it may stand in an error: as it is, in JSON, in a URL, in base64.
fn forms(value: &str) -> Vec<String> {
    let mut forms = vec![value.to_owned()];
    let json = serde_json::to_string(value).unwrap_or_default();
    forms.push(json.trim_matches('"').to_owned());
    forms.push(url::form_urlencoded::byte_serialize(value.as_bytes()).collect());
    let percent: String = value
        .bytes()
        .map(|b| match b {
            b if b.is_ascii_alphanumeric() || b"-._~".contains(&b) => char::from(b).to_string(),
            b => format!("%{b:02X}"),
        })
        .collect();
    forms.push(percent);
    forms.extend(base64(value.as_bytes()));
    // A token that came with its scheme stands alone too.
    if let Some((scheme, rest)) = value.split_once(' ')
        && scheme.len() < 16
        && rest.len() >= 8
    {
        forms.push(rest.to_owned());
    }
    forms.sort();
    forms.dedup();
    forms
}

/// Base64 of a text, without the padding and the letter before it, which depend on what follows.
fn base64(bytes: &[u8]) -> Option<String> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if bytes.len() < 9 {
        return None;
    }
    let mut out = String::new();
    for group in bytes.chunks_exact(3) {
        let number = group.iter().fold(0_u32, |n, b| n << 8 | u32::from(*b));
        for shift in [18, 12, 6, 0] {
            let letter = LETTERS.get((number >> shift & 63) as usize).copied().unwrap_or(b'A');
            out.push(char::from(letter));
        }
    }
    Some(out)
}

/// The values of a server with their names. What is in the file and looks like nothing (`debug`,
/// `true`) is no secret, and taking it out would take every error apart.
fn values(resolved: &Resolved) -> Vec<(&str, &SecretString)> {
    let mut values: Vec<(&str, &SecretString)> = Vec::new();
    match resolved {
        Resolved::Process { args, env } => {
            let tells = |value: &&SecretString| shape_tells(value.expose_secret());
            values.extend(args.iter().filter(tells).map(|arg| ("argument", arg)));
            values.extend(env.iter().map(|(name, value)| (name.as_str(), value)));
        }
        Resolved::Http { url, headers, auth, .. } => {
            if url.expose_secret().contains('?') {
                values.push(("url", url));
            }
            values.extend(headers.iter().map(|(name, value)| (name.as_str(), value)));
            match auth {
                Some(ResolvedAuth::Bearer(token)) => values.push(("token", token)),
                Some(ResolvedAuth::OAuth { client_secret, .. }) => {
                    values.extend(client_secret.iter().map(|secret| ("client secret", secret)));
                }
                None => {}
            }
        }
    }
    values.retain(|(_, value)| !is_ordinary(value.expose_secret()));
    values
}

/// A word or a number that stands in many texts.
fn is_ordinary(value: &str) -> bool {
    let word = value.len() < 16 && value.chars().all(|c| c.is_ascii_lowercase());
    let number = value.len() < 6 && value.chars().all(|c| c.is_ascii_digit() || c == '.');
    value.len() < SHORTEST || number || (word && ORDINARY.contains(&value))
}

const ORDINARY: &[&str] = &[
    "debug",
    "info",
    "warn",
    "warning",
    "error",
    "trace",
    "true",
    "false",
    "none",
    "null",
    "auto",
    "production",
    "development",
    "staging",
    "test",
    "default",
    "enabled",
    "disabled",
    "stdio",
    "http",
    "https",
    "json",
    "text",
    "utf8",
    "main",
    "master",
    "public",
    "private",
    "localhost",
    "always",
    "never",
];

/// Fields of a query that hold secrets, and passwords in a command's words.
static URL_SECRETS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(?P<before>(?:api[_-]?key|access[_-]?token|auth[_-]?token|token|secret|passwd|password|pwd|signature|client[_-]?secret|authorization)\x22?(?-u:\s)*[=:](?-u:\s)*\x22?)(?P<secret>[^\x00-\x20&\x22',;)\[]{3,})",
    )
    .ok()
});

/// Places on a machine: of Unix by the folders at its root (or, wherever they lie, with a line's
/// number or the ending of source code), of Windows by their drive or share, and `~`.
static PLACES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let roots = "home|Users|root|etc|usr|var|tmp|opt|private|mnt|srv|proc|sys|dev|run|bin|sbin|lib|lib64|Library|Applications|System|Volumes|nix|snap|app|apps|workspace|workspaces|data|media|boot|build|code|src|code-server|github|runner|node_modules";
    let path = r"[^\x00-\x20\x22'`<>|:;,)(\]\[{}]";
    Regex::new(&format!(
        concat!(
            r"file://{path}*",
            r"|(?P<before>^|[\x00-\x20\x22'`<>|:;,)(\]\[{{}}=@])(?:",
            r"/(?:{roots})(?:/{path}*)?(?-u:\b|/)",
            r"|/{path}+\.(?:js|mjs|cjs|ts|tsx|py|rb|go|rs|java|php|pl|lua|c|cc|cpp|so|dll|exe|jar|sock|pem|key|env)(?-u:\b)",
            r"|/{path}+/{path}*:\d+",
            r"|~/{path}*",
            r"|[A-Za-z]:[\\/][^\x00-\x1f\x22'`<>|;,)(\]\[{{}}]*",
            r"|\\\\[A-Za-z0-9.$_-]+\\{path}*",
            r")",
        ),
        path = path,
        roots = roots,
    ))
    .ok()
});

const PLACE: &str = "[path]";
/// Values shorter than this are in every text.
const SHORTEST: usize = 4;
/// What is never in the file in clear, or looks like a secret wherever it is.
const FIXED: &[&str] = &["[argument]", "[url]", "[token]", "[client secret]"];
/// In an answer only what is too long to stand there by chance.
const SURELY_SECRET: usize = 8;
/// Bytes of a text that are read.
const MAX_READ: usize = 64 * 1024;
const USUAL_SECRET: usize = 4 * 1024;

#[cfg(test)]
#[path = "error_text_tests.rs"]
mod tests;
