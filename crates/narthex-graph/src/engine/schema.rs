//! Schemas: shown, planned, applied; and how a graph begins.

use narthex_core::{BranchName, CommitId, GraphId, Slug, SpaceId};
use narthex_store::{At, Commit, CommitKind, GraphInfo, GraphWrite, LineNo, Tag};

use super::commit::{Content, Draft};
use super::verify::{broken, builds, none_there, way};
use super::{Done, Engine, GraphError, Maker, Prepared, expect_head, load_limits, moment};
use crate::exec::{Changes, Context, Counts, ExecError, Limits, RowKind};
use crate::history::{CommitParts, commit_id};
use crate::query::{EdgeNo, NodeNo};
use crate::schema::Schema;
use crate::schema::migrate::{self, Migration};

/// A schema as it is somewhere in a graph's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaAnswer {
    /// Its text.
    pub source: String,
    /// The commit that was looked at.
    pub commit: CommitId,
}

/// A schema to be applied.
#[derive(Debug, Clone)]
pub struct SchemaChange<'a> {
    /// Its text.
    pub source: &'a str,
    /// On which branch.
    pub branch: &'a BranchName,
    /// The commit the branch must stand at.
    pub expected: Option<CommitId>,
    /// Whether something may be lost.
    pub allow_data_loss: bool,
    /// What is said about it.
    pub message: &'a str,
    /// How much it may take.
    pub limits: &'a Limits,
}

impl Engine {
    /// Prepares a graph without types; a schema is applied to it next.
    pub fn found(
        &self,
        slug: Slug,
        space: SpaceId,
        id: GraphId,
        salt: [u8; 16],
        maker: &Maker,
    ) -> Prepared {
        let (at, schema) = (self.now(), Schema::default());
        let digest = schema.digest();
        let parts = CommitParts {
            parents: &[],
            branch: "main",
            schema: digest,
            kind: CommitKind::Init,
            actor: &maker.actor,
            taint: maker.taint,
            message: "init",
            at,
        };
        let commit = Commit {
            id: commit_id(&parts, &mut []),
            line: LineNo(0),
            seq: 1,
            parents: Vec::new(),
            seen: [(LineNo(0), 1)].into(),
            schema: digest,
            kind: CommitKind::Init,
            actor: maker.actor.clone(),
            taint: maker.taint,
            message: "init".to_owned(),
            at,
            rows: 0,
        };
        let done = Done {
            branch: BranchName::main(),
            commit: Some(commit.id),
            committed: true,
            counts: Counts::default(),
        };
        let graph = GraphInfo { id, slug, space, salt, created: at };
        let write = GraphWrite::Found { graph, commit, schema: schema.stored() };
        Prepared { write: Some(write), done, hold: None }
    }

    /// The schema somewhere.
    pub async fn schema(&self, graph: &GraphInfo, at: &At) -> Result<SchemaAnswer, GraphError> {
        let looked = self.look(graph, at).await?;
        let commit = looked.view.placed().commit.id;
        Ok(SchemaAnswer { source: looked.schema.source.clone(), commit })
    }

    /// The schema somewhere, read.
    pub async fn schema_at(
        &self,
        graph: &GraphInfo,
        at: &At,
    ) -> Result<std::sync::Arc<Schema>, GraphError> {
        Ok(self.look(graph, at).await?.schema)
    }

    /// What applying a schema would do. Whether the rows there are allow it is not looked at.
    pub async fn plan_schema(
        &self,
        graph: &GraphInfo,
        source: &str,
        branch: &BranchName,
    ) -> Result<Migration, GraphError> {
        let looked = self.look(graph, &At::Branch(branch.clone())).await?;
        let after = Schema::read(source, Some(&looked.schema)).map_err(GraphError::Text)?;
        Ok(migrate::plan(&looked.schema, &after))
    }

    /// Prepares that a branch holds to another schema.
    pub async fn apply_schema(
        &self,
        graph: &GraphInfo,
        ask: &SchemaChange<'_>,
        maker: &Maker,
    ) -> Result<Prepared, GraphError> {
        let hold = self.holds.hold(graph.id, ask.branch).await;
        let mut looked = self.look(graph, &At::Branch(ask.branch.clone())).await?;
        expect_head(looked.view.as_ref(), ask.branch, ask.expected)?;
        let before = std::sync::Arc::clone(&looked.schema);
        let schema = Schema::read(ask.source, Some(&before)).map_err(GraphError::Text)?;
        let branch = ask.branch.clone();
        if schema.digest() == before.digest() {
            let commit = Some(looked.view.placed().commit.id);
            let done = Done { branch, commit, committed: false, counts: Counts::default() };
            return Ok(Prepared { write: None, done, hold: Some(hold) });
        }
        let limits = load_limits(ask.limits);
        let context = Context {
            schema: &schema,
            salt: &graph.salt,
            params: &[],
            now: moment(self.now()),
            limits: &limits,
        };
        let changes = Changes::default();
        let migration = way(&before, &schema, ask.allow_data_loss)?;
        none_there(&mut looked, &schema, &migration).await?;
        let (_, violations) = broken(&mut looked, &context, &changes, &migration).await?;
        if !violations.is_empty() {
            return Err(ExecError::Violations(violations).into());
        }
        let builds = builds(&mut looked, &schema, &changes, &migration).await?;
        let draft = Draft {
            graph,
            branch: ask.branch,
            placed: looked.view.placed(),
            new_line: None,
            kind: CommitKind::Schema,
            maker,
            message: if ask.message.is_empty() { "schema" } else { ask.message },
            old: &before,
            schema: &schema,
            content: Content::Changes { changes: &changes, untyped: &[] },
            theirs: None,
            builds,
        };
        self.prepare(draft, hold)
    }
}

/// The types of a schema with the numbers their rows are kept under; edges first, so that none is
/// ever without its ends.
pub(super) fn types(schema: &Schema) -> impl Iterator<Item = (Tag, RowKind)> {
    let edges = schema.edges.iter().enumerate();
    let edges = edges.map(|(no, edge)| (edge.tag(), RowKind::Edge(EdgeNo(no))));
    let nodes = schema.nodes.iter().enumerate();
    edges.chain(nodes.map(|(no, node)| (node.tag(), RowKind::Node(NodeNo(no)))))
}
