//! Packed snapshots: gzip, zstd and tar, whatever is in them.
#![no_main]

#[path = "../checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|input: &[u8]| checks::archive::check(input));
