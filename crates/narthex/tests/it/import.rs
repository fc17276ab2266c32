//! `page import` and `page export`, on folders as they are.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{answer, narthex, stderr, stdout};

#[test]
fn a_folder_is_planned_file_by_file_and_what_is_left_out_is_said() {
    let folder = folder();
    let path = folder.path();
    write(path, "bad.md", b"\xff\xfe");
    write(path, "nul.md", b"a\0b");
    write(path, "yaml.md", b"---\ntitle: [\n---\n");
    write(path, "!!!.md", b"x");
    write(path, "guides.md", b"a page beside the folder");
    write(path, "index.md", b"the other home");
    write(path, "same.md", b"---\nslug: guides/set-up\n---\n");
    write(path, "huge.md", &vec![b'x'; 1024 * 1024 + 200 * 1024]);
    write(path, ".hidden.md", b"x");
    write(path, ".git/x.md", b"x");
    write(path, "node_modules/x.md", b"x");
    write(path, "picture.png", b"x");
    symlink("/etc/hostname", path.join("link.md")).expect("a link");
    symlink(path, path.join("loop")).expect("a link");

    let plan = plan(path);
    let pages: Vec<&str> = plan["pages"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|p| p["slug"].as_str())
        .collect();
    assert_eq!(pages, ["home", "guides", "guides/deep/page", "guides/set-up", "plain"]);
    let skipped: Vec<(&str, &str)> = plan["skipped"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|s| Some((s["file"].as_str()?, s["reason"].as_str()?)))
        .collect();
    for (file, reason) in [
        ("README.md", "its slug home is taken by index.md"),
        ("!!!.md", "no slug can be made of \"!!!\""),
        ("bad.md", "not UTF-8 (at byte 0)"),
        ("guides.md", "its slug guides is taken by guides/index.md"),
        ("huge.md", "larger than 1048576 bytes"),
        ("link.md", "a symbolic link"),
        ("nul.md", "body contains a control character"),
        ("same.md", "its slug guides/set-up is taken by guides/set-up.md"),
        ("yaml.md", "front matter does not read as YAML"),
    ] {
        assert!(
            skipped.iter().any(|(f, r)| *f == file && r.starts_with(reason)),
            "{file} {reason}: {skipped:#?}"
        );
    }
    assert_eq!(skipped.len(), 9, "{skipped:#?}");
}

#[test]
fn importing_again_changes_nothing_and_an_export_imports_as_it_was() {
    let (folder, house) = (folder(), house());
    let (from, data) = (folder.path().to_str().expect("UTF-8"), house.path());
    let first = answer(&["page", "import", from, "--space", "notes"], data);
    assert_eq!(counts(&first), (5, 0, 0), "{first}");
    let again = answer(&["page", "import", from, "--space", "notes"], data);
    assert_eq!(counts(&again), (0, 0, 5), "{again}");
    write(folder.path(), "plain.md", b"changed");
    let changed = answer(&["page", "import", from, "--space", "notes"], data);
    assert_eq!(counts(&changed), (0, 1, 4), "{changed}");

    let page = answer(&["page", "show", "home", "--space", "notes"], data);
    assert_eq!(page["body"], "# Welcome\n\nSee [[guides/set-up|the guide]].\n");
    assert_eq!(page["links"][0]["slug"], "guides/set-up");

    // A link to a file that is a page only by its name must stay what it is.
    answer(
        &[
            "page",
            "add",
            "--space",
            "notes",
            "--title",
            "Odd",
            "--slug",
            "a.md/node_modules/x",
            "--tag",
            "1e3",
            "--body",
            "\r\n---\n[x](../../plain.md)\n\u{feff}",
        ],
        data,
    );
    let out = folder.path().join("out");
    let to = out.to_str().expect("UTF-8");
    assert_eq!(answer(&["page", "export", to, "--space", "notes"], data)["pages"], 6);
    let back = answer(&["page", "import", to, "--space", "notes"], data);
    assert_eq!(counts(&back), (0, 0, 6), "{back}");

    let refused = narthex(&["page", "export", to, "--space", "notes"], data);
    assert_eq!(refused.status.code(), Some(4), "{}", stderr(&refused));
    answer(&["page", "export", to, "--space", "notes", "--force"], data);
}

#[test]
fn text_from_a_page_cannot_steer_the_terminal_but_is_whole_in_json() {
    let house = house();
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}[2Jred\u{202e}txt\u{9b}31m";
    let add = ["page", "add", "--space", "notes", "--title", "T", "--body", hostile];
    answer(&add, house.path());
    let shown =
        narthex(&["page", "show", "t", "--space", "notes", "--color", "never"], house.path());
    let shown = stdout(&shown);
    let seen = "⟨U+001B⟩]0;owned⟨U+0007⟩⟨U+001B⟩[2Jred⟨U+202E⟩txt⟨U+009B⟩31m\n";
    assert!(shown.ends_with(seen), "{shown:?}");
    assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
    let page = answer(&["page", "show", "t", "--space", "notes"], house.path());
    assert_eq!(page["body"], hostile);
}

fn plan(folder: &Path) -> Value {
    let nowhere = folder.join("nowhere");
    let folder = folder.to_str().expect("UTF-8");
    let plan = answer(&["page", "import", folder, "--space", "notes", "--dry-run"], &nowhere);
    assert_eq!(plan["dry_run"], json!(true));
    plan
}

fn counts(report: &Value) -> (u64, u64, u64) {
    let count = |name: &str| report[name].as_u64().expect(name);
    (count("created"), count("updated"), count("unchanged"))
}

/// A house with one empty space, and no server.
fn house() -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    answer(&["init"], dir.path());
    answer(&["space", "add", "notes"], dir.path());
    dir
}

fn folder() -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    for (file, text) in [
        ("README.md", "# Welcome\n\nSee [the guide](guides/set-up.md).\n"),
        ("plain.md", "no heading"),
        ("guides/index.md", "---\ntitle: Guides\n---\n\n[up](../README.md)"),
        ("guides/set-up.md", "---\ntitle: \"Set up: now\"\ntags: how-to, b\n---\n\n# Other\r\n"),
        ("guides/deep/page.markdown", "+++\ntitle = 'Deep'\n+++\n[x](../set-up.md#a)"),
    ] {
        write(dir.path(), file, text.as_bytes());
    }
    dir
}

fn write(folder: &Path, file: &str, bytes: &[u8]) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, bytes).expect("a file");
}
