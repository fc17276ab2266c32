//! The one place where what a server calls things becomes fit to be seen: descriptions within bounds,
//! errors without secrets and places. Names become identifiers in [`narthex_core::Identifiers`].

mod description;
mod error_text;

pub use description::{DESCRIPTION_CHARS, description, for_comment};
pub use error_text::{ERROR_CHARS, Scrubber};
