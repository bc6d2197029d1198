//! NodeNotReady: the pod's node is not ready.
//!
//! Upstream: `monitorNodeHealth` and `MarkPodsNotReady` of `pkg/controller/nodelifecycle` and
//! `pkg/controller/util/node/controller_utils.go` (v1.37.2): for a node that is not ready the
//! controller sets Ready=False on its pods; it writes Unknown on the node where the kubelet fell
//! silent, while False is the kubelet's own word.

use super::View;
use crate::cause::command::command;
use crate::cause::{Cause, Entry, Remedy, Stage};
use crate::model::time::Age;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "NodeNotReady",
    stage: Stage::Running,
    summary: "The node that the pod is on is not ready",
    doc: "\
## What it means
The node's Ready condition is not True, so its pods count as not ready whatever they do. *Unknown* was written by the node controller: the
kubelet has stopped reporting, the machine is down, hangs, or cannot reach the API server; what the pod's status says is old. *False* was
written by the kubelet itself, which works and says what it lacks (container runtime, network plugin).
Unless it tolerates node.kubernetes.io/unreachable:NoSchedule or not-ready:NoSchedule, the DaemonSet wants no pod there meanwhile.

## How it is recognised
The Ready condition of the Node is not True. A pod that says Ready counts as unhealthy where it is Unknown (the counters of the status go on
counting it until the node controller has marked it), and as healthy where it is False: that kubelet still reports. The Lease kube-node-lease/NODE tells when the kubelet last reported.

## How to check by hand
    kubectl get node NODE -o jsonpath='{.status.conditions[?(@.type==\"Ready\")]}'
    kubectl -n kube-node-lease get lease NODE -o jsonpath='{.spec.renewTime}'
    kubectl describe node NODE

## How to fix it
Mend the node (on it: `systemctl status kubelet`, `journalctl -u kubelet`, `crictl info`), or remove it with `kubectl delete node NODE` if
the machine is gone; its pods go with it. If the kubelet waits for a network plugin, look at that plugin's own DaemonSet first.
",
};

/// The cause, if the node's Ready condition is there and not True.
pub fn causes(view: &View) -> Vec<Cause> {
    let Some(node) = view.info.map(|i| i.node) else { return Vec::new() };
    let Some(ready) = node.condition("Ready").filter(|c| c.status != "True") else { return Vec::new() };
    let name = node.name();
    let for_long = ready.last_transition_time.map_or(String::new(), |t| format!(" for {}", Age(view.since(t))));
    let lease = view.subject.snapshot.leases.iter().find(|l| l.metadata.namespace == "kube-node-lease" && l.metadata.name == name);
    let renewed = lease.and_then(|l| l.spec.renew_time);
    let pod_is_ready = node.is_silent() && view.pod.is_ready() && !view.pod.is_terminating();
    let last_word = if pod_is_ready { "; that the pod is ready is its last word" } else { "" };
    let message = if node.is_silent() {
        let heard = renewed.map_or(String::new(), |t| format!(", last heard of {} ago", Age(view.since(t))));
        let never = if ready.reason == "NodeStatusNeverUpdated" { " never reported" } else { " does not report" };
        format!("the node has not been ready{for_long}: its kubelet{never}{heard}{last_word}")
    } else {
        format!("the node has not been ready{for_long}: its kubelet says {}", said(&ready.message, &ready.reason))
    };
    let object = format!("Node/{name}");
    let mut cause = Cause::new(&ENTRY, "", message)
        .evidence(&object, "status.conditions[Ready].status", ready.status.as_str())
        .evidence(&object, "status.conditions[Ready].reason", ready.reason.as_str())
        .evidence(&object, "status.conditions[Ready].message", super::shortened(&ready.message));
    if pod_is_ready {
        cause = cause.evidence(view.object(), "status.conditions[Ready].status", "True");
    }
    if let Some(t) = renewed {
        cause = cause.evidence(format!("Lease/kube-node-lease/{name}"), "spec.renewTime", t.to_string());
    }
    let lease = command(["kubectl", "-n", "kube-node-lease", "get", "lease", name, "-o", "jsonpath={.spec.renewTime}"]);
    vec![
        cause
            .remedy(Remedy::inspect("see the node's conditions and events", command(["kubectl", "describe", "node", name])))
            .remedy(Remedy::inspect("see when its kubelet last reported", lease)),
    ]
}

fn said(message: &str, reason: &str) -> String {
    if message.is_empty() { reason.to_string() } else { super::shortened(message) }
}

#[cfg(test)]
mod tests {
    use crate::lifecycle::bed::{causes, event, names, node, pod, running};
    use serde_json::json;

    #[test]
    fn of_a_silent_kubelet_only_the_node_is_said() {
        let crash = running(json!({"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 1}}}));
        let live = running(json!({"ready": true, "state": {"running": {}}}));
        let unready = running(json!({"ready": false, "state": {"running": {}}}));
        for (ready, status, want) in [
            ("Unknown", &crash, vec!["NodeNotReady"]),
            ("Unknown", &live, vec!["NodeNotReady"]),
            ("False", &live, vec!["NodeNotReady"]),
            ("False", &crash, vec!["NodeNotReady", "CrashLoop exit 1"]),
            ("False", &unready, vec!["NodeNotReady", "NotReady not ready, and no probe says why"]),
        ] {
            assert_eq!(names(&causes(node(ready), pod(status.clone()), vec![])), want, "{ready}");
        }
    }

    #[test]
    fn ready_is_an_old_word_of_a_silent_kubelet() {
        use crate::diagnose::{Options, diagnose};
        use crate::model::snapshot::Snapshot;
        use crate::report::State;
        for (ready, state, want) in
            [("Unknown", State::Unhealthy, vec!["NodeNotReady"]), ("False", State::Healthy, vec![]), ("True", State::Healthy, vec![])]
        {
            let mut snapshot = Snapshot::default();
            let condition = json!([{"type": "Ready", "status": ready}]);
            let node = json!({"metadata": {"name": "n"}, "status": {"conditions": condition}});
            snapshot.objects.nodes.items.push(serde_json::from_value(node).unwrap());
            let owner = json!([{"kind": "DaemonSet", "name": "ds", "uid": "u", "controller": true}]);
            let pod = json!({"metadata": {"name": "p", "namespace": "ns", "ownerReferences": owner}, "spec": {"nodeName": "n"},
                "status": {"phase": "Running", "startTime": "2026-11-30T11:00:00Z", "conditions": [{"type": "Ready", "status": "True"}]}});
            snapshot.objects.pods.items.push(serde_json::from_value(pod).unwrap());
            let ds = serde_json::from_value(json!({"metadata": {"name": "ds", "namespace": "ns", "uid": "u"}})).unwrap();
            let report = diagnose(&snapshot, &ds, &Options::default());
            let (node, recount) = (&report.nodes[0], &report.daemon_set.recount);
            assert_eq!((node.state, names(&node.causes)), (state, want.iter().map(|c| c.to_string()).collect()), "{ready}");
            assert_eq!(recount.number_ready, 1, "the controller counts the pod");
            assert_eq!(node.causes.iter().any(|c| c.message.ends_with("its last word")), ready == "Unknown");
        }
    }

    #[test]
    fn a_network_plugin_that_is_not_there_is_said_with_the_node() {
        let waits = running(json!({"state": {"waiting": {"reason": "ContainerCreating"}}}));
        let found = causes(node("False"), pod(waits), vec![event("NetworkNotReady", "network is not ready: cni plugin not initialized")]);
        assert_eq!(names(&found), ["NodeNotReady", "SandboxFailed network not ready"]);
    }
}
