#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| narthex_graph::testing::fuzz::load(data));
