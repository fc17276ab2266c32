//! The program in a text that is Markdown around it.
//!
//! Three backticks are JavaScript too (an empty template, and the beginning of another that it is the
//! tag of), so neither reading is tried blindly: what begins with a fence is Markdown, what can be
//! read as a program is one, unless it takes a fence for templates, and all else is as good as its
//! fences.

use std::borrow::Cow;

use oxc_allocator::Allocator;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::misshapen::Problem;
use super::parse::{parse, parse_plain};
use super::places::{Lines, Places, count};
use super::survey::Survey;

/// The program, on the lines where it was sent.
pub(super) fn pick(sent: &str) -> Result<(Cow<'_, str>, Places), Problem> {
    let fences = fences(sent);
    let leads = fences.first().is_some_and(|fence| fence.leads);
    if fences.is_empty() || (!leads && is_program(sent, &fences)) {
        return Ok((Cow::Borrowed(sent), Places::default()));
    }
    // A fence that closes what none opened is read as one that opens nothing; so are those in the
    // comments before a function, where each line begins with a star and is an item of a list.
    let full: Vec<&Fence> = fences.iter().filter(|fence| leads || !fence.is_empty()).collect();
    let code: Vec<&Fence> = full.iter().copied().filter(|fence| fence.is_code).collect();
    match (full.as_slice(), code.as_slice()) {
        ([], _) => Ok((Cow::Borrowed(sent), Places::default())),
        ([one], _) | (_, [one]) => {
            let (text, places) = one.content(sent);
            Ok((Cow::Owned(text), places))
        }
        ([_, second, ..], _) => Err(Problem::new(count(second.start), SEVERAL)),
    }
}

/// A fenced block.
#[derive(Debug)]
struct Fence {
    start: usize,
    /// Whether it is the first thing in the text.
    leads: bool,
    /// Whether it says that it is JavaScript or TypeScript.
    is_code: bool,
    /// Pieces of what is in it, each with where it was.
    pieces: Vec<(usize, String)>,
}

impl Fence {
    fn is_empty(&self) -> bool {
        self.pieces.iter().all(|(_, piece)| piece.trim().is_empty())
    }

    /// What is in it, after as many empty lines as stand before it.
    fn content(&self, sent: &str) -> (String, Places) {
        let lines = Lines::of(sent);
        let mut places = Places::default();
        let first = self.pieces.first().map_or(1, |(at, _)| lines.place(*at).0);
        let mut text = "\n".repeat((first as usize).saturating_sub(1));
        let (mut line, mut column) = (first, 1);
        for (at, piece) in &self.pieces {
            places.copied((line, column), lines.place(*at));
            text.push_str(piece);
            let ends = piece.bytes().filter(|byte| *byte == b'\n').count();
            let last = piece.rsplit('\n').next().unwrap_or_default();
            column = if ends == 0 { column } else { 1 } + count(last.len());
            line += count(ends);
        }
        (text, places)
    }
}

fn fences(text: &str) -> Vec<Fence> {
    let mut fences: Vec<Fence> = Vec::new();
    let mut inside = false;
    let events = Parser::new_ext(text, Options::empty()).into_offset_iter();
    for (nth, (event, range)) in events.enumerate() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                let (start, leads, is_code) = (range.start, nth == 0, is_code(&info));
                fences.push(Fence { start, leads, is_code, pieces: Vec::new() });
                inside = true;
            }
            Event::End(TagEnd::CodeBlock) => inside = false,
            Event::Text(piece) if inside => {
                if let Some(fence) = fences.last_mut() {
                    fence.pieces.push((range.start, piece.into_string()));
                }
            }
            _ => {}
        }
    }
    fences
}

fn is_code(info: &str) -> bool {
    let word = info.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    CODE.iter().any(|name| name.eq_ignore_ascii_case(word))
}

/// Whether the text is a program as it is, with fences that belong to it.
fn is_program(text: &str, fences: &[Fence]) -> bool {
    let arena = Allocator::default();
    match parse(&arena, text) {
        Ok(parsed) => {
            let empty = Survey::of(text, &parsed.program).empty_templates;
            !fences.iter().any(|fence| empty.contains(&count(fence.start)))
        }
        Err(_) => fences.first().is_some_and(|fence| opens_within(text, fence)),
    }
}

/// Whether a fence opens within a comment or a template: what stands before it is a program but for
/// that, which has no end yet. Then it is an example, and what is wrong is the program.
fn opens_within(text: &str, fence: &Fence) -> bool {
    let arena = Allocator::default();
    let before = text.get(..fence.start).unwrap_or_default();
    let Err(problem) = parse_plain(&arena, before) else { return false };
    let open = before.get(problem.at..).unwrap_or_default();
    open.starts_with("/*") || open.starts_with('`')
}

const CODE: &[&str] = &[
    "js",
    "jsx",
    "mjs",
    "cjs",
    "javascript",
    "ecmascript",
    "ts",
    "tsx",
    "mts",
    "cts",
    "typescript",
];

const SEVERAL: &str = "there are several code blocks, and it is not clear which one to run. \
     Send one block, or only the program without any";
