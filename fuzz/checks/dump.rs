//! A saved cluster of any text, read as the binary reads it.

use std::path::{Path, PathBuf};

use ds_doctor::diagnose::{Options, diagnose};
use ds_doctor::model::snapshot::Snapshot;
use ds_doctor::render::{Style, safe, text};
use ds_doctor::source::files::{ReadError, ReadOptions, read};

/// A file of this thread, in memory where that can be, whose name has this end.
fn file(end: &str) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
    folder.join(format!("ds-doctor-fuzz-{}-{:?}{end}", std::process::id(), std::thread::current().id()))
}

/// Reads the bytes as a file; whatever comes of it, a message is one line that no terminal obeys.
pub fn snapshot(bytes: &[u8], end: &str) -> Result<Snapshot, ReadError> {
    let path = file(end);
    std::fs::write(&path, bytes).unwrap();
    let result = read(std::slice::from_ref(&path), &ReadOptions { now: Some(Default::default()), ..ReadOptions::default() });
    if let Err(error) = &result {
        let line = ds_doctor::source::failure::clean(&error.to_string());
        assert!(!line.is_empty() && !line.chars().any(safe::is_unsafe));
    }
    result
}

/// Judges every DaemonSet of a snapshot and shows it.
pub fn judged(snapshot: &Snapshot) {
    let reports: Vec<_> = snapshot.daemon_sets.iter().take(3).map(|ds| diagnose(snapshot, ds, &Options::default())).collect();
    let mut out = Vec::new();
    text::render(&mut out, &reports, &Style::default()).unwrap();
    let shown = String::from_utf8(out).unwrap();
    assert!(!shown.chars().any(|c| c != '\n' && safe::is_unsafe(c)), "{shown:?}");
}
