//! Files: where they are cut on their way makes no difference, and what is taken can be written.

use super::house::PEOPLE;
use crate::load::{Lines, LoadError, LoadLine, export_edge, export_node, parse};
use crate::rows::EdgeBody;

/// The first byte says how many of those after it are the lengths of chunks; the rest is the file.
pub fn load(data: &[u8]) {
    let Some((cuts, rest)) = data.split_first() else { return };
    let (lengths, file) = rest.split_at(usize::from(*cuts % 32).min(rest.len()));
    let whole = lines([file]);
    let mut left = file;
    let chunks = lengths.iter().cycle().map_while(|length| {
        let (chunk, after) = left.split_at(usize::from(*length).max(1).min(left.len()));
        left = after;
        (!chunk.is_empty()).then_some(chunk)
    });
    let mut chunks: Vec<&[u8]> = chunks.collect();
    chunks.push(left);
    assert_eq!(lines(chunks), whole);
    for (number, text) in whole.iter().filter_map(|line| line.as_ref().ok()) {
        match parse(&PEOPLE, *number, text) {
            Ok(line) => exported(&line),
            Err(error) => {
                assert_eq!(error.line, *number);
                assert!(error.to_string().len() < 4_096, "{error}");
            }
        }
    }
}

/// The lines, and what is wrong with the file at last.
fn lines<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Result<(u64, String), LoadError>> {
    let (mut lines, mut found) = (Lines::default(), Vec::new());
    for chunk in chunks {
        lines.push(chunk);
        if !drained(&mut lines, &mut found) {
            return found;
        }
    }
    lines.finish();
    drained(&mut lines, &mut found);
    found
}

fn drained(lines: &mut Lines, found: &mut Vec<Result<(u64, String), LoadError>>) -> bool {
    loop {
        match lines.next_line() {
            Ok(Some((number, text))) => found.push(Ok((number, text.to_owned()))),
            Ok(None) => return true,
            Err(error) => {
                found.push(Err(error));
                return false;
            }
        }
    }
}

/// The line that is written for it is read as the same.
fn exported(line: &LoadLine) {
    let text = match line {
        LoadLine::Node(node) => export_node(&PEOPLE.nodes[node.node.0], &node.values),
        LoadLine::Edge(edge) => {
            let end = |end: &(crate::query::NodeNo, String)| {
                (PEOPLE.nodes[end.0.0].slot.clone(), end.1.clone())
            };
            let (from, to, values) = (end(&edge.from), end(&edge.to), edge.values.clone());
            let body = EdgeBody { from, to, values };
            export_edge(&PEOPLE, &PEOPLE.edges[edge.edge.0], &body).expect("its types are there")
        }
    };
    assert_eq!(parse(&PEOPLE, 1, &text).as_ref(), Ok(line), "{text}");
}
