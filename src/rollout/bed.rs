//! A small cluster in the middle of a rollout, to try the checks on.

use serde_json::{Value, json};

use crate::diagnose::{Options, diagnose};
use crate::model::snapshot::Snapshot;
use crate::model::time::Time;
use crate::report::Report;

/// The moment of the test cluster: noon. Revision 2 was made an hour before.
pub const NOW: &str = "2026-11-30T12:00:00Z";

/// The report on DaemonSet `ns/ds` with this update strategy and these pods, each as its node and
/// marks: `n`ew or `o`ld, `a`vailable, `c`rashing (exit 1) or `p`ending, `d`eleted. Node `gone` does
/// not exist, node `tainted` has a taint that is not tolerated.
pub fn report(strategy: Value, pods: &[(&str, &str)]) -> Report {
    let owner = json!([{"kind": "DaemonSet", "name": "ds", "uid": "u", "controller": true}]);
    let mut snapshot = Snapshot { now: Time::parse(NOW).unwrap(), ..Snapshot::default() };
    let objects = &mut snapshot.objects;
    let mut nodes: Vec<&str> = pods.iter().map(|(node, _)| *node).filter(|n| *n != "gone").collect();
    nodes.dedup();
    for name in nodes {
        let mut node = json!({"metadata": {"name": name}, "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "10"}}});
        if name == "tainted" {
            node["spec"] = json!({"taints": [{"key": "k", "effect": "NoSchedule"}]});
        }
        objects.nodes.items.push(serde_json::from_value(node).unwrap());
    }
    for (i, (node, marks)) in pods.iter().enumerate() {
        objects.pods.items.push(serde_json::from_value(pod(i, node, marks, &owner)).unwrap());
    }
    for n in 1..=2 {
        let revision = json!({"metadata": {"name": format!("r{n}"), "namespace": "ns", "ownerReferences": owner,
            "creationTimestamp": "2026-11-30T11:00:00Z", "labels": {"controller-revision-hash": format!("h{n}")}}, "revision": n});
        objects.controller_revisions.items.push(serde_json::from_value(revision).unwrap());
    }
    let container = json!({"name": "c", "image": "reg/c:2", "resources": {"requests": {"cpu": "600m"}}});
    let ds = json!({"metadata": {"name": "ds", "namespace": "ns", "uid": "u"},
        "spec": {"updateStrategy": strategy, "template": {"spec": {"containers": [container]}}}});
    diagnose(&snapshot, &serde_json::from_value(ds).unwrap(), &Options { without_remedies: true, ..Options::default() })
}

fn pod(i: usize, node: &str, marks: &str, owner: &Value) -> Value {
    let has = |mark: char| marks.contains(mark);
    let container = match (has('a'), has('c')) {
        (true, _) => json!({"name": "c", "ready": true, "state": {"running": {}}}),
        (_, true) => {
            json!({"name": "c", "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 1}}})
        }
        _ => json!({"name": "c", "state": {"waiting": {"reason": "ContainerCreating"}}}),
    };
    let mut pod = json!({
        "metadata": {"name": format!("p{i}"), "namespace": "ns", "ownerReferences": owner, "creationTimestamp": "2026-11-30T11:30:00Z",
            "labels": {"controller-revision-hash": if has('n') { "h2" } else { "h1" }}},
        "spec": {"nodeName": node, "containers": [{"name": "c", "image": "reg/c:1", "resources": {"requests": {"cpu": "600m"}}}]},
        "status": {"phase": "Running", "startTime": "2026-11-30T11:30:00Z", "containerStatuses": [container],
            "conditions": [{"type": "Ready", "status": if has('a') { "True" } else { "False" }, "lastTransitionTime": "2026-11-30T11:31:00Z"}]}});
    if has('p') {
        pod["spec"]["nodeName"] = Value::Null;
        pod["spec"]["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}}});
        pod["status"] = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "m"}]});
    }
    if has('d') {
        pod["metadata"]["deletionTimestamp"] = "2026-11-30T11:40:00Z".into();
    }
    pod
}

/// `Code` and message of each cause of the DaemonSet as a whole.
pub fn workload(report: &Report) -> Vec<(&'static str, &str)> {
    report.causes.iter().map(|c| (c.code, c.message.as_str())).collect()
}

/// True if any cause, of the DaemonSet or of a node, offers to roll back.
pub fn rolls_back(report: &Report) -> (bool, bool) {
    let undo = |c: &crate::cause::Cause| c.remedies.iter().filter_map(|r| r.command.as_deref()).any(|l| l.contains("rollout undo"));
    (report.causes.iter().any(undo), report.nodes.iter().flat_map(|n| &n.causes).any(undo))
}
