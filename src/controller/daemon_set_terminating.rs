//! DaemonSetTerminating: the DaemonSet itself is being deleted.
//!
//! Upstream: `syncDaemonSet` and `manage` of `pkg/controller/daemon/daemon_controller.go`
//! (v1.37.2): with a deletionTimestamp the controller does nothing more.

use crate::cause::{Cause, Entry, Stage};
use crate::model::daemon_set::DaemonSet;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "DaemonSetTerminating",
    stage: Stage::Creation,
    summary: "The DaemonSet is being deleted: the controller makes no more pods for it",
    doc: "\
## What it means
Somebody deleted the DaemonSet with foreground or orphan propagation, or a finalizer holds it. Until it is gone the controller neither
creates pods nor updates the status, which stays as it was.

## How it is recognised
`metadata.deletionTimestamp` of the DaemonSet is set.

## How to check by hand
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.metadata.deletionTimestamp} {.metadata.finalizers}'

## How to fix it
A deletion cannot be taken back. Find out what holds the finalizers, and apply the DaemonSet again when it is gone.
",
};

/// The cause.
pub fn cause(ds: &DaemonSet) -> Cause {
    let held = if ds.metadata.finalizers.is_empty() {
        String::new()
    } else {
        format!("; finalizers hold it: {}", ds.metadata.finalizers.join(", "))
    };
    let when = ds.metadata.deletion_timestamp.map(|t| t.to_string());
    Cause::new(&ENTRY, "", format!("the DaemonSet is being deleted, the controller makes no more pods for it{held}")).evidence(
        format!("DaemonSet/{}", ds.metadata.full_name()),
        "metadata.deletionTimestamp",
        when,
    )
}
