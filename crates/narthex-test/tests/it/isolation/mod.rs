//! What is in one space does not exist for anyone bound to another (threats, family D).

mod crossing;
mod forged;
mod moved;
mod not_found;
mod policy;
mod search;
