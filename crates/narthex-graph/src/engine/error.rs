//! What can go wrong with a graph, and whose fault it is.

use narthex_core::{BranchName, BranchNameError, CommitId, Timestamp};
use narthex_store::StoreError;

use crate::Diagnostic;
use crate::exec::{CursorError, ExecError};
use crate::history::RevertError;
use crate::load::LoadError;
use crate::merge::{AskedError, Conflicts, MergeError};
use crate::params::ParamError;
use crate::schema::migrate::Step;

/// What went wrong. All but [`GraphError::Store`], [`GraphError::Damaged`] and what of the others
/// wraps those is the caller's to mend, and says how.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// The store's.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is stored cannot be.
    #[error("the graph is damaged: {0}")]
    Damaged(String),
    /// There is no such branch.
    #[error("there is no branch `{name}`{}", hint(nearest.as_deref()))]
    NoBranch {
        /// What was asked for.
        name: BranchName,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// There is such a branch already.
    #[error("there is a branch `{0}` already; choose another name, or work on that one")]
    BranchExists(BranchName),
    /// Not a name for a branch.
    #[error(transparent)]
    BranchName(#[from] BranchNameError),
    /// There is no such commit.
    #[error("there is no commit {0} in this graph; `commit_list` shows those there are")]
    NoCommit(CommitId),
    /// The branch did not exist then.
    #[error("the branch `{branch}` had no commit yet at {at}")]
    NothingYet {
        /// Which.
        branch: BranchName,
        /// When.
        at: Timestamp,
    },
    /// The branch moved.
    #[error(
        "the branch `{branch}` stands at {head}, not at {expected}: look at what changed and try again"
    )]
    HeadMoved {
        /// Which.
        branch: BranchName,
        /// Where the caller saw it.
        expected: CommitId,
        /// Where it is.
        head: CommitId,
    },
    /// The text of a schema or a query is wrong.
    #[error("{}", lines(.0))]
    Text(Vec<Diagnostic>),
    /// Its parameters are wrong.
    #[error(transparent)]
    Params(#[from] ParamError),
    /// It cannot be carried out.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// A file is wrong.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A merge or revert that somebody has to decide on.
    #[error("{0}")]
    Conflicts(Conflicts),
    /// A merge that cannot be.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// A revert that cannot be.
    #[error(transparent)]
    Revert(#[from] RevertError),
    /// A resolution says what cannot be.
    #[error(transparent)]
    Asked(#[from] AskedError),
    /// A change of the schema that is not made.
    #[error("{}", steps(.0))]
    Migration(Vec<Step>),
    /// The owner's branch, `main`, stays.
    #[error("the branch `{0}` is protected and is not deleted; take the protection off first")]
    Protected(BranchName),
    /// It would be lost with what only it has.
    #[error(
        "the branch `{0}` has commits that no other branch has, which would be lost: merge it first"
    )]
    Unmerged(BranchName),
}

impl From<CursorError> for GraphError {
    fn from(error: CursorError) -> Self {
        Self::Exec(error.into())
    }
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

fn lines(found: &[Diagnostic]) -> String {
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn steps(steps: &[Step]) -> String {
    let said = steps.iter().map(|step| match &step.advice {
        Some(advice) => format!("{}; {advice}", step.sentence),
        None => step.sentence.clone(),
    });
    said.collect::<Vec<_>>().join("\n")
}
