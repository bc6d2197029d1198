//! SchedulerRefuses: the scheduler keeps the pod Pending for a reason that is not found here.
//!
//! Upstream: `FitError.Error` of `k8s.io/kube-scheduler/framework` (v1.37.2) is the text of
//! condition PodScheduled.

use crate::cause::{Cause, Entry, Severity, Stage};
use crate::diagnose::Subject;
use crate::model::pod::{Pod, PodCondition};

/// The page.
pub static ENTRY: Entry = Entry {
    code: "SchedulerRefuses",
    stage: Stage::Scheduling,
    summary: "The scheduler says that the pod does not fit, and no check here finds why",
    doc: "\
## What it means
The scheduler's own words say that it cannot place the pod, while every check that this tool knows passes. Either the cluster has changed
since the scheduler last tried (it tries again by itself, within five minutes at the latest), or it runs plugins, a profile or an extender
that the defaults do not have, or a webhook or custom scheduler is at work.

## How it is recognised
Condition PodScheduled of the pod is False with a message, and all filters pass on the node that the pod is pinned to. The message is quoted.

## How to check by hand
    kubectl -n NAMESPACE get pod POD -o jsonpath='{.status.conditions[?(@.type==\"PodScheduled\")].message}'
    kubectl -n kube-system get configmap,pods | grep -i scheduler

## How to fix it
Wait for the next try; if it stays, look up the named plugin in the scheduler's configuration.
",
};

/// The cause for a pod with this PodScheduled condition.
pub fn cause(subject: &Subject, pod: &Pod, scheduled: &PodCondition) -> Cause {
    let ago = scheduled.last_transition_time.map(|t| format!(" ({} ago)", subject.snapshot.now.since(t))).unwrap_or_default();
    let words = if scheduled.message.is_empty() { &scheduled.reason } else { &scheduled.message };
    let by = if pod.spec.scheduler_name == super::scheduler_name::DEFAULT || pod.spec.scheduler_name.is_empty() {
        "the scheduler".to_string()
    } else {
        format!("scheduler {}", pod.spec.scheduler_name)
    };
    let message = format!("{by} does not place pod {}{ago}, for a reason that no check here finds: {words}", pod.metadata.name);
    Cause::new(&ENTRY, "", message).severity(Severity::Error).evidence(
        format!("Pod/{}", pod.full_name()),
        "status.conditions[PodScheduled].message",
        words.as_str(),
    )
}
