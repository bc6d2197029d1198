//! Label selectors as typed, label keys and values, device selectors.
#![no_main]

#[path = "../checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|input: &[u8]| checks::selectors::check(input));
