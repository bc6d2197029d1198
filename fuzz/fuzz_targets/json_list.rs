//! A list of a live server in JSON, in chunks of any size.
#![no_main]

#[path = "../checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|input: &[u8]| checks::json_list::check(input));
