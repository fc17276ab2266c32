//! Nothing is added without its row: a tool, a route, an action or a reason that is in no table
//! fails here.

use std::collections::BTreeSet;

use narthex_core::{PolicyAction, Reason};
use narthex_test::{Persona, TestHouse};

use super::{graphs, methods, routes, sessions, tools};
use crate::graph_surface::harbour::EXPOSED;

#[tokio::test]
async fn every_tool_of_every_surface_has_its_rows() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let names = |surface: &narthex_gate::ReadySurface| -> BTreeSet<String> {
        surface.surface().tools().iter().map(|tool| tool.name.clone()).collect()
    };
    let rows: BTreeSet<String> = tools::table()
        .iter()
        .filter(|row| row.action.is_some())
        .map(|row| row.tool.to_owned())
        .collect();
    assert_eq!(names(house.house().workspace()), rows, "the workspace");
    let companion: BTreeSet<String> =
        crate::companion::TOOLS.iter().map(|(tool, _)| (*tool).to_owned()).collect();
    assert_eq!(names(house.house().companion()), companion, "the companion");
    let graphs: BTreeSet<String> = graphs::table().iter().map(|row| row.tool.to_owned()).collect();
    let built_in = narthex_graph_surface::built_in_tools();
    let served: BTreeSet<String> =
        built_in.iter().chain(EXPOSED).chain(&["purge"]).map(|&tool| tool.to_owned()).collect();
    assert_eq!(served, graphs, "a graph");
    Ok(())
}

#[test]
fn every_action_policy_knows_is_asked_about() {
    let mut asked: BTreeSet<_> = tools::table().iter().filter_map(|row| row.action).collect();
    asked.extend(graphs::table().iter().filter_map(|row| row.action));
    // What servers offer is nobody's to list here; that policy is asked about it is in `servers`.
    asked.insert(PolicyAction::UseServer);
    // Code mode is one question for all of its tools; who is asked it is in `servers/programs.rs`.
    asked.insert(PolicyAction::RunCode);
    assert_eq!(asked, PolicyAction::ALL.into_iter().collect());
}

#[test]
fn every_route_has_its_row_and_every_row_its_route() {
    let rows: BTreeSet<_> = routes::TABLE.iter().map(|(route, _, _)| *route).collect();
    assert_eq!(rows, narthex_server::ROUTES.iter().copied().collect());
    for (path, _, row) in routes::TABLE {
        let methods: BTreeSet<_> = row.iter().map(|(method, _, _)| *method).collect();
        assert_eq!(methods, routes::METHODS.iter().copied().collect(), "{path}");
    }
    let on: BTreeSet<_> = routes::WITH_SESSIONS.iter().map(|(method, _, _)| *method).collect();
    assert_eq!(on, routes::METHODS.iter().copied().collect(), "/mcp with sessions");
    // What depends on who asks has a table of its own.
    let theirs = routes::WITH_SESSIONS.iter().filter(|(_, status, _)| matches!(status, 0 | 406));
    let theirs: BTreeSet<_> = theirs.map(|(method, _, _)| *method).collect();
    let rows: BTreeSet<_> = sessions::table().iter().map(sessions::Row::verb).collect();
    assert_eq!(theirs, rows, "the sessions' table");
}

#[test]
fn every_method_has_one_row() {
    let rows: Vec<_> = methods::table().iter().map(|row| row.method).collect();
    let once: BTreeSet<_> = rows.iter().copied().collect();
    assert_eq!(once.len(), rows.len());
    let of_graphs: BTreeSet<_> = graphs::methods().iter().map(|row| row.method).collect();
    assert_eq!(of_graphs, once, "a graph");
}

/// Reasons that need more than a persona to come about, and the module whose rows they are.
const ELSEWHERE: &[(Reason, &str)] = &[
    (Reason::ForbiddenHost, include_str!("../edge.rs")),
    (Reason::ForbiddenOrigin, include_str!("../edge.rs")),
    (Reason::OwnerAction, include_str!("../gate/proposals.rs")),
    (Reason::RateLimited, include_str!("../identity/limits.rs")),
    (Reason::AgentDisabled, include_str!("../companion.rs")),
    (Reason::PolicyError, include_str!("../isolation/policy.rs")),
    (Reason::OverMode, include_str!("../gate/ceilings.rs")),
    (Reason::ApprovalNeeded, include_str!("../full/waits.rs")),
    (Reason::Tainted, include_str!("../full/waits.rs")),
    (Reason::EgressWhileTainted, include_str!("../full/waits.rs")),
    (Reason::ApprovalUsed, include_str!("../full/approvals.rs")),
    (Reason::ApprovalDenied, include_str!("../full/approvals.rs")),
    (Reason::OneTarget, include_str!("../full/approvals.rs")),
    (Reason::OverBudget, include_str!("../full/budgets.rs")),
    (Reason::Stopped, include_str!("../full/stops.rs")),
    (Reason::UnknownSession, include_str!("sessions.rs")),
    (Reason::SessionIdle, SESSION_ENDS),
    (Reason::SessionExpired, SESSION_ENDS),
    (Reason::InvalidRequest, include_str!("../identity/bearer.rs")),
    (Reason::Conflict, include_str!("../isolation/moved.rs")),
    (Reason::LimitReached, include_str!("../gate/proposals.rs")),
    (Reason::Unavailable, include_str!("../gate/durable.rs")),
    (Reason::InputNeeded, include_str!("../servers/asks.rs")),
    (Reason::DeadlineExceeded, include_str!("../gate/rig.rs")),
    (Reason::OutcomeUnknown, include_str!("../gate/rig.rs")),
    (Reason::UpstreamFailed, include_str!("../gate/rig.rs")),
    (Reason::Internal, include_str!("../gate/rig.rs")),
    (Reason::Interrupted, include_str!("../gate/rig.rs")),
];

const SESSION_ENDS: &str = include_str!("../../../../narthex-mcp/tests/it/sessions/ends.rs");

#[test]
fn every_reason_that_can_come_about_is_in_a_table() {
    let mut shown: Vec<Reason> = Vec::new();
    for persona in Persona::ALL {
        for row in tools::table() {
            shown.extend(row.cell(persona).leaves.iter().map(|left| left.2));
        }
    }
    shown.push(Reason::UnknownMethod);
    for (reason, module) in ELSEWHERE {
        let named = format!("Reason::{reason:?}");
        assert!(module.contains(&named), "{named} is not shown where it should be");
        shown.push(*reason);
    }
    for reason in Reason::ALL {
        assert!(shown.contains(reason), "{reason:?} is in no table");
    }
}
