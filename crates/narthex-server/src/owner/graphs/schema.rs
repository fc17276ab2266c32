//! Schemas: shown, planned, applied.

use narthex_graph::engine::SchemaChange;
use narthex_graph::schema::migrate::Step;
use serde::Serialize;

use super::super::graph_request::GraphChange;
use super::super::{Desk, GraphReply, SchemaShown, StepShown};
use super::trouble::Stop;
use super::{named, owner};

impl Desk {
    pub(super) async fn graph_schema(
        &self,
        graph: &str,
        at: Option<&str>,
    ) -> Result<GraphReply, Stop> {
        let graph = self.graph_named(graph).await?;
        let at = self.place(&graph, at).await?;
        let answer = self.graphs.engine().schema(&graph, &at).await?;
        Ok(GraphReply::Schema(SchemaShown { commit: answer.commit, source: answer.source }))
    }

    pub(super) async fn graph_plan(
        &self,
        graph: &str,
        branch: Option<&str>,
        schema: &str,
    ) -> Result<GraphReply, Stop> {
        let graph = self.graph_named(graph).await?;
        let branch = named::branch(branch)?;
        let plan = self.graphs.engine().plan_schema(&graph, schema, &branch).await?;
        Ok(GraphReply::Plan(plan.steps.iter().map(StepShown::from).collect()))
    }

    pub(super) async fn graph_apply(
        &self,
        change: &GraphChange,
        schema: &str,
        allow_data_loss: bool,
    ) -> Result<GraphReply, Stop> {
        let target = self.target(change).await?;
        let limits = self.owner_limits();
        let ask = SchemaChange {
            source: schema,
            branch: &target.branch,
            expected: target.expected,
            allow_data_loss,
            message: &change.message,
            limits: &limits,
        };
        let (engine, maker) = (self.graphs.engine(), owner());
        let apply = || engine.apply_schema(&target.graph, &ask, &maker);
        let done = self.make("graph.apply", &target.graph, apply).await?;
        Ok(target.changed(done))
    }
}

impl From<&Step> for StepShown {
    fn from(step: &Step) -> Self {
        Self {
            class: word(step.class),
            at: step.at.clone(),
            change: word(step.change),
            sentence: step.sentence.clone(),
            advice: step.advice.clone(),
        }
    }
}

/// The word that stands for it in JSON.
pub(super) fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
