//! The only code that reads the world.

pub mod files;
pub mod ingest;
