//! What stops a request about a graph, and what an owner is told.

use narthex_graph::exec::ExecError;
use narthex_graph::history::RevertError;
use narthex_graph::merge::{Conflict, Conflicts, MergeError};
use narthex_graph::schema::migrate::Class;
use narthex_graph::{Diagnostic, GraphError};
use narthex_graph_surface::CatalogueError;
use narthex_store::StoreError;
use serde_json::json;

use super::super::{ConflictShown, ConflictsShown, GraphReply, OwnerError, TextFault, Trouble};

/// What stops a request about a graph.
#[derive(Debug)]
pub(super) enum Stop {
    /// Said already.
    Owner(OwnerError),
    /// The store refused it.
    Store(StoreError),
    /// The engine did.
    Graph(GraphError),
    /// The stored queries would not hold any more.
    Catalogue(CatalogueError),
}

impl From<OwnerError> for Stop {
    fn from(error: OwnerError) -> Self {
        Self::Owner(error)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<GraphError> for Stop {
    fn from(error: GraphError) -> Self {
        Self::Graph(error)
    }
}

impl From<CatalogueError> for Stop {
    fn from(error: CatalogueError) -> Self {
        match error {
            CatalogueError::Graph(error) => Self::Graph(error),
            error @ CatalogueError::Declared { .. } => Self::Catalogue(error),
        }
    }
}

impl Stop {
    /// What somebody has to look at comes back as data, all else as an error.
    pub(super) fn reply(self) -> Result<GraphReply, OwnerError> {
        match self {
            Self::Owner(error) => Err(error),
            Self::Store(error) => Err(error.into()),
            Self::Catalogue(error) => {
                Err(OwnerError { kind: Trouble::Conflict, message: error.to_string() })
            }
            Self::Graph(GraphError::Text(faults)) => {
                Ok(GraphReply::Faults(faults.iter().map(TextFault::from).collect()))
            }
            Self::Graph(GraphError::Conflicts(found)) => {
                Ok(GraphReply::Conflicts(ConflictsShown::from(&found)))
            }
            Self::Graph(error) => Err(told(error)),
        }
    }
}

fn told(error: GraphError) -> OwnerError {
    match error {
        GraphError::Store(error)
        | GraphError::Exec(ExecError::Store(error))
        | GraphError::Merge(MergeError::Store(error))
        | GraphError::Revert(RevertError::Merge(MergeError::Store(error))) => error.into(),
        error => OwnerError { kind: kind(&error), message: message(&error) },
    }
}

/// With the command that helps, where the engine would name a tool or leave it open.
fn message(error: &GraphError) -> String {
    match error {
        GraphError::NoCommit(id) => {
            format!("no commit {id} in this graph; see them with: narthex graph log")
        }
        GraphError::Migration(steps)
            if steps.iter().all(|step| step.class == Class::Destructive) =>
        {
            format!("{error}\nallow it with --allow-data-loss, or change the schema")
        }
        GraphError::Unmerged(_) => format!("{error}, or delete it with --force"),
        error => error.to_string(),
    }
}

const fn kind(error: &GraphError) -> Trouble {
    match error {
        GraphError::Damaged(_) => Trouble::Internal,
        GraphError::NoBranch { .. } | GraphError::NoCommit(_) | GraphError::NothingYet { .. } => {
            Trouble::NotFound
        }
        GraphError::BranchExists(_)
        | GraphError::HeadMoved { .. }
        | GraphError::Migration(_)
        | GraphError::Protected(_)
        | GraphError::Unmerged(_)
        | GraphError::Conflicts(_) => Trouble::Conflict,
        GraphError::Exec(ExecError::TimedOut) => Trouble::Unavailable,
        _ => Trouble::Invalid,
    }
}

impl From<&Diagnostic> for TextFault {
    fn from(found: &Diagnostic) -> Self {
        Self {
            message: found.message.clone(),
            line: found.line,
            column: found.column,
            start: found.span.start,
            end: found.span.end,
            help: found.help.clone(),
        }
    }
}

impl From<&Conflicts> for ConflictsShown {
    fn from(found: &Conflicts) -> Self {
        let shown = |conflict: &Conflict| ConflictShown {
            said: conflict.to_string(),
            conflict: json!(conflict),
        };
        Self { total: found.total, listed: found.listed.iter().map(shown).collect() }
    }
}
