//! KubeletSilent: the pod is bound, and no kubelet ever took it on.
//!
//! Upstream: the kubelet writes `status.startTime`, conditions and container statuses in its first
//! sync of a pod (`generateAPIPodStatus` of `pkg/kubelet/kubelet_pods.go`, v1.37.2); until then
//! there is only the scheduler's PodScheduled condition.

use super::View;
use crate::cause::{Cause, Entry, Remedy, Severity, Stage};
use crate::model::node::Node;
use crate::model::time::Age;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "KubeletSilent",
    stage: Stage::Running,
    summary: "The pod is bound to the node, but no kubelet ever reported on it",
    doc: "\
## What it means
The scheduler has put the pod on the node and nothing has happened since. A kubelet that works takes a pod on within seconds. Either the
node is dead or its kubelet hangs, or there is no kubelet behind it at all: virtual nodes (virtual-kubelet, EKS Fargate, a simulator)
often ignore the pods of DaemonSets.

## How it is recognised
The pod has a node, and neither a start time, nor any condition beside PodScheduled, nor any container status, nor an event of a kubelet.

## How to check by hand
    kubectl -n NAMESPACE get pod POD -o jsonpath='{.spec.nodeName} {.status}'
    kubectl describe node NODE
    kubectl -n kube-node-lease get lease NODE -o jsonpath='{.spec.renewTime}'

## How to fix it
On a real node, see that its kubelet runs and reaches the API server (`journalctl -u kubelet` there); delete the Node object if the
machine is gone. On a virtual node, keep the DaemonSet away: drop the tolerate-everything toleration, or require by node affinity what only
real nodes have.
",
};

/// Seconds that a kubelet may take before its silence is an error.
const PATIENCE: i64 = 60;

/// The cause, if no kubelet reported.
pub fn causes(view: &View) -> Vec<Cause> {
    if view.pod.node_name().is_none() || view.kubelet_has_reported() {
        return Vec::new();
    }
    let bound = view.pod.condition("PodScheduled").and_then(|c| c.last_transition_time).or(view.pod.metadata.creation_timestamp);
    let age = bound.map(|t| view.since(t));
    let virtual_label = view.info.and_then(|i| virtual_node(i.node));
    let for_long = age.map_or(String::new(), |a| format!(" for {}", Age(a)));
    let node = view.pod.node_name().unwrap_or_default();
    let message = match &virtual_label {
        Some(mark) => format!("the pod has been bound{for_long} and no kubelet took it on: {node} is a virtual node ({mark})"),
        None => format!("the pod has been bound{for_long} and no kubelet took it on"),
    };
    let young = virtual_label.is_none() && age.is_some_and(|a| a < PATIENCE);
    let mut cause = Cause::new(&ENTRY, "", message)
        .severity(if young { Severity::Info } else { Severity::Error })
        .evidence(view.object(), "spec.nodeName", node)
        .evidence(view.object(), "status.startTime", serde_json::Value::Null);
    if let Some(mark) = virtual_label {
        cause = cause.evidence(format!("Node/{node}"), "metadata.labels", mark);
    }
    vec![
        cause
            .remedy(Remedy::inspect("see the node", crate::cause::command::command(["kubectl", "describe", "node", node])))
            .remedy(view.describe()),
    ]
}

/// The label or taint that says that no real kubelet stands behind the node.
pub fn virtual_node(node: &Node) -> Option<String> {
    const MARKS: [(&str, &str); 4] = [
        ("eks.amazonaws.com/compute-type", "fargate"),
        ("type", "virtual-kubelet"),
        ("kubernetes.azure.com/virtual-node", "true"),
        ("type", "kwok"),
    ];
    let labels = &node.metadata.labels;
    let label = MARKS.iter().find(|(k, v)| labels.get(k).is_some_and(|have| have == v)).map(|(k, v)| format!("{k}={v}"));
    let provider = || node.spec.taints.iter().find(|t| t.key == "virtual-kubelet.io/provider").map(|t| t.to_string());
    label.or_else(provider)
}

#[cfg(test)]
mod tests {
    use crate::lifecycle::bed::{causes, event, found, names, node, pod};
    use serde_json::json;

    #[test]
    fn only_a_kubelet_breaks_the_silence() {
        let scheduled = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}]});
        assert_eq!(found(scheduled.clone(), vec![]), ["KubeletSilent"]);
        assert_eq!(names(&causes(node("Unknown"), pod(scheduled.clone()), vec![])), ["NodeNotReady", "KubeletSilent"]);
        assert_eq!(found(scheduled, vec![event("Pulling", "Pulling image")]), ["Starting"]);
    }

    #[test]
    fn a_virtual_node_is_named() {
        let mut fargate = node("True");
        fargate["metadata"]["labels"] = json!({"eks.amazonaws.com/compute-type": "fargate"});
        let found = causes(fargate, pod(json!({"phase": "Pending"})), vec![]);
        assert!(found[0].message.contains("eks.amazonaws.com/compute-type=fargate"), "{}", found[0].message);
    }
}
