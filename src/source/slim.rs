//! Makes pods small: what no check uses of a pod is dropped, what many pods have alike is shared.
//!
//! A pod of the DaemonSets in question is kept in full. Of any other pod only what it takes up on
//! its node and whom it repels counts: its requests, host ports, volumes, anti-affinity, labels,
//! priority and owner. 150,000 pods then need some 60 MB (`examples/held.rs` counts them).

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use prost::Message;
use rustc_hash::{FxHashMap, FxHasher};

use super::sift::Sieve;
use super::sift_node::NodeSieve;
use crate::model::event::Event;
use crate::model::labels::{Label, Labels};
use crate::model::node::{Node, NodeSystemInfo, ResourceList};
use crate::model::object::OwnerReference;
use crate::model::pod::{Container, ContainerStatus, Pod, PodSpec, PodStatus, ResourceRequirements};
use crate::model::pod_requests::own_requests;
use crate::model::shared::Shared;
use crate::model::volume::Volume;

/// The DaemonSets in question.
#[derive(Clone, Debug, Default)]
pub struct Focus {
    /// Only those of this namespace.
    pub namespace: Option<String>,
    /// Only those of these names; none: all of them.
    pub names: Vec<String>,
}

impl Focus {
    /// True if the pod may be one of theirs: a pod of these DaemonSets, or one without a controller.
    pub(super) fn has_pod(&self, pod: &Pod) -> bool {
        let meta = &pod.metadata;
        let here = self.namespace.as_ref().is_none_or(|n| *n == meta.namespace);
        here && match meta.controller() {
            None => true,
            Some(owner) => owner.kind == "DaemonSet" && (self.names.is_empty() || self.names.contains(&owner.name)),
        }
    }

    /// True if the event may bear on them.
    pub fn has_event(&self, event: &Event) -> bool {
        let about = &event.involved_object;
        let here = self.namespace.as_ref().is_none_or(|n| *n == about.namespace);
        match about.kind.as_str() {
            "Node" | "PersistentVolume" => true,
            "DaemonSet" => here && (self.names.is_empty() || self.names.contains(&about.name)),
            "Pod" => {
                event.reason == "Preempted" || (here && (self.names.is_empty() || self.names.iter().any(|n| is_made_for(&about.name, n))))
            }
            "PersistentVolumeClaim" => here,
            _ => here && self.names.is_empty(),
        }
    }
}

/// True if a pod of this name may be of the controller of that name.
fn is_made_for(pod: &str, controller: &str) -> bool {
    // Names are cut to leave room for the random end.
    pod.rsplit_once('-').is_some_and(|(stem, _)| stem == controller || (stem.len() >= 50 && controller.starts_with(stem)))
}

/// Makes pods small, one after the other.
#[derive(Debug, Default)]
pub struct Slimmer {
    /// The DaemonSets whose pods are kept in full.
    pub focus: Focus,
    pub(super) words: Words,
    labels: Pool<Labels>,
    owners: Pool<Vec<OwnerReference>>,
    specs: Pool<PodSpec>,
    statuses: Pool<PodStatus>,
    buffer: Vec<u8>,
    amounts: Pool<ResourceList>,
    infos: Pool<NodeSystemInfo>,
    /// What reading from protobuf remembers.
    pub(super) sieve: Sieve,
    pub(super) node_sieve: NodeSieve,
}

impl Slimmer {
    /// A slimmer that keeps the pods of these DaemonSets in full.
    pub fn new(focus: Focus) -> Self {
        Slimmer { focus, ..Slimmer::default() }
    }

    /// Makes one pod small.
    pub fn pod(&mut self, pod: &mut Pod) {
        pod.metadata.labels.settle();
        let labels = hash_of(&*pod.metadata.labels);
        self.labels.share(&mut pod.metadata.labels, labels);
        let owners = pod.metadata.owner_references.iter().map(|o| (&o.kind, &o.name, &o.uid));
        let owners = hash_of(&owners.collect::<Vec<_>>());
        self.owners.share(&mut pod.metadata.owner_references, owners);
        pod.moved_node_name = std::mem::take(&mut pod.spec.node_name);
        pod.moved_start_time = pod.status.start_time.take();
        if !self.focus.has_pod(pod) {
            reduce(pod);
        } else if is_well(pod) {
            settle(pod);
        } else {
            // What is read grows in leaps; a copy takes no more than it needs.
            *pod = pod.clone();
            pod.spec = (*pod.spec).clone().into();
            pod.status = (*pod.status).clone().into();
            return;
        }
        let spec = self.hash_of_message(&pod.spec);
        self.specs.share(&mut pod.spec, spec);
        self.share_status(pod);
    }

    /// Has a node share with others what they have alike.
    pub fn node(&mut self, node: &mut Node) {
        for label in node.metadata.labels.iter_mut() {
            *label = Label { key: self.words.of(&label.key), value: self.words.of(&label.value) };
        }
        node.metadata.labels.settle();
        let status = &mut node.status;
        for amounts in [&mut status.capacity, &mut status.allocatable] {
            // Spelling counts: equal amounts may be spelled otherwise.
            let spelled = hash_of(&amounts.iter().map(|(name, amount)| (name, amount.to_string())).collect::<Vec<_>>());
            self.amounts.share(amounts, spelled);
        }
        let info = self.hash_of_message(&status.node_info);
        self.infos.share(&mut status.node_info, info);
        status.conditions.shrink_to_fit();
    }

    /// Has the pod share its status with those that have the same.
    pub(super) fn share_status(&mut self, pod: &mut Pod) {
        let status = self.hash_of_message(&pod.status);
        self.statuses.share(&mut pod.status, status);
    }

    fn hash_of_message<T: Message + Default + Clone>(&mut self, message: &Shared<T>) -> u64 {
        self.buffer.clear();
        message.encode_raw(&mut self.buffer);
        hash_of(&self.buffer)
    }
}

fn hash_of<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Keys and values of labels, each held once.
#[derive(Debug, Default)]
pub(super) struct Words(FxHashMap<u64, Arc<String>>);

impl Words {
    /// The word, as others have it.
    pub(super) fn of(&mut self, word: &str) -> Arc<String> {
        let known = self.0.entry(hash_of(word)).or_insert_with(|| Arc::new(word.into()));
        // Another word with this hash only costs memory.
        if ***known == *word { known.clone() } else { Arc::new(word.into()) }
    }
}

/// Values of which each is held once.
#[derive(Debug)]
struct Pool<T>(HashMap<u64, Shared<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool(HashMap::new())
    }
}

impl<T: Clone + PartialEq> Pool<T> {
    fn share(&mut self, value: &mut Shared<T>, hash: u64) {
        // What is read grows in leaps; a copy takes no more than it needs.
        let known = self.0.entry(hash).or_insert_with(|| T::clone(value).into());
        // Another value with this hash only costs memory.
        if !known.same(value) && **known == **value {
            *value = known.clone();
        }
    }
}

/// True for the volume that admission adds to every pod, under another name each.
pub(super) fn is_token(name: &str) -> bool {
    name.starts_with("kube-api-access-")
}

/// True if nothing has to be explained of a pod: it runs, is ready and stays.
pub(super) fn is_well(pod: &Pod) -> bool {
    let ready = pod.status.conditions.iter().any(|c| c.r#type == "Ready" && c.status == "True");
    ready && pod.status.phase == "Running" && !pod.moved_node_name.is_empty() && !pod.is_terminating()
}

/// Drops what no check uses of a pod in question that is well, and what differs between the pods of
/// a DaemonSet though it says nothing: the node that it is bound to anyway, the volume of its token.
pub(super) fn settle(pod: &mut Pod) {
    settle_status(&mut pod.status, &pod.spec);
    settle_spec(&mut pod.spec);
}

/// The part of [`settle`] that is about the spec.
pub(super) fn settle_spec(spec: &mut PodSpec) {
    if let Some(affinity) = &mut spec.affinity {
        affinity.node_affinity = None;
        affinity.pod_affinity.iter_mut().chain(&mut affinity.pod_anti_affinity).for_each(|a| a.preferred = Vec::new());
        if *affinity == Default::default() {
            spec.affinity = None;
        }
    }
    spec.volumes.retain(|v| v.source.projected.is_none() || !is_token(&v.name));
    for container in spec.containers.iter_mut().chain(&mut spec.init_containers) {
        container.volume_mounts.retain(|m| !is_token(&m.name));
    }
}

/// The part of [`settle`] that is about the status.
pub(super) fn settle_status(status: &mut PodStatus, spec: &PodSpec) {
    let resized = is_resized(status, spec);
    let said = ["PodReadyToStartContainers", "Initialized", "ContainersReady", "PodScheduled"];
    status.conditions.retain(|c| c.status != "True" || !said.contains(&c.r#type.as_str()));
    if !resized {
        (status.allocated_resources, status.resources) = Default::default();
        for container in status.container_statuses.iter_mut().chain(&mut status.init_container_statuses) {
            (container.allocated_resources, container.resources) = Default::default();
        }
    }
    *status = status.clone();
}

/// Drops what no check uses of a pod that is not in question.
pub(super) fn reduce(pod: &mut Pod) {
    let bound = !pod.moved_node_name.is_empty();
    reduce_meta(pod);
    reduce_status(&mut pod.status, &pod.spec);
    let named = !pod.status.container_statuses.is_empty()
        || !pod.status.init_container_statuses.is_empty()
        || pod.status.extended_resource_claim_status.is_some();
    reduce_spec(&mut pod.spec, bound, named);
}

/// The same of its metadata.
pub(super) fn reduce_meta(pod: &mut Pod) {
    if pod.spec.resource_claims.is_empty() && pod.status.extended_resource_claim_status.is_none() {
        pod.metadata.uid = String::new();
    }
    if !pod.is_terminating() {
        pod.metadata.finalizers = Vec::new();
    }
}

fn reduce_spec(spec: &mut PodSpec, bound: bool, named: bool) {
    let whole = std::mem::take(spec);
    let host_network = whole.host_network;
    let container = |c: Container| reduce_container(c, host_network, named);
    *spec = PodSpec {
        containers: whole.containers.into_iter().map(container).collect(),
        init_containers: whole.init_containers.into_iter().map(container).collect(),
        volumes: whole.volumes.into_iter().filter_map(reduce_volume).collect(),
        affinity: whole.affinity.and_then(|mut affinity| {
            affinity.pod_affinity = None;
            // Preferences repel nobody.
            affinity.pod_anti_affinity = affinity.pod_anti_affinity.take().filter(|a| !a.required.is_empty());
            affinity.pod_anti_affinity.iter_mut().for_each(|a| a.preferred = Vec::new());
            if bound {
                affinity.node_affinity = None;
            }
            (affinity != Default::default()).then_some(affinity)
        }),
        host_network,
        // Of a pod that is nominated to a node it matters whose queue it is in, and whether it may leave it.
        scheduler_name: if bound { String::new() } else { whole.scheduler_name },
        scheduling_gates: if bound { Vec::new() } else { whole.scheduling_gates },
        priority: whole.priority,
        priority_class_name: whole.priority_class_name,
        overhead: whole.overhead,
        resources: whole.resources,
        resource_claims: whole.resource_claims,
        ..PodSpec::default()
    };
}

fn reduce_container(whole: Container, host_network: bool, named: bool) -> Container {
    // What a limit stands for is kept as the request, where the API server has not filled it in.
    let requests = own_requests(&whole);
    let mut ports = whole.ports;
    ports.retain(|p| p.host_port != 0 || host_network);
    let resources = ResourceRequirements { requests, limits: ResourceList::new(), claims: whole.resources.claims };
    Container {
        name: if named || !resources.claims.is_empty() { whole.name } else { String::new() },
        ports,
        resources,
        restart_policy: whole.restart_policy,
        ..Container::default()
    }
}

/// The volume, if it may keep another pod off a node.
fn reduce_volume(mut volume: Volume) -> Option<Volume> {
    let s = &mut volume.source;
    (s.host_path, s.empty_dir, s.secret, s.config_map, s.projected, s.downward_api) = Default::default();
    if s.ephemeral.is_none() {
        volume.name = String::new();
    }
    (volume != Volume::default()).then_some(volume)
}

fn reduce_status(status: &mut PodStatus, spec: &PodSpec) {
    let resized = is_resized(status, spec);
    let whole = std::mem::take(status);
    let infeasible = whole.conditions.iter().any(|c| c.r#type == "PodResizePending" && c.reason == "Infeasible");
    let mut conditions = whole.conditions;
    conditions.retain(|c| match c.r#type.as_str() {
        "Ready" | "DisruptionTarget" => true,
        "PodResizePending" => infeasible,
        _ => false,
    });
    for condition in &mut conditions {
        condition.last_transition_time = None;
        condition.message = String::new();
    }
    let facts = |statuses: Vec<ContainerStatus>| -> Vec<ContainerStatus> {
        let facts = statuses.into_iter().filter(|_| resized);
        facts
            .map(|s| ContainerStatus {
                name: s.name,
                allocated_resources: s.allocated_resources,
                resources: s.resources,
                ..Default::default()
            })
            .collect()
    };
    *status = PodStatus {
        phase: whole.phase,
        conditions,
        container_statuses: facts(whole.container_statuses),
        init_container_statuses: facts(whole.init_container_statuses),
        nominated_node_name: whole.nominated_node_name,
        resource_claim_statuses: whole.resource_claim_statuses,
        extended_resource_claim_status: whole.extended_resource_claim_status,
        allocated_resources: if resized { whole.allocated_resources } else { ResourceList::new() },
        resources: whole.resources.filter(|_| resized),
        ..PodStatus::default()
    };
}

/// True if the status has a say in what the pod requests: it was, or is to be, resized.
fn is_resized(status: &PodStatus, spec: &PodSpec) -> bool {
    let infeasible = status.conditions.iter().any(|c| c.r#type == "PodResizePending" && c.reason == "Infeasible");
    let statuses = || status.container_statuses.iter().chain(&status.init_container_statuses);
    infeasible || spec.resources.is_some() || statuses().any(|s| differs(s, spec))
}

/// True if the status says other requests than the spec: the container was resized.
fn differs(status: &ContainerStatus, spec: &PodSpec) -> bool {
    let same = |list: &ResourceList| {
        list.is_empty()
            || spec.containers.iter().chain(&spec.init_containers).any(|c| c.name == status.name && c.resources.requests == *list)
    };
    !same(&status.allocated_resources) || !status.resources.as_ref().is_none_or(|r| same(&r.requests))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_preemption_asks_of_other_pods_stays() {
        let made = |node: &str| {
            let pod = serde_json::json!({"metadata": {"name": "a", "namespace": "x", "ownerReferences": [{"kind": "Job", "name": "j", "uid": "u", "controller": true}]},
                "spec": {"nodeName": node, "schedulerName": "batch", "schedulingGates": [{"name": "g"}], "restartPolicy": "Never"},
                "status": {"startTime": "2026-01-01T00:00:00Z", "nominatedNodeName": "n", "conditions": [
                    {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "m"}, {"type": "Initialized", "status": "True"}]}});
            let mut pod: Pod = serde_json::from_value(pod).unwrap();
            Slimmer::default().pod(&mut pod);
            let conditions: Vec<String> =
                pod.status.conditions.iter().map(|c| format!("{} {} {}", c.r#type, c.reason, c.message)).collect();
            (pod.spec.scheduler_name.clone(), pod.spec.scheduling_gates.len(), conditions.join(","), pod.start_time().is_some())
        };
        let disruption = "DisruptionTarget PreemptionByScheduler ".to_string();
        assert_eq!(made(""), ("batch".into(), 1, disruption.clone(), true));
        assert_eq!(made("n"), (String::new(), 0, disruption, true));
    }

    #[test]
    fn a_limit_without_request_counts_after_slimming_too() {
        let whole: Container =
            serde_json::from_str(r#"{"name":"c","resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"100m"}}}"#).unwrap();
        let slim = reduce_container(whole, false, false);
        let requests: Vec<String> = slim.resources.requests.iter().map(|(n, q)| format!("{n}={q}")).collect();
        assert_eq!(requests, ["cpu=100m", "memory=1Gi"]);
        assert!(slim.resources.limits.is_empty());
    }
}
