//! Following several edges in a row.
//!
//! No edge is taken twice on one way. Which way it was nobody can see, so an end counts once however
//! many lead to it. Where short ways count (from 0 or 1 on) the shortest way to a node decides, and
//! each node is looked at once; where only longer ones do, the ways themselves must be tried.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use narthex_store::RowNo;

use super::follow::{Neighbours, reached, rows_of};
use super::level::EdgeStep;
use super::machine::{Machine, Slot, Table};
use crate::exec::{Bound, ExecError};
use crate::query::Direction;

impl Machine<'_> {
    /// Follows edges in a row from a bound variable, for all bindings at once.
    pub(super) async fn path(
        &mut self,
        table: Table,
        step: &EdgeStep,
        (min, max): (u32, u32),
    ) -> Result<Table, ExecError> {
        self.context.limits.within(Bound::Hops, max.into())?;
        let starts = rows_of(&table, step.from);
        let ends = if min <= 1 {
            self.reach(&starts, step, min, max).await?
        } else {
            self.ways(&starts, step, min, max).await?
        };
        let is_open = table.iter().any(|binding| binding.slot(step.to) == Slot::Open);
        let types = if is_open {
            // A way of no edges ends where it began, whatever type that has.
            let far =
                ends.iter().flat_map(|(start, ends)| ends.iter().filter(move |end| *end != start));
            let far = far.copied().collect();
            self.types_at(step.to, step.edge, step.direction, far).await?
        } else {
            None
        };
        let wanted = self.types(step.to)?;
        let mut next = Table::new();
        for binding in table {
            let Slot::Node(start_no, start) = binding.slot(step.from) else { continue };
            for end in ends.get(&start).into_iter().flatten() {
                let found = if *end == start && binding.slot(step.to) == Slot::Open {
                    let mut found = binding.clone();
                    found.set(step.to, Slot::Node(start_no, start));
                    wanted.contains(&start_no).then_some(found)
                } else {
                    reached(&binding, step.to, *end, types.as_ref())
                };
                if let Some(found) = found {
                    self.push(&mut next, found)?;
                }
            }
        }
        Ok(next)
    }

    /// What can be reached by ways of at most so many edges.
    async fn reach(
        &mut self,
        starts: &BTreeSet<RowNo>,
        step: &EdgeStep,
        min: u32,
        max: u32,
    ) -> Result<BTreeMap<RowNo, BTreeSet<RowNo>>, ExecError> {
        let mut searches: Vec<Search> = starts.iter().map(|start| Search::from(*start)).collect();
        let mut next_to = Neighbours::new();
        for hop in 1..=max {
            let frontier: BTreeSet<RowNo> =
                searches.iter().flat_map(|search| &search.frontier).copied().collect();
            if frontier.is_empty() {
                break;
            }
            self.fetch(&mut next_to, &frontier, step).await?;
            let mut seen: u64 = 0;
            for search in &mut searches {
                search.hop(&next_to, step.direction, hop, max);
                seen += search.seen.len() as u64;
                self.context.limits.within(Bound::Bindings, seen)?;
            }
        }
        Ok(searches.into_iter().map(|search| search.ends(min)).collect())
    }

    /// Where ways of so many edges lead, each way tried.
    async fn ways(
        &mut self,
        starts: &BTreeSet<RowNo>,
        step: &EdgeStep,
        min: u32,
        max: u32,
    ) -> Result<BTreeMap<RowNo, BTreeSet<RowNo>>, ExecError> {
        let mut ways: Vec<Way> = starts
            .iter()
            .map(|start| Way { start: *start, at: *start, edges: Vec::new() })
            .collect();
        let mut ends: BTreeMap<RowNo, BTreeSet<RowNo>> = BTreeMap::new();
        let mut next_to = Neighbours::new();
        for hop in 1..=max {
            let frontier: BTreeSet<RowNo> = ways.iter().map(|way| way.at).collect();
            self.fetch(&mut next_to, &frontier, step).await?;
            let mut longer = Vec::new();
            for way in ways {
                for (edge, far) in next_to.get(&way.at).into_iter().flatten() {
                    if way.edges.contains(edge) {
                        continue;
                    }
                    if hop >= min {
                        ends.entry(way.start).or_default().insert(*far);
                    }
                    let edges = way.edges.iter().copied().chain([*edge]).collect();
                    longer.push(Way { start: way.start, at: *far, edges });
                    self.context.limits.within(Bound::Bindings, longer.len() as u64)?;
                }
            }
            self.context.limits.go_on()?;
            ways = longer;
            if ways.is_empty() {
                break;
            }
        }
        Ok(ends)
    }

    /// Learns what is next to these nodes, unless it is known.
    async fn fetch(
        &mut self,
        next_to: &mut Neighbours,
        frontier: &BTreeSet<RowNo>,
        step: &EdgeStep,
    ) -> Result<(), ExecError> {
        let new = frontier.iter().copied().filter(|row| !next_to.contains_key(row)).collect();
        let found = self.neighbours(step.edge, step.direction, &new, false).await?;
        next_to.extend(new.into_iter().map(|row| (row, Vec::new())));
        next_to.extend(found);
        Ok(())
    }
}

/// One way that was taken.
struct Way {
    start: RowNo,
    at: RowNo,
    edges: Vec<RowNo>,
}

/// Breadth first from one node.
struct Search {
    start: RowNo,
    seen: HashMap<RowNo, Seen>,
    frontier: Vec<RowNo>,
    /// Whether a way leads back to the start.
    closed: bool,
}

/// How a node was first reached.
#[derive(Clone, Copy)]
struct Seen {
    hops: u32,
    /// The last edge of that way.
    by: Option<RowNo>,
    /// Its first edge.
    branch: Option<RowNo>,
}

impl Search {
    fn from(start: RowNo) -> Self {
        let seen = HashMap::from([(start, Seen { hops: 0, by: None, branch: None })]);
        Self { start, seen, frontier: vec![start], closed: false }
    }

    fn hop(&mut self, next_to: &Neighbours, direction: Direction, hop: u32, max: u32) {
        let mut next = Vec::new();
        for at in std::mem::take(&mut self.frontier) {
            let Some(here) = self.seen.get(&at).copied() else { continue };
            for (edge, far) in next_to.get(&at).into_iter().flatten() {
                match self.seen.get(far).copied() {
                    None => {
                        let branch = here.branch.or(Some(*edge));
                        self.seen.insert(*far, Seen { hops: hop, by: Some(*edge), branch });
                        next.push(*far);
                    }
                    Some(_) if direction != Direction::Both => self.closed |= *far == self.start,
                    Some(there) => {
                        // An edge between two branches closes a way: out by one of them, back by
                        // the other. So does one from the start to itself.
                        let apart = here.branch != there.branch || (at == *far && at == self.start);
                        let new = here.by != Some(*edge) && there.by != Some(*edge);
                        self.closed |= apart && new && here.hops + there.hops < max;
                    }
                }
            }
        }
        self.frontier = next;
    }

    fn ends(self, min: u32) -> (RowNo, BTreeSet<RowNo>) {
        let mut ends: BTreeSet<RowNo> = self.seen.into_keys().collect();
        if min > 0 && !self.closed {
            ends.remove(&self.start);
        }
        (self.start, ends)
    }
}
