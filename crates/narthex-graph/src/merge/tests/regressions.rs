//! What went wrong elsewhere, and the corners of a history.

use narthex_store::{CommitKind, GraphView};

use super::world::{World, body, k, now, p, resolve, tie};
use crate::history::Meeting;
use crate::merge::{Conflict, ConflictKind, Conflicts, How, MergeError, MergePlan, Side};

fn kinds(conflicts: &Conflicts) -> Vec<ConflictKind> {
    conflicts.listed.iter().map(|conflict| conflict.kind.clone()).collect()
}

fn only(conflicts: Conflicts) -> Conflict {
    assert_eq!(conflicts.total, 1, "{conflicts:?}");
    conflicts.listed.into_iter().next().unwrap()
}

/// Main with one person, and a branch of it.
fn parted() -> World {
    let mut world = World::new();
    world.commit("main", vec![(p(1), body(1, "Ada", Some(30)))]);
    world.fork("main", "feature");
    world
}

#[test]
fn merging_to_and_fro_keeps_what_main_committed() {
    let mut world = parted();
    world.commit("feature", vec![(p(1), body(1, "Ada", Some(31)))]);
    assert!(world.merge("main", "feature").unwrap().is_some());
    world.commit("main", vec![(p(1), body(1, "Ada L.", Some(31)))]);
    assert!(world.merge("feature", "main").unwrap().is_some());
    world.commit("feature", vec![(p(2), body(2, "Bob", None))]);
    let merge = world.merge("main", "feature").unwrap().unwrap();
    let rows = world.rows("main");
    assert_eq!(rows.get(&p(1)), body(1, "Ada L.", Some(31)).as_ref());
    assert_eq!(rows.get(&p(2)), body(2, "Bob", None).as_ref());
    assert_eq!(rows, world.rows("feature"));
    let placed = world.at(merge).placed().clone();
    assert_eq!(placed.commit.parents.len(), 2, "never a fast-forward");
    assert_eq!(placed.commit.kind, CommitKind::Merge);
}

#[test]
fn a_merge_that_fails_leaves_nothing_behind() {
    let mut world = parted();
    world.commit("feature", vec![(p(1), body(1, "Eve", None)), (p(2), body(2, "Bob", None))]);
    world.commit("main", vec![(p(1), body(1, "Eva", None))]);
    let before = world.rows("main");
    let conflict = only(world.merge("main", "feature").unwrap_err());
    assert_eq!(
        conflict.kind,
        ConflictKind::DivergentUpdate { properties: vec!["name".to_owned()] }
    );
    assert_eq!(world.rows("main"), before);
    // The next write is that write, and nothing of the merge.
    world.commit("main", vec![(p(3), body(3, "Cid", None))]);
    let mut after = world.rows("main");
    assert_eq!(after.remove(&p(3)), body(3, "Cid", None));
    assert_eq!(after, before);
    // The merge is still to be made.
    assert!(world.merge("main", "feature").is_err());
}

/// An edge that is taken away on one branch, and taken away and added again on a sibling that knew
/// nothing of it, is gone, in whichever order they are merged: the sibling holds what both began
/// with, and so has done nothing to it. Added again unlike, it is a conflict. Added again by one
/// that had seen it go, it is back.
#[test]
fn a_deleted_edge_does_not_come_back_by_itself() {
    let start = || {
        let mut world = World::new();
        let people = [1, 2].map(|n| (p(n), body(n, "x", None)));
        let edge = (k(1, 2), tie(1, 2, "2026"));
        world.commit("main", people.into_iter().chain([edge]).collect());
        world.fork("main", "drops");
        world.fork("main", "adds");
        world.commit("drops", vec![(k(1, 2), None)]);
        world
    };
    for order in [["drops", "adds"], ["adds", "drops"]] {
        let mut world = start();
        world.commit("adds", vec![(k(1, 2), None)]);
        world.commit("adds", vec![(k(1, 2), tie(1, 2, "2026"))]);
        for branch in order {
            assert!(world.merge("main", branch).unwrap().is_some());
        }
        assert!(!world.rows("main").contains_key(&k(1, 2)), "{order:?}");
        // It stays away, whoever takes it from here, and whatever they knew.
        world.fork("main", "later");
        world.commit("later", vec![(p(3), body(3, "y", None))]);
        for branch in ["adds", "drops", "later"] {
            world.merge("main", branch).unwrap();
            world.merge(branch, "main").unwrap();
            assert!(!world.rows(branch).contains_key(&k(1, 2)), "{order:?} {branch}");
        }
        assert!(!world.rows("main").contains_key(&k(1, 2)), "{order:?}");

        let mut world = start();
        world.commit("adds", vec![(k(1, 2), tie(1, 2, "2025"))]);
        world.merge("main", order[0]).unwrap();
        let conflict = only(world.merge("main", order[1]).unwrap_err());
        let deleted_by = if order[0] == "drops" { Side::Ours } else { Side::Theirs };
        assert_eq!(conflict.kind, ConflictKind::DeleteAgainstUpdate { deleted_by });
    }
    let mut world = start();
    world.merge("main", "drops").unwrap();
    world.merge("adds", "main").unwrap();
    world.commit("adds", vec![(k(1, 2), tie(1, 2, "2026"))]);
    world.merge("main", "adds").unwrap();
    assert!(world.rows("main").contains_key(&k(1, 2)));
}

#[test]
fn merging_twice_is_nothing_and_both_orders_are_one() {
    let mut world = parted();
    world.fork("main", "other");
    world.commit("feature", vec![(p(1), body(1, "Ada L.", Some(30))), (p(2), body(2, "B", None))]);
    world.commit("other", vec![(p(1), body(1, "Ada", Some(40))), (p(3), body(3, "C", None))]);
    let mut turned = world.clone();
    for branch in ["feature", "other"] {
        assert!(world.merge("main", branch).unwrap().is_some());
        assert_eq!(world.merge("main", branch), Ok(None));
    }
    for branch in ["other", "feature"] {
        turned.merge("main", branch).unwrap();
    }
    assert_eq!(world.rows("main"), turned.rows("main"));
    assert_eq!(world.rows("main").get(&p(1)), body(1, "Ada L.", Some(40)).as_ref());
    // Where one side has nothing of its own, the other still gets a merge with two parents.
    let merge = world.merge("feature", "main").unwrap().unwrap();
    assert_eq!(world.at(merge).placed().commit.parents.len(), 2);
    assert_eq!(world.merge("main", "main"), Ok(None));
}

/// Two lines take each other's change in, each before it sees the other do so.
fn crossed(a: (&str, Option<i64>), b: (&str, Option<i64>)) -> (World, MergePlan, MergePlan) {
    let mut world = parted();
    world.fork("main", "other");
    world.commit("feature", vec![(p(1), body(1, a.0, a.1))]);
    world.commit("other", vec![(p(1), body(1, b.0, b.1))]);
    let ours = [resolve(p(1), How::Ours)];
    let clash = matches!(world.plan("feature", "other", &[]), Ok(MergePlan::Conflicts(_)));
    let how = if clash { ours.as_slice() } else { &[] };
    let one = world.plan("feature", "other", how).unwrap();
    let other = world.plan("other", "feature", how).unwrap();
    (world, one, other)
}

fn put(world: &mut World, branch: &str, plan: MergePlan) {
    match plan {
        MergePlan::Merged(merged) => world.put_merge(branch, merged),
        other => panic!("{other:?}"),
    };
}

#[test]
fn crossed_merges_of_different_properties_go_on_without_a_question() {
    let (mut world, one, other) = crossed(("Ada L.", Some(30)), ("Ada", Some(40)));
    put(&mut world, "feature", one);
    put(&mut world, "other", other);
    // The base is what both merges made of it, which no commit ever held: a change upon that is
    // one side's alone.
    world.commit("feature", vec![(p(1), body(1, "Ada Lovelace", Some(40)))]);
    world.merge("other", "feature").unwrap();
    assert_eq!(world.rows("other").get(&p(1)), body(1, "Ada Lovelace", Some(40)).as_ref());
    world.merge("feature", "other").unwrap();
    world.merge("main", "other").unwrap();
    assert_eq!(world.rows("main"), world.rows("feature"));
}

#[test]
fn crossed_merges_that_were_settled_in_two_ways_ask_again() {
    let (mut world, one, other) = crossed(("Eve", None), ("Eva", None));
    put(&mut world, "feature", one);
    put(&mut world, "other", other);
    let conflict = only(world.merge("feature", "other").unwrap_err());
    assert_eq!(
        conflict.kind,
        ConflictKind::DivergentUpdate { properties: vec!["name".to_owned()] }
    );
    // Once it is said, it is said for both.
    let theirs = [resolve(p(1), How::Theirs)];
    world.merge_with("feature", "other", &theirs).unwrap();
    world.merge("other", "feature").unwrap();
    world.merge("main", "feature").unwrap();
    for branch in ["main", "feature", "other"] {
        assert_eq!(world.rows(branch).get(&p(1)), body(1, "Eva", None).as_ref(), "{branch}");
    }
}

#[test]
fn what_was_settled_for_ours_is_not_asked_again() {
    let mut world = parted();
    world.commit("feature", vec![(p(1), body(1, "Eve", None))]);
    world.commit("main", vec![(p(1), body(1, "Eva", None))]);
    world.merge_with("main", "feature", &[resolve(p(1), How::Ours)]).unwrap().unwrap();
    assert_eq!(world.rows("main").get(&p(1)), body(1, "Eva", None).as_ref());
    world.fork("main", "later");
    world.commit("later", vec![(p(1), body(1, "Eva M.", None))]);
    world.merge("main", "later").unwrap();
    // The branch that lost takes it, without a question: main's answer had seen its own.
    world.merge("feature", "main").unwrap();
    assert_eq!(world.rows("feature").get(&p(1)), body(1, "Eva M.", None).as_ref());
}

#[test]
fn an_edge_to_a_node_that_is_gone_is_a_conflict_either_way() {
    let start = || {
        let mut world = World::new();
        world.commit("main", [1, 2].map(|n| (p(n), body(n, "x", None))).to_vec());
        world.fork("main", "feature");
        world
    };
    for (drops, adds, deleted_by) in
        [("main", "feature", Side::Ours), ("feature", "main", Side::Theirs)]
    {
        let mut world = start();
        world.commit(drops, vec![(p(2), None)]);
        world.commit(adds, vec![(k(1, 2), tie(1, 2, "2026"))]);
        let conflict = only(world.merge("main", "feature").unwrap_err());
        assert_eq!(
            conflict.to_string(),
            format!(
                "Knows from Person `p1` to Person `p2`: kept by {}, but {deleted_by} deleted \
                 Person `p2`",
                deleted_by.other()
            )
        );
        // Without the edge.
        let gone = match deleted_by {
            Side::Ours => How::Ours,
            Side::Theirs => How::Theirs,
        };
        let mut without = world.clone();
        without.merge_with("main", "feature", &[resolve(k(1, 2), gone)]).unwrap();
        assert_eq!(without.rows("main").keys().collect::<Vec<_>>(), [&p(1)]);
        // Or with the node.
        let kept = match deleted_by {
            Side::Ours => How::Theirs,
            Side::Theirs => How::Ours,
        };
        world.merge_with("main", "feature", &[resolve(p(2), kept)]).unwrap();
        let rows = world.rows("main");
        assert!(rows.contains_key(&p(2)) && rows.contains_key(&k(1, 2)));
        world.merge("feature", "main").unwrap();
        assert_eq!(world.rows("feature"), rows);
    }
}

#[test]
fn a_row_is_resolved_as_it_is_said() {
    let start = || {
        let mut world = parted();
        world.commit("feature", vec![(p(1), None)]);
        world.commit("main", vec![(p(1), body(1, "Eva", Some(1)))]);
        world
    };
    let given = body(1, "Given", None);
    let mut nameless = given.clone().unwrap();
    nameless.remove("slug");
    for (how, is) in [
        (How::Ours, body(1, "Eva", Some(1))),
        (How::Theirs, None),
        (How::Given(None), None),
        (How::Given(given.clone()), given.clone()),
        (How::Given(Some(nameless)), given),
    ] {
        let mut world = start();
        world.merge_with("main", "feature", &[resolve(p(1), how.clone())]).unwrap();
        assert_eq!(world.rows("main").get(&p(1)), is.as_ref(), "{how:?}");
        world.merge("feature", "main").unwrap();
        assert_eq!(world.rows("feature").get(&p(1)), is.as_ref(), "{how:?}");
    }
    let mut world = start();
    world.commit("main", vec![(p(2), body(2, "x", None))]);
    world.merge_with("feature", "main", &[resolve(p(1), How::Theirs)]).unwrap();
    world.commit("feature", vec![(p(3), body(3, "x", None))]);
    let needless = world.plan("main", "feature", &[resolve(p(2), How::Ours)]);
    assert!(matches!(needless, Err(MergeError::Needless(row)) if row == p(2)));
    let another = world.plan("main", "feature", &[resolve(p(3), How::Given(body(4, "x", None)))]);
    assert!(matches!(another, Err(MergeError::OtherRow(row)) if row == p(3)));
    let twice = [resolve(p(3), How::Ours), resolve(p(3), How::Theirs)];
    assert!(matches!(world.plan("main", "feature", &twice), Err(MergeError::Resolutions)));
}

#[test]
fn a_merge_asks_for_what_changed_and_for_nothing_else() {
    let mut world = World::new();
    let many = (1..400).map(|n| (p(n), body(n, "x", None))).collect();
    world.commit("main", many);
    world.fork("main", "feature");
    world.commit("feature", vec![(p(7), body(7, "y", None)), (k(1, 2), tie(1, 2, "2026"))]);
    for n in 1..300 {
        world.commit("main", vec![(p(n), body(n, "z", None))]);
    }
    let (mut ours, mut theirs) = (world.view("main"), world.view("feature"));
    let planned = now(crate::merge::plan(&mut ours, &mut theirs, &world.schema, &[]));
    let MergePlan::Conflicts(conflicts) = planned.unwrap() else { panic!("no conflict") };
    assert_eq!(
        kinds(&conflicts),
        [ConflictKind::DivergentUpdate { properties: vec!["name".to_owned()] }]
    );
    let asked = [ours.asked, theirs.asked].concat();
    assert!(asked.len() < 12, "{asked:?}");
    assert!(!asked.iter().any(|ask| ask.starts_with("scan")), "{asked:?}");
}

#[test]
fn the_short_way_to_a_base_is_the_long_way() {
    let mut world = parted();
    world.commit("feature", vec![(p(1), body(1, "Ada", Some(31)))]);
    world.fork("feature", "deep");
    world.commit("main", vec![(p(2), body(2, "B", None))]);
    world.merge("feature", "main").unwrap();
    world.commit("deep", vec![(p(1), None)]);
    for (one, other) in [("main", "feature"), ("feature", "deep"), ("deep", "main")] {
        let (mut ours, mut theirs) = (world.view(one), world.view(other));
        let meeting = now(Meeting::of(&mut ours, &mut theirs)).unwrap();
        let rows = [p(1), p(2), p(3)];
        let short = now(meeting.bases(&mut ours, &rows)).unwrap();
        let asked = ours.asked.len();
        let long = now(meeting.the_long_way().bases(&mut ours, &rows)).unwrap();
        assert_eq!(short, long, "{one} {other}");
        assert_eq!(ours.asked.len(), asked + 2);
    }
}

#[test]
fn the_schemas_of_a_base_are_those_of_its_last_commits() {
    let bases = |world: &World, one: &str, other: &str| {
        let (mut ours, mut theirs) = (world.view(one), world.view(other));
        let meeting = now(Meeting::of(&mut ours, &mut theirs)).unwrap();
        let short = now(meeting.schemas(&mut ours)).unwrap();
        let long = now(meeting.the_long_way().schemas(&mut theirs)).unwrap();
        assert_eq!(short, long);
        short
    };
    let mut world = parted();
    world.fork("main", "other");
    let [first, second] = [b"1", b"2"].map(|text| narthex_core::Digest::of(text));
    let before = world.digest;
    world.digest = first;
    world.commit("feature", vec![(p(1), body(1, "Ada L.", Some(30)))]);
    world.digest = second;
    world.commit("other", vec![(p(1), body(1, "Ada", Some(40)))]);
    assert_eq!(bases(&world, "feature", "other"), [before]);
    assert_eq!(bases(&world, "main", "feature"), [before]);
    assert_eq!(bases(&world, "feature", "feature"), [first]);
    let crossed = [("feature", "other"), ("other", "feature")]
        .map(|(into, from)| (into, world.plan(into, from, &[]).unwrap()));
    for (branch, plan) in crossed {
        put(&mut world, branch, plan);
    }
    assert_eq!(bases(&world, "feature", "other"), [first, second]);
}
