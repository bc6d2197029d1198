//! The API server's protobuf: lists that arrive in chunks of any size, and every kind of object.
#![no_main]

#[path = "../checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|input: &[u8]| checks::protobuf::check(input));
