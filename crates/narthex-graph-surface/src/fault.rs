//! What went wrong with a graph, as a caller is told.

use narthex_core::{Reason, Taint};
use narthex_gate::ToolError;
use narthex_graph::GraphError;
use narthex_graph::exec::ExecError;
use narthex_graph::merge::MergeError;
use narthex_store::StoreError;

use crate::CatalogueError;

/// The caller's faults become a message that says how to mend them, ours a line in the log.
pub(crate) fn told(error: GraphError) -> ToolError {
    let reason = match &error {
        GraphError::Store(_)
        | GraphError::Exec(ExecError::Store(_))
        | GraphError::Merge(MergeError::Store(_)) => return of_store(error),
        GraphError::Damaged(_)
        | GraphError::Exec(ExecError::Body(_) | ExecError::Plan(_) | ExecError::MissingParam(_)) => {
            return ToolError::Internal(error.to_string());
        }
        GraphError::NoBranch { .. } | GraphError::NoCommit(_) | GraphError::NothingYet { .. } => {
            Reason::NotFound
        }
        GraphError::BranchExists(_)
        | GraphError::HeadMoved { .. }
        | GraphError::Conflicts(_)
        | GraphError::Protected(_)
        | GraphError::Unmerged(_) => Reason::Conflict,
        GraphError::Exec(ExecError::Limit { .. }) => Reason::LimitReached,
        GraphError::Exec(ExecError::TimedOut) => Reason::DeadlineExceeded,
        GraphError::BranchName(_)
        | GraphError::Text(_)
        | GraphError::Params(_)
        | GraphError::Load(_)
        | GraphError::Merge(_)
        | GraphError::Revert(_)
        | GraphError::Asked(_)
        | GraphError::Migration(_)
        | GraphError::Exec(_) => Reason::InvalidArguments,
    };
    let brings = if names_rows(&error) { FOREIGN } else { Taint::CLEAN };
    ToolError::caller(reason, error.to_string()).bringing(brings)
}

/// Whether the message repeats keys of rows or names of branches, which another agent may have
/// chosen: it is taken in like an answer.
fn names_rows(error: &GraphError) -> bool {
    match error {
        GraphError::Conflicts(_) | GraphError::Exec(ExecError::Violations(_)) => true,
        GraphError::NoBranch { nearest, .. } => nearest.as_ref().is_some_and(|name| name != "main"),
        _ => false,
    }
}

/// What somebody else may have written.
pub(crate) const FOREIGN: Taint = Taint { private: true, untrusted: true };

/// Stored queries that a change would break are the caller's to mend, or its owner's.
pub(crate) fn told_of_catalogue(error: CatalogueError) -> ToolError {
    match error {
        CatalogueError::Graph(error) => told(error),
        declared @ CatalogueError::Declared { .. } => {
            ToolError::caller(Reason::Conflict, declared.to_string())
        }
    }
}

fn of_store(error: GraphError) -> ToolError {
    match error {
        GraphError::Store(error)
        | GraphError::Exec(ExecError::Store(error))
        | GraphError::Merge(MergeError::Store(error)) => error.into(),
        other => StoreError::Unavailable(other.to_string()).into(),
    }
}
