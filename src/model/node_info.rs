//! A node with the pods on it and what they take up.
//!
//! Upstream: `NodeInfo` of `pkg/scheduler/framework/types.go` (v1.37.2). Terminal pods count for
//! nothing; terminating ones count in full.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::affinity::anti_affinity_of;
use super::host_port::{HostPort, host_ports};
use super::node::Node;
use super::pod::Pod;
use super::pod_requests::{Resources, bound_requests};
use super::snapshot::Snapshot;
use super::version::Features;

/// A node, its pods and their sums.
#[derive(Clone, Debug)]
pub struct NodeInfo<'a> {
    /// The node.
    pub node: &'a Node,
    /// False if there may be pods on it that were not read: then nothing can be said to fit.
    pub pods_known: bool,
    /// The pods bound to it that are not terminal.
    pub pods: Vec<&'a Pod>,
    /// Those of them that hold host ports.
    pub port_holders: Vec<&'a Pod>,
    /// How many of them have a required anti-affinity.
    pub repelling: usize,
    /// What these pods request.
    pub requested: Resources,
    /// What the node has for pods.
    pub allocatable: Resources,
    /// How many pods the node takes.
    pub allowed_pods: i64,
    /// Host ports of pods taken off the node. Upstream keeps a node's ports as a set, so taking
    /// one holder away frees the port even if another pod holds it as well.
    pub freed_ports: Vec<HostPort<'a>>,
    /// What is told from the specs of the cluster's pods.
    known: Arc<Known>,
}

impl<'a> NodeInfo<'a> {
    /// A node without pods.
    pub fn new(node: &'a Node) -> Self {
        // A node that reports no allocatable at all has its capacity (upstream: SetDefaults_NodeStatus).
        let status = &node.status;
        let allocatable = if status.allocatable.is_empty() { &status.capacity } else { &status.allocatable };
        NodeInfo {
            node,
            pods_known: true,
            pods: Vec::new(),
            port_holders: Vec::new(),
            repelling: 0,
            requested: Resources::default(),
            allocatable: Resources::from_list(allocatable),
            allowed_pods: allocatable.get("pods").map_or(0, |q| q.value()),
            freed_ports: Vec::new(),
            known: Arc::default(),
        }
    }

    /// Puts a pod on the node.
    pub fn add(&mut self, pod: &'a Pod, features: &Features) {
        let known = self.known.clone();
        self.put(pod, &known.of(pod, features));
    }

    fn put(&mut self, pod: &'a Pod, told: &Told) {
        self.requested.add(&told.requests);
        if told.holds_ports {
            self.freed_ports.retain(|p| !host_ports(&pod.spec).any(|taken| taken == *p));
            self.port_holders.push(pod);
        }
        self.repelling += usize::from(told.repels);
        self.pods.push(pod);
    }

    /// What a pod counts on the node.
    pub fn requests_of(&self, pod: &Pod, features: &Features) -> Cow<'_, Resources> {
        match self.known.of(pod, features) {
            Cow::Borrowed(told) => Cow::Borrowed(&told.requests),
            Cow::Owned(told) => Cow::Owned(told.requests),
        }
    }

    /// The same node without the pods that `gone` picks.
    #[must_use]
    pub fn without(&self, features: &Features, gone: impl Fn(&Pod) -> bool) -> NodeInfo<'a> {
        let mut rest = self.clone();
        rest.pods.retain(|pod| {
            let goes = gone(pod);
            if goes {
                let told = self.known.of(pod, features);
                rest.requested.subtract(&told.requests);
                rest.repelling -= usize::from(told.repels);
                rest.freed_ports.extend(host_ports(&pod.spec));
                rest.port_holders.retain(|p| !std::ptr::eq(*p, *pod));
            }
            !goes
        });
        rest
    }

    /// The pods that `before` has and this does not, and those that this has and `before` does not.
    pub fn changes_since(&self, before: &NodeInfo<'a>) -> (Vec<&'a Pod>, Vec<&'a Pod>) {
        let same = self.pods.len() == before.pods.len() && self.pods.iter().zip(&before.pods).all(|(a, b)| std::ptr::eq(*a, *b));
        if same {
            return (Vec::new(), Vec::new());
        }
        let address = |pod: &&'a Pod| std::ptr::from_ref::<Pod>(pod);
        let now: HashSet<*const Pod> = self.pods.iter().map(address).collect();
        let then: HashSet<*const Pod> = before.pods.iter().map(address).collect();
        let gone = before.pods.iter().copied().filter(|p| !now.contains(&address(p))).collect();
        let come = self.pods.iter().copied().filter(|p| !then.contains(&address(p))).collect();
        (gone, come)
    }
}

/// What the filters ask of a pod's spec and status.
#[derive(Clone, Debug)]
struct Told {
    requests: Resources,
    holds_ports: bool,
    repels: bool,
    terminal: bool,
}

impl Told {
    fn new(pod: &Pod, features: &Features) -> Self {
        Told {
            requests: bound_requests(pod, features),
            holds_ports: host_ports(&pod.spec).next().is_some(),
            repels: !anti_affinity_of(&pod.spec).is_empty(),
            terminal: pod.is_terminal(),
        }
    }
}

/// The same, worked out once for pods that share both.
#[derive(Debug, Default)]
struct Known {
    told: Vec<Told>,
    places: FxHashMap<(usize, usize), usize>,
}

impl Known {
    fn key(pod: &Pod) -> (usize, usize) {
        (pod.spec.address(), pod.status.address())
    }

    fn of(&self, pod: &Pod, features: &Features) -> Cow<'_, Told> {
        let told = self.places.get(&Known::key(pod)).and_then(|i| self.told.get(*i));
        told.map_or_else(|| Cow::Owned(Told::new(pod, features)), Cow::Borrowed)
    }
}

/// Every node of the snapshot with the pods bound to it, by name: what is said of them must not
/// depend on the order in which they were read.
pub fn node_infos<'a>(snapshot: &'a Snapshot, features: &Features) -> Vec<NodeInfo<'a>> {
    let mut nodes: Vec<&Node> = snapshot.nodes.iter().collect();
    nodes.sort_by(|a, b| a.name().cmp(b.name()));
    let index: FxHashMap<&str, usize> = nodes.iter().enumerate().map(|(i, node)| (node.name(), i)).collect();
    let mut counts = vec![0; nodes.len()];
    let mut known = Known::default();
    // Node, what is told, pod.
    let mut placed: Vec<(usize, usize, &Pod)> = Vec::with_capacity(snapshot.pods.len());
    for pod in snapshot.pods.iter() {
        let next = known.told.len();
        let place = *known.places.entry(Known::key(pod)).or_insert(next);
        if place == next {
            known.told.push(Told::new(pod, features));
        }
        if known.told.get(place).is_none_or(|told| told.terminal) {
            continue;
        }
        if let Some(i) = pod.node_name().and_then(|name| index.get(name))
            && let Some(count) = counts.get_mut(*i)
        {
            *count += 1;
            placed.push((*i, place, pod));
        }
    }
    let known = Arc::new(known);
    let of_node = |(node, count)| NodeInfo {
        pods_known: snapshot.knows_pods_of(Node::name(node)),
        pods: Vec::with_capacity(count),
        known: known.clone(),
        ..NodeInfo::new(node)
    };
    let mut infos: Vec<NodeInfo> = nodes.into_iter().zip(counts).map(of_node).collect();
    for (i, place, pod) in placed {
        if let (Some(info), Some(told)) = (infos.get_mut(i), known.told.get(place)) {
            info.put(pod, told);
        }
    }
    infos
}
