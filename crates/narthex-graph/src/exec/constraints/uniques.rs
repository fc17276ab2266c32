//! `@unique`: no two rows of a type with the same. Nulls are like nothing, not even each other.

use std::collections::{BTreeMap, BTreeSet};

use narthex_core::Digest;
use narthex_store::{GraphView, IndexRange, RowNo, StoredRow, Tag};
use serde_json::Value as Json;

use super::{ChangeSet, Content, Found, Row};
use crate::exec::{Bound, Context, ExecError, RowKind, ViolationKind};
use crate::rows::{unique_digest, unique_tag};
use crate::schema::Schema;

/// By type and rule, what each row has; and whether it had something else before.
#[derive(Default)]
pub(super) struct Uniques(BTreeMap<Rule, Vec<Entry>>);

/// A type, what its rows are, and which of its rules.
type Rule = (Tag, RowKind, usize);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    digest: [u8; 32],
    row: RowNo,
    new: bool,
}

/// Two rows that have the same; of the other, its key where it is known.
struct Pair {
    row: RowNo,
    other: RowNo,
    other_key: Option<String>,
}

impl Uniques {
    pub(super) fn add(&mut self, schema: &Schema, rows: &[Row<'_>]) -> Result<(), ExecError> {
        for row in rows {
            let Some(after) = &row.after else { continue };
            if after.uniques().is_empty() {
                continue;
            }
            let had = match row.before() {
                Some(_) if row.is_same() => None,
                Some(body) => match Content::read(schema, row.change.kind, body) {
                    // What cannot be read as it is now was like nothing.
                    Err(ExecError::Body(_)) => None,
                    read => Some(read?),
                },
                None => None,
            };
            for (number, unique) in after.uniques().iter().enumerate() {
                let Some(digest) = entry(after, unique) else { continue };
                let had = had.as_ref().and_then(|had| entry(had, unique));
                // What it had before was like no other then.
                let new = !row.is_same() && had != Some(digest);
                let rule = (row.tag, row.change.kind, number);
                let digest = *digest.as_bytes();
                self.0.entry(rule).or_default().push(Entry { digest, row: row.row, new });
            }
        }
        Ok(())
    }

    pub(super) async fn finish(
        self,
        view: &mut dyn GraphView,
        whole: &dyn ChangeSet,
        context: &Context<'_>,
        unbuilt: &BTreeSet<Tag>,
    ) -> Result<Found, ExecError> {
        let mut found = Found::default();
        for (rule, mut entries) in self.0 {
            entries.sort_unstable();
            let mut pairs = Vec::new();
            for pair in entries.windows(2) {
                if let [other, row] = pair
                    && other.digest == row.digest
                    && pairs.len() < super::MAX_VIOLATIONS
                {
                    pairs.push(Pair { row: row.row, other: other.row, other_key: None });
                }
            }
            let one = One { context, whole, rule, entries: &entries, unbuilt };
            one.beside(view, &mut pairs).await?;
            one.tell(pairs, &mut found)?;
        }
        Ok(found)
    }
}

/// One `@unique` of one type.
struct One<'a> {
    context: &'a Context<'a>,
    whole: &'a dyn ChangeSet,
    rule: Rule,
    entries: &'a [Entry],
    unbuilt: &'a BTreeSet<Tag>,
}

impl One<'_> {
    /// Rows that did not change and have the same.
    async fn beside(
        &self,
        view: &mut dyn GraphView,
        pairs: &mut Vec<Pair>,
    ) -> Result<(), ExecError> {
        let asked: Vec<&Entry> = self.entries.iter().filter(|entry| entry.new).collect();
        let Some(index) = self.index()? else { return Ok(()) };
        if !asked.is_empty() && self.unbuilt.contains(&index) {
            return self.scanned(view, pairs).await;
        }
        for part in asked.chunks(super::PART) {
            let value = |entry: &&Entry| Json::String(Digest::from_bytes(entry.digest).to_string());
            let range = IndexRange::Any(part.iter().map(value).collect());
            let most = u32::try_from(self.context.limits.scanned).unwrap_or(u32::MAX);
            let Some(mut rows) = view.index(index, &range, most).await? else {
                return self.scanned(view, pairs).await;
            };
            rows.retain(|row| self.whole.there(self.rule.0, *row).is_none());
            if !rows.is_empty() {
                for row in view.rows(self.rule.0, &rows).await? {
                    self.meet(&row, pairs)?;
                }
            }
        }
        Ok(())
    }

    /// The same where there is no index.
    async fn scanned(
        &self,
        view: &mut dyn GraphView,
        pairs: &mut Vec<Pair>,
    ) -> Result<(), ExecError> {
        let (mut after, mut scanned) = (None, 0);
        loop {
            let page = view.scan(self.rule.0, after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.row);
            scanned += page.len() as u64;
            self.context.limits.within(Bound::Scanned, scanned)?;
            self.context.limits.go_on()?;
            for row in &page {
                if self.whole.there(self.rule.0, row.row).is_none() {
                    self.meet(row, pairs)?;
                }
            }
        }
    }

    /// A row that stays as it is, beside those that changed.
    fn meet(&self, row: &StoredRow, pairs: &mut Vec<Pair>) -> Result<(), ExecError> {
        let content = self.read(row.body.as_deref().unwrap_or("{}"))?;
        let unique = content.uniques().get(self.rule.2).map(Vec::as_slice).unwrap_or_default();
        let Some(digest) = entry(&content, unique) else { return Ok(()) };
        let at = self.entries.partition_point(|entry| entry.digest < *digest.as_bytes());
        let same = self.entries.get(at..).unwrap_or_default().iter();
        let mut same = same.take_while(|entry| entry.digest == *digest.as_bytes());
        if let Some(entry) = same.find(|entry| entry.new)
            && pairs.len() < super::MAX_VIOLATIONS
        {
            let other_key = Some(content.key());
            pairs.push(Pair { row: entry.row, other: row.row, other_key });
        }
        Ok(())
    }

    fn tell(&self, pairs: Vec<Pair>, found: &mut Found) -> Result<(), ExecError> {
        if pairs.is_empty() || found.is_full() {
            return Ok(());
        }
        let tag = self.rule.0;
        let rows = pairs.iter().flat_map(|pair| [pair.row, pair.other]);
        let bodies = self.whole.bodies(tag, &rows.collect())?;
        let content = |row: RowNo| bodies.get(&row).map(|body| self.read(body)).transpose();
        for pair in pairs {
            let Some(row) = content(pair.row)? else { continue };
            let other_key = match pair.other_key {
                Some(key) => key,
                None => content(pair.other)?.map(|other| other.key()).unwrap_or_default(),
            };
            let unique = row.uniques().get(self.rule.2).map(Vec::as_slice).unwrap_or_default();
            let names = unique.iter().filter_map(|number| row.properties().get(*number));
            let properties = names.map(|property| property.name.clone()).collect();
            let what = ViolationKind::Unique { properties, other: pair.other, other_key };
            found.push(row.violation(tag, pair.row, what));
        }
        Ok(())
    }

    fn index(&self) -> Result<Option<Tag>, ExecError> {
        let schema = self.context.schema;
        let (slot, properties, uniques) = match self.rule.1 {
            RowKind::Node(no) => {
                let node = super::node(schema, no)?;
                (&node.slot, &node.properties, &node.uniques)
            }
            RowKind::Edge(no) => {
                let edge = super::edge(schema, no)?;
                (&edge.slot, &edge.properties, &edge.uniques)
            }
        };
        let unique = uniques.get(self.rule.2).map(Vec::as_slice).unwrap_or_default();
        Ok(unique_tag(slot, properties, unique))
    }

    fn read(&self, body: &str) -> Result<Content<'_>, ExecError> {
        Content::read(self.context.schema, self.rule.1, body)
    }
}

/// What the rule's index has of a row.
fn entry(content: &Content<'_>, unique: &[usize]) -> Option<Digest> {
    unique_digest(content.properties(), unique, &content.values)
}

/// Rows that are asked for at once.
const PAGE: u32 = 8192;
