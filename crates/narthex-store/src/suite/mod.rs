//! The behaviour every back end must show, whatever database is behind it.
//!
//! Each case is a function over a [`Backend`]. A back end writes one line,
//! `narthex_store::store_suite!(MyBackend::new());`, and gets one test a case.
//!
//! To add a case: a function in the file of its subject, and its name in [`store_suite!`]; a test
//! in `narthex-store` fails if it is forgotten there.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

pub mod agents;
pub mod approvals;
pub mod budgets;
pub mod commits;
pub mod concurrency;
pub mod conversations;
pub mod graph_indexes;
pub mod graph_model;
pub mod graphs;
pub mod hostile;
pub mod import;
pub mod isolation;
pub mod latches;
pub mod ledger;
pub mod merges;
pub mod pages;
pub mod proposals;
pub mod runs;
pub mod search;
pub mod server_requests;
pub mod servers;
pub mod settings;
pub mod spaces;
pub mod switches;
pub mod tokens;

mod calls;
mod house;
mod net;

use std::sync::Arc;

use async_trait::async_trait;

use crate::chain::HeadKey;
use crate::{ManualClock, Store};

/// A place where a store can be opened, and opened again.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Opens a new, empty store of this backend's own. Called once, first.
    async fn open(&self) -> Arc<dyn Store>;
    /// Ends what was opened and opens the same data again.
    async fn reopen(&self) -> Arc<dyn Store>;
    /// The clock the store was given.
    fn clock(&self) -> Arc<ManualClock>;
    /// The key the store was given.
    fn head_key(&self) -> HeadKey;
}

/// One test for each case of the suite, over the back end that the expression makes.
#[macro_export]
macro_rules! store_suite {
    ($backend:expr) => {
        $crate::store_suite_cases! {
            $backend;
            spaces { a_new_space_is_found, a_taken_slug_is_refused, a_taken_id_is_refused, }
            pages {
                a_page_reads_back_as_written,
                what_was_read_is_read_anew_after_every_change,
                a_page_without_its_space_is_refused,
                a_taken_slug_is_refused,
                a_revision_needs_the_one_before,
                a_page_can_change_its_slug,
                links_and_backlinks_follow_the_text,
                a_deleted_page_leaves_its_history,
                deleting_needs_the_revision_that_was_seen,
                moving_takes_everything_along,
                moving_is_refused_where_the_slug_is_taken,
                moving_to_where_it_is_changes_nothing,
                listing_goes_by_slug_and_in_steps,
                recent_pages_come_newest_first,
                revisions_can_be_asked_for_one_by_one,
            }
            import { pages_are_made_revised_or_left_alone, a_missing_space_is_refused, a_fault_undoes_all_of_it, }
            isolation {
                the_same_slug_lives_in_two_spaces,
                ids_of_another_space_are_not_found,
                effects_cannot_reach_into_another_space,
                links_and_titles_stay_inside,
                search_stays_inside,
                scores_do_not_depend_on_other_spaces,
                an_unknown_space_is_empty,
            }
            search {
                nothing_to_look_for_finds_nothing,
                words_are_joined_by_and_then_by_or,
                phrases_keep_their_order,
                prefixes_match_beginnings,
                a_title_weighs_more_than_a_body,
                tags_are_found,
                matches_are_marked,
                accents_do_not_matter,
                the_limit_is_kept,
                the_index_follows_every_change,
                hostile_queries_are_only_text,
            }
            agents {
                an_agent_reads_back_as_added,
                a_taken_slug_is_refused,
                its_space_must_exist,
                switching_off_and_on,
                guards_hold_inside_the_transaction,
                the_identity_epoch_moves_only_for_identities,
            }
            tokens {
                a_token_reads_back_with_its_agent,
                the_companion_gets_none,
                ending_twice_is_ending_once,
                a_dead_token_guards_nothing,
                last_used_is_kept_to_the_minute,
            }
            proposals {
                a_proposal_reads_back_as_opened,
                it_opens_pending_whatever_it_claims,
                its_page_must_be_in_its_space,
                its_parts_must_be_there,
                only_so_many_may_wait,
                a_creation_is_applied,
                an_update_is_applied,
                a_deletion_is_applied,
                a_stale_one_is_refused,
                one_whose_page_left_is_refused,
                one_whose_page_is_gone_is_refused,
                one_whose_slug_is_taken_is_refused,
                it_is_decided_only_once,
                a_conflict_can_still_be_rejected,
                provenance_is_not_washed_off,
                lists_are_filtered_and_newest_first,
            }
            merges {
                a_merge_reads_back_as_opened,
                it_has_the_parts_of_a_merge_and_no_others,
                its_graph_must_be_in_its_space,
                its_branches_must_stand_where_it_says,
                the_same_merge_waits_once,
                one_in_conflict_waits_too,
                merges_and_pages_wait_under_one_cap,
                it_is_made_and_applied_at_once,
                only_what_was_proposed_is_merged,
                nothing_to_merge_is_applied_without_a_commit,
                one_in_conflict_can_still_be_made,
                one_that_was_rejected_is_not_made,
                pages_and_merges_are_applied_each_in_their_way,
                one_in_conflict_outlives_a_restart,
            }
            approvals {
                a_request_reads_back_as_asked,
                a_request_is_for_the_call_it_shows,
                lists_are_filtered_and_newest_first,
                the_same_call_waits_once,
                the_newest_is_the_one_asked_for_last_whatever_the_clock_said,
                only_so_many_may_wait,
                one_that_waited_too_long_is_void,
                the_owner_decides_once_and_on_what_was_shown,
                wrong_nonces_end_it,
                it_is_good_once_and_for_its_call,
                an_old_one_is_no_good,
                a_call_that_does_not_go_ahead_uses_nothing_up,
                it_outlives_a_restart,
                each_is_used_exactly_once_under_load,
                what_was_asked_for_long_ago_is_forgotten,
            }
            runs {
                a_run_reads_back_as_parked,
                it_is_taken_up_once_and_by_whose_it_is,
                only_so_many_wait_and_what_is_over_goes,
            }
            budgets {
                the_ledger_is_the_account,
                a_budget_is_reached_and_not_passed,
                bytes_time_and_cost_are_held_too,
                what_is_in_reserve_is_held_until_the_outcome,
                an_outcome_is_measured_without_its_own_reserve,
                a_refused_unit_costs_nothing,
                a_window_rolls,
                exactly_so_many_go_ahead_under_load,
                it_stays_exact_over_many_records_and_restarts,
            }
            latches {
                an_answer_sets_what_it_brings,
                setting_it_again_is_noted_only_now_and_then,
                what_was_taken_in_anywhere_counts_everywhere,
                a_refused_unit_sets_nothing,
                a_decision_on_less_is_refused,
                only_what_is_named_is_opened,
                a_window_opens_only_what_ran_out,
                it_outlives_a_restart,
                a_setting_is_seen_by_whoever_comes_after,
            }
            settings {
                ceilings_change_and_are_read_back,
                the_lowest_ceiling_holds,
                the_noted_mode_holds_and_so_does_every_space_where_none_is_named,
                a_budget_is_read_back_as_given,
                a_tool_has_the_tier_that_was_given_to_it,
                so_many_tools_have_a_tier_of_their_own_and_no_more,
                the_noted_mode_is_remembered,
            }
            server_requests {
                a_request_reads_back_as_opened,
                it_has_the_parts_of_a_request_and_no_others,
                the_same_server_waits_once,
                servers_and_pages_wait_under_one_cap,
                it_is_applied_once_and_takes_disabled_off,
                it_is_not_applied_before_it_is_approved,
                one_that_was_rejected_changes_nothing,
                pages_and_servers_are_applied_each_in_their_way,
                it_outlives_a_restart,
            }
            servers {
                they_are_off_until_turned_on,
                what_is_approved_stays_so,
                what_was_noted_of_rules_stays_with_what_is_approved,
                profiles_are_an_agents,
            }
            switches {
                each_stops_its_scope_until_lifted,
                engaging_twice_is_engaging_once,
                it_outlives_a_restart,
                what_is_stopped_leaves_no_trace,
            }
            conversations { a_conversation_reads_back, lists_come_newest_first, }
            commits {
                a_refused_unit_leaves_nothing_and_no_gap,
                one_refusal_does_not_touch_its_neighbours,
                receipts_name_the_records,
                a_commit_outlives_its_caller,
            }
            ledger {
                a_house_is_founded,
                the_chain_holds_after_reopening,
                records_are_read_in_steps,
                open_intents_are_closed_as_unknown,
                closed_intents_stay_closed,
            }
            concurrency {
                many_commits_make_one_chain,
                a_proposal_is_applied_exactly_once,
                the_cap_holds_under_load,
                one_slug_is_given_once,
            }
            graphs {
                a_graph_reads_back_as_founded,
                a_taken_name_is_refused,
                a_commit_reads_back_with_its_rows,
                a_commit_needs_the_head_it_was_made_for,
                a_branch_sees_its_parent_as_it_was,
                a_commit_can_make_its_branch,
                a_view_is_of_one_moment,
                a_look_back_at_a_commit_and_a_time,
                a_clock_that_was_set_back_takes_nothing_back,
                commits_are_listed_newest_first,
                a_dropped_branch_frees_its_name_and_keeps_its_rows,
                protection_is_kept,
                branches_of_branches_end_somewhere,
                what_lines_wrote_and_had_seen,
                nothing_of_another_graph_is_seen,
                a_removed_graph_is_gone_and_others_are_not,
                graphs_outlive_a_restart,
            }
            graph_indexes {
                edges_are_followed_from_both_sides,
                an_edge_that_comes_back_is_there_once,
                rows_are_scanned_in_order_and_in_steps,
                values_are_found_in_ranges,
                indexes_follow_every_change_on_every_branch,
                words_are_parted_by_spaces_only,
                words_are_found_in_order_whatever_is_said_elsewhere,
                an_index_counts_from_when_it_was_built,
            }
            graph_model { any_history_reads_as_a_model_of_it, }
            hostile { records_hold_any_text_on_one_line, contents_hold_any_text, }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! store_suite_cases {
    ($backend:expr; $($module:ident { $($case:ident,)+ })+) => {$(
        mod $module {
            #[allow(unused_imports, reason = "the back end may be named by a whole path")]
            use super::*;
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    $crate::suite::$module::$case(&$backend).await;
                }
            )+
        }
    )+};
}

#[cfg(test)]
mod tests {
    /// A case nobody runs would be a promise nobody keeps.
    #[test]
    fn every_case_is_in_the_macro() {
        let listed = include_str!("mod.rs");
        for (file, text) in [
            ("agents", include_str!("agents.rs")),
            ("approvals", include_str!("approvals.rs")),
            ("budgets", include_str!("budgets.rs")),
            ("commits", include_str!("commits.rs")),
            ("concurrency", include_str!("concurrency.rs")),
            ("conversations", include_str!("conversations.rs")),
            ("graph_indexes", include_str!("graph_indexes.rs")),
            ("graph_model", include_str!("graph_model.rs")),
            ("graphs", include_str!("graphs.rs")),
            ("hostile", include_str!("hostile.rs")),
            ("import", include_str!("import.rs")),
            ("isolation", include_str!("isolation.rs")),
            ("latches", include_str!("latches.rs")),
            ("ledger", include_str!("ledger.rs")),
            ("merges", include_str!("merges.rs")),
            ("pages", include_str!("pages.rs")),
            ("proposals", include_str!("proposals.rs")),
            ("runs", include_str!("runs.rs")),
            ("search", include_str!("search.rs")),
            ("server_requests", include_str!("server_requests.rs")),
            ("servers", include_str!("servers.rs")),
            ("settings", include_str!("settings.rs")),
            ("spaces", include_str!("spaces.rs")),
            ("switches", include_str!("switches.rs")),
            ("tokens", include_str!("tokens.rs")),
        ] {
            let (_, after) = listed.split_once(&format!("{file} {{")).expect(file);
            let (cases, _) = after.split_once('}').expect(file);
            for line in text.lines() {
                if let Some(rest) = line.strip_prefix("pub async fn ") {
                    let name = rest.split('(').next().unwrap_or_default();
                    let found = cases.split(',').any(|case| case.trim() == name);
                    assert!(found, "{file}::{name} is not in store_suite!");
                }
            }
        }
    }
}
