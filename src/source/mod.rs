//! The only code that reads the world.

pub mod access;
pub mod api;
mod archive;
pub mod capture;
mod clock;
pub mod cluster;
mod cut;
mod cut_json;
mod cut_yaml;
pub mod dry_run;
mod dumps;
pub mod failure;
pub mod files;
pub mod ingest;
pub mod json_items;
mod lists;
pub mod manifests;
pub mod names;
mod pieces;
mod pipeline;
pub mod progress;
pub mod protobuf;
pub mod proxy;
pub mod read_error;
mod sift;
pub mod slim;
pub mod yaml_words;
