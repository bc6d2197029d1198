//! Single values: quantities, times, versions, what is shown, what is quoted for a shell.
#![no_main]

#[path = "../checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|input: &[u8]| checks::values::check(input));
