//! The bounds that hold for a value wherever it comes from.

/// The bounds of what a house may contain, in one place so that they can be read together.
#[derive(Debug)]
pub struct Bound;

impl Bound {
    /// Bytes of a page's markdown.
    pub const BODY_BYTES: usize = 1024 * 1024;
    /// Characters of a title.
    pub const TITLE_CHARS: usize = 300;
    /// Bytes of a page's slug.
    pub const PAGE_SLUG_BYTES: usize = 240;
    /// Depth of a page's slug.
    pub const PAGE_SLUG_DEPTH: usize = 16;
    /// Bytes of what an upstream server calls something it defines: a name, or an address.
    pub const DEFINITION_NAME_BYTES: usize = 2_048;
    /// Bytes of a space's or an agent's slug.
    pub const SLUG_BYTES: usize = 63;
    /// Tags a page.
    pub const TAGS: usize = 64;
    /// Characters of a tag.
    pub const TAG_CHARS: usize = 64;
    /// Links remembered from one page.
    pub const LINKS: usize = 2_000;
    /// Characters of the reason of a proposal or of a rejection.
    pub const REASON_CHARS: usize = 2_000;
    /// Characters of a request id as the ledger keeps it.
    pub const REQUEST_ID_CHARS: usize = 128;
    /// Characters of a tool's name as the ledger keeps it.
    pub const TOOL_NAME_CHARS: usize = 128;
    /// Characters of a search query.
    pub const QUERY_CHARS: usize = 500;
    /// Bytes of a branch's name.
    pub const BRANCH_BYTES: usize = 128;
    /// Characters of a commit's message.
    pub const MESSAGE_CHARS: usize = 2_000;
    /// Hits one search may return.
    pub const SEARCH_HITS: usize = 50;
}
