//! Rows as a store keeps them: their bodies, their numbers, what indexes have of them.

mod body;
mod check;
mod index;
mod number;

pub use body::{BodyError, Decoder, EdgeBody, decode, encode};
pub use check::{MAX_KEY_BYTES, Violation, Why, check_edge, check_key, check_node, check_value};
pub use index::{
    IndexEntries, index_entries, index_range, index_value, prefix_range, unique_digest,
    unique_entries, unique_tag,
};
pub use number::{edge_number, key_text, key_value, node_number};
