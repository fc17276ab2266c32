//! narthex-store
