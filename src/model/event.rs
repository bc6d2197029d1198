//! Events. Upstream: `k8s.io/api/core/v1` `Event` and `k8s.io/api/events/v1` `Event` (v0.37.2).

use super::object::{ObjectMeta, ObjectReference, objects};
use super::time::Time;
use super::wire::wire;

wire! {
    /// `Event` of core/v1; the names of events.k8s.io/v1 are read as well.
    pub struct Event {
        pub metadata: ObjectMeta = [message, required] 1,
        #[serde(alias = "regarding")]
        pub involved_object: ObjectReference = [message, required] 2,
        pub reason: String = [string] 3,
        #[serde(alias = "note")]
        pub message: String = [string] 4,
        #[serde(alias = "deprecatedSource")]
        pub source: EventSource = [message, required] 5,
        #[serde(alias = "deprecatedFirstTimestamp")]
        pub first_timestamp: Option<Time> = [message, optional] 6,
        #[serde(alias = "deprecatedLastTimestamp")]
        pub last_timestamp: Option<Time> = [message, optional] 7,
        #[serde(alias = "deprecatedCount")]
        pub count: i32 = [int32] 8,
        pub r#type: String = [string] 9,
        pub event_time: Option<Time> = [message, optional] 10,
        pub series: Option<EventSeries> = [message, optional] 11,
        #[serde(alias = "reportingController")]
        pub reporting_component: String = [string] 14,
    }

    /// `EventSource`.
    pub struct EventSource {
        pub component: String = [string] 1,
        pub host: String = [string] 2,
    }

    /// `EventSeries`.
    pub struct EventSeries {
        pub count: i32 = [int32] 1,
        pub last_observed_time: Option<Time> = [message, optional] 2,
    }
}

objects!(Event);

impl Event {
    /// When the event last happened, from whichever field carries it.
    pub fn last_seen(&self) -> Option<Time> {
        let series = self.series.as_ref().and_then(|s| s.last_observed_time);
        [series, self.last_timestamp, self.event_time, self.first_timestamp, self.metadata.creation_timestamp].into_iter().flatten().max()
    }

    /// How often the event happened.
    pub fn times(&self) -> i32 {
        self.series.as_ref().map_or(self.count, |s| s.count).max(1)
    }
}
