//! Graphs as agents meet them over HTTP: what is there for whom, what a call may do, what it leaves.

pub(crate) mod harbour;

mod answers;
mod approvals;
mod bounds;
mod gates;
mod kept;
mod lists;
mod masks;
mod merges;
mod places;
mod tiers;
