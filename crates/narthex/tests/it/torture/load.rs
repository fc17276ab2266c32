//! The load: agents that propose and read, an owner who decides, and a note of every answer.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use narthex_core::ProposalStatus;
use narthex_server::owner::{Reply, Request};
use narthex_server::{DataDir, OwnerClient};
use narthex_test::Client;
use serde_json::{Value, json};
use tokio::task::JoinSet;

/// What was answered, and so must never be lost.
#[derive(Debug, Default)]
pub(super) struct Acknowledged {
    /// Proposal → the slug it would make.
    pub(super) proposed: BTreeMap<String, String>,
    /// Proposal → what the owner was told became of it.
    pub(super) decided: BTreeMap<String, ProposalStatus>,
    /// Answers to `read` and `search`.
    pub(super) observed: usize,
}

impl Acknowledged {
    pub(super) fn total(&self) -> usize {
        self.proposed.len() + self.decided.len() + self.observed
    }
}

impl fmt::Display for Acknowledged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { proposed, decided, observed } = self;
        write!(f, "{} proposed, {} decided, {observed} observed", proposed.len(), decided.len())
    }
}

#[derive(Clone)]
pub(super) struct Load {
    pub(super) url: String,
    pub(super) token: String,
    pub(super) dir: DataDir,
    pub(super) round: u64,
    pub(super) acknowledged: Arc<Mutex<Acknowledged>>,
}

impl Load {
    /// Starts everyone; the future ends when the server is gone for all of them.
    pub(super) fn start(self) -> impl Future<Output = ()> {
        let mut everyone = JoinSet::new();
        for n in 0..4 {
            everyone.spawn(self.clone().propose(n));
        }
        for _ in 0..2 {
            everyone.spawn(self.clone().look());
        }
        everyone.spawn(self.decide());
        async move { while everyone.join_next().await.is_some() {} }
    }

    async fn propose(self, who: u64) {
        let client = Client::new(&self.url, Some(self.token.clone()));
        for n in 0.. {
            let slug = format!("torture/{}-{who}-{n}", self.round);
            let arguments = json!({
                "entity_type": "page", "action": "create", "reason": "torture",
                "payload": {"slug": slug, "title": format!("Page {n}"), "body": "See [[home]]."},
            });
            let Ok(answer) = client.call("propose_change", arguments).await else { return };
            let answer = answer.structured();
            if let Some(id) = answer.get("pending_change_id").and_then(Value::as_str) {
                self.note(|all| all.proposed.insert(id.to_owned(), slug.clone()));
            }
        }
    }

    async fn look(self) {
        let client = Client::new(&self.url, Some(self.token.clone()));
        loop {
            for (tool, arguments) in [
                ("read", json!({"kind": "page", "id": "home"})),
                ("search", json!({"query": "lighthouse"})),
            ] {
                let Ok(answer) = client.call(tool, arguments).await else { return };
                if answer.is_ok() {
                    self.note(|all| all.observed += 1);
                }
            }
        }
    }

    async fn decide(self) {
        let Ok(Some(mut owner)) = OwnerClient::connect(&self.dir).await else { return };
        // However soon a round ends, over all of them most decisions let something in.
        let mut n = self.round;
        loop {
            let list = Request::InboxList {
                space: None,
                statuses: vec![ProposalStatus::Pending],
                limit: 5,
            };
            let Ok(Reply::Proposals(waiting)) = owner.ask(&list).await else { return };
            for proposal in waiting {
                let name = proposal.id.to_string();
                let request = if n.is_multiple_of(4) {
                    Request::InboxReject { proposal: name.clone(), reason: "not now".to_owned() }
                } else {
                    Request::InboxApprove { proposal: name.clone() }
                };
                let Ok(Reply::Decided(decided)) = owner.ask(&request).await else { return };
                n += 1;
                self.note(|all| all.decided.insert(name, decided.status));
            }
        }
    }

    fn note<T>(&self, take: impl FnOnce(&mut Acknowledged) -> T) {
        take(&mut self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
