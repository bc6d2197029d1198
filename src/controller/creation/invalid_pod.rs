//! CreateInvalid: the pod made from the template is not valid.
//!
//! Upstream: `ValidatePodCreate` of `pkg/apis/core/validation/validation.go` (v1.37.2): what only
//! shows on the pod, such as a request above a limit that a LimitRange set.

use super::{limit_range, refusal};
use crate::cause::{Cause, Entry, Stage};
use crate::diagnose::Subject;
use crate::model::object::LabelSelector;
use crate::model::pod::{Container, PodSpec, ResourceRequirements};
use crate::model::pod_requests::{container_limits, container_requests, pod_level_requests};

/// The page.
pub static ENTRY: Entry = Entry {
    code: "CreateInvalid",
    stage: Stage::Creation,
    summary: "The pod made from the template fails the API server's validation",
    doc: "\
## What it means
The template was accepted, but the pod that comes of it is not valid: admission changed something (a LimitRange set a limit below the
request, a webhook edited it), or a field may not be set on a pod.

## How it is recognised
A FailedCreate event says `Pod ... is invalid` with the field and the reason. The common mistakes (a request above its limit, pod-level
resources below those of the containers, a host port asked for twice, a label in both `labelSelector` and
`matchLabelKeys`, blanks around an image's name) are found from the template, too.

## How to check by hand
    kubectl -n NAMESPACE describe ds NAME
    kubectl -n NAMESPACE get limitranges -o yaml

## How to fix it
Change the named field in the template; for a request above a limit, set the limit in the template yourself.
",
};

/// Reads upstream's text.
pub fn from_event(subject: &Subject, text: &str) -> Option<Vec<Cause>> {
    let (_, rest) = text.split_once("\" is invalid: ")?;
    if rest.contains("must be less than or equal to") {
        let by_defaults = limit_range::defaults_below_requests(subject);
        if !by_defaults.is_empty() {
            return Some(by_defaults);
        }
    }
    let rest = rest.trim_start_matches('[');
    let field = rest.split(": ").next().unwrap_or_default();
    Some(vec![cause(subject, field, rest)])
}

fn cause(subject: &Subject, field: &str, words: &str) -> Cause {
    let message = format!("the pod made from the template is not valid: {words}");
    refusal(&ENTRY, field, message).evidence(subject.object(), format!("spec.template.{field}"), words)
}

/// What the pod, with the API server's defaults and admission's share, would be refused for.
pub fn foreseen(subject: &Subject) -> Vec<Cause> {
    let spec = &subject.fresh.spec;
    let mut found: Vec<(String, String)> = Vec::new();
    // A limit that a LimitRange set too low is told as that range's.
    if limit_range::defaults_below_requests(subject).is_empty() {
        requests_above_limits(spec, &mut found);
    }
    pod_level_resources(subject, &mut found);
    duplicate_host_ports(spec, &mut found);
    if spec.host_users == Some(false) && spec.host_network {
        found.push(("spec.hostNetwork".into(), "hostNetwork may not be set when hostUsers is false".into()));
    }
    if !spec.node_name.is_empty() && !spec.scheduling_gates.is_empty() {
        found.push(("spec.nodeName".into(), "nodeName may not be set while there are scheduling gates".into()));
    }
    match_label_keys(subject, &mut found);
    image_blanks(spec, &mut found);
    huge_pages_alone(spec, &mut found);
    toleration_operators(spec, subject.features.toleration_comparison, &mut found);
    found.into_iter().map(|(field, words)| cause(subject, &field, &words)).collect()
}

/// Every container with its field.
fn containers(spec: &PodSpec) -> impl Iterator<Item = (String, &Container)> {
    let of = |field: &'static str| move |(i, c)| (format!("spec.{field}[{i}]"), c);
    let init = spec.init_containers.iter().enumerate().map(of("initContainers"));
    spec.containers.iter().enumerate().map(of("containers")).chain(init)
}

fn requests_above_limits(spec: &PodSpec, found: &mut Vec<(String, String)>) {
    for (field, container) in containers(spec) {
        let Container { resources: ResourceRequirements { limits, requests, .. }, .. } = container;
        for (name, request) in requests {
            match limits.get(name) {
                Some(limit) if request.rounded_to_milli() > limit.rounded_to_milli() => {
                    let words = format!("container {} requests {request} {name}, its limit is {limit}", container.name);
                    found.push((format!("{field}.resources.requests"), words));
                }
                _ => {}
            }
        }
    }
}

fn pod_level_resources(subject: &Subject, found: &mut Vec<(String, String)>) {
    let spec = &subject.fresh.spec;
    let Some(own) = spec.resources.as_ref().filter(|_| subject.features.pod_level_resources) else { return };
    let requests = pod_level_requests(spec, own);
    for (name, sum) in container_requests(spec) {
        if let Some(request) = requests.get(&name).filter(|r| sum > **r) {
            let words = format!("the pod as a whole requests {request} {name}, its containers request {sum}");
            found.push((format!("spec.resources.requests[{name}]"), words));
        }
    }
    for (name, request) in &requests {
        if let Some(limit) = own.limits.get(name).filter(|l| request > *l) {
            found.push(("spec.resources.requests".into(), format!("the pod as a whole requests {request} {name}, its limit is {limit}")));
        }
    }
    for (i, container) in spec.containers.iter().enumerate() {
        for (name, limit) in &container.resources.limits {
            if let Some(whole) = own.limits.get(name).filter(|w| limit > *w) {
                let words = format!("container {} has limit {limit} {name}, the pod as a whole {whole}", container.name);
                found.push((format!("spec.resources.containers[{i}][{name}].limits"), words));
            }
        }
    }
    for (name, sum) in container_limits(spec).into_iter().filter(|(n, _)| n.starts_with("hugepages-")) {
        if let Some(limit) = own.limits.get(&name).filter(|l| sum > **l) {
            let words = format!("the pod as a whole has limit {limit} {name}, its containers have {sum}");
            found.push((format!("spec.resources.limits[{name}]"), words));
        }
    }
}

/// Upstream compares protocol, address and port as they are spelled: among all containers, but
/// for init containers within each.
fn duplicate_host_ports(spec: &PodSpec, found: &mut Vec<(String, String)>) {
    for (field, list) in [("containers", &spec.containers), ("initContainers", &spec.init_containers)] {
        let mut seen = std::collections::HashSet::new();
        for (i, container) in list.iter().enumerate() {
            if field == "initContainers" {
                seen.clear();
            }
            for (j, port) in container.ports.iter().enumerate() {
                let host_port = if port.host_port == 0 && spec.host_network { port.container_port } else { port.host_port };
                let protocol = if port.protocol.is_empty() { "TCP" } else { &port.protocol };
                if host_port != 0 && !seen.insert((protocol, port.host_ip.as_str(), host_port)) {
                    let words = format!("host port {protocol}/{host_port} is asked for twice");
                    found.push((format!("spec.{field}[{i}].ports[{j}].hostPort"), words));
                }
            }
        }
    }
}

/// Hugepages may not be all that a container, or the pod as a whole, asks for.
fn huge_pages_alone(spec: &PodSpec, found: &mut Vec<(String, String)>) {
    let alone = |r: &ResourceRequirements| {
        let names = || r.requests.keys().chain(r.limits.keys());
        names().any(|n| n.starts_with("hugepages-")) && !names().any(|n| matches!(n.as_str(), "cpu" | "memory"))
    };
    let defaulted = spec.resources.as_ref().map(|own| ResourceRequirements { requests: pod_level_requests(spec, own), ..own.clone() });
    let whole = defaulted.iter().map(|r| ("spec".to_string(), r));
    for (field, resources) in containers(spec).map(|(f, c)| (f, &c.resources)).chain(whole) {
        if alone(resources) {
            found.push((format!("{field}.resources"), "hugepages need cpu or memory beside them".into()));
        }
    }
}

fn toleration_operators(spec: &PodSpec, comparison: bool, found: &mut Vec<(String, String)>) {
    for (i, toleration) in spec.tolerations.iter().enumerate() {
        let operator = toleration.operator.as_str();
        if !(matches!(operator, "" | "Equal" | "Exists") || comparison && matches!(operator, "Lt" | "Gt")) {
            found.push((format!("spec.tolerations[{i}].operator"), format!("operator {operator} is not supported by this server")));
        }
    }
}

/// Labels by which a term goes are merged into its selector where the pod has them. A key that is there already, or that is
/// given twice, then stands in it twice: upstream refuses that, and finds it in the pod alone.
fn match_label_keys(subject: &Subject, found: &mut Vec<(String, String)>) {
    let (spec, labels) = (&subject.fresh.spec, &subject.fresh.labels);
    let twice = |selector: Option<&LabelSelector>, keys: &[String]| {
        let selector = selector?;
        let there = |k: &String| selector.match_labels.contains_key(k) || selector.match_expressions.iter().any(|e| e.key == *k);
        keys.iter().enumerate().filter(|(_, k)| labels.contains_key(k)).find_map(|(i, key)| match () {
            () if there(key) => Some(format!("label {key} stands in both matchLabelKeys and labelSelector")),
            () if keys.iter().take(i).any(|k| k == key) => Some(format!("label {key} stands twice in matchLabelKeys")),
            () => None,
        })
    };
    let affinity = spec.affinity.as_ref();
    for (kind, rule) in [
        ("podAffinity", affinity.and_then(|a| a.pod_affinity.as_ref())),
        ("podAntiAffinity", affinity.and_then(|a| a.pod_anti_affinity.as_ref())),
    ] {
        let required = rule.iter().flat_map(|r| &r.required).enumerate();
        let required = required.map(|(i, t)| (format!("requiredDuringSchedulingIgnoredDuringExecution[{i}]"), t));
        let preferred = rule.iter().flat_map(|r| &r.preferred).enumerate();
        let preferred =
            preferred.map(|(i, w)| (format!("preferredDuringSchedulingIgnoredDuringExecution[{i}].podAffinityTerm"), &w.pod_affinity_term));
        for (path, term) in required.chain(preferred) {
            if let Some(words) = twice(term.label_selector.as_ref(), &term.match_label_keys) {
                found.push((format!("spec.affinity.{kind}.{path}"), words));
            }
        }
    }
    for (i, constraint) in spec.topology_spread_constraints.iter().enumerate().filter(|_| subject.features.spread_keys_merged) {
        if let Some(words) = twice(constraint.label_selector.as_ref(), &constraint.match_label_keys) {
            found.push((format!("spec.topologySpreadConstraints[{i}]"), words));
        }
    }
}

/// A template may have blanks around an image's name, a pod may not.
fn image_blanks(spec: &PodSpec, found: &mut Vec<(String, String)>) {
    for (field, container) in containers(spec).filter(|(_, c)| c.image.trim() != c.image) {
        found.push((format!("{field}.image"), format!("image {:?} has blanks around it", container.image)));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::daemon_set::DaemonSet;
    use crate::model::snapshot::Snapshot;

    /// What is foreseen of a pod with this spec and the labels `app` and `tier`: the fields.
    fn fields(spec: Value, version: &str) -> Vec<String> {
        let mut spec = spec;
        spec["containers"] = if spec["containers"].is_null() { json!([{"name": "c", "image": "i"}]) } else { spec["containers"].take() };
        let template = json!({"metadata": {"labels": {"app": "a", "tier": "t"}}, "spec": spec});
        let ds: DaemonSet = serde_json::from_value(json!({"metadata": {"name": "a"}, "spec": {"template": template}})).unwrap();
        let snapshot = Snapshot { version: version.parse().unwrap(), ..Snapshot::default() };
        foreseen(&Subject::new(&snapshot, &ds)).into_iter().map(|c| c.detail).collect()
    }

    #[test]
    fn a_label_key_may_not_be_merged_over_itself() {
        let labels = || json!({"matchLabels": {"app": "a"}});
        let expressions = || json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]});
        for (what, selector, keys, refused) in [
            ("in the labels", labels(), json!(["app"]), true),
            ("in the expressions", expressions(), json!(["app"]), true),
            ("twice", json!({}), json!(["tier", "tier"]), true),
            ("one of two", labels(), json!(["tier", "app"]), true),
            ("another", labels(), json!(["tier"]), false),
            ("a key that the pod lacks", labels(), json!(["zone", "zone"]), false),
            ("no selector", Value::Null, json!(["app"]), false),
        ] {
            let term = json!({"labelSelector": selector, "matchLabelKeys": keys, "topologyKey": "zone"});
            for kind in ["podAffinity", "podAntiAffinity"] {
                let required = json!({"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}});
                let preferred = json!({"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}}});
                for (spec, path) in [
                    (required, "requiredDuringSchedulingIgnoredDuringExecution[0]"),
                    (preferred, "preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm"),
                ] {
                    let want = refused.then(|| format!("spec.affinity.{kind}.{path}"));
                    assert_eq!(fields(spec, "1.37"), want.into_iter().collect::<Vec<_>>(), "{what}");
                }
            }
            // Before 1.34 the scheduler merges the keys of constraints by itself.
            let spec = json!({"topologySpreadConstraints": [term]});
            let want = refused.then(|| "spec.topologySpreadConstraints[0]".to_string());
            assert_eq!(fields(spec.clone(), "1.34"), want.into_iter().collect::<Vec<_>>(), "{what}");
            assert_eq!(fields(spec, "1.33"), Vec::<String>::new(), "{what}");
        }
        // Keys that may not match are merged by NotIn, and may stand there as often as they like.
        let term = json!({"labelSelector": labels(), "mismatchLabelKeys": ["app", "tier", "tier"], "topologyKey": "zone"});
        let spec = json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}});
        assert_eq!(fields(spec, "1.37"), Vec::<String>::new());
    }

    #[test]
    fn blanks_around_an_image() {
        for (image, refused) in [("i:1", false), (" i:1", true), ("i:1\n", true), ("", false)] {
            let spec = json!({"containers": [{"name": "c", "image": "i"}], "initContainers": [{"name": "n", "image": image}]});
            let want = refused.then(|| "spec.initContainers[0].image".to_string());
            assert_eq!(fields(spec, "1.37"), want.into_iter().collect::<Vec<_>>(), "{image:?}");
        }
    }
}
