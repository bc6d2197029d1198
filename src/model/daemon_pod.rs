//! The pod that the controller would make now, after the API server's defaults and admission.
//!
//! Upstream (v1.37.2): `CreatePodTemplate` of `pkg/controller/daemon/util`, `SetDefaults_Pod` of
//! `pkg/apis/core/v1/defaults.go`, admission plugins LimitRanger, Priority and RuntimeClass of
//! `plugin/pkg/admission`. What a webhook would change cannot be known.

use super::affinity::Toleration;
use super::daemon_set::DaemonSet;
use super::namespace_selector::{NamespaceSelector, namespace_selector};
use super::node::ResourceList;
use super::object::Labels;
use super::pod::{Container, PodSpec, ResourceRequirements};
use super::pod_requests::{own_requests, pod_level_requests};
use super::policy::{LimitRange, PriorityClass, RuntimeClass};
use super::shared::Shared;
use super::snapshot::Snapshot;
use super::toleration::daemon_pod_tolerations;

/// The label with the revision's hash, on pods and revisions.
pub const HASH_LABEL: &str = "controller-revision-hash";

/// Stands for the hash of a revision that is not made yet or was not read: no pod has it.
pub const NO_HASH: &str = "unknown-revision";

/// A pod to be: not on the API server yet.
#[derive(Clone, Debug, Default)]
pub struct DaemonPod {
    /// The namespace.
    pub namespace: String,
    /// The labels.
    pub labels: Shared<Labels>,
    /// The spec, without the pin to a node.
    pub spec: PodSpec,
    /// Node selector entries that admission added, with who did.
    pub added_selector: Vec<(String, String, String)>,
    /// The selector that the namespace imposes, where that is in force.
    pub namespace_selector: Option<NamespaceSelector>,
}

/// The pod of this DaemonSet that the controller would make now. `hash` is the current revision's.
pub fn daemon_pod(ds: &DaemonSet, hash: Option<&str>, snapshot: &Snapshot) -> DaemonPod {
    let template = &ds.spec.template;
    let mut spec = template.spec.clone();
    spec.tolerations = daemon_pod_tolerations(&spec);
    let mut labels = template.metadata.labels.clone();
    labels.insert(HASH_LABEL.into(), hash.unwrap_or(NO_HASH).into());
    if spec.scheduler_name.is_empty() {
        spec.scheduler_name = "default-scheduler".into();
    }
    default_requests(&mut spec);
    let after_admission = snapshot.version.features().pod_level_defaults_after_admission;
    if !after_admission {
        default_pod_level_requests(&mut spec);
    }
    for range in snapshot.limit_ranges.iter().filter(|r| r.metadata.namespace == ds.metadata.namespace) {
        apply_limit_range(&mut spec, range);
    }
    let namespace = ds.metadata.namespace.clone();
    let namespace_selector = namespace_selector(snapshot, &namespace);
    let mut pod = DaemonPod { namespace, labels, spec, added_selector: Vec::new(), namespace_selector };
    apply_namespace_selector(&mut pod);
    apply_priority(&mut pod.spec, &snapshot.priority_classes);
    apply_runtime_class(&mut pod, &snapshot.runtime_classes);
    if after_admission {
        default_pod_level_requests(&mut pod.spec);
    }
    pod
}

fn default_pod_level_requests(spec: &mut PodSpec) {
    if let Some(own) = &spec.resources {
        let requests = pod_level_requests(spec, own);
        spec.resources = Some(ResourceRequirements { requests, ..own.clone() });
    }
}

/// A limit without request is the request, too.
fn default_requests(spec: &mut PodSpec) {
    for container in spec.containers.iter_mut().chain(&mut spec.init_containers) {
        container.resources.requests = own_requests(container);
    }
}

/// LimitRanger: the defaults of the range's container items.
fn apply_limit_range(spec: &mut PodSpec, range: &LimitRange) {
    let (mut limits, mut requests) = (ResourceList::new(), ResourceList::new());
    for item in range.spec.limits.iter().filter(|i| i.r#type == "Container") {
        // The API server fills in what the range leaves out: limit from max, request from limit or min.
        let mut default = item.default.clone();
        fill(&mut default, &item.max);
        let mut request = item.default_request.clone();
        fill(&mut request, &default);
        fill(&mut request, &item.min);
        limits.extend(default);
        requests.extend(request);
    }
    let each = |c: &mut Container| {
        fill(&mut c.resources.limits, &limits);
        fill(&mut c.resources.requests, &requests);
    };
    spec.containers.iter_mut().for_each(each);
    spec.init_containers.iter_mut().for_each(each);
}

fn fill(list: &mut ResourceList, from: &ResourceList) {
    for (name, quantity) in from {
        list.entry(name.clone()).or_insert(*quantity);
    }
}

/// PodNodeSelector: the namespace's labels join the pod's selector; a contradiction is refused.
fn apply_namespace_selector(pod: &mut DaemonPod) {
    let Some(selector) = &pod.namespace_selector else { return };
    for (key, value) in &selector.labels {
        if !pod.spec.node_selector.contains_key(key) {
            pod.spec.node_selector.insert(key.clone(), value.clone());
            pod.added_selector.push((key.clone(), value.clone(), format!("Namespace/{}", pod.namespace)));
        }
    }
}

/// Priority: the class's value, or the global default's.
fn apply_priority(spec: &mut PodSpec, classes: &[PriorityClass]) {
    let class = match spec.priority_class_name.as_str() {
        "" => classes.iter().filter(|c| c.global_default).min_by_key(|c| c.value),
        name => classes.iter().find(|c| c.metadata.name == name),
    };
    let (value, policy) = match (class, spec.priority_class_name.as_str()) {
        (Some(class), _) => (Some(class.value), class.preemption_policy.clone()),
        (None, "system-node-critical") => (Some(2_000_001_000), None),
        (None, "system-cluster-critical") => (Some(2_000_000_000), None),
        (None, "") => (Some(0), None),
        (None, _) => (spec.priority, None),
    };
    spec.priority = value;
    if let Some(policy) = policy {
        spec.preemption_policy = Some(policy);
    }
    if let Some(class) = class.filter(|_| spec.priority_class_name.is_empty()) {
        spec.priority_class_name = class.metadata.name.clone();
    }
}

/// RuntimeClass: overhead, node selector and tolerations.
fn apply_runtime_class(pod: &mut DaemonPod, classes: &[RuntimeClass]) {
    let Some(name) = pod.spec.runtime_class_name.clone() else { return };
    let Some(class) = classes.iter().find(|c| c.metadata.name == name) else { return };
    if let Some(overhead) = &class.overhead {
        pod.spec.overhead = overhead.pod_fixed.clone();
    }
    if let Some(scheduling) = &class.scheduling {
        for (key, value) in &scheduling.node_selector {
            if pod.spec.node_selector.insert(key.clone(), value.clone()).is_none() {
                pod.added_selector.push((key.clone(), value.clone(), format!("RuntimeClass/{name}")));
            }
        }
        let all = [pod.spec.tolerations.as_slice(), &scheduling.tolerations].concat();
        pod.spec.tolerations = merge_tolerations(&all);
    }
}

/// Drops tolerations that another one covers (upstream: `MergeTolerations`).
fn merge_tolerations(all: &[Toleration]) -> Vec<Toleration> {
    let mut merged: Vec<Toleration> = Vec::new();
    for (i, t) in all.iter().enumerate() {
        let covered = merged.iter().any(|other| covers(other, t)) || all[i + 1..].iter().any(|other| other != t && covers(other, t));
        if !covered {
            merged.push(t.clone());
        }
    }
    merged
}

fn covers(wide: &Toleration, narrow: &Toleration) -> bool {
    if wide == narrow {
        return true;
    }
    if narrow.key != wide.key && !(wide.key.is_empty() && wide.operator == "Exists") {
        return false;
    }
    if narrow.effect != wide.effect && !wide.effect.is_empty() {
        return false;
    }
    if wide.effect == "NoExecute"
        && let Some(seconds) = wide.toleration_seconds
        && narrow.toleration_seconds.is_none_or(|s| s > seconds)
    {
        return false;
    }
    match wide.operator.as_str() {
        "" | "Equal" => narrow.operator == "Equal" && narrow.value == wide.value,
        "Exists" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn tolerations_that_another_covers_go() {
        let all = || json!({"operator": "Exists"});
        let key = |operator: &str, value: &str, effect: &str| json!({"key": "k", "operator": operator, "value": value, "effect": effect});
        let timed = |seconds: Value| json!({"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds});
        for (given, kept) in [
            (json!([all(), key("Equal", "v", "")]), vec![0]),
            (json!([key("Equal", "v", ""), all()]), vec![1]),
            (json!([key("Exists", "", ""), key("Equal", "v", "NoSchedule")]), vec![0]),
            (json!([key("Exists", "", "NoSchedule"), key("Equal", "v", "")]), vec![0, 1]),
            (json!([key("Equal", "v", ""), key("Equal", "v", "NoSchedule")]), vec![0]),
            (json!([key("", "v", ""), key("Equal", "v", "NoSchedule")]), vec![0]),
            (json!([key("Equal", "v", ""), key("", "v", "NoSchedule")]), vec![0, 1]),
            (json!([key("Equal", "v", ""), key("Equal", "w", "NoSchedule")]), vec![0, 1]),
            (json!([key("Gt", "5", ""), key("Gt", "5", "NoSchedule")]), vec![0, 1]),
            (json!([{"key": "", "operator": "Equal"}, key("Equal", "", "")]), vec![0, 1]),
            (json!([all(), all()]), vec![0]),
            (json!([timed(json!(60)), timed(json!(30))]), vec![0]),
            (json!([timed(json!(60)), timed(json!(60))]), vec![0]),
            (json!([timed(json!(60)), timed(json!(null))]), vec![1]),
            (json!([timed(json!(30)), timed(json!(60))]), vec![1]),
            (json!([timed(json!(null)), timed(json!(30))]), vec![0]),
        ] {
            let tolerations: Vec<Toleration> = serde_json::from_value(given.clone()).unwrap();
            let want: Vec<Toleration> = kept.into_iter().map(|i| tolerations[i].clone()).collect();
            assert_eq!(merge_tolerations(&tolerations), want, "{given}");
        }
    }
}
