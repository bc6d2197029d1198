//! CreateNodeSelectorConflict: the template's node selector contradicts the namespace's.
//!
//! Upstream: `plugin/pkg/admission/podnodeselector/admission.go` (v1.37.2).

use super::refusal;
use crate::cause::{Cause, Entry, Stage};
use crate::diagnose::Subject;
use crate::model::namespace_selector::{PLUGIN_ANNOTATION, parse};
use crate::model::object::StringMap;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "CreateNodeSelectorConflict",
    stage: Stage::Creation,
    summary: "The template's node selector contradicts that of its namespace",
    doc: "\
## What it means
The admission plugin PodNodeSelector merges the namespace's node selector into every pod. Where the template wants another value for the
same label, the pod is refused.

## How it is recognised
A FailedCreate event says that the pod's node label selector conflicts with its namespace's; the annotation
`scheduler.alpha.kubernetes.io/node-selector` of the namespace has the other value. Where pods are missing and the event has expired, the
annotation and the template alone tell.

## How to check by hand
    kubectl get namespace NAMESPACE -o jsonpath='{.metadata.annotations}'
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.template.spec.nodeSelector}'

## How to fix it
Take the label out of the template, change the namespace's annotation, or move the DaemonSet to a namespace without one.
",
};

/// Reads upstream's texts.
pub fn from_event(subject: &Subject, text: &str) -> Option<Vec<Cause>> {
    let conflict = text.contains("pod node label selector conflicts with its namespace")
        || text.contains("pod node label selector labels conflict with its namespace whitelist");
    conflict.then(|| vec![cause(subject)])
}

/// The annotation contradicts the template. Without the admission plugin it means nothing; but then
/// the pods would be there.
pub fn foreseen(subject: &Subject) -> Vec<Cause> {
    let cause = cause(subject);
    if cause.evidence.is_empty() { Vec::new() } else { vec![cause] }
}

/// The same where a pod of the namespace shows that the admission plugin is on.
pub fn in_force(subject: &Subject) -> Vec<Cause> {
    let selector = subject.fresh.namespace_selector.as_ref();
    if selector.is_some_and(|s| !s.heeded_by_controller) { foreseen(subject) } else { Vec::new() }
}

/// The namespace's selector, as its annotation spells it.
fn annotated(subject: &Subject) -> StringMap {
    let namespace = subject.snapshot.namespace(&subject.ds.metadata.namespace);
    namespace.and_then(|n| n.metadata.annotations.get(PLUGIN_ANNOTATION)).map(|text| parse(text)).unwrap_or_default()
}

fn cause(subject: &Subject) -> Cause {
    let own = &subject.ds.spec.template.spec.node_selector;
    let clash: Vec<(String, String)> = annotated(subject).into_iter().filter(|(k, v)| own.get(k).is_some_and(|o| o != v)).collect();
    let mut keys: Vec<&str> = clash.iter().map(|(k, _)| k.as_str()).collect();
    // A single label of the template must be the one, even if the namespace was not read.
    if keys.is_empty() && own.len() == 1 {
        keys.extend(own.keys().map(String::as_str));
    }
    let mut cause =
        refusal(&ENTRY, keys.join(","), "the template's node selector conflicts with that of its namespace, so every pod is refused");
    for (key, value) in &clash {
        cause = cause.evidence(subject.object(), format!("spec.template.spec.nodeSelector[{key}]"), own.get(key).cloned()).evidence(
            format!("Namespace/{}", subject.ds.metadata.namespace),
            format!("metadata.annotations[{PLUGIN_ANNOTATION}]"),
            format!("{key}={value}"),
        );
    }
    cause
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::snapshot::Snapshot;
    use serde_json::json;

    #[test]
    fn the_label_in_conflict_is_named() {
        for (annotation, selector, from_event, foreseen_too) in [
            (Some("realm=test,tier=web"), json!({"realm": "prod", "tier": "web"}), "realm", true),
            (Some("realm=test"), json!({"realm": "test"}), "realm", false),
            (None, json!({"realm": "prod"}), "realm", false),
            (None, json!({"realm": "prod", "tier": "web"}), "", false),
        ] {
            let mut snapshot = Snapshot::default();
            if let Some(text) = annotation {
                let namespace = json!({"metadata": {"name": "ns", "annotations": {PLUGIN_ANNOTATION: text}}});
                snapshot.objects.namespaces.items.push(serde_json::from_value(namespace).unwrap());
            }
            let ds = json!({"metadata": {"name": "ds", "namespace": "ns"}, "spec": {"template": {"spec": {"nodeSelector": selector}}}});
            let ds = serde_json::from_value(ds).unwrap();
            let subject = Subject::new(&snapshot, &ds);
            assert_eq!(cause(&subject).detail, from_event, "{selector}");
            assert_eq!(!foreseen(&subject).is_empty(), foreseen_too, "{selector}");
        }
    }
}
