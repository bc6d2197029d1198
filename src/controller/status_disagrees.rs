//! StatusDisagrees: the status says one thing, a recount another.
//!
//! Upstream: `updateDaemonSetStatus`; a taint added under a running pod and a deleted node do not
//! enqueue the DaemonSet, so its status stays as it was (v1.37.2).

use super::recount::Counters;
use crate::cause::{Cause, Entry, Severity, Stage};
use crate::model::daemon_set::DaemonSet;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "StatusDisagrees",
    stage: Stage::Rollout,
    summary: "A status counter is not what a recount gives",
    doc: "\
## What it means
The controller has seen the newest spec, yet a counter of its status is not what the nodes and pods give now. Some changes (a taint added
under a running pod, a node deleted) do not make the controller look again, so the counters stay as they were until something else does.
Alerts and dashboards that read the counters show the old picture.

## How it is recognised
Nodes and pods are counted again by the controller's own rule and compared with `status`.

## How to check by hand
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.status}'

## How to fix it
Nothing is broken by it. Any change to the DaemonSet or one of its pods makes the controller count again; restarting
kube-controller-manager does, too. If the numbers keep differing, the controller does not run.
",
};

/// The causes, one for each counter that differs in what decides: desired and misscheduled.
///
/// Ready and available differ for moments whenever pods come and go, so they are left out.
pub fn causes(ds: &DaemonSet, status: &Counters, recount: &Counters) -> Vec<Cause> {
    let object = format!("DaemonSet/{}", ds.metadata.full_name());
    [
        ("desired", "status.desiredNumberScheduled", status.desired_number_scheduled, recount.desired_number_scheduled),
        ("misscheduled", "status.numberMisscheduled", status.number_misscheduled, recount.number_misscheduled),
    ]
    .into_iter()
    .filter(|(_, _, a, b)| a != b)
    .map(|(what, field, a, b)| {
        Cause::new(&ENTRY, format!("{what} {a} vs {b}"), format!("the status says {what} {a}, a recount gives {b}"))
            .severity(Severity::Warning)
            .evidence(&object, field, a)
            .evidence(&object, format!("recount of {what}"), b)
    })
    .collect()
}
