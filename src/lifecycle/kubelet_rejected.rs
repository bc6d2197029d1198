//! KubeletRejected: the kubelet refused the pod, or ended it for a reason of the node.
//!
//! Upstream (v1.37.2): `rejectPod` of `pkg/kubelet/kubelet.go`; the reasons of
//! `pkg/kubelet/lifecycle/predicate.go` and `handlers.go`, `pkg/kubelet/cm/admission/errors.go`,
//! `pkg/kubelet/cm/topologymanager`, `pkg/kubelet/nodeshutdown`, `pkg/kubelet/sysctl`.

use super::View;
use crate::cause::command::command;
use crate::cause::{Cause, Entry, Remedy, Stage};

/// The page.
pub static ENTRY: Entry = Entry {
    code: "KubeletRejected",
    stage: Stage::Kubelet,
    summary: "The kubelet refused to run the pod",
    doc: "\
## What it means
The scheduler has placed the pod, and the node's kubelet does not agree: it checks the pod again with what it knows itself. The pod is
Failed; the controller deletes it and makes another, which meets the same fate, with a back-off that grows to 15 minutes. The reasons:
- OutOfcpu, OutOfmemory, OutOfpods, OutOf...: more is taken on the node than the scheduler knows (static pods, a pod placed at the same
  moment, less allocatable after a restart of the kubelet);
- NodeAffinity, NodeName, NodePorts, TaintToleration: the node's labels or taints have changed, or a port is taken;
- UnexpectedAdmissionError: the device manager could not allocate (a device plugin that is not back yet after a restart);
- TopologyAffinityError, SMTAlignmentError: no NUMA or core alignment that the policy asks for is possible;
- PodOSNotSupported, PodOSSelectorNodeLabelDoesNotMatch: a pod of another operating system;
- SysctlForbidden, AppArmor, ...: what the pod asks for is not allowed or not there;
- NodeShutdown, Terminated: the node is or was shutting down;
- VolumeAttachmentLimitExceeded: more volumes than the node can attach.

## How it is recognised
The pod's phase is Failed, with such a reason in `status.reason`.

## How to check by hand
    kubectl -n NAMESPACE get pod POD -o jsonpath='{.status.reason}: {.status.message}'
    kubectl get pods -A -o wide --field-selector spec.nodeName=NODE
    kubectl -n NAMESPACE get events --field-selector reason=FailedDaemonPod

## How to fix it
For OutOf..., lower the requests or what else runs on the node, or reserve less (`kubeReserved`, `systemReserved`). For devices and NUMA,
see the device plugin and the kubelet's topology policy. After a shutdown the pod is replaced once the node is back.
",
};

/// The cause for a failed pod that nothing else explains.
pub fn causes(view: &View) -> Vec<Cause> {
    let status = &view.pod.status;
    if status.phase != "Failed" {
        return Vec::new();
    }
    let reason = if status.reason.is_empty() { "Failed" } else { &status.reason };
    let said = super::shortened(status.message.trim_start_matches("Pod was rejected: "));
    let hint = meaning(reason).map_or(String::new(), |m| format!(" ({m})"));
    let colon = if said.is_empty() { "" } else { ": " };
    let before = super::pod_recreated::before(view);
    let message = format!("the kubelet refused or ended the pod with {reason}{hint}{colon}{said}{before}");
    let mut cause = Cause::new(&ENTRY, reason, message).evidence(view.object(), "status.reason", status.reason.as_str()).evidence(
        view.object(),
        "status.message",
        said,
    );
    if let Some(node) = view.pod.node_name() {
        let selector = format!("--field-selector=spec.nodeName={node}");
        cause =
            cause.remedy(Remedy::inspect("see what runs on the node", command(["kubectl", "get", "pods", "-A", "-o", "wide", &selector])));
    }
    vec![cause.remedy(view.describe())]
}

/// What a reason means, where it does not say so itself.
pub fn meaning(reason: &str) -> Option<&'static str> {
    Some(match reason {
        "NodeAffinity" => "the node's labels no longer match the pod",
        "NodePorts" => "a host port is taken",
        "TaintToleration" => "the node has a NoExecute taint that the pod does not tolerate",
        "UnexpectedAdmissionError" => "the device or resource managers could not allocate what it asks for",
        "TopologyAffinityError" => "no NUMA alignment that the kubelet's topology policy asks for is possible",
        "SMTAlignmentError" => "the cpu request is not a whole number of physical cores",
        "NodeShutdown" => "the node was shutting down",
        "Terminated" => "the node shut down",
        "PodOSNotSupported" | "PodOSSelectorNodeLabelDoesNotMatch" => "the pod is for another operating system",
        "SysctlForbidden" => "a sysctl that the kubelet does not allow",
        "VolumeAttachmentLimitExceeded" => "the node can attach no more volumes",
        "NodeLost" => "the node stopped reporting",
        r if r.starts_with("OutOf") => "more is taken on the node than the scheduler knows",
        _ => return None,
    })
}

/// True if a kubelet's event of this reason says that it refused or ended a pod.
pub fn is_refusal(reason: &str) -> bool {
    meaning(reason).is_some() || matches!(reason, "AppArmor" | "PodLevelResourcesNotSupported" | "NodeName" | "InvalidNodeInfo")
}

#[cfg(test)]
mod tests {
    use crate::lifecycle::bed::{causes, found, node, pod};
    use serde_json::json;

    #[test]
    fn the_reason_is_the_detail() {
        for (reason, want) in [
            ("OutOfcpu", "KubeletRejected OutOfcpu"),
            ("UnexpectedAdmissionError", "KubeletRejected UnexpectedAdmissionError"),
            ("NodeShutdown", "KubeletRejected NodeShutdown"),
            ("SomethingNew", "KubeletRejected SomethingNew"),
            ("", "KubeletRejected Failed"),
        ] {
            assert_eq!(found(json!({"phase": "Failed", "reason": reason}), vec![]), [want]);
        }
    }

    #[test]
    fn the_prefix_of_the_kubelet_is_left_out() {
        let status = json!({"phase": "Failed", "reason": "OutOfcpu", "message": "Pod was rejected: Node didn't have enough resource: cpu"});
        let found = causes(node("True"), pod(status), vec![]);
        assert!(found[0].message.ends_with("(more is taken on the node than the scheduler knows): Node didn't have enough resource: cpu"));
    }

    #[test]
    fn the_pods_before_it_are_counted() {
        let failed = |node: &str, count: i32| {
            json!({"metadata": {"name": "e", "namespace": "ns"}, "involvedObject": {"kind": "DaemonSet", "namespace": "ns", "name": "ds"},
                "reason": "FailedDaemonPod", "message": format!("Found failed daemon pod ns/ds-a on node {node}, will try to kill it"), "count": count})
        };
        for (events, want) in [
            (vec![failed("n2", 3)], None),
            (vec![failed("n1", 1), failed("n2", 3)], Some("; 1 pod of the node ended before it,")),
            (vec![failed("n1", 1), failed("n1", 3)], Some("; 4 pods of the node ended before it,")),
        ] {
            let found = causes(node("True"), pod(json!({"phase": "Failed", "reason": "OutOfcpu", "message": "m"})), events);
            assert_eq!(
                found[0].message.split_once(": m").map(|(_, more)| more.split_inclusive(',').next()),
                Some(want),
                "{}",
                found[0].message
            );
        }
    }
}
