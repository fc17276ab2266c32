//! One file, read as the page it would become.

use std::path::Path;

use narthex_core::{Bound, PageDraft, PageSlug, Title};

use super::{front_matter, names};

/// A file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFile {
    /// The page it would become, its links as they stand in the file.
    pub draft: PageDraft,
    /// Whether its links are to stay as they are.
    pub links_as_is: bool,
}

/// Reads a file; `relative` is its path from the imported folder on.
pub fn read(path: &Path, relative: &Path) -> Result<ReadFile, String> {
    let size = std::fs::metadata(path).map_err(|error| error.to_string())?.len();
    if size > FILE_BYTES {
        return Err(format!("larger than {} bytes", Bound::BODY_BYTES));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes)
        .map_err(|error| format!("not UTF-8 (at byte {})", error.utf8_error().valid_up_to()))?;
    page(&text, relative)
}

/// Reads the text of a file.
pub fn page(text: &str, relative: &Path) -> Result<ReadFile, String> {
    let (front, body) = front_matter::part(text)?;
    let slug = match &front.slug {
        Some(said) => given_slug(said)?,
        None => names::slug_of(relative)?,
    };
    let title = match &front.title {
        Some(said) => Title::parse(said).map_err(|error| error.to_string())?,
        None => names::title_of(relative, body)?,
    };
    let draft = PageDraft::new(slug, title, body.to_owned(), front.tags)
        .map_err(|error| error.to_string())?;
    Ok(ReadFile { draft, links_as_is: front.links_as_is })
}

/// A slug someone wrote down: as it is, or made one (`/My Page/` is `my-page`).
fn given_slug(said: &str) -> Result<PageSlug, String> {
    said.parse().or_else(|_| PageSlug::from_title(said)).map_err(|error| error.to_string())
}

/// The largest body and room for front matter.
const FILE_BYTES: u64 = Bound::BODY_BYTES as u64 + 128 * 1024;

#[cfg(test)]
mod tests {
    use super::page;
    use std::path::Path;

    #[test]
    fn a_file_says_what_it_is_or_its_path_and_heading_do() {
        for (path, text, expected) in [
            ("a/b.md", "# T\ntext", "a/b|T||# T\ntext"),
            ("a/b.md", "---\ntitle: U\nslug: x/y\ntags: [q, p, q]\n---\n# T", "x/y|U|p,q|# T"),
            ("a/b.md", "---\nslug: /My Page/\n---\n", "my-page|b||"),
            ("README.md", "", "home|Home||"),
            ("b.md", "---\ntitle: \" padded \"\n---\n", "b|padded||"),
        ] {
            let draft = page(text, Path::new(path)).expect(path).draft;
            let tags = draft.tags.join(",");
            let made = format!("{}|{}|{tags}|{}", draft.slug, draft.title.as_str(), draft.body);
            assert_eq!(made, expected, "{path} {text:?}");
        }
    }

    #[test]
    fn what_no_page_can_be_is_refused() {
        for (path, text, reason) in [
            ("!!!.md", "x", "no slug can be made"),
            ("a.md", "---\nslug: '!!'\n---\n", "page slug"),
            ("a.md", "---\ntitle: ''\n---\n", "title is empty"),
            ("a.md", "---\ntitle: \"a\\nb\"\n---\n", "control character"),
            ("a.md", "nul \0", "control character"),
            ("a.md", "---\ntags: [\"a\\tb\"]\n---\n", "control character"),
        ] {
            let said = page(text, Path::new(path)).expect_err(text);
            assert!(said.contains(reason), "{text:?}: {said}");
        }
        let long = "x".repeat(1024 * 1024 + 1);
        assert!(page(&long, Path::new("a.md")).is_err_and(|said| said.contains("longer than")));
    }
}
