//! Which changes may help against a cause.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::patch::{add, path, remove, replace};
use super::trial::{Change, surges};
use crate::cause::command::command;
use crate::cause::{Cause, Fact, PodRule, RemedyKind};
use crate::diagnose::Subject;
use crate::filter::node_affinity::required;
use crate::model::affinity::NodeSelectorRequirement;
use crate::model::host_port::{HostPort, host_ports};
use crate::model::node::Taint;
use crate::model::pod::{Pod, PodSpec};
use crate::model::pod_requests::spell;
use crate::model::quantity::Quantity;
use crate::report::NodeReport;

/// A change with the words and the command for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// What to do, in a few words.
    pub title: String,
    /// What it touches.
    pub kind: RemedyKind,
    /// The changes.
    pub changes: Vec<Change>,
    /// It counts as a success if pods of lower priority are evicted for the pod.
    pub preempts: bool,
    /// Commands; `{nodes}` stands for the nodes' names.
    pub commands: Vec<String>,
}

/// Stands for the nodes' names in a command.
pub const NODES: &str = "{nodes}";

/// Labels that tell what a node is: not to be changed to please a selector.
const FACTS: [&str; 6] = [
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
];

/// Taints that the control plane sets while a node is not fit; tolerating one hides the reason.
fn is_condition(taint: &Taint) -> bool {
    taint.key.starts_with("node.kubernetes.io/") || taint.key.starts_with("node.cloudprovider.kubernetes.io/")
}

/// The changes that may help against a cause on these nodes, the best first.
pub fn proposals(subject: &Subject, cause: &Cause, group: &[&NodeReport]) -> Vec<Proposal> {
    let template = &subject.ds.spec.template.spec;
    match &cause.fact {
        Fact::Taint(taint) if !is_condition(taint) => vec![tolerate(subject, taint), untaint(taint)],
        Fact::NodeSelector { key, value, added } => {
            let mut found = Vec::new();
            if !FACTS.contains(&key.as_str()) {
                found.push(label(key, Some(value)));
                if !added {
                    found.push(daemon_set(subject, format!("drop the node selector {key}={value}"), drop_selector(template, key)));
                }
            }
            found
        }
        Fact::NodeAffinity { term, field, requirement } => affinity(subject, *term, *field, requirement),
        Fact::HostPort { protocol, port, ip, holder } => ports(subject, (protocol, *port, ip), holder, group),
        Fact::Shortage { resource, .. } => shortage(subject, resource, group),
        Fact::TopologySpread { constraint, missing_label: None } => {
            let at = path(["spec", "template", "spec", "topologySpreadConstraints", &constraint.to_string(), "whenUnsatisfiable"]);
            vec![daemon_set(subject, "make the spread constraint a preference".into(), vec![replace(at, json!("ScheduleAnyway"))])]
        }
        Fact::Quota { name, resource, hard, used, amount } => vec![quota(subject, (name, resource), (*hard, *used, *amount), group.len())],
        Fact::VolumeInUse { holder } => in_use(subject, holder, group).into_iter().collect(),
        Fact::PodAffinity { rule, key, pods, in_all } => pod_affinity(subject, *rule, key, pods, *in_all),
        _ => Vec::new(),
    }
}

/// A JSON patch of the DaemonSet, with the command that applies it.
pub fn daemon_set(subject: &Subject, title: String, operations: Vec<Value>) -> Proposal {
    let meta = &subject.ds.metadata;
    let patch = Value::Array(operations.clone()).to_string();
    let line = command(["kubectl", "-n", &meta.namespace, "patch", "ds", &meta.name, "--type=json", "-p", &patch]);
    Proposal { title, kind: RemedyKind::Daemonset, changes: vec![Change::DaemonSet(operations)], preempts: false, commands: vec![line] }
}

/// The quota raised to what the pods of all these nodes need beside what is used.
fn quota(
    subject: &Subject,
    (name, resource): (&str, &str),
    (hard, used, amount): (Quantity, Quantity, Quantity),
    nodes: usize,
) -> Proposal {
    let wanted = (0..nodes).fold(used, |sum, _| sum.plus(amount));
    let patch = json!({"spec": {"hard": {resource: wanted.to_string()}}}).to_string();
    let namespace = subject.ds.metadata.namespace.as_str();
    let many = if nodes == 1 { "node" } else { "nodes" };
    Proposal {
        title: format!("raise quota {name}: {resource} from {hard} to {wanted}, enough for {nodes} {many}"),
        kind: RemedyKind::Node,
        changes: vec![Change::RaiseQuota(name.to_string(), resource.to_string())],
        preempts: false,
        commands: vec![command(["kubectl", "-n", namespace, "patch", "resourcequota", name, "--type=merge", "-p", &patch])],
    }
}

/// The pod of another workload that holds a volume, gone.
fn in_use(subject: &Subject, holder: &(String, String), group: &[&NodeReport]) -> Option<Proposal> {
    let pod = find(subject, &holder.0, &holder.1).filter(|p| !crate::controller::ownership::owns(subject.ds, p))?;
    let (change, what, line) = removal(subject, pod, group);
    let title = format!("remove {what}, which holds the volume, if it is not needed");
    Some(Proposal { title, kind: RemedyKind::Disruptive, changes: vec![change], preempts: false, commands: vec![line] })
}

fn tolerate(subject: &Subject, taint: &Taint) -> Proposal {
    let mut toleration = json!({"key": taint.key, "operator": "Exists", "effect": taint.effect});
    if !taint.value.is_empty() {
        toleration["operator"] = json!("Equal");
        toleration["value"] = json!(taint.value);
    }
    let operation = if subject.ds.spec.template.spec.tolerations.is_empty() {
        add("/spec/template/spec/tolerations", json!([toleration]))
    } else {
        add("/spec/template/spec/tolerations/-", toleration)
    };
    daemon_set(subject, format!("tolerate {taint}"), vec![operation])
}

fn untaint(taint: &Taint) -> Proposal {
    Proposal {
        title: format!("take the taint {taint} off"),
        kind: RemedyKind::Node,
        changes: vec![Change::Untaint(taint.clone())],
        preempts: false,
        commands: vec![format!("kubectl taint node {NODES} {}", command([format!("{}:{}-", taint.key, taint.effect).as_str()]))],
    }
}

fn label(key: &str, value: Option<&str>) -> Proposal {
    let (title, word) = match value {
        Some(value) => (format!("label the node {key}={value}"), format!("{key}={value}")),
        None => (format!("take the label {key} off the node"), format!("{key}-")),
    };
    let overwrite = if value.is_some() { " --overwrite" } else { "" };
    Proposal {
        title,
        kind: RemedyKind::Node,
        changes: vec![Change::Label(key.to_string(), value.map(str::to_string))],
        preempts: false,
        commands: vec![format!("kubectl label node {NODES} {}{overwrite}", command([word.as_str()]))],
    }
}

/// Without the last entry the whole selector goes.
fn drop_selector(template: &PodSpec, key: &str) -> Vec<Value> {
    let at = ["spec", "template", "spec", "nodeSelector", key];
    vec![remove(path(at.into_iter().take(if template.node_selector.len() > 1 { 5 } else { 4 })))]
}

fn affinity(subject: &Subject, term: usize, field: bool, r: &NodeSelectorRequirement) -> Vec<Proposal> {
    let Some(required) = required(&subject.ds.spec.template.spec) else { return Vec::new() };
    let mut found = Vec::new();
    if FACTS.contains(&r.key.as_str()) {
        return found;
    }
    if !field {
        match (r.operator.as_str(), r.values.first()) {
            ("In", Some(value)) => found.push(label(&r.key, Some(value))),
            ("Exists", _) => found.push(label(&r.key, Some("true"))),
            ("NotIn" | "DoesNotExist", _) => found.push(label(&r.key, None)),
            _ => {}
        }
    }
    let root = "/spec/template/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";
    let Some(own) = required.node_selector_terms.get(term) else { return found };
    let (list, name) = if field { (&own.match_fields, "matchFields") } else { (&own.match_expressions, "matchExpressions") };
    let Some(index) = list.iter().position(|x| x == r) else { return found };
    let operation = if own.match_fields.len() + own.match_expressions.len() > 1 {
        remove(format!("{root}/nodeSelectorTerms/{term}/{name}/{index}"))
    } else if required.node_selector_terms.len() > 1 {
        // An empty term would match nothing.
        return found;
    } else {
        remove(root)
    };
    found.push(daemon_set(subject, format!("drop the node affinity {r}"), vec![operation]));
    found
}

/// The pods of one owner on the nodes of the group, and the command that removes the owner.
fn removal(subject: &Subject, holder: &Pod, group: &[&NodeReport]) -> (Change, String, String) {
    let namespace = holder.metadata.namespace.as_str();
    let owner = holder.metadata.controller().filter(|o| o.kind == "DaemonSet");
    let Some(owner) = owner else {
        let pods = BTreeSet::from([(namespace.to_string(), holder.metadata.name.clone())]);
        let line = command(["kubectl", "-n", namespace, "delete", "pod", &holder.metadata.name]);
        return (Change::RemovePods(pods), format!("pod {}", holder.full_name()), line);
    };
    let names: BTreeSet<&str> = group.iter().map(|n| n.name.as_str()).collect();
    let of_owner = |p: &&&Pod| p.metadata.namespace == namespace && p.metadata.controller() == Some(owner);
    let pods = subject.nodes.iter().filter(|i| names.contains(i.node.name())).flat_map(|i| &i.pods).filter(of_owner);
    let pods = pods.map(|p| (p.metadata.namespace.clone(), p.metadata.name.clone())).collect();
    let line = command(["kubectl", "-n", namespace, "delete", "ds", &owner.name]);
    (Change::RemovePods(pods), format!("DaemonSet {namespace}/{}", owner.name), line)
}

fn find<'a>(subject: &Subject<'a>, namespace: &str, name: &str) -> Option<&'a Pod> {
    subject.snapshot.pods.iter().find(|p| p.metadata.name == name && p.metadata.namespace == namespace)
}

fn ports(subject: &Subject, (protocol, port, ip): (&str, i32, &str), holder: &(String, String), group: &[&NodeReport]) -> Vec<Proposal> {
    let Some(pod) = find(subject, &holder.0, &holder.1) else { return Vec::new() };
    if crate::controller::ownership::owns(subject.ds, pod) {
        if !surges(subject.ds) {
            return Vec::new();
        }
        let rolling = json!({"maxSurge": 0, "maxUnavailable": 1});
        let operation = add("/spec/updateStrategy", json!({"type": "RollingUpdate", "rollingUpdate": rolling}));
        return vec![daemon_set(subject, "let the old pod go first: maxSurge 0, maxUnavailable 1".into(), vec![operation])];
    }
    let mut found: Vec<Proposal> = another_port(subject, protocol, port, ip, group).into_iter().collect();
    let (change, what, line) = removal(subject, pod, group);
    found.push(Proposal {
        title: format!("remove {what}, which holds the port, if it is not needed"),
        kind: RemedyKind::Disruptive,
        changes: vec![change],
        preempts: false,
        commands: vec![line],
    });
    found
}

/// The next port that is free on all nodes of the group. With the host's network the container has
/// to listen on it, too.
fn another_port(subject: &Subject, protocol: &str, port: i32, ip: &str, group: &[&NodeReport]) -> Option<Proposal> {
    let spec = &subject.ds.spec.template.spec;
    let names: BTreeSet<&str> = group.iter().map(|n| n.name.as_str()).collect();
    let pods: Vec<&Pod> = subject.nodes.iter().filter(|i| names.contains(i.node.name())).flat_map(|i| i.pods.iter().copied()).collect();
    let taken = |want: i32| {
        let want = HostPort { protocol, port: want, ip };
        host_ports(spec).any(|p| p.conflicts_with(&want)) || pods.iter().any(|p| host_ports(&p.spec).any(|held| held.conflicts_with(&want)))
    };
    let free = (port + 1..=65535.min(port + 1000)).find(|p| !taken(*p))?;
    let mut operations = Vec::new();
    for (i, container) in spec.containers.iter().enumerate() {
        for (j, p) in container.ports.iter().enumerate() {
            let own_protocol = if p.protocol.is_empty() { "TCP" } else { &p.protocol };
            let own_port = if p.host_port == 0 && spec.host_network { p.container_port } else { p.host_port };
            if own_protocol != protocol || own_port != port {
                continue;
            }
            let at = format!("/spec/template/spec/containers/{i}/ports/{j}");
            operations.push(add(format!("{at}/hostPort"), json!(free)));
            if spec.host_network {
                operations.push(replace(format!("{at}/containerPort"), json!(free)));
            }
        }
    }
    if operations.is_empty() {
        return None;
    }
    let listen = if spec.host_network { " (the program has to listen on it, too)" } else { "" };
    Some(daemon_set(subject, format!("use host port {free} instead of {port}{listen}"), operations))
}

fn shortage(subject: &Subject, resource: &str, group: &[&NodeReport]) -> Vec<Proposal> {
    let mut found = Vec::new();
    found.extend(smaller_request(subject, resource, group));
    found.extend(eviction(subject, resource, group));
    found.extend(higher_priority(subject));
    found
}

/// The request lowered, in the container that asks most, to what is free on each node of the group
/// that has some free at all.
fn smaller_request(subject: &Subject, resource: &str, group: &[&NodeReport]) -> Option<Proposal> {
    let shorts = group.iter().flat_map(|n| &n.causes).filter_map(|c| match &c.fact {
        Fact::Shortage { resource: r, requested, used, allocatable } if r == resource && allocatable > used => {
            Some((*requested, allocatable.saturating_sub(*used)))
        }
        _ => None,
    });
    let (requested, free) = shorts.min_by_key(|(_, free)| *free)?;
    if !matches!(resource, "cpu" | "memory" | "ephemeral-storage") || subject.fresh.spec.resources.is_some() {
        return None;
    }
    let amount = |quantity: &crate::model::quantity::Quantity| if resource == "cpu" { quantity.milli_value() } else { quantity.value() };
    let containers = &subject.ds.spec.template.spec.containers;
    let own = |i: usize| {
        let resources = &containers.get(i)?.resources;
        resources.requests.get(resource).or_else(|| resources.limits.get(resource)).map(amount)
    };
    let largest = (0..containers.len()).filter_map(|i| Some((own(i)?, i))).max_by_key(|(amount, i)| (*amount, usize::MAX - i))?;
    let (current, i) = largest;
    let wanted = current - (requested - free);
    // Less than a tenth of what was asked for is no serious advice.
    if wanted <= 0 || wanted < current / 10 {
        return None;
    }
    let at = format!("/spec/template/spec/containers/{i}/resources");
    let words = spell(resource, wanted);
    let operation = if containers.get(i)?.resources.requests.is_empty() {
        add(format!("{at}/requests"), json!({resource: words}))
    } else {
        add(format!("{at}/requests{}", path([resource])), json!(words))
    };
    let name = &containers.get(i)?.name;
    Some(daemon_set(
        subject,
        format!("let container {name} request {words} {resource} instead of {}", spell(resource, current)),
        vec![operation],
    ))
}

/// On each node the smallest pod whose going makes enough room; not pods of DaemonSets, which
/// would come back, and not static ones.
fn eviction(subject: &Subject, resource: &str, group: &[&NodeReport]) -> Option<Proposal> {
    let infos: BTreeMap<&str, _> = subject.nodes.iter().map(|i| (i.node.name(), i)).collect();
    let mut pods: BTreeSet<(String, String)> = BTreeSet::new();
    for node in group {
        let short = node.causes.iter().find_map(|c| match &c.fact {
            Fact::Shortage { resource: r, requested, used, allocatable } if r == resource && requested <= allocatable => {
                Some(requested.saturating_add(*used).saturating_sub(*allocatable))
            }
            _ => None,
        });
        let (Some(short), Some(info)) = (short, infos.get(node.name.as_str())) else { continue };
        let amount = |p: &Pod| if resource == "pods" { 1 } else { info.requests_of(p, &subject.features).get(resource) };
        let stays = |p: &Pod| {
            p.is_terminating()
                || p.metadata.annotations.contains_key("kubernetes.io/config.mirror")
                || p.metadata.controller().is_some_and(|o| matches!(o.kind.as_str(), "DaemonSet" | "Node"))
        };
        let enough = info.pods.iter().filter(|p| !stays(p) && amount(p) >= short);
        if let Some(pod) = enough.min_by_key(|p| (p.priority(), amount(p), p.full_name())) {
            pods.insert((pod.metadata.namespace.clone(), pod.metadata.name.clone()));
        }
    }
    let lines: Vec<String> = pods.iter().map(|(ns, name)| command(["kubectl", "-n", ns, "delete", "pod", name])).collect();
    let title = match pods.iter().next() {
        None => return None,
        Some((ns, name)) if pods.len() == 1 => {
            format!("move pod {ns}/{name} to another node (deleting it may bring it back here: cordon the node first)")
        }
        Some(_) => format!("move {} pods to other nodes (deleting them may bring them back: cordon the nodes first)", pods.len()),
    };
    Some(Proposal { title, kind: RemedyKind::Disruptive, changes: vec![Change::RemovePods(pods)], preempts: false, commands: lines })
}

/// The lowest existing priority class above the pod's own that would let it evict others.
fn higher_priority(subject: &Subject) -> Option<Proposal> {
    let own = subject.fresh.spec.priority.unwrap_or(0);
    let classes = subject.snapshot.priority_classes.iter().filter(|c| c.value > own && c.preemption_policy.as_deref() != Some("Never"));
    let class = classes.min_by_key(|c| (c.value, c.metadata.name.clone()))?;
    let name = &class.metadata.name;
    let mut operations = vec![add("/spec/template/spec/priorityClassName", json!(name))];
    let spec = &subject.ds.spec.template.spec;
    // What the template says itself would contradict the class.
    operations.extend(spec.priority.map(|_| remove("/spec/template/spec/priority")));
    operations.extend(spec.preemption_policy.as_ref().map(|_| remove("/spec/template/spec/preemptionPolicy")));
    let proposal = daemon_set(subject, format!("give it priority class {name}, so that it evicts pods of lower priority"), operations);
    Some(Proposal { kind: RemedyKind::Disruptive, preempts: true, ..proposal })
}

fn pod_affinity(subject: &Subject, rule: PodRule, key: &str, pods: &[(String, String)], in_all: i64) -> Vec<Proposal> {
    let affinity = subject.ds.spec.template.spec.affinity.as_ref();
    let (own, name, words) = match rule {
        PodRule::Affinity => (affinity.and_then(|a| a.pod_affinity.as_ref()), "podAffinity", "affinity"),
        _ => (affinity.and_then(|a| a.pod_anti_affinity.as_ref()), "podAntiAffinity", "anti-affinity"),
    };
    let mut found = Vec::new();
    if rule != PodRule::OfAnother {
        let root = format!("/spec/template/spec/affinity/{name}/requiredDuringSchedulingIgnoredDuringExecution");
        let terms = own.map_or(&[][..], |a| &a.required);
        // From the back, so that the indexes stay true.
        let operations: Vec<Value> = (0..terms.len())
            .rev()
            .filter(|i| terms.get(*i).is_some_and(|t| t.topology_key == key))
            .map(|i| remove(format!("{root}/{i}")))
            .collect();
        if !operations.is_empty() {
            found.push(daemon_set(subject, format!("drop the required pod {words} by {key}"), operations));
        }
    }
    if rule != PodRule::Affinity && !pods.is_empty() && pods.len() as i64 == in_all {
        let own = |(ns, name): &(String, String)| find(subject, ns, name).is_none_or(|p| crate::controller::ownership::owns(subject.ds, p));
        if !pods.iter().any(own) {
            let lines = pods.iter().map(|(ns, name)| command(["kubectl", "-n", ns, "delete", "pod", name])).collect();
            let listed: Vec<String> = pods.iter().map(|(ns, name)| format!("{ns}/{name}")).collect();
            found.push(Proposal {
                title: format!("move {} away (deleting may bring it back here)", listed.join(", ")),
                kind: RemedyKind::Disruptive,
                changes: vec![Change::RemovePods(pods.iter().cloned().collect())],
                preempts: false,
                commands: lines,
            });
        }
    }
    found
}
