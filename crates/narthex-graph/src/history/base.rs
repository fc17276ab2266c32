//! Where two lines part, and what a row was there.
//!
//! What a commit has seen is a number for each line: everything on it up to there. What two have
//! both seen is the lower of their numbers, line by line. A row's base is what was written last in
//! that. Of several writes, one is not the last if the commit of another had seen it; where several
//! remain (lines that were merged both ways, or into several others), they are merged themselves,
//! in the same way.

use std::collections::{BTreeMap, BTreeSet};

use narthex_core::Digest;
use narthex_store::{GraphView, Layer, LineNo, Seen, StoreError, StoredRow};

use crate::merge::{Base, Body, Merged, RowId, Side, merge_row, read_body};

/// What two views have both seen, and what each has alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meeting {
    ours: Seen,
    theirs: Seen,
    both: Seen,
    /// Where what both have seen is just what one commit had seen: the layers of that commit's
    /// view. Then the base of a row is what that view shows, and no other line need be asked.
    view: Option<Vec<Layer>>,
}

impl Meeting {
    /// Of two views of one graph.
    pub async fn of(
        ours: &mut dyn GraphView,
        theirs: &mut dyn GraphView,
    ) -> Result<Self, StoreError> {
        let seen = |view: &dyn GraphView| view.placed().commit.seen.clone();
        let (our_seen, their_seen) = (seen(ours), seen(theirs));
        let both = lower(&our_seen, &their_seen);
        let view = match meeting_view(ours, &both).await? {
            Some(layers) => Some(layers),
            None => meeting_view(theirs, &both).await?,
        };
        Ok(Self { ours: our_seen, theirs: their_seen, both, view })
    }

    /// Whether ours has seen all that theirs has.
    pub fn is_contained(&self) -> bool {
        self.theirs_alone().is_empty()
    }

    /// What theirs has seen and ours has not: spans of lines.
    pub fn theirs_alone(&self) -> Vec<(LineNo, u64, u64)> {
        beyond(&self.both, &self.theirs)
    }

    /// What ours has seen and theirs has not.
    pub fn ours_alone(&self) -> Vec<(LineNo, u64, u64)> {
        beyond(&self.both, &self.ours)
    }

    /// What each of these rows was there. Any view of the graph will do to look.
    pub async fn bases(
        &self,
        view: &mut dyn GraphView,
        rows: &[RowId],
    ) -> Result<BTreeMap<RowId, Base>, StoreError> {
        match &self.view {
            Some(layers) => shown(view, layers, rows).await,
            None => last_written(view, &self.both, rows, DEPTH).await,
        }
    }

    /// The schemas of the last commits that both have seen: those that no other one of them had
    /// seen. One, unless lines were merged both ways or into several others.
    pub async fn schemas(&self, view: &mut dyn GraphView) -> Result<Vec<Digest>, StoreError> {
        let first = self.view.as_ref().and_then(|layers| layers.first());
        let last = match first {
            Some(layer) => vec![(layer.line, layer.upto)],
            None => last_commits(view, &self.both).await?,
        };
        let mut schemas: Vec<Digest> = Vec::new();
        for schema in view.schemas(&last).await? {
            if !schemas.contains(&schema) {
                schemas.push(schema);
            }
        }
        Ok(schemas)
    }

    /// The same without the short way.
    #[cfg(test)]
    pub(crate) fn the_long_way(self) -> Self {
        Self { view: None, ..self }
    }
}

/// The layers of the commit that had seen just this, if it is on a line under this view.
async fn meeting_view(
    view: &mut dyn GraphView,
    both: &Seen,
) -> Result<Option<Vec<Layer>>, StoreError> {
    let layers = view.placed().layers.clone();
    let shared = |layer: &Layer| Some((layer.line, *both.get(&layer.line)?));
    let last: Vec<Place> = layers.iter().filter_map(shared).collect();
    let seen = view.seen(&last).await?;
    let found = last.iter().zip(&seen).find(|(_, seen)| lower(seen, seen) == *both);
    Ok(found.map(|((line, upto), _)| {
        let own = Layer { line: *line, upto: *upto };
        let under = layers.iter().skip_while(|layer| layer.line != *line).skip(1);
        std::iter::once(own).chain(under.copied()).collect()
    }))
}

/// What a view with these layers shows of these rows: the nearest layer's version.
async fn shown(
    view: &mut dyn GraphView,
    layers: &[Layer],
    rows: &[RowId],
) -> Result<BTreeMap<RowId, Base>, StoreError> {
    let rank = |line: LineNo| layers.iter().position(|layer| layer.line == line);
    let mut nearest: BTreeMap<RowId, StoredRow> = BTreeMap::new();
    for write in view.writes(layers, rows).await? {
        let row = (write.tag, write.row);
        if nearest.get(&row).is_none_or(|other| rank(write.line) < rank(other.line)) {
            nearest.insert(row, write);
        }
    }
    nearest.into_iter().map(|(row, write)| Ok((row, Base::Known(body(&write)?)))).collect()
}

/// What was written last of these rows in what was seen.
async fn last_written(
    view: &mut dyn GraphView,
    within: &Seen,
    rows: &[RowId],
    depth: usize,
) -> Result<BTreeMap<RowId, Base>, StoreError> {
    let lines: Vec<Layer> =
        within.iter().map(|(line, upto)| Layer { line: *line, upto: *upto }).collect();
    let mut writes: BTreeMap<RowId, Vec<StoredRow>> = BTreeMap::new();
    for write in view.writes(&lines, rows).await? {
        writes.entry((write.tag, write.row)).or_default().push(write);
    }
    let several = writes.values().filter(|writes| writes.len() > 1).flatten();
    let commits: BTreeSet<Place> = several.map(place).collect();
    let commits: Vec<Place> = commits.into_iter().collect();
    let seen = view.seen(&commits).await?;
    let seen: BTreeMap<Place, Seen> = commits.into_iter().zip(seen).collect();
    let mut bases = BTreeMap::new();
    let mut apart: BTreeMap<Vec<Place>, Vec<(RowId, Vec<StoredRow>)>> = BTreeMap::new();
    for (row, mut writes) in writes {
        drop_known(&mut writes, &seen);
        writes.sort_by_key(place);
        match writes.as_slice() {
            [first, rest @ ..] if rest.iter().all(|write| write.body == first.body) => {
                bases.insert(row, Base::Known(body(first)?));
            }
            _ => {
                let places = writes.iter().map(place).collect();
                apart.entry(places).or_default().push((row, writes));
            }
        }
    }
    for (places, rows) in apart {
        bases.extend(merged(view, &places, rows, &seen, depth).await?);
    }
    Ok(bases)
}

/// Merges writes that knew nothing of each other, all rows at once that were last written by the
/// same commits. What cannot be merged is unclear.
async fn merged(
    view: &mut dyn GraphView,
    places: &[Place],
    rows: Vec<(RowId, Vec<StoredRow>)>,
    seen: &BTreeMap<Place, Seen>,
    depth: usize,
) -> Result<BTreeMap<RowId, Base>, StoreError> {
    let mut so_far = BTreeMap::new();
    for (row, writes) in &rows {
        let first = writes.first().map(body).transpose()?.flatten();
        so_far.insert(*row, if depth == 0 { Base::Unclear } else { Base::Known(first) });
    }
    let nothing = Seen::new();
    let seen_by = |at: &Place| seen.get(at).unwrap_or(&nothing);
    let mut known = places.first().map(seen_by).cloned().unwrap_or_default();
    for (nth, at) in places.iter().enumerate().skip(1) {
        let open: Vec<RowId> = so_far
            .iter()
            .filter(|(_, base)| matches!(base, Base::Known(_)))
            .map(|(row, _)| *row)
            .collect();
        if open.is_empty() {
            break;
        }
        let under = lower(&known, seen_by(at));
        let bases = Box::pin(last_written(view, &under, &open, depth - 1)).await?;
        for (row, writes) in &rows {
            let (Some(Base::Known(one)), Some(write)) = (so_far.get(row), writes.get(nth)) else {
                continue;
            };
            let base = bases.get(row).cloned().unwrap_or(Base::Known(None));
            let other = body(write)?;
            let merged = match merge_row(&base, one.as_ref(), other.as_ref()) {
                Merged::Unchanged | Merged::Take(Side::Ours) => continue,
                Merged::Take(Side::Theirs) => Base::Known(other),
                Merged::Both(body) => Base::Known(Some(body)),
                Merged::Conflict(_) => Base::Unclear,
            };
            so_far.insert(*row, merged);
        }
        known = higher(&known, seen_by(at));
    }
    Ok(so_far)
}

/// The last commits in what was seen.
async fn last_commits(view: &mut dyn GraphView, within: &Seen) -> Result<Vec<Place>, StoreError> {
    let all: Vec<Place> = within.iter().map(|(line, upto)| (*line, *upto)).collect();
    let seen = view.seen(&all).await?;
    let is_last = |(line, upto): &Place| {
        let mut others = all.iter().zip(&seen).filter(|(other, _)| other.0 != *line);
        !others.any(|(_, seen)| seen.get(line).is_some_and(|known| known >= upto))
    };
    Ok(all.iter().copied().filter(is_last).collect())
}

/// A commit: its line and its number.
type Place = (LineNo, u64);

fn place(write: &StoredRow) -> Place {
    (write.line, write.seq)
}

/// Drops writes that the commit of another one had seen.
fn drop_known(writes: &mut Vec<StoredRow>, seen: &BTreeMap<Place, Seen>) {
    let all: Vec<Place> = writes.iter().map(place).collect();
    writes.retain(|write| {
        let (line, seq) = place(write);
        let had = |other: &Place| {
            let seen = seen.get(other).and_then(|seen| seen.get(&line));
            *other != (line, seq) && seen.is_some_and(|upto| *upto >= seq)
        };
        !all.iter().any(had)
    });
}

fn body(write: &StoredRow) -> Result<Option<Body>, StoreError> {
    write.body.as_deref().map(read_body).transpose()
}

/// The lower of both, line by line.
pub(crate) fn lower(one: &Seen, other: &Seen) -> Seen {
    let lower = |(line, upto): (&LineNo, &u64)| {
        let upto = (*upto).min(other.get(line).copied().unwrap_or(0));
        (upto > 0).then_some((*line, upto))
    };
    one.iter().filter_map(lower).collect()
}

/// The higher of both, line by line.
fn higher(one: &Seen, other: &Seen) -> Seen {
    let mut higher = one.clone();
    for (line, upto) in other {
        let entry = higher.entry(*line).or_default();
        *entry = (*entry).max(*upto);
    }
    higher
}

/// What was seen beyond this: spans of lines.
pub(crate) fn beyond(this: &Seen, seen: &Seen) -> Vec<(LineNo, u64, u64)> {
    let from = |line: &LineNo| this.get(line).copied().unwrap_or(0);
    let spans = seen.iter().map(|(line, upto)| (*line, from(line), *upto));
    spans.filter(|(_, after, upto)| after < upto).collect()
}

/// How often writes that knew nothing of each other are merged upon such.
const DEPTH: usize = 16;
