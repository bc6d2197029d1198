//! CreatePriorityClassMissing: the template names a PriorityClass that does not exist.
//!
//! Upstream: `plugin/pkg/admission/priority/admission.go` (v1.37.2).

use super::refusal;
use crate::cause::{Cause, Entry, Stage};
use crate::diagnose::Subject;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "CreatePriorityClassMissing",
    stage: Stage::Creation,
    summary: "The pod's PriorityClass does not exist, so no pod can be created",
    doc: "\
## What it means
The template names a PriorityClass that the cluster does not have. The API server refuses every pod.

## How it is recognised
A FailedCreate event says `no PriorityClass with name`; or the PriorityClasses were read and the named one is not among them.

## How to check by hand
    kubectl get priorityclasses
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.template.spec.priorityClassName}'

## How to fix it
Create the PriorityClass, or name one that exists (`system-node-critical` is there in every cluster and is meant for node agents).
",
};

/// Reads upstream's text.
pub fn from_event(subject: &Subject, text: &str) -> Option<Vec<Cause>> {
    let name = super::between(text, "no PriorityClass with name ", " was found")?;
    Some(vec![cause(subject, name)])
}

/// The class is not among those that were read.
pub fn foreseen(subject: &Subject) -> Vec<Cause> {
    let (classes, name) = (&subject.snapshot.priority_classes, &subject.ds.spec.template.spec.priority_class_name);
    // Every cluster has the two system classes; a dump without any class has not dumped them.
    let known = classes.is_complete() && !classes.is_empty();
    let system = name.starts_with("system-");
    if name.is_empty() || system || !known || classes.iter().any(|c| c.metadata.name == *name) {
        return Vec::new();
    }
    vec![cause(subject, name)]
}

fn cause(subject: &Subject, name: &str) -> Cause {
    refusal(&ENTRY, name, format!("PriorityClass {name} does not exist, so every pod is refused")).evidence(
        subject.object(),
        "spec.template.spec.priorityClassName",
        name,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::snapshot::Snapshot;
    use serde_json::json;

    #[test]
    fn only_classes_that_were_read_can_be_missing() {
        for (class, read, want) in [
            ("high", vec!["low"], true),
            ("high", vec!["high"], false),
            ("high", vec![], false),
            ("", vec!["low"], false),
            ("system-node-critical", vec!["low"], false),
        ] {
            let mut snapshot = Snapshot::default();
            let of = |name: &&str| serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
            snapshot.objects.priority_classes.items = read.iter().map(of).collect();
            let ds = json!({"metadata": {"name": "ds", "namespace": "ns"}, "spec": {"template": {"spec": {"priorityClassName": class}}}});
            let ds = serde_json::from_value(ds).unwrap();
            assert_eq!(!foreseen(&Subject::new(&snapshot, &ds)).is_empty(), want, "{class} {read:?}");
        }
    }
}
