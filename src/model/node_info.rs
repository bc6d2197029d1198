//! A node with the pods on it and what they take up.
//!
//! Upstream: `NodeInfo` of `pkg/scheduler/framework/types.go` (v1.37.2). Terminal pods count for
//! nothing; terminating ones count in full.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

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
    /// What these pods request.
    pub requested: Resources,
    /// What the node has for pods.
    pub allocatable: Resources,
    /// How many pods the node takes.
    pub allowed_pods: i64,
    /// Host ports of pods taken off the node. Upstream keeps a node's ports as a set, so taking
    /// one holder away frees the port even if another pod holds it as well.
    pub freed_ports: Vec<HostPort<'a>>,
    /// What pods of the cluster request.
    known: Arc<Requests>,
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
            requested: Resources::default(),
            allocatable: Resources::from_list(allocatable),
            allowed_pods: allocatable.get("pods").map_or(0, |q| q.value()),
            freed_ports: Vec::new(),
            known: Arc::default(),
        }
    }

    /// Puts a pod on the node.
    pub fn add(&mut self, pod: &'a Pod, features: &Features) {
        self.requested.add(&self.known.of(pod, features));
        if !self.freed_ports.is_empty() {
            let ports: Vec<HostPort> = host_ports(&pod.spec).collect();
            self.freed_ports.retain(|p| !ports.contains(p));
        }
        self.pods.push(pod);
    }

    /// What a pod counts on the node.
    pub fn requests_of(&self, pod: &Pod, features: &Features) -> Cow<'_, Resources> {
        self.known.of(pod, features)
    }

    /// The same node without the pods that `gone` picks.
    #[must_use]
    pub fn without(&self, features: &Features, gone: impl Fn(&Pod) -> bool) -> NodeInfo<'a> {
        let mut rest = self.clone();
        rest.pods.retain(|pod| {
            let goes = gone(pod);
            if goes {
                rest.requested.subtract(&self.known.of(pod, features));
                rest.freed_ports.extend(host_ports(&pod.spec));
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

/// What pods request, worked out once for those that share spec and status.
#[derive(Debug, Default)]
struct Requests(FxHashMap<(usize, usize), Resources>);

impl Requests {
    fn key(pod: &Pod) -> (usize, usize) {
        (pod.spec.address(), pod.status.address())
    }

    fn of(&self, pod: &Pod, features: &Features) -> Cow<'_, Resources> {
        self.0.get(&Requests::key(pod)).map_or_else(|| Cow::Owned(bound_requests(pod, features)), Cow::Borrowed)
    }
}

/// Every node of the snapshot with the pods bound to it, by name: what is said of them must not
/// depend on the order in which they were read.
pub fn node_infos<'a>(snapshot: &'a Snapshot, features: &Features) -> Vec<NodeInfo<'a>> {
    let mut nodes: Vec<&Node> = snapshot.nodes.iter().collect();
    nodes.sort_by(|a, b| a.name().cmp(b.name()));
    let index: FxHashMap<&str, usize> = nodes.iter().enumerate().map(|(i, node)| (node.name(), i)).collect();
    let place = |pod: &'a Pod| Some((*index.get(pod.node_name()?)?, pod));
    let placed: Vec<(usize, &Pod)> = snapshot.pods.iter().filter(|p| !p.is_terminal()).filter_map(place).collect();
    let mut counts = vec![0; nodes.len()];
    placed.iter().for_each(|(i, _)| counts[*i] += 1);
    let mut known = Requests::default();
    for (_, pod) in &placed {
        known.0.entry(Requests::key(pod)).or_insert_with(|| bound_requests(pod, features));
    }
    let known = Arc::new(known);
    let of_node = |(node, count)| NodeInfo {
        pods_known: snapshot.knows_pods_of(Node::name(node)),
        pods: Vec::with_capacity(count),
        known: known.clone(),
        ..NodeInfo::new(node)
    };
    let mut infos: Vec<NodeInfo> = nodes.into_iter().zip(counts).map(of_node).collect();
    for (i, pod) in placed {
        if let Some(info) = infos.get_mut(i) {
            info.add(pod, features);
        }
    }
    infos
}
