//! EmptySelector: the DaemonSet selects every pod, and the controller leaves it alone.
//!
//! Upstream: `syncDaemonSet` of `pkg/controller/daemon/daemon_controller.go` (v1.37.2): for a
//! selector without requirements it writes an event, `SelectingAll`, and returns.

use crate::cause::{Cause, Entry, Stage};
use crate::model::daemon_set::DaemonSet;
use crate::model::selector::is_empty;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "EmptySelector",
    stage: Stage::Creation,
    summary: "The selector is empty: the controller does nothing for this DaemonSet",
    doc: "\
## What it means
A selector without requirements would select every pod of the namespace, so the controller does not act on such a DaemonSet at all: it
makes no pods, deletes none and writes no status. The API server refuses it today; one can only be left from a very old version, or come
from a restored backup.

## How it is recognised
`spec.selector` has neither matchLabels nor matchExpressions. The controller says so in an event, SelectingAll, each time it looks.

## How to check by hand
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.selector}'
    kubectl -n NAMESPACE get events --field-selector reason=SelectingAll

## How to fix it
A selector cannot be changed: delete the DaemonSet (`--cascade=orphan` leaves its pods) and create it with a selector that its template's
labels meet.
",
};

/// The cause, if the selector is there and empty.
pub fn cause(ds: &DaemonSet) -> Option<Cause> {
    ds.spec.selector.as_ref().filter(|s| is_empty(s))?;
    let message = "the selector is empty and selects every pod: the controller does nothing for the DaemonSet";
    let object = format!("DaemonSet/{}", ds.metadata.full_name());
    Some(Cause::new(&ENTRY, "", message).evidence(object, "spec.selector", serde_json::json!({})))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::diagnose::{Options, diagnose};
    use crate::model::snapshot::Snapshot;

    #[test]
    fn the_controller_leaves_it_alone() {
        for (selector, want) in [
            (json!({}), vec!["EmptySelector"]),
            (json!({"matchLabels": {}}), vec!["EmptySelector"]),
            (json!({"matchLabels": {"app": "a"}}), vec!["StatusStale"]),
            (json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]}), vec!["StatusStale"]),
        ] {
            let mut snapshot = Snapshot::default();
            snapshot.objects.nodes.items.push(serde_json::from_value(json!({"metadata": {"name": "n"}})).unwrap());
            let spec = json!({"selector": selector, "template": {"metadata": {"labels": {"app": "a"}}}});
            // The controller has never written a status.
            let ds = json!({"metadata": {"name": "ds", "namespace": "ns", "generation": 1}, "spec": spec});
            let report = diagnose(&snapshot, &serde_json::from_value(ds).unwrap(), &Options::default());
            for causes in [&report.causes, &report.nodes[0].causes] {
                assert_eq!(causes.iter().map(|c| c.code).collect::<Vec<_>>(), want, "{selector}");
            }
        }
    }
}
