//! What a pod requests of its node.
//!
//! Upstream: `PodRequests` of `k8s.io/component-helpers/resource/helpers.go` (v0.34.3, v0.37.2)
//! and `Resource.Add` / `SetMaxResource` of `pkg/scheduler/framework/types.go`.

use std::collections::BTreeMap;

use super::node::ResourceList;
use super::pod::{Container, ContainerStatus, Pod, PodSpec, PodStatus, ResourceRequirements};
use super::quantity::{Format, Quantity};
use super::version::Features;

/// Amounts as the scheduler adds them up: whole millicores, bytes and devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// CPU in millicores.
    pub milli_cpu: i64,
    /// Memory in bytes.
    pub memory: i64,
    /// Ephemeral storage in bytes.
    pub ephemeral_storage: i64,
    /// Hugepages (bytes), extended resources and the like, by name.
    pub scalar: BTreeMap<String, i64>,
}

impl Resources {
    /// The scheduler's reading of a list of quantities; each is rounded up on its own.
    pub fn from_list(list: &ResourceList) -> Self {
        let mut r = Resources::default();
        for (name, quantity) in list {
            match name.as_str() {
                "cpu" => r.milli_cpu = quantity.milli_value(),
                "memory" => r.memory = quantity.value(),
                "ephemeral-storage" => r.ephemeral_storage = quantity.value(),
                "pods" => {}
                name if is_scalar(name) => {
                    r.scalar.insert(name.to_string(), quantity.value());
                }
                _ => {}
            }
        }
        r
    }

    /// Adds `other` to these amounts.
    pub fn add(&mut self, other: &Resources) {
        self.milli_cpu = self.milli_cpu.saturating_add(other.milli_cpu);
        self.memory = self.memory.saturating_add(other.memory);
        self.ephemeral_storage = self.ephemeral_storage.saturating_add(other.ephemeral_storage);
        for (name, amount) in &other.scalar {
            match self.scalar.get_mut(name) {
                Some(sum) => *sum = sum.saturating_add(*amount),
                None => {
                    self.scalar.insert(name.clone(), *amount);
                }
            }
        }
    }

    /// Takes `other` away from these amounts.
    pub fn subtract(&mut self, other: &Resources) {
        self.milli_cpu = self.milli_cpu.saturating_sub(other.milli_cpu);
        self.memory = self.memory.saturating_sub(other.memory);
        self.ephemeral_storage = self.ephemeral_storage.saturating_sub(other.ephemeral_storage);
        for (name, amount) in &other.scalar {
            if let Some(sum) = self.scalar.get_mut(name) {
                *sum = sum.saturating_sub(*amount);
            }
        }
    }

    /// The amount of one resource, in its own unit (millicores for cpu).
    pub fn get(&self, name: &str) -> i64 {
        match name {
            "cpu" => self.milli_cpu,
            "memory" => self.memory,
            "ephemeral-storage" => self.ephemeral_storage,
            name => self.scalar.get(name).copied().unwrap_or(0),
        }
    }
}

/// The amount (of [`Resources::get`]) spelled as Kubernetes spells quantities of this resource.
pub fn spell(name: &str, amount: i64) -> String {
    match name {
        "cpu" => Quantity::millis(amount).to_string(),
        "memory" | "ephemeral-storage" => Quantity::units(amount, Format::BinarySi).to_string(),
        name if name.starts_with("hugepages-") => Quantity::units(amount, Format::BinarySi).to_string(),
        _ => Quantity::units(amount, Format::DecimalSi).to_string(),
    }
}

/// True for the names that the scheduler counts beside cpu, memory and ephemeral storage
/// (upstream: `IsScalarResourceName`).
pub fn is_scalar(name: &str) -> bool {
    name.starts_with("hugepages-") || name.starts_with("attachable-volumes-") || name.contains('/')
}

/// What a pod that is not bound yet requests: its spec alone counts.
pub fn spec_requests(spec: &PodSpec, features: &Features) -> Resources {
    Resources::from_list(&requests(spec, None, features))
}

/// What a pod on a node counts there; during a resize its status has a say.
pub fn bound_requests(pod: &Pod, features: &Features) -> Resources {
    let status = features.in_place_resize.then_some(&*pod.status);
    Resources::from_list(&requests(&pod.spec, status, features))
}

/// Upstream's `PodRequests`, as quantities.
pub fn requests(spec: &PodSpec, status: Option<&PodStatus>, features: &Features) -> ResourceList {
    let status = status.filter(|s| has_resize_facts(s));
    let mut sum = match status {
        None => aggregate(spec, own_requests),
        Some(status) if features.resize_by_sums => resized_by_sums(spec, status, features),
        Some(status) => resized_by_container(spec, status),
    };
    if features.pod_level_resources
        && let Some(pod_level) =
            spec.resources.as_ref().map(|own| stored_requests(spec, own, features)).filter(|r| r.keys().any(|n| is_pod_level(n)))
    {
        let mut effective = pod_level;
        if let Some(status) = status.filter(|_| features.in_place_pod_level_resize)
            && let Some(actual) = &status.resources
        {
            if is_resize_infeasible(status) {
                effective.clear();
            }
            raise(&mut effective, &actual.requests);
            raise(&mut effective, &status.allocated_resources);
        }
        for (name, quantity) in effective.iter().filter(|(n, _)| is_pod_level(n)) {
            sum.insert(name.clone(), quantity.rounded_to_milli());
        }
    }
    add(&mut sum, &spec.overhead);
    sum
}

/// Upstream's `PodLimits` of a pod that is not bound yet, as quantities; overhead is added only
/// where there is a limit.
pub fn limits(spec: &PodSpec, features: &Features) -> ResourceList {
    let mut sum = container_limits(spec);
    if features.pod_level_resources
        && let Some(own) = &spec.resources
    {
        for (name, quantity) in own.limits.iter().filter(|(n, _)| is_pod_level(n)) {
            sum.insert(name.clone(), quantity.rounded_to_milli());
        }
    }
    for (name, overhead) in &spec.overhead {
        if let Some(limit) = sum.get_mut(name).filter(|l| !l.is_zero()) {
            *limit = limit.plus(overhead.rounded_to_milli());
        }
    }
    sum
}

/// Most pods were never resized; their status changes nothing.
fn has_resize_facts(status: &PodStatus) -> bool {
    status.resources.is_some()
        || status
            .container_statuses
            .iter()
            .chain(&status.init_container_statuses)
            .any(|s| s.resources.is_some() || !s.allocated_resources.is_empty())
        || is_resize_infeasible(status)
}

fn is_resize_infeasible(status: &PodStatus) -> bool {
    status.conditions.iter().find(|c| c.r#type == "PodResizePending").is_some_and(|c| c.reason == "Infeasible")
}

/// Containers and sidecars count by sum; a plain init container by its peak, with the sidecars
/// before it.
fn aggregate(spec: &PodSpec, of: impl Fn(&Container) -> ResourceList) -> ResourceList {
    let mut sum = ResourceList::new();
    for container in &spec.containers {
        add(&mut sum, &of(container));
    }
    let (mut sidecars, mut peak) = (ResourceList::new(), ResourceList::new());
    for container in &spec.init_containers {
        let amounts = of(container);
        if container.is_sidecar() {
            add(&mut sum, &amounts);
            add(&mut sidecars, &amounts);
            raise(&mut peak, &sidecars);
        } else {
            let mut during = ResourceList::new();
            add(&mut during, &amounts);
            add(&mut during, &sidecars);
            raise(&mut peak, &during);
        }
    }
    raise(&mut sum, &peak);
    sum
}

fn status_of<'a>(status: &'a PodStatus, name: &str) -> Option<&'a ContainerStatus> {
    status.container_statuses.iter().chain(&status.init_container_statuses).find(|s| s.name == name)
}

/// Up to 1.36: the greatest of each container's spec, allocated and actual amounts, if its
/// status reports actual ones; plain init containers count by their spec.
fn resized_by_container(spec: &PodSpec, status: &PodStatus) -> ResourceList {
    let infeasible = is_resize_infeasible(status);
    let is_plain_init = |c: &Container| !c.is_sidecar() && spec.init_containers.iter().any(|i| std::ptr::eq(i, c));
    aggregate(spec, |c| {
        let found = status_of(status, &c.name).filter(|_| !is_plain_init(c));
        let Some((found, actual)) = found.and_then(|s| s.resources.as_ref().map(|r| (s, r))) else {
            return own_requests(c);
        };
        let mut amounts = if infeasible { ResourceList::new() } else { own_requests(c) };
        raise(&mut amounts, &actual.requests);
        raise(&mut amounts, &found.allocated_resources);
        amounts
    })
}

/// From 1.37 on: the greatest of the pod's three sums.
fn resized_by_sums(spec: &PodSpec, status: &PodStatus, features: &Features) -> ResourceList {
    let infeasible = is_resize_infeasible(status);
    let desired = |c: &Container| if infeasible { ResourceList::new() } else { own_requests(c) };
    let allocated_of = |s: Option<&ContainerStatus>| s.map(|s| &s.allocated_resources).filter(|a| !a.is_empty()).cloned();
    let actual_of =
        |s: Option<&ContainerStatus>| s.and_then(|s| s.resources.as_ref()).map(|r| &r.requests).filter(|r| !r.is_empty()).cloned();

    let pod_level = status.resources.as_ref().filter(|r| !r.requests.is_empty() && !status.allocated_resources.is_empty());
    let (allocated, actual) = match pod_level.filter(|_| features.in_place_pod_level_resize) {
        Some(actual) => (status.allocated_resources.clone(), actual.requests.clone()),
        None => (
            aggregate(spec, |c| allocated_of(status_of(status, &c.name)).unwrap_or_else(|| desired(c))),
            aggregate(spec, |c| {
                let found = status_of(status, &c.name);
                actual_of(found).or_else(|| allocated_of(found)).unwrap_or_else(|| desired(c))
            }),
        ),
    };
    let mut sum = if infeasible { ResourceList::new() } else { aggregate(spec, own_requests) };
    raise(&mut sum, &actual);
    raise(&mut sum, &allocated);
    sum
}

/// True for the resources that a pod may set as a whole.
pub fn is_pod_level(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

/// A container's requests; a limit without request is the request, too, as the API server's
/// defaulting has it (`SetDefaults_Pod`).
pub fn own_requests(container: &Container) -> ResourceList {
    let mut requests = container.resources.requests.clone();
    for (name, limit) in &container.resources.limits {
        requests.entry(name.clone()).or_insert(*limit);
    }
    requests
}

/// The pod-level requests as they are stored: from 1.37 on what is read of a pod has no defaults any
/// more, they are set once, when the pod is made.
fn stored_requests(spec: &PodSpec, own: &ResourceRequirements, features: &Features) -> ResourceList {
    if features.pod_level_defaults_after_admission { own.requests.clone() } else { pod_level_requests(spec, own) }
}

/// The requests of the pod as a whole, with the API server's defaults: where it sets some limit,
/// cpu and memory come from the containers, the rest from the limits; hugepage limits come from
/// the containers (upstream: `defaultHugePagePodLimits`, `defaultPodRequests`).
pub fn pod_level_requests(spec: &PodSpec, own: &ResourceRequirements) -> ResourceList {
    let (mut limits, mut requests) = (own.limits.clone(), own.requests.clone());
    if limits.is_empty() && requests.is_empty() {
        return requests;
    }
    for (name, limit) in container_limits(spec).iter().filter(|(n, _)| n.starts_with("hugepages-")) {
        if !requests.contains_key(name) {
            limits.entry(name.clone()).or_insert(*limit);
        }
    }
    if limits.is_empty() {
        return requests;
    }
    for (name, request) in container_requests(spec).iter().filter(|(n, _)| matches!(n.as_str(), "cpu" | "memory")) {
        requests.entry(name.clone()).or_insert(*request);
    }
    for (name, limit) in limits.iter().filter(|(n, _)| is_pod_level(n)) {
        requests.entry(name.clone()).or_insert(*limit);
    }
    requests
}

/// The containers' requests of a spec as one list (upstream: `AggregateContainerRequests`).
pub fn container_requests(spec: &PodSpec) -> ResourceList {
    aggregate(spec, own_requests)
}

/// The containers' limits of a spec as one list (upstream: `AggregateContainerLimits`).
pub fn container_limits(spec: &PodSpec) -> ResourceList {
    aggregate(spec, |c| c.resources.limits.clone())
}

fn add(sum: &mut ResourceList, list: &ResourceList) {
    for (name, quantity) in list {
        // The API server stores amounts no finer than a thousandth, rounded up.
        let quantity = quantity.rounded_to_milli();
        match sum.get_mut(name) {
            Some(total) => *total = total.plus(quantity),
            None => {
                sum.insert(name.clone(), quantity);
            }
        }
    }
}

fn raise(list: &mut ResourceList, other: &ResourceList) {
    for (name, quantity) in other {
        let quantity = quantity.rounded_to_milli();
        match list.get_mut(name) {
            Some(own) if *own >= quantity => {}
            Some(own) => *own = quantity,
            None => {
                list.insert(name.clone(), quantity);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::version::NEWEST;

    fn container(cpu: &str, memory: &str) -> Container {
        let requests = [("cpu", cpu), ("memory", memory)]
            .into_iter()
            .filter(|(_, v)| !v.is_empty())
            .map(|(k, v)| (k.to_string(), v.parse().unwrap()))
            .collect();
        Container { resources: ResourceRequirements { requests, ..Default::default() }, ..Default::default() }
    }

    fn sidecar(cpu: &str) -> Container {
        Container { restart_policy: Some("Always".into()), ..container(cpu, "") }
    }

    #[test]
    fn adds_up_as_upstream() {
        for (what, containers, init, want_cpu, want_memory) in [
            ("sum", vec![container("100m", "1Mi"), container("200m", "1Mi")], vec![], 300, 2 << 20),
            ("sub-milli is rounded up per container", vec![container("499.7m", ""), container("0.3m", "")], vec![], 501, 0),
            ("fractions of bytes are summed, then rounded", vec![container("", "500m"), container("", "500m")], vec![], 0, 1),
            ("init by peak", vec![container("100m", "")], vec![container("300m", ""), container("200m", "")], 300, 0),
            ("sidecar by sum", vec![container("100m", "")], vec![sidecar("50m")], 150, 0),
            ("init after a sidecar adds to it", vec![container("100m", "")], vec![sidecar("50m"), container("200m", "")], 250, 0),
            ("init before a sidecar does not", vec![container("100m", "")], vec![container("200m", ""), sidecar("50m")], 200, 0),
        ] {
            let spec = PodSpec { containers, init_containers: init, ..Default::default() };
            let r = spec_requests(&spec, &NEWEST.features());
            assert_eq!((r.milli_cpu, r.memory), (want_cpu, want_memory), "{what}");
        }
    }

    #[test]
    fn pod_level_requests_replace_the_sum() {
        let mut spec = PodSpec { containers: vec![container("500m", "1Gi")], ..Default::default() };
        spec.resources =
            Some(ResourceRequirements { requests: [("cpu".to_string(), "200m".parse().unwrap())].into(), ..Default::default() });
        spec.overhead = [("cpu".to_string(), "10m".parse().unwrap())].into();
        assert_eq!(spec_requests(&spec, &NEWEST.features()).milli_cpu, 210);
    }
}
