//! How a live pod differs from what the controller would make: a mutating webhook has changed it.
//!
//! No cause of its own: what keeps the pod waiting has one, and this says where that comes from.
//! Only a pod of the current revision can be compared, and only what the filters look at is.

use crate::cause::Evidence;
use crate::diagnose::Subject;
use crate::model::pod::{Container, Pod, PodSpec};

/// The scheduler that an empty name stands for.
const DEFAULT: &str = super::scheduler_name::DEFAULT;

/// What of the pod is not the template's nor known admission's, each with the pod's value.
pub fn evidence(subject: &Subject, pod: &Pod) -> Vec<Evidence> {
    if subject.is_updated(pod) != Some(true) {
        return Vec::new();
    }
    let (fresh, live) = (&subject.fresh.spec, &pod.spec);
    let mut found: Vec<(&str, String)> = Vec::new();
    let scheduler = |s: &PodSpec| if s.scheduler_name.is_empty() { DEFAULT.to_string() } else { s.scheduler_name.clone() };
    if scheduler(live) != scheduler(fresh) {
        found.push(("spec.schedulerName", format!("{} instead of {}", scheduler(live), scheduler(fresh))));
    }
    let lost: Vec<&str> = fresh.tolerations.iter().filter(|t| !live.tolerations.contains(t)).map(|t| t.key.as_str()).collect();
    if !lost.is_empty() {
        found.push(("spec.tolerations", format!("without that for {}", names(&lost))));
    }
    let entry = |(k, v): (&String, &String)| format!("{k}={v}");
    let added: Vec<String> = live.node_selector.iter().filter(|(k, v)| fresh.node_selector.get(*k) != Some(*v)).map(entry).collect();
    if !added.is_empty() {
        found.push(("spec.nodeSelector", format!("with {}", added.join(", "))));
    }
    for (field, live, fresh) in
        [("spec.containers", &live.containers, &fresh.containers), ("spec.initContainers", &live.init_containers, &fresh.init_containers)]
    {
        let twin = |c: &Container| fresh.iter().find(|f| f.name == c.name);
        let injected: Vec<&str> = live.iter().filter(|c| twin(c).is_none()).map(|c| c.name.as_str()).collect();
        if !injected.is_empty() {
            found.push((field, format!("with {}", names(&injected))));
        }
        let asks = |c: &Container| -> Vec<_> { c.resources.requests.iter().map(|(n, q)| (n.clone(), q.rounded_to_milli())).collect() };
        let other: Vec<&str> = live.iter().filter(|c| twin(c).is_some_and(|f| asks(f) != asks(c))).map(|c| c.name.as_str()).collect();
        // What a LimitRange gives is no webhook's doing, as far as it is known.
        if !other.is_empty() && subject.snapshot.limit_ranges.is_complete() {
            found.push((field, format!("with other requests of {}", names(&other))));
        }
    }
    let object = format!("Pod/{}", pod.full_name());
    found.into_iter().map(|(field, what)| Evidence::new(&object, format!("{field}, not as in the template"), what)).collect()
}

fn names(list: &[&str]) -> String {
    list.iter().map(|n| if n.is_empty() { "everything" } else { *n }).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::daemon_set::{ControllerRevision, DaemonSet};
    use crate::model::snapshot::Snapshot;
    use serde_json::{Value, json};

    /// What is said of the pod that upstream makes of a template, after this change.
    fn said(change: impl Fn(&mut Value)) -> Vec<String> {
        let owner = json!([{"kind": "DaemonSet", "name": "ds", "uid": "u", "controller": true}]);
        let spec = json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": "0.1"}}}],
            "tolerations": [{"key": "gpu", "operator": "Exists"}]});
        let ds: DaemonSet = serde_json::from_value(
            json!({"metadata": {"name": "ds", "namespace": "ns", "uid": "u"}, "spec": {"template": {"spec": spec}}}),
        )
        .unwrap();
        let mut snapshot = Snapshot::default();
        let revision = json!({"metadata": {"name": "r", "namespace": "ns", "ownerReferences": owner, "labels": {"controller-revision-hash": "h"}}, "revision": 1});
        snapshot.objects.controller_revisions.items.push(serde_json::from_value::<ControllerRevision>(revision).unwrap());
        let subject = Subject::new(&snapshot, &ds);
        let made = serde_json::to_value(&subject.fresh.spec).unwrap();
        let mut pod = json!({"metadata": {"name": "p", "namespace": "ns", "labels": {"controller-revision-hash": "h"}}, "spec": made});
        pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("100m");
        change(&mut pod);
        evidence(&subject, &serde_json::from_value(pod).unwrap())
            .iter()
            .map(|e| format!("{}: {}", e.field, e.value.as_str().unwrap()))
            .collect()
    }

    #[test]
    fn what_a_webhook_changed() {
        type Change = fn(&mut Value);
        let cases: [(Change, &[&str]); 7] = [
            (|_| {}, &[]),
            (
                |p| p["spec"]["schedulerName"] = json!("volcano"),
                &["spec.schedulerName, not as in the template: volcano instead of default-scheduler"],
            ),
            (
                |p| p["spec"]["tolerations"].as_array_mut().unwrap().retain(|t| t["key"] != "gpu"),
                &["spec.tolerations, not as in the template: without that for gpu"],
            ),
            (|p| p["spec"]["nodeSelector"] = json!({"pool": "a"}), &["spec.nodeSelector, not as in the template: with pool=a"]),
            (
                |p| p["spec"]["containers"].as_array_mut().unwrap().push(json!({"name": "istio-proxy"})),
                &["spec.containers, not as in the template: with istio-proxy"],
            ),
            (
                |p| p["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("2"),
                &["spec.containers, not as in the template: with other requests of c"],
            ),
            (
                |p| {
                    p["spec"]["schedulerName"] = json!("volcano");
                    p["metadata"]["labels"]["controller-revision-hash"] = json!("older");
                },
                &[],
            ),
        ];
        for (change, want) in cases {
            assert_eq!(said(change), want);
        }
    }
}
