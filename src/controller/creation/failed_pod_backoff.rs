//! FailedPodBackoff: the controller waits before it replaces a failed pod.
//!
//! Upstream: `podsShouldBeOnNode` and `failedPodsBackoff` of
//! `pkg/controller/daemon/daemon_controller.go` (v1.37.2): 1 second, doubled up to 15 minutes.

use super::refusal;
use crate::cause::{Cause, Entry, Stage};
use crate::diagnose::Subject;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "FailedPodBackoff",
    stage: Stage::Creation,
    summary: "A pod failed and was deleted; the controller waits before the next try",
    doc: "\
## What it means
Pods of the DaemonSet fail as a whole (evicted, or refused by the kubelet). The controller deletes each and makes a new one, after a
back-off that doubles from 1 second to 15 minutes. Just now there is none.

## How it is recognised
The newest events on the DaemonSet are FailedDaemonPod or SucceededDaemonPod, no later than the longest back-off ago, and the node has no
pod.

## How to check by hand
    kubectl -n NAMESPACE get events --field-selector reason=FailedDaemonPod
    kubectl -n NAMESPACE get pods -o wide -w

## How to fix it
Find out why the pods fail: catch one with `-w`, or read the kubelet's log on the node.
",
};

/// The longest back-off of upstream, in seconds.
const LONGEST_SECONDS: i64 = 15 * 60;

/// The cause, if failed pods were deleted lately.
pub fn cause(subject: &Subject) -> Option<Cause> {
    let events = subject.events.of(subject.ds);
    let event = events.iter().rev().find(|e| matches!(e.reason.as_str(), "FailedDaemonPod" | "SucceededDaemonPod"))?;
    let seen = event.last_seen().filter(|t| subject.snapshot.now.seconds_since(*t) <= LONGEST_SECONDS)?;
    let message = format!(
        "a pod ended {} ago and was deleted; the controller waits up to 15 minutes before it makes the next",
        subject.snapshot.now.since(seen)
    );
    Some(refusal(&ENTRY, "", message).evidence(subject.object(), format!("event {}", event.reason), event.message.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::snapshot::Snapshot;
    use crate::model::time::Time;
    use serde_json::json;

    #[test]
    fn only_a_recent_end_is_waited_out() {
        for (reason, at, want) in [
            ("FailedDaemonPod", "2026-11-30T11:50:00Z", true),
            ("SucceededDaemonPod", "2026-11-30T11:50:00Z", true),
            ("FailedDaemonPod", "2026-11-30T11:40:00Z", false),
            ("SuccessfulCreate", "2026-11-30T11:59:00Z", false),
        ] {
            let mut snapshot = Snapshot { now: Time::parse("2026-11-30T12:00:00Z").unwrap(), ..Snapshot::default() };
            let event = json!({"metadata": {"name": "e", "namespace": "ns"}, "involvedObject": {"kind": "DaemonSet", "namespace": "ns", "name": "ds"},
                "reason": reason, "message": "m", "lastTimestamp": at});
            snapshot.objects.events.items.push(serde_json::from_value(event).unwrap());
            let ds = serde_json::from_value(json!({"metadata": {"name": "ds", "namespace": "ns"}})).unwrap();
            assert_eq!(cause(&Subject::new(&snapshot, &ds)).is_some(), want, "{reason} {at}");
        }
    }
}
