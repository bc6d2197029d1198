//! Properties that hold whatever upstream says, tried on clusters of the corpus.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use ds_doctor::diagnose::{Options, diagnose};
use ds_doctor::filter::PLUGINS;
use ds_doctor::model::quantity::Quantity;
use ds_doctor::model::snapshot::Snapshot;
use ds_doctor::render;
use ds_doctor::report::{CheckVerdict, Report};
use proptest::prelude::*;
use serde_json::{Value, json};

/// How many clusters of each file are drawn from.
const CASES: usize = 120;

fn corpus() -> &'static [Value] {
    static CORPUS: OnceLock<Vec<Value>> = OnceLock::new();
    CORPUS.get_or_init(|| support::corpora().iter().flat_map(|file| support::cases(file).take(CASES).collect::<Vec<_>>()).collect())
}

/// A cluster that can be changed.
struct Cluster {
    objects: Vec<Value>,
    version: String,
    daemon_set: (String, String),
}

impl Cluster {
    fn draw(index: prop::sample::Index) -> Cluster {
        let case = index.get(corpus());
        let (namespace, name) = case["daemonset"].as_str().unwrap().split_once('/').unwrap();
        Cluster {
            objects: case["objects"].as_array().unwrap().clone(),
            version: case["upstream"].as_str().unwrap().to_string(),
            daemon_set: (namespace.to_string(), name.to_string()),
        }
    }

    fn of_kind(&mut self, kind: &str) -> impl Iterator<Item = &mut Value> {
        self.objects.iter_mut().filter(move |o| o["kind"] == kind)
    }

    fn snapshot(&self) -> Snapshot {
        support::snapshot(&self.objects, &self.version)
    }

    fn report(&self) -> Report {
        let snapshot = self.snapshot();
        diagnose(&snapshot, snapshot.daemon_set(&self.daemon_set.0, &self.daemon_set.1).unwrap(), &Options::default())
    }

    /// By node: whether the controller wants it, and the plugins that refuse it.
    fn verdicts(&self) -> BTreeMap<String, (bool, Vec<&'static str>)> {
        let report = self.report();
        report
            .nodes
            .iter()
            .map(|n| {
                let failed = n.checks.iter().filter(|c| c.verdict == CheckVerdict::Fail).map(|c| c.plugin).collect();
                (n.name.clone(), (n.should_run == Some(true), failed))
            })
            .collect()
    }
}

/// Fails if a node that was wanted is not wanted any more, or if a plugin that did not refuse a node does now.
fn nothing_is_lost(before: &Cluster, after: &Cluster, but: &[&str]) -> Result<(), TestCaseError> {
    let (old, new) = (before.verdicts(), after.verdicts());
    for (node, (wanted, failed)) in &old {
        let (still, now) = &new[node];
        prop_assert!(!wanted || *still, "{node} is not wanted any more");
        let added: Vec<_> = now.iter().filter(|p| !failed.contains(p) && !but.contains(p)).collect();
        prop_assert!(added.is_empty(), "{node} is now refused by {added:?}");
    }
    Ok(())
}

fn toleration() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec!["dedicated", "spot", "kata", "example.com/sla", "node.kubernetes.io/not-ready", "nvidia.com/gpu"]);
    let effect = prop::sample::select(vec!["", "NoSchedule", "NoExecute", "PreferNoSchedule"]);
    let value = prop::sample::select(vec!["", "true", "gpu", "infra", "950"]);
    prop_oneof![
        Just(json!({"operator": "Exists"})),
        (key.clone(), effect.clone()).prop_map(|(k, e)| json!({"key": k, "operator": "Exists", "effect": e})),
        (key, value, effect).prop_map(|(k, v, e)| json!({"key": k, "operator": "Equal", "value": v, "effect": e})),
    ]
}

fn quantity(value: &Value) -> Quantity {
    serde_json::from_value(value.clone()).unwrap()
}

/// The properties are tried on clusters in which every filter refuses something: upstream's verdicts say so.
#[test]
fn every_filter_has_something_to_refuse() {
    let mut refusing = BTreeSet::new();
    for case in corpus() {
        let nodes = case["verdicts"]["nodes"].as_array().unwrap();
        refusing.extend(nodes.iter().filter_map(|n| n["fresh"]["plugins"].as_object()).flat_map(|p| p.keys().map(String::as_str)));
    }
    // The controller tolerates a cordon for every DaemonSet's pod.
    let silent: Vec<_> = PLUGINS.iter().map(|p| p.name).filter(|p| !refusing.contains(p)).collect();
    assert_eq!(silent, ["NodeUnschedulable"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Of the filters only PodTopologySpread may turn against the pod: with `nodeTaintsPolicy: Honor` a tolerated node is a
    /// domain more, and an empty one lowers the minimum.
    #[test]
    fn one_more_toleration_never_loses_a_node(index: prop::sample::Index, mut toleration in toleration(), which: prop::sample::Index) {
        let (before, mut after) = (Cluster::draw(index), Cluster::draw(index));
        // One for a key that is tolerated already tells most.
        let tolerated: Vec<Value> = after.of_kind("DaemonSet")
            .filter_map(|d| d["spec"]["template"]["spec"]["tolerations"].as_array()).flatten().map(|t| t["key"].clone()).filter(Value::is_string).collect();
        if toleration["key"].is_string() && !tolerated.is_empty() {
            toleration["key"] = tolerated[which.index(tolerated.len())].clone();
        }
        let (namespace, name) = after.daemon_set.clone();
        for ds in after.of_kind("DaemonSet").filter(|d| d["metadata"]["namespace"] == namespace && d["metadata"]["name"] == name) {
            let spec = &mut ds["spec"]["template"]["spec"];
            match spec["tolerations"].as_array_mut() {
                Some(list) => list.push(toleration.clone()),
                None => spec["tolerations"] = json!([toleration]),
            }
        }
        nothing_is_lost(&before, &after, &["PodTopologySpread"])?;
    }

    /// Twice the allocatable of every resource on one node. A node that advertises a resource itself takes it from
    /// DynamicResources, so a zero stays a zero.
    #[test]
    fn more_allocatable_never_loses_a_node(index: prop::sample::Index, which: prop::sample::Index) {
        let (before, mut after) = (Cluster::draw(index), Cluster::draw(index));
        let count = after.of_kind("Node").count();
        let node = after.of_kind("Node").nth(which.index(count)).unwrap();
        for list in ["allocatable", "capacity"] {
            let Some(resources) = node["status"][list].as_object_mut() else { continue };
            for amount in resources.values_mut() {
                *amount = json!((quantity(amount).value().max(0) * 2).to_string());
            }
        }
        nothing_is_lost(&before, &after, &[])?;
    }

    /// A pod of somebody else that goes frees ports and resources and takes none.
    #[test]
    fn a_pod_less_takes_no_ports_and_no_resources(index: prop::sample::Index, which: prop::sample::Index) {
        let (before, mut after) = (Cluster::draw(index), Cluster::draw(index));
        let others: Vec<usize> = after.objects.iter().enumerate()
            .filter(|(_, o)| o["kind"] == "Pod" && o["metadata"]["ownerReferences"].is_null()).map(|(i, _)| i).collect();
        prop_assume!(!others.is_empty());
        after.objects.remove(others[which.index(others.len())]);
        let all_others = ["TaintToleration", "NodeAffinity", "InterPodAffinity", "PodTopologySpread", "VolumeRestrictions", "VolumeBinding",
            "VolumeZone", "NodeVolumeLimits", "DynamicResources", "NodeName", "NodeUnschedulable", "NodeDeclaredFeatures"];
        nothing_is_lost(&before, &after, &all_others)?;
    }

    /// The order in which objects come says nothing.
    #[test]
    fn the_report_does_not_depend_on_the_order_of_the_input(index: prop::sample::Index, order in any::<u64>()) {
        let (before, mut after) = (Cluster::draw(index), Cluster::draw(index));
        let key = |o: &Value| {
            use std::hash::{DefaultHasher, Hash, Hasher};
            let mut h = DefaultHasher::new();
            (order, o["kind"].as_str(), o["metadata"]["namespace"].as_str(), o["metadata"]["name"].as_str()).hash(&mut h);
            h.finish()
        };
        after.objects.sort_by_key(key);
        let text = |c: &Cluster| {
            let mut out = Vec::new();
            render::json::render(&mut out, &[c.report()], false).unwrap();
            String::from_utf8(out).unwrap()
        };
        prop_assert_eq!(text(&before), text(&after));
    }
}
