//! NodeResourcesFit: the node has room for what the pod requests.
//!
//! Upstream: `pkg/scheduler/framework/plugins/noderesources/fit.go`, `fitsRequest` (v1.34.3,
//! v1.37.2). All shortages are reported, not only the first.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::{Cycle, Failure, Filter, Finding, Plugin, Verdict};
use crate::cause::{Entry, Evidence, Fact, Stage};
use crate::model::extended_devices::is_delegated;
use crate::model::node_info::NodeInfo;
use crate::model::pod::Pod;
use crate::model::pod_requests::{Resources, spec_requests, spell};

/// The plugin.
pub const PLUGIN: Plugin = Plugin { name: "NodeResourcesFit", entry: &ENTRY, prefilter };

static ENTRY: Entry = Entry {
    code: "NodeResourcesFit",
    stage: Stage::Scheduling,
    summary: "The node has not enough of a resource left for the pod's request",
    doc: "\
## What it means
What the pods on the node request, and what this pod requests, is more than the node has allocatable. Requests count, not usage. The
controller does not look at resources, so it makes the pod and the scheduler leaves it Pending. A request above the node's whole
allocatable can never fit there.

## How it is recognised
For cpu, memory, ephemeral-storage, hugepages, extended resources and the number of pods: requested + in use > allocatable. A pod's
request is the sum of its containers and sidecars, or the peak of its init containers if that is more, plus overhead; pod-level requests
replace the sum. Finished pods do not count, terminating ones do. A resource that the node does not advertise counts as 0, unless a device
class gives it out (from 1.36 on): then DynamicResources judges.

## How to check by hand
    kubectl describe node NODE        # Allocatable, Allocated resources
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.template.spec.containers[*].resources}'

## How to fix it
Move or shrink the largest consumers on the node, lower the DaemonSet's requests, or give the DaemonSet a priority class that may preempt
other pods. If the request is above allocatable, exclude such nodes by affinity or use larger ones.
",
};

/// How many of the largest consumers are named.
const CONSUMERS: usize = 3;

fn prefilter<'a>(cycle: &'a Cycle<'a>) -> Filter<'a> {
    let wanted = spec_requests(cycle.spec, &cycle.features);
    Box::new(move |info, want| {
        let mut shortages = shortages(&wanted, info);
        // What a device class provides on the node is DynamicResources' business.
        let mut unknown = None;
        shortages.retain(|s| match is_delegated(cycle.snapshot, &cycle.features, &s.resource, info) {
            Ok(delegated) => !delegated,
            Err(why) => {
                unknown = Some(why);
                false
            }
        });
        if let (true, Some(why)) = (shortages.is_empty(), unknown) {
            return Verdict::Unknown(why);
        }
        if !info.pods_known {
            // What the whole node has not got it has not got with whatever pods, either.
            shortages.retain(|s| s.requested > s.allocatable);
        }
        if shortages.is_empty() {
            return Verdict::pass_if_pods_known(info);
        }
        Verdict::Fail(Failure {
            reasons: shortages.iter().map(|s| s.reason()).collect(),
            unresolvable: shortages.iter().any(|s| s.resource != "pods" && s.requested > s.allocatable),
            findings: want.findings(|| shortages.iter().map(|s| finding(cycle, info, s)).collect()),
        })
    })
}

/// One resource of which there is too little; amounts in millicores, bytes, devices or pods.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortage {
    /// The resource's name.
    pub resource: String,
    /// What the pod requests.
    pub requested: i64,
    /// What the pods on the node request.
    pub used: i64,
    /// What the node has.
    pub allocatable: i64,
}

impl Shortage {
    fn reason(&self) -> Cow<'static, str> {
        match self.resource.as_str() {
            "pods" => "Too many pods".into(),
            "cpu" => "Insufficient cpu".into(),
            "memory" => "Insufficient memory".into(),
            other => format!("Insufficient {other}").into(),
        }
    }

    /// By how much the node is short.
    pub fn short_by(&self) -> i64 {
        self.requested.saturating_add(self.used).saturating_sub(self.allocatable)
    }
}

/// Every resource of which the node has too little for `wanted`, in upstream's order.
pub fn shortages(wanted: &Resources, info: &NodeInfo) -> Vec<Shortage> {
    let mut found = Vec::new();
    let pods = info.pods.len() as i64;
    if pods + 1 > info.allowed_pods {
        found.push(Shortage { resource: "pods".into(), requested: 1, used: pods, allocatable: info.allowed_pods });
    }
    let native = [
        ("cpu", wanted.milli_cpu, info.requested.milli_cpu, info.allocatable.milli_cpu),
        ("memory", wanted.memory, info.requested.memory, info.allocatable.memory),
        ("ephemeral-storage", wanted.ephemeral_storage, info.requested.ephemeral_storage, info.allocatable.ephemeral_storage),
    ];
    let scalar = wanted.scalar.iter().map(|(name, amount)| (name.as_str(), *amount, info.requested.get(name), info.allocatable.get(name)));
    for (name, requested, used, allocatable) in native.into_iter().chain(scalar) {
        if requested > 0 && requested > allocatable.saturating_sub(used) {
            found.push(Shortage { resource: name.into(), requested, used, allocatable });
        }
    }
    found
}

fn finding(cycle: &Cycle, info: &NodeInfo, s: &Shortage) -> Finding {
    let spell = |amount| spell(&s.resource, amount);
    let node = format!("Node/{}", info.node.name());
    let mut evidence = vec![Evidence::new(node.clone(), format!("status.allocatable[{}]", s.resource), spell(s.allocatable))];
    if s.used > 0 {
        let pods = if info.pods.len() == 1 { "1 pod".to_string() } else { format!("{} pods", info.pods.len()) };
        evidence.push(Evidence::new(node.clone(), format!("in use by {pods}"), spell(s.used)));
    }
    let message = if s.resource == "pods" {
        format!("the node takes {} pod{} and has {}", s.allocatable, if s.allocatable == 1 { "" } else { "s" }, s.used)
    } else {
        evidence.push(Evidence::new(
            format!("DaemonSet/{}", cycle.daemon_set.metadata.full_name()),
            format!("requested {}", s.resource),
            spell(s.requested),
        ));
        evidence.push(Evidence::new(node, format!("{} short by", s.resource), spell(s.short_by())));
        evidence.extend(largest(cycle, info, &s.resource));
        if !info.node.status.allocatable.contains_key(&s.resource) {
            format!("the pod requests {} {}, the node advertises none", spell(s.requested), s.resource)
        } else if s.requested > s.allocatable {
            format!(
                "the pod requests {} {}, the node has {} in all: it can never fit",
                spell(s.requested),
                s.resource,
                spell(s.allocatable)
            )
        } else {
            let free = s.allocatable.saturating_sub(s.used).max(0);
            format!(
                "the pod requests {} {}, {} of {} is free: short by {}",
                spell(s.requested),
                s.resource,
                spell(free),
                spell(s.allocatable),
                spell(s.short_by())
            )
        }
    };
    Finding {
        detail: s.resource.clone(),
        message,
        evidence,
        fact: Fact::Shortage { resource: s.resource.clone(), requested: s.requested, used: s.used, allocatable: s.allocatable },
    }
}

/// The pods that request most of a resource on the node, largest first.
fn largest(cycle: &Cycle, info: &NodeInfo, resource: &str) -> Vec<Evidence> {
    let amount = |p: &Pod| info.requests_of(p, &cycle.features).get(resource);
    let mut pods: Vec<(i64, &Pod)> = info.pods.iter().map(|p| (amount(p), *p)).filter(|(amount, _)| *amount > 0).collect();
    let order = |a: &(i64, &Pod), b: &(i64, &Pod)| b.0.cmp(&a.0).then_with(|| by_full_name(a.1, b.1));
    if pods.len() > CONSUMERS {
        pods.select_nth_unstable_by(CONSUMERS, order);
        pods.truncate(CONSUMERS);
    }
    pods.sort_by(order);
    pods.into_iter()
        .map(|(amount, pod)| Evidence::new(format!("Pod/{}", pod.full_name()), format!("requests {resource}"), spell(resource, amount)))
        .collect()
}

/// The order of full names.
fn by_full_name(a: &Pod, b: &Pod) -> Ordering {
    let (a, b) = (&a.metadata, &b.metadata);
    if a.namespace == b.namespace { a.name.cmp(&b.name) } else { a.full_name().cmp(&b.full_name()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::diagnose::Subject;
    use crate::filter::Want;
    use crate::model::daemon_set::DaemonSet;
    use crate::model::node::Node;
    use crate::model::resource_claim::DeviceClass;
    use crate::model::snapshot::{Listed, Snapshot};
    use crate::model::version::ServerVersion;

    #[test]
    fn what_a_device_class_gives_out_is_not_short() {
        let class: DeviceClass =
            serde_json::from_value(json!({"metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "example.com/gpu"}})).unwrap();
        let cases = [
            ("example.com/gpu", None, 37, true),
            ("example.com/gpu", Some("0"), 37, true),
            ("example.com/gpu", Some("1"), 37, false), // the node's own come first
            ("example.com/gpu", None, 34, false),
            ("deviceclass.resource.kubernetes.io/gpu", None, 37, true),
            ("deviceclass.resource.kubernetes.io/other", None, 37, false),
            ("example.com/other", None, 37, false),
        ];
        for (resource, allocatable, minor, fits) in cases {
            let mut node = json!({"metadata": {"name": "n"}, "status": {"allocatable": {"pods": "9"}}});
            if let Some(amount) = allocatable {
                node["status"]["allocatable"][resource] = json!(amount);
            }
            let node: Node = serde_json::from_value(node).unwrap();
            let ds: DaemonSet = serde_json::from_value(json!({"metadata": {"name": "a"}, "spec": {"template": {"spec": {"containers": [
                {"resources": {"requests": {resource: "2"}}}]}}}}))
            .unwrap();
            let mut snapshot = Snapshot { version: ServerVersion { major: 1, minor }, ..Snapshot::default() };
            snapshot.objects.nodes = Listed { items: vec![node], gap: None };
            snapshot.objects.device_classes = Listed { items: vec![class.clone()], gap: None };
            let subject = Subject::new(&snapshot, &ds);
            let cycle = subject.fresh_cycle("a-xxxxx");
            let verdict = prefilter(&cycle)(&subject.nodes[0], Want::Findings);
            assert_eq!(verdict == Verdict::Pass, fits, "{resource} {allocatable:?} 1.{minor}");
        }
    }

    #[test]
    fn where_pods_were_not_read_only_what_the_node_has_not_got_is_short() {
        for (cpu, pods, want) in [("3", "9", "Insufficient cpu"), ("2", "9", "?"), ("1", "0", "Too many pods")] {
            let node = json!({"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "2", "pods": pods}}});
            let ds: DaemonSet = serde_json::from_value(json!({"metadata": {"name": "a"}, "spec": {"template": {"spec": {"containers": [
                {"resources": {"requests": {"cpu": cpu}}}]}}}}))
            .unwrap();
            let mut snapshot = Snapshot { pods_known_on: Some([].into()), ..Snapshot::default() };
            snapshot.objects.nodes = Listed { items: vec![serde_json::from_value(node).unwrap()], gap: None };
            let subject = Subject::new(&snapshot, &ds);
            let cycle = subject.fresh_cycle("a-xxxxx");
            let got = match prefilter(&cycle)(&subject.nodes[0], Want::Findings) {
                Verdict::Fail(f) => f.reasons.join(", "),
                Verdict::Unknown(_) => "?".into(),
                Verdict::Pass => "+".into(),
            };
            assert_eq!(got, want, "{cpu} {pods}");
        }
    }
}
