//! A page in the person's own editor.

use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::process::Command;

use narthex_core::PageDraft;

use crate::config::env;
use crate::markdown::{file, front_matter};
use crate::{Exit, Failure};

/// Opens the editor on a page, as a file with front matter, and reads what was made of it. Text
/// that does not read as a page is kept and named, so that no work is lost.
pub(super) fn edit(draft: &PageDraft) -> Result<PageDraft, Failure> {
    let text = front_matter::write(
        draft.title.as_str(),
        draft.slug.as_str(),
        &draft.tags,
        false,
        &draft.body,
    );
    let mut page = tempfile::Builder::new()
        .prefix("narthex-")
        .suffix(".md")
        .tempfile()
        .map_err(|error| Failure::new(Exit::Failed, format!("no temporary file: {error}")))?;
    let path = page.path().to_path_buf();
    let failed = |error: std::io::Error| Failure::file(&path, &error);
    page.write_all(text.as_bytes()).and_then(|()| page.flush()).map_err(failed)?;
    open(&path)?;
    // Editors replace the file rather than write into it, so it is opened anew.
    let mut after = String::new();
    page.reopen()
        .or_else(|_| std::fs::File::open(&path))
        .and_then(|mut file| file.rewind().and_then(|()| file.read_to_string(&mut after)))
        .map_err(failed)?;
    read(&after, draft).map_err(|reason| keep(page, &reason))
}

/// Without front matter, the text is the body and the rest stays as it was.
fn read(text: &str, before: &PageDraft) -> Result<PageDraft, String> {
    let (front, body) = front_matter::part(text)?;
    if front.title.is_none() && front.slug.is_none() {
        let PageDraft { slug, title, tags, .. } = before.clone();
        return PageDraft::new(slug, title, body.to_owned(), tags)
            .map_err(|error| error.to_string());
    }
    file::page(text, Path::new(&format!("{}.md", before.slug))).map(|read| read.draft)
}

fn open(path: &Path) -> Result<(), Failure> {
    let words = env::editor();
    let (program, arguments) =
        words.split_first().map_or(("vi", [].as_slice()), |(first, rest)| (first.as_str(), rest));
    let ended = Command::new(program).args(arguments).arg(path).status().map_err(|error| {
        Failure::new(Exit::Failed, format!("cannot start the editor {program}: {error}"))
            .hint("set EDITOR, or give the text with --body or --file")
    })?;
    if ended.success() {
        return Ok(());
    }
    Err(Failure::new(Exit::Failed, format!("the editor {program} failed; nothing was changed")))
}

fn keep(page: tempfile::NamedTempFile, reason: &str) -> Failure {
    let kept = page.into_temp_path().keep().map(|path| path.display().to_string());
    let failure = Failure::new(Exit::Usage, reason);
    match kept {
        Ok(path) => failure.hint(format!("your text is in {path}")),
        Err(_) => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use narthex_core::{PageDraft, Title};

    #[test]
    fn what_the_editor_leaves_is_read_as_the_page() {
        let before = PageDraft::new(
            "a/b".parse().expect("slug"),
            Title::parse("T").expect("title"),
            "old".to_owned(),
            ["x".to_owned()],
        )
        .expect("draft");
        let body_only = read("new", &before).expect("a body");
        assert_eq!((body_only.body.as_str(), &body_only.tags), ("new", &before.tags));
        let all = read("---\ntitle: U\nslug: c\n---\n\nnew", &before).expect("a page");
        assert_eq!((all.slug.as_str(), all.title.as_str(), all.tags.len()), ("c", "U", 0));
        assert!(read("---\ntitle: [\n---\n", &before).is_err());
    }
}
