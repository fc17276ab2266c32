//! What a page is called by the file it comes from, and the file by the page.

use std::path::{Path, PathBuf};

use narthex_core::{PageSlug, Title};

/// Whether a file is read as markdown.
pub fn is_markdown(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|said| {
        said.eq_ignore_ascii_case("md") || said.eq_ignore_ascii_case("markdown")
    })
}

/// Whether a file stands for its folder.
pub fn is_index(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    stem.is_some_and(|stem| {
        stem.eq_ignore_ascii_case("index") || stem.eq_ignore_ascii_case("readme")
    })
}

/// The slug of a file, by its path from the folder on: folders become a path, `index.md` and
/// `README.md` stand for their folder, and at the top for [`HOME`].
pub fn slug_of(file: &Path) -> Result<PageSlug, String> {
    let named = if is_index(file) {
        file.parent().map(Path::to_path_buf).unwrap_or_default()
    } else {
        file.with_extension("")
    };
    let mut words = Vec::new();
    for part in &named {
        let text = part.to_str().ok_or("its name is not UTF-8")?;
        let word = PageSlug::from_title(text)
            .map_err(|_| format!("no slug can be made of {text:?}; give it one in front matter"))?;
        words.push(word.as_str().to_owned());
    }
    if words.is_empty() {
        words.push(HOME.to_owned());
    }
    words.join("/").parse().map_err(|error: narthex_core::SlugError| error.to_string())
}

/// The title of a file that says none: its first heading, or its name.
pub fn title_of(file: &Path, body: &str) -> Result<Title, String> {
    if let Some(title) = heading(body).and_then(|text| Title::parse(text).ok()) {
        return Ok(title);
    }
    let named = if is_index(file) { file.parent() } else { Some(file) };
    let stem = named.and_then(Path::file_stem).and_then(|stem| stem.to_str()).unwrap_or("Home");
    let words = stem.replace(['-', '_'], " ");
    Title::parse(if words.trim().is_empty() { stem } else { &words })
        .map_err(|error| error.to_string())
}

/// The file a page is written to. INVARIANT: a slug cannot climb, so neither can this path; and
/// two slugs never share one (`~` is in no slug).
pub fn file_of(slug: &PageSlug) -> PathBuf {
    let mut words: Vec<&str> = slug.as_str().split('/').collect();
    let last = words.pop().unwrap_or_default();
    let mut path: PathBuf = words
        .into_iter()
        .map(|word| {
            // A folder that would not be read again, or that a file could be in the way of.
            let kept = word != "node_modules" && !is_markdown(Path::new(&format!("x{word}")));
            if kept { word.to_owned() } else { format!("{word}~") }
        })
        .collect();
    path.push(format!("{last}.md"));
    path
}

/// The first `# ` heading outside code.
fn heading(body: &str) -> Option<&str> {
    let mut fence: Option<&str> = None;
    for line in body.lines() {
        let start = line.trim_start();
        match fence {
            Some(mark) if start.starts_with(mark) => fence = None,
            Some(_) => {}
            None if start.starts_with("```") => fence = Some("```"),
            None if start.starts_with("~~~") => fence = Some("~~~"),
            None => {
                if let Some(text) = line.strip_prefix("# ") {
                    return Some(text.trim().trim_end_matches('#').trim_end());
                }
            }
        }
    }
    None
}

/// What the top folder's `index.md` or `README.md` becomes.
pub const HOME: &str = "home";

#[cfg(test)]
mod tests {
    use super::{file_of, is_markdown, slug_of, title_of};
    use std::path::Path;

    #[test]
    fn paths_become_slugs() {
        for (path, slug) in [
            ("a.md", Some("a")),
            ("Set Up.md", Some("set-up")),
            ("Guides/Set Up.md", Some("guides/set-up")),
            ("index.md", Some("home")),
            ("README.md", Some("home")),
            ("readme.markdown", Some("home")),
            ("guides/index.md", Some("guides")),
            ("guides/deep/README.md", Some("guides/deep")),
            ("v1.2.md", Some("v1.2")),
            ("v1.2/notes.md", Some("v1.2/notes")),
            ("a.b.markdown", Some("a.b")),
            ("\u{65e5}\u{672c}.md", Some("\u{65e5}\u{672c}")),
            ("\u{c9}t\u{e9}.md", Some("\u{e9}t\u{e9}")),
            ("_draft.md", Some("draft")),
            ("C++ & Rust.md", Some("c-rust")),
            ("a--b.md", Some("a--b")),
            ("home.md", Some("home")),
            ("!!!.md", None),
            ("guides/!!!.md", None),
            ("!!!/a.md", None),
            ("a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q.md", None),
        ] {
            let made = slug_of(Path::new(path)).ok();
            assert_eq!(made.as_ref().map(narthex_core::PageSlug::as_str), slug, "{path}");
        }
    }

    #[test]
    fn titles_come_from_the_first_heading_or_the_name() {
        for (path, body, title) in [
            ("a.md", "# Title\n", "Title"),
            ("a.md", "text\n\n# Title #\n# Other", "Title"),
            ("a.md", "```\n# code\n```\n# Title", "Title"),
            ("a.md", "~~~\n# code\n```\n~~~\n# Title", "Title"),
            ("a.md", "## Second\n", "a"),
            ("a.md", "#Title\n", "a"),
            ("a.md", "# \n# Next", "a"),
            ("set-up_now.md", "", "set up now"),
            ("guides/index.md", "", "guides"),
            ("README.md", "", "Home"),
            ("---.md", "", "---"),
            ("a.md", "# bell \u{7}\n", "a"),
        ] {
            let made = title_of(Path::new(path), body).expect(path);
            assert_eq!(made.as_str(), title, "{path} {body:?}");
        }
    }

    #[test]
    fn pages_become_files_that_are_read_again_and_never_meet() {
        for (slug, path) in [
            ("home", "home.md"),
            ("guides/set-up", "guides/set-up.md"),
            ("v1.2/notes", "v1.2/notes.md"),
            ("node_modules/x", "node_modules~/x.md"),
            ("node_modules", "node_modules.md"),
            ("a.md/b", "a.md~/b.md"),
            ("a.md", "a.md.md"),
            ("guides/index", "guides/index.md"),
        ] {
            let path_made = file_of(&slug.parse().expect(slug));
            assert_eq!(path_made, Path::new(path));
            assert!(is_markdown(&path_made));
        }
    }
}
