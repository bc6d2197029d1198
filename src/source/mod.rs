//! The only code that reads the world.

pub mod access;
pub mod api;
pub mod failure;
pub mod files;
pub mod ingest;
pub mod json_items;
pub mod names;
pub mod progress;
pub mod protobuf;
pub mod proxy;
