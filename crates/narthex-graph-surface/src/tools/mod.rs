//! The tools: what each takes, what it answers, how it is carried out.

pub(crate) mod builtin;
pub(crate) mod change;
pub(crate) mod input;
pub(crate) mod look;
pub(crate) mod merge;
pub(crate) mod output;
pub(crate) mod stored;
