//! API times.

use std::fmt;

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
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
        text.parse::<Timestamp>().map(Time::from)
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
            Err(_) => write!(f, "{}s since 1970", self.seconds),
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
