//! A node with the pods on it and what they take up.
//!
//! Upstream: `NodeInfo` of `pkg/scheduler/framework/types.go` (v1.37.2). Terminal pods count for
//! nothing; terminating ones count in full.

use std::collections::{HashMap, HashSet};

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
        }
    }

    /// Puts a pod on the node.
    pub fn add(&mut self, pod: &'a Pod, features: &Features) {
        self.requested.add(&bound_requests(pod, features));
        if !self.freed_ports.is_empty() {
            let ports: Vec<HostPort> = host_ports(&pod.spec).collect();
            self.freed_ports.retain(|p| !ports.contains(p));
        }
        self.pods.push(pod);
    }

    /// The same node without the pods that `gone` picks.
    #[must_use]
    pub fn without(&self, features: &Features, gone: impl Fn(&Pod) -> bool) -> NodeInfo<'a> {
        let mut rest = self.clone();
        rest.pods.retain(|pod| {
            let goes = gone(pod);
            if goes {
                rest.requested.subtract(&bound_requests(pod, features));
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

/// Every node of the snapshot with the pods bound to it, by name: what is said of them must not
/// depend on the order in which they were read.
pub fn node_infos<'a>(snapshot: &'a Snapshot, features: &Features) -> Vec<NodeInfo<'a>> {
    let mut infos: Vec<NodeInfo> = snapshot.nodes.iter().map(NodeInfo::new).collect();
    infos.sort_by(|a, b| a.node.name().cmp(b.node.name()));
    let index: HashMap<&str, usize> = infos.iter().enumerate().map(|(i, info)| (info.node.name(), i)).collect();
    for info in &mut infos {
        info.pods_known = snapshot.knows_pods_of(info.node.name());
    }
    for pod in snapshot.pods.iter().filter(|p| !p.is_terminal()) {
        if let Some(&i) = pod.node_name().and_then(|n| index.get(n)) {
            infos[i].add(pod, features);
        }
    }
    infos
}
