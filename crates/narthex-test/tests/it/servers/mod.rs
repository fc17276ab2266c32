//! Other people's servers behind the door: approved, listed, called, watched, ended.

mod approvals;
mod asks;
mod chaos;
mod cost;
mod eras;
mod hostile;
mod life;
mod oauth;
mod programs;
mod rig;
