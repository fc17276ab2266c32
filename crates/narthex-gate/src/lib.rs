//! narthex-gate
