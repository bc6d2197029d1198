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

    /// Reads RFC 3339.
    pub fn parse(text: &str) -> Result<Time, jiff::Error> {
        text.parse::<Timestamp>().map(Time::from)
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
