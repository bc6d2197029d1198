//! SchedulerName: the pod names a scheduler that does not act on it.
//!
//! Upstream: `spec.schedulerName`; kube-scheduler leaves pods of other names alone
//! (`responsibleForPod` of `pkg/scheduler/eventhandlers.go`, v1.37.2).

use crate::cause::{Cause, Entry, Stage};
use crate::diagnose::Subject;
use crate::model::pod::Pod;

/// The name of the scheduler that every cluster has.
pub const DEFAULT: &str = "default-scheduler";

/// The page.
pub static ENTRY: Entry = Entry {
    code: "SchedulerName",
    stage: Stage::Scheduling,
    summary: "The pod names a scheduler that does not act on it",
    doc: "\
## What it means
The template sets `spec.schedulerName` to something other than default-scheduler, and no scheduler of that name has said anything about the
pod. Most likely none runs.

## How it is recognised
The pod has no node, no condition PodScheduled and no event, and its schedulerName is not default-scheduler.

## How to check by hand
    kubectl -n NAMESPACE get pod POD -o jsonpath='{.spec.schedulerName} {.status.conditions}'
    kubectl get pods -A | grep -i SCHEDULER

## How to fix it
Bring that scheduler up, or take schedulerName out of the template.
",
};

/// The cause for such a pod.
pub fn cause(subject: &Subject, pod: &Pod) -> Cause {
    let name = pod.spec.scheduler_name.as_str();
    let message =
        format!("pod {} waits for scheduler {name}, which has not said anything about it: it does not seem to run", pod.metadata.name);
    Cause::new(&ENTRY, name, message).evidence(format!("Pod/{}", pod.full_name()), "spec.schedulerName", name).evidence(
        subject.object(),
        "spec.template.spec.schedulerName",
        subject.ds.spec.template.spec.scheduler_name.as_str(),
    )
}
