//! Rules on the pod template.

use super::Found;
use crate::controller::should_run::decide;
use crate::diagnose::Subject;
use crate::lifecycle::kubelet_silent::virtual_node;
use crate::model::affinity::Toleration;
use crate::model::pod::Container;
use crate::model::pod_requests::{spec_requests, spell};
use crate::model::toleration::daemon_pod_tolerations;

fn containers<'a>(subject: &'a Subject) -> impl Iterator<Item = &'a Container> {
    subject.ds.spec.template.spec.containers.iter()
}

fn list<'a>(items: impl Iterator<Item = &'a str>) -> Option<String> {
    let items: Vec<&str> = items.collect();
    (!items.is_empty()).then(|| items.join(", "))
}

/// Containers (after defaults of the namespace) that request neither cpu nor memory.
pub fn no_requests(subject: &Subject) -> Option<Found> {
    let bare = |c: &&Container| !["cpu", "memory"].iter().any(|r| c.resources.requests.contains_key(*r));
    let of_pod = subject.fresh.spec.resources.as_ref().is_some_and(|r| !r.requests.is_empty() || !r.limits.is_empty());
    let names = list(subject.fresh.spec.containers.iter().filter(bare).map(|c| c.name.as_str())).filter(|_| !of_pod)?;
    let message = format!(
        "container {names} requests no cpu and no memory: nothing is set aside for it, and it is evicted first when the node runs low"
    );
    Some(Found::new(message).evidence(subject, "spec.template.spec.containers[*].resources.requests", serde_json::Value::Null))
}

/// Neither a priority class nor a default that gives more than 0.
pub fn no_priority_class(subject: &Subject) -> Option<Found> {
    let spec = &subject.ds.spec.template.spec;
    if !spec.priority_class_name.is_empty() || subject.fresh.spec.priority.is_some_and(|p| p > 0) {
        return None;
    }
    let message = "the pods have no priority class: on a full node nothing makes room for them, and other pods may push them out; \
                   what every node needs should have system-node-critical or a class of its own";
    Some(Found::new(message).evidence(subject, "spec.template.spec.priorityClassName", ""))
}

/// Images without tag or digest, or with the tag `latest`.
pub fn unpinned_image(subject: &Subject) -> Option<Found> {
    let unpinned = |image: &str| {
        let name = image.rsplit('/').next().unwrap_or_default();
        !image.contains('@') && name.split_once(':').is_none_or(|(_, tag)| tag == "latest")
    };
    let init = subject.ds.spec.template.spec.init_containers.iter();
    let images = list(containers(subject).chain(init).map(|c| c.image.as_str()).filter(|i| unpinned(i)))?;
    let message = format!("image {images} names no version: nodes run whatever they pulled first, and a rollback brings nothing back");
    Some(Found::new(message).evidence(subject, "spec.template.spec.containers[*].image", images))
}

/// A main container that is not started again whenever it ends: the pod then ends, too, and the
/// controller replaces it, with a back-off.
pub fn container_restart_policy(subject: &Subject) -> Option<Found> {
    let other = |c: &&Container| c.restart_policy.as_deref().is_some_and(|p| p != "Always") || !c.restart_policy_rules.is_empty();
    let names = list(containers(subject).filter(other).map(|c| c.name.as_str()))?;
    let message = format!(
        "container {names} has a restart policy of its own: when it ends it may stay down, and once all have ended the controller \
         replaces the pod, with a growing back-off"
    );
    Some(Found::new(message).evidence(subject, "spec.template.spec.containers[*].restartPolicy", names))
}

/// Only the taint that Kubernetes 1.24 and later no longer set.
pub fn legacy_master_toleration(subject: &Subject) -> Option<Found> {
    const OLD: &str = "node-role.kubernetes.io/master";
    const NEW: &str = "node-role.kubernetes.io/control-plane";
    let tolerations = &subject.ds.spec.template.spec.tolerations;
    let has = |key: &str| tolerations.iter().any(|t| t.key == key);
    if !has(OLD) || has(NEW) || tolerations.iter().any(is_blanket) {
        return None;
    }
    let nodes = subject.nodes.iter().filter(|i| i.node.spec.taints.iter().any(|t| t.key == NEW)).map(|i| i.node.name().to_string());
    let message = format!("only {OLD} is tolerated; since Kubernetes 1.24 control-plane nodes are tainted {NEW} instead");
    let mut found = Found::new(message).evidence(subject, "spec.template.spec.tolerations", OLD);
    found.nodes = nodes.collect();
    Some(found)
}

/// True if it covers every taint of every effect.
fn is_blanket(t: &Toleration) -> bool {
    t.key.is_empty() && t.operator == "Exists" && t.effect.is_empty()
}

/// A toleration for everything; names the virtual nodes that it lets in.
pub fn tolerates_everything(subject: &Subject) -> Option<Found> {
    subject.ds.spec.template.spec.tolerations.iter().find(|t| is_blanket(t))?;
    let tolerations = daemon_pod_tolerations(&subject.ds.spec.template.spec);
    let wanted = |node| decide(subject.ds, &tolerations, node, &subject.features).should_run;
    let nodes: Vec<&str> =
        subject.nodes.iter().map(|i| i.node).filter(|n| virtual_node(n).is_some() && wanted(n)).map(|n| n.name()).collect();
    let mut message =
        "every taint is tolerated: the pods go to every node, also to virtual ones and to those being drained or removed".to_string();
    if !nodes.is_empty() {
        message = format!("{message}; virtual here: {}", nodes.join(", "));
    }
    let mut found = Found::new(message).evidence(subject, "spec.template.spec.tolerations", "operator Exists without key");
    // Where there is none, the advice is about no node in particular and bears on no cause.
    found.nodes = if nodes.is_empty() { ["".to_string()].into() } else { nodes.into_iter().map(str::to_string).collect() };
    Some(found)
}

/// Pods on the host's network with containers that declare no port.
pub fn undeclared_host_ports(subject: &Subject) -> Option<Found> {
    if !subject.ds.spec.template.spec.host_network {
        return None;
    }
    let names = list(containers(subject).filter(|c| c.ports.is_empty()).map(|c| c.name.as_str()))?;
    let message = format!(
        "with hostNetwork, container {names} declares no port: if it listens on one, the scheduler cannot see a clash, and the pod crashes instead of waiting"
    );
    Some(Found::new(message).evidence(subject, "spec.template.spec.hostNetwork", true))
}

/// No container has a readiness probe, and a rollout goes by readiness.
pub fn no_readiness_probe(subject: &Subject) -> Option<Found> {
    let ds = &subject.ds.spec;
    let gated = !ds.template.spec.readiness_gates.is_empty();
    if ds.update_strategy.r#type == "OnDelete"
        || ds.min_ready_seconds > 0
        || gated
        || containers(subject).any(|c| c.readiness_probe.is_some())
    {
        return None;
    }
    let message = "no container has a readiness probe and minReadySeconds is 0: a pod counts as good once it has started, \
                   so a rollout can break every node before it shows";
    Some(Found::new(message).evidence(subject, "spec.template.spec.containers[*].readinessProbe", serde_json::Value::Null))
}

/// A memory limit of at least twice the request: more is promised than set aside.
pub fn memory_overcommit(subject: &Subject) -> Option<Found> {
    let over = |c: &&Container| {
        let amount = |list: &crate::model::node::ResourceList| list.get("memory").map_or(0, |q| q.value());
        let (request, limit) = (amount(&c.resources.requests), amount(&c.resources.limits));
        request > 0 && limit / 2 >= request
    };
    let names = list(subject.fresh.spec.containers.iter().filter(over).map(|c| c.name.as_str()))?;
    let message = format!(
        "container {names} may use at least twice the memory that it requests: on a full node it is evicted or killed before its limit"
    );
    Some(Found::new(message).evidence(subject, "spec.template.spec.containers[*].resources", names))
}

/// What the namespace's enforced Pod Security level forbids at every version.
pub fn privileged_in_guarded_namespace(subject: &Subject) -> Option<Found> {
    let namespace = subject.snapshot.namespace(&subject.ds.metadata.namespace)?;
    let level =
        namespace.metadata.labels.get("pod-security.kubernetes.io/enforce").filter(|l| matches!(l.as_str(), "baseline" | "restricted"))?;
    let spec = &subject.ds.spec.template.spec;
    let all = || spec.containers.iter().chain(&spec.init_containers);
    let privileged = all().any(|c| c.security_context.as_ref().is_some_and(|s| s.privileged == Some(true)));
    let asks = [
        (spec.host_network, "hostNetwork"),
        (spec.host_pid, "hostPID"),
        (spec.host_ipc, "hostIPC"),
        (spec.volumes.iter().any(|v| v.source.host_path.is_some()), "hostPath volumes"),
        (all().flat_map(|c| &c.ports).any(|p| p.host_port > 0), "host ports"),
        (privileged, "privileged containers"),
    ];
    let what = list(asks.into_iter().filter(|(asked, _)| *asked).map(|(_, what)| what))?;
    let message =
        format!("the namespace enforces Pod Security level {level}, which forbids {what}: pods that are there stay, new ones are refused");
    Some(Found::new(message).evidence(subject, "spec.template.spec", what))
}

/// The nodes that should run the pod times what a pod requests.
pub fn cost(subject: &Subject) -> Option<Found> {
    let tolerations = daemon_pod_tolerations(&subject.ds.spec.template.spec);
    let nodes = subject.nodes.iter().filter(|i| decide(subject.ds, &tolerations, i.node, &subject.features).should_run).count();
    let requests = spec_requests(&subject.fresh.spec, &subject.features);
    let (cpu, memory) = (requests.get("cpu"), requests.get("memory"));
    if nodes == 0 || (cpu == 0 && memory == 0) {
        return None;
    }
    let times = |amount: i64| amount.saturating_mul(i64::try_from(nodes).unwrap_or(i64::MAX));
    let amounts = |factor: &dyn Fn(i64) -> i64| {
        let asked = [("cpu", cpu), ("memory", memory)].into_iter().filter(|(_, amount)| *amount > 0);
        asked.map(|(name, amount)| format!("{name} {}", spell(name, factor(amount)))).collect::<Vec<_>>().join(" and ")
    };
    let message = match nodes {
        1 => format!("its pod on one node requests {}", amounts(&|n| n)),
        n => format!("its pods on {n} nodes request {} in all ({} each)", amounts(&times), amounts(&|n| n)),
    };
    Some(Found::new(message).evidence(subject, "recount of desired", nodes))
}
