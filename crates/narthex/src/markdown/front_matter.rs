//! Front matter: YAML between `---` lines, or TOML between `+++` lines.

use serde::Serialize;
use serde_norway::Value as Yaml;
use toml::Value as Toml;

/// What a file says of itself. Other keys are left alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrontMatter {
    /// `title`.
    pub title: Option<String>,
    /// `slug`.
    pub slug: Option<String>,
    /// `tags`, as a list or parted by commas.
    pub tags: Vec<String>,
    /// `links: as-is`: links to other files stay what they are.
    pub links_as_is: bool,
}

/// Parts a file into front matter and body. Text that only looks like front matter is body.
///
/// One empty line after the front matter belongs to it, so that writing and reading agree.
pub fn part(text: &str) -> Result<(FrontMatter, &str), String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some((mark, inside, after)) = fenced(text) else {
        return Ok((FrontMatter::default(), text));
    };
    if inside.len() > FRONT_BYTES {
        return Err(format!("front matter is longer than {FRONT_BYTES} bytes"));
    }
    let front = if mark == "+++" { toml(inside) } else { yaml(inside) };
    let body = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')).unwrap_or(after);
    Ok(front?.map_or((FrontMatter::default(), text), |front| (front, body)))
}

/// Writes a file that reads as the same page.
pub fn write(title: &str, slug: &str, tags: &[String], as_is: bool, body: &str) -> String {
    let links = as_is.then_some("as-is");
    // Texts and lists of texts can always be written as YAML.
    let front = serde_norway::to_string(&Written { title, slug, tags, links }).unwrap_or_default();
    format!("---\n{front}---\n\n{body}")
}

#[derive(Serialize)]
struct Written<'a> {
    title: &'a str,
    slug: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tags: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<&'a str>,
}

/// The mark, what stands between it and its end, and what comes after.
fn fenced(text: &str) -> Option<(&'static str, &str, &str)> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next()?;
    let mark = ["---", "+++"].into_iter().find(|mark| first.trim_end() == *mark)?;
    let mut at = first.len();
    for line in lines {
        let end = at + line.len();
        if line.trim_end() == mark || (mark == "---" && line.trim_end() == "...") {
            return Some((mark, text.get(first.len()..at)?, text.get(end..)?));
        }
        at = end;
    }
    None
}

/// None if it is no mapping: two rules with prose between them.
fn yaml(text: &str) -> Result<Option<FrontMatter>, String> {
    let parsed: Yaml = serde_norway::from_str(text)
        .map_err(|error| format!("front matter does not read as YAML: {error}"))?;
    let map = match parsed {
        Yaml::Null => return Ok(Some(FrontMatter::default())),
        Yaml::Mapping(map) => map,
        _ => return Ok(None),
    };
    let plain = |value: &Yaml| match value {
        Yaml::String(text) => Some(text.clone()),
        Yaml::Number(number) => Some(number.to_string()),
        Yaml::Bool(yes) => Some(yes.to_string()),
        _ => None,
    };
    front(|key| {
        Some(match map.get(key)? {
            Yaml::Null => return None,
            Yaml::Sequence(items) => Given::Many(items.iter().map(plain).collect()),
            one => Given::One(plain(one)),
        })
    })
    .map(Some)
}

fn toml(text: &str) -> Result<Option<FrontMatter>, String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        format!("front matter does not read as TOML: {}", error.message())
    })?;
    let plain = |value: &Toml| match value {
        Toml::String(text) => Some(text.clone()),
        Toml::Integer(_) | Toml::Float(_) | Toml::Boolean(_) | Toml::Datetime(_) => {
            Some(value.to_string())
        }
        _ => None,
    };
    front(|key| {
        Some(match table.get(key)? {
            Toml::Array(items) => Given::Many(items.iter().map(plain).collect()),
            one => Given::One(plain(one)),
        })
    })
    .map(Some)
}

/// A value of either language: plain text, a list of it, or (none) something else.
enum Given {
    One(Option<String>),
    Many(Option<Vec<String>>),
}

fn front(given: impl Fn(&str) -> Option<Given>) -> Result<FrontMatter, String> {
    let one = |key: &str| match given(key) {
        None => Ok(None),
        Some(Given::One(Some(text))) => Ok(Some(text)),
        Some(_) => Err(format!("'{key}' in the front matter is not a text")),
    };
    let tags = match given("tags") {
        None => Vec::new(),
        Some(Given::One(Some(text))) => text.split(',').map(str::to_owned).collect(),
        Some(Given::Many(Some(tags))) => tags,
        Some(_) => return Err("'tags' in the front matter is not a list of texts".to_owned()),
    };
    let tags = tags.into_iter().filter(|tag| !tag.trim().is_empty()).collect();
    let links_as_is = matches!(given("links"), Some(Given::One(Some(said))) if said == "as-is");
    Ok(FrontMatter { title: one("title")?, slug: one("slug")?, tags, links_as_is })
}

/// The reader of YAML takes quadratic time on nested brackets; this much is harmless.
const FRONT_BYTES: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use super::{part, write};
    use proptest::prelude::*;

    #[test]
    fn front_matter_is_read_in_both_languages() {
        for (text, title, slug, tags, body) in [
            ("# Hi\n", "-", "-", "", "# Hi\n"),
            ("---\ntitle: A\n---\nbody", "A", "-", "", "body"),
            ("---\ntitle: A\n---\n\nbody", "A", "-", "", "body"),
            ("---\ntitle: A\n---\n\n\nbody", "A", "-", "", "\nbody"),
            ("---\r\ntitle: A\r\n---\r\n\r\nbody\r\n", "A", "-", "", "body\r\n"),
            ("\u{feff}---\ntitle: A\n---\nbody", "A", "-", "", "body"),
            ("---\ntitle: A\n...\nbody", "A", "-", "", "body"),
            ("---\ntitle: \"A: b\"\nslug: x/y\n---\n", "A: b", "x/y", "", ""),
            ("---\ntags: [b, a]\n---\n", "-", "-", "b a", ""),
            ("---\ntags:\n- b\n- 7\n---\n", "-", "-", "b 7", ""),
            ("---\ntags: b, a,\n---\n", "-", "-", "b  a", ""),
            ("---\ntags:\n---\nx", "-", "-", "", "x"),
            ("---\ntitle: 2024\ndate: 2024-01-01\n---\nx", "2024", "-", "", "x"),
            ("---\ntitle: true\nother: {a: [1]}\n---\nx", "true", "-", "", "x"),
            ("---\n---\nx", "-", "-", "", "x"),
            ("---\n# only a comment\n---\nx", "-", "-", "", "x"),
            ("---\nno end", "-", "-", "", "---\nno end"),
            ("---\nprose only\n---\nx", "-", "-", "", "---\nprose only\n---\nx"),
            ("---", "-", "-", "", "---"),
            ("", "-", "-", "", ""),
            (" ---\ntitle: A\n---\n", "-", "-", "", " ---\ntitle: A\n---\n"),
            ("----\ntitle: A\n----\n", "-", "-", "", "----\ntitle: A\n----\n"),
            ("+++\ntitle = 'A'\ntags = ['b', 3]\n+++\nx", "A", "-", "b 3", "x"),
            ("+++\nslug = 'x'\n[extra]\na = 1\n+++\nx", "-", "x", "", "x"),
            ("+++\nno end", "-", "-", "", "+++\nno end"),
        ] {
            let (front, rest) = part(text).expect(text);
            assert_eq!(front.title.as_deref().unwrap_or("-"), title, "{text:?}");
            assert_eq!(front.slug.as_deref().unwrap_or("-"), slug, "{text:?}");
            assert_eq!(front.tags.join(" "), tags, "{text:?}");
            assert_eq!(rest, body, "{text:?}");
        }
    }

    #[test]
    fn what_does_not_read_is_refused_with_a_reason() {
        for (text, reason) in [
            ("---\ntitle: [\n---\n", "does not read as YAML"),
            ("---\ntitle: {a: b}\n---\n", "'title' in the front matter is not a text"),
            ("---\nslug: [a]\n---\n", "'slug' in the front matter is not a text"),
            ("---\ntags: {a: b}\n---\n", "'tags' in the front matter is not a list"),
            ("---\ntags: [[a]]\n---\n", "'tags' in the front matter is not a list"),
            ("+++\ntitle = \n+++\n", "does not read as TOML"),
            ("---\na: &a [*a]\n---\n", "does not read as YAML"),
        ] {
            let said = part(text).expect_err(text);
            assert!(said.contains(reason), "{text:?}: {said}");
        }
        let long = format!("---\ntitle: {}\n---\n", "x".repeat(70_000));
        assert!(part(&long).is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_reads_the_same(
            title in "[^\\p{C}\\s]([^\\p{C}\u{2028}\u{2029}]{0,20}[^\\p{C}\\s])?",
            tags in proptest::collection::vec("[^\\p{C}\\s]{1,8}", 0..4),
            body in "(---\n|\\PC|[\r\n\t ]){0,40}",
            as_is: bool,
        ) {
            let text = write(&title, "a/b", &tags, as_is, &body);
            let (front, rest) = part(&text).expect("it reads");
            prop_assert_eq!(front.title, Some(title));
            prop_assert_eq!(front.slug.as_deref(), Some("a/b"));
            prop_assert_eq!(front.tags, tags);
            prop_assert_eq!(front.links_as_is, as_is);
            prop_assert_eq!(rest, body);
        }
    }
}
