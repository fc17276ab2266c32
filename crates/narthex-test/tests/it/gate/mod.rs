//! The one path every call takes: tiers, grants, schemas, proposals, records, and what fails.

mod ceilings;
mod durable;
mod grants;
mod proposals;
mod rig;
mod schemas;
mod stopping;
mod surface;
