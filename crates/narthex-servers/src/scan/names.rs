//! Names: plain ones, and none that passes for another.

use std::collections::HashMap;

use crate::pin::{Definition, Kind};

use super::finding::{Code, Finding, Findings, Severity};
use super::folded::look_alike;
use super::neighbours::{Neighbours, look};

/// The names of one server, to find those that pass for each other.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    by_look: HashMap<(Kind, String), Vec<&'a str>>,
}

impl<'a> Names<'a> {
    pub(super) fn of(definitions: &'a [Definition]) -> Self {
        let mut by_look: HashMap<(Kind, String), Vec<&str>> = HashMap::new();
        for definition in definitions {
            let key = (definition.key.kind, look(&definition.key.name));
            by_look.entry(key).or_default().push(&definition.key.name);
        }
        Self { by_look }
    }

    pub(super) fn look_at(
        &self,
        definition: &Definition,
        neighbours: &Neighbours,
        found: &mut Findings,
    ) {
        let (kind, name) = (definition.key.kind, definition.key.name.as_str());
        let place = match kind {
            Kind::Tool | Kind::Prompt => "/name",
            Kind::Resource => "/uri",
            Kind::ResourceTemplate => "/uriTemplate",
            Kind::Instructions | Kind::ServerInfo => return,
        };
        if matches!(kind, Kind::Tool | Kind::Prompt) {
            if let Some(severity) = oddness(name) {
                found.add(Finding::graded(Code::NameForm, severity, place, name));
            }
        } else if let Some(word) = mixed_word(name) {
            found.add(Finding::graded(Code::MixedScript, Severity::High, place, word));
        }
        let same = self.by_look.get(&(kind, look(name))).map_or(&[][..], Vec::as_slice);
        if same.iter().filter(|other| **other == name).count() > 1 {
            found.add(Finding::new(Code::Doubled, place, name));
        }
        if let Some(other) = same.iter().find(|other| **other != name) {
            found.add(Finding::new(Code::LookAlike, place, &format!("{name} \u{2013} {other}")));
        }
        if kind != Kind::Tool {
            return;
        }
        if let Some(other) = neighbours.like(name) {
            let text = format!("{name} \u{2013} {} of {}", other.name, other.owner);
            let code = if other.name == name { Code::NameTaken } else { Code::LookAlike };
            found.add(Finding::new(code, place, &text));
        }
    }
}

/// How odd the name of a tool or a prompt is.
fn oddness(name: &str) -> Option<Severity> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    if name.chars().all(plain) && name.chars().count() <= 128 {
        return None;
    }
    // Letters outside ASCII, blanks at an end: what one reads is not what one types.
    let misleads = !name.is_ascii() || name.trim() != name || name.chars().any(char::is_control);
    Some(if misleads { Severity::High } else { Severity::Warn })
}

/// A word of Latin letters with one in it that only looks Latin.
pub(super) fn mixed_word(text: &str) -> Option<&str> {
    if text.is_ascii() {
        return None;
    }
    let mixed = |word: &&str| {
        let imitates = |c: char| !c.is_ascii() && look_alike(c).is_some();
        word.contains(|c: char| c.is_ascii_alphabetic()) && word.contains(imitates)
    };
    text.split(parts_words).find(mixed)
}

/// Whether it stands between words. By blocks: to ask of each letter what it is costs too much.
const fn parts_words(c: char) -> bool {
    match c {
        '\0'..='\u{7f}' => !c.is_ascii_alphanumeric(),
        '\u{80}'..='\u{bf}' | '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{303f}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::{Code, Findings, Severity};
    use super::super::neighbours::Neighbours;
    use super::{Names, mixed_word, oddness};
    use crate::pin::{Kind, Offer};

    fn found(names: &[&str]) -> Vec<Vec<(Code, Severity)>> {
        let raw: Vec<String> =
            names.iter().map(|name| serde_json::json!({"name": name}).to_string()).collect();
        let mut offer = Offer::new();
        offer.add(Kind::Tool, raw.iter().map(String::as_str));
        let neighbours = Neighbours::new([("workspace", "read"), ("github", "merge")]);
        let all = Names::of(&offer.definitions);
        let look = |definition| {
            let mut findings = Findings::default();
            all.look_at(definition, &neighbours, &mut findings);
            findings.done().into_iter().map(|f| (f.code, f.severity)).collect()
        };
        offer.definitions.iter().map(look).collect()
    }

    #[test]
    fn a_name_is_plain_or_said_to_be_odd() {
        for (name, odd) in [
            ("get_user-2.x/y", None),
            ("get user", Some(Severity::Warn)),
            ("get:user", Some(Severity::Warn)),
            ("get_user ", Some(Severity::High)),
            ("get\u{200b}user", Some(Severity::High)),
            ("g\u{435}t_user", Some(Severity::High)),
            ("get\nuser", Some(Severity::High)),
            ("\u{e9}tat", Some(Severity::High)),
        ] {
            assert_eq!(oddness(name), odd, "{name:?}");
        }
        assert_eq!(oddness(&"a".repeat(129)), Some(Severity::Warn));
    }

    #[test]
    fn names_that_pass_for_others_are_found() {
        for (names, codes) in [
            (&["list", "get"] as &[&str], vec![]),
            (&["list", "list"], vec![Code::Doubled]),
            (&["list", "List"], vec![Code::LookAlike]),
            (&["pay1oad", "payload"], vec![Code::LookAlike]),
            (&["l\u{456}st", "list"], vec![Code::NameForm, Code::LookAlike]),
            (&["read"], vec![Code::NameTaken]),
            (&["Read"], vec![Code::LookAlike]),
            (&["m\u{435}rge"], vec![Code::NameForm, Code::LookAlike]),
        ] {
            let first: Vec<Code> = found(names)[0].iter().map(|(code, _)| *code).collect();
            assert_eq!(first, codes, "{names:?}");
        }
    }

    #[test]
    fn words_of_two_alphabets_are_found() {
        for (text, word) in [
            ("plain", None),
            ("p\u{430}ypal", Some("p\u{430}ypal")),
            ("\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442} hello", None),
            ("caf\u{e9} \u{65e5}\u{672c}", None),
            ("see ex\u{430}mple.com", Some("ex\u{430}mple")),
        ] {
            assert_eq!(mixed_word(text), word, "{text}");
        }
    }
}
