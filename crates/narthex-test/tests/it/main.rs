//! The house as its callers meet it, in one binary: a module for each behaviour.

mod slice;
