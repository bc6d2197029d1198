//! "Bad node or bad release": what the failing pods have in common and the healthy ones do not.

use std::collections::{BTreeMap, BTreeSet};

use super::revision;
use crate::cause::{Severity, Stage};
use crate::controller::ownership::HASH_LABEL;
use crate::diagnose::Subject;
use crate::model::node::Node;
use crate::report::{NodeReport, State};

/// One value that a node or its pod has: what it is called, and the field it stands in.
struct Trait {
    /// `architecture`, `node pool`.
    noun: &'static str,
    /// `status.nodeInfo.architecture` or a label.
    field: &'static str,
    /// True if one failing pod is enough to suspect it: it decides whether an image runs.
    strong: bool,
    value: fn(&Node) -> Option<&str>,
}

/// What is compared, the most telling first.
const TRAITS: &[Trait] = &[
    Trait {
        noun: "operating system",
        field: "status.nodeInfo.operatingSystem",
        strong: true,
        value: |n| text(&n.status.node_info.operating_system),
    },
    Trait { noun: "architecture", field: "status.nodeInfo.architecture", strong: true, value: |n| text(&n.status.node_info.architecture) },
    Trait {
        noun: "zone",
        field: "metadata.labels[topology.kubernetes.io/zone]",
        strong: false,
        value: |n| label(n, "topology.kubernetes.io/zone"),
    },
    Trait { noun: "node pool", field: "metadata.labels", strong: false, value: pool },
    Trait {
        noun: "instance type",
        field: "metadata.labels[node.kubernetes.io/instance-type]",
        strong: false,
        value: |n| label(n, "node.kubernetes.io/instance-type"),
    },
    Trait {
        noun: "kubelet version",
        field: "status.nodeInfo.kubeletVersion",
        strong: false,
        value: |n| text(&n.status.node_info.kubelet_version),
    },
    Trait {
        noun: "container runtime",
        field: "status.nodeInfo.containerRuntimeVersion",
        strong: false,
        value: |n| text(&n.status.node_info.container_runtime_version),
    },
    Trait { noun: "kernel", field: "status.nodeInfo.kernelVersion", strong: false, value: |n| text(&n.status.node_info.kernel_version) },
    Trait { noun: "OS image", field: "status.nodeInfo.osImage", strong: false, value: |n| text(&n.status.node_info.os_image) },
];

/// Labels by which providers name a group of like nodes.
const POOLS: [&str; 9] = [
    "agentpool",
    "kubernetes.azure.com/agentpool",
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "cloud.google.com/gke-nodepool",
    "karpenter.sh/nodepool",
    "kops.k8s.io/instancegroup",
    "doks.digitalocean.com/node-pool",
    "machineconfiguration.openshift.io/pool",
];

fn text(value: &str) -> Option<&str> {
    Some(value).filter(|v| !v.is_empty())
}

fn label<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    node.metadata.labels.get(key).map(String::as_str)
}

fn pool(node: &Node) -> Option<&str> {
    POOLS.into_iter().find_map(|key| label(node, key))
}

/// The sentences, one for each code; each is added to the causes it is about, too.
pub fn correlate(subject: &Subject, nodes: &mut [NodeReport]) -> Vec<String> {
    let mut failing: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
    for node in nodes.iter() {
        for cause in node.causes.iter().filter(|c| c.severity == Severity::Error && is_of_pods(c.stage, c.code)) {
            failing.entry(cause.code).or_default().insert(node.name.clone());
        }
    }
    let healthy: BTreeSet<String> = nodes.iter().filter(|n| is_healthy(n)).map(|n| n.name.clone()).collect();
    let mut sentences = Vec::new();
    for (code, failing) in failing {
        let Some(found) = common(subject, &failing, &healthy) else { continue };
        sentences.push(format!("{code}: {found}"));
        for node in nodes.iter_mut().filter(|n| failing.contains(&n.name)) {
            for cause in node.causes.iter_mut().filter(|c| c.code == code) {
                cause.message = format!("{}; {found}", cause.message);
            }
        }
    }
    sentences
}

/// Causes that may lie in the node or in the release, and do not name the culprit already.
fn is_of_pods(stage: Stage, code: &str) -> bool {
    matches!(stage, Stage::Kubelet | Stage::Running) && !matches!(code, "NodeGone" | "NodeNotReady" | "Terminating" | "MinReadySeconds")
}

fn is_healthy(node: &NodeReport) -> bool {
    node.state == State::Healthy || (node.state == State::Outdated && node.causes.iter().all(|c| c.code == super::old_revision::ENTRY.code))
}

fn common(subject: &Subject, failing: &BTreeSet<String>, healthy: &BTreeSet<String>) -> Option<String> {
    if healthy.is_empty() {
        return None;
    }
    let of =
        |names: &BTreeSet<String>| -> Vec<&Node> { subject.nodes.iter().map(|i| i.node).filter(|n| names.contains(n.name())).collect() };
    let (bad, good) = (of(failing), of(healthy));
    let mut shared: Vec<String> = Vec::new();
    for t in TRAITS.iter().filter(|t| t.strong || failing.len() > 1) {
        if let Some(value) = only(&bad, &good, t.value) {
            shared.push(format!("{} {value} ({})", t.noun, t.field));
        }
    }
    // The first two say it; the rest mostly follows from them.
    shared.truncate(2);
    let revision = only_revision(subject, failing, healthy);
    let pods = if failing.len() == 1 { "the failing pod is".to_string() } else { format!("all {} failing pods are", failing.len()) };
    let none =
        if healthy.len() == 1 { "the healthy one is not".to_string() } else { format!("none of the {} healthy ones is", healthy.len()) };
    match (revision, shared.is_empty()) {
        (Some(revision), true) => Some(format!("{pods} of revision {revision}, {none}: suspect the release")),
        (Some(revision), false) => {
            Some(format!("{pods} of revision {revision} and on nodes with {}, {none}: the release or these nodes", shared.join(" and ")))
        }
        (None, false) => Some(format!("{pods} on nodes with {}, {none}: suspect these nodes, not the release", shared.join(" and "))),
        (None, true) => None,
    }
}

/// The value that every failing node has and no healthy one.
fn only<'a>(bad: &[&'a Node], good: &[&Node], value: fn(&Node) -> Option<&str>) -> Option<&'a str> {
    let first = value(bad.first()?)?;
    let shared = bad.iter().all(|n| value(n) == Some(first)) && good.iter().all(|n| value(n).is_some_and(|v| v != first));
    shared.then_some(first)
}

/// The revision (its number, or else its hash) that the pods of all failing nodes are of and those
/// of no healthy node.
fn only_revision(subject: &Subject, failing: &BTreeSet<String>, healthy: &BTreeSet<String>) -> Option<String> {
    let hashes = |names: &BTreeSet<String>| -> Option<BTreeSet<&str>> {
        let pods = names.iter().map(|n| subject.pods.get(n.as_str()).map(Vec::as_slice).unwrap_or_default());
        // The pod that fails is the newest, the one that serves is the oldest.
        pods.map(|p| p.iter().max_by_key(|p| p.metadata.creation_timestamp)?.metadata.labels.get(HASH_LABEL).map(String::as_str)).collect()
    };
    let (bad, good) = (hashes(failing)?, hashes(healthy)?);
    let hash = bad.first().filter(|h| bad.len() == 1 && !good.contains(*h))?;
    Some(revision::number(subject, hash).map_or_else(|| (*hash).to_string(), |n| n.to_string()))
}

#[cfg(test)]
mod tests {
    use crate::diagnose::{Options, diagnose};
    use crate::model::snapshot::Snapshot;
    use serde_json::{Value, json};

    /// Nodes as (architecture, pool, revision, crashes).
    fn correlations(nodes: &[(&str, &str, i64, bool)]) -> Vec<String> {
        let owner = json!([{"kind": "DaemonSet", "name": "ds", "uid": "u", "controller": true}]);
        let mut snapshot = Snapshot::default();
        let mut pods: Vec<Value> = Vec::new();
        for (i, (arch, pool, revision, crashes)) in nodes.iter().enumerate() {
            let node = json!({"metadata": {"name": format!("n{i}"), "labels": {"agentpool": pool}}, "status": {"nodeInfo": {"architecture": arch}}});
            snapshot.objects.nodes.items.push(serde_json::from_value(node).unwrap());
            let container = if *crashes {
                json!({"name": "c", "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 1}}})
            } else {
                json!({"name": "c", "ready": true, "state": {"running": {}}})
            };
            pods.push(json!({"metadata": {"name": format!("p{i}"), "namespace": "ns", "ownerReferences": owner,
                    "labels": {"controller-revision-hash": format!("h{revision}")}},
                "spec": {"nodeName": format!("n{i}")},
                "status": {"phase": "Running", "containerStatuses": [container],
                    "conditions": [{"type": "Ready", "status": if *crashes { "False" } else { "True" }}]}}));
        }
        snapshot.objects.pods.items = pods.into_iter().map(|p| serde_json::from_value(p).unwrap()).collect();
        for n in 1..=2 {
            let revision = json!({"metadata": {"name": format!("r{n}"), "namespace": "ns", "ownerReferences": owner,
                "labels": {"controller-revision-hash": format!("h{n}")}}, "revision": n});
            snapshot.objects.controller_revisions.items.push(serde_json::from_value(revision).unwrap());
        }
        let ds = serde_json::from_value(json!({"metadata": {"name": "ds", "namespace": "ns", "uid": "u"}})).unwrap();
        let report = diagnose(&snapshot, &ds, &Options::default());
        let said: Vec<&str> = report.correlations.iter().map(|c| c.split_once(": ").unwrap().1).collect();
        for cause in report.nodes.iter().flat_map(|n| &n.causes).filter(|c| c.code == "CrashLoop") {
            assert!(said.iter().all(|s| cause.message.ends_with(s)), "{}", cause.message);
        }
        report.correlations
    }

    #[test]
    fn bad_nodes_are_told_from_a_bad_release() {
        let arm = "CrashLoop: all 2 failing pods are on nodes with architecture arm64 (status.nodeInfo.architecture), \
                   the healthy one is not: suspect these nodes, not the release";
        let release = "CrashLoop: all 2 failing pods are of revision 2, none of the 2 healthy ones is: suspect the release";
        let pool = "CrashLoop: all 2 failing pods are on nodes with node pool gpu (metadata.labels), \
                    none of the 2 healthy ones is: suspect these nodes, not the release";
        let one = "CrashLoop: the failing pod is on nodes with architecture arm64 (status.nodeInfo.architecture), \
                   the healthy one is not: suspect these nodes, not the release";
        for (nodes, want) in [
            (vec![("arm64", "a", 2, true), ("arm64", "a", 2, true), ("amd64", "a", 2, false)], vec![arm]),
            (vec![("amd64", "a", 2, true), ("amd64", "b", 2, true), ("amd64", "a", 1, false), ("amd64", "b", 1, false)], vec![release]),
            (vec![("amd64", "gpu", 2, true), ("amd64", "gpu", 2, true), ("amd64", "a", 2, false), ("amd64", "b", 2, false)], vec![pool]),
            (vec![("arm64", "gpu", 2, true), ("amd64", "a", 2, false)], vec![one]),
            (vec![("amd64", "gpu", 2, true), ("amd64", "a", 2, false)], vec![]),
            (vec![("amd64", "a", 2, true), ("amd64", "b", 2, true)], vec![]),
        ] {
            assert_eq!(correlations(&nodes), want);
        }
    }
}
