//! What any set of changes must hold to: the rules of the schema, over the graph as it will be.
//!
//! Every change goes through here, whether a query, a file or a merge made it. Only what changed is
//! looked at, and what of the rest it can be at odds with. A set may come in parts, each row in one
//! of them, so that no more of it is in memory than a part and what rules over several rows need.

mod cards;
mod ends;
mod uniques;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use narthex_store::{GraphView, RowNo, Tag};

use super::{Changed, Changes, Context, ExecError, RowKind, Violation, ViolationKind};
use crate::query::{EdgeNo, NodeNo};
use crate::rows::{Decoder, EdgeBody, decode, key_text};
use crate::schema::{EdgeType, NodeType, Property, Schema};
use crate::value::Value;

/// The rules that changes break, by kind of rule and by row; at most [`MAX_VIOLATIONS`] of them.
/// Parameters of the context are not used.
pub async fn check(
    view: &mut dyn GraphView,
    context: &Context<'_>,
    changes: &Changes,
) -> Result<Vec<Violation>, ExecError> {
    check_without(view, context, changes, BTreeSet::new()).await
}

/// The same under a schema that the view is not under yet: these indexes have nothing, whatever the
/// view says of them, and what is kept may be of other kinds.
pub(crate) async fn check_without(
    view: &mut dyn GraphView,
    context: &Context<'_>,
    changes: &Changes,
    unbuilt: BTreeSet<Tag>,
) -> Result<Vec<Violation>, ExecError> {
    let mut check = Check { unbuilt, ..Check::new(context) };
    let all: Vec<_> = changes.rows.iter().collect();
    for part in all.chunks(PART) {
        let mut rows = Vec::with_capacity(part.len());
        for (key, change) in part {
            match Row::of(context.schema, **key, change) {
                Ok(row) => rows.push(row),
                Err(error) => check.values.push(unread(context.schema, **key, change, error)?),
            }
        }
        check.part(view, changes, &rows).await?;
    }
    check.finish(view, changes).await
}

/// What of a row cannot be read as the kind that its property is of now. If all of it can, it is
/// damaged.
fn unread(
    schema: &Schema,
    (tag, row): (Tag, RowNo),
    change: &Changed,
    error: ExecError,
) -> Result<Violation, ExecError> {
    let (ExecError::Body(_), Some(body)) = (&error, &change.after) else { return Err(error) };
    let properties = match change.kind {
        RowKind::Node(no) => &node(schema, no)?.properties,
        RowKind::Edge(no) => &edge(schema, no)?.properties,
    };
    let fits = |at: usize| Decoder::only(properties, |of| of == at).decode(body).is_ok();
    let Some((_, property)) = (0..).zip(properties).find(|(at, _)| !fits(*at)) else {
        return Err(error);
    };
    let content = Content::read_with(schema, change.kind, body, fits)?;
    let message = format!("it is no {}", property.kind);
    let what = ViolationKind::Value { property: property.name.clone(), message };
    Ok(content.violation(tag, row, what))
}

/// What is known of a whole set of changes while a part of it is looked at.
pub(crate) trait ChangeSet: Sync {
    /// Whether a row will be there; none if nothing is said of it, and it stays as it is.
    fn there(&self, tag: Tag, row: RowNo) -> Option<bool>;

    /// What will be in some rows that will be there, to tell people of them.
    fn bodies(
        &self,
        tag: Tag,
        rows: &BTreeSet<RowNo>,
    ) -> Result<BTreeMap<RowNo, String>, ExecError>;
}

impl ChangeSet for Changes {
    fn there(&self, tag: Tag, row: RowNo) -> Option<bool> {
        self.rows.get(&(tag, row)).map(|change| change.after.is_some())
    }

    fn bodies(
        &self,
        tag: Tag,
        rows: &BTreeSet<RowNo>,
    ) -> Result<BTreeMap<RowNo, String>, ExecError> {
        let body = |row: &RowNo| Some((*row, self.rows.get(&(tag, *row))?.after.clone()?));
        Ok(rows.iter().filter_map(body).collect())
    }
}

/// A set of changes that is looked at part by part.
pub(crate) struct Check<'a> {
    context: &'a Context<'a>,
    values: Found,
    ends: Found,
    uniques: uniques::Uniques,
    cards: cards::Cards,
    /// Indexes that are not there yet.
    unbuilt: BTreeSet<Tag>,
}

impl<'a> Check<'a> {
    pub(crate) fn new(context: &'a Context<'a>) -> Self {
        Self {
            context,
            values: Found::default(),
            ends: Found::default(),
            uniques: uniques::Uniques::default(),
            cards: cards::Cards::default(),
            unbuilt: BTreeSet::new(),
        }
    }

    /// Some of the rows.
    pub(crate) async fn part(
        &mut self,
        view: &mut dyn GraphView,
        whole: &dyn ChangeSet,
        rows: &[Row<'_>],
    ) -> Result<(), ExecError> {
        self.context.limits.go_on()?;
        values::check(self.context, rows, &mut self.values)?;
        ends::check(view, whole, self.context, rows, &mut self.ends).await?;
        self.uniques.add(self.context.schema, rows)?;
        self.cards.add(self.context.schema, rows)
    }

    /// Rows that stay as they are and that the rest is compared with. What they are was looked at
    /// when they came to be; only what is around them may have changed.
    pub(crate) async fn unchanged(
        &mut self,
        view: &mut dyn GraphView,
        whole: &dyn ChangeSet,
        rows: &[Row<'_>],
    ) -> Result<(), ExecError> {
        self.context.limits.go_on()?;
        ends::check(view, whole, self.context, rows, &mut self.ends).await?;
        self.uniques.add(self.context.schema, rows)
    }

    /// There are no more.
    pub(crate) async fn finish(
        self,
        view: &mut dyn GraphView,
        whole: &dyn ChangeSet,
    ) -> Result<Vec<Violation>, ExecError> {
        let Self { context, values, ends, uniques, cards, unbuilt } = self;
        let mut found = values.0;
        found.extend(ends.0);
        context.limits.go_on()?;
        found.extend(uniques.finish(view, whole, context, &unbuilt).await?.0);
        context.limits.go_on()?;
        found.extend(cards.finish(view, whole, context).await?.0);
        found.truncate(MAX_VIOLATIONS);
        Ok(found)
    }
}

/// A changed row, and what is in it afterwards.
#[expect(clippy::struct_field_names, reason = "a row's number is called so everywhere")]
pub(crate) struct Row<'a> {
    pub(crate) tag: Tag,
    pub(crate) row: RowNo,
    pub(crate) change: &'a Changed,
    /// None if it is gone.
    pub(crate) after: Option<Content<'a>>,
}

/// What is in a row, read.
pub(crate) struct Content<'a> {
    of: Of<'a>,
    pub(crate) values: Vec<Value>,
}

enum Of<'a> {
    Node(&'a NodeType),
    Edge(&'a EdgeType, [(String, String); 2]),
}

impl<'a> Row<'a> {
    pub(crate) fn of(
        schema: &'a Schema,
        (tag, row): (Tag, RowNo),
        change: &'a Changed,
    ) -> Result<Self, ExecError> {
        let read = |body: &String| Content::read(schema, change.kind, body);
        Ok(Self { tag, row, change, after: change.after.as_ref().map(read).transpose()? })
    }

    /// What was in it before, if it was there.
    fn before(&self) -> Option<&str> {
        self.change.before.as_ref().and_then(|row| row.body.as_deref())
    }

    /// Whether it is as it was.
    fn is_same(&self) -> bool {
        self.change.after.is_some() && self.before() == self.change.after.as_deref()
    }
}

impl<'a> Content<'a> {
    pub(crate) fn read(schema: &'a Schema, kind: RowKind, body: &str) -> Result<Self, ExecError> {
        Ok(match kind {
            RowKind::Node(no) => {
                let node = node(schema, no)?;
                Self { of: Of::Node(node), values: decode(&node.properties, body)? }
            }
            RowKind::Edge(no) => {
                let edge = edge(schema, no)?;
                let EdgeBody { from, to, values } = EdgeBody::decode(&edge.properties, body)?;
                Self { of: Of::Edge(edge, [from, to]), values }
            }
        })
    }

    /// Of the properties only some, by number; the others are null.
    fn read_with(
        schema: &'a Schema,
        kind: RowKind,
        body: &str,
        wants: impl Fn(usize) -> bool,
    ) -> Result<Self, ExecError> {
        Ok(match kind {
            RowKind::Node(no) => {
                let node = node(schema, no)?;
                let values = Decoder::only(&node.properties, wants).decode(body)?;
                Self { of: Of::Node(node), values }
            }
            RowKind::Edge(no) => {
                let edge = edge(schema, no)?;
                let read = Decoder::only(&edge.properties, wants).decode_edge(body)?;
                Self { of: Of::Edge(edge, [read.from, read.to]), values: read.values }
            }
        })
    }

    fn violation(&self, tag: Tag, row: RowNo, what: ViolationKind) -> Violation {
        Violation { tag, row, kind: self.type_name().to_owned(), key: self.key(), what }
    }

    fn type_name(&self) -> &str {
        match &self.of {
            Of::Node(node) => &node.name,
            Of::Edge(edge, _) => &edge.name,
        }
    }

    fn key(&self) -> String {
        match &self.of {
            Of::Node(node) => node_key(node, &self.values),
            Of::Edge(_, [from, to]) => format!("{} -> {}", from.1, to.1),
        }
    }

    fn slot(&self) -> &'a str {
        match &self.of {
            Of::Node(node) => &node.slot,
            Of::Edge(edge, _) => &edge.slot,
        }
    }

    fn properties(&self) -> &'a [Property] {
        match &self.of {
            Of::Node(node) => &node.properties,
            Of::Edge(edge, _) => &edge.properties,
        }
    }

    fn uniques(&self) -> &'a [Vec<usize>] {
        match &self.of {
            Of::Node(node) => &node.uniques,
            Of::Edge(edge, _) => &edge.uniques,
        }
    }

    /// What all indexes have of it.
    pub(crate) fn entries(&self) -> crate::rows::IndexEntries {
        let (slot, properties) = (self.slot(), self.properties());
        let mut entries = crate::rows::index_entries(slot, properties, &self.values);
        let unique = crate::rows::unique_entries(slot, properties, self.uniques(), &self.values);
        entries.index.extend(unique);
        entries
    }
}

/// What was found so far.
#[derive(Default)]
struct Found(Vec<Violation>);

impl Found {
    fn push(&mut self, violation: Violation) {
        if !self.is_full() {
            self.0.push(violation);
        }
    }

    fn is_full(&self) -> bool {
        self.0.len() >= MAX_VIOLATIONS
    }
}

fn node(schema: &Schema, no: NodeNo) -> Result<&NodeType, ExecError> {
    schema.nodes.get(no.0).ok_or(ExecError::Plan("no such node type"))
}

fn edge(schema: &Schema, no: EdgeNo) -> Result<&EdgeType, ExecError> {
    schema.edges.get(no.0).ok_or(ExecError::Plan("no such edge type"))
}

fn node_key(node: &NodeType, values: &[Value]) -> String {
    let key = node.key_property().zip(values.get(node.key));
    key.and_then(|(property, value)| key_text(&property.kind, value)).unwrap_or_default()
}

/// How many broken rules are told of at once.
pub const MAX_VIOLATIONS: usize = 1000;
/// Rows that are looked at together.
const PART: usize = 4_096;
