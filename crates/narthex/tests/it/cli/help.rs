//! Every `--help` is the one in `docs/cli.md`, and every example in it is a command that reads.

use std::path::Path;

use clap::{CommandFactory as _, Parser as _};
use narthex::cli::Cli;
use narthex::commands::reference::shown;

use crate::reference::docs;
use crate::support::{narthex, stdout};

#[test]
fn every_help_is_the_committed_one() {
    let committed = std::fs::read_to_string(docs("cli.md")).expect("docs/cli.md");
    let paths = commands();
    assert!(paths.len() > 40, "{}", paths.len());
    for path in paths {
        let mut words: Vec<&str> = path.split(' ').skip(1).collect();
        words.push("--help");
        let output = narthex(&words, Path::new("unused"));
        let help = shown(&stdout(&output), path == "narthex");
        let block = format!("`{path}`\n\n```text\n{help}\n```\n");
        assert!(committed.contains(&block), "{path}: {block}");
    }
}

#[test]
fn every_command_has_examples_and_every_example_reads() {
    let committed = std::fs::read_to_string(docs("cli.md")).expect("docs/cli.md");
    for (section, text) in committed.split("```text\n").skip(1).enumerate() {
        let help = text.split("\n```").next().expect("an end");
        let examples = help.split("Examples:\n").nth(1);
        let examples = examples.unwrap_or_else(|| panic!("no examples in {section}: {help}"));
        let lines: Vec<&str> = examples.lines().take_while(|line| line.starts_with("  ")).collect();
        assert!(!lines.is_empty(), "{help}");
        for line in lines {
            let words = words_of(line);
            let ours = words.iter().rposition(|word| word == "narthex").expect(line);
            let read = Cli::try_parse_from(&words[ours..]);
            assert!(
                read.is_ok(),
                "{line}: {}",
                read.err().map_or_else(String::new, |e| e.to_string())
            );
        }
    }
}

/// The names of all commands that help shows, as they are typed.
fn commands() -> Vec<String> {
    fn walk(command: &clap::Command, path: &str, all: &mut Vec<String>) {
        all.push(path.to_owned());
        for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            walk(inner, &format!("{path} {}", inner.get_name()), all);
        }
    }
    let mut all = Vec::new();
    walk(&Cli::command(), "narthex", &mut all);
    all
}

/// The words of a shell line, quotes taken off, up to where its output goes.
fn words_of(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.trim().chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            _ => word.push(c),
        }
    }
    words.push(word);
    words.into_iter().take_while(|word| word != ">").collect()
}
