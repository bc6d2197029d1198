//! SchedulerSilent: kube-scheduler has not said anything about the pod.
//!
//! Upstream: `handleSchedulingFailure` of `pkg/scheduler/schedule_one.go` (v1.37.2): a pod that was
//! tried and does not fit gets condition PodScheduled and an event; one without either was not tried.

use crate::cause::{Cause, Entry, Severity, Stage};
use crate::controller::controller_silent::stale_lease;
use crate::diagnose::Subject;
use crate::model::pod::Pod;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "SchedulerSilent",
    stage: Stage::Scheduling,
    summary: "kube-scheduler has not said anything about the pod: it does not run or is far behind",
    doc: "\
## What it means
Nothing keeps the pod off its node, as far as can be judged, and kube-scheduler has neither placed it nor said why not. It does not run, has
no leader, cannot reach the API server, or has a long queue.

## How it is recognised
The pod has no node, no condition PodScheduled and no event; its scheduler is default-scheduler; every filter passes. If the Lease
kube-system/kube-scheduler was read and is stale, that is evidence.

## How to check by hand
    kubectl -n kube-system get lease kube-scheduler -o yaml
    kubectl -n kube-system get pods -l component=kube-scheduler -o wide
    kubectl get pods -A --field-selector spec.nodeName=

## How to fix it
Bring kube-scheduler up: its log and its static pod on the control-plane nodes tell why it does not act. A pod only seconds old needs
nothing.
",
};

/// A pod this young has simply not had its turn, in seconds.
const YOUNG_SECONDS: i64 = 15;

/// The cause for such a pod.
pub fn cause(subject: &Subject, pod: &Pod) -> Cause {
    let age = pod.metadata.creation_timestamp.map(|t| subject.snapshot.now.seconds_since(t));
    let young = age.is_some_and(|a| (0..YOUNG_SECONDS).contains(&a)) && stale_lease(subject, "kube-scheduler").is_none();
    let message = if young {
        format!("pod {} was made seconds ago, the scheduler has not had its turn yet", pod.metadata.name)
    } else {
        format!(
            "nothing keeps pod {} off the node, and kube-scheduler has not said anything about it: it does not seem to run",
            pod.metadata.name
        )
    };
    let object = format!("Pod/{}", pod.full_name());
    let mut cause = Cause::new(&ENTRY, "", message).severity(if young { Severity::Info } else { Severity::Error });
    cause = cause.evidence(object, "status.conditions[PodScheduled]", serde_json::Value::Null);
    if let Some((lease, age)) = stale_lease(subject, "kube-scheduler") {
        let renewed = lease.spec.renew_time.map(|t| t.to_string());
        cause.message.push_str(&format!("; its lease has not been renewed for {age} seconds"));
        cause = cause.evidence("Lease/kube-system/kube-scheduler", "spec.renewTime", renewed);
    }
    cause
}
