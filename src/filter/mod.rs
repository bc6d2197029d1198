//! The scheduler's filters, one plugin a file, in upstream's default order.
//!
//! Upstream: `getDefaultPlugins` of `pkg/scheduler/apis/config/v1/default_plugins.go` (v1.37.2).
//! A plugin does what is the same for every node once (upstream: PreFilter) and gives back the
//! function that judges a node (upstream: Filter). Each runs on every node, whatever others said.

use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::cause::{Entry, Evidence, Fact};
use crate::model::daemon_pod::{HASH_LABEL, NO_HASH};
use crate::model::daemon_set::DaemonSet;
use crate::model::node_info::NodeInfo;
use crate::model::object::Labels;
use crate::model::pod::{Pod, PodResourceClaimStatus, PodSpec};
use crate::model::snapshot::Snapshot;
use crate::model::version::Features;

pub mod dynamic_resources;
pub mod inter_pod_affinity;
pub mod node_affinity;
pub mod node_declared_features;
pub mod node_name;
pub mod node_ports;
pub mod node_resources_fit;
pub mod node_unschedulable;
pub mod node_volume_limits;
pub mod pod_topology_spread;
pub mod taint_toleration;
pub mod volume_binding;
pub mod volume_restrictions;
pub mod volume_zone;

/// What is judged, and in which cluster.
pub struct Cycle<'a> {
    /// The cluster.
    pub snapshot: &'a Snapshot,
    /// What the server's version has switched on.
    pub features: Features,
    /// The DaemonSet whose pod it is.
    pub daemon_set: &'a DaemonSet,
    /// The pod's namespace.
    pub namespace: &'a str,
    /// The pod's name; of a pod that is not made yet, `NAME-xxxxx`.
    pub pod_name: &'a str,
    /// The pod's uid; empty for a pod that is not made yet.
    pub pod_uid: &'a str,
    /// The claims that were made for the pod from templates.
    pub claim_statuses: &'a [PodResourceClaimStatus],
    /// The pod's labels.
    pub labels: &'a Labels,
    /// The pod's spec.
    pub spec: &'a PodSpec,
    /// The live pod that is judged as it is; `None` for a pod to be, pinned to each judged node.
    pub pod: Option<&'a Pod>,
    /// Every node as it is, with all pods on it.
    pub nodes: &'a [NodeInfo<'a>],
    /// Node selector entries that admission added to the spec: key, value, by whom.
    pub added_selector: &'a [(String, String, String)],
    /// What was counted over the whole cluster for another pod of the DaemonSet.
    pub memo: &'a Memo,
}

impl<'a> Cycle<'a> {
    /// True if the DaemonSet owns the pod.
    pub fn owns(&self, pod: &Pod) -> bool {
        crate::controller::ownership::owns(self.daemon_set, pod)
    }

    /// True if the current revision's hash, a label of the pod to be, is not known because the
    /// revisions were not read.
    pub fn hash_is_not_read(&self) -> bool {
        let hash = self.labels.get(HASH_LABEL);
        hash.is_some_and(|h| h == NO_HASH) && !self.snapshot.controller_revisions.is_complete()
    }

    /// The node as it is, with all pods on it.
    pub fn as_is(&self, node: &str) -> Option<&'a NodeInfo<'a>> {
        let index: Arc<HashMap<String, usize>> =
            self.memo.get("nodes by name", || self.nodes.iter().enumerate().map(|(i, info)| (info.node.name().to_string(), i)).collect());
        index.get(node).and_then(|i| self.nodes.get(*i))
    }
}

/// Counts over the whole cluster, by what was counted. The pods of a DaemonSet have their terms
/// and labels in common, so each count is taken once, not once per pod.
#[derive(Default)]
pub struct Memo(Mutex<HashMap<String, Arc<dyn Any + Send + Sync>>>);

impl Memo {
    /// What is remembered under `key`, which has to name the type, too; counted now if it is new.
    pub fn get<T: Send + Sync + 'static>(&self, key: &str, count: impl FnOnce() -> T) -> Arc<T> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        if let Some(known) = known.and_then(|k| k.downcast::<T>().ok()) {
            return known;
        }
        let counted = Arc::new(count());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_string(), counted.clone());
        counted
    }
}

/// Judges one node. The [`NodeInfo`] is the node as the pod would find it: for a pod to be, the
/// DaemonSet's own pods are taken off this node (not off the others).
pub type Filter<'a> = Box<dyn Fn(&NodeInfo<'a>, Want) -> Verdict + Send + Sync + 'a>;

/// What is wanted of a filter beside the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Nothing: a failure may come without findings, whose text costs more than the verdict.
    Verdict,
    /// What exactly refuses.
    Findings,
}

impl Want {
    /// The findings, if they are wanted.
    pub fn findings(self, make: impl FnOnce() -> Vec<Finding>) -> Vec<Finding> {
        if self == Want::Findings { make() } else { Vec::new() }
    }
}

/// What a plugin says of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The pod may run there, as far as this plugin goes.
    Pass,
    /// The pod may not run there.
    Fail(Failure),
    /// What is needed to judge is not known; says what.
    Unknown(String),
}

/// Why a plugin refuses a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failure {
    /// Upstream's exact words for the server's version.
    pub reasons: Vec<Cow<'static, str>>,
    /// True if removing pods from the node cannot help (upstream: UnschedulableAndUnresolvable).
    pub unresolvable: bool,
    /// What exactly refuses; at least one, if they were wanted.
    pub findings: Vec<Finding>,
}

/// One thing that refuses; becomes a cause with the plugin's code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// The cause's detail.
    pub detail: String,
    /// One sentence.
    pub message: String,
    /// The facts.
    pub evidence: Vec<Evidence>,
    /// The typed core.
    pub fact: Fact,
}

impl Verdict {
    /// A pass, if the pods on the node are all known.
    pub fn pass_if_pods_known(info: &NodeInfo) -> Verdict {
        if info.pods_known { Verdict::Pass } else { Verdict::Unknown("the pods on the node were not read".into()) }
    }

    /// A refusal for one reason with one finding.
    pub fn fail(reason: &'static str, unresolvable: bool, finding: Finding) -> Verdict {
        Verdict::Fail(Failure { reasons: vec![reason.into()], unresolvable, findings: vec![finding] })
    }
}

impl<'a> From<Verdict> for Filter<'a> {
    /// The same verdict for every node.
    fn from(verdict: Verdict) -> Self {
        Box::new(move |_, _| verdict.clone())
    }
}

/// A plugin of the registry.
pub struct Plugin {
    /// Upstream's name, and the code of its causes.
    pub name: &'static str,
    /// Its page.
    pub entry: &'static Entry,
    /// Upstream's PreFilter.
    pub prefilter: for<'a> fn(&'a Cycle<'a>) -> Filter<'a>,
}

/// The registry, in upstream's default order.
pub static PLUGINS: &[Plugin] = &[
    node_unschedulable::PLUGIN,
    node_name::PLUGIN,
    taint_toleration::PLUGIN,
    node_affinity::PLUGIN,
    node_ports::PLUGIN,
    node_resources_fit::PLUGIN,
    volume_restrictions::PLUGIN,
    node_volume_limits::PLUGIN,
    volume_binding::PLUGIN,
    volume_zone::PLUGIN,
    pod_topology_spread::PLUGIN,
    inter_pod_affinity::PLUGIN,
    dynamic_resources::PLUGIN,
    node_declared_features::PLUGIN,
];

/// The filters of [`PLUGINS`], in their order, for one pod.
pub fn filters_of<'a>(cycle: &'a Cycle<'a>) -> Vec<Filter<'a>> {
    PLUGINS.iter().map(|p| (p.prefilter)(cycle)).collect()
}

/// Small clusters for the checks' tests, a line an object.
#[cfg(test)]
pub(crate) mod world {
    use serde_json::{Value, json};

    use crate::diagnose::{Options, diagnose};
    use crate::model::snapshot::Snapshot;
    use crate::report::{CheckVerdict, Report};

    fn labels(text: &str) -> Value {
        text.split(',').filter_map(|l| l.split_once('=')).map(|(k, v)| (k.to_string(), v.into())).collect::<serde_json::Map<_, _>>().into()
    }

    /// DaemonSet `default/ds` with this template spec; its pods have the label `app=ds`.
    /// `nodes`: `name labels`. `pods`: `namespace/name labels node priority`; the controller of
    /// those named `ds-*` is the DaemonSet.
    pub fn world(spec: Value, nodes: &[&str], pods: &[&str]) -> Snapshot {
        let mut snapshot = Snapshot::default();
        let template = json!({"metadata": {"labels": {"app": "ds"}}, "spec": spec});
        let ds = json!({"metadata": {"name": "ds", "namespace": "default", "uid": "u"}, "spec": {"template": template}});
        snapshot.objects.daemon_sets.items.push(serde_json::from_value(ds).unwrap());
        for line in nodes {
            let (name, own) = line.split_once(' ').unwrap_or((line, ""));
            let status = json!({"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "10"}});
            let node = json!({"metadata": {"name": name, "labels": labels(own)}, "status": status});
            snapshot.objects.nodes.items.push(serde_json::from_value(node).unwrap());
        }
        for line in pods {
            let mut words = line.split(' ');
            let (namespace, name) = words.next().unwrap().split_once('/').unwrap();
            let (own, node) = (labels(words.next().unwrap_or_default()), words.next().unwrap_or_default());
            let priority: i32 = words.next().unwrap_or("0").parse().unwrap();
            let owner = if name.starts_with("ds-") {
                json!([{"kind": "DaemonSet", "name": "ds", "uid": "u", "controller": true}])
            } else {
                json!([])
            };
            let meta = json!({"name": name, "namespace": namespace, "labels": own, "ownerReferences": owner});
            let containers = json!([{"name": "c", "resources": {"requests": {"cpu": "400m"}}}]);
            let pod = json!({"metadata": meta, "spec": {"nodeName": node, "priority": priority, "containers": containers}, "status": {"phase": "Running"}});
            snapshot.objects.pods.items.push(serde_json::from_value(pod).unwrap());
        }
        snapshot
    }

    /// The report on `default/ds`.
    pub fn report(snapshot: &Snapshot) -> Report {
        diagnose(snapshot, &snapshot.daemon_sets[0], &Options::default())
    }

    /// What the plugin says of each node to the pod to be: `+`, `?` or upstream's reason.
    pub fn verdicts(snapshot: &Snapshot, plugin: &str) -> Vec<String> {
        let said = |node: &crate::report::NodeReport| {
            let check = node.checks.iter().find(|c| c.plugin == plugin).unwrap();
            match check.verdict {
                CheckVerdict::Pass => "+".to_string(),
                CheckVerdict::Unknown => "?".to_string(),
                CheckVerdict::Fail => check.reasons.join(", "),
            }
        };
        report(snapshot).nodes.iter().map(said).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Upstream's default filter plugins, in order.
    const UPSTREAM: &[&str] = &[
        "NodeUnschedulable",
        "NodeName",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "NodeVolumeLimits",
        "VolumeBinding",
        "VolumeZone",
        "PodTopologySpread",
        "InterPodAffinity",
        "DynamicResources",
        "NodeDeclaredFeatures",
    ];

    #[test]
    fn the_registry_is_in_upstreams_order_and_named_as_its_entries() {
        let names: Vec<&str> = PLUGINS.iter().map(|p| p.name).collect();
        let order: Vec<&str> = UPSTREAM.iter().copied().filter(|n| names.contains(n)).collect();
        assert_eq!(names, order);
        assert!(PLUGINS.iter().all(|p| p.name == p.entry.code));
    }

    #[test]
    fn where_pods_were_not_read_nothing_is_said_to_fit() {
        use crate::diagnose::Subject;
        use crate::model::node::Node;
        use crate::model::snapshot::Listed;

        let ds: DaemonSet =
            serde_json::from_value(serde_json::json!({"metadata": {"name": "a"}, "spec": {"template": {"spec": {"containers": [
            {"ports": [{"hostPort": 80}], "resources": {"requests": {"cpu": "1"}}}]}}}}))
            .unwrap();
        let node: Node =
            serde_json::from_value(serde_json::json!({"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "2", "pods": "9"}}}))
                .unwrap();
        for (known, want) in [(None, Verdict::Pass), (Some([].into()), Verdict::Unknown("the pods on the node were not read".into()))] {
            let mut snapshot = Snapshot { pods_known_on: known, ..Snapshot::default() };
            snapshot.objects.nodes = Listed { items: vec![node.clone()], gap: None };
            let subject = Subject::new(&snapshot, &ds);
            let cycle = subject.fresh_cycle("a-xxxxx");
            for plugin in [node_ports::PLUGIN, node_resources_fit::PLUGIN] {
                assert_eq!((plugin.prefilter)(&cycle)(&subject.nodes[0], Want::Findings), want, "{}", plugin.name);
            }
        }
    }

    #[test]
    fn every_file_of_the_folder_is_in_the_registry() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/filter");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .filter_map(|f| f.strip_suffix(".rs").map(str::to_string))
            .filter(|f| f != "mod")
            .collect();
        files.sort();
        let mut names: Vec<String> = PLUGINS.iter().map(|p| snake_case(p.name)).collect();
        names.sort();
        assert_eq!(files, names);
    }

    fn snake_case(name: &str) -> String {
        let mut out = String::new();
        for c in name.chars() {
            if c.is_ascii_uppercase() && !out.is_empty() {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
        }
        out
    }
}
