//! Other people's servers behind the door: approved, listed, called, watched, ended.

mod approvals;
mod asks;
mod chaos;
mod cost;
mod eras;
mod family_f;
mod hostile;
mod inlets;
mod life;
mod oauth;
mod prices;
pub(crate) mod rig;
mod rules;
mod says;
