//! Packed snapshots: gzip, zstd and tar, whatever is in them.

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let _ = super::dump::snapshot(bytes, ".tar.gz");
}
