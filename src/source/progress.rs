//! What has been read so far, on a terminal, while a long read takes place.

use std::io::Write;
use std::time::{Duration, Instant};

/// Short reads say nothing.
const PATIENCE: Duration = Duration::from_millis(700);

/// How often the line is written anew.
const INTERVAL: Duration = Duration::from_millis(150);

/// Counts objects by kind; writes a line to a terminal.
#[derive(Debug)]
pub struct Progress {
    shown: bool,
    on: bool,
    started: Instant,
    written: Instant,
    counts: Vec<(&'static str, usize)>,
}

impl Progress {
    /// `on`: whether standard error is a terminal.
    pub fn new(on: bool) -> Self {
        let now = Instant::now();
        Progress { shown: false, on, started: now, written: now, counts: Vec::new() }
    }

    /// Notes that `count` more objects were read.
    pub fn add(&mut self, resource: &'static str, count: usize) {
        match self.counts.iter_mut().find(|(name, _)| *name == resource) {
            Some((_, total)) => *total += count,
            None => self.counts.push((resource, count)),
        }
        let now = Instant::now();
        if self.on && now - self.started > PATIENCE && now - self.written > INTERVAL {
            self.written = now;
            self.shown = true;
            // A terminal that is gone is no reason to stop.
            let _ = write!(std::io::stderr(), "\r\x1b[K{}", self.line());
        }
    }

    /// Takes the line away.
    pub fn end(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }

    /// `reading: 5000 nodes, 4950 pods`.
    fn line(&self) -> String {
        let parts: Vec<String> = self.counts.iter().filter(|c| c.1 > 0).map(|(name, count)| format!("{count} {name}")).collect();
        format!("reading: {}", parts.join(", "))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_kind() {
        let mut progress = Progress::new(false);
        for (name, count) in [("nodes", 3), ("pods", 0), ("events", 1), ("nodes", 2)] {
            progress.add(name, count);
        }
        assert_eq!(progress.line(), "reading: 5 nodes, 1 events");
        assert!(!progress.shown);
    }
}
