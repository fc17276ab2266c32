//! Schemas: shown, planned, applied; and how a graph begins.

use narthex_core::{BranchName, CommitId, GraphId, Slug, SpaceId};
use narthex_store::{
    At, Commit, CommitKind, GraphInfo, GraphWrite, IndexBuild, LineNo, StoredRow, Tag,
};

use super::commit::{Content, Draft};
use super::{Done, Engine, GraphError, Looked, Maker, Prepared, expect_head, load_limits, moment};
use crate::exec::indexing::{entries, kind_of};
use crate::exec::{Changed, Changes, Context, Counts, ExecError, Limits, RowKind, constraints};
use crate::history::{CommitParts, commit_id};
use crate::query::{EdgeNo, NodeNo};
use crate::schema::Schema;
use crate::schema::migrate::{self, Class, Migration, Verify};

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
        let builds = self.migrate(&mut looked, &context, &changes, ask.allow_data_loss).await?;
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

    /// Whether a branch can go on under the context's schema, with these changes; and the indexes
    /// that must be built for it.
    pub(super) async fn migrate(
        &self,
        looked: &mut Looked,
        context: &Context<'_>,
        changes: &Changes,
        allow_data_loss: bool,
    ) -> Result<Vec<IndexBuild>, GraphError> {
        if looked.schema.digest() == context.schema.digest() {
            return Ok(Vec::new());
        }
        let migration = migrate::plan(&looked.schema, context.schema);
        let stops = |class: Class| {
            class == Class::Refused || (class == Class::Destructive && !allow_data_loss)
        };
        let stopped: Vec<_> =
            migration.steps.iter().filter(|step| stops(step.class)).cloned().collect();
        if !stopped.is_empty() {
            return Err(GraphError::Migration(stopped));
        }
        self.verify(looked, context, changes, &migration).await?;
        builds(looked, context.schema, changes, &migration).await
    }

    /// The rows there are hold to what the new schema asks of them.
    async fn verify(
        &self,
        looked: &mut Looked,
        context: &Context<'_>,
        changes: &Changes,
        migration: &Migration,
    ) -> Result<(), GraphError> {
        let mut slots: Vec<&str> = Vec::new();
        for (step, verify) in migration.verify() {
            let slot = type_slot(verify);
            if let Verify::NoRows { .. } = verify {
                let tag = tag_of(context.schema, slot);
                let any = match tag {
                    Some(tag) => !looked.view.scan(tag, None, 1).await?.is_empty(),
                    None => false,
                };
                if any {
                    return Err(GraphError::Migration(vec![step.clone()]));
                }
                continue;
            }
            slots.push(slot);
            if let Verify::Cardinality { .. } = verify {
                // Nodes that must have edges are looked at even if they have none.
                slots.extend(must_have(context.schema, slot));
            }
        }
        slots.sort_unstable();
        slots.dedup();
        let mut all = changes.clone();
        for slot in slots {
            let Some(tag) = tag_of(context.schema, slot) else { continue };
            let Some(kind) = kind_of(context.schema, tag) else { continue };
            for row in all_rows(looked, tag, context.limits.changes).await? {
                let key = (row.tag, row.row);
                if !all.rows.contains_key(&key) {
                    let (after, ends) = (row.body.clone(), row.ends);
                    all.put(key, Changed { kind, before: Some(row), after, ends });
                }
            }
        }
        let violations = constraints::check(looked.view.as_mut(), context, &all).await?;
        if violations.is_empty() { Ok(()) } else { Err(ExecError::Violations(violations).into()) }
    }
}

/// What indexes that come into being hold: the rows that lie on the line itself.
async fn builds(
    looked: &mut Looked,
    schema: &Schema,
    changes: &Changes,
    migration: &Migration,
) -> Result<Vec<IndexBuild>, GraphError> {
    let line = looked.view.placed().line;
    let mut builds = Vec::new();
    for build in &migration.builds {
        let Some(of) = tag_of(schema, &build.type_slot) else { continue };
        let Some(kind) = kind_of(schema, of) else { continue };
        let mut built =
            IndexBuild { index: build.index, of, entries: Vec::new(), texts: Vec::new() };
        for row in all_rows(looked, of, u64::MAX).await? {
            let changes_now = changes.rows.contains_key(&(row.tag, row.row));
            let Some(body) = row.body.as_ref().filter(|_| row.line == line && !changes_now) else {
                continue;
            };
            let entries = entries(schema, kind, body)?;
            let index = entries.index.into_iter().filter(|(tag, _)| *tag == build.index);
            built.entries.extend(index.map(|(_, value)| (row.row, value)));
            let texts = entries.texts.into_iter().filter(|text| text.index == build.index);
            built.texts.extend(texts.map(|text| (row.row, text.words)));
        }
        builds.push(built);
    }
    Ok(builds)
}

async fn all_rows(looked: &mut Looked, tag: Tag, most: u64) -> Result<Vec<StoredRow>, GraphError> {
    let (mut rows, mut after) = (Vec::new(), None);
    loop {
        let page = looked.view.scan(tag, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(rows) };
        after = Some(last.row);
        rows.extend(page);
        if rows.len() as u64 > most {
            let bound = crate::exec::Bound::Changes;
            return Err(ExecError::Limit { bound, most }.into());
        }
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

fn tag_of(schema: &Schema, slot: &str) -> Option<Tag> {
    let node = schema.nodes.iter().find(|node| node.slot == slot).map(crate::schema::NodeType::tag);
    let edge = || schema.edges.iter().find(|edge| edge.slot == slot);
    node.or_else(|| edge().map(crate::schema::EdgeType::tag))
}

/// The node types that must have edges of this one.
fn must_have<'a>(schema: &'a Schema, edge: &str) -> impl Iterator<Item = &'a str> {
    let edge = schema.edges.iter().find(|of| of.slot == edge);
    let edge = edge.filter(|edge| edge.card.is_some_and(|card| card.min > 0));
    let nodes = schema.nodes.iter().filter(move |node| edge.is_some_and(|of| node.is_a(&of.from)));
    nodes.map(|node| node.slot.as_str())
}

fn type_slot(verify: &Verify) -> &str {
    match verify {
        Verify::NoRows { type_slot }
        | Verify::NotNull { type_slot, .. }
        | Verify::Fits { type_slot, .. }
        | Verify::InRange { type_slot, .. }
        | Verify::Unique { type_slot, .. }
        | Verify::Holds { type_slot, .. } => type_slot,
        Verify::Cardinality { edge_slot } | Verify::Ends { edge_slot } => edge_slot,
    }
}

const PAGE: u32 = 4_096;
