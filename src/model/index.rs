//! What judging any DaemonSet of a snapshot looks up, gathered once for all of them.

use std::cmp::Ordering;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::daemon_set::DaemonSet;
use super::event::Event;
use super::node_info::{NodeInfo, node_infos};
use super::object::Object;
use super::pod::Pod;
use super::snapshot::Snapshot;
use super::version::Features;

/// A snapshot with what is looked up in it.
pub struct Index<'a> {
    /// The cluster.
    pub snapshot: &'a Snapshot,
    /// What its version has switched on.
    pub features: Features,
    /// Every node with the pods on it.
    pub nodes: Arc<[NodeInfo<'a>]>,
    /// The events.
    pub events: Arc<Events<'a>>,
    /// Pods by the uid of their controller; those of controllers without one under "".
    controlled: FxHashMap<&'a str, Vec<&'a Pod>>,
    /// Pods by namespace.
    pub neighbours: Arc<Neighbours<'a>>,
}

/// Pods by namespace.
#[derive(Debug, Default)]
pub struct Neighbours<'a>(FxHashMap<&'a str, Vec<&'a Pod>>);

impl<'a> Neighbours<'a> {
    fn new(pods: &'a [Pod]) -> Self {
        let mut by_namespace: FxHashMap<&str, Vec<&Pod>> = FxHashMap::default();
        // Lists are in the order of the namespaces: each is looked up once.
        for pods in pods.chunk_by(|a, b| a.metadata.namespace == b.metadata.namespace) {
            if let Some(first) = pods.first() {
                by_namespace.entry(&first.metadata.namespace).or_default().extend(pods);
            }
        }
        Neighbours(by_namespace)
    }

    /// The pods of a namespace.
    pub fn of(&self, namespace: &str) -> &[&'a Pod] {
        self.0.get(namespace).map_or(&[], Vec::as_slice)
    }
}

impl<'a> Index<'a> {
    /// Gathers it.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        let features = snapshot.version.features();
        // The pods of a workload share their list of owners.
        let mut by_owners: FxHashMap<usize, Vec<&Pod>> = FxHashMap::default();
        for pod in snapshot.pods.iter() {
            by_owners.entry(pod.metadata.owner_references.address()).or_default().push(pod);
        }
        let mut controlled: FxHashMap<&str, Vec<&Pod>> = FxHashMap::default();
        for pods in by_owners.into_values() {
            if let Some(owner) = pods.first().and_then(|p| p.metadata.controller()) {
                controlled.entry(&owner.uid).or_default().extend(pods);
            }
        }
        let nodes = node_infos(snapshot, &features).into();
        let neighbours = Arc::new(Neighbours::new(&snapshot.pods));
        Index { snapshot, features, nodes, events: Arc::new(Events::new(&snapshot.events)), controlled, neighbours }
    }

    /// The pods that may be the DaemonSet's, by the uid of their controller.
    pub fn pods_of(&self, ds: &DaemonSet) -> impl Iterator<Item = &'a Pod> {
        let uid = ds.metadata.uid.as_str();
        // Without a uid, names tell.
        let all = self.controlled.iter().filter(move |(of, _)| uid.is_empty() || of.is_empty() || **of == uid);
        all.flat_map(|(_, pods)| pods).copied()
    }
}

/// By time; of one moment there may be several, and which of them was read first says nothing. Names end in the time of the
/// first of its kind; a failure is told before what follows from it.
fn in_order(a: &Event, b: &Event) -> Ordering {
    let turn = |e: &Event| match e.reason.as_str() {
        "Failed" => 0,
        "BackOff" => 1,
        _ => 2,
    };
    let name = || a.metadata.name.cmp(&b.metadata.name);
    let words = || (turn(a), &a.reason, &a.message).cmp(&(turn(b), &b.reason, &b.message));
    a.last_seen().cmp(&b.last_seen()).then_with(name).then_with(words)
}

/// Events by what they are about, and by who tells them.
#[derive(Debug, Default)]
pub struct Events<'a> {
    by_object: FxHashMap<(&'a str, &'a str, &'a str), Vec<&'a Event>>,
    by_host: FxHashMap<&'a str, Vec<&'a Event>>,
}

impl<'a> Events<'a> {
    fn new(events: &'a [Event]) -> Self {
        let mut index = Events::default();
        for event in events {
            let about = &event.involved_object;
            index.by_object.entry((&about.kind, &about.namespace, &about.name)).or_default().push(event);
            index.by_host.entry(&event.source.host).or_default().push(event);
        }
        index.by_object.values_mut().chain(index.by_host.values_mut()).for_each(|events| events.sort_by(|a, b| in_order(a, b)));
        index
    }

    /// The events about one object, oldest first.
    pub fn of<T: Object>(&self, object: &T) -> Vec<&'a Event> {
        let meta = object.meta();
        let named = self.by_object.get(&(T::KIND, meta.namespace.as_str(), meta.name.as_str()));
        let same = |uid: &str| uid.is_empty() || meta.uid.is_empty() || uid == meta.uid;
        named.into_iter().flatten().copied().filter(|e| same(&e.involved_object.uid)).collect()
    }

    /// What a node's kubelet says.
    pub fn from_host(&self, node: &str) -> &[&'a Event] {
        self.by_host.get(node).map_or(&[], Vec::as_slice)
    }
}
