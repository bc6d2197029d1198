//! A whole cluster with damage: a case of the repository in which fields are replaced, moved and
#![no_main]

#[path = "../checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|input: &[u8]| checks::cluster::check(input));
