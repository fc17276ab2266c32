//! The bounds of graphs.

use std::collections::BTreeMap;

use narthex_core::Slug;
use narthex_graph::exec::Limits;
use narthex_graph::stored::Declaration;

/// What a house says about its graphs.
#[derive(Debug, Clone)]
pub struct GraphConfig {
    /// What is declared for each, by its slug.
    pub declared: BTreeMap<Slug, Declaration>,
    /// How much a query may take.
    pub limits: Limits,
    /// Bytes of one message that loads rows.
    pub load_bytes: usize,
    /// How many proposals of one agent may wait.
    pub open_proposals: u32,
}

impl Default for GraphConfig {
    fn default() -> Self {
        Self {
            declared: BTreeMap::new(),
            limits: Limits::default(),
            load_bytes: 32 * 1024 * 1024,
            open_proposals: 100,
        }
    }
}
