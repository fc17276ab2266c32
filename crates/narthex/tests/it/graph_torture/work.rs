//! The work that is done while somebody waits to kill the server, with a note of every try and of
//! every answer.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, ensure};
use narthex_server::owner::Request;
use serde_json::json;
use tokio::task::JoinSet;

use super::hands::{Agent, run};
use super::{GRAPH, Place, WORK, inserts, lines};

/// Something that is whole or not there at all.
#[derive(Debug)]
pub(super) struct Tried {
    pub(super) round: u64,
    pub(super) on: &'static str,
    pub(super) rows: usize,
    pub(super) how: How,
    /// Whether it was answered.
    pub(super) acknowledged: bool,
    /// The commit that the answer named.
    pub(super) commit: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum How {
    /// `narthex graph load` of a file.
    Command(PathBuf),
    /// Parts over the socket.
    Parts,
    /// `graph_load`.
    Call,
    /// Several statements.
    Mutation,
    /// A merge by the owner.
    Merge,
    /// A merge that an agent asked for, and what the proposal is called once that was answered.
    Proposal(Option<String>),
}

#[derive(Clone)]
pub(super) struct Work {
    pub(super) place: Arc<Place>,
    pub(super) agent: Agent,
    pub(super) round: u64,
    pub(super) tried: Arc<Mutex<BTreeMap<String, Tried>>>,
    /// Set before the server is killed: what fails before that fails for another reason.
    pub(super) over: Arc<AtomicBool>,
}

impl Work {
    /// Starts everyone; the future ends when all of them have noticed that the server is gone.
    pub(super) fn start(self) -> impl Future<Output = anyhow::Result<()>> {
        let mut everyone = JoinSet::new();
        everyone.spawn(self.clone().until_over(Self::commands));
        everyone.spawn(self.clone().until_over(Self::parts));
        everyone.spawn(self.clone().until_over(Self::calls));
        everyone.spawn(self.clone().until_over(Self::merges));
        everyone.spawn(self.until_over(Self::proposals));
        async move {
            while let Some(ended) = everyone.join_next().await {
                ended??;
            }
            Ok(())
        }
    }

    /// Whatever fails only once it is over was killed.
    async fn until_over<F, R>(self, work: F) -> anyhow::Result<()>
    where
        F: FnOnce(Self) -> R,
        R: Future<Output = anyhow::Result<()>>,
    {
        let over = Arc::clone(&self.over);
        match work(self).await {
            Err(error) if !over.load(Ordering::SeqCst) => Err(error),
            _ => Ok(()),
        }
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Files from commands. One that comes too late finds nobody and does it all by itself.
    async fn commands(self) -> anyhow::Result<()> {
        for n in 0.. {
            if self.is_over() {
                break;
            }
            let mark = format!("command-{}-{n}", self.round);
            // More than a part of the socket's.
            let file = self.place.file(&mark, &lines(&mark, 40, 30_000))?;
            self.try_it(&mark, "main", 40, How::Command(file.clone()));
            let load = ["load", GRAPH, file.to_str().expect("UTF-8")];
            let ended = run(self.place.house(), &load).await?;
            ensure!(ended.code == Some(0), "{ended:?}");
            self.answered(&mark, ended.commit())?;
        }
        Ok(())
    }

    /// Files part by part, and statements, by the owner on `main`.
    async fn parts(self) -> anyhow::Result<()> {
        let mut owner = self.place.owner().await?;
        for n in 0.. {
            let mark = format!("parts-{}-{n}", self.round);
            self.try_it(&mark, "main", 50, How::Parts);
            let commit = owner.load("main", &lines(&mark, 50, 10), 700).await?;
            self.answered(&mark, commit)?;
            let mark = format!("owner-{}-{n}", self.round);
            self.try_it(&mark, "main", 3, How::Mutation);
            let commit = owner.mutate("main", inserts(&mark, 3)).await?;
            self.answered(&mark, commit)?;
        }
        Ok(())
    }

    /// Files and statements by an agent on its branch.
    async fn calls(self) -> anyhow::Result<()> {
        for n in 0.. {
            let mark = format!("call-{}-{n}", self.round);
            self.try_it(&mark, WORK, 50, How::Call);
            let load = json!({"data": lines(&mark, 50, 10), "branch": WORK});
            let commit = self.agent.commit("graph_load", load).await?;
            self.answered(&mark, commit)?;
            let mark = format!("agent-{}-{n}", self.round);
            self.try_it(&mark, WORK, 3, How::Mutation);
            let insert = json!({"query": inserts(&mark, 3), "branch": WORK});
            let commit = self.agent.commit("graph_mutate", insert).await?;
            self.answered(&mark, commit)?;
        }
        Ok(())
    }

    /// The owner branches off, works there, and merges.
    async fn merges(self) -> anyhow::Result<()> {
        let mut owner = self.place.owner().await?;
        for n in 0.. {
            let mark = format!("merge-{}-{n}", self.round);
            owner.fork(&mark).await?;
            owner.mutate(&mark, inserts(&mark, 8)).await?;
            self.try_it(&mark, "main", 8, How::Merge);
            let commit = owner.merge(&mark, "main").await?;
            self.answered(&mark, commit)?;
            owner.delete(&mark, false).await?;
        }
        Ok(())
    }

    /// An agent branches off, works there, and asks; the owner says yes.
    async fn proposals(self) -> anyhow::Result<()> {
        let mut owner = self.place.owner().await?;
        for n in 0.. {
            let mark = format!("proposal-{}-{n}", self.round);
            self.agent.make("branch_create", json!({"name": mark})).await?;
            let insert = json!({"query": inserts(&mark, 8), "branch": mark});
            self.agent.make("graph_mutate", insert).await?;
            self.try_it(&mark, "main", 8, How::Proposal(None));
            let asked = self.agent.make("branch_merge", json!({"from": mark})).await?;
            let id = asked["pending_change_id"].as_str().context("a proposal")?.to_owned();
            if let Some(tried) = self.all().get_mut(&mark) {
                tried.how = How::Proposal(Some(id.clone()));
            }
            owner.ask(Request::InboxApprove { proposal: id }).await?;
            if let Some(tried) = self.all().get_mut(&mark) {
                tried.acknowledged = true;
            }
            self.agent.make("branch_delete", json!({"branch": mark})).await?;
        }
        Ok(())
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Tried>> {
        self.tried.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_it(&self, mark: &str, on: &'static str, rows: usize, how: How) {
        let (round, acknowledged, commit) = (self.round, false, None);
        let tried = Tried { round, on, rows, how, acknowledged, commit };
        self.all().insert(mark.to_owned(), tried);
    }

    fn answered(&self, mark: &str, commit: Option<String>) -> anyhow::Result<()> {
        ensure!(commit.is_some(), "{mark} made no commit");
        if let Some(tried) = self.all().get_mut(mark) {
            (tried.acknowledged, tried.commit) = (true, commit);
        }
        Ok(())
    }
}
