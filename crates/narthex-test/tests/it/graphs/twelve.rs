//! What went wrong elsewhere in graphs and must not here, each with where that is proven.

/// Number, what went wrong, and the tests: a file and a name in it.
type Row = (u8, &'static str, &'static [(&'static str, &'static str)]);

const TWELVE: [Row; 12] = [
    (1, "a missing parameter dropped the filter", &[(ENGINE, "what_is_wrong_is_refused_whole")]),
    (
        2,
        "merged to and fro, a committed update was reverted",
        &[(ENGINE, "to_and_fro_keeps_both"), (PLAYED, "histories_come_out_as_the_model_says")],
    ),
    (
        3,
        "a refused merge was committed by the next write",
        &[
            (ENGINE, "what_meets_has_to_be_decided_on"),
            (PLAYED, "histories_come_out_as_the_model_says"),
        ],
    ),
    (4, "a deleted edge came back", &[(ENGINE, "what_meets_has_to_be_decided_on")]),
    (5, "loading twice made two rows of one key", &[(ENGINE, "loading_twice_changes_nothing")]),
    (
        6,
        "a filter came after the nearest five",
        &[("crates/narthex-graph/src/exec/tests/bounds.rs", "nearest_comes_after_every_filter")],
    ),
    (
        7,
        "writers on distinct rows were stale; two processes were stuck",
        &[
            (HAMMER, "many_hands_on_three_branches"),
            (HAMMER, "two_engines_on_one_graph"),
            (GRAPHS, "many_writers_on_one_branch"),
        ],
    ),
    (
        8,
        "every commit made the next slower",
        &[
            ("crates/narthex-test/tests/it/graphs/work.rs", "work_does_not_grow_with_history"),
            ("crates/narthex-store-sqlite/src/graphs/plans.rs", "every_look_goes_by_a_key"),
        ],
    ),
    (
        9,
        "a cancelled call left half a write",
        &[(HAMMER, "cancelled_calls_leave_nothing_half_and_nothing_held")],
    ),
    (
        10,
        "no schema changed while a branch was open",
        &[(ENGINE, "schemas_change_on_branches"), (PLAYED, "histories_come_out_as_the_model_says")],
    ),
    (11, "an unknown branch was a storage error", &[(ENGINE, "what_is_wrong_is_refused_whole")]),
    (12, "unknown properties were lost", &[(ENGINE, "what_is_wrong_is_refused_whole")]),
];

const ENGINE: &str = "crates/narthex-graph/src/engine/tests/mod.rs";
const GRAPHS: &str = "crates/narthex-test/tests/it/graphs/mod.rs";
const HAMMER: &str = "crates/narthex-test/tests/it/graphs/hammer.rs";
const PLAYED: &str = "crates/narthex-test/tests/it/graphs/histories.rs";

#[test]
fn each_of_the_twelve_is_proven_where_it_says() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    for (at, (number, what, tests)) in TWELVE.iter().enumerate() {
        assert_eq!(usize::from(*number), at + 1);
        assert!(!tests.is_empty(), "{number}: {what}");
        for (file, name) in *tests {
            let text = std::fs::read_to_string(format!("{root}/{file}")).unwrap();
            let test = text.find(&format!("fn {name}()"));
            let before = test.map(|at| &text[..at]).unwrap_or_default();
            let marked = ["#[test]", "#[tokio::test"].iter().filter_map(|mark| before.rfind(mark));
            let marked = marked.max().is_some_and(|mark| !before[mark..].contains("\n}\n"));
            assert!(marked, "{number}, {what}: there is no test `{name}` in {file}");
        }
    }
}
