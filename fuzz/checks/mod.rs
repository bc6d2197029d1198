//! What is checked of an input, target by target; `tests/fuzz_corpus.rs` runs the same on the
//! inputs that were kept.
#![allow(dead_code)] // each target uses its own part

pub mod archive;
pub mod cluster;
pub mod dump;
pub mod json_dump;
pub mod json_list;
pub mod protobuf;
pub mod selectors;
pub mod values;
pub mod yaml_dump;
