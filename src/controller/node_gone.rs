//! NodeGone: a pod is bound to a node whose object does not exist any more.

use crate::cause::{Cause, Entry, Stage};
use crate::model::pod::Pod;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "NodeGone",
    stage: Stage::Running,
    summary: "A pod is bound to a node that does not exist",
    doc: "\
## What it means
The Node object was deleted while a pod of the DaemonSet was bound to it. The pod is a leftover: it counts for nothing, and the pod garbage
collector deletes it (after a while, if it runs). The DaemonSet's status may still count the node.

## How it is recognised
`spec.nodeName` of the pod names no existing node.

## How to check by hand
    kubectl -n NAMESPACE get pods -o wide --field-selector spec.nodeName=NODE
    kubectl get node NODE

## How to fix it
Usually nothing: kube-controller-manager's pod garbage collector removes the pod. If it stays, look at the pod's finalizers and at
kube-controller-manager, or delete the pod with `--grace-period=0 --force`.
",
};

/// The cause for one such pod.
pub fn cause(node: &str, pod: &Pod) -> Cause {
    let message = format!("pod {} is bound to node {node}, which does not exist", pod.full_name());
    Cause::new(&ENTRY, "", message).evidence(format!("Pod/{}", pod.full_name()), "spec.nodeName", node)
}
