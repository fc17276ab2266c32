//! narthex-store-sqlite
