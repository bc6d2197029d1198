#![forbid(unsafe_code)]
pub mod model;
