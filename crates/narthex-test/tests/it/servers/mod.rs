//! Other people's servers behind the door: approved, listed, called, watched, ended.

mod approvals;
mod asks;
mod eras;
mod hostile;
mod life;
mod rig;
