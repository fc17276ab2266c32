//! Links between pages, written `[[slug]]`, `[[slug|label]]` or `[[slug#heading]]`.

use std::collections::BTreeSet;

use crate::{Bound, PageSlug};

/// The slugs a text links to: each once, in order, outside code fences and code spans.
pub fn wiki_links(markdown: &str) -> Vec<PageSlug> {
    let mut found = BTreeSet::new();
    let mut fence: Option<&str> = None;
    for line in markdown.lines() {
        let start = line.trim_start();
        match fence {
            Some(mark) if start.starts_with(mark) => fence = None,
            Some(_) => {}
            None if start.starts_with("```") => fence = Some("```"),
            None if start.starts_with("~~~") => fence = Some("~~~"),
            None => links_of_line(line, &mut found),
        }
        if found.len() >= Bound::LINKS {
            break;
        }
    }
    found.into_iter().take(Bound::LINKS).collect()
}

fn links_of_line(line: &str, found: &mut BTreeSet<PageSlug>) {
    for (n, prose) in line.split('`').enumerate() {
        if n % 2 == 1 {
            continue;
        }
        let mut rest = prose;
        while let Some((_, after)) = rest.split_once("[[") {
            let Some((inside, tail)) = after.split_once("]]") else {
                break;
            };
            // `[[a [[b]]`: the innermost opening is the link.
            let inside = inside.rsplit_once("[[").map_or(inside, |(_, inner)| inner);
            let target = inside.split(['|', '#']).next().unwrap_or_default().trim();
            if let Ok(slug) = target.parse().or_else(|_| PageSlug::from_title(target)) {
                found.insert(slug);
            }
            rest = tail;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::wiki_links;

    #[test]
    fn links_are_found_once_and_only_in_prose() {
        for (text, expected) in [
            ("see [[home]] and [[home]]", "home"),
            ("[[b|the b]] [[a#part]]", "a b"),
            ("[[Getting Started]]", "getting-started"),
            ("`[[code]]` [[prose]]", "prose"),
            ("```\n[[code]]\n```\n[[after]]", "after"),
            ("~~~\n[[code]]\n```\n[[still]]\n~~~\n[[after]]", "after"),
            ("[[open", ""),
            ("[[]] [[ ]] [[|x]]", ""),
            ("[[a [[b]]", "b"),
            ("[[../x]]", "x"),
        ] {
            let slugs: Vec<String> = wiki_links(text).iter().map(ToString::to_string).collect();
            assert_eq!(slugs.join(" "), expected, "{text:?}");
        }
    }
}
