//! CreateLimitRange: the pod is outside the bounds of a LimitRange.
//!
//! Upstream: `PodValidateLimitFunc` of `plugin/pkg/admission/limitranger/admission.go` (v1.37.2).

use super::refusal;
use crate::cause::{Cause, Entry, Stage};
use crate::diagnose::Subject;
use crate::model::node::ResourceList;
use crate::model::pod::PodSpec;
use crate::model::pod_requests::{limits, requests};
use crate::model::policy::LimitRange;
use crate::model::quantity::Quantity;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "CreateLimitRange",
    stage: Stage::Creation,
    summary: "The pod's requests or limits are outside the bounds of a LimitRange",
    doc: "\
## What it means
A LimitRange of the namespace sets a minimum, a maximum or a ratio of limit to request, per container or per pod, and the template does not
keep to it; or it gives a container that sets no limit a default limit below the container's request. The API server refuses the pod.

## How it is recognised
A FailedCreate event says `maximum`, `minimum` or `max limit to request ratio`; the bounds are checked against the template (with the
LimitRange's own defaults), too, so the cause is found after the event has expired.

## How to check by hand
    kubectl -n NAMESPACE get limitranges -o yaml
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.template.spec.containers[*].resources}'

## How to fix it
Change the template's requests and limits, or the LimitRange; set limits of your own where its defaults are too low.
",
};

/// Reads upstream's texts; the range is found by its bound.
pub fn from_event(subject: &Subject, text: &str) -> Option<Vec<Cause>> {
    let broken = broken(subject);
    let mut causes: Vec<Cause> = Vec::new();
    for (word, offset) in [("maximum ", 0), ("minimum ", 0), (" max limit to request ratio per ", 1)] {
        for (at, _) in text.match_indices(word) {
            let resource = if offset == 0 {
                text[at + word.len()..].split(" usage per ").next().unwrap_or_default()
            } else {
                text[..at].rsplit([' ', '[', ',']).next().unwrap_or_default()
            };
            if resource.is_empty() || resource.contains(' ') {
                continue;
            }
            let name = broken.iter().find(|b| b.resource == resource).map(|b| format!("{} {resource}", b.range));
            let detail = name.unwrap_or_else(|| match ranges_with(subject, resource).as_slice() {
                [only] => format!("{only} {resource}"),
                _ => resource.to_string(),
            });
            let sentence = text[if offset == 0 { at } else { at - resource.len() }..].split(", m").next().unwrap_or_default();
            if !causes.iter().any(|c| c.detail == detail) {
                causes.push(refusal(
                    &ENTRY,
                    detail,
                    format!("the pod is outside the namespace's LimitRange: {}", sentence.trim_end_matches(']')),
                ));
            }
        }
    }
    (!causes.is_empty()).then_some(causes)
}

fn ranges_with<'a>(subject: &'a Subject, resource: &str) -> Vec<&'a str> {
    let bounds = |r: &&LimitRange| {
        r.spec
            .limits
            .iter()
            .any(|i| i.max.contains_key(resource) || i.min.contains_key(resource) || i.max_limit_request_ratio.contains_key(resource))
    };
    ranges(subject).filter(bounds).map(|r| r.metadata.name.as_str()).collect()
}

/// The bounds that the template does not keep to.
pub fn foreseen(subject: &Subject) -> Vec<Cause> {
    let cause = |b: Broken| {
        let object = format!("LimitRange/{}/{}", subject.ds.metadata.namespace, b.range);
        refusal(&ENTRY, format!("{} {}", b.range, b.resource), format!("the pod is outside LimitRange {}: {}", b.range, b.words))
            .evidence(object, b.field, b.bound.to_string())
            .evidence(subject.object(), b.what, b.value.map(|v| v.to_string()))
    };
    broken(subject).into_iter().map(cause).chain(defaults_below_requests(subject)).collect()
}

/// The defaults that make the pod invalid: a limit that the template does not set, below what the
/// container requests. The API server blames the request then, and does not name the LimitRange.
pub fn defaults_below_requests(subject: &Subject) -> Vec<Cause> {
    let (template, made) = (&subject.ds.spec.template.spec, &subject.fresh.spec);
    let pairs = template.containers.iter().zip(&made.containers).chain(template.init_containers.iter().zip(&made.init_containers));
    let mut causes: Vec<Cause> = Vec::new();
    for (own, made) in pairs {
        for (resource, request) in made.resources.requests.iter().filter(|(r, _)| !own.resources.limits.contains_key(*r)) {
            let Some(limit) = made.resources.limits.get(resource).filter(|l| l.rounded_to_milli() < request.rounded_to_milli()) else {
                continue;
            };
            let default = |r: &&LimitRange| {
                r.spec
                    .limits
                    .iter()
                    .position(|i| i.r#type == "Container" && i.default.get(resource) == Some(limit))
                    .map(|i| (r.metadata.name.clone(), i))
            };
            let Some((range, item)) = ranges(subject).find_map(|r| default(&r)) else { continue };
            let message = format!(
                "LimitRange {range} gives container {} a default limit of {limit} {resource}, below its request of {request}: the pod is not valid",
                own.name
            );
            let cause = refusal(&ENTRY, format!("{range} {resource}"), message)
                .evidence(
                    format!("LimitRange/{}/{range}", subject.ds.metadata.namespace),
                    format!("spec.limits[{item}].default[{resource}]"),
                    limit.to_string(),
                )
                .evidence(subject.object(), format!("request {resource} of container {}", own.name), request.to_string());
            if !causes.iter().any(|c| c.detail == cause.detail) {
                causes.push(cause);
            }
        }
    }
    causes
}

fn ranges<'a>(subject: &'a Subject) -> impl Iterator<Item = &'a LimitRange> {
    subject.snapshot.limit_ranges.iter().filter(|r| r.metadata.namespace == subject.ds.metadata.namespace)
}

struct Broken {
    range: String,
    resource: String,
    field: String,
    bound: Quantity,
    what: String,
    value: Option<Quantity>,
    words: String,
}

fn broken(subject: &Subject) -> Vec<Broken> {
    let spec = &subject.fresh.spec;
    let mut found = Vec::new();
    for range in ranges(subject) {
        for (i, item) in range.spec.limits.iter().enumerate() {
            let targets: Vec<(String, ResourceList, ResourceList)> = match item.r#type.as_str() {
                "Container" => spec
                    .containers
                    .iter()
                    .chain(&spec.init_containers)
                    .map(|c| (format!("container {}", c.name), c.resources.requests.clone(), c.resources.limits.clone()))
                    .collect(),
                "Pod" => {
                    // LimitRanger leaves the overhead out of account.
                    let spec = PodSpec { overhead: ResourceList::new(), ..spec.clone() };
                    vec![("the pod".to_string(), requests(&spec, None, &subject.features), limits(&spec, &subject.features))]
                }
                _ => continue,
            };
            // Upstream fills a container's missing max from its own default, so admission's defaults count.
            for (who, requests, limits) in &targets {
                let mut add = |resource: &str, kind: &str, bound: Quantity, part: &str, value: Option<Quantity>, words: String| {
                    found.push(Broken {
                        range: range.metadata.name.clone(),
                        resource: resource.to_string(),
                        field: format!("spec.limits[{i}].{kind}[{resource}]"),
                        bound,
                        what: format!("{part} {resource} of {who}"),
                        value,
                        words,
                    });
                };
                for (resource, bound) in &item.min {
                    match (requests.get(resource), limits.get(resource)) {
                        (None, _) => {
                            add(resource, "min", *bound, "request", None, format!("{who} requests no {resource}, the minimum is {bound}"))
                        }
                        (Some(r), _) if r < bound => add(
                            resource,
                            "min",
                            *bound,
                            "request",
                            Some(*r),
                            format!("{who} requests {r} {resource}, the minimum is {bound}"),
                        ),
                        (_, Some(l)) if l < bound => add(
                            resource,
                            "min",
                            *bound,
                            "limit",
                            Some(*l),
                            format!("{who} has limit {l} {resource}, the minimum is {bound}"),
                        ),
                        _ => {}
                    }
                }
                for (resource, bound) in &item.max {
                    match (limits.get(resource), requests.get(resource)) {
                        (None, _) => add(
                            resource,
                            "max",
                            *bound,
                            "limit",
                            None,
                            format!("{who} has no limit for {resource}, the maximum is {bound}"),
                        ),
                        (Some(l), _) if l > bound => add(
                            resource,
                            "max",
                            *bound,
                            "limit",
                            Some(*l),
                            format!("{who} has limit {l} {resource}, the maximum is {bound}"),
                        ),
                        (_, Some(r)) if r > bound => add(
                            resource,
                            "max",
                            *bound,
                            "request",
                            Some(*r),
                            format!("{who} requests {r} {resource}, the maximum is {bound}"),
                        ),
                        _ => {}
                    }
                }
                for (resource, bound) in &item.max_limit_request_ratio {
                    let of = |list: &ResourceList| list.get(resource).map_or(0, |q| q.milli_value());
                    let (limit, request) = (of(limits), of(requests));
                    let over =
                        request == 0 || limit == 0 || i128::from(limit) * 1000 > i128::from(bound.milli_value()) * i128::from(request);
                    if over {
                        let words = format!("{who} has limit to request of {resource} above the ratio {bound}");
                        add(resource, "maxLimitRequestRatio", *bound, "limit", limits.get(resource).copied(), words);
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::creation::invalid_pod;
    use crate::model::snapshot::Snapshot;
    use serde_json::{Value, json};

    #[test]
    fn a_default_limit_below_the_request_is_the_ranges_fault() {
        let words = "Pod \"a-x\" is invalid: spec.containers[0].resources.requests: Invalid value: \"500m\": must be less than or equal to cpu limit of 200m";
        let ranged = json!({"type": "Container", "default": {"cpu": "200m"}});
        for (resources, item, want) in [
            (json!({"requests": {"cpu": "500m"}}), &ranged, "CreateLimitRange defaults cpu"),
            (
                json!({"requests": {"cpu": "500m"}, "limits": {"cpu": "200m"}}),
                &ranged,
                "CreateInvalid spec.containers[0].resources.requests",
            ),
            (json!({"requests": {"cpu": "100m"}}), &ranged, ""),
            (json!({"requests": {"cpu": "500m"}}), &Value::Null, ""),
        ] {
            let mut snapshot = Snapshot::default();
            if !item.is_null() {
                let range = json!({"metadata": {"name": "defaults", "namespace": "ns"}, "spec": {"limits": [item]}});
                snapshot.objects.limit_ranges.items.push(serde_json::from_value(range).unwrap());
            }
            let container = json!({"name": "agent", "image": "x:1", "resources": resources});
            let ds = json!({"metadata": {"name": "ds", "namespace": "ns"}, "spec": {"template": {"spec": {"containers": [container]}}}});
            let ds = serde_json::from_value(ds).unwrap();
            let subject = Subject::new(&snapshot, &ds);
            let named = |causes: Vec<Cause>| causes.iter().map(|c| format!("{} {}", c.code, c.detail)).collect::<Vec<_>>().join("; ");
            assert_eq!(named(crate::controller::creation::foreseen(&subject)), want, "{resources}");
            let from_event = named(invalid_pod::from_event(&subject, words).unwrap());
            assert_eq!(from_event.starts_with("CreateLimitRange"), want.starts_with("CreateLimitRange"), "{from_event}");
        }
    }
}
