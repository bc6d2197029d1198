//! PodOrphaned: a pod with the DaemonSet's labels runs on the node and belongs to nobody.
//!
//! Upstream: `ClaimObject` of `pkg/controller/controller_ref_manager.go` and `getDaemonPods` of
//! `pkg/controller/daemon/daemon_controller.go` (v1.37.2): the controller adopts a pod without
//! controller that its selector selects, unless the pod or the DaemonSet is being deleted, and
//! counts it as its own from then on.

use std::collections::BTreeMap;

use super::ownership::target_node;
use crate::cause::command::command;
use crate::cause::{Cause, Entry, Fact, Remedy, Stage};
use crate::diagnose::Subject;
use crate::model::pod::Pod;
use crate::model::selector::{is_empty, selects};

/// The page.
pub static ENTRY: Entry = Entry {
    code: "PodOrphaned",
    stage: Stage::Creation,
    summary: "A pod with the DaemonSet's labels is on the node and belongs to nobody: it will be adopted",
    doc: "\
## What it means
The DaemonSet has no pod on the node, but there is one that its selector selects and that no controller owns: left over when a DaemonSet
was deleted with `--cascade=orphan`, made by hand, or let go when its labels were changed and changed back. The controller adopts such a pod
when it next looks, and makes no other one. Then the pod counts, is replaced if it is of another revision, and goes with the DaemonSet. That
takes a moment; if it lasts, the controller does not act.

## How it is recognised
A pod for the node, in the DaemonSet's namespace, matches the selector, has no ownerReference with controller: true and is not being
deleted; nor is the DaemonSet. Its owned pods count as its pods, this one not yet.

## How to check by hand
    kubectl -n NAMESPACE get pods -l SELECTOR -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName,OWNER:.metadata.ownerReferences[*].name
    kubectl -n NAMESPACE describe ds NAME

## How to fix it
If the pod is the DaemonSet's, nothing: see that the controller runs. If it is another's, change its labels, or it will be adopted and
replaced.
",
};

/// The pods that the controller will adopt, by node; of several on one node the first by name.
pub fn adoptable<'a>(subject: &Subject<'a>) -> BTreeMap<&'a str, &'a Pod> {
    let meta = &subject.ds.metadata;
    let selector = subject.ds.spec.selector.as_ref().filter(|s| !is_empty(s) && !meta.is_terminating());
    let Some(selector) = selector else { return BTreeMap::new() };
    let free = |p: &&Pod| p.metadata.controller().is_none() && !p.is_terminating();
    let mut found: BTreeMap<&str, &Pod> = BTreeMap::new();
    for pod in subject.neighbours.of(&meta.namespace).iter().copied().filter(free).filter(|p| selects(selector, &p.metadata.labels)) {
        let Some(node) = target_node(pod) else { continue };
        let first = found.entry(node).or_insert(pod);
        if pod.metadata.name < first.metadata.name {
            *first = pod;
        }
    }
    found
}

/// True for a cause that keeps the controller from acting at all.
pub fn bears(cause: &Cause) -> bool {
    matches!(cause.code, "StatusStale" | "ControllerSilent")
}

/// The cause.
pub fn cause(subject: &Subject, pod: &Pod) -> Cause {
    let name = pod.full_name();
    let message =
        format!("pod {name} has the DaemonSet's labels and no owner: the controller adopts it when it next looks, and makes no other");
    let see =
        command(["kubectl", "-n", &pod.metadata.namespace, "get", "pod", &pod.metadata.name, "-o", "jsonpath={.metadata.ownerReferences}"]);
    Cause::new(&ENTRY, &name, message)
        .evidence(format!("Pod/{name}"), "metadata.ownerReferences", serde_json::Value::Null)
        .evidence(subject.object(), "spec.selector", serde_json::to_value(&subject.ds.spec.selector).unwrap_or_default())
        .fact(Fact::Pod(pod.metadata.namespace.clone(), pod.metadata.name.clone()))
        .remedy(Remedy::inspect("see whose the pod is", see))
}

#[cfg(test)]
mod tests {
    use crate::diagnose::{Options, diagnose};
    use crate::model::snapshot::Snapshot;
    use serde_json::{Value, json};

    /// The codes of a node on which there is this pod, as upstream's controller would make it (label `app=a`, namespace `ns`), changed.
    fn codes(change: Value, ds: Value) -> String {
        let mut pod = json!({"metadata": {"name": "p", "namespace": "ns", "labels": {"app": "a"}}, "spec": {"nodeName": "n"}});
        for (part, value) in change.as_object().unwrap() {
            pod[part].as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
        }
        let mut meta = json!({"name": "ds", "namespace": "ns", "uid": "u", "generation": 1});
        meta.as_object_mut().unwrap().extend(ds.as_object().unwrap().clone());
        let spec = json!({"selector": {"matchLabels": {"app": "a"}}, "template": {"metadata": {"labels": {"app": "a"}}}});
        let ds = json!({"metadata": meta, "spec": spec, "status": {"observedGeneration": 1}});
        let mut snapshot = Snapshot { from_files: false, ..Snapshot::default() };
        snapshot.objects.nodes.items.push(serde_json::from_value(json!({"metadata": {"name": "n"}})).unwrap());
        let namespace = json!({"metadata": {"name": "ns"}, "status": {"phase": "Terminating"}});
        snapshot.objects.namespaces.items.push(serde_json::from_value(namespace).unwrap());
        snapshot.objects.pods.items.push(serde_json::from_value(pod).unwrap());
        let report = diagnose(&snapshot, &serde_json::from_value(ds).unwrap(), &Options::default());
        assert!(report.nodes[0].pods.is_empty(), "it is not the DaemonSet's yet");
        report.nodes[0].causes.iter().map(|c| c.code).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_the_controller_adopts() {
        let refused = "NamespaceTerminating";
        let owner = |controller: bool| json!([{"kind": "ReplicaSet", "name": "r", "uid": "x", "controller": controller}]);
        let pin = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}}});
        for (what, change, ds, want) in [
            ("an orphan", json!({}), json!({}), "PodOrphaned"),
            ("that waits for the node", json!({"spec": {"nodeName": "", "affinity": pin}}), json!({}), "PodOrphaned"),
            ("owned, not controlled", json!({"metadata": {"ownerReferences": owner(false)}}), json!({}), "PodOrphaned"),
            ("another's", json!({"metadata": {"ownerReferences": owner(true)}}), json!({}), refused),
            ("with other labels", json!({"metadata": {"labels": {"app": "b"}}}), json!({}), refused),
            ("of another namespace", json!({"metadata": {"namespace": "other"}}), json!({}), refused),
            ("on another node", json!({"spec": {"nodeName": "m"}}), json!({}), refused),
            ("on its way out", json!({"metadata": {"deletionTimestamp": "2026-11-30T12:00:00Z"}}), json!({}), refused),
            ("the controller is behind", json!({}), json!({"generation": 2}), "StatusStale PodOrphaned"),
            ("the DaemonSet goes", json!({}), json!({"deletionTimestamp": "2026-11-30T12:00:00Z"}), "DaemonSetTerminating"),
        ] {
            let found = codes(change, ds);
            let (mut found, mut want): (Vec<&str>, Vec<&str>) = (found.split(' ').collect(), want.split(' ').collect());
            found.sort_unstable();
            want.sort_unstable();
            assert_eq!(found, want, "{what}");
        }
    }
}
