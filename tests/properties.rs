//! Properties that hold whatever upstream says: laws of the answer, not answers.
//!
//! They are tried on three kinds of clusters: some of the labelled corpus, in which every filter refuses something; crowded ones,
//! made here so that host ports, requests and taints meet on nearly every node; and the recorded faults of `tests/cases`, which
//! have the events and remedies that the corpus lacks.
//!
//! Whether a law can find what it is there for was tried with faults put into the code by hand, each of which makes one of these
//! tests fail: ports forgotten where the number of pods is even, or beyond a node's third pod; of a pod's ports, or of those that are
//! wanted, only the first looked at; requests of the fourth pod of a node forgotten; the room of a large node forgotten; only the first or
//! the last toleration, or only the first taint, looked at; a toleration that hides the next one of its key; and, each of them alone, the order missing among
//! nodes, pods of a node, pods to evict, revisions, what takes most of a resource, and events of one moment.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;

use ds_doctor::diagnose::{Options, diagnose};
use ds_doctor::filter::PLUGINS;
use ds_doctor::model::quantity::Quantity;
use ds_doctor::model::snapshot::Snapshot;
use ds_doctor::model::time::Time;
use ds_doctor::render::{self, Style};
use ds_doctor::report::{CheckVerdict, Report};
use ds_doctor::source::files::{ReadOptions, read};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

/// How many clusters of each file are drawn from.
const CASES: usize = 120;

fn corpus() -> &'static [Value] {
    static CORPUS: OnceLock<Vec<Value>> = OnceLock::new();
    CORPUS.get_or_init(|| support::corpora().iter().flat_map(|file| support::cases(file).take(CASES).collect::<Vec<_>>()).collect())
}

/// A cluster that can be changed.
#[derive(Clone, Debug)]
struct Cluster {
    objects: Vec<Value>,
    version: String,
    now: Option<Time>,
    daemon_set: (String, String),
}

/// By node: whether the controller wants it, and what each plugin that refuses it says.
type Verdicts = BTreeMap<String, (bool, BTreeMap<&'static str, BTreeSet<String>>)>;

impl Cluster {
    fn draw(index: Index) -> Cluster {
        Cluster::of_case(index.get(corpus()))
    }

    fn of_case(case: &Value) -> Cluster {
        let (namespace, name) = case["daemonset"].as_str().unwrap().split_once('/').unwrap();
        Cluster {
            objects: case["objects"].as_array().unwrap().clone(),
            version: case["upstream"].as_str().unwrap().to_string(),
            now: None,
            daemon_set: (namespace.to_string(), name.to_string()),
        }
    }

    /// Nodes and pods of a crowd with the DaemonSet `default/agent` that has this pod.
    fn of(nodes: &[Value], pods: &[Value], spec: &Value) -> Cluster {
        let daemon_set = json!({"kind": "DaemonSet", "metadata": {"namespace": "default", "name": "agent", "uid": "agent"},
            "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}, "spec": spec}}});
        let important = json!({"kind": "PriorityClass", "metadata": {"name": "important"}, "value": 1000});
        Cluster {
            objects: nodes.iter().chain(pods).cloned().chain([daemon_set, important]).collect(),
            version: "v1.37.2".into(),
            now: None,
            daemon_set: ("default".into(), "agent".into()),
        }
    }

    fn of_kind(&mut self, kind: &str) -> impl Iterator<Item = &mut Value> {
        self.objects.iter_mut().filter(move |o| o["kind"] == kind)
    }

    fn the_daemon_set(&mut self) -> &mut Value {
        let (namespace, name) = self.daemon_set.clone();
        self.of_kind("DaemonSet").find(|d| d["metadata"]["namespace"] == namespace && d["metadata"]["name"] == name).unwrap()
    }

    fn snapshot(&self) -> Snapshot {
        let mut snapshot = support::snapshot(&self.objects, &self.version);
        snapshot.now = self.now.unwrap_or(snapshot.now);
        snapshot
    }

    fn report(&self) -> Report {
        let snapshot = self.snapshot();
        diagnose(&snapshot, snapshot.daemon_set(&self.daemon_set.0, &self.daemon_set.1).unwrap(), &Options::default())
    }

    fn verdicts(&self) -> Verdicts {
        let snapshot = self.snapshot();
        let options = Options { without_remedies: true, ..Options::default() };
        let report = diagnose(&snapshot, snapshot.daemon_set(&self.daemon_set.0, &self.daemon_set.1).unwrap(), &options);
        let verdict = |c: &ds_doctor::report::Check| (c.plugin, c.reasons.iter().map(|r| r.to_string()).collect());
        let of_node = |n: &ds_doctor::report::NodeReport| {
            let failed = n.checks.iter().filter(|c| c.verdict == CheckVerdict::Fail).map(verdict).collect();
            (n.name.clone(), (n.should_run == Some(true), failed))
        };
        report.nodes.iter().map(of_node).collect()
    }
}

/// Fails if a node that was wanted is not wanted any more, or if a plugin gives a reason against a node that it did not give.
fn nothing_is_lost(before: &Verdicts, after: &Verdicts, but: &[&str]) -> Result<(), TestCaseError> {
    for (node, (wanted, failed)) in before {
        let (still, now) = &after[node];
        prop_assert!(!wanted || *still, "{node} is not wanted any more");
        for (plugin, reasons) in now.iter().filter(|(plugin, _)| !but.contains(plugin)) {
            let had = failed.get(plugin).cloned().unwrap_or_default();
            prop_assert!(reasons.is_subset(&had), "{node} is now refused by {plugin}: {reasons:?}, was {had:?}");
        }
    }
    Ok(())
}

fn quantity(value: &Value) -> Quantity {
    serde_json::from_value(value.clone()).unwrap()
}

/// A small whole number's spelling.
fn amount(most: u32) -> impl Strategy<Value = Value> {
    (0..=most).prop_map(|n| json!(n.to_string()))
}

/// What a container of a crowd asks for; memory may be left out.
fn container() -> impl Strategy<Value = Value> {
    let port = (
        select(vec![80, 443, 9100]),
        select(vec!["TCP", "TCP", "UDP", "SCTP"]),
        select(vec!["", "0.0.0.0", "127.0.0.1", "10.0.0.1", "::"]),
    );
    let port = port.prop_map(|(port, protocol, ip)| json!({"containerPort": port, "hostPort": port, "protocol": protocol, "hostIP": ip}));
    let ports = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(port, 1..3)];
    (ports, amount(3), proptest::option::of(amount(3)), amount(1)).prop_map(|(ports, cpu, memory, gpus)| {
        let mut requests = json!({"cpu": cpu, "example.com/gpu": gpus});
        if let Some(memory) = memory {
            requests["memory"] = memory;
        }
        json!({"name": "c", "image": "i", "ports": ports, "resources": {"requests": requests}})
    })
}

/// The taints and tolerations of a crowd: few keys, so that they meet.
fn taint() -> impl Strategy<Value = Value> {
    let effect = select(vec!["NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"]);
    (select(vec!["a", "b"]), select(vec!["", "x", "y"]), effect).prop_map(|(k, v, e)| json!({"key": k, "value": v, "effect": e}))
}

fn toleration() -> impl Strategy<Value = Value> {
    (taint(), any::<bool>(), 0..10).prop_map(|(mut toleration, every, kind)| {
        let fields = toleration.as_object_mut().unwrap();
        if every {
            fields.remove("effect");
        }
        match kind {
            0 => return json!({"operator": "Exists"}),
            1..5 => {
                fields.remove("value");
                fields.insert("operator".into(), json!("Exists"));
            }
            _ => {}
        }
        toleration
    })
}

/// A crowd: nodes with several taints, up to fourteen pods on two, and the DaemonSet's pod, more important than those.
#[derive(Clone, Debug)]
struct Crowd {
    nodes: Vec<Value>,
    pods: Vec<Value>,
    spec: Value,
}

fn crowd() -> impl Strategy<Value = Crowd> {
    let pod = (0..2usize, prop::collection::vec(container(), 1..3), select(vec!["Running", "Running", "Running", "Pending", "Succeeded"]));
    let node = (prop::collection::vec(taint(), 0..4), amount(12), amount(12), amount(4), 1..12u32);
    let own = (prop::collection::vec(container(), 1..3), prop::collection::vec(toleration(), 0..4), any::<bool>());
    (prop::collection::vec(node, 2), prop::collection::vec(pod, 0..14), own).prop_map(|(nodes, pods, (containers, tolerations, host))| {
        let node = |(i, (taints, cpu, memory, gpus, most)): (usize, (Vec<Value>, Value, Value, Value, u32))| {
            json!({"kind": "Node", "metadata": {"name": format!("n{i}")}, "spec": {"taints": taints},
                "status": {"allocatable": {"cpu": cpu, "memory": memory, "example.com/gpu": gpus, "pods": most.to_string()}}})
        };
        let pod = |(i, (at, containers, phase)): (usize, (usize, Vec<Value>, &str))| {
            let owners = if i % 2 == 0 { json!([{"kind": "ReplicaSet", "name": "r", "uid": "r", "controller": true}]) } else { json!([]) };
            json!({"kind": "Pod", "metadata": {"namespace": "default", "name": format!("p{i}"), "uid": format!("p{i}"), "ownerReferences": owners},
                "spec": {"nodeName": format!("n{at}"), "containers": containers}, "status": {"phase": phase}})
        };
        Crowd {
            nodes: nodes.into_iter().enumerate().map(node).collect(),
            pods: pods.into_iter().enumerate().map(pod).collect(),
            spec: json!({"containers": containers, "tolerations": tolerations, "hostNetwork": host, "priorityClassName": "important"}),
        }
    })
}

impl Crowd {
    fn verdicts(&self, pods: &[Value]) -> Verdicts {
        Cluster::of(&self.nodes, pods, &self.spec).verdicts()
    }

    /// The DaemonSet's pods that wait for the nodes: only of such does the report say who is in the way.
    fn waiting(&self) -> Vec<Value> {
        let waiting = |node: &Value| {
            let name = &node["metadata"]["name"];
            let pin = json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]});
            let mut spec = self.spec.clone();
            spec["priority"] = json!(1000);
            spec["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [pin]}}});
            json!({"kind": "Pod", "metadata": {"namespace": "default", "name": format!("agent-{}", name.as_str().unwrap()), "uid": name,
                    "labels": {"app": "agent"},
                    "ownerReferences": [{"kind": "DaemonSet", "name": "agent", "uid": "agent", "controller": true}]},
                "spec": spec, "status": {"phase": "Pending"}})
        };
        self.nodes.iter().map(waiting).collect()
    }
}

/// The nodes that a plugin refuses.
fn refused(verdicts: &Verdicts, plugin: &str) -> BTreeSet<String> {
    verdicts.iter().filter(|(_, (_, failed))| failed.contains_key(plugin)).map(|(n, _)| n.clone()).collect()
}

const ALL_BUT_PORTS_AND_RESOURCES: [&str; 12] = [
    "TaintToleration",
    "NodeAffinity",
    "InterPodAffinity",
    "PodTopologySpread",
    "VolumeRestrictions",
    "VolumeBinding",
    "VolumeZone",
    "NodeVolumeLimits",
    "DynamicResources",
    "NodeName",
    "NodeUnschedulable",
    "NodeDeclaredFeatures",
];

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
    /// domain more, and an empty one lowers the minimum. A taint of the cluster's, a toleration of the template's, or neither.
    #[test]
    fn one_more_toleration_never_loses_a_node(index: Index, drawn in toleration(), which: Index, place: Index, keep in 0..4usize) {
        let (before, mut after) = (Cluster::draw(index), Cluster::draw(index));
        let mut known: Vec<Value> = after.of_kind("Node").filter_map(|n| n["spec"]["taints"].as_array()).flatten().cloned().collect();
        let own = after.the_daemon_set()["spec"]["template"]["spec"]["tolerations"].as_array().cloned().unwrap_or_default();
        known.extend(own.iter().cloned());
        let mut toleration = drawn;
        if keep > 0 && !known.is_empty() {
            let known = &known[which.index(known.len())];
            for field in &["key", "value", "effect"][..keep] {
                match known.get(field) {
                    Some(value) if toleration["operator"] != "Exists" || *field != "value" => toleration[*field] = value.clone(),
                    _ => {}
                }
            }
        }
        let mut tolerations = own;
        tolerations.insert(place.index(tolerations.len() + 1), toleration);
        after.the_daemon_set()["spec"]["template"]["spec"]["tolerations"] = json!(tolerations);
        nothing_is_lost(&before.verdicts(), &after.verdicts(), &["PodTopologySpread"])?;
    }

    /// The same in a crowd, wherever in the list it stands; and the order of taints and tolerations says nothing.
    #[test]
    fn taints_are_refused_one_by_one(crowd in crowd(), more in toleration(), place: Index) {
        let before = crowd.verdicts(&[]);
        let mut other = crowd.clone();
        let tolerations = other.spec["tolerations"].as_array_mut().unwrap();
        tolerations.reverse();
        prop_assert_eq!(&before, &other.verdicts(&[]));
        let tolerations = other.spec["tolerations"].as_array_mut().unwrap();
        tolerations.insert(place.index(tolerations.len() + 1), more);
        nothing_is_lost(&before, &other.verdicts(&[]), &[])?;
        let all = other.spec["tolerations"].as_array_mut().unwrap();
        all.insert(place.index(all.len() + 1), json!({"operator": "Exists"}));
        prop_assert!(refused(&other.verdicts(&[]), "TaintToleration").is_empty());
        // A node is refused if one of its taints alone has it refused.
        let mut alone = BTreeSet::new();
        for i in 0..4 {
            let mut single = crowd.clone();
            for node in &mut single.nodes {
                let taints = node["spec"]["taints"].as_array().unwrap();
                node["spec"]["taints"] = taints.get(i).map_or(json!([]), |t| json!([t]));
            }
            alone.extend(refused(&single.verdicts(&[]), "TaintToleration"));
        }
        prop_assert_eq!(refused(&before, "TaintToleration"), alone);
    }

    /// More of every resource on one node. A node that advertises a resource itself takes it from DynamicResources, so a zero
    /// stays a zero.
    #[test]
    fn more_allocatable_never_loses_a_node(index: Index, which: Index, times in select(vec![2, 3, 1 << 20])) {
        let (before, mut after) = (Cluster::draw(index), Cluster::draw(index));
        let count = after.of_kind("Node").count();
        let node = after.of_kind("Node").nth(which.index(count)).unwrap();
        for list in ["allocatable", "capacity"] {
            let Some(resources) = node["status"][list].as_object_mut() else { continue };
            for amount in resources.values_mut() {
                *amount = json!(quantity(amount).value().max(0).saturating_mul(times).to_string());
            }
        }
        nothing_is_lost(&before.verdicts(), &after.verdicts(), &[])?;
    }

    /// The same in a crowd, of one resource: no other one is short for it.
    #[test]
    fn more_of_one_resource_mends_that_one_alone(crowd in crowd(), which in 0..2usize, more in 1..20u32,
        resource in select(vec!["cpu", "memory", "example.com/gpu", "pods"])) {
        let before = crowd.verdicts(&crowd.pods);
        let mut roomy = crowd.clone();
        let amount = &mut roomy.nodes[which]["status"]["allocatable"][resource];
        *amount = json!((amount.as_str().unwrap().parse::<u32>().unwrap() + more).to_string());
        let after = roomy.verdicts(&crowd.pods);
        nothing_is_lost(&before, &after, &[])?;
        let reason = if resource == "pods" { "Too many pods".into() } else { format!("Insufficient {resource}") };
        let rest = |v: &Verdicts| {
            let all = v.iter().map(|(n, (_, failed))| (n.clone(), failed.get("NodeResourcesFit").cloned().unwrap_or_default()));
            all.map(|(n, r)| (n, r.into_iter().filter(|r| *r != reason).collect::<Vec<_>>())).collect::<Vec<_>>()
        };
        prop_assert_eq!(rest(&before), rest(&after));
    }

    /// A pod of somebody else that goes frees ports and resources and takes none.
    #[test]
    fn a_pod_less_takes_no_ports_and_no_resources(index: Index, which: Index) {
        let (before, mut after) = (Cluster::draw(index), Cluster::draw(index));
        let others: Vec<usize> = after.objects.iter().enumerate()
            .filter(|(_, o)| o["kind"] == "Pod" && o["metadata"]["ownerReferences"].is_null()).map(|(i, _)| i).collect();
        prop_assume!(!others.is_empty());
        after.objects.remove(others[which.index(others.len())]);
        nothing_is_lost(&before.verdicts(), &after.verdicts(), &ALL_BUT_PORTS_AND_RESOURCES)?;
    }

    /// In a crowd, pod after pod goes until none is left. None is left to hold a port, and a port is held by some pod or other:
    /// by one alone as much as by all of them together.
    #[test]
    fn ports_are_held_pod_by_pod(crowd in crowd(), order in any::<u64>()) {
        let mut pods = crowd.pods.clone();
        pods.sort_by_key(|p| hash(&(order, p["metadata"]["name"].as_str())));
        let all = crowd.verdicts(&pods);
        let mut holders = BTreeSet::new();
        let mut before = all.clone();
        while let Some(pod) = pods.pop() {
            let after = crowd.verdicts(&pods);
            nothing_is_lost(&before, &after, &[])?;
            holders.extend(refused(&crowd.verdicts(&[pod]), "NodePorts"));
            before = after;
        }
        prop_assert!(refused(&before, "NodePorts").is_empty());
        prop_assert_eq!(refused(&all, "NodePorts"), holders);
    }

    /// The pod that wants several ports is refused where it would be with one of them alone.
    #[test]
    fn ports_are_wanted_one_by_one(crowd in crowd()) {
        let all = refused(&crowd.verdicts(&crowd.pods), "NodePorts");
        let ports: Vec<Value> = crowd.spec["containers"].as_array().unwrap().iter().flat_map(|c| c["ports"].as_array().unwrap()).cloned().collect();
        let mut single = crowd.clone();
        let alone = ports.iter().flat_map(|port| {
            single.spec["containers"] = json!([{"name": "c", "image": "i", "ports": [port]}]);
            refused(&single.verdicts(&crowd.pods), "NodePorts")
        });
        prop_assert_eq!(all, alone.collect::<BTreeSet<_>>());
    }

    /// What pods request is the same, and so are the ports they hold, if one pod had all their containers; only pods are fewer.
    #[test]
    fn one_pod_of_all_containers_takes_as_much(crowd in crowd()) {
        let mut merged = Vec::new();
        for node in ["n0", "n1"] {
            let there = crowd.pods.iter().filter(|p| p["spec"]["nodeName"] == node && p["status"]["phase"] != "Succeeded");
            let containers: Vec<Value> = there.flat_map(|p| p["spec"]["containers"].as_array().unwrap()).cloned().collect();
            merged.push(json!({"kind": "Pod", "metadata": {"namespace": "default", "name": node, "uid": node},
                "spec": {"nodeName": node, "containers": containers}, "status": {"phase": "Running"}}));
        }
        let mut roomy = crowd.clone();
        roomy.nodes.iter_mut().for_each(|n| n["status"]["allocatable"]["pods"] = json!("110"));
        prop_assert_eq!(roomy.verdicts(&crowd.pods), roomy.verdicts(&merged));
    }

    /// The order in which objects come says nothing.
    #[test]
    fn the_report_does_not_depend_on_the_order_of_the_input(index: Index, order in any::<u64>()) {
        let cluster = Cluster::draw(index);
        prop_assert_eq!(texts(&cluster), texts(&shuffled(&cluster, order)));
    }

    /// The same in a crowd, where who holds ports and resources is told, and who would be evicted.
    #[test]
    fn the_report_does_not_depend_on_the_order_of_a_crowd(mut crowd in crowd(), order in any::<u64>(), tainted: bool) {
        if !tainted {
            crowd.nodes.iter_mut().for_each(|n| n["spec"]["taints"] = json!([]));
        }
        crowd.pods.extend(crowd.waiting());
        let cluster = Cluster::of(&crowd.nodes, &crowd.pods, &crowd.spec);
        prop_assert_eq!(texts(&cluster), texts(&shuffled(&cluster, order)));
    }
}

fn hash(value: &impl std::hash::Hash) -> u64 {
    use std::hash::{DefaultHasher, Hasher};
    let mut h = DefaultHasher::new();
    value.hash(&mut h);
    h.finish()
}

/// Lists whose order means nothing in the API, as (kind, path).
const UNORDERED: [(&str, &str); 9] = [
    ("Node", "/spec/taints"),
    ("Node", "/status/conditions"),
    ("Node", "/status/declaredFeatures"),
    ("Pod", "/spec/tolerations"),
    ("Pod", "/status/conditions"),
    ("Pod", "/status/containerStatuses"),
    ("Pod", "/status/initContainerStatuses"),
    ("CSINode", "/spec/drivers"),
    ("EndpointSlice", "/endpoints"),
];

/// The same cluster with its objects, and the lists that mean nothing, in another order.
fn shuffled(cluster: &Cluster, order: u64) -> Cluster {
    let mut after = cluster.clone();
    let key = |o: &Value| hash(&(order, o["kind"].as_str(), o["metadata"]["namespace"].as_str(), o["metadata"]["name"].as_str()));
    after.objects.sort_by_key(key);
    for object in &mut after.objects {
        let kind = object["kind"].as_str().unwrap_or_default().to_string();
        for (_, path) in UNORDERED.iter().filter(|(of, _)| *of == kind) {
            if let Some(list) = object.pointer_mut(path).and_then(Value::as_array_mut) {
                list.sort_by_key(|item| hash(&(order, item.to_string())));
            }
        }
    }
    after
}

/// The report in every format that shows all of it. Evidence names an item of a list by its place there, which is the input's.
fn texts(cluster: &Cluster) -> Vec<String> {
    let reports = [cluster.report()];
    let (mut json, mut text, mut wide, mut markdown) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    render::json::render(&mut json, &reports, false).unwrap();
    render::text::render(&mut text, &reports, &Style::default()).unwrap();
    render::wide::render(&mut wide, &reports, &Style::default()).unwrap();
    render::markdown::render(&mut markdown, &reports, &Style::default()).unwrap();
    [json, text, wide, markdown].into_iter().map(|t| without_places(&String::from_utf8(t).unwrap())).collect()
}

/// `taints[3]` as `taints[]`.
fn without_places(text: &str) -> String {
    let mut out = String::new();
    for part in text.split_inclusive('[') {
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit() && out.ends_with('[')));
    }
    out
}

/// The recorded faults, with all their events, and every DaemonSet of each.
#[test]
fn the_report_of_a_recorded_fault_does_not_depend_on_its_order() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path().join("cluster.yaml")).filter(|p| p.is_file()).collect();
    files.sort();
    let mut reports = 0;
    for file in files {
        let read = read(std::slice::from_ref(&file), &ReadOptions::default()).unwrap();
        let dump: Value = yaml_serde::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        for ds in read.daemon_sets.iter() {
            let mut cluster = Cluster {
                objects: dump["items"].as_array().unwrap().clone(),
                version: read.version_text.clone().unwrap_or_else(|| "v1.34.3".into()),
                now: Some(read.now),
                daemon_set: (ds.metadata.namespace.clone(), ds.metadata.name.clone()),
            };
            told_at_once(&mut cluster);
            twins(&mut cluster);
            let first = texts(&cluster);
            for order in 0..3 {
                assert_eq!(first, texts(&shuffled(&cluster, order)), "{} {}", file.display(), ds.metadata.full_name());
            }
            reports += 1;
        }
    }
    assert!(reports > 90, "{reports}");
}

/// Each event comes twice, the second time in other words: their time says nothing of which is the later one.
fn told_at_once(cluster: &mut Cluster) {
    let events: Vec<Value> = cluster.objects.iter().filter(|o| o["kind"] == "Event").cloned().collect();
    for mut event in events {
        let (name, message) = (&event["metadata"]["name"], &event["message"]);
        let (name, message) = (format!("{}.again", name.as_str().unwrap()), format!("{} again", message.as_str().unwrap_or_default()));
        (event["metadata"]["name"], event["message"]) = (json!(name), json!(message));
        cluster.objects.push(event);
    }
}

/// Each revision comes twice, with one number: that says nothing of which is the current one.
fn twins(cluster: &mut Cluster) {
    let revisions: Vec<Value> = cluster.objects.iter().filter(|o| o["kind"] == "ControllerRevision").cloned().collect();
    for mut revision in revisions {
        let name = format!("{}-twin", revision["metadata"]["name"].as_str().unwrap());
        revision["metadata"]["labels"]["controller-revision-hash"] = json!(name);
        revision["metadata"]["name"] = json!(name);
        cluster.objects.push(revision);
    }
}
