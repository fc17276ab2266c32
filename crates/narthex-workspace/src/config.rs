//! The bounds of the workspace surface.

/// What the workspace surface can be told.
#[derive(Debug, Clone, Copy)]
pub struct WorkspaceConfig {
    /// Proposals of one agent that may wait at once.
    pub open_proposals: u32,
    /// Pages that `context` shows in its tree.
    pub tree_pages: u32,
    /// Recently changed pages that `context` shows.
    pub recent_pages: u32,
    /// Earlier proposals that `context` shows.
    pub earlier_proposals: u32,
}

impl Default for WorkspaceConfig {
    fn default() -> Self {
        Self { open_proposals: 100, tree_pages: 500, recent_pages: 10, earlier_proposals: 20 }
    }
}
