//! PreemptionPending: the scheduler has evicted pods for this pod, and one of them is still there.
//!
//! Upstream: `PodEligibleToPreemptOthers` of
//! `pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go` (v1.37.2).

use crate::cause::{Cause, Entry, Fact, Remedy, Severity, Stage};
use crate::model::pod::Pod;

/// The page of this code.
pub static ENTRY: Entry = Entry {
    code: "PreemptionPending",
    stage: Stage::Scheduling,
    summary: "The pod is nominated to the node and waits for a pod that it preempted to end",
    doc: "\
## What it means
The node had no room, so the scheduler evicted pods of lower priority for this pod and nominated it to the node. Until the evicted pods
are gone (their grace period, a preStop hook, a finalizer, a dead kubelet) what they request counts in full, so the pod stays Pending.
It is no lasting shortage: the pod goes to the node as soon as they have ended. So this is the cause; what a filter refuses meanwhile for
want of what the evicted pods still hold is told beside it as information, and nothing is proposed against that.

## How it is recognised
The pod's `status.nominatedNodeName` is the node, and a pod of lower priority there is being deleted with condition `DisruptionTarget`,
reason `PreemptionByScheduler`. While that is so the scheduler preempts nothing more for the pod. The detail names the evicted pod.

## How to check by hand
    kubectl -n NAMESPACE get pod POD -o jsonpath='{.status.nominatedNodeName}'
    kubectl -n VICTIM_NAMESPACE get pod VICTIM -o jsonpath='{.metadata.deletionTimestamp} {.spec.terminationGracePeriodSeconds} {.metadata.finalizers}'

## How to fix it
Wait for the grace period. If the victim is long past it, look why it does not end: a finalizer, a kubelet that does not answer, a volume
that cannot be unmounted.
",
};

/// The cause for one victim.
pub fn cause(pod: &Pod, victim: &Pod) -> Cause {
    let name = victim.full_name();
    let object = format!("Pod/{name}");
    let meta = &victim.metadata;
    let mut cause =
        Cause::new(&ENTRY, name.clone(), format!("the pod is nominated to the node and waits for the preempted pod {name} to end"))
            .severity(Severity::Error)
            .evidence(format!("Pod/{}", pod.full_name()), "status.nominatedNodeName", pod.status.nominated_node_name.as_str())
            .evidence(object.clone(), "metadata.deletionTimestamp", meta.deletion_timestamp.map(|t| t.to_string()))
            .fact(Fact::Pod(meta.namespace.clone(), meta.name.clone()))
            .remedy(Remedy::inspect(
                "see what holds the preempted pod up",
                format!("kubectl -n {} describe pod {}", meta.namespace, meta.name),
            ));
    if !meta.finalizers.is_empty() {
        cause = cause.evidence(object, "metadata.finalizers", meta.finalizers.clone());
    }
    cause
}
