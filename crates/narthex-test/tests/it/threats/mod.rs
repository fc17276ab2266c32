//! Families E, G and H of the threats, row by row, each with the tests that hold it: a row without a
//! test, or a test that is gone, fails the build. `rows` has those that belong nowhere else.

mod rows;

/// Every row of the three families.
const ROWS: [&str; 39] = [
    "E01", "E03", "E04", "E06", "E07", "E09", "E10", "E12", "E13", "E15", "E16", "E18", "E19",
    "E21", "E22", "E24", "G01", "G02", "G03", "G04", "G06", "G07", "G09", "G10", "G12", "G13",
    "G15", "G16", "G18", "G19", "H01", "H03", "H04", "H06", "H07", "H09", "H10", "H12", "H13",
];

/// A source, with what its tests are marked by.
struct Source {
    path: &'static str,
    text: &'static str,
}

macro_rules! source {
    ($path:literal) => {
        Source { path: $path, text: include_str!(concat!("../../../../", $path)) }
    };
}

const APPROVALS: Source = source!("narthex-test/tests/it/full/approvals.rs");
const BUDGETS: Source = source!("narthex-test/tests/it/full/budgets.rs");
const TAINT: Source = source!("narthex-test/tests/it/full/taint.rs");
const STOPS: Source = source!("narthex-test/tests/it/full/stops.rs");
const INLETS: Source = source!("narthex-test/tests/it/servers/inlets.rs");
const PRICES: Source = source!("narthex-test/tests/it/servers/prices.rs");
const OWN: Source = source!("narthex-test/tests/it/threats/rows.rs");
const FAULTS: Source = source!("narthex-test/tests/it/faults/mod.rs");
const DURABLE: Source = source!("narthex-test/tests/it/gate/durable.rs");
const PROPOSALS: Source = source!("narthex-test/tests/it/gate/proposals.rs");
const LIMITS: Source = source!("narthex-test/tests/it/identity/limits.rs");
const NONCES: Source = source!("narthex/tests/it/gate/nonces.rs");
const STOPPED: Source = source!("narthex/tests/it/torture/stopped.rs");
const SERVING: Source = source!("narthex/tests/it/gate/serving.rs");
const TORTURE: Source = source!("narthex/tests/it/torture/mod.rs");
const DISCOVERY: Source = source!("narthex-oauth/tests/it/discovery.rs");
const LOGIN: Source = source!("narthex-oauth/tests/it/login.rs");
const HOSTILE: Source = source!("narthex-egress/tests/it/hostile.rs");
const LINES: Source = source!("narthex-egress/tests/it/lines.rs");
const NAMES: Source = source!("narthex-egress/tests/it/names.rs");
const REDIRECTS: Source = source!("narthex-egress/tests/it/redirects.rs");
const CAPS: Source = source!("narthex-egress/tests/it/caps.rs");
const ENVIRONMENT: Source = source!("narthex-egress/tests/it/environment.rs");
const VANISHED: Source = source!("narthex-store-sqlite/tests/it/vanished.rs");
const RANDOM: Source = source!("narthex-store-sqlite/tests/it/sealed/random.rs");
const LOG: Source = source!("narthex-store-sqlite/tests/it/sealed/log.rs");
const SERVED: Source = source!("narthex-store-sqlite/tests/it/sealed/served.rs");
const EDITED: Source = source!("narthex-store-sqlite/tests/it/gate/rows.rs");
const FILES: Source = source!("narthex-store-sqlite/tests/it/files.rs");
const MIGRATING: Source = source!("narthex-store-sqlite/tests/it/migrating.rs");
const ANY_TEXT: Source = source!("narthex-store/src/suite/hostile.rs");
const DATA_DIR: Source = source!("narthex-server/src/data_dir/tests.rs");

/// Which tests hold a row.
const HELD: &[(&str, Source, &str)] = &[
    ("E01", APPROVALS, "a_gated_call_waits_and_runs_once_after_approval"),
    ("E01", NONCES, "it_must_be_typed_and_is_in_nothing_an_agent_or_a_log_sees"),
    ("E01", NONCES, "it_is_in_no_log_of_a_server_and_on_no_standard_error_of_a_stdio_process"),
    ("E03", APPROVALS, "a_gated_call_waits_and_runs_once_after_approval"),
    ("E04", APPROVALS, "a_thousand_approvals_64_times_each_run_a_thousand_times"),
    ("E06", APPROVALS, "an_approval_is_for_exactly_one_call_in_time"),
    ("E06", APPROVALS, "time_and_circumstance_void_an_approval"),
    ("E06", OWN, "e06_another_definition_or_rule_of_the_tool_voids_an_approval"),
    ("E07", APPROVALS, "time_and_circumstance_void_an_approval"),
    ("E09", APPROVALS, "a_decision_is_for_what_was_shown_and_only_once"),
    ("E10", APPROVALS, "only_so_many_requests_of_one_agent_wait"),
    ("E12", TAINT, "every_inlet_sets_the_latch_and_the_ledger_says_so"),
    ("E12", TAINT, "a_neighbours_title_is_an_inlet"),
    ("E12", INLETS, "e12_every_inlet_of_a_server_sets_the_latch_and_the_ledger_says_so"),
    ("E12", INLETS, "e12_what_is_said_on_the_way_is_taken_in_before_it_is_heard"),
    ("E13", BUDGETS, "two_hundred_at_once_are_exactly_as_many_as_allowed"),
    ("E13", BUDGETS, "only_finite_non_negative_costs_count"),
    ("E13", PRICES, "e13_what_is_no_cost_is_refused_and_recorded"),
    ("E15", STOPS, "what_is_under_way_is_cancelled"),
    ("E16", STOPS, "a_stop_outlives_the_process"),
    ("E16", STOPPED, "what_was_stopped_is_stopped_however_soon_it_is_killed"),
    ("E16", SERVING, "a_file_made_while_nothing_runs_stops_the_next_start_before_the_door_opens"),
    ("E18", APPROVALS, "a_decision_is_for_what_was_shown_and_only_once"),
    ("E18", OWN, "e18_h13_there_is_no_tool_for_a_reset_and_none_for_the_ledger"),
    ("E19", OWN, "e19_five_hundred_proposals_a_minute_fill_an_inbox_and_no_more"),
    ("E19", PROPOSALS, "the_cap_holds_for_forty_at_once"),
    ("E21", APPROVALS, "a_decision_is_for_what_was_shown_and_only_once"),
    ("E21", EDITED, "an_edited_proposal_is_neither_shown_nor_applied"),
    ("E22", FAULTS, "the_nth_write_flush_or_rename_fails"),
    ("E22", PROPOSALS, "sixty_four_approvals_at_once_apply_exactly_once"),
    ("E22", TORTURE, "nothing_acknowledged_is_lost_however_often_it_is_killed"),
    ("E24", APPROVALS, "the_ledger_names_who_asked_who_approved_and_what"),
    ("G01", DISCOVERY, "g01_a_challenge_does_not_lead_to_another_origin"),
    ("G02", DISCOVERY, "metadata_that_leads_elsewhere_is_not_followed"),
    ("G03", DISCOVERY, "metadata_that_leads_elsewhere_is_not_followed"),
    ("G04", HOSTILE, "g04_no_redirect_leads_to_the_spy"),
    ("G04", LINES, "g04_a_redirect_to_the_inside_is_not_followed"),
    ("G04", REDIRECTS, "g04_the_eleventh_hop_is_refused"),
    ("G04", REDIRECTS, "g04_https_does_not_become_http"),
    ("G06", NAMES, "g06_a_flip_between_check_and_connection_changes_nothing"),
    ("G06", NAMES, "g06_a_flip_between_redirects_is_seen_at_the_hop"),
    ("G06", LINES, "g06_a_flip_after_the_check_is_not_followed_and_seen_at_the_next"),
    ("G07", HOSTILE, "g07_no_answer_of_a_name_server_leads_to_the_spy"),
    ("G09", OWN, "g09_a_servers_url_that_came_to_lead_inside_is_not_reached"),
    ("G09", LINES, "g06_a_flip_after_the_check_is_not_followed_and_seen_at_the_next"),
    ("G10", HOSTILE, "no_hostile_url_reaches_the_spy"),
    ("G12", DISCOVERY, "metadata_that_leads_elsewhere_is_not_followed"),
    ("G13", DISCOVERY, "metadata_that_leads_elsewhere_is_not_followed"),
    ("G13", LOGIN, "what_does_not_come_from_who_was_asked_is_never_exchanged"),
    ("G13", LOGIN, "who_does_not_offer_what_it_takes_is_refused_before_the_browser_leaves"),
    ("G15", CAPS, "g15_a_body_ends_at_its_cap"),
    ("G15", CAPS, "g15_who_drips_is_left"),
    ("G15", CAPS, "g15_what_is_packed_is_not_opened"),
    ("G16", REDIRECTS, "g16_secret_headers_stay_with_their_origin"),
    ("G18", ENVIRONMENT, "g18_proxies_and_certificates_of_the_environment_are_ignored"),
    ("G19", LOGIN, "g19_what_is_kept_is_shown_to_who_gave_it_alone"),
    ("H01", FAULTS, "the_nth_write_flush_or_rename_fails"),
    ("H01", DURABLE, "an_unwritable_ledger_is_503_for_everything_and_nothing_happens"),
    ("H01", VANISHED, "health_tells_within_about_a_second_also_when_nobody_calls"),
    ("H03", RANDOM, "everything_done_to_the_files_is_found"),
    ("H03", RANDOM, "an_older_copy_of_everything_is_found_by_its_anchor"),
    ("H04", LOG, "a_log_cut_anywhere_leaves_what_was_before_or_is_told"),
    ("H06", ANY_TEXT, "records_hold_any_text_on_one_line"),
    ("H07", LIMITS, "a_flood_of_bad_tokens_is_bounded_in_records_and_locks_nobody_out"),
    ("H09", DATA_DIR, "a_second_holder_is_refused_and_told_who_is_first"),
    ("H09", FILES, "a_second_opener_is_turned_away"),
    ("H10", SERVED, "what_does_not_chain_is_not_served"),
    ("H10", EDITED, "an_edited_proposal_is_neither_shown_nor_applied"),
    ("H12", MIGRATING, "h12_a_start_that_was_cut_off_in_any_migration_is_gone_on_with"),
    ("H12", FAULTS, "the_nth_write_flush_or_rename_fails_while_a_house_is_made"),
    ("H13", OWN, "e18_h13_there_is_no_tool_for_a_reset_and_none_for_the_ledger"),
];

/// What stands before a function that is run: an attribute, or its place in the store's suite.
fn is_run(source: &Source, name: &str) -> bool {
    let Some(at) = source.text.find(&format!("fn {name}(")) else { return false };
    let suite = include_str!("../../../../narthex-store/src/suite/mod.rs");
    if source.path.contains("/suite/") {
        return suite.contains(&format!("{name},"));
    }
    let before = source.text[..at].rsplit("\n}").next().unwrap_or_default();
    before.contains("#[test]") || before.contains("#[tokio::test")
}

#[test]
fn every_row_is_held_by_tests_that_are_there() {
    for row in ROWS {
        assert!(HELD.iter().any(|(held, _, _)| *held == row), "{row} is held by nothing");
    }
    for (row, source, name) in HELD {
        assert!(ROWS.contains(row), "{row} is no row");
        assert!(is_run(source, name), "{row}: {name} is not run in {}", source.path);
        let ignored = format!("#[ignore]\nfn {name}(");
        assert!(!source.text.contains(&ignored), "{row}: {name} is ignored");
    }
}

#[test]
fn what_is_not_run_is_not_taken_for_a_test() {
    let text = "#[test]\nfn one() {\n}\n\nfn two() {\n}\n#[tokio::test]\nasync fn three() {\n}\n";
    let source = Source { path: "x", text };
    let run = ["one", "two", "three", "four"].map(|name| is_run(&source, name));
    assert_eq!(run, [true, false, true, false]);
}
