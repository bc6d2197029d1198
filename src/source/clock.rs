//! The API server's clock, as the `Date` of its answers shows it.
//!
//! What objects and events say of time was written by the control plane; a laptop that slept may be
//! hours behind, and would take every node for new and no silence for long.

use std::cell::Cell;

use jiff::{SignedDuration, Timestamp};

/// Clocks that differ by less are held equal: `Date` has whole seconds, and the answer was under way.
const CLOSE: SignedDuration = SignedDuration::from_secs(5);

/// How far the server's clock is ahead of this machine's.
#[derive(Default)]
pub struct Clock {
    ahead: Cell<SignedDuration>,
}

impl Clock {
    /// Takes note of an answer's `Date`, if it is one, which arrived at `here`.
    pub fn heard(&self, date: &str, here: Timestamp) {
        if let Ok(there) = jiff::fmt::rfc2822::parse(date) {
            self.ahead.set(there.timestamp().duration_since(here));
        }
    }

    /// What the server's clock shows when this machine's shows `here`.
    pub fn at(&self, here: Timestamp) -> Timestamp {
        let ahead = self.ahead.get();
        if ahead.abs() < CLOSE { here } else { here.checked_add(ahead).unwrap_or(here) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_time_counts_where_the_clocks_differ() {
        let time = |text: &str| text.parse::<Timestamp>().unwrap();
        for (date, here, later, want) in [
            ("Mon, 30 Nov 2026 12:00:00 GMT", "2026-11-30T12:00:01.5Z", "2026-11-30T12:00:02Z", "2026-11-30T12:00:02Z"),
            ("Mon, 30 Nov 2026 12:00:00 GMT", "2026-11-30T11:00:00Z", "2026-11-30T11:00:02Z", "2026-11-30T12:00:02Z"),
            ("Mon, 30 Nov 2026 12:00:00 GMT", "2026-12-01T12:00:00Z", "2026-12-01T12:01:00Z", "2026-11-30T12:01:00Z"),
            ("no date", "2026-11-30T11:00:00Z", "2026-11-30T11:00:02Z", "2026-11-30T11:00:02Z"),
            ("", "2026-11-30T11:00:00Z", "2026-11-30T11:00:02Z", "2026-11-30T11:00:02Z"),
            ("Fri, 31 Dec 9999 23:59:59 GMT", "2026-11-30T11:00:00Z", "9999-12-30T00:00:00Z", "9999-12-30T00:00:00Z"),
        ] {
            let clock = Clock::default();
            clock.heard(date, time(here));
            assert_eq!(clock.at(time(later)), time(want), "{date} {here}");
        }
    }
}
