//! narthex-mcp
