//! A folder of markdown: which files become which pages, and which do not, and why.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use narthex_core::{PageDraft, PageSlug};
use serde::Serialize;
use walkdir::{DirEntry, WalkDir};

use super::{file, links, names};

/// A folder, looked through once. Bodies are read again when they are needed, so that a large
/// folder does not have to fit into memory.
#[derive(Debug, Default)]
pub struct Tree {
    root: PathBuf,
    pages: Vec<Planned>,
    slugs: BTreeMap<PathBuf, PageSlug>,
    skipped: Vec<Skipped>,
}

/// A file that becomes a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Planned {
    /// The file, from the folder on.
    pub file: PathBuf,
    /// The page's slug.
    pub slug: PageSlug,
    /// Its title.
    pub title: String,
}

/// A file that does not become a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The file, from the folder on.
    pub file: String,
    /// Why not.
    pub reason: String,
}

impl Tree {
    /// Looks through a folder, in the order of its names. Symbolic links are not followed.
    pub fn look(root: &Path) -> io::Result<Self> {
        std::fs::read_dir(root)?;
        let mut tree = Self { root: root.to_path_buf(), ..Self::default() };
        let mut taken = HashMap::new();
        let walk = WalkDir::new(root).follow_links(false).sort_by(|a, b| order(a).cmp(&order(b)));
        for entry in walk.into_iter().filter_entry(|entry| entry.depth() == 0 || wanted(entry)) {
            match entry {
                Ok(entry) => tree.meet(&entry, &mut taken),
                Err(error) => {
                    let path = error.path().unwrap_or(root).to_path_buf();
                    let reason =
                        error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                    tree.skip(&path, reason);
                }
            }
        }
        Ok(tree)
    }

    /// The files that become pages.
    pub fn pages(&self) -> &[Planned] {
        &self.pages
    }

    /// The files that do not.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Reads a page with its links rewritten. What can no longer be read is skipped after all.
    pub fn draft(&self, planned: &Planned) -> Result<PageDraft, Skipped> {
        self.read(planned)
            .map_err(|reason| Skipped { file: planned.file.display().to_string(), reason })
    }

    fn read(&self, planned: &Planned) -> Result<PageDraft, String> {
        let read = file::read(&self.root.join(&planned.file), &planned.file)?;
        let PageDraft { slug, title, body, tags } = read.draft;
        if slug != planned.slug {
            return Err("it changed while it was imported".to_owned());
        }
        let body =
            if read.links_as_is { body } else { links::rewrite(&body, &planned.file, &self.slugs) };
        PageDraft::new(slug, title, body, tags).map_err(|error| error.to_string())
    }

    fn meet(&mut self, entry: &DirEntry, taken: &mut HashMap<PageSlug, PathBuf>) {
        let path = entry.path();
        if entry.file_type().is_dir() || !names::is_markdown(path) {
            return;
        }
        if entry.file_type().is_symlink() {
            return self.skip(path, "a symbolic link".to_owned());
        }
        if !entry.file_type().is_file() {
            return self.skip(path, "not a file".to_owned());
        }
        let file = path.strip_prefix(&self.root).unwrap_or(path).to_path_buf();
        let draft = match file::read(path, &file) {
            Ok(read) => read.draft,
            Err(reason) => return self.skip(path, reason),
        };
        if let Some(other) = taken.get(&draft.slug) {
            let reason = format!("its slug {} is taken by {}", draft.slug, other.display());
            return self.skip(path, reason);
        }
        taken.insert(draft.slug.clone(), file.clone());
        self.slugs.insert(file.clone(), draft.slug.clone());
        let title = draft.title.as_str().to_owned();
        self.pages.push(Planned { file, slug: draft.slug, title });
    }

    fn skip(&mut self, path: &Path, reason: String) {
        let file = path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
        self.skipped.push(Skipped { file, reason });
    }
}

/// `index.md` before `README.md` before the rest, so that it is the one that stands for a folder.
fn order(entry: &DirEntry) -> (u8, std::ffi::OsString) {
    let rank = match entry.path().file_stem().and_then(|stem| stem.to_str()) {
        _ if !entry.file_type().is_file() => 2,
        Some(stem) if stem.eq_ignore_ascii_case("index") => 0,
        Some(stem) if stem.eq_ignore_ascii_case("readme") => 1,
        _ => 2,
    };
    (rank, entry.file_name().to_owned())
}

fn wanted(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    !name.starts_with('.') && name != "node_modules"
}
