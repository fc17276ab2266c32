//! Graphs in memory, for tests: simple and obviously right rather than quick. What a real back end
//! answers is compared with what these do.

pub mod fuzz;
pub mod histories;
mod lines;
mod store;
#[cfg(test)]
mod tests;
mod view;

pub use lines::MemoryGraph;
pub use store::MemoryGraphs;
pub use view::MemoryView;
