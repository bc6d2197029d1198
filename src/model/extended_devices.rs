//! Extended resources that a device class provides.
//!
//! Upstream: `pkg/scheduler/framework/plugins/dynamicresources/extendeddynamicresources.go`,
//! `shouldDelegateResourceToDRA` of `noderesources/fit.go`, and
//! `k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache` (v1.37.2).

use super::node_info::NodeInfo;
use super::pod::{Container, PodSpec};
use super::pod_requests::spec_requests;
use super::resource_claim::{DeviceClass, DeviceRequest, ExactDeviceRequest, ResourceClaim};
use super::snapshot::Snapshot;
use super::version::Features;

/// The annotation of the claim that the scheduler makes for a pod's extended resources.
const CLAIM_ANNOTATION: &str = "resource.kubernetes.io/extended-resource-claim";
/// Before the name of a device class, it is an extended resource's name.
const CLASS_PREFIX: &str = "deviceclass.resource.kubernetes.io/";

/// The device class of this name.
pub fn class_of<'a>(snapshot: &'a Snapshot, name: &str) -> Option<&'a DeviceClass> {
    snapshot.device_classes.iter().find(|c| c.metadata.name == name)
}

/// The class that provides an extended resource: the newest that names it, or the one whose name
/// is in the resource's.
pub fn class_for<'a>(snapshot: &'a Snapshot, resource: &str) -> Option<&'a DeviceClass> {
    if let Some(name) = resource.strip_prefix(CLASS_PREFIX) {
        return class_of(snapshot, name);
    }
    let named = snapshot.device_classes.iter().filter(|c| c.spec.extended_resource_name.as_deref() == Some(resource));
    named.min_by(|a, b| {
        let age = b.metadata.creation_timestamp.cmp(&a.metadata.creation_timestamp);
        age.then_with(|| a.metadata.name.cmp(&b.metadata.name))
    })
}

/// True if the resource is left to the devices of a class on this node. An error says why that
/// cannot be told.
pub fn is_delegated(snapshot: &Snapshot, features: &Features, resource: &str, info: &NodeInfo) -> Result<bool, String> {
    if !features.dra_extended_resources || !is_extended(resource) || info.allocatable.get(resource) > 0 {
        return Ok(false);
    }
    match (class_for(snapshot, resource), snapshot.device_classes.unknown()) {
        (Some(_), _) => Ok(true),
        (None, None) => Ok(false),
        (None, Some(unread)) => Err(format!("whether a class provides {resource} is not among the {unread}")),
    }
}

/// True for the names that a device class may provide (upstream: `IsDRAExtendedResourceName`).
fn is_extended(resource: &str) -> bool {
    let native = !resource.contains('/') || resource.contains("kubernetes.io/");
    resource.starts_with(CLASS_PREFIX) || !(native || resource.starts_with("requests."))
}

/// The pod's extended resources of which some class provides at least one.
pub struct ExtendedResources<'a> {
    spec: &'a PodSpec,
    snapshot: &'a Snapshot,
    resources: Vec<String>,
    /// The claim of an earlier attempt to schedule the pod.
    pub stale: Option<&'a ResourceClaim>,
}

impl<'a> ExtendedResources<'a> {
    /// Those of a pod, if there are any.
    pub fn of(spec: &'a PodSpec, pod_uid: &str, snapshot: &'a Snapshot, features: &Features) -> Result<Option<Self>, String> {
        if !features.dra_extended_resources {
            return Ok(None);
        }
        let requests = spec_requests(spec, features);
        let wanted = requests.scalar.into_iter().filter(|(name, amount)| *amount > 0 && is_extended(name));
        let resources: Vec<String> = wanted.map(|(name, _)| name).collect();
        if resources.iter().all(|r| class_for(snapshot, r).is_none()) {
            // NodeResourcesFit says so where an unread class would matter.
            return Ok(None);
        }
        let of_pod = |claim: &&ResourceClaim| {
            claim.metadata.annotations.get(CLAIM_ANNOTATION).is_some_and(|v| v == "true")
                && !pod_uid.is_empty()
                && claim.metadata.controller().is_some_and(|o| o.uid == pod_uid)
        };
        let stale = snapshot.resource_claims.iter().find(of_pod).filter(|c| !c.spec.devices.requests.is_empty());
        Ok(Some(ExtendedResources { spec, snapshot, resources, stale }))
    }

    /// The requests of the claim that the scheduler would make for this node. An error names a
    /// resource that neither the node nor a class has.
    pub fn for_node(&self, info: &NodeInfo) -> Result<Vec<DeviceRequest>, String> {
        let mut requests = Vec::new();
        for resource in &self.resources {
            match class_for(self.snapshot, resource) {
                Some(class) if info.allocatable.get(resource) == 0 => requests.extend(self.requests(resource, class)),
                _ if info.allocatable.scalar.contains_key(resource) => {}
                _ => return Err(resource.clone()),
            }
        }
        requests.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(requests)
    }

    /// Containers and sidecars have devices of their own; plain init containers use those of the
    /// containers after them first, and share what else they need.
    fn requests(&self, resource: &str, class: &DeviceClass) -> Vec<DeviceRequest> {
        let containers: Vec<&Container> = self.spec.init_containers.iter().chain(&self.spec.containers).collect();
        let is_plain_init = |i: usize| i < self.spec.init_containers.len() && !containers[i].is_sidecar();
        let amount = |i: usize| containers[i].resources.requests.get(resource).map_or(0, |q| q.value());
        let request = |i: usize, count: i64| DeviceRequest {
            name: format!("container-{i}-request-{}", containers[i].resources.requests.keys().position(|k| k == resource).unwrap_or(0)),
            exactly: Some(ExactDeviceRequest {
                device_class_name: class.metadata.name.clone(),
                allocation_mode: "ExactCount".into(),
                count,
                ..Default::default()
            }),
            ..Default::default()
        };
        let mut requests = Vec::new();
        let mut most: Option<(usize, i64)> = None;
        for i in 0..containers.len() {
            if !is_plain_init(i) {
                if amount(i) > 0 {
                    requests.push(request(i, amount(i)));
                }
                continue;
            }
            let later: i64 = (i..containers.len()).filter(|j| !is_plain_init(*j)).map(amount).sum();
            let more = amount(i) - later;
            if more > 0 && most.is_none_or(|(_, most)| more > most) {
                most = Some((i, more));
            }
        }
        requests.extend(most.map(|(i, count)| request(i, count)));
        requests
    }
}
