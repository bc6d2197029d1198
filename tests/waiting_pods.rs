//! A pod that waits for the scheduler is judged with what has been made for it.

mod support;

use ds_doctor::diagnose::{Options, diagnose};
use serde_json::json;

#[test]
fn claims_are_made_for_a_pod_and_then_judged() {
    for (statuses, want) in [
        (json!([]), "pod \"x/a-1\": ResourceClaim not created yet"),
        (json!([{"name": "gpu", "resourceClaimName": "a-1-gpu"}]), "cannot allocate all claims"),
    ] {
        let pin = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}}});
        let spec = json!({"containers": [{"name": "c"}], "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]});
        let mut pod_spec = spec.clone();
        pod_spec["affinity"] = pin;
        let devices = json!({"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}});
        let objects = [
            json!({"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"pods": "9"}, "conditions": [{"type": "Ready", "status": "True"}]}}),
            json!({"kind": "DaemonSet", "metadata": {"name": "a", "namespace": "x", "uid": "d"},
                "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": {"metadata": {"labels": {"app": "a"}}, "spec": spec}}}),
            json!({"kind": "Pod", "metadata": {"name": "a-1", "namespace": "x", "uid": "p", "labels": {"app": "a"},
                "ownerReferences": [{"kind": "DaemonSet", "name": "a", "uid": "d", "controller": true}]},
                "spec": pod_spec, "status": {"phase": "Pending", "resourceClaimStatuses": statuses}}),
            json!({"kind": "ResourceClaimTemplate", "metadata": {"name": "gpu", "namespace": "x"}, "spec": {"spec": devices}}),
            json!({"kind": "ResourceClaim", "metadata": {"name": "a-1-gpu", "namespace": "x", "uid": "r",
                "ownerReferences": [{"kind": "Pod", "name": "a-1", "uid": "p", "controller": true}]}, "spec": devices}),
            json!({"kind": "DeviceClass", "metadata": {"name": "gpu"}}),
        ];
        let snapshot = support::snapshot(&objects, "v1.37.2");
        let report = diagnose(&snapshot, snapshot.daemon_set("x", "a").unwrap(), &Options::default());
        let check = report.nodes[0].checks.iter().find(|c| c.plugin == "DynamicResources").unwrap();
        assert_eq!(check.reasons, [want]);
    }
}
