//! What of a live cluster an answer still needs: reading a large one whole takes longer than
//! anything else. Pure; judged anew after each round of reading, until nothing is needed.

use std::collections::BTreeSet;

use crate::diagnose::{Options, diagnose_of};
use crate::filter::PLUGINS;
use crate::model::daemon_set::DaemonSet;
use crate::model::index::Index;
use crate::model::pod::PodSpec;
use crate::model::snapshot::Snapshot;
use crate::model::volume::VolumeSource;
use crate::report::{NodeReport, State};

/// Nodes that are read because that says more, not because the answer needs it: only so many.
const WELCOME: usize = 64;

/// Up to so many nodes all pods are read where those of any node are: pods on other nodes may
/// repel one that has no terms of its own, which only their own terms tell. It takes a fraction
/// of a second; in a larger cluster they are read if the pods of the node do not explain why the
/// pod waits.
const SMALL: usize = 500;

/// Kinds that are read together, for the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// What admission consults when a pod is made: quotas, limit ranges, accounts, classes.
    Creation,
    /// Webhooks of admission.
    Webhooks,
    /// The services that the webhooks are called at.
    WebhookServices,
    /// What preemption consults: disruption budgets.
    Preemption,
    /// Whether controller manager and scheduler are alive.
    ControlPlane,
    /// Claims, volumes, storage classes and drivers.
    Volumes,
    /// Resource claims, device classes and resource slices.
    Devices,
    /// The labels of all namespaces.
    Namespaces,
    /// Autoscalers that may mean a DaemonSet; only advice asks for them.
    Autoscalers,
}

/// What is needed beyond the DaemonSets, their pods, revisions and events, and the nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Nodes whose pods are all needed.
    pub nodes: BTreeSet<String>,
    /// Every pod of the cluster.
    pub all_pods: bool,
    /// Further kinds.
    pub groups: BTreeSet<Group>,
    /// Pods whose events are needed, as (namespace, name).
    pub pod_events: BTreeSet<(String, String)>,
    /// Nodes whose leases are needed.
    pub leases: BTreeSet<String>,
}

impl Needs {
    /// What of these needs is not met by `done`.
    #[must_use]
    pub fn beyond(&self, done: &Needs) -> Needs {
        Needs {
            nodes: if done.all_pods || self.all_pods { BTreeSet::new() } else { &self.nodes - &done.nodes },
            all_pods: self.all_pods && !done.all_pods,
            groups: &self.groups - &done.groups,
            pod_events: &self.pod_events - &done.pod_events,
            leases: &self.leases - &done.leases,
        }
    }

    /// Adds others.
    pub fn extend(&mut self, others: Needs) {
        self.nodes.extend(others.nodes);
        self.all_pods |= others.all_pods;
        self.groups.extend(others.groups);
        self.pod_events.extend(others.pod_events);
        self.leases.extend(others.leases);
    }

    /// True if nothing is needed.
    pub fn is_empty(&self) -> bool {
        *self == Needs::default()
    }
}

/// Which DaemonSets of a list need nothing more, whatever is read for the others.
#[derive(Clone, Debug, Default)]
pub struct Settled(BTreeSet<(String, String)>);

impl Settled {
    fn has(&self, ds: &DaemonSet) -> bool {
        self.0.iter().any(|(namespace, name)| *namespace == ds.metadata.namespace && *name == ds.metadata.name)
    }

    fn add(&mut self, ds: &DaemonSet) {
        self.0.insert((ds.metadata.namespace.clone(), ds.metadata.name.clone()));
    }
}

/// True if the whole list of pods is read at once in a cluster of so many nodes and pods: the statuses
/// say that one DaemonSet lacks its pod on most of the nodes, or that most of the pods are in question.
pub fn wants_all_pods(targets: &[DaemonSet], nodes: usize, pods: usize) -> bool {
    let number = |n: i32| usize::try_from(n).unwrap_or(0);
    let missing = |ds: &DaemonSet| number(ds.status.desired_number_scheduled.saturating_sub(ds.status.current_number_scheduled));
    let own: usize = targets.iter().map(|ds| number(ds.status.current_number_scheduled)).sum();
    targets.iter().any(|ds| missing(ds) * 2 > nodes) || (targets.len() > 1 && own * 2 > pods)
}

/// What judging these DaemonSets needs, by what is known of them now. `asked` are the nodes that
/// the user named.
pub fn plan(snapshot: &Snapshot, targets: &[&DaemonSet], asked: &BTreeSet<String>, settled: &mut Settled) -> Needs {
    let mut needs = Needs::default();
    let mut welcome = BTreeSet::new();
    let options = Options { nodes: asked.clone(), without_remedies: true, without_checks: true };
    let unready: BTreeSet<&str> = snapshot.nodes.iter().filter(|n| !n.is_ready()).map(|n| n.name()).collect();
    let index = Index::new(snapshot);
    for ds in targets {
        if settled.has(ds) {
            continue;
        }
        let (mut own, mut liked) = (Needs::default(), BTreeSet::new());
        let report = diagnose_of(&index, ds, &options);
        let spec = &ds.spec.template.spec;
        let mut doubt = !asked.is_empty();
        for node in &report.nodes {
            match node.state {
                State::Missing | State::Rejected | State::Pending => {
                    doubt = true;
                    own.nodes.insert(node.name.clone());
                }
                State::Unhealthy | State::Terminating | State::Misscheduled | State::Outdated => {
                    liked.insert(node.name.clone());
                }
                // By choice if by affinity; a taint may be an accident, and tolerating it a remedy.
                State::Excluded if node.causes.iter().any(|c| c.code == "TaintToleration") => {
                    liked.insert(node.name.clone());
                }
                _ if asked.contains(&node.name) => {
                    own.nodes.insert(node.name.clone());
                }
                _ => {}
            }
            of_node(snapshot, ds, node, &unready, &mut own);
        }
        let lacks = |state| report.nodes.iter().any(|n| n.state == state);
        if doubt {
            own.groups.extend([Group::Creation, Group::ControlPlane]);
            of_spec(snapshot, spec, &mut own);
        }
        if lacks(State::Missing) {
            own.groups.insert(Group::Webhooks);
            if !snapshot.validating_webhooks.is_empty() || !snapshot.mutating_webhooks.is_empty() {
                own.groups.insert(Group::WebhookServices);
            }
        }
        if lacks(State::Pending) {
            own.groups.insert(Group::Preemption);
        }
        if ds.status.observed_generation < ds.metadata.generation {
            own.groups.insert(Group::ControlPlane);
        }
        if own.is_empty() && liked.is_empty() {
            settled.add(ds);
        }
        needs.extend(own);
        welcome.extend(liked);
    }
    // Nodes that are gone have nothing on them that matters.
    let there: BTreeSet<&str> = snapshot.nodes.iter().map(|n| n.name()).collect();
    needs.nodes.retain(|n| there.contains(n.as_str()));
    welcome.retain(|n| there.contains(n.as_str()));
    if welcome.len() <= WELCOME {
        needs.nodes.extend(welcome);
    }
    // The whole list costs as much as all nodes one by one, and fewer requests.
    let (some, all) = (needs.nodes.len(), snapshot.nodes.len());
    if some * 2 > all || (some > 0 && all <= SMALL) {
        needs.all_pods = true;
    }
    needs
}

/// What judging DaemonSets that are not there needs: a pod of theirs may go to any node, and what
/// admission consults decides.
pub fn plan_for_all<'a>(snapshot: &Snapshot, proposed: impl Iterator<Item = &'a DaemonSet>) -> Needs {
    let groups = [Group::Creation, Group::Preemption, Group::Webhooks].into();
    let mut needs = Needs { all_pods: true, groups, ..Needs::default() };
    if !snapshot.validating_webhooks.is_empty() || !snapshot.mutating_webhooks.is_empty() {
        needs.groups.insert(Group::WebhookServices);
    }
    proposed.for_each(|ds| of_spec(snapshot, &ds.spec.template.spec, &mut needs));
    needs
}

/// What one node's judgement needs beside the pods on it.
fn of_node(snapshot: &Snapshot, ds: &DaemonSet, node: &NodeReport, unready: &BTreeSet<&str>, needs: &mut Needs) {
    if matches!(node.state, State::Healthy | State::Outdated) {
        return;
    }
    for pod in node.pods.iter().filter(|p| !p.available) {
        needs.pod_events.insert((ds.metadata.namespace.clone(), pod.name.clone()));
    }
    if !node.pods.is_empty() && unready.contains(node.name.as_str()) {
        needs.leases.insert(node.name.clone());
    }
    if node.state == State::Pending {
        // Pods on other nodes may refuse this one; what they want can only be seen on them.
        let said = node.pods.iter().filter_map(|p| p.scheduler_message.as_deref());
        let by_others = said.into_iter().any(|m| m.contains("affinity rules") || m.contains("topology spread"));
        let explained = node.causes.iter().any(|c| PLUGINS.iter().any(|p| p.name == c.code));
        if by_others || (snapshot.knows_pods_of(&node.name) && !explained) {
            needs.all_pods = true;
        }
    }
}

/// What judging a pod of this template needs.
fn of_spec(snapshot: &Snapshot, spec: &PodSpec, needs: &mut Needs) {
    let affinity = spec.affinity.as_ref();
    let terms = || {
        let both = affinity.into_iter().flat_map(|a| [&a.pod_affinity, &a.pod_anti_affinity]);
        both.flatten().flat_map(|a| &a.required)
    };
    let spreads = spec.topology_spread_constraints.iter().any(|c| c.when_unsatisfiable != "ScheduleAnyway");
    if spreads || terms().next().is_some() {
        needs.all_pods = true;
    }
    if terms().any(|t| t.namespace_selector.is_some()) {
        needs.groups.insert(Group::Namespaces);
    }
    if spec.volumes.iter().any(|v| is_attached(&v.source)) {
        needs.groups.insert(Group::Volumes);
        let claims: BTreeSet<&str> =
            spec.volumes.iter().filter_map(|v| v.source.persistent_volume_claim.as_ref()).map(|c| c.claim_name.as_str()).collect();
        let exclusive = |modes: &[String]| modes.iter().any(|m| m == "ReadWriteOncePod");
        // Whether such a claim is in use anywhere decides.
        if snapshot.persistent_volume_claims.iter().any(|c| claims.contains(c.metadata.name.as_str()) && exclusive(&c.spec.access_modes)) {
            needs.all_pods = true;
        }
    }
    let containers = spec.containers.iter().chain(&spec.init_containers);
    let extended = containers.flat_map(|c| c.resources.requests.keys().chain(c.resources.limits.keys())).any(|name| name.contains('/'));
    if !spec.resource_claims.is_empty() || (extended && snapshot.version.features().dra_extended_resources) {
        needs.groups.insert(Group::Devices);
    }
}

/// True for a volume that must be found, attached or counted.
fn is_attached(source: &VolumeSource) -> bool {
    source.persistent_volume_claim.is_some()
        || source.ephemeral.is_some()
        || source.csi.is_some()
        || source.gce_persistent_disk.is_some()
        || source.aws_elastic_block_store.is_some()
        || source.azure_disk.is_some()
        || source.cinder.is_some()
        || source.vsphere_volume.is_some()
        || source.portworx_volume.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::node::Node;
    use crate::model::pod::Pod;
    use serde_json::{Value, json};

    fn ds(spec: Value) -> DaemonSet {
        serde_json::from_value(json!({"metadata": {"name": "a", "namespace": "x", "uid": "u"}, "spec": {"template": {"spec": spec}}}))
            .unwrap()
    }

    fn pod(node: &str, ready: bool, message: &str) -> Pod {
        let conditions = json!([{"type": "Ready", "status": if ready { "True" } else { "False" }},
            {"type": "PodScheduled", "status": if ready { "True" } else { "False" }, "message": message}]);
        let pin = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}}});
        serde_json::from_value(json!({
            "metadata": {"name": format!("a-{node}"), "namespace": "x", "ownerReferences": [{"kind": "DaemonSet", "name": "a", "uid": "u", "controller": true}]},
            "spec": {"nodeName": if ready { node } else { "" }, "affinity": pin},
            "status": {"phase": if ready { "Running" } else { "Pending" }, "conditions": conditions}}))
        .unwrap()
    }

    /// A large cluster of which `n0` and `n1` are as given, and the other nodes run the pod.
    fn cluster(first: Vec<Pod>) -> Snapshot {
        let mut snapshot = Snapshot { pods_known_on: Some(BTreeSet::new()), ..Snapshot::default() };
        for i in 0..=SMALL {
            let node: Node = serde_json::from_value(
                json!({"metadata": {"name": format!("n{i}")}, "status": {"allocatable": {"pods": "9"}, "conditions": [{"type": "Ready", "status": "True"}]}}),
            )
            .unwrap();
            snapshot.objects.nodes.items.push(node);
        }
        snapshot.objects.pods.items = first;
        snapshot.objects.pods.items.extend((2..=SMALL).map(|i| pod(&format!("n{i}"), true, "")));
        snapshot
    }

    fn needs(snapshot: &Snapshot, spec: Value, asked: &[&str]) -> String {
        let needs = plan(snapshot, &[&ds(spec)], &asked.iter().map(|n| n.to_string()).collect(), &mut Settled::default());
        let nodes = needs.nodes.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        format!("{nodes}|{}|{:?}", needs.all_pods, needs.groups.iter().collect::<Vec<_>>())
    }

    #[test]
    fn reads_what_is_in_doubt_and_no_more() {
        let fine = || vec![pod("n0", true, ""), pod("n1", true, "")];
        let pending = || vec![pod("n0", true, ""), pod("n1", false, "0/501 nodes are available: 1 Insufficient cpu")];
        let missing = || vec![pod("n0", true, "")];
        let known = |mut s: Snapshot, nodes: &[&str]| {
            s.pods_known_on = Some(nodes.iter().map(|n| n.to_string()).collect());
            s
        };
        let anti = json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]}}});
        for (what, snapshot, spec, asked, want) in [
            ("all is well", cluster(fine()), json!({}), vec![], "|false|[]"),
            ("all is well, with affinity", cluster(fine()), anti.clone(), vec![], "|false|[]"),
            ("a node is asked for", cluster(fine()), json!({}), vec!["n3"], "n3|false|[Creation, ControlPlane]"),
            ("a pod is pending", cluster(pending()), json!({}), vec![], "n1|false|[Creation, Preemption, ControlPlane]"),
            ("a pod is missing", cluster(missing()), json!({}), vec![], "n1|false|[Creation, Webhooks, ControlPlane]"),
            ("most are missing", cluster(vec![]), json!({}), vec![], "n0 n1|false|[Creation, Webhooks, ControlPlane]"),
            ("pods elsewhere matter", cluster(pending()), anti, vec![], "n1|true|[Creation, Preemption, ControlPlane]"),
            (
                "pending, and nothing on the node explains it",
                known(cluster(pending()), &["n1"]),
                json!({}),
                vec![],
                "n1|true|[Creation, Preemption, ControlPlane]",
            ),
            (
                "the scheduler names other pods",
                cluster(vec![pod("n0", true, ""), pod("n1", false, "1 node(s) didn't satisfy existing pods anti-affinity rules")]),
                json!({}),
                vec![],
                "n1|true|[Creation, Preemption, ControlPlane]",
            ),
            (
                "volumes",
                cluster(pending()),
                json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}),
                vec![],
                "n1|false|[Creation, Preemption, ControlPlane, Volumes]",
            ),
            (
                "volumes that need nothing",
                cluster(pending()),
                json!({"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}),
                vec![],
                "n1|false|[Creation, Preemption, ControlPlane]",
            ),
        ] {
            assert_eq!(needs(&snapshot, spec, &asked), want, "{what}");
        }
        let mut small = cluster(pending());
        small.objects.nodes.items.pop();
        assert!(needs(&small, json!({}), &[]).starts_with("n1|true|"), "a pod on another node may repel it");
        let mut fine = cluster(fine());
        fine.objects.nodes.items.pop();
        assert_eq!(needs(&fine, json!({}), &[]), "|false|[]", "all is well in a small cluster");
        let mut two = cluster(vec![]);
        two.objects.nodes.items.truncate(3);
        two.objects.pods.items.truncate(1);
        assert!(needs(&two, json!({}), &[]).starts_with("n0 n1|true|"), "most nodes are in doubt");
    }

    #[test]
    fn what_is_well_is_not_judged_again() {
        let (well, lacking) = (cluster(vec![pod("n0", true, ""), pod("n1", true, "")]), cluster(vec![pod("n0", true, "")]));
        for (snapshot, want) in [(&well, true), (&lacking, false)] {
            let (ds, mut settled) = (ds(json!({})), Settled::default());
            plan(snapshot, &[&ds], &BTreeSet::new(), &mut settled);
            assert_eq!(settled.has(&ds), want);
            assert_eq!(plan(snapshot, &[&ds], &BTreeSet::new(), &mut settled).is_empty(), want);
        }
    }

    #[test]
    fn all_pods_are_read_at_once_where_most_of_them_count() {
        let of = |desired: i32, current: i32| -> DaemonSet {
            serde_json::from_value(json!({"status": {"desiredNumberScheduled": desired, "currentNumberScheduled": current}})).unwrap()
        };
        for (targets, want) in [
            (vec![of(1000, 1000)], false),
            (vec![of(1000, 500)], false),
            (vec![of(1000, 499)], true),
            // Of a small part of the nodes.
            (vec![of(400, 0)], false),
            (vec![of(1000, 1000); 15], false),
            (vec![of(1000, 1000); 16], true),
            (vec![of(-1, i32::MAX)], false),
        ] {
            assert_eq!(wants_all_pods(&targets, 1000, 30_000), want, "{} of {:?}", targets.len(), targets[0].status);
        }
    }

    #[test]
    fn what_was_read_is_not_needed_again() {
        let set = |names: &[&str]| -> BTreeSet<String> { names.iter().map(|n| n.to_string()).collect() };
        let first = Needs { nodes: set(&["a", "b"]), groups: [Group::Creation].into(), ..Needs::default() };
        let mut done = Needs { nodes: set(&["a"]), ..Needs::default() };
        assert_eq!(first.beyond(&done), Needs { nodes: set(&["b"]), groups: [Group::Creation].into(), ..Needs::default() });
        done.extend(first.clone());
        assert!(first.beyond(&done).is_empty());
        assert!(first.beyond(&Needs { all_pods: true, groups: [Group::Creation].into(), ..Needs::default() }).is_empty());
    }
}
