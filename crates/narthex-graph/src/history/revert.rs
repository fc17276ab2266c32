//! Taking a commit back.
//!
//! A revert is a merge of one commit's rows, with what it left behind as the base, what was before
//! it as theirs, and what is now as ours. What was changed since stays, and where that and the
//! commit met it is a conflict like any other. Rows alone are taken back: a schema is changed back
//! by changing it.

use std::collections::BTreeMap;

use narthex_core::CommitId;
use narthex_store::{CommitKind, GraphView, StoreError};

use crate::merge::{
    Alike, Base, Conflicts, Held, MergeError, Names, PAGE, Resolution, RowChange, find_orphans,
    read_body, resolve_rows, rows_by_id, said_of_alike, settle,
};
use crate::schema::Schema;

/// What comes of a revert.
#[derive(Debug, Clone, PartialEq)]
pub enum RevertPlan {
    /// Nothing of the commit is left.
    Nothing,
    /// Somebody has to say how. Theirs is what was before the commit.
    Conflicts(Conflicts),
    /// The changes.
    Changes(Vec<RowChange>),
}

/// Why a commit could not be taken back.
#[derive(Debug, thiserror::Error)]
pub enum RevertError {
    /// As with any merge.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// The caller's: such a commit has no rows to take back.
    #[error(
        "a commit of this kind is not reverted ({0:?}); a schema is changed back by changing it"
    )]
    Kind(CommitKind),
    /// The caller's: what is looked at has never seen it.
    #[error("the commit {0} is not in the history of this branch")]
    NotSeen(CommitId),
    /// Ours: the views do not belong together.
    #[error("the view before {0} is not of its parent")]
    NotBefore(CommitId),
}

impl From<StoreError> for RevertError {
    fn from(error: StoreError) -> Self {
        Self::Merge(error.into())
    }
}

/// Plans to take a commit back: `after` is a view at it, `before` one at its first parent.
pub async fn revert(
    now: &mut dyn GraphView,
    after: &mut dyn GraphView,
    before: &mut dyn GraphView,
    schema: &Schema,
    resolutions: &[Resolution],
) -> Result<RevertPlan, RevertError> {
    let commit = after.placed().commit.clone();
    match commit.kind {
        CommitKind::Init | CommitKind::Schema => return Err(RevertError::Kind(commit.kind)),
        CommitKind::Mutate | CommitKind::Load | CommitKind::Merge | CommitKind::Revert => {}
    }
    let seen = now.placed().commit.seen.get(&commit.line);
    if seen.is_none_or(|upto| *upto < commit.seq) {
        return Err(RevertError::NotSeen(commit.id));
    }
    if commit.parents.first() != Some(&before.placed().commit.id) {
        return Err(RevertError::NotBefore(commit.id));
    }
    let mut rows = now.touched(&[(commit.line, commit.seq - 1, commit.seq)]).await?;
    rows.extend(resolutions.iter().map(|resolution| resolution.row));
    rows.sort_unstable();
    rows.dedup();
    let (said, mut held) = (said_of_alike(resolutions, Alike::Gone), BTreeMap::new());
    for page in rows.chunks(PAGE) {
        let ours = rows_by_id(now, page).await?;
        let theirs = rows_by_id(before, page).await?;
        for (row, base) in rows_at(after, page).await? {
            let (ours, theirs) = (ours.get(&row), theirs.get(&row));
            let unlike = ours.map(|row| &row.body) != theirs.map(|row| &row.body);
            if unlike || (said.contains(&row) && ours.is_some()) {
                held.insert(row, Held::of(&base, ours, theirs)?);
            }
        }
    }
    let names = Names::of(schema);
    resolve_rows(&mut held, resolutions, &names, Alike::Gone)?;
    let mut conflicts = settle(&mut held, &names)?;
    conflicts.extend(find_orphans(now, &held, schema, &names).await?);
    if !conflicts.is_empty() {
        return Ok(RevertPlan::Conflicts(Conflicts::of(conflicts)));
    }
    let changes: Vec<RowChange> =
        held.into_iter().map(|(row, held)| held.change(row)).filter(RowChange::is_change).collect();
    Ok(if changes.is_empty() { RevertPlan::Nothing } else { RevertPlan::Changes(changes) })
}

/// What each of these rows is in a view.
async fn rows_at(
    view: &mut dyn GraphView,
    rows: &[crate::merge::RowId],
) -> Result<BTreeMap<crate::merge::RowId, Base>, StoreError> {
    let found = rows_by_id(view, rows).await?;
    rows.iter()
        .map(|row| {
            let body = found.get(row).and_then(|row| row.body.as_deref());
            Ok((*row, Base::Known(body.map(read_body).transpose()?)))
        })
        .collect()
}
