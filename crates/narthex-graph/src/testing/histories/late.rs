//! Changes for where a branch once stood.

use super::play::Player;
use super::{Change, Stage, Stale};
use crate::GraphError;
use crate::engine::LoadMode;

impl<S: Stage> Player<'_, S> {
    /// Whatever it would have changed, it is refused for that alone.
    pub(super) async fn stale(&mut self, branch: usize, back: u8, what: Stale) -> bool {
        let commit = self.seen(branch, back);
        if Some(commit) == self.model.heads[branch] {
            return true;
        }
        self.hand.expected = self.model.commits[commit].id;
        let other = self.branch(branch + 1);
        let refused = match what {
            Stale::Mutate => {
                let mail = self.model.head(branch).facts.must("mail");
                let mail = if mail { ", mail: \"0\"" } else { "" };
                let source = format!(
                    "insert Person {{ slug: \"p1\"{mail} }} delete Person where slug = \"p2\""
                );
                self.hand.mutate(branch, &source).await
            }
            Stale::Load => {
                let (data, ..) = self.file(branch, back, 0, LoadMode::Merge);
                self.hand.load(branch, None, &data, LoadMode::Merge).await
            }
            // Where a branch begins is where the other must stand.
            Stale::LoadNew => {
                let (data, ..) = self.file(branch, back, 0, LoadMode::Merge);
                self.hand.load(NEW, Some(branch), &data, LoadMode::Merge).await
            }
            Stale::Schema => {
                let source = self.model.head(branch).facts.changed(Change::Pet);
                self.hand.schema(branch, &source, true).await
            }
            Stale::Merge => self.hand.merge((branch, other), &[], true).await,
            Stale::Revert => {
                let id = self.model.commits[commit].id.expect("an id");
                self.hand.revert(branch, id, &[]).await
            }
        };
        let fits = match (&refused, what) {
            (Err(GraphError::HeadMoved { expected, .. }), _) => {
                Some(*expected) == self.hand.expected
            }
            // A branch is not merged into itself, wherever it stands.
            (Err(GraphError::Merge(_)), Stale::Merge) => other == branch,
            _ => false,
        };
        assert!(fits, "{what:?}: {refused:?}");
        self.played.late += 1;
        false
    }
}

/// A branch that is never there.
const NEW: usize = super::BRANCHES;
