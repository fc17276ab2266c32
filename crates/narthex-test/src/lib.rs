//! narthex-test
