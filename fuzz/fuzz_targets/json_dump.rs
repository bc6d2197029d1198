//! A saved cluster in JSON: what is cut out of the stream is what a whole parser finds.
#![no_main]

#[path = "../checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|input: &[u8]| checks::json_dump::check(input));
