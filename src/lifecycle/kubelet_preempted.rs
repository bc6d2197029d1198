//! KubeletPreempted: the kubelet ended the pod to make room for a critical one.
//!
//! Upstream: `evictPodsToFreeRequests` of `pkg/kubelet/preemption/preemption.go` (v1.37.2):
//! reason `Preempting`.

use super::View;
use crate::cause::command::command;
use crate::cause::{Cause, Entry, Remedy, Stage};

/// The page.
pub static ENTRY: Entry = Entry {
    code: "KubeletPreempted",
    stage: Stage::Kubelet,
    summary: "The kubelet ended the pod to admit a critical pod",
    doc: "\
## What it means
A critical pod (a static pod, or one of priority system-cluster-critical or higher) came to the node and there was no room for it, so the
kubelet itself ended this one. It does so after the scheduler has decided, so no PodDisruptionBudget protects from it.

## How it is recognised
The pod's phase is Failed and its reason Preempting.

## How to check by hand
    kubectl -n NAMESPACE describe pod POD
    kubectl get pods -A -o wide --field-selector spec.nodeName=NODE

## How to fix it
Make room on the node, or give this DaemonSet a priority class of its own if it is critical, too: pods of system-node-critical are not
preempted for others.
",
};

/// The cause, if the kubelet preempted the pod.
pub fn causes(view: &View) -> Vec<Cause> {
    if view.pod.status.reason != "Preempting" {
        return Vec::new();
    }
    let message = "the kubelet ended the pod to admit a critical pod on the node";
    let mut cause = Cause::new(&ENTRY, "", message).evidence(view.object(), "status.reason", "Preempting").evidence(
        view.object(),
        "spec.priority",
        view.pod.priority(),
    );
    if let Some(node) = view.pod.node_name() {
        let selector = format!("--field-selector=spec.nodeName={node}");
        cause = cause.remedy(Remedy::inspect("see the node's pods", command(["kubectl", "get", "pods", "-A", "-o", "wide", &selector])));
    }
    vec![cause.remedy(view.describe())]
}

#[cfg(test)]
mod tests {
    use crate::lifecycle::bed::found;
    use serde_json::json;

    #[test]
    fn preempting_is_told_from_refusal() {
        assert_eq!(found(json!({"phase": "Failed", "reason": "Preempting"}), vec![]), ["KubeletPreempted"]);
        assert_eq!(found(json!({"phase": "Failed", "reason": "OutOfpods"}), vec![]), ["KubeletRejected OutOfpods"]);
    }
}
