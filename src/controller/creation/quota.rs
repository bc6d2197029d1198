//! CreateQuota: a ResourceQuota has no room for the pod.
//!
//! Upstream: `CheckRequest` of `apiserver/pkg/admission/plugin/resourcequota/controller.go`
//! (v0.37.2), `podComputeUsageHelper` and `podMatchesScopeFunc` of
//! `pkg/quota/v1/evaluator/core/pods.go` (v1.37.2).

use super::{between, refusal};
use crate::cause::{Cause, Entry, Evidence, Fact, Stage};
use crate::diagnose::Subject;
use crate::model::node::ResourceList;
use crate::model::pod::{Pod, PodSpec};
use crate::model::pod_requests::{limits, requests};
use crate::model::policy::{ResourceQuota, ScopedResourceSelectorRequirement};
use crate::model::quantity::{Format, Quantity};
use crate::model::version::Features;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "CreateQuota",
    stage: Stage::Creation,
    summary: "A ResourceQuota of the namespace has no room for the pod",
    doc: "\
## What it means
What the namespace's pods use of a resource, and what this pod would use, is more than a ResourceQuota allows; or the quota wants every
container to set the resource and one does not. The API server refuses the pod. A DaemonSet needs its share once for every node.

## How it is recognised
A FailedCreate event says `exceeded quota` or `failed quota`. The quota's `status.used` and `status.hard` are compared with what one pod of
the template uses, so the cause is found after the event has expired, too, and an event that no longer holds is marked as such.

## How to check by hand
    kubectl -n NAMESPACE describe resourcequota
    kubectl -n NAMESPACE get events --field-selector reason=FailedCreate

## How to fix it
Raise the quota by what the missing pods need, lower the requests, or free quota by removing other pods. For `must specify`, set the
resource in every container or give the namespace a LimitRange with defaults.
",
};

/// Reads upstream's texts.
pub fn from_event(subject: &Subject, text: &str) -> Option<Vec<Cause>> {
    if let Some(name) = between(text, "failed quota: ", ": ") {
        let (_, rest) = text.split_once("must specify ")?;
        let of = |part: &str| {
            let (resource, containers) = part.split_once(" for: ").unwrap_or((part, "a container"));
            let message = format!("quota {name} wants {resource} to be set, and {containers} does not");
            refusal(&ENTRY, format!("{name} {resource}"), message)
        };
        // Before v1.25 the resources alone were listed.
        let between = if rest.contains(" for: ") { "; " } else { "," };
        return Some(rest.split(between).map(of).collect());
    }
    let name = between(text, "exceeded quota: ", ", requested: ")?;
    let asked = between(text, "requested: ", ", used: ")?;
    let used = between(text, ", used: ", ", limited: ").map(pairs).unwrap_or_default();
    let (_, hard) = text.rsplit_once(", limited: ")?;
    let hard = pairs(hard);
    let holds = check(subject);
    let cause = |(resource, amount): (&str, &str)| {
        let of = |list: &[(&str, &str)]| list.iter().find(|(r, _)| *r == resource).map_or("?", |(_, v)| *v).to_string();
        let message = format!("quota {name}: {resource} {} used of {}, the pod needs {amount} more", of(&used), of(&hard));
        let mut cause = refusal(&ENTRY, format!("{name} {resource}"), message);
        match holds.iter().find(|c| c.detail == cause.detail) {
            Some(now) => {
                cause.evidence.extend(now.evidence.iter().cloned());
                cause.fact = now.fact.clone();
            }
            None if read(subject, name) => {
                cause.message.push_str("; by its status it has room now, the controller's next try should succeed")
            }
            None => {}
        }
        cause
    };
    Some(pairs(asked).into_iter().map(cause).collect())
}

/// `a=1,b=2`
fn pairs(text: &str) -> Vec<(&str, &str)> {
    text.split(',').filter_map(|p| p.trim().split_once('=')).collect()
}

/// The quotas that have no room for one pod of the template.
pub fn foreseen(subject: &Subject) -> Vec<Cause> {
    check(subject)
}

/// Where a quota has room for a pod, but not for one on each of `wanted` nodes.
pub fn too_small(subject: &Subject, wanted: usize) -> Vec<Cause> {
    let usage = usage(subject);
    let wanted = i64::try_from(wanted).unwrap_or(i64::MAX);
    let mut causes = Vec::new();
    for quota in quotas(subject).filter(|q| covers(q, &subject.fresh.spec)) {
        for (resource, hard) in &quota.status.hard {
            let Some(amount) = usage.get(resource) else { continue };
            let used = quota.status.used.get(resource).copied().unwrap_or_default();
            let Some(room) = fits(hard.minus(used), *amount).filter(|room| *room < wanted) else { continue };
            let name = &quota.metadata.name;
            let message = format!(
                "quota {name}: {resource} {used} used of {hard}, a pod needs {amount}: room for {room} of {wanted} pods, the others would be refused"
            );
            let object = format!("ResourceQuota/{}", quota.metadata.full_name());
            causes.push(
                refusal(&ENTRY, format!("{name} {resource}"), message)
                    .evidence(&object, format!("status.hard[{resource}]"), hard.to_string())
                    .evidence(&object, format!("status.used[{resource}]"), used.to_string())
                    .evidence(subject.object(), format!("one pod's {resource}"), amount.to_string()),
            );
        }
    }
    causes
}

/// How many times the amount fits; `None` if any number does.
fn fits(room: Quantity, amount: Quantity) -> Option<i64> {
    let (room, amount) = match (room.milli_value(), amount.milli_value()) {
        (i64::MAX, _) | (_, i64::MAX) => (room.value(), amount.value()),
        milli => milli,
    };
    (amount > 0).then(|| (room / amount).max(0))
}

/// Takes what these pods use off the quotas of their namespace, as if they were gone.
pub fn release(quotas: &mut [ResourceQuota], pods: &[&Pod], features: &Features) {
    adjust(quotas, pods, features, Quantity::minus);
}

/// Adds what these pods use.
pub fn take(quotas: &mut [ResourceQuota], pods: &[&Pod], features: &Features) {
    adjust(quotas, pods, features, Quantity::plus);
}

fn adjust(quotas: &mut [ResourceQuota], pods: &[&Pod], features: &Features, by: fn(Quantity, Quantity) -> Quantity) {
    for pod in pods.iter().filter(|p| !p.is_terminal()) {
        let usage = usage_of(&pod.spec, features);
        for quota in quotas.iter_mut().filter(|q| q.metadata.namespace == pod.metadata.namespace && covers(q, &pod.spec)) {
            for (resource, used) in &mut quota.status.used {
                if let Some(amount) = usage.get(resource) {
                    *used = by(*used, *amount);
                }
            }
        }
    }
}

fn read(subject: &Subject, name: &str) -> bool {
    quotas(subject).any(|q| q.metadata.name == name && !q.status.hard.is_empty())
}

fn quotas<'a>(subject: &'a Subject) -> impl Iterator<Item = &'a ResourceQuota> {
    subject.snapshot.resource_quotas.iter().filter(|q| q.metadata.namespace == subject.ds.metadata.namespace)
}

fn check(subject: &Subject) -> Vec<Cause> {
    let spec = &subject.fresh.spec;
    let usage = usage(subject);
    let mut causes = Vec::new();
    for quota in quotas(subject).filter(|q| covers(q, spec)) {
        let object = format!("ResourceQuota/{}", quota.metadata.full_name());
        for (resource, hard) in &quota.status.hard {
            let used = quota.status.used.get(resource).copied().unwrap_or_default();
            // Upstream asks for what must be set first, and then no more.
            if must_be_set(resource)
                && let Some(container) = without(spec, resource)
            {
                let message = format!("quota {} wants {resource} to be set, and container {container} does not", quota.metadata.name);
                let cause = refusal(&ENTRY, format!("{} {resource}", quota.metadata.name), message);
                causes.push(cause.evidence(&object, format!("status.hard[{resource}]"), hard.to_string()));
                continue;
            }
            let Some(amount) = usage.get(resource).filter(|amount| used.plus(**amount) > *hard) else { continue };
            let message = format!("quota {}: {resource} {used} used of {hard}, the pod needs {amount} more", quota.metadata.name);
            let mut cause = refusal(&ENTRY, format!("{} {resource}", quota.metadata.name), message);
            cause.evidence = vec![
                Evidence::new(&object, format!("status.hard[{resource}]"), hard.to_string()),
                Evidence::new(&object, format!("status.used[{resource}]"), used.to_string()),
                Evidence::new(subject.object(), format!("one pod's {resource}"), amount.to_string()),
            ];
            let (name, resource) = (quota.metadata.name.clone(), resource.clone());
            causes.push(cause.fact(Fact::Quota { name, resource, hard: *hard, used, amount: *amount }));
        }
    }
    causes
}

/// Resources that every container has to set where a quota counts them.
fn must_be_set(resource: &str) -> bool {
    matches!(resource, "cpu" | "memory" | "requests.cpu" | "requests.memory" | "limits.cpu" | "limits.memory")
}

/// The first container that does not set the resource.
fn without<'a>(spec: &'a PodSpec, resource: &str) -> Option<&'a str> {
    if spec.resources.as_ref().is_some_and(|r| !r.requests.is_empty() || !r.limits.is_empty()) {
        return None;
    }
    let (limit, name) = match resource.split_once('.') {
        Some(("limits", name)) => (true, name),
        Some((_, name)) => (false, name),
        None => (false, resource),
    };
    let lacks = |c: &&crate::model::pod::Container| {
        let list = if limit { &c.resources.limits } else { &c.resources.requests };
        !list.contains_key(name)
    };
    spec.containers.iter().chain(&spec.init_containers).find(lacks).map(|c| c.name.as_str())
}

/// What one pod uses of each resource that a quota can count.
fn usage(subject: &Subject) -> ResourceList {
    usage_of(&subject.fresh.spec, &subject.features)
}

fn usage_of(spec: &PodSpec, features: &Features) -> ResourceList {
    let one = Quantity::units(1, Format::DecimalSi);
    let mut usage: ResourceList = [("pods".to_string(), one), ("count/pods".to_string(), one)].into();
    for (name, quantity) in requests(spec, None, features) {
        match name.as_str() {
            "cpu" | "memory" | "ephemeral-storage" => {
                usage.insert(format!("requests.{name}"), quantity);
                usage.insert(name, quantity);
            }
            hugepages if hugepages.starts_with("hugepages-") => {
                usage.insert(format!("requests.{name}"), quantity);
                usage.insert(name, quantity);
            }
            extended if extended.contains('/') => {
                usage.insert(format!("requests.{extended}"), quantity);
            }
            _ => {}
        }
    }
    for (name, quantity) in limits(spec, features) {
        if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") {
            usage.insert(format!("limits.{name}"), quantity);
        }
    }
    usage
}

/// True if every scope of the quota has the pod.
fn covers(quota: &ResourceQuota, spec: &PodSpec) -> bool {
    let named = quota.spec.scopes.iter().map(|s| ScopedResourceSelectorRequirement {
        scope_name: s.clone(),
        operator: "Exists".into(),
        values: Vec::new(),
    });
    let selected = quota.spec.scope_selector.iter().flat_map(|s| s.match_expressions.iter().cloned());
    named.chain(selected).all(|r| in_scope(&r, spec))
}

fn in_scope(r: &ScopedResourceSelectorRequirement, spec: &PodSpec) -> bool {
    let class = &spec.priority_class_name;
    match r.scope_name.as_str() {
        "Terminating" => spec.active_deadline_seconds.is_some(),
        "NotTerminating" => spec.active_deadline_seconds.is_none(),
        "BestEffort" => is_best_effort(spec),
        "NotBestEffort" => !is_best_effort(spec),
        "PriorityClass" => match r.operator.as_str() {
            "Exists" => !class.is_empty(),
            "DoesNotExist" => class.is_empty(),
            "In" => r.values.contains(class),
            "NotIn" => !r.values.contains(class),
            _ => false,
        },
        "CrossNamespacePodAffinity" => looks_into_other_namespaces(spec),
        _ => false,
    }
}

/// True if a term of the pod's affinity or anti-affinity, required or not, names namespaces or selects them.
fn looks_into_other_namespaces(spec: &PodSpec) -> bool {
    let rules = spec.affinity.iter().flat_map(|a| a.pod_affinity.iter().chain(&a.pod_anti_affinity));
    let mut terms = rules.flat_map(|r| r.required.iter().chain(r.preferred.iter().map(|p| &p.pod_affinity_term)));
    terms.any(|t| !t.namespaces.is_empty() || t.namespace_selector.is_some())
}

/// No container asks for cpu or memory at all.
fn is_best_effort(spec: &PodSpec) -> bool {
    let asks = |list: &ResourceList| ["cpu", "memory"].iter().any(|n| list.get(*n).is_some_and(|q| !q.is_zero()));
    let containers = spec.containers.iter().chain(&spec.init_containers).map(|c| &c.resources);
    !containers.chain(&spec.resources).any(|r| asks(&r.requests) || asks(&r.limits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::snapshot::Snapshot;
    use crate::model::version::NEWEST;
    use serde_json::{Value, json};

    /// The details of what is foreseen for one pod of this spec with this quota.
    fn details(quota: Value, spec: Value) -> Vec<String> {
        let mut snapshot = Snapshot::default();
        let mut quota = quota;
        quota["metadata"] = json!({"name": "q", "namespace": "ns"});
        snapshot.objects.resource_quotas.items.push(serde_json::from_value(quota).unwrap());
        let ds = json!({"metadata": {"name": "ds", "namespace": "ns"}, "spec": {"template": {"spec": spec}}});
        let ds = serde_json::from_value(ds).unwrap();
        foreseen(&Subject::new(&snapshot, &ds)).into_iter().map(|c| c.detail).collect()
    }

    #[test]
    fn room_and_what_must_be_set() {
        let of = |requests: Value| json!({"containers": [{"name": "a", "resources": {"requests": requests}}]});
        let status = |hard: Value, used: Value| json!({"status": {"hard": hard, "used": used}});
        for (quota, spec, want) in [
            (status(json!({"pods": "3"}), json!({"pods": "2"})), of(json!({})), vec![]),
            (status(json!({"pods": "3"}), json!({"pods": "3"})), of(json!({})), vec!["q pods"]),
            (status(json!({"requests.cpu": "1"}), json!({"requests.cpu": "900m"})), of(json!({"cpu": "100m"})), vec![]),
            (status(json!({"requests.cpu": "1"}), json!({"requests.cpu": "901m"})), of(json!({"cpu": "100m"})), vec!["q requests.cpu"]),
            (
                status(json!({"requests.cpu": "1", "limits.memory": "1Gi"}), json!({})),
                of(json!({})),
                vec!["q limits.memory", "q requests.cpu"],
            ),
            // One container sets it, the other does not.
            (
                status(json!({"cpu": "1"}), json!({})),
                json!({"containers": [{"name": "a", "resources": {"requests": {"cpu": "1m"}}}, {"name": "b"}]}),
                vec!["q cpu"],
            ),
            (status(json!({"requests.x.io/gpu": "0"}), json!({})), of(json!({"x.io/gpu": "1"})), vec!["q requests.x.io/gpu"]),
        ] {
            assert_eq!(details(quota.clone(), spec.clone()), want, "{quota} {spec}");
        }
    }

    #[test]
    fn scopes_leave_pods_out() {
        let scoped = |scope: &str, operator: &str, values: Value| json!({"spec": {"scopeSelector": {"matchExpressions": [{"scopeName": scope, "operator": operator, "values": values}]}}, "status": {"hard": {"pods": "0"}}});
        let class = |name: &str| json!({"priorityClassName": name, "containers": [{"name": "a"}]});
        let near = |rule: &str, term: Value| {
            let kind = if rule == "podAffinity" { "required" } else { "preferred" };
            let terms = if kind == "required" { json!([term]) } else { json!([{"weight": 1, "podAffinityTerm": term}]) };
            json!({"affinity": {rule: {format!("{kind}DuringSchedulingIgnoredDuringExecution"): terms}}, "containers": [{"name": "a"}]})
        };
        for (quota, spec, covered) in [
            (scoped("PriorityClass", "In", json!(["high"])), class("high"), true),
            (scoped("PriorityClass", "In", json!(["high"])), class("low"), false),
            (scoped("PriorityClass", "NotIn", json!(["high"])), class("low"), true),
            (scoped("PriorityClass", "DoesNotExist", json!([])), class(""), true),
            (scoped("PriorityClass", "DoesNotExist", json!([])), class("low"), false),
            (scoped("PriorityClass", "Exists", json!([])), class("low"), true),
            (scoped("PriorityClass", "Exists", json!([])), class(""), false),
            (scoped("PriorityClass", "NotIn", json!(["high"])), class("high"), false),
            (scoped("PriorityClass", "Lt", json!(["high"])), class("high"), false),
            (scoped("VolumeAttributesClass", "Exists", json!([])), class(""), false),
            (scoped("CrossNamespacePodAffinity", "Exists", json!([])), class(""), false),
            (scoped("CrossNamespacePodAffinity", "Exists", json!([])), near("podAffinity", json!({"topologyKey": "z"})), false),
            (scoped("CrossNamespacePodAffinity", "Exists", json!([])), near("podAffinity", json!({"namespaces": ["x"]})), true),
            (scoped("CrossNamespacePodAffinity", "Exists", json!([])), near("podAntiAffinity", json!({"namespaceSelector": {}})), true),
            (scoped("BestEffort", "Exists", json!([])), class(""), true),
            (
                scoped("BestEffort", "Exists", json!([])),
                json!({"containers": [{"name": "a", "resources": {"limits": {"memory": "1"}}}]}),
                false,
            ),
            (
                scoped("BestEffort", "Exists", json!([])),
                json!({"containers": [{"name": "a", "resources": {"requests": {"cpu": "0"}}}]}),
                true,
            ),
            (scoped("NotBestEffort", "Exists", json!([])), class(""), false),
            (scoped("Terminating", "Exists", json!([])), class(""), false),
            (json!({"spec": {"scopes": ["NotTerminating"]}, "status": {"hard": {"pods": "0"}}}), class(""), true),
        ] {
            assert_eq!(!details(quota.clone(), spec.clone()).is_empty(), covered, "{quota} {spec}");
        }
    }

    #[test]
    fn how_many_fit() {
        let of = |text: &str| text.parse::<Quantity>().unwrap();
        for (room, amount, want) in [
            ("10", "3", Some(3)),
            ("1", "100m", Some(10)),
            ("0", "1", Some(0)),
            ("-5", "1", Some(0)),
            ("5", "0", None),
            ("9E", "1E", Some(9)),
            ("500m", "1", Some(0)),
        ] {
            assert_eq!(fits(of(room), of(amount)), want, "{room} / {amount}");
        }
    }

    #[test]
    fn pods_that_come_and_go() {
        let quota = |name: &str, namespace: &str, scope: &str| -> ResourceQuota {
            serde_json::from_value(json!({"metadata": {"name": name, "namespace": namespace}, "spec": {"scopes": [scope]},
                "status": {"used": {"pods": "5", "requests.cpu": "1", "services": "3"}}}))
            .unwrap()
        };
        let mut quotas = [quota("q", "ns", "NotTerminating"), quota("scope", "ns", "Terminating"), quota("other", "x", "NotTerminating")];
        let pod = |phase: &str| -> Pod {
            serde_json::from_value(json!({"metadata": {"name": "p", "namespace": "ns"}, "status": {"phase": phase},
                "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "250m"}}}]}}))
            .unwrap()
        };
        let (running, done) = (pod("Running"), pod("Succeeded"));
        let shown = |quotas: &[ResourceQuota]| -> Vec<String> {
            quotas.iter().map(|q| q.status.used.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ")).collect()
        };
        let untouched = "pods=5 requests.cpu=1 services=3";
        release(&mut quotas, &[&running, &done], &NEWEST.features());
        assert_eq!(shown(&quotas), ["pods=4 requests.cpu=750m services=3", untouched, untouched]);
        take(&mut quotas, &[&running, &running, &done], &NEWEST.features());
        assert_eq!(shown(&quotas), ["pods=6 requests.cpu=1250m services=3", untouched, untouched]);
    }

    #[test]
    fn too_small_for_all() {
        let mut snapshot = Snapshot::default();
        let status = json!({"hard": {"pods": "5", "requests.cpu": "2", "services": "1"}, "used": {"pods": "3"}});
        let quota = json!({"metadata": {"name": "q", "namespace": "ns"}, "status": status});
        snapshot.objects.resource_quotas.items.push(serde_json::from_value(quota).unwrap());
        let spec = json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": "250m"}}}]});
        let ds = json!({"metadata": {"name": "ds", "namespace": "ns"}, "spec": {"template": {"spec": spec}}});
        let ds = serde_json::from_value(ds).unwrap();
        let subject = Subject::new(&snapshot, &ds);
        for (wanted, want) in [(2, vec![]), (3, vec!["q pods"]), (8, vec!["q pods"]), (9, vec!["q pods", "q requests.cpu"])] {
            let found: Vec<String> = too_small(&subject, wanted).into_iter().map(|c| c.detail).collect();
            assert_eq!(found, want, "{wanted}");
        }
    }
}
