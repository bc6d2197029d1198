//! Which pods are the DaemonSet's, for which node, of which revision.
//!
//! Upstream: `GetTargetNodeName`, `IsPodUpdated` and `GetTemplateGeneration` of
//! `pkg/controller/daemon/util/daemonset_util.go`, `getNodesToDaemonPods` and
//! `podByCreationTimestampAndPhase` of `pkg/controller/daemon/daemon_controller.go` (v1.37.2).

use std::collections::BTreeMap;

use crate::model::daemon_set::{ControllerRevision, DaemonSet};
use crate::model::object::ObjectMeta;
use crate::model::pod::Pod;

pub use crate::model::daemon_pod::HASH_LABEL;

const GENERATION_LABEL: &str = "pod-template-generation";
const GENERATION_ANNOTATION: &str = "deprecated.daemonset.template.generation";

/// True if the DaemonSet is the controller of the pod.
pub fn owns(ds: &DaemonSet, pod: &Pod) -> bool {
    owns_meta(ds, &pod.metadata)
}

/// True if the DaemonSet is the controller of the revision.
pub fn owns_revision(ds: &DaemonSet, revision: &ControllerRevision) -> bool {
    owns_meta(ds, &revision.metadata)
}

fn owns_meta(ds: &DaemonSet, meta: &ObjectMeta) -> bool {
    let own = &ds.metadata;
    meta.namespace == own.namespace
        && meta.controller().is_some_and(|owner| {
            if own.uid.is_empty() || owner.uid.is_empty() {
                owner.kind == "DaemonSet" && owner.name == own.name
            } else {
                owner.uid == own.uid
            }
        })
}

/// The node that the pod is bound to, or pinned to by the controller.
pub fn target_node(pod: &Pod) -> Option<&str> {
    if let Some(node) = pod.node_name() {
        return Some(node);
    }
    let required = crate::filter::node_affinity::required(&pod.spec)?;
    let fields = required.node_selector_terms.iter().flat_map(|t| &t.match_fields);
    let pin = fields.into_iter().find(|r| r.key == "metadata.name" && r.operator == "In")?;
    match pin.values.as_slice() {
        [name] => Some(name),
        _ => None,
    }
}

/// The DaemonSet's pods by node; a node's pods in the controller's order: bound ones first, then
/// by age. Finished pods that are being deleted are left out, as the controller does.
pub fn pods_by_node<'a>(ds: &DaemonSet, pods: impl Iterator<Item = &'a Pod>) -> BTreeMap<&'a str, Vec<&'a Pod>> {
    let mut by_node: BTreeMap<&str, Vec<&Pod>> = BTreeMap::new();
    for pod in pods.filter(|p| owns(ds, p) && !(p.is_terminal() && p.is_terminating())) {
        if let Some(node) = target_node(pod) {
            by_node.entry(node).or_default().push(pod);
        }
    }
    for pods in by_node.values_mut() {
        pods.sort_by_key(|p| (p.node_name().is_none(), p.metadata.creation_timestamp, &p.metadata.name));
    }
    by_node
}

/// The hash of the current revision.
pub fn current_hash<'a>(ds: &DaemonSet, revisions: &'a [ControllerRevision]) -> Option<&'a str> {
    crate::rollout::revision::current(ds, revisions).map(crate::rollout::revision::hash)
}

/// True if the pod is of the current template; `None` if that cannot be told.
pub fn is_updated(ds: &DaemonSet, hash: Option<&str>, pod: &Pod) -> Option<bool> {
    let labels = &pod.metadata.labels;
    // What is no number counts as absent, and a label is compared with the number's own spelling.
    let generation = ds.metadata.annotations.get(GENERATION_ANNOTATION).and_then(|g| g.parse::<i64>().ok());
    let by_generation = generation.is_some_and(|g| labels.get(GENERATION_LABEL) == Some(&g.to_string()));
    match (hash, labels.get(HASH_LABEL)) {
        (Some(hash), Some(own)) => Some(own == hash || by_generation),
        (Some(_), None) => Some(by_generation),
        (None, _) if by_generation => Some(true),
        (None, _) if generation.is_some() && labels.contains_key(GENERATION_LABEL) => Some(false),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_pod_is_current_by_its_hash_or_by_the_generation_of_old() {
        for (annotation, labels, hash, want) in [
            (None, json!({"controller-revision-hash": "h"}), Some("h"), Some(true)),
            (None, json!({"controller-revision-hash": "x"}), Some("h"), Some(false)),
            (None, json!({}), Some("h"), Some(false)),
            (None, json!({"controller-revision-hash": "h"}), None, None),
            (Some("2"), json!({"controller-revision-hash": "x", "pod-template-generation": "2"}), Some("h"), Some(true)),
            (Some("02"), json!({"pod-template-generation": "2"}), Some("h"), Some(true)),
            (Some("02"), json!({"pod-template-generation": "02"}), Some("h"), Some(false)),
            (Some("two"), json!({"pod-template-generation": "two"}), Some("h"), Some(false)),
            (Some("2"), json!({"pod-template-generation": "1"}), None, Some(false)),
            (Some("two"), json!({"pod-template-generation": "two"}), None, None),
        ] {
            let mut ds: DaemonSet = serde_json::from_value(json!({"metadata": {"name": "ds"}})).unwrap();
            ds.metadata.annotations.extend(annotation.map(|a| (GENERATION_ANNOTATION.to_string(), a.to_string())));
            let pod: Pod = serde_json::from_value(json!({"metadata": {"name": "p", "labels": labels}})).unwrap();
            assert_eq!(is_updated(&ds, hash, &pod), want, "{annotation:?} {labels} {hash:?}");
        }
    }

    #[test]
    fn owners() {
        for (ds_uid, namespace, kind, name, uid, controller, want) in [
            ("u", "x", "DaemonSet", "a", "u", true, true),
            ("u", "x", "DaemonSet", "a", "v", true, false),
            ("u", "x", "DaemonSet", "a", "u", false, false),
            ("u", "y", "DaemonSet", "a", "u", true, false),
            // Where an uid was not kept, kind and name decide.
            ("", "x", "DaemonSet", "a", "u", true, true),
            ("u", "x", "DaemonSet", "a", "", true, true),
            ("", "x", "DaemonSet", "b", "", true, false),
            ("", "x", "StatefulSet", "a", "", true, false),
        ] {
            let owner = json!([{"kind": kind, "name": name, "uid": uid, "controller": controller}]);
            let pod = serde_json::from_value(json!({"metadata": {"name": "p", "namespace": namespace, "ownerReferences": owner}})).unwrap();
            let ds = serde_json::from_value(json!({"metadata": {"name": "a", "namespace": "x", "uid": ds_uid}})).unwrap();
            assert_eq!(owns(&ds, &pod), want, "{ds_uid} {namespace} {owner}");
        }
    }

    #[test]
    fn pins() {
        let pinned = |terms: Value| json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}});
        let field =
            |key: &str, operator: &str, values: Value| json!([{"matchFields": [{"key": key, "operator": operator, "values": values}]}]);
        for (spec, want) in [
            (json!({"nodeName": "n"}), Some("n")),
            (json!({}), None),
            (pinned(field("metadata.name", "In", json!(["n"]))), Some("n")),
            (pinned(field("metadata.name", "NotIn", json!(["n"]))), None),
            (pinned(field("metadata.namespace", "In", json!(["n"]))), None),
            (pinned(field("metadata.name", "In", json!(["n", "m"]))), None),
        ] {
            let pod: Pod = serde_json::from_value(json!({"metadata": {"name": "p"}, "spec": spec})).unwrap();
            assert_eq!(target_node(&pod), want, "{spec}");
        }
    }
}
