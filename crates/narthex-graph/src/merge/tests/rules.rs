//! Merges that are fine row by row, and break a rule of the schema together.

use super::world::{World, body, k, now, p, resolve, tie};
use crate::exec::{Context, Limits, constraints};
use crate::merge::{
    Conflict, ConflictKind, How, MergePlan, MergedRows, Resolution, conflicts_of, typed,
};
use crate::schema::Schema;

const RULES: &str = "node Person {
    slug: String @key
    name: String? @unique
    age: I64?
    @check(name != \"old\" or age > 60)
}
edge Knows: Person -> Person @card(0..1) { since: String? }
";

fn start() -> World {
    let mut world = World::new();
    world.schema = Schema::read(RULES, None).unwrap();
    world.commit("main", (1..4).map(|n| (p(n), body(n, &n.to_string(), Some(70)))).collect());
    world.fork("main", "feature");
    world
}

/// The rows of a merge, and which rules they break.
fn broken(world: &World, how: &[Resolution]) -> (MergedRows, Vec<Conflict>) {
    let MergePlan::Merged(merged) = world.plan("main", "feature", how).unwrap() else {
        panic!("there is nothing wrong with any row")
    };
    let context = Context {
        schema: &world.schema,
        salt: &[7; 16],
        params: &[],
        now: chrono::DateTime::UNIX_EPOCH,
        limits: &Limits::default(),
    };
    let changes = typed(merged.changes.clone(), &world.schema).changes;
    let violations = now(constraints::check(&mut world.view("main"), &context, &changes)).unwrap();
    let (mut ours, mut theirs) = (world.view("main"), world.view("feature"));
    let found = conflicts_of(&violations, &changes, &mut ours, &mut theirs, &world.schema);
    let conflicts = now(found).unwrap();
    (merged, conflicts)
}

#[test]
fn two_rows_that_became_alike_are_a_conflict_until_one_gives_way() {
    let mut world = start();
    world.commit("main", vec![(p(1), body(1, "same", None))]);
    world.commit("feature", vec![(p(2), body(2, "same", None))]);
    let (_, conflicts) = broken(&world, &[]);
    let [Conflict { kind: ConflictKind::Uniqueness { properties, .. }, ours, theirs, .. }] =
        conflicts.as_slice()
    else {
        panic!("{conflicts:?}")
    };
    assert_eq!(properties, &["name"]);
    let name = |shown: &Option<crate::merge::Shown>| shown.as_ref().unwrap()["name"].clone();
    assert_eq!((name(ours), name(theirs)), ("2".into(), "same".into()));
    for how in [
        resolve(p(2), How::Ours),
        resolve(p(2), How::Given(body(2, "other", None))),
        // Theirs never touched it, and may still be right about it.
        resolve(p(1), How::Theirs),
        resolve(p(1), How::Given(None)),
    ] {
        let (merged, conflicts) = broken(&world, std::slice::from_ref(&how));
        assert_eq!(conflicts, [], "{how:?}");
        let mut world = world.clone();
        world.put_merge("main", merged);
        world.merge("feature", "main").unwrap();
        assert_eq!(world.rows("main"), world.rows("feature"), "{how:?}");
    }
}

#[test]
fn too_many_edges_of_both_together_are_a_conflict() {
    let mut world = start();
    world.commit("main", vec![(k(1, 2), tie(1, 2, "2026"))]);
    world.commit("feature", vec![(k(1, 3), tie(1, 3, "2026"))]);
    let (_, conflicts) = broken(&world, &[]);
    let [Conflict { kind: ConflictKind::Cardinality { found: 2, max: Some(1), edges, .. }, .. }] =
        conflicts.as_slice()
    else {
        panic!("{conflicts:?}")
    };
    assert_eq!(edges.len(), 2, "{edges:?}");
    for row in [k(1, 2), k(1, 3)] {
        assert_eq!(broken(&world, &[resolve(row, How::Given(None))]).1, [], "{row:?}");
    }
}

#[test]
fn properties_that_do_not_go_together_are_a_conflict() {
    let mut world = start();
    world.commit("main", vec![(p(1), body(1, "old", Some(70)))]);
    world.commit("feature", vec![(p(1), body(1, "1", Some(7)))]);
    let (_, conflicts) = broken(&world, &[]);
    assert!(
        matches!(
            conflicts.as_slice(),
            [Conflict { kind: ConflictKind::ValueConstraint { .. }, .. }]
        ),
        "{conflicts:?}"
    );
    assert_eq!(broken(&world, &[resolve(p(1), How::Ours)]).1, []);
}
