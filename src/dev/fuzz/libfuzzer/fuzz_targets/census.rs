#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| dat_fuzz::run("census", data));
