//! API times.

use std::fmt;

use jiff::civil::{DateTime, date};
use jiff::fmt::temporal::DateTimePrinter;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A moment as the API gives it: seconds and nanoseconds since 1970, UTC (both `Time` and
/// `MicroTime` of `k8s.io/apimachinery/pkg/apis/meta/v1` have this protobuf form).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, prost::Message)]
pub struct Time {
    /// Seconds since 1970-01-01T00:00:00Z.
    #[prost(int64, tag = 1)]
    pub seconds: i64,
    /// Nanoseconds within the second.
    #[prost(int32, tag = 2)]
    pub nanos: i32,
}

const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);

impl Time {
    /// Whole seconds from `earlier` to this moment; negative if it lies before.
    pub fn seconds_since(self, earlier: Time) -> i64 {
        self.seconds.saturating_sub(earlier.seconds)
    }

    /// The age of `earlier` at this moment.
    pub fn since(self, earlier: Time) -> Age {
        Age(self.seconds_since(earlier))
    }

    /// Reads RFC 3339.
    pub fn parse(text: &str) -> Result<Time, jiff::Error> {
        text.parse::<Timestamp>().map(Time::from).or_else(|error| {
            // A timestamp of jiff ends a day before the year 9999 does, which some write for "never".
            let local = text.strip_suffix('Z').filter(|t| t.contains('T')).and_then(|local| local.parse::<DateTime>().ok()).ok_or(error)?;
            let since = local.duration_since(EPOCH);
            Ok(Time { seconds: since.as_secs(), nanos: since.subsec_nanos() })
        })
    }
}

/// A span of time in whole seconds, written as kubectl writes ages: the two largest units at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Age(pub i64);

impl fmt::Display for Age {
    /// `45s`, `3m10s`, `42m`, `5h20m`, `3d4h`, `120d`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = self.0.max(0);
        let (minutes, hours, days) = (s / 60, s / 3600, s / 86_400);
        let (large, small) = match s {
            0..120 => return write!(f, "{s}s"),
            120..600 => ((minutes, "m"), (s % 60, "s")),
            600..10_800 => return write!(f, "{minutes}m"),
            10_800..28_800 => ((hours, "h"), (minutes % 60, "m")),
            28_800..172_800 => return write!(f, "{hours}h"),
            172_800..691_200 => ((days, "d"), (hours % 24, "h")),
            _ => return write!(f, "{days}d"),
        };
        write!(f, "{}{}", large.0, large.1)?;
        if small.0 > 0 {
            write!(f, "{}{}", small.0, small.1)?;
        }
        Ok(())
    }
}

impl From<Timestamp> for Time {
    fn from(t: Timestamp) -> Self {
        Time { seconds: t.as_second(), nanos: t.subsec_nanosecond() }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Timestamp::new(self.seconds, self.nanos) {
            Ok(t) => DateTimePrinter::new().print_timestamp(&t, jiff::fmt::StdFmtWrite(f)).map_err(|_| fmt::Error),
            // The first or last moment that can be written, if it lies beyond.
            Err(_) => write!(f, "{}Z", EPOCH.saturating_add(SignedDuration::from_secs(self.seconds))),
        }
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Time::parse(&text).map_err(|_| de::Error::custom(format!("{text:?} is not an RFC 3339 time")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_again() {
        for (text, want) in [
            ("2026-01-05T12:00:00Z", Some("2026-01-05T12:00:00Z")),
            ("2026-01-05T12:00:00.5+01:00", Some("2026-01-05T11:00:00.5Z")),
            ("0000-01-01T00:00:00Z", Some("0000-01-01T00:00:00Z")),
            ("9999-12-31T23:59:59Z", Some("9999-12-31T23:59:59Z")),
            ("10000-01-01T00:00:00Z", None),
            ("2026-01-05", None),
            ("2026-01-05Z", None),
            ("2026-02-30T12:00:00Z", None),
            ("", None),
        ] {
            let read = Time::parse(text).ok();
            assert_eq!(read.map(|t| t.to_string()).as_deref(), want, "{text}");
            assert_eq!(read.and_then(|t| Time::parse(&t.to_string()).ok()), read, "{text}");
        }
        for seconds in [i64::MIN, i64::MAX, 253_402_300_799, 253_402_207_200] {
            let shown = Time { seconds, nanos: 0 }.to_string();
            assert!(Time::parse(&shown).is_ok(), "{shown}");
        }
    }

    #[test]
    fn ages_are_short() {
        for (seconds, want) in [
            (-5, "0s"),
            (119, "119s"),
            (190, "3m10s"),
            (240, "4m"),
            (2520, "42m"),
            (19_200, "5h20m"),
            (90_000, "25h"),
            (273_600, "3d4h"),
            (10_368_000, "120d"),
        ] {
            assert_eq!(Age(seconds).to_string(), want);
        }
    }
}
