//! `narthex page export`.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Component, Path, PathBuf};

use narthex_core::PageDraft;
use narthex_server::owner::{Reply, Request};
use serde_json::json;

use super::list::pages;
use crate::ask::Asking;
use crate::cli::PageExportArgs;
use crate::commands::unexpected;
use crate::markdown::{front_matter, links, names};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &PageExportArgs) -> Result<Exit, Failure> {
    let folder = Folder::open(&args.folder, args.force)?;
    let mut asking = Asking::open(context).await?;
    let written = write_all(&mut asking, &args.space, &folder).await;
    asking.close().await?;
    let count = written?;
    if context.is_json() {
        output::json(&json!({"space": args.space, "pages": count, "folder": args.folder}))?;
    } else {
        output::text(format!("{count} pages written to {}", args.folder.display()))?;
    }
    Ok(Exit::Done)
}

async fn write_all(asking: &mut Asking, space: &str, folder: &Folder) -> Result<usize, Failure> {
    let listed = pages(asking, space, None, usize::MAX).await?;
    let mut count = 0;
    for page in &listed {
        let request = Request::PageShow { space: space.to_owned(), page: page.id.to_string() };
        let view = match asking.ask(request).await {
            Ok(Reply::Page(view)) => view,
            Ok(_) => return Err(unexpected()),
            // It went away between the list and now.
            Err(failure) if failure.exit == Exit::NotFound => continue,
            Err(failure) => return Err(failure),
        };
        folder.write(&view.page.draft)?;
        count += 1;
    }
    Ok(count)
}

/// The one folder that is written to.
#[derive(Debug)]
struct Folder {
    root: PathBuf,
    force: bool,
}

impl Folder {
    /// Makes the folder; one that holds something is refused unless that is wished for.
    fn open(root: &Path, force: bool) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::file(root, &error);
        fs::create_dir_all(root).map_err(failed)?;
        let empty = fs::read_dir(root).map_err(failed)?.next().is_none();
        if !empty && !force {
            let message = format!("{} is not empty", root.display());
            return Err(Failure::new(Exit::Conflict, message)
                .hint("name a new folder, or write over what is there with --force"));
        }
        Ok(Self { root: fs::canonicalize(root).map_err(failed)?, force })
    }

    fn write(&self, draft: &PageDraft) -> Result<(), Failure> {
        let relative = names::file_of(&draft.slug);
        let path = self.root.join(&relative);
        self.stays_inside(&relative)?;
        let failed = |error: std::io::Error| Failure::file(&path, &error);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(!self.force).create(true).truncate(self.force);
        let mut file = options.open(&path).map_err(failed)?;
        file.write_all(text(draft).as_bytes()).map_err(failed)
    }

    /// INVARIANT: nothing on the way to a file is a symbolic link, so nothing leads outside.
    fn stays_inside(&self, relative: &Path) -> Result<(), Failure> {
        let mut path = self.root.clone();
        for part in relative.components() {
            let Component::Normal(part) = part else { return Err(outside(relative)) };
            path.push(part);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_symlink() => return Err(outside(&path)),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(Failure::file(&path, &error)),
            }
        }
        Ok(())
    }
}

/// A file that reads as this very page again.
fn text(draft: &PageDraft) -> String {
    front_matter::write(
        draft.title.as_str(),
        draft.slug.as_str(),
        &draft.tags,
        links::has_file_links(&draft.body),
        &draft.body,
    )
}

fn outside(path: &Path) -> Failure {
    let message = format!("{} leads out of the folder", path.display());
    Failure::new(Exit::Failed, message).hint("take the symbolic link away, or name a new folder")
}

#[cfg(test)]
mod tests {
    use super::Folder;
    use crate::Exit;
    use narthex_core::{PageDraft, Title};
    use std::path::Path;

    #[test]
    fn a_folder_that_holds_something_is_left_alone() {
        let dir = tempfile::tempdir().expect("a folder");
        assert!(Folder::open(&dir.path().join("new/er"), false).is_ok());
        let refused = Folder::open(dir.path(), false).expect_err("not empty");
        assert_eq!(refused.exit, Exit::Conflict);
        assert!(Folder::open(dir.path(), true).is_ok());
    }

    #[test]
    fn nothing_is_written_through_a_symbolic_link() {
        let (dir, other) = (tempfile::tempdir().expect("one"), tempfile::tempdir().expect("two"));
        std::os::unix::fs::symlink(other.path(), dir.path().join("a")).expect("a link");
        let target = other.path().join("target");
        std::os::unix::fs::symlink(&target, dir.path().join("c.md")).expect("a link");
        let folder = Folder::open(dir.path(), true).expect("a folder");
        for slug in ["a/b", "c"] {
            let refused = folder.write(&draft(slug)).expect_err(slug);
            assert!(refused.message.contains("leads out"), "{refused}");
        }
        assert_eq!(std::fs::read_dir(other.path()).expect("two").count(), 0);
        folder.write(&draft("d/e")).expect("a plain page");
        assert!(Path::new(&dir.path().join("d/e.md")).is_file());
    }

    fn draft(slug: &str) -> PageDraft {
        let title = Title::parse("T").expect("title");
        PageDraft::new(slug.parse().expect(slug), title, String::new(), []).expect("draft")
    }
}
