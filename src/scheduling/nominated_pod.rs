//! NominatedPod: the room on the node is kept for another pod.
//!
//! Upstream: `RunFilterPluginsWithNominatedPods` of `pkg/scheduler/framework/runtime/framework.go`
//! (v1.37.2).

use super::preemption::Refusal;
use crate::cause::{Cause, Entry, Fact, Remedy, Severity, Stage};
use crate::model::pod::Pod;

/// The page of this code.
pub static ENTRY: Entry = Entry {
    code: "NominatedPod",
    stage: Stage::Scheduling,
    summary: "Room on the node is kept for another pod that is nominated to it",
    doc: "\
## What it means
The pod would fit on the node as it is, but a pod of the same or a higher priority is nominated to the node: the scheduler evicted others
for it and keeps the room. So this pod has to fit beside the nominated one, and does not.

## How it is recognised
Pods without a node whose `status.nominatedNodeName` is this node and whose priority is not lower are put on the node, and all filters run
again. If one of them refuses then, and none without these pods, this is the cause. The detail names the nominated pod.

## How to check by hand
    kubectl get pods -A -o jsonpath='{range .items[?(@.status.nominatedNodeName==\"NODE\")]}{.metadata.namespace}/{.metadata.name} {.spec.priority}{\"\\n\"}{end}'

## How to fix it
Wait until the nominated pod is placed, then look again. If it should not come first, give the DaemonSet a higher priority class.
",
};

/// The cause for one nominated pod; `refusal` is what refuses with it.
pub fn cause(node: &str, nominated: &Pod, refusal: &Refusal) -> Cause {
    let (name, meta) = (nominated.full_name(), &nominated.metadata);
    let message = format!("the room is kept for pod {name} (priority {}), nominated to the node: {}", nominated.priority(), refusal.reason);
    Cause::new(&ENTRY, name.clone(), message)
        .severity(Severity::Error)
        .evidence(format!("Pod/{name}"), "status.nominatedNodeName", node)
        .evidence(format!("Pod/{name}"), "spec.priority", nominated.priority())
        .fact(Fact::Pod(meta.namespace.clone(), meta.name.clone()))
        .remedy(Remedy::inspect(
            "see why the nominated pod is not placed yet",
            format!("kubectl -n {} describe pod {}", meta.namespace, meta.name),
        ))
}
