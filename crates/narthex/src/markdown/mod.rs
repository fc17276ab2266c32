//! Markdown as it comes from files and goes to files.
//!
//! Knows front matter, slugs and links; knows nothing of the house.

pub mod file;
pub mod front_matter;
pub mod links;
pub mod names;
pub mod tree;
