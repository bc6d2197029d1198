//! What has been read so far, on a terminal, while a long read takes place.

use std::io::Write;
use std::time::{Duration, Instant};

/// Short reads say nothing.
const PATIENCE: Duration = Duration::from_millis(700);

/// How often the line is written anew.
const INTERVAL: Duration = Duration::from_millis(150);

/// Columns that the line takes at most.
const WIDTH: usize = 70;

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

    /// `reading: 4950 pods, 5000 nodes`: the kinds that were asked for last, as many as a narrow
    /// terminal has room for, so that the line can be taken away again.
    fn line(&self) -> String {
        let mut line = "reading: ".to_string();
        for (i, (name, count)) in self.counts.iter().rev().filter(|c| c.1 > 0).enumerate() {
            let name = name.split('.').next().unwrap_or(name);
            let part = format!("{}{count} {name}", if i > 0 { ", " } else { "" });
            if line.len() + part.len() > WIDTH {
                return line + ", ...";
            }
            line += &part;
        }
        line
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
        for (name, count) in [("nodes", 3), ("pods", 0), ("controllerrevisions.apps", 1), ("nodes", 2)] {
            progress.add(name, count);
        }
        assert_eq!(progress.line(), "reading: 1 controllerrevisions, 5 nodes");
        for name in ["persistentvolumeclaims", "validatingwebhookconfigurations.admissionregistration.k8s.io"] {
            progress.add(name, 123_456);
        }
        assert_eq!(progress.line(), "reading: 123456 validatingwebhookconfigurations, ...");
        assert!(!progress.shown);
    }
}
