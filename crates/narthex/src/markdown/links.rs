//! Links between files, `[x](../other.md)`, made links between pages, `[[other|x]]`.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use narthex_core::PageSlug;

/// Rewrites the links of `body`, which stands in `file`, to those files that `slugs` knows.
///
/// Code, images, web addresses and links to anything else stay what they are, and so does a link
/// whose label a `[[link]]` could not hold.
pub fn rewrite(body: &str, file: &Path, slugs: &BTreeMap<PathBuf, PageSlug>) -> String {
    let mut out = String::with_capacity(body.len());
    let mut fence: Option<&str> = None;
    for line in body.split_inclusive('\n') {
        let start = line.trim_start();
        match fence {
            Some(mark) if start.starts_with(mark) => fence = None,
            None if start.starts_with("```") => fence = Some("```"),
            None if start.starts_with("~~~") => fence = Some("~~~"),
            None => {
                rewrite_line(line, file, slugs, &mut out);
                continue;
            }
            Some(_) => {}
        }
        out.push_str(line);
    }
    out
}

/// Whether there is a link that reading the file again could rewrite.
pub fn has_file_links(body: &str) -> bool {
    let lower = body.to_ascii_lowercase();
    // '%' may spell a dot.
    lower.contains("](") && [".md", ".markdown", "%"].iter().any(|mark| lower.contains(mark))
}

fn rewrite_line(line: &str, file: &Path, slugs: &BTreeMap<PathBuf, PageSlug>, out: &mut String) {
    let (mut rest, mut before, mut in_code) = (line, ' ', false);
    while let Some(c) = rest.chars().next() {
        let escaped = before == '\\';
        in_code ^= c == '`';
        let opens = c == '[' && !in_code && !escaped && before != '!' && before != '[';
        if opens
            && let Some((link, after)) = link(rest)
            && let Some(made) = made(&link, file, slugs)
        {
            out.push_str(&made);
            (rest, before) = (after, ')');
            continue;
        }
        out.push(c);
        before = if escaped { ' ' } else { c };
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
}

/// A link as it is written.
struct Link<'a> {
    label: &'a str,
    target: &'a str,
}

/// Reads a link at the start of `text`, and what comes after it.
fn link(text: &str) -> Option<(Link<'_>, &str)> {
    let inside = text.strip_prefix('[')?;
    let end = inside.find(['[', ']'])?;
    let (label, rest) = (inside.get(..end)?, inside.get(end..)?);
    let rest = rest.strip_prefix("](")?.trim_start_matches(' ');
    let (target, rest) = match rest.strip_prefix('<') {
        Some(bracketed) => bracketed.split_once('>')?,
        None => rest.split_at_checked(rest.find([' ', ')', '\n', '('])?)?,
    };
    let rest = rest.trim_start_matches(' ');
    let rest = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest.get(1..)?.split_once(quote)?.1.trim_start_matches(' '),
        _ => rest,
    };
    Some((Link { label, target }, rest.strip_prefix(')')?))
}

/// The link between pages, if the target is a page and the label can be kept.
fn made(link: &Link<'_>, file: &Path, slugs: &BTreeMap<PathBuf, PageSlug>) -> Option<String> {
    let (path, part) = link.target.split_once('#').unwrap_or((link.target, ""));
    let slug = slugs.get(&resolve(file, &decoded(path)?)?)?;
    // A code span would hide the link from those who look for links in prose.
    let label = link.label.replace('`', "");
    let label = label.trim();
    if label.contains('|') {
        return None;
    }
    let part = if part.is_empty() || part.contains(['|', ']', '[', '`']) {
        String::new()
    } else {
        format!("#{part}")
    };
    Some(if label.is_empty() || (part.is_empty() && label == slug.as_str()) {
        format!("[[{slug}{part}]]")
    } else {
        format!("[[{slug}{part}|{label}]]")
    })
}

/// The file a relative target names, from the top folder on; nothing if it leaves that folder.
fn resolve(file: &Path, target: &str) -> Option<PathBuf> {
    if target.is_empty() || target.contains(':') {
        return None;
    }
    let mut path = file.parent()?.to_path_buf();
    for part in Path::new(target).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

/// Undoes `%20` and its like.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, coded)) = rest.split_once('%') {
        bytes.extend_from_slice(plain.as_bytes());
        bytes.push(u8::from_str_radix(coded.get(..2)?, 16).ok()?);
        rest = coded.get(2..)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{has_file_links, rewrite};
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    #[test]
    fn links_to_imported_files_become_links_between_pages_and_nothing_else_changes() {
        for (body, expected) in [
            ("[x](other.md)", "[[guides/other|x]]"),
            ("[x](./other.md)", "[[guides/other|x]]"),
            ("[x](../index.md)", "[[home|x]]"),
            ("[x](../index.md) and [y](deep/page.md).", "[[home|x]] and [[guides/deep/page|y]]."),
            ("[x](other.md#part)", "[[guides/other#part|x]]"),
            ("[x](other.md \"title\")", "[[guides/other|x]]"),
            ("[x](<a b.md>)", "[[guides/a-b|x]]"),
            ("[x](a%20b.md)", "[[guides/a-b|x]]"),
            ("[](other.md)", "[[guides/other]]"),
            ("[home](../index.md)", "[[home]]"),
            ("[`code`](other.md)", "[[guides/other|code]]"),
            ("\u{e9}[\u{e9}](other.md)\u{e9}", "\u{e9}[[guides/other|\u{e9}]]\u{e9}"),
            ("- [x](other.md)\r\n", "- [[guides/other|x]]\r\n"),
            ("([x](other.md))", "([[guides/other|x]])"),
            ("![x](other.md)", "![x](other.md)"),
            ("`[x](other.md)`", "`[x](other.md)`"),
            ("```\n[x](other.md)\n```\n", "```\n[x](other.md)\n```\n"),
            (
                "~~~\n```\n[x](other.md)\n~~~\n[x](other.md)",
                "~~~\n```\n[x](other.md)\n~~~\n[[guides/other|x]]",
            ),
            ("\\[x](other.md)", "\\[x](other.md)"),
            ("[[other]](other.md)", "[[other]](other.md)"),
            ("[a|b](other.md)", "[a|b](other.md)"),
            ("[a [b]](other.md)", "[a [b]](other.md)"),
            ("[x](missing.md)", "[x](missing.md)"),
            ("[x](../../outside.md)", "[x](../../outside.md)"),
            ("[x](/other.md)", "[x](/other.md)"),
            ("[x](https://example.org/other.md)", "[x](https://example.org/other.md)"),
            ("[x](mailto:a@b.md)", "[x](mailto:a@b.md)"),
            ("[x](#part)", "[x](#part)"),
            ("[x](other.md", "[x](other.md"),
            ("[x] (other.md)", "[x] (other.md)"),
            ("[x](other%2Emd)", "[[guides/other|x]]"),
            ("[x](other%2.md)", "[x](other%2.md)"),
            ("[x](other%ff.md)", "[x](other%ff.md)"),
            ("[x](other.md) `c", "[[guides/other|x]] `c"),
            ("[x]: other.md", "[x]: other.md"),
        ] {
            assert_eq!(rewrite(body, Path::new("guides/page.md"), &files()), expected, "{body:?}");
        }
    }

    #[test]
    fn rewriting_twice_changes_nothing_more() {
        let once = rewrite("[x](other.md) [y](z.md)", Path::new("guides/page.md"), &files());
        assert_eq!(rewrite(&once, Path::new("guides/page.md"), &files()), once);
        for (body, has) in [
            (once.as_str(), true),
            ("[x](a%2Emd)", true),
            ("[x](https://example.org)", false),
            ("a.md [[b]]", false),
        ] {
            assert_eq!(has_file_links(body), has, "{body}");
        }
    }

    fn files() -> BTreeMap<PathBuf, narthex_core::PageSlug> {
        [
            ("index.md", "home"),
            ("guides/other.md", "guides/other"),
            ("guides/a b.md", "guides/a-b"),
            ("guides/deep/page.md", "guides/deep/page"),
        ]
        .into_iter()
        .map(|(path, slug)| (PathBuf::from(path), slug.parse().expect(slug)))
        .collect()
    }
}
