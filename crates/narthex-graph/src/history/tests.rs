//! Differences and reverts over graphs in memory.

use narthex_store::CommitKind;

use super::{DiffKind, RevertError, RevertPlan, diff, revert};
use crate::merge::world::{World, body, k, now, p, resolve, tie};
use crate::merge::{ConflictKind, How, MergeError, RowId, Side};

/// Everything that differs, a page at a time.
fn pages(world: &World, first: &str, second: &str, limit: usize) -> Vec<(RowId, DiffKind)> {
    let (mut first, mut second) = (world.view(first), world.view(second));
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = now(diff(&mut first, &mut second, after, limit)).unwrap();
        assert!(page.rows.len() <= limit);
        found.extend(page.rows.iter().map(|row| ((row.tag, row.row), row.kind())));
        after = page.next;
        if after.is_none() {
            return found;
        }
    }
}

#[test]
fn a_difference_is_of_rows_that_are_unlike_whoever_wrote_them() {
    let mut world = World::new();
    world.commit("main", (1..6).map(|n| (p(n), body(n, "x", None))).collect());
    world.fork("main", "one");
    world.fork("main", "other");
    world.commit("one", vec![(p(1), body(1, "y", None)), (p(2), None), (p(3), body(3, "z", None))]);
    world.commit("one", vec![(p(3), body(3, "x", None)), (p(6), body(6, "x", None))]);
    world.commit("other", vec![(p(1), body(1, "y", None)), (p(4), body(4, "x", Some(9)))]);
    let mut is =
        vec![(p(2), DiffKind::Added), (p(4), DiffKind::Changed), (p(6), DiffKind::Removed)];
    is.sort_by_key(|(row, _)| *row);
    for limit in [1, 2, 3, 100] {
        assert_eq!(pages(&world, "one", "other", limit), is, "{limit}");
    }
    let (mut one, mut other) = (world.view("one"), world.view("other"));
    let page = now(diff(&mut one, &mut other, None, 10)).unwrap();
    let changed = page.rows.iter().find(|row| row.kind() == DiffKind::Changed).unwrap();
    let properties = changed.properties();
    assert_eq!(properties.len(), 1);
    assert_eq!((properties[0].slot.as_str(), &properties[0].before), ("age", &None));
    assert_eq!(properties[0].after, Some(9.into()));
    assert_eq!(pages(&world, "one", "one", 10), []);
    // A merge that took theirs in: what differs then is ours alone.
    world.merge("other", "one").unwrap();
    assert_eq!(pages(&world, "one", "other", 10), [(p(4), DiffKind::Changed)]);
    let asked = one.asked.iter().chain(&other.asked).filter(|ask| ask.starts_with("scan"));
    assert_eq!(asked.count(), 0);
}

fn reverted(
    world: &World,
    commit: narthex_core::CommitId,
    how: &[crate::merge::Resolution],
) -> Result<RevertPlan, RevertError> {
    let (mut is, mut after) = (world.view("main"), world.at(commit));
    let parent = narthex_store::GraphView::placed(&after).commit.parents[0];
    let mut before = world.at(parent);
    now(revert(&mut is, &mut after, &mut before, &world.schema, how))
}

fn put(world: &mut World, plan: RevertPlan) -> narthex_core::CommitId {
    let RevertPlan::Changes(changes) = plan else { panic!("{plan:?}") };
    assert!(changes.iter().all(crate::merge::RowChange::is_change));
    let read = |text: String| serde_json::from_str(&text).unwrap();
    let rows = changes.into_iter().map(|of| ((of.tag, of.row), of.after.map(read)));
    world.commit("main", rows.collect())
}

#[test]
fn a_revert_takes_back_what_the_commit_did_and_no_more() {
    let mut world = World::new();
    world.commit("main", vec![(p(1), body(1, "Ada", Some(1))), (p(2), body(2, "Bob", None))]);
    let commit = world.commit(
        "main",
        vec![(p(1), body(1, "Eve", Some(1))), (p(2), None), (p(3), body(3, "Cid", None))],
    );
    world.commit("main", vec![(p(1), body(1, "Eve", Some(2))), (p(4), body(4, "Dan", None))]);
    let plan = reverted(&world, commit, &[]).unwrap();
    let back = put(&mut world, plan);
    let rows = world.rows("main");
    assert_eq!(rows.get(&p(1)), body(1, "Ada", Some(2)).as_ref());
    assert_eq!(rows.get(&p(2)), body(2, "Bob", None).as_ref());
    assert_eq!(rows.get(&p(3)), None);
    assert!(rows.contains_key(&p(4)));
    // Once more there is nothing left of it; and what was taken back can be put back.
    assert_eq!(reverted(&world, commit, &[]).unwrap(), RevertPlan::Nothing);
    let plan = reverted(&world, back, &[]).unwrap();
    put(&mut world, plan);
    assert_eq!(world.rows("main").get(&p(3)), body(3, "Cid", None).as_ref());
}

#[test]
fn what_was_changed_since_is_a_conflict() {
    let mut world = World::new();
    world.commit("main", vec![(p(1), body(1, "Ada", None)), (p(2), body(2, "Bob", None))]);
    let commit =
        world.commit("main", vec![(p(1), body(1, "Eve", None)), (p(3), body(3, "Cid", None))]);
    world.commit("main", vec![(p(1), body(1, "Eva", None)), (k(2, 3), tie(2, 3, "2026"))]);
    let RevertPlan::Conflicts(conflicts) = reverted(&world, commit, &[]).unwrap() else {
        panic!("no conflict")
    };
    let kinds: Vec<_> = conflicts.listed.iter().map(|conflict| &conflict.kind).collect();
    assert!(matches!(kinds[0], ConflictKind::OrphanedEdge { deleted_by: Side::Theirs, .. }));
    assert!(matches!(kinds[1], ConflictKind::DivergentUpdate { .. }));
    assert_eq!(kinds.len(), 2);
    let how = [resolve(p(1), How::Ours), resolve(k(2, 3), How::Given(None))];
    let plan = reverted(&world, commit, &how).unwrap();
    put(&mut world, plan);
    let rows = world.rows("main");
    assert_eq!(rows.get(&p(1)), body(1, "Eva", None).as_ref());
    assert!(!rows.contains_key(&k(2, 3)) && !rows.contains_key(&p(3)));
}

#[test]
fn a_merge_is_reverted_by_what_it_brought() {
    let mut world = World::new();
    world.commit("main", vec![(p(1), body(1, "Ada", None))]);
    world.fork("main", "feature");
    world.commit("feature", vec![(p(1), body(1, "Eve", None)), (p(2), body(2, "Bob", None))]);
    world.commit("main", vec![(p(3), body(3, "Cid", None))]);
    let merge = world.merge("main", "feature").unwrap().unwrap();
    let plan = reverted(&world, merge, &[]).unwrap();
    put(&mut world, plan);
    let rows = world.rows("main");
    assert_eq!(rows.keys().collect::<Vec<_>>(), [&p(1), &p(3)]);
    // It stays taken back: the branch was merged, and this came after.
    world.commit("feature", vec![(p(4), body(4, "Dan", None))]);
    world.merge("main", "feature").unwrap();
    assert_eq!(world.rows("main").keys().collect::<Vec<_>>(), [&p(1), &p(3), &p(4)]);
}

#[test]
fn what_cannot_be_reverted_is_said() {
    let mut world = World::new();
    let first = world.commit("main", vec![(p(1), body(1, "Ada", None))]);
    world.fork("main", "feature");
    let elsewhere = world.commit("feature", vec![(p(2), body(2, "Bob", None))]);
    assert!(matches!(reverted(&world, elsewhere, &[]), Err(RevertError::NotSeen(_))));
    let (mut is, mut at) = (world.view("main"), world.at(first));
    let mut before = world.at(first);
    let wrong = now(revert(&mut is, &mut at, &mut before, &world.schema, &[]));
    assert!(matches!(wrong, Err(RevertError::NotBefore(_))));
    let init = narthex_store::GraphView::placed(&at).commit.parents[0];
    let mut at = world.at(init);
    let init = now(revert(&mut is, &mut at, &mut before, &world.schema, &[]));
    assert!(matches!(init, Err(RevertError::Kind(CommitKind::Init))));
    let needless = reverted(&world, first, &[resolve(p(7), How::Ours)]);
    assert!(matches!(needless, Err(RevertError::Merge(MergeError::Needless(_)))));
}
