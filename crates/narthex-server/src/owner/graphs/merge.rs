//! Merges, and commits taken back.

use narthex_graph::engine::{MergeAsk, Revert};
use narthex_graph::merge::Asked;

use super::super::desk::invalid;
use super::super::graph_request::GraphChange;
use super::super::{Desk, GraphReply};
use super::owner;
use super::trouble::Stop;

impl Desk {
    pub(super) async fn graph_merge(
        &self,
        change: &GraphChange,
        from: &str,
        resolutions: &[Asked],
        allow_data_loss: bool,
    ) -> Result<GraphReply, Stop> {
        let target = self.target(change).await?;
        let from = from.parse().map_err(invalid)?;
        let limits = self.owner_limits();
        let ask = MergeAsk {
            from: &from,
            into: &target.branch,
            expected: target.expected,
            resolutions,
            message: &change.message,
            allow_data_loss,
            limits: &limits,
        };
        let (engine, maker) = (self.graphs.engine(), owner());
        let merge = || engine.merge(&target.graph, &ask, &maker);
        let done = self.make("graph.merge", &target.graph, merge).await?;
        Ok(target.changed(done))
    }

    pub(super) async fn graph_revert(
        &self,
        change: &GraphChange,
        commit: &str,
        resolutions: &[Asked],
    ) -> Result<GraphReply, Stop> {
        let target = self.target(change).await?;
        let commit = self.commit_named(&target.graph, commit).await?;
        let limits = self.owner_limits();
        let ask = Revert {
            commit,
            branch: &target.branch,
            expected: target.expected,
            resolutions,
            limits: &limits,
        };
        let (engine, maker) = (self.graphs.engine(), owner());
        let revert = || engine.revert(&target.graph, &ask, &maker);
        let done = self.make("graph.revert", &target.graph, revert).await?;
        Ok(target.changed(done))
    }
}
