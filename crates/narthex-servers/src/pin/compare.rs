//! What was approved, beside what is offered now.

use std::collections::BTreeMap;

use narthex_core::Digest;
use serde::{Deserialize, Serialize};

use super::definition::{Definition, Key};
use super::diff::diff_texts;

/// A definition as it was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pinned {
    /// Which.
    pub key: Key,
    /// What was approved.
    pub digest: Digest,
    /// All of it, to show what changed. Not what is decided on: the digest is.
    pub text: String,
}

impl From<&Definition> for Pinned {
    fn from(definition: &Definition) -> Self {
        Self {
            key: definition.key.clone(),
            digest: definition.digest,
            text: definition.text.clone(),
        }
    }
}

/// How one definition stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// Which.
    pub key: Key,
    /// How.
    pub standing: Standing,
}

/// How a definition stands to what was approved. Only what is unchanged is offered on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It is what was approved.
    Unchanged,
    /// It is not, in anything at all.
    Changed {
        /// What is different, for people.
        diff: String,
    },
    /// Nobody approved it: not because its neighbours are.
    New,
    /// It is no longer offered.
    Gone,
    /// The server offers two of this name; nobody can say which is meant.
    Doubled,
}

impl Standing {
    /// The word for it.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed { .. } => "changed",
            Self::New => "new",
            Self::Gone => "gone",
            Self::Doubled => "doubled",
        }
    }
}

/// Compares, in the order of the keys.
pub fn compare(pinned: &[Pinned], offered: &[Definition]) -> Vec<Compared> {
    let mut sides: BTreeMap<&Key, (Option<&Pinned>, Vec<&Definition>)> = BTreeMap::new();
    for pin in pinned {
        sides.entry(&pin.key).or_default().0 = Some(pin);
    }
    for definition in offered {
        sides.entry(&definition.key).or_default().1.push(definition);
    }
    let compared = |(key, (pin, offered)): (&Key, (Option<&Pinned>, Vec<&Definition>))| Compared {
        key: key.clone(),
        standing: standing(pin, &offered),
    };
    sides.into_iter().map(compared).collect()
}

fn standing(pin: Option<&Pinned>, offered: &[&Definition]) -> Standing {
    match (pin, offered) {
        (_, []) => Standing::Gone,
        (_, [_, _, ..]) => Standing::Doubled,
        (None, [_]) => Standing::New,
        (Some(pin), [now]) if pin.digest == now.digest => Standing::Unchanged,
        (Some(pin), [now]) => Standing::Changed { diff: diff_texts(&pin.text, &now.text) },
    }
}

#[cfg(test)]
mod tests {
    use super::super::definition::{Definition, Kind};
    use super::{Pinned, Standing, compare};

    fn tool(raw: &str) -> Definition {
        Definition::read(Kind::Tool, raw).unwrap()
    }

    #[test]
    fn each_stands_for_itself() {
        let approved = [
            tool(r#"{"name":"same"}"#),
            tool(r#"{"name":"grown","inputSchema":{}}"#),
            tool(r#"{"name":"gone"}"#),
            tool(r#"{"name":"twice"}"#),
        ];
        let pinned: Vec<Pinned> = approved.iter().map(Pinned::from).collect();
        let offered = [
            tool(r#"{"name":"twice"}"#),
            tool(r#"{"name":"new"}"#),
            tool(r#"{ "name" : "same" }"#),
            tool(r#"{"name":"grown","inputSchema":{"properties":{"notes":{}}}}"#),
            tool(r#"{"name":"twice"}"#),
            Definition::read(Kind::Prompt, r#"{"name":"same"}"#).unwrap(),
        ];
        let compared = compare(&pinned, &offered);
        let found: Vec<_> = compared
            .iter()
            .map(|c| (c.key.kind.as_str(), c.key.name.as_str(), c.standing.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("tool", "gone", "gone"),
                ("tool", "grown", "changed"),
                ("tool", "new", "new"),
                ("tool", "same", "unchanged"),
                ("tool", "twice", "doubled"),
                ("prompt", "same", "new"),
            ]
        );
        let Standing::Changed { diff } = &compared[1].standing else { panic!() };
        assert!(diff.contains("notes"), "{diff}");
    }

    #[test]
    fn the_digest_decides_and_not_the_text_beside_it() {
        let now = tool(r#"{"name":"a","description":"evil"}"#);
        let was = tool(r#"{"name":"a"}"#);
        let forged = Pinned { text: now.text.clone(), ..Pinned::from(&was) };
        let compared = compare(&[forged], &[now]);
        assert_eq!(compared[0].standing.as_str(), "changed");
    }
}
