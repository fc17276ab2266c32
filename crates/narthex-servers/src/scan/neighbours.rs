//! What other servers and the house itself call their tools: a text that names one speaks for it,
//! and a name that looks like one passes for it.

use std::collections::{HashMap, HashSet};

use unicode_security::skeleton;

use crate::text::unseen;

/// The tools of everyone else.
#[derive(Debug, Clone, Default)]
pub struct Neighbours {
    all: Vec<Neighbour>,
    by_name: HashMap<String, usize>,
    by_look: HashMap<String, usize>,
}

/// Somebody's tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Neighbour {
    pub(super) owner: String,
    pub(super) name: String,
}

impl Neighbours {
    /// Pairs of who has it (a server's name, or a surface's) and what it is called.
    pub fn new<A: Into<String>, B: Into<String>>(tools: impl IntoIterator<Item = (A, B)>) -> Self {
        let mut neighbours = Self::default();
        for (owner, name) in tools.into_iter().take(MAX_NEIGHBOURS) {
            let neighbour = Neighbour { owner: owner.into(), name: name.into() };
            let n = neighbours.all.len();
            neighbours.by_name.entry(neighbour.name.to_lowercase()).or_insert(n);
            neighbours.by_look.entry(look(&neighbour.name)).or_insert(n);
            neighbours.all.push(neighbour);
        }
        neighbours
    }

    /// Whose name this one is, or passes for.
    pub(super) fn like(&self, name: &str) -> Option<&Neighbour> {
        let exact = self.by_name.get(&name.to_lowercase());
        let same = exact.and_then(|n| self.all.get(*n)).filter(|known| known.name == name);
        same.or_else(|| self.by_look.get(&look(name)).and_then(|n| self.all.get(*n)))
    }

    /// The first few that a text names, but for those whose names are the speaker's own too.
    pub(super) fn named_in(&self, text: &str, own: &HashSet<&str>) -> Vec<(&Neighbour, usize)> {
        let mut named: Vec<(&Neighbour, usize)> = Vec::new();
        if self.all.is_empty() {
            return named;
        }
        for (at, word) in words(text) {
            let Some(neighbour) = self.named(text, at, word, own) else { continue };
            if !named.iter().any(|(known, _)| *known == neighbour) {
                named.push((neighbour, at));
            }
            if named.len() >= MAX_NAMED {
                break;
            }
        }
        named
    }

    fn named(&self, text: &str, at: usize, word: &str, own: &HashSet<&str>) -> Option<&Neighbour> {
        let find =
            |name: &str| self.by_name.get(&name.to_lowercase()).and_then(|n| self.all.get(*n));
        // `github.create_issue`, `mcp__github__create_issue`, `github/create_issue`
        let last = word.rsplit(['.', '/', ':']).next().unwrap_or(word);
        let last = last.rsplit("__").next().unwrap_or(last);
        if let Some(neighbour) = find(last).filter(|_| last.len() < word.len()) {
            let before = word.get(..word.len() - last.len()).unwrap_or_default();
            if before.to_lowercase().contains(&neighbour.owner.to_lowercase()) {
                return Some(neighbour);
            }
        }
        let neighbour = find(word)?;
        let told = is_distinctive(word) || is_called_a_tool(text, at, word);
        (told && !own.contains(neighbour.name.as_str())).then_some(neighbour)
    }
}

/// How a name looks, whatever letters it is made of.
pub(super) fn look(name: &str) -> String {
    let seen: String = name.chars().filter(|c| unseen(*c).is_none()).collect();
    skeleton(&seen.to_lowercase()).collect()
}

/// Words as names of tools are made, with their places. Letters outside ASCII part them: a word that
/// imitates a name with such a letter is found as one of two alphabets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    let mut rest = text;
    let mut base = 0;
    std::iter::from_fn(move || {
        let start = rest.find(part)?;
        let from = rest.get(start..)?;
        let end = from.find(|c| !part(c)).unwrap_or(from.len());
        let word = from.get(..end)?;
        let at = base + start;
        base = at + end;
        rest = from.get(end..)?;
        Some((at, word.trim_matches(['.', '/', ':', '-'])))
    })
}

/// Nobody writes it by chance.
fn is_distinctive(word: &str) -> bool {
    let inner = word.get(1..).unwrap_or_default();
    word.len() >= 5 && inner.contains(|c: char| matches!(c, '_' | '-') || c.is_ascii_uppercase())
}

/// A plain word means the tool where it is quoted or called one.
fn is_called_a_tool(text: &str, at: usize, word: &str) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let after = text.get(at + word.len()..).unwrap_or_default();
    let quoted = before.ends_with(['`', '"', '\'']) && after.starts_with(['`', '"', '\'', '(']);
    let called = |text: &str| {
        let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
        let start: String = text.chars().take(8).collect::<String>().to_lowercase();
        start.starts_with("tool") || start.starts_with("function")
    };
    let last: String = before.trim_end().chars().rev().take(8).collect();
    let last: String = last.chars().rev().collect::<String>().to_lowercase();
    quoted || called(after) || last.ends_with("tool") || last.ends_with("function")
}

const MAX_NEIGHBOURS: usize = 50_000;
const MAX_NAMED: usize = 8;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::Neighbours;

    fn neighbours() -> Neighbours {
        Neighbours::new([
            ("github", "create_issue"),
            ("mail", "send-email"),
            ("workspace", "search"),
            ("workspace", "read"),
        ])
    }

    #[test]
    fn who_is_named_is_known() {
        for (text, named) in [
            ("Use create_issue afterwards.", vec!["create_issue"]),
            ("Then CREATE_ISSUE.", vec!["create_issue"]),
            ("mcp__github__create_issue", vec!["create_issue"]),
            ("call github.create_issue", vec!["create_issue"]),
            ("workspace.read", vec!["read"]),
            ("the `search` tool", vec!["search"]),
            ("When the tool search is called", vec!["search"]),
            ("send-email, create_issue", vec!["send-email", "create_issue"]),
            ("Searches and reads: search terms, read access.", vec![]),
            ("recreate_issues", vec![]),
            ("other.read", vec![]),
            ("", vec![]),
        ] {
            let neighbours = neighbours();
            let found: Vec<_> = neighbours
                .named_in(text, &HashSet::new())
                .into_iter()
                .map(|(neighbour, _)| neighbour.name.as_str())
                .collect();
            assert_eq!(found, named, "{text}");
        }
        let own = HashSet::from(["create_issue"]);
        assert!(neighbours().named_in("Use create_issue.", &own).is_empty());
    }

    #[test]
    fn who_is_imitated_is_known() {
        let neighbours = neighbours();
        for (name, like) in [
            ("search", Some("search")),
            ("Search", Some("search")),
            ("se\u{430}rch", Some("search")),
            ("s\u{435}nd-email", Some("send-email")),
            ("create_issue\u{200b}", Some("create_issue")),
            ("\u{ff53}earch", Some("search")),
            ("searches", None),
        ] {
            let found = neighbours.like(name).map(|neighbour| neighbour.name.as_str());
            assert_eq!(found, like, "{name:?}");
        }
    }
}
