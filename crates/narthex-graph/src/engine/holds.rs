//! One change at a time on a branch, one new branch at a time of an agent's, and one branch of a
//! graph at a time that is taken away.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use narthex_core::{AgentId, BranchName, GraphId};
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// Whose turn it is, by branch or agent.
#[derive(Debug, Default)]
pub(super) struct Holds(Mutex<HashMap<Key, Weak<Turn<()>>>>);

/// The name of a branch; or an agent or what ends branches, as no branch can be named.
type Key = (GraphId, String);

/// A branch in someone's hands, or an agent's right to make one. Letting go of it is the next one's turn.
#[derive(Debug)]
pub struct BranchHold {
    _turn: OwnedMutexGuard<()>,
    _also: Option<Box<BranchHold>>,
}

impl BranchHold {
    /// With another, let go of together.
    pub(super) fn and(self, other: Self) -> Self {
        Self { _also: Some(Box::new(other)), ..self }
    }
}

impl Holds {
    /// Waits for its turn.
    pub(super) async fn hold(&self, graph: GraphId, branch: &BranchName) -> BranchHold {
        let turn = self.turn((graph, branch.to_string()));
        BranchHold { _turn: turn.lock_owned().await, _also: None }
    }

    /// Waits until no other branch of this agent's is being made.
    pub(super) async fn hold_agent(&self, graph: GraphId, agent: AgentId) -> BranchHold {
        let turn = self.turn((graph, format!("agent:{agent}")));
        BranchHold { _turn: turn.lock_owned().await, _also: None }
    }

    /// Waits until no other branch of this graph is being taken away.
    pub(super) async fn hold_ends(&self, graph: GraphId) -> BranchHold {
        let turn = self.turn((graph, "ends:".to_owned()));
        BranchHold { _turn: turn.lock_owned().await, _also: None }
    }

    fn turn(&self, key: Key) -> Arc<Turn<()>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(&key).and_then(Weak::upgrade) {
            return turn;
        }
        // Nobody holds or waits for these any more.
        if turns.len() >= SWEEP {
            turns.retain(|_, turn| turn.strong_count() > 0);
        }
        let turn = Arc::new(Turn::new(()));
        turns.insert(key, Arc::downgrade(&turn));
        turn
    }
}

/// From how many on those that nobody holds are forgotten.
const SWEEP: usize = 1_024;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use narthex_core::{BranchName, GraphId};
    use narthex_store::fresh_uuid;

    use super::{Holds, SWEEP};

    #[tokio::test]
    async fn a_branch_is_in_one_hand() {
        let (holds, graph) = (Holds::default(), GraphId::from_uuid(fresh_uuid()));
        let main = BranchName::main();
        let held = holds.hold(graph, &main).await;
        let second = tokio::time::timeout(Duration::from_millis(20), holds.hold(graph, &main));
        assert!(second.await.is_err());
        let _another = holds.hold(graph, &"other".parse().unwrap()).await;
        let _elsewhere = holds.hold(GraphId::from_uuid(fresh_uuid()), &main).await;
        drop(held);
        let _again = holds.hold(graph, &main).await;
        for n in 0..2 * SWEEP {
            drop(holds.hold(graph, &format!("b{n}").parse().unwrap()).await);
        }
        assert!(holds.0.lock().unwrap().len() <= SWEEP + 3);
        assert!(holds.0.lock().unwrap().contains_key(&(graph, main.to_string())));
    }
}
