//! A saved cluster in YAML: cut item by item it is what it is as a whole.
#![no_main]

#[path = "../checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|input: &[u8]| checks::yaml_dump::check(input));
