//! The status counters, counted again.
//!
//! Upstream: `updateDaemonSetStatus` of `pkg/controller/daemon/daemon_controller.go` (v1.37.2).

use serde::Serialize;

use crate::model::daemon_set::DaemonSetStatus;

/// The counters of a DaemonSet's status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Counters {
    /// Nodes that should run the pod.
    pub desired_number_scheduled: i64,
    /// Of these, nodes that have one.
    pub current_number_scheduled: i64,
    /// Of these, nodes whose oldest pod is ready.
    pub number_ready: i64,
    /// Of these, nodes whose oldest pod is of the current template; `None` if that is unknown.
    pub updated_number_scheduled: Option<i64>,
    /// Of these, nodes whose oldest pod has been ready for minReadySeconds.
    pub number_available: i64,
    /// Desired less available.
    pub number_unavailable: i64,
    /// Nodes that should not run the pod but have one.
    pub number_misscheduled: i64,
}

impl From<&DaemonSetStatus> for Counters {
    fn from(s: &DaemonSetStatus) -> Self {
        Counters {
            desired_number_scheduled: s.desired_number_scheduled.into(),
            current_number_scheduled: s.current_number_scheduled.into(),
            number_ready: s.number_ready.into(),
            updated_number_scheduled: Some(s.updated_number_scheduled.into()),
            number_available: s.number_available.into(),
            number_unavailable: s.number_unavailable.into(),
            number_misscheduled: s.number_misscheduled.into(),
        }
    }
}

/// What the controller sees of one node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// The node should run the pod.
    pub should_run: bool,
    /// A pod is there.
    pub has_pod: bool,
    /// The oldest pod is ready.
    pub ready: bool,
    /// The oldest pod is available.
    pub available: bool,
    /// The oldest pod is of the current template, if known.
    pub updated: Option<bool>,
}

/// Adds the nodes up.
pub fn recount(tallies: impl IntoIterator<Item = Tally>) -> Counters {
    let mut c = Counters { updated_number_scheduled: Some(0), ..Counters::default() };
    for t in tallies {
        if !t.should_run {
            c.number_misscheduled += i64::from(t.has_pod);
            continue;
        }
        c.desired_number_scheduled += 1;
        if t.has_pod {
            c.current_number_scheduled += 1;
            c.number_ready += i64::from(t.ready);
            c.number_available += i64::from(t.available);
            c.updated_number_scheduled = c.updated_number_scheduled.zip(t.updated).map(|(sum, updated)| sum + i64::from(updated));
        }
    }
    c.number_unavailable = c.desired_number_scheduled - c.number_available;
    c
}
