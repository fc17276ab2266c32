//! `.gq`: read or refused, carried out or refused, and what changes something is never taken for
//! what looks.

use super::house::{HOUSE, PEOPLE};
use super::told;
use crate::exec::{Answer, Cell, Page};
use crate::query::{parse_only, read, read_one, read_reading, read_writing};
use crate::{Bounds, GraphError};

/// Reads queries against a rich schema, and carries out those that need no parameters.
pub fn query(data: &[u8]) {
    let source = &*String::from_utf8_lossy(data);
    let outlines = match parse_only(source) {
        Ok(outlines) => outlines,
        Err(found) => {
            told(source, &found);
            assert!(read(source, &PEOPLE).is_err(), "what cannot be parsed is not read");
            assert!(read_reading(source, None, &PEOPLE).is_err());
            assert!(read_writing(source, None, &PEOPLE).is_err());
            return;
        }
    };
    assert!(!outlines.is_empty() && outlines.len() <= Bounds::QUERIES);
    match read(source, &PEOPLE) {
        Ok(plans) => {
            assert_eq!(plans.len(), outlines.len());
            for (plan, outline) in plans.iter().zip(&outlines) {
                assert_eq!((&plan.name, plan.is_write()), (&outline.name, outline.writes));
                assert_eq!(read_one(source, Some(&plan.name), &PEOPLE).as_ref(), Ok(plan));
            }
        }
        Err(found) => told(source, &found),
    }
    for outline in outlines.iter().take(8) {
        let name = Some(outline.name.as_str());
        let (looks, changes) =
            (read_reading(source, name, &PEOPLE), read_writing(source, name, &PEOPLE));
        assert!(looks.is_err() || !outline.writes, "a change was taken for a look");
        assert!(changes.is_err() || outline.writes, "a look was taken for a change");
        for found in [looks.err(), changes.err()].into_iter().flatten() {
            told(source, &found);
        }
    }
    if let [outline] = outlines.as_slice() {
        carried_out(source, outline.writes);
    }
}

fn carried_out(source: &str, writes: bool) {
    let looked = HOUSE.ask(source, Page::default());
    let changed = HOUSE.change(source);
    assert!(looked.is_err() || !writes, "a change went where only looking is allowed");
    assert!(changed.is_err() || writes);
    if let Ok(answer) = &looked {
        // It is the same when it is asked again.
        let again = HOUSE.ask(source, Page::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.to_json(), answer.to_json());
        cells(answer);
    }
    for error in [looked.err(), changed.err()].into_iter().flatten() {
        assert!(!matches!(error, GraphError::Damaged(_) | GraphError::Store(_)), "{error}");
        assert!(!error.to_string().contains("no such"), "a plan that does not fit: {error}");
    }
}

/// Every value is of the kind that its column says.
fn cells(answer: &Answer) {
    for (column, cell) in answer.rows.iter().flat_map(|row| answer.columns.iter().zip(row)) {
        let Cell::Value(value) = cell else { continue };
        match &column.kind {
            _ if value.is_null() => assert!(column.nullable, "{column:?} is null"),
            Some(kind) => {
                let again = kind.accept(&value.to_json(kind));
                assert!(again.is_ok(), "{column:?} has {value:?}: {again:?}");
            }
            None => panic!("{column:?} has {value:?}"),
        }
    }
}
