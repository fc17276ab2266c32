//! Programs in the sandbox, from outside: each layer, what programs get, and what hostile ones do not.

mod bench;
mod hostile;
mod parks;
mod programs;
mod support;
mod types;
