//! NoEligibleNodes: the DaemonSet wants no pod anywhere.

use crate::cause::{Cause, Entry, Severity, Stage};
use crate::model::daemon_set::DaemonSet;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "NoEligibleNodes",
    stage: Stage::Controller,
    summary: "Not one node qualifies for the DaemonSet",
    doc: "\
## What it means
Every node is left out by the template's node name, node selector, affinity or by taints. DESIRED is 0 and nothing is created; the
DaemonSet looks complete.

## How it is recognised
The controller's rule is false on every node. The nodes' own causes say why.

## How to check by hand
    kubectl get nodes --show-labels
    kubectl -n NAMESPACE get ds NAME -o wide

## How to fix it
Label the nodes that should run it, or widen the selector. Where the labels come from a feature discovery agent, look at that agent first.
",
};

/// The cause, for `nodes` nodes none of which should run the pod.
pub fn cause(ds: &DaemonSet, nodes: usize) -> Cause {
    let message = format!("none of the {nodes} nodes qualifies: the DaemonSet wants no pod anywhere");
    Cause::new(&ENTRY, "", message).severity(Severity::Warning).evidence(
        format!("DaemonSet/{}", ds.metadata.full_name()),
        "status.desiredNumberScheduled",
        ds.status.desired_number_scheduled,
    )
}
