//! Loads: a file comes part by part and is made whole, or not at all.
//!
//! What is under way belongs to a connection ([`Desk::visit`]) and goes with it. There are a few at
//! once in a house; whoever begins one more is told to come back.

use std::sync::Arc;

use narthex_graph::engine::{LoadAsk, LoadMode, Loading};
use narthex_graph::exec::Limits;
use narthex_store::GraphInfo;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};

use super::super::desk::invalid;
use super::super::graph_request::{GraphChange, LoadRequest, MAX_LOAD_PART};
use super::super::{Desk, GraphReply, OwnerError, Trouble};
use super::trouble::Stop;
use super::{Target, changed, owner};

/// What a connection loads. Clones are of the same connection.
#[derive(Debug, Clone)]
pub(in super::super) struct Loads {
    places: Arc<Semaphore>,
    under_way: Arc<Mutex<Option<UnderWay>>>,
}

#[derive(Debug)]
struct UnderWay {
    graph: GraphInfo,
    loading: Loading,
    _place: OwnedSemaphorePermit,
}

impl Default for Loads {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(AT_ONCE)), under_way: Arc::default() }
    }
}

impl Loads {
    /// For another connection.
    pub(in super::super) fn another(&self) -> Self {
        Self { places: Arc::clone(&self.places), under_way: Arc::default() }
    }

    /// Forgets what is under way.
    pub(in super::super) async fn abandon(&self) {
        *self.under_way.lock().await = None;
    }
}

impl Desk {
    pub(super) async fn graph_load(&self, request: LoadRequest) -> Result<GraphReply, Stop> {
        match request {
            LoadRequest::Begin { change, from, mode } => {
                self.begin_load(change, from.as_deref(), mode).await
            }
            LoadRequest::Part { bytes } => self.load_part(&bytes.0).await,
            LoadRequest::End => self.end_load().await,
        }
    }

    async fn begin_load(
        &self,
        change: GraphChange,
        from: Option<&str>,
        mode: LoadMode,
    ) -> Result<GraphReply, Stop> {
        let mut under_way = self.loads.under_way.lock().await;
        // One that was left lying makes room.
        *under_way = None;
        let place = Arc::clone(&self.loads.places).try_acquire_owned().map_err(|_| OwnerError {
            kind: Trouble::Unavailable,
            message: format!("{AT_ONCE} loads are under way already; try again later"),
        })?;
        let Target { graph, branch, expected } = self.target(&change).await?;
        let from = match from {
            Some(from) => Some(self.place(&graph, Some(from)).await?),
            None => None,
        };
        // A file takes as long as it takes to come in.
        let limits = Limits { deadline: None, ..self.graphs.limits().clone() };
        let ask = LoadAsk { branch, from, mode, expected, message: change.message, limits };
        let loading = self.graphs.engine().begin_load(&graph, ask, owner()).await?;
        *under_way = Some(UnderWay { graph, loading, _place: place });
        Ok(GraphReply::Taken)
    }

    async fn load_part(&self, bytes: &[u8]) -> Result<GraphReply, Stop> {
        let mut under_way = self.loads.under_way.lock().await;
        if bytes.len() > MAX_LOAD_PART {
            *under_way = None;
            let message = format!("a part of a load has at most {MAX_LOAD_PART} bytes");
            return Err(invalid(message).into());
        }
        let pushed = under_way.as_mut().ok_or_else(gone)?.loading.push(bytes).await;
        if let Err(error) = pushed {
            *under_way = None;
            return Err(error.into());
        }
        Ok(GraphReply::Taken)
    }

    async fn end_load(&self) -> Result<GraphReply, Stop> {
        let load = self.loads.under_way.lock().await.take().ok_or_else(gone)?;
        let prepared = load.loading.finish().await?;
        // The lines are gone with this: where another process moved the branch, they come again.
        let done = self.commit_prepared("graph.load", &load.graph, prepared).await?;
        Ok(changed(&load.graph, done))
    }
}

fn gone() -> OwnerError {
    OwnerError {
        kind: Trouble::Conflict,
        message: "no load is under way here: it failed, or nothing came for too long; load the \
                  file again"
            .to_owned(),
    }
}

/// Loads of one house at once.
const AT_ONCE: usize = 4;
