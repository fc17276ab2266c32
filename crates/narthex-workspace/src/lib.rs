//! narthex-workspace
