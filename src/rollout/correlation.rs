//! "Bad node or bad release": what the failing pods have in common and the healthy ones do not.

use std::collections::{BTreeMap, BTreeSet};

use super::revision;
use crate::cause::{Cause, Evidence, Severity, Stage};
use crate::controller::ownership::HASH_LABEL;
use crate::diagnose::Subject;
use crate::lifecycle::{image_pull, node_not_ready};
use crate::model::node::Node;
use crate::report::{NodeReport, State};

/// One value that a node or its pod has: what it is called, and the field it stands in.
struct Trait {
    /// `architecture`, `node pool`.
    noun: &'static str,
    /// What joins it to the pods that are there: `on`, `in`.
    place: &'static str,
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
        place: "on",
        field: "status.nodeInfo.operatingSystem",
        strong: true,
        value: |n| text(&n.status.node_info.operating_system),
    },
    Trait {
        noun: "architecture",
        place: "on",
        field: "status.nodeInfo.architecture",
        strong: true,
        value: |n| text(&n.status.node_info.architecture),
    },
    Trait {
        noun: "zone",
        place: "in",
        field: "metadata.labels[topology.kubernetes.io/zone]",
        strong: false,
        value: |n| label(n, "topology.kubernetes.io/zone"),
    },
    Trait { noun: "node pool", place: "in", field: "metadata.labels", strong: false, value: pool },
    Trait {
        noun: "instance type",
        place: "on",
        field: "metadata.labels[node.kubernetes.io/instance-type]",
        strong: false,
        value: |n| label(n, "node.kubernetes.io/instance-type"),
    },
    Trait {
        noun: "kubelet version",
        place: "on",
        field: "status.nodeInfo.kubeletVersion",
        strong: false,
        value: |n| text(&n.status.node_info.kubelet_version),
    },
    Trait {
        noun: "container runtime",
        place: "on",
        field: "status.nodeInfo.containerRuntimeVersion",
        strong: false,
        value: |n| text(&n.status.node_info.container_runtime_version),
    },
    Trait {
        noun: "kernel",
        place: "on",
        field: "status.nodeInfo.kernelVersion",
        strong: false,
        value: |n| text(&n.status.node_info.kernel_version),
    },
    Trait { noun: "OS image", place: "on", field: "status.nodeInfo.osImage", strong: false, value: |n| text(&n.status.node_info.os_image) },
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

/// The sentences, one for each code; the facts are added to the evidence of the causes.
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
        let image = nodes.iter().flat_map(|n| &n.causes).filter(|c| c.code == code).all(may_be_the_image);
        let Some(found) = common(subject, code, &failing, &healthy, image) else { continue };
        sentences.push(format!("{code}: {}", found.sentence));
        let known: BTreeMap<&str, &Node> = subject.nodes.iter().map(|i| (i.node.name(), i.node)).collect();
        for node in nodes.iter_mut().filter(|n| failing.contains(&n.name)) {
            let Some(known) = known.get(node.name.as_str()) else { continue };
            for cause in node.causes.iter_mut().filter(|c| c.code == code) {
                cause.evidence.extend(found.facts(known));
            }
        }
    }
    sentences
}

/// Causes that may lie in the node or in the release, and do not name the culprit already; of nodes that are not
/// ready it is asked what they share.
fn is_of_pods(stage: Stage, code: &str) -> bool {
    matches!(stage, Stage::Kubelet | Stage::Running) && !matches!(code, "NodeGone" | "Terminating" | "MinReadySeconds")
}

/// True if the cause may come of an image for another processor or system.
fn may_be_the_image(cause: &Cause) -> bool {
    match cause.code {
        "CrashLoop" | "ContainerCreateError" => true,
        "ImagePull" => cause.message.contains(image_pull::NO_VARIANT),
        _ => false,
    }
}

fn is_healthy(node: &NodeReport) -> bool {
    node.state == State::Healthy || (node.state == State::Outdated && node.causes.iter().all(|c| c.code == super::old_revision::ENTRY.code))
}

/// What is common.
struct Common {
    sentence: String,
    traits: Vec<&'static Trait>,
}

impl Common {
    fn facts(&self, node: &Node) -> Vec<Evidence> {
        let object = format!("Node/{}", node.name());
        self.traits.iter().filter_map(|t| Some(Evidence::new(&object, t.field, (t.value)(node)?))).collect()
    }
}

fn common(subject: &Subject, code: &str, failing: &BTreeSet<String>, healthy: &BTreeSet<String>, image: bool) -> Option<Common> {
    if healthy.is_empty() {
        return None;
    }
    let of =
        |names: &BTreeSet<String>| -> Vec<&Node> { subject.nodes.iter().map(|i| i.node).filter(|n| names.contains(n.name())).collect() };
    let (bad, good) = (of(failing), of(healthy));
    let all = TRAITS.iter().filter(|t| (t.strong && code != node_not_ready::ENTRY.code) || failing.len() > 1);
    // The first two say it; the rest mostly follows from them.
    let shared: Vec<(&Trait, &str)> = all.filter_map(|t| Some((t, only(&bad, &good, t.value)?))).take(2).collect();
    let values: Vec<String> = shared.iter().map(|(t, value)| format!("{} {} {value}", t.place, t.noun)).collect();
    let values = values.join(" and ");
    let none = match healthy.len() {
        1 => "the healthy one is not".to_string(),
        n => format!("the {n} healthy ones are not"),
    };
    if code == node_not_ready::ENTRY.code {
        let nodes = if failing.len() == 2 { "both nodes are".to_string() } else { format!("all {} nodes are", failing.len()) };
        return (!shared.is_empty()).then(|| Common {
            sentence: format!("{nodes} {values}, {none}: suspect what they share"),
            traits: shared.into_iter().map(|(t, _)| t).collect(),
        });
    }
    let revision = only_revision(subject, failing, healthy);
    let pods = match failing.len() {
        1 => "the failing pod is".to_string(),
        2 => "both failing pods are".to_string(),
        n => format!("all {n} failing pods are"),
    };
    let sentence = match (revision, shared.first()) {
        (Some(revision), None) => format!("{pods} of revision {revision}, {none}: suspect the release"),
        (Some(revision), Some(_)) => format!("{pods} of revision {revision} and {values}, {none}: suspect the release or these nodes"),
        (None, Some((t, _))) if t.strong && image => format!("{pods} {values}, {none}: suspect that the image is not built for it"),
        (None, Some(_)) if failing.len() == 1 => format!("{pods} {values}, {none}: suspect this node, not the release"),
        (None, Some(_)) => format!("{pods} {values}, {none}: suspect these nodes, not the release"),
        (None, None) => return None,
    };
    Some(Common { sentence, traits: shared.into_iter().map(|(t, _)| t).collect() })
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
        let arm = report.correlations.iter().any(|c| c.contains("arm64"));
        let facts = report.nodes.iter().flat_map(|n| &n.causes).flat_map(|c| &c.evidence);
        assert_eq!(arm, facts.into_iter().any(|e| e.field == "status.nodeInfo.architecture" && e.value == "arm64"));
        report.correlations
    }

    #[test]
    fn nodes_that_are_down_may_share_something() {
        let mut snapshot = Snapshot::default();
        for (i, (zone, ready)) in [("a", "Unknown"), ("a", "Unknown"), ("b", "True"), ("c", "True")].into_iter().enumerate() {
            let node = json!({"metadata": {"name": format!("n{i}"), "labels": {"topology.kubernetes.io/zone": zone}},
                "status": {"conditions": [{"type": "Ready", "status": ready}]}});
            snapshot.objects.nodes.items.push(serde_json::from_value(node).unwrap());
            let pod = json!({"metadata": {"name": format!("p{i}"), "namespace": "ns",
                    "ownerReferences": [{"kind": "DaemonSet", "name": "ds", "uid": "u", "controller": true}]},
                "spec": {"nodeName": format!("n{i}")},
                "status": {"phase": "Running", "startTime": "2026-11-30T10:00:00Z", "conditions": [{"type": "Ready", "status": ready}]}});
            snapshot.objects.pods.items.push(serde_json::from_value(pod).unwrap());
        }
        let ds = serde_json::from_value(json!({"metadata": {"name": "ds", "namespace": "ns", "uid": "u"}})).unwrap();
        assert_eq!(
            diagnose(&snapshot, &ds, &Options::default()).correlations,
            ["NodeNotReady: both nodes are in zone a, the 2 healthy ones are not: suspect what they share"]
        );
    }

    #[test]
    fn few_causes_may_lie_in_the_image() {
        use super::may_be_the_image;
        use crate::cause::Cause;
        use crate::lifecycle::{crash_loop, image_pull, not_ready};
        for (entry, message, want) in [
            (&crash_loop::ENTRY, "exited with 1", true),
            (&not_ready::ENTRY, "its readiness probe failed", false),
            (&image_pull::ENTRY, "cannot be pulled: it has no variant for linux/arm64", true),
            (&image_pull::ENTRY, "cannot be pulled: the registry cannot be reached", false),
        ] {
            assert_eq!(may_be_the_image(&Cause::new(entry, "", message)), want, "{message}");
        }
    }

    #[test]
    fn bad_nodes_are_told_from_a_bad_release() {
        let arm =
            "CrashLoop: both failing pods are on architecture arm64, the healthy one is not: suspect that the image is not built for it";
        let release = "CrashLoop: both failing pods are of revision 2, the 2 healthy ones are not: suspect the release";
        let pool = "CrashLoop: both failing pods are in node pool gpu, the 2 healthy ones are not: suspect these nodes, not the release";
        let one = "CrashLoop: the failing pod is on architecture arm64, the healthy one is not: suspect that the image is not built for it";
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
