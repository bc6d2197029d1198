//! PodSucceeded: the pod ended well, where a DaemonSet's pod should not end.
//!
//! Upstream: `podsShouldBeOnNode` of `pkg/controller/daemon/daemon_controller.go` (v1.37.2) deletes
//! such a pod and makes another.

use super::View;
use crate::cause::{Cause, Entry, Stage};

/// The page.
pub static ENTRY: Entry = Entry {
    code: "PodSucceeded",
    stage: Stage::Kubelet,
    summary: "The pod has ended with success, where it should run on",
    doc: "\
## What it means
All containers of the pod have ended for good and well, so its phase is Succeeded. The pods of a DaemonSet have the restart policy Always
and never end so by themselves: the pod ended in a shutdown of its node, or something changed its restart policy. The controller deletes
it and makes a new one.

## How it is recognised
The pod's phase is Succeeded. The DaemonSet has events `SucceededDaemonPod`.

## How to check by hand
    kubectl -n NAMESPACE get pod POD -o jsonpath='{.status.phase} {.status.reason} {.spec.restartPolicy}'
    kubectl -n NAMESPACE get events --field-selector reason=SucceededDaemonPod

## How to fix it
Usually the controller replaces it within seconds. If it stays, see that kube-controller-manager runs.
",
};

/// The cause, if the pod has succeeded.
pub fn causes(view: &View) -> Vec<Cause> {
    if view.pod.status.phase != "Succeeded" {
        return Vec::new();
    }
    let message = "the pod has ended with success and does not run any more; the controller should replace it";
    vec![Cause::new(&ENTRY, "", message).evidence(view.object(), "status.phase", "Succeeded").remedy(view.describe())]
}

#[cfg(test)]
mod tests {
    use crate::lifecycle::bed::found;
    use serde_json::json;

    #[test]
    fn success_is_an_end_too() {
        assert_eq!(found(json!({"phase": "Succeeded"}), vec![]), ["PodSucceeded"]);
        assert_eq!(found(json!({"phase": "Failed"}), vec![]), ["KubeletRejected Failed"]);
    }
}
