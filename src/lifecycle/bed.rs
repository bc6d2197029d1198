//! A small cluster to try the checks on.

use serde_json::{Value, json};

use crate::cause::Cause;
use crate::diagnose::Subject;
use crate::model::daemon_set::DaemonSet;
use crate::model::snapshot::Snapshot;
use crate::model::time::Time;

/// The moment of the test cluster: noon.
pub const NOW: &str = "2026-11-30T12:00:00Z";

/// A node whose Ready condition has this status, for ten minutes.
pub fn node(ready: &str) -> Value {
    json!({"metadata": {"name": "n1"}, "status": {"conditions": [
        {"type": "Ready", "status": ready, "reason": "R", "lastTransitionTime": "2026-11-30T11:50:00Z"}]}})
}

/// A pod on that node with this status; containers `agent` (limit 64Mi) and init container `setup`.
pub fn pod(status: Value) -> Value {
    json!({
        "metadata": {"name": "ds-1", "namespace": "ns", "creationTimestamp": "2026-11-30T10:00:00Z"},
        "spec": {
            "nodeName": "n1",
            "containers": [{"name": "agent", "image": "reg/agent:1", "resources": {"limits": {"memory": "64Mi"}}}],
            "initContainers": [{"name": "setup", "image": "reg/setup:1"}],
        },
        "status": status,
    })
}

/// A status with one main container of this status, not ready.
pub fn running(container: Value) -> Value {
    let mut container = container;
    container["name"] = "agent".into();
    json!({"phase": "Running", "startTime": "2026-11-30T10:00:00Z", "containerStatuses": [container],
        "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady", "lastTransitionTime": "2026-11-30T11:00:00Z"}]})
}

/// An event of the kubelet about the pod.
pub fn event(reason: &str, message: &str) -> Value {
    json!({"metadata": {"name": "e", "namespace": "ns"}, "involvedObject": {"kind": "Pod", "namespace": "ns", "name": "ds-1"},
        "type": "Warning", "reason": reason, "message": message, "source": {"component": "kubelet", "host": "n1"}, "count": 5,
        "lastTimestamp": "2026-11-30T11:59:00Z"})
}

/// The causes that the checks give for the pod on the node.
pub fn causes(node: Value, pod: Value, events: Vec<Value>) -> Vec<Cause> {
    let mut snapshot = Snapshot { now: Time::parse(NOW).unwrap(), ..Snapshot::default() };
    snapshot.objects.nodes.items.push(serde_json::from_value(node).unwrap());
    snapshot.objects.pods.items.push(serde_json::from_value(pod).unwrap());
    snapshot.objects.events.items.extend(events.into_iter().map(|e| serde_json::from_value(e).unwrap()));
    let ds: DaemonSet =
        serde_json::from_value(json!({"metadata": {"name": "ds", "namespace": "ns"}, "spec": {"minReadySeconds": 900}})).unwrap();
    let subject = Subject::new(&snapshot, &ds);
    super::causes(&subject, subject.nodes.first(), &snapshot.pods[0])
}

/// `Code detail` of each cause.
pub fn names(causes: &[Cause]) -> Vec<String> {
    causes.iter().map(|c| format!("{} {}", c.code, c.detail).trim().to_string()).collect()
}

/// As [`causes`], named, on a node that is ready.
pub fn found(status: Value, events: Vec<Value>) -> Vec<String> {
    names(&causes(node("True"), pod(status), events))
}
