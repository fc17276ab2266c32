//! Other people's servers behind the door: approved, listed, called, watched, ended.

mod approvals;
mod asks;
mod chaos;
mod cost;
mod eras;
mod family_f;
mod hostile;
mod life;
mod oauth;
mod rig;
mod says;
