//! `graph …`: every command as a person or a script runs it.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

mod check;
mod commands;
mod demo;
mod load;
mod merge;
mod settings;
mod stored;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{answer, narthex, stderr, stdout};

pub(crate) const SCHEMA: &str =
    "node Person { slug: String @key  name: String @index  age: I32? @range(0..150) }
node Company { slug: String @key  big: I64? }
edge Knows: Person -> Person { since: Date? }
edge WorksAt: Person -> Company @card(0..1)
";

pub(crate) const QUERIES: &str = "query ages($min: I32 = 0) @description(\"people by age\") {
    match { $p: Person  $p.age >= $min }
    return { $p.slug as slug, $p.age as age }
    order { $p.age desc, $p.slug }
}
query grow($slug: String, $age: I32) { update Person set { age: $age } where slug = $slug }
query big($n: I64) { match { $c: Company { big: $n } } return { $c.slug as slug } }
";

pub(crate) const ROWS: &str = r#"{"type":"Person","data":{"slug":"ada","name":"Ada","age":36}}
{"type":"Person","data":{"slug":"bob","name":"Bob","age":41}}
{"type":"Person","data":{"slug":"cy","name":"Cy"}}
{"type":"Company","data":{"slug":"acme","big":"9007199254740993"}}
{"edge":"Knows","from":"ada","to":"bob","data":{"since":"2026-01-31"}}
{"edge":"WorksAt","from":"bob","to":"acme"}
"#;

/// A house with a graph `people` in it, and its files beside it.
pub(crate) struct Fixture {
    folder: TempDir,
}

impl Fixture {
    /// Without the graph.
    pub(crate) fn empty() -> Self {
        let fixture = Self { folder: tempfile::tempdir().expect("a folder") };
        answer(&["init"], &fixture.house());
        answer(&["space", "add", "research"], &fixture.house());
        for (name, text) in [("people.pg", SCHEMA), ("people.gq", QUERIES), ("people.ndjson", ROWS)]
        {
            fixture.file(name, text);
        }
        fixture
    }

    /// With the graph, loaded.
    pub(crate) fn new() -> Self {
        let fixture = Self::empty();
        fixture.init();
        fixture.ask(&["load", "people", "people.ndjson"]);
        fixture
    }

    pub(crate) fn init(&self) -> Value {
        self.ask(&["init", "people", "--space", "research", "--schema", "people.pg"])
    }

    pub(crate) fn house(&self) -> PathBuf {
        self.folder.path().join("house")
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, text).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    }

    /// `graph …`, with the fixture's files in reach; what it answered as JSON.
    pub(crate) fn ask(&self, args: &[&str]) -> Value {
        answer(&words(&self.args(args)), &self.house())
    }

    /// `graph …`, for people; what it printed.
    pub(crate) fn show(&self, args: &[&str]) -> String {
        let output = narthex(&words(&self.args(args)), &self.house());
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        stdout(&output)
    }

    /// It must end with this code and say this, on standard error or output; all it said.
    pub(crate) fn fails(&self, args: &[&str], code: i32, says: &str) -> String {
        let output = narthex(&words(&self.args(args)), &self.house());
        let said = format!("{}{}", stderr(&output), stdout(&output));
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(says), "{args:?} does not say {says:?}: {said}");
        said
    }

    fn args(&self, args: &[&str]) -> Vec<String> {
        let here = |arg: &&str| {
            let path = self.folder.path().join(arg);
            let is_file = !arg.is_empty() && !arg.starts_with('-') && path.exists();
            if is_file { path.display().to_string() } else { (*arg).to_owned() }
        };
        std::iter::once("graph".to_owned()).chain(args.iter().map(here)).collect()
    }
}

fn words(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}
