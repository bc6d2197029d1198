//! SelectorOverlap: another DaemonSet's selector selects these pods, too.
//!
//! Upstream: `getDaemonPods` and `ControllerRefManager` of `pkg/controller` (v1.37.2): owner
//! references decide whose a pod is; only pods without owner are adopted by their labels.

use crate::cause::{Cause, Entry, Severity, Stage};
use crate::diagnose::Subject;
use crate::model::selector::{is_empty, selects};

/// The page.
pub static ENTRY: Entry = Entry {
    code: "SelectorOverlap",
    stage: Stage::Rollout,
    summary: "Another DaemonSet selects the same labels",
    doc: "\
## What it means
Two DaemonSets of the namespace have selectors that select the same pods. Each keeps its own by owner reference, so both work; but whatever
goes by labels (a Service, a network policy, `kubectl get pods -l`, a pod that lost its owner) cannot tell them apart.

## How it is recognised
The other DaemonSet's selector selects this template's labels, or this selector selects the other's.

## How to check by hand
    kubectl -n NAMESPACE get ds -o custom-columns=NAME:.metadata.name,SELECTOR:.spec.selector.matchLabels

## How to fix it
A selector cannot be changed: create one of the two again under labels of its own.
",
};

/// A cause for each such DaemonSet.
pub fn causes(subject: &Subject) -> Vec<Cause> {
    let ds = subject.ds;
    let Some(own) = ds.spec.selector.as_ref().filter(|s| !is_empty(s)) else { return Vec::new() };
    let others = subject
        .snapshot
        .daemon_sets
        .iter()
        .filter(|o| o.metadata.namespace == ds.metadata.namespace && o.metadata.name != ds.metadata.name);
    let overlaps = others.filter(|other| {
        let theirs = other.spec.selector.as_ref().is_some_and(|s| !is_empty(s) && selects(s, &ds.spec.template.metadata.labels));
        theirs || selects(own, &other.spec.template.metadata.labels)
    });
    overlaps
        .map(|other| {
            let name = other.metadata.full_name();
            Cause::new(&ENTRY, &name, format!("DaemonSet {name} selects the same pods; each keeps its own by owner reference"))
                .severity(Severity::Warning)
                .evidence(subject.object(), "spec.selector", serde_json::to_value(own).unwrap_or_default())
                .evidence(format!("DaemonSet/{name}"), "spec.selector", serde_json::to_value(&other.spec.selector).unwrap_or_default())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::snapshot::Snapshot;
    use serde_json::{Value, json};

    #[test]
    fn selectors_that_select_each_others_pods() {
        let ds = |namespace: &str, name: &str, selector: Value, labels: Value| json!({"metadata": {"name": name, "namespace": namespace}, "spec": {"selector": {"matchLabels": selector}, "template": {"metadata": {"labels": labels}}}});
        let own = ds("ns", "own", json!({"app": "a"}), json!({"app": "a", "tier": "x"}));
        for (other, want) in [
            (ds("ns", "other", json!({"app": "a"}), json!({"app": "a"})), "ns/other"),
            // Its selector is wider, its pods are others.
            (ds("ns", "other", json!({"tier": "x"}), json!({"tier": "x"})), "ns/other"),
            // Its pods match, its selector is narrower.
            (ds("ns", "other", json!({"app": "a", "tier": "y"}), json!({"app": "a", "tier": "y"})), "ns/other"),
            (ds("ns", "other", json!({"app": "b"}), json!({"app": "b"})), ""),
            (ds("ns2", "other", json!({"app": "a"}), json!({"app": "a"})), ""),
            (ds("ns", "own", json!({"app": "a"}), json!({"app": "a"})), ""),
        ] {
            let mut snapshot = Snapshot::default();
            snapshot.objects.daemon_sets.items.push(serde_json::from_value(other.clone()).unwrap());
            let own = serde_json::from_value(own.clone()).unwrap();
            let found: Vec<String> = causes(&Subject::new(&snapshot, &own)).into_iter().map(|c| c.detail).collect();
            assert_eq!(found.concat(), want, "{other}");
        }
    }
}
