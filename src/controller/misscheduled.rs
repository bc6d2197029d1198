//! Misscheduled: a pod runs where the controller wants none.
//!
//! Upstream: `podsShouldBeOnNode` and `updateDaemonSetStatus` of
//! `pkg/controller/daemon/daemon_controller.go` (v1.37.2).

use super::should_run::Decision;
use crate::cause::{Cause, Entry, Severity, Stage};
use crate::model::pod::Pod;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "Misscheduled",
    stage: Stage::Controller,
    summary: "A pod still runs on a node where the DaemonSet wants none",
    doc: "\
## What it means
The node no longer qualifies (a taint came, a label went, the template changed), but the DaemonSet's pod is still there. Under a
NoSchedule taint that is how it stays: the pod is left alone, yet never replaced once it goes. Under a NoExecute taint or a selector that
no longer matches, the controller deletes the pod; if it stays, the controller or the node's kubelet does not act.

## How it is recognised
The controller's rule says that the node should not run the pod, and a pod owned by the DaemonSet is bound to it and is not being deleted.
The other causes of the node say which part of the rule fails.

## How to check by hand
    kubectl -n NAMESPACE get pods -l SELECTOR -o wide --field-selector spec.nodeName=NODE
    kubectl get node NODE -o jsonpath='{.spec.taints}'

## How to fix it
If the pod belongs there, tolerate the taint or widen the selector. If not, delete the pod: it will not come back.
",
};

/// The cause, if a pod of the node is neither wanted nor on its way out.
pub fn cause(decision: &Decision, pods: &[&Pod]) -> Option<Cause> {
    let pod = pods.iter().find(|p| !p.is_terminating() && !p.is_terminal())?;
    let (severity, fate) = if decision.should_continue {
        (Severity::Warning, "it stays, but will not be replaced once it goes")
    } else {
        (Severity::Error, "the controller should have deleted it")
    };
    let message = format!("pod {} is there although the DaemonSet wants none on this node; {fate}", pod.full_name());
    let object = format!("Pod/{}", pod.full_name());
    Some(Cause::new(&ENTRY, "", message).severity(severity).evidence(object, "spec.nodeName", pod.node_name().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pod_that_is_neither_wanted_nor_leaving() {
        for (phase, deleted, stays, want) in [
            ("Running", false, true, Some(Severity::Warning)),
            ("Running", false, false, Some(Severity::Error)),
            ("Pending", false, true, Some(Severity::Warning)),
            ("Running", true, false, None),
            ("Failed", false, true, None),
        ] {
            let mut pod = json!({"metadata": {"name": "p", "namespace": "ns"}, "spec": {"nodeName": "n"}, "status": {"phase": phase}});
            if deleted {
                pod["metadata"]["deletionTimestamp"] = "2026-11-30T12:00:00Z".into();
            }
            let pod: Pod = serde_json::from_value(pod).unwrap();
            let decision = Decision { should_run: false, should_continue: stays, causes: Vec::new() };
            assert_eq!(cause(&decision, &[&pod]).map(|c| c.severity), want, "{phase} {deleted} {stays}");
        }
    }
}
