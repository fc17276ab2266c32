use std::collections::BTreeSet;

use serde_json::json;

use super::{
    Base, Bodies, Body, Clash, Merged, Outcome, Side, States, merge_row, outcome, truth_table,
    truth_table_markdown,
};

#[test]
fn the_table_above_is_the_table() {
    let lines = include_str!("../row.rs").lines();
    let above: Vec<&str> = lines
        .filter_map(|line| line.strip_prefix("//! "))
        .filter(|line| line.starts_with('|'))
        .collect();
    assert_eq!(above.join("\n"), truth_table_markdown().trim_end());
}

/// Two properties of two values each or none, or no row: every version there can be.
fn versions() -> Vec<Option<Body>> {
    let values = [None, Some(1), Some(2), Some(3)];
    let bodies = values.into_iter().flat_map(|a| {
        values.map(|b| {
            let slots = [("a", a), ("b", b)].into_iter();
            let set = slots.filter_map(|(slot, value)| Some((slot.to_owned(), json!(value?))));
            Some(set.collect::<Body>())
        })
    });
    std::iter::once(None).chain(bodies).collect()
}

/// What must come of it, said in another way: property by property, each side's change taken.
fn expected(base: Option<&Body>, ours: Option<&Body>, theirs: Option<&Body>) -> Option<Merged> {
    if ours == theirs {
        return Some(Merged::Unchanged);
    }
    if base == ours {
        return Some(Merged::Take(Side::Theirs));
    }
    if base == theirs {
        return Some(Merged::Take(Side::Ours));
    }
    let (base, ours, theirs) = (base?, ours?, theirs?);
    let mut body = Body::new();
    for slot in ["a", "b"] {
        let (b, o, t) = (base.get(slot), ours.get(slot), theirs.get(slot));
        let value = if o == t || b == t {
            o
        } else if b == o {
            t
        } else {
            return None;
        };
        body.extend(value.map(|value| (slot.to_owned(), value.clone())));
    }
    Some(Merged::Both(body))
}

#[test]
fn every_combination_of_three_versions() {
    let mut met = BTreeSet::new();
    let all = versions();
    for (base, ours, theirs) in all
        .iter()
        .flat_map(|base| all.iter().map(move |ours| (base, ours)))
        .flat_map(|(base, ours)| all.iter().map(move |theirs| (base, ours, theirs)))
    {
        let (base, ours, theirs) = (base.as_ref(), ours.as_ref(), theirs.as_ref());
        let merged = merge_row(&Base::Known(base.cloned()), ours, theirs);
        let states = States::of(base, ours, theirs);
        let bodies = Bodies::of(base, ours, theirs);
        met.insert(format!("{:?}", outcome(states, bodies)));
        let what = format!("{base:?} {ours:?} {theirs:?}");
        match expected(base, ours, theirs) {
            Some(expected) => assert_eq!(merged, expected, "{what}"),
            None => assert!(matches!(merged, Merged::Conflict(_)), "{what} {merged:?}"),
        }
        // The other way round is the same, with the sides exchanged.
        let back = merge_row(&Base::Known(base.cloned()), theirs, ours);
        assert_eq!(exchanged(merged), back, "{what}");
    }
    let named: BTreeSet<String> =
        truth_table().iter().map(|row| format!("{:?}", row.outcome)).collect();
    assert_eq!(met, named, "every outcome of the table is met, and no other");
}

fn exchanged(merged: Merged) -> Merged {
    match merged {
        Merged::Take(side) => Merged::Take(side.other()),
        Merged::Conflict(Clash::DeleteAgainstUpdate(side)) => {
            Merged::Conflict(Clash::DeleteAgainstUpdate(side.other()))
        }
        other => other,
    }
}

#[test]
fn every_pair_of_states_is_in_the_table_once() {
    let rows = truth_table();
    let unique: BTreeSet<_> =
        rows.iter().map(|row| format!("{:?} {:?}", row.states, row.bodies)).collect();
    assert_eq!(unique.len(), rows.len());
    // Two by two and three by three, one pair twice and one three times.
    assert_eq!(rows.len(), 4 + 9 + 1 + 2);
    let conflicts = rows.iter().filter(|row| {
        matches!(
            row.outcome,
            Outcome::DivergentInsert | Outcome::DivergentUpdate | Outcome::DeleteAgainstUpdate(_)
        )
    });
    assert_eq!(conflicts.count(), 4);
}

#[test]
fn a_conflict_names_what_is_unlike_and_nothing_else() {
    let body = |text: &str| -> Body { serde_json::from_str(text).unwrap() };
    let base = body(r#"{"a":1,"b":1,"c":1}"#);
    let ours = body(r#"{"a":2,"b":2}"#);
    let theirs = body(r#"{"a":3,"b":2,"c":1,"d":1}"#);
    let update = Merged::Conflict(Clash::DivergentUpdate(vec!["a".to_owned()]));
    assert_eq!(merge_row(&Base::Known(Some(base)), Some(&ours), Some(&theirs)), update);
    let slots = ["a", "c", "d"].map(str::to_owned).to_vec();
    let insert = Merged::Conflict(Clash::DivergentInsert(slots.clone()));
    assert_eq!(merge_row(&Base::Known(None), Some(&ours), Some(&theirs)), insert);
    let unclear = Merged::Conflict(Clash::DivergentUpdate(slots));
    assert_eq!(merge_row(&Base::Unclear, Some(&ours), Some(&theirs)), unclear);
    assert_eq!(merge_row(&Base::Unclear, Some(&ours), Some(&ours)), Merged::Unchanged);
    let gone = Merged::Conflict(Clash::DeleteAgainstUpdate(Side::Theirs));
    assert_eq!(merge_row(&Base::Unclear, Some(&ours), None), gone);
}
