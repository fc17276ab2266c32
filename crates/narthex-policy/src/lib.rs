//! narthex-policy
