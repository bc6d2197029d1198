//! Evicted: the kubelet ended the pod to relieve its node, or for storage beyond a limit.
//!
//! Upstream: `Reason`, `nodeLowMessageFmt`, `nodeConditionMessageFmt` and the limit messages of
//! `pkg/kubelet/eviction/helpers.go`; `signalToNodeCondition` there; `Admit` of
//! `eviction_manager.go` (v1.37.2).

use super::View;
use crate::cause::command::command;
use crate::cause::{Cause, Entry, Remedy, Stage};
use crate::model::time::Age;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "Evicted",
    stage: Stage::Kubelet,
    summary: "The kubelet evicted the pod: the node is under pressure, or a storage limit was passed",
    doc: "\
## What it means
The node runs out of memory, disk or process ids, and the kubelet ends pods to survive; those that use more than they request go first.
Pods of DaemonSets tolerate the pressure taints, so the controller makes a new one at once, which the kubelet refuses again while the
pressure lasts: pods come and go in a loop (with a back-off of up to 15 minutes). A pod can also be evicted for its own ephemeral-storage
limit or an emptyDir's size limit.

## How it is recognised
The pod's phase is Failed and its reason Evicted. The message names the resource that was low, or the condition; the detail is the node
condition that belongs to it (MemoryPressure, DiskPressure, PIDPressure), or `ephemeral-storage limit`.

## How to check by hand
    kubectl -n NAMESPACE get events --field-selector reason=Evicted
    kubectl describe node NODE
    kubectl get --raw /api/v1/nodes/NODE/proxy/stats/summary

## How to fix it
Free the resource on the node (images, logs, other pods), or give the node more. Give the DaemonSet's containers requests that cover what
they use, and a priority class (system-node-critical for what the node cannot do without): such pods are evicted last.
",
};

/// The detail for a storage limit of the pod's own.
const LIMIT: &str = "ephemeral-storage limit";

/// The causes, one for each pressure.
pub fn causes(view: &View) -> Vec<Cause> {
    let status = &view.pod.status;
    if status.reason != "Evicted" {
        return Vec::new();
    }
    let when = view.pod.condition("DisruptionTarget").and_then(|c| c.last_transition_time);
    let ago = when.map_or(String::new(), |t| format!(" {} ago", Age(view.since(t))));
    let said = super::shortened(status.message.trim_start_matches("Pod was rejected: "));
    let before = super::pod_recreated::before(view);
    pressures(&status.message)
        .into_iter()
        .map(|pressure| {
            let message = match pressure {
                LIMIT => format!("the kubelet evicted the pod{ago} for the storage that it used: {said}{before}"),
                "" => format!("the kubelet evicted the pod{ago}: {said}{before}"),
                _ => format!("the kubelet evicted the pod{ago} under {pressure}: {said}{before}"),
            };
            let mut cause = Cause::new(&ENTRY, pressure, message).evidence(view.object(), "status.reason", "Evicted").evidence(
                view.object(),
                "status.message",
                said.as_str(),
            );
            if let Some(node) = view.info.map(|i| i.node) {
                if let Some(condition) = node.condition(pressure) {
                    let object = format!("Node/{}", node.name());
                    cause = cause.evidence(object, format!("status.conditions[{pressure}].status"), condition.status.as_str());
                }
                cause = cause.remedy(Remedy::inspect("see what is low on the node", command(["kubectl", "describe", "node", node.name()])));
            }
            cause.remedy(view.describe())
        })
        .collect()
}

/// The node conditions that an eviction message speaks of; `LIMIT` for a limit of the pod's own;
/// empty if it says neither.
pub fn pressures(message: &str) -> Vec<&'static str> {
    const CONDITIONS: [&str; 3] = ["DiskPressure", "MemoryPressure", "PIDPressure"];
    if let Some(list) = message.split("The node had condition: ").nth(1) {
        let named: Vec<&str> = CONDITIONS.into_iter().filter(|c| list.contains(c)).collect();
        if !named.is_empty() {
            return named;
        }
    }
    if let Some(low) = message.split("The node was low on resource: ").nth(1) {
        return match low.split('.').next().unwrap_or_default() {
            "memory" => vec!["MemoryPressure"],
            // Up to v1.12 the file system itself was named.
            "ephemeral-storage" | "inodes" | "nodefs" | "imagefs" | "nodefsInodes" | "imagefsInodes" => vec!["DiskPressure"],
            "pids" => vec!["PIDPressure"],
            _ => vec![""],
        };
    }
    let limit = ["exceeds the total limit of containers", "exceeded its local ephemeral storage limit", "Usage of EmptyDir volume"];
    if limit.iter().any(|l| message.contains(l)) { vec![LIMIT] } else { vec![""] }
}

#[cfg(test)]
mod tests {
    use crate::lifecycle::bed::found;
    use serde_json::json;

    #[test]
    fn the_pressure_is_read_from_the_message() {
        for (message, want) in [
            ("The node had condition: [DiskPressure]. ", vec!["Evicted DiskPressure"]),
            ("The node had condition: [MemoryPressure DiskPressure]. ", vec!["Evicted DiskPressure", "Evicted MemoryPressure"]),
            (
                "The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi. Container agent was using 1Gi, request is 0, has larger consumption of memory. ",
                vec!["Evicted MemoryPressure"],
            ),
            ("The node was low on resource: ephemeral-storage. ", vec!["Evicted DiskPressure"]),
            ("The node was low on resource: inodes. ", vec!["Evicted DiskPressure"]),
            ("The node was low on resource: nodefs.", vec!["Evicted DiskPressure"]),
            ("The node was low on resource: pids. ", vec!["Evicted PIDPressure"]),
            ("Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ", vec!["Evicted ephemeral-storage limit"]),
            ("", vec!["Evicted"]),
        ] {
            let status = json!({"phase": "Failed", "reason": "Evicted", "message": message});
            assert_eq!(found(status, vec![]), want, "{message}");
        }
    }
}
