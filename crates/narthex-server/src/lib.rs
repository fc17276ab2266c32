//! narthex-server
