//! What the keeper is told, on its command line. Others can read a command line: no secret is on
//! it; what the target is given in secret comes in the environment.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use narthex_core::Digest;
use rustix::process::Pid;

use super::KeepError;
use crate::Walls;

/// What to keep, and how.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    /// Whether to become the target rather than to watch over it.
    pub(crate) inside: bool,
    pub(crate) walls: Walls,
    /// What the target may change.
    pub(crate) scratch: PathBuf,
    /// The home directory of its user.
    pub(crate) home: Option<PathBuf>,
    /// Whoever gave the order; nothing outlives it.
    pub(crate) parent: Pid,
    /// How long the target may take to end when it is asked to.
    pub(crate) grace: Duration,
    /// What the program must be.
    pub(crate) expected: Option<Digest>,
    pub(crate) command: PathBuf,
    pub(crate) args: Vec<OsString>,
}

impl Order {
    /// Reads what [`Order::words`] wrote.
    pub(crate) fn read(words: impl IntoIterator<Item = OsString>) -> Result<Self, KeepError> {
        let mut words = words.into_iter();
        let mut given = Given::default();
        while let Some(word) = words.next() {
            match word.to_str() {
                Some("--") => break,
                Some("--inside") => given.inside = true,
                Some(name) => given.take(name, words.next())?,
                None => return Err(unclear("an option that is no text")),
            }
        }
        given.order(words)
    }

    /// The words of the command line, after the one that asks to keep.
    pub(crate) fn words(&self) -> Result<Vec<OsString>, KeepError> {
        let walls =
            serde_json::to_string(&self.walls).map_err(|error| unclear(&error.to_string()))?;
        let mut words: Vec<OsString> =
            if self.inside { vec!["--inside".into()] } else { Vec::new() };
        let mut say = |name: &str, value: OsString| words.extend([name.into(), value]);
        say(WALLS, walls.into());
        say(SCRATCH, self.scratch.clone().into());
        say(PARENT, self.parent.as_raw_nonzero().to_string().into());
        say(GRACE, self.grace.as_millis().to_string().into());
        if let Some(home) = &self.home {
            say(HOME, home.clone().into());
        }
        if let Some(expected) = &self.expected {
            say(EXPECTED, expected.to_string().into());
        }
        words.push("--".into());
        words.push(self.command.clone().into());
        words.extend(self.args.iter().cloned());
        Ok(words)
    }
}

#[derive(Default)]
struct Given {
    inside: bool,
    walls: Option<Walls>,
    scratch: Option<PathBuf>,
    home: Option<PathBuf>,
    parent: Option<Pid>,
    grace: Option<Duration>,
    expected: Option<Digest>,
}

impl Given {
    fn take(&mut self, name: &str, value: Option<OsString>) -> Result<(), KeepError> {
        let value = value.ok_or_else(|| unclear(&format!("{name} without a value")))?;
        match name {
            WALLS => self.walls = Some(walls(&value)?),
            SCRATCH => self.scratch = Some(value.into()),
            HOME => self.home = Some(value.into()),
            PARENT => self.parent = number(&value).and_then(Pid::from_raw),
            GRACE => self.grace = number(&value).map(Duration::from_millis),
            EXPECTED => self.expected = Some(digest(&value)?),
            _ => return Err(unclear(&format!("{name} is not known"))),
        }
        Ok(())
    }

    fn order(self, mut rest: impl Iterator<Item = OsString>) -> Result<Order, KeepError> {
        let missing = |name: &str| unclear(&format!("{name} is missing"));
        let command = rest.next().map(PathBuf::from).ok_or_else(|| missing("a command"))?;
        if !command.is_absolute() {
            return Err(unclear("the command is not an absolute path"));
        }
        Ok(Order {
            inside: self.inside,
            walls: self.walls.ok_or_else(|| missing(WALLS))?,
            scratch: self.scratch.ok_or_else(|| missing(SCRATCH))?,
            home: self.home,
            parent: self.parent.ok_or_else(|| missing(PARENT))?,
            grace: self.grace.ok_or_else(|| missing(GRACE))?,
            expected: self.expected,
            command,
            args: rest.collect(),
        })
    }
}

fn walls(value: &OsStr) -> Result<Walls, KeepError> {
    let walls: Walls = serde_json::from_slice(value.as_encoded_bytes())
        .map_err(|error| unclear(&format!("{WALLS}: {error}")))?;
    walls.check()?;
    Ok(walls)
}

fn digest(value: &OsStr) -> Result<Digest, KeepError> {
    let text = value.to_str().unwrap_or_default();
    text.parse().map_err(|error| unclear(&format!("{EXPECTED}: {error}")))
}

fn number<N: std::str::FromStr>(value: &OsStr) -> Option<N> {
    value.to_str()?.parse().ok()
}

fn unclear(what: &str) -> KeepError {
    KeepError::Order(format!(
        "the order is not clear: {what}; narthex itself gives it, not a person"
    ))
}

const WALLS: &str = "--walls";
const SCRATCH: &str = "--scratch";
const HOME: &str = "--home";
const PARENT: &str = "--parent";
const GRACE: &str = "--grace-ms";
const EXPECTED: &str = "--expect-sha256";

#[cfg(test)]
mod tests {
    use super::Order;
    use crate::{Preset, Walls};
    use narthex_core::Digest;
    use std::ffi::OsString;
    use std::time::Duration;

    fn order() -> Order {
        Order {
            inside: true,
            walls: Walls::preset(Preset::Offline),
            scratch: "/scratch".into(),
            home: Some("/home/ada".into()),
            parent: rustix::process::getpid(),
            grace: Duration::from_millis(1500),
            expected: Some(Digest::of(b"program")),
            command: "/bin/server".into(),
            args: vec!["--walls".into(), "--".into(), "".into()],
        }
    }

    #[test]
    fn an_order_is_read_as_it_was_given() {
        let given = order();
        let read = Order::read(given.words().expect("words")).expect("read");
        assert_eq!(format!("{read:?}"), format!("{given:?}"));
    }

    #[test]
    fn nothing_is_guessed() {
        let words = order().words().expect("words");
        // Each option without what belongs to it, and each one missing.
        for n in 1..12 {
            let fewer: Vec<OsString> = words
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != n)
                .map(|(_, w)| w.clone())
                .collect();
            assert!(Order::read(fewer).is_err(), "{n}");
        }
        for words in [
            vec!["--unknown", "1"],
            vec!["--walls", "{\"preset\":\"nothing\"}"],
            vec!["--", "relative"],
        ] {
            assert!(Order::read(words.iter().map(OsString::from)).is_err(), "{words:?}");
        }
    }
}
