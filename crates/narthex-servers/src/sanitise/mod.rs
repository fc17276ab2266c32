//! The one place where what a server calls things becomes fit to be seen and used: names as
//! identifiers, descriptions within bounds, errors without secrets and places.

mod description;
mod error_text;
mod identifier;

pub use description::{DESCRIPTION_CHARS, description, for_comment};
pub use error_text::{ERROR_CHARS, Scrubber};
pub use identifier::{Identifiers, escape, unescape};
