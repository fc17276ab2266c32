//! What a merge changes.

use std::collections::{BTreeMap, BTreeSet};

use narthex_core::{CommitId, canonical};
use narthex_store::{GraphView, RowNo, Seen, StoreError, StoredRow, Tag};

use super::lost::{Lost, lost};
use super::names::Names;
use super::{
    Asked, Body, Clash, Conflict, ConflictKind, Conflicts, Merged, Side, Take, merge_row, orphans,
};
use crate::history::Meeting;
use crate::schema::Schema;

/// A row: its type and its number.
pub type RowId = (Tag, RowNo);

/// How one row is to be merged, said by somebody.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolution {
    /// Which row.
    pub row: RowId,
    /// How.
    pub how: How,
}

/// How a row is to be merged.
#[derive(Debug, Clone, PartialEq)]
pub enum How {
    /// As it is in ours; gone, if it is gone there.
    Ours,
    /// As it is in theirs.
    Theirs,
    /// Like this; none if it is to be gone. What its name is made of may be left out.
    Given(Option<Body>),
}

/// What comes of a merge.
#[derive(Debug, Clone, PartialEq)]
pub enum MergePlan {
    /// Ours has all of theirs. There is nothing to commit.
    AlreadyMerged,
    /// Somebody has to say how.
    Conflicts(Conflicts),
    /// The changes.
    Merged(MergedRows),
}

/// What a merge commit holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedRows {
    /// Its two parents, ours first.
    pub parents: [CommitId; 2],
    /// What it has seen, its own number included.
    pub seen: Seen,
    /// What is written, in the order of types and numbers.
    pub changes: Vec<RowChange>,
    /// What theirs wrote and nobody would see any more.
    pub lost: BTreeSet<Lost>,
}

/// A row that is written, against what ours has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowChange {
    /// Its type.
    pub tag: Tag,
    /// Its number.
    pub row: RowNo,
    /// Of an edge, where it begins and ends.
    pub ends: Option<(RowNo, RowNo)>,
    /// What ours has, and where it was written.
    pub before: Option<StoredRow>,
    /// What theirs has.
    pub theirs: Option<String>,
    /// What it becomes. Where that is the same, the write only says that theirs was seen; see the
    /// invariant in [`crate::merge`].
    pub after: Option<String>,
}

impl RowChange {
    /// Whether anything becomes different.
    pub fn is_change(&self) -> bool {
        text(self.before.as_ref()) != self.after.as_deref()
    }
}

/// Why a merge could not be planned.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// The store's.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The caller's: it says how to merge a row that is the same on both sides.
    #[error("there is nothing to resolve: the row is the same on both sides")]
    Needless(RowId),
    /// The caller's: the given row is another row.
    #[error("a row cannot be given another key or other ends")]
    OtherRow(RowId),
    /// The caller's: two resolutions for one row, or too many.
    #[error("a row is resolved once, and at most {max} are", max = RESOLUTIONS)]
    Resolutions,
    /// Too much changed to be merged at once.
    #[error("{0} rows changed, and at most {max} can be merged at once", max = MERGE_ROWS)]
    TooMuch(usize),
}

/// Plans the merge of theirs into ours, both of one graph. `schema` is what comes of both schemas.
///
/// It looks at what theirs wrote and ours has not seen, and at nothing else: that is what it costs.
pub async fn plan(
    ours: &mut dyn GraphView,
    theirs: &mut dyn GraphView,
    schema: &Schema,
    resolutions: &[Resolution],
) -> Result<MergePlan, MergeError> {
    let meeting = Meeting::of(ours, theirs).await?;
    if meeting.is_contained() {
        return Ok(MergePlan::AlreadyMerged);
    }
    let mut rows: Vec<RowId> = theirs.touched(&meeting.theirs_alone()).await?;
    rows.extend(resolutions.iter().map(|resolution| resolution.row));
    rows.sort_unstable();
    rows.dedup();
    if rows.len() > MERGE_ROWS {
        return Err(MergeError::TooMuch(rows.len()));
    }
    let (names, digest) = (Names::of(schema), schema.digest());
    let mut held = BTreeMap::new();
    // Rules that come with theirs may be broken by what both sides have alike.
    let alike = if ours.placed().commit.schema == digest { Alike::Gone } else { Alike::Given };
    let said = said_of_alike(resolutions, alike);
    for page in rows.chunks(PAGE) {
        hold(ours, theirs, &meeting, page, &said, &mut held).await?;
    }
    resolve_rows(&mut held, resolutions, &names, alike)?;
    let shows_all = theirs.placed().commit.schema == digest;
    let lost = if shows_all { BTreeSet::new() } else { lost(&held, &names)? };
    let mut conflicts = settle(&mut held, &names)?;
    conflicts.extend(orphans::find(ours, &held, schema, &names).await?);
    if !conflicts.is_empty() {
        return Ok(MergePlan::Conflicts(Conflicts::of(conflicts)));
    }
    let (ours, theirs) = (ours.placed(), theirs.placed());
    Ok(MergePlan::Merged(MergedRows {
        parents: [ours.commit.id, theirs.commit.id],
        seen: merge_seen(&ours.commit.seen, &theirs.commit.seen, (ours.line, ours.head + 1)),
        changes: held.into_iter().map(|(row, held)| held.change(row)).collect(),
        lost,
    }))
}

/// What a merge commit has seen: all that both have, and itself.
pub fn merge_seen(ours: &Seen, theirs: &Seen, own: (narthex_store::LineNo, u64)) -> Seen {
    let mut seen = ours.clone();
    for (line, upto) in theirs.iter().chain([(&own.0, &own.1)]) {
        let entry = seen.entry(*line).or_default();
        *entry = (*entry).max(*upto);
    }
    seen
}

/// A row that is not the same on both sides.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) ends: Option<(RowNo, RowNo)>,
    pub(crate) ours: Option<StoredRow>,
    pub(crate) theirs: Option<String>,
    pub(crate) settled: Settled,
}

/// What is to become of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Settled {
    /// This.
    To(Option<String>),
    /// Nobody knows.
    Not(Clash),
}

impl Held {
    /// Puts the three versions through the truth table.
    pub(crate) fn of(
        base: &super::Base,
        ours: Option<&StoredRow>,
        theirs: Option<&StoredRow>,
    ) -> Result<Self, StoreError> {
        let (our_text, their_text) = (text(ours), text(theirs));
        let (our_body, their_body) = (read(our_text)?, read(their_text)?);
        let settled = match merge_row(base, our_body.as_ref(), their_body.as_ref()) {
            Merged::Unchanged | Merged::Take(Side::Ours) => {
                Settled::To(our_text.map(str::to_owned))
            }
            Merged::Take(Side::Theirs) => Settled::To(their_text.map(str::to_owned)),
            Merged::Both(body) => Settled::To(Some(write_body(&body)?)),
            Merged::Conflict(clash) => Settled::Not(clash),
        };
        let ends = ours.or(theirs).and_then(|row| row.ends);
        let theirs = their_text.map(str::to_owned);
        Ok(Self { ends, ours: ours.cloned(), theirs, settled })
    }

    pub(crate) fn our_text(&self) -> Option<&str> {
        text(self.ours.as_ref())
    }

    /// Settles it as somebody said.
    fn resolve(&mut self, row: RowId, how: &How, names: &Names<'_>) -> Result<(), MergeError> {
        let to = match how {
            How::Ours => self.our_text().map(str::to_owned),
            How::Theirs => self.theirs.clone(),
            How::Given(None) => None,
            How::Given(Some(body)) => {
                let one = self.our_text().or(self.theirs.as_deref());
                let one = read(one)?.unwrap_or_default();
                let mut body = body.clone();
                for slot in names.identity(row.0) {
                    let Some(is) = one.get(slot) else { continue };
                    if body.get(slot).is_some_and(|given| given != is) {
                        return Err(MergeError::OtherRow(row));
                    }
                    body.insert(slot.to_owned(), is.clone());
                }
                body.retain(|_, value| !value.is_null());
                Some(write_body(&body)?)
            }
        };
        self.settled = Settled::To(to);
        Ok(())
    }

    pub(crate) fn change(self, (tag, row): RowId) -> RowChange {
        let ours = self.our_text().map(str::to_owned);
        let after = match self.settled {
            Settled::To(after) => after,
            Settled::Not(_) => ours,
        };
        RowChange { tag, row, ends: self.ends, before: self.ours, theirs: self.theirs, after }
    }

    /// Whether it will be there. What is not settled counts as there, so that one question is not
    /// asked twice.
    pub(crate) fn stays(&self) -> bool {
        match &self.settled {
            Settled::To(body) => body.is_some(),
            Settled::Not(_) => true,
        }
    }

    /// A conflict about it.
    pub(crate) fn conflict(
        &self,
        tag: Tag,
        names: &Names<'_>,
        kind: ConflictKind,
    ) -> Result<Conflict, StoreError> {
        let (ours, theirs) = (read(self.our_text())?, read(self.theirs.as_deref())?);
        let row = ours.as_ref().or(theirs.as_ref()).and_then(|body| names.name(tag, body));
        let show = |body: Option<Body>| body.map(|body| names.show(tag, &body));
        // An edge without its node cannot stay, whichever side has it.
        let orphan = matches!(kind, ConflictKind::OrphanedEdge { .. });
        let take = if orphan { Take::Gone } else { Take::Ours };
        let resolve = row.iter().map(|row| Asked::Take { row: row.clone(), take }).collect();
        Ok(Conflict { kind, row, ours: show(ours), theirs: show(theirs), resolve })
    }
}

/// What may be said of a row that both sides have alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alike {
    /// That an edge goes, with its node.
    Gone,
    /// What it is to be: the rules are other ones.
    Given,
}

/// Settles rows as somebody said.
pub(crate) fn resolve_rows(
    held: &mut BTreeMap<RowId, Held>,
    resolutions: &[Resolution],
    names: &Names<'_>,
    alike: Alike,
) -> Result<(), MergeError> {
    let rows: BTreeSet<RowId> = resolutions.iter().map(|resolution| resolution.row).collect();
    if rows.len() != resolutions.len() || rows.len() > RESOLUTIONS {
        return Err(MergeError::Resolutions);
    }
    for Resolution { row, how } in resolutions {
        let held = held.get_mut(row).ok_or(MergeError::Needless(*row))?;
        held.resolve(*row, how, names)?;
    }
    needless(held, resolutions, alike)
}

/// Rows that are looked at even where both sides have them alike, for what was said of them.
pub(crate) fn said_of_alike(resolutions: &[Resolution], alike: Alike) -> BTreeSet<RowId> {
    let said = resolutions.iter().filter(|said| match &said.how {
        How::Given(None) => true,
        How::Given(Some(_)) => alike == Alike::Given,
        How::Ours | How::Theirs => false,
    });
    said.map(|said| said.row).collect()
}

/// A row that is the same on both sides is nobody's to resolve; unless it is an edge whose node is
/// resolved away, which has to go with it, or the rules it has to hold to are other ones.
fn needless(
    held: &BTreeMap<RowId, Held>,
    resolutions: &[Resolution],
    alike: Alike,
) -> Result<(), MergeError> {
    let gone: BTreeSet<RowNo> =
        held.iter().filter(|(_, held)| !held.stays()).map(|((_, row), _)| *row).collect();
    for Resolution { row, .. } in resolutions {
        let Some(held) = held.get(row) else { continue };
        let hangs = held.ends.is_some_and(|(from, to)| gone.contains(&from) || gone.contains(&to));
        let becomes = matches!(&held.settled, Settled::To(to) if to.as_deref() != held.our_text());
        let ruled = alike == Alike::Given && becomes;
        if held.our_text() == held.theirs.as_deref() && !hangs && !ruled {
            return Err(MergeError::Needless(*row));
        }
    }
    Ok(())
}

/// The conflicts among these rows. Rows of types that the schema no longer has stay as they are in
/// ours: nobody can look at them to say how.
pub(crate) fn settle(
    held: &mut BTreeMap<RowId, Held>,
    names: &Names<'_>,
) -> Result<Vec<Conflict>, StoreError> {
    let mut conflicts = Vec::new();
    for ((tag, _), held) in held {
        let Settled::Not(clash) = &held.settled else { continue };
        if names.get(*tag).is_none() {
            held.settled = Settled::To(held.our_text().map(str::to_owned));
            continue;
        }
        let kind = match clash {
            Clash::DivergentInsert(slots) => {
                ConflictKind::DivergentInsert { properties: names.properties(*tag, slots) }
            }
            Clash::DivergentUpdate(slots) => {
                ConflictKind::DivergentUpdate { properties: names.properties(*tag, slots) }
            }
            Clash::DeleteAgainstUpdate(side) => {
                ConflictKind::DeleteAgainstUpdate { deleted_by: *side }
            }
        };
        conflicts.push(held.conflict(*tag, names, kind)?);
    }
    Ok(conflicts)
}

/// Reads both sides of these rows and merges those that are unlike.
async fn hold(
    ours: &mut dyn GraphView,
    theirs: &mut dyn GraphView,
    meeting: &Meeting,
    page: &[RowId],
    said: &BTreeSet<RowId>,
    held: &mut BTreeMap<RowId, Held>,
) -> Result<(), StoreError> {
    let our_rows = rows_by_id(ours, page).await?;
    let their_rows = rows_by_id(theirs, page).await?;
    let unlike: Vec<RowId> = page
        .iter()
        .copied()
        .filter(|row| {
            text(our_rows.get(row)) != text(their_rows.get(row))
                || (said.contains(row) && our_rows.contains_key(row))
        })
        .collect();
    let bases = meeting.bases(theirs, &unlike).await?;
    for row in unlike {
        let base = bases.get(&row).cloned().unwrap_or(super::Base::Known(None));
        held.insert(row, Held::of(&base, our_rows.get(&row), their_rows.get(&row))?);
    }
    Ok(())
}

/// Rows of several types at once.
pub(crate) async fn rows_by_id(
    view: &mut dyn GraphView,
    rows: &[RowId],
) -> Result<BTreeMap<RowId, StoredRow>, StoreError> {
    let mut by_tag: BTreeMap<Tag, Vec<RowNo>> = BTreeMap::new();
    for (tag, row) in rows {
        by_tag.entry(*tag).or_default().push(*row);
    }
    let mut found = BTreeMap::new();
    for (tag, rows) in by_tag {
        found.extend(view.rows(tag, &rows).await?.into_iter().map(|row| ((tag, row.row), row)));
    }
    Ok(found)
}

fn text(row: Option<&StoredRow>) -> Option<&str> {
    row.and_then(|row| row.body.as_deref())
}

fn read(text: Option<&str>) -> Result<Option<Body>, StoreError> {
    text.map(read_body).transpose()
}

/// A body from its text.
pub(crate) fn read_body(text: &str) -> Result<Body, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::Damaged(format!("a row cannot be read: {error}")))
}

/// A body as text.
pub(crate) fn write_body(body: &Body) -> Result<String, StoreError> {
    canonical(body).map_err(|error| StoreError::Damaged(error.to_string()))
}

/// How many rows are read at a time.
pub(crate) const PAGE: usize = 500;
/// How many rows may be unlike in one merge: as many as one load brings.
pub(crate) const MERGE_ROWS: usize = 2_000_000;
/// How many rows may be resolved in one merge.
const RESOLUTIONS: usize = 10_000;
