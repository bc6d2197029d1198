//! MinReadySeconds: the pod is ready, but not for long enough to count as available.
//!
//! Upstream: `IsPodAvailable` of `pkg/api/v1/pod/util.go` (v1.37.2).

use super::View;
use crate::cause::{Cause, Entry, Remedy, Severity, Stage};
use crate::model::time::Age;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "MinReadySeconds",
    stage: Stage::Running,
    summary: "The pod is ready, but not yet for minReadySeconds, so it is not available",
    doc: "\
## What it means
`spec.minReadySeconds` asks that a pod be ready for so long before it counts as available. Until then a rollout counts it against its
budget, and the DaemonSet looks incomplete. A pod whose readiness comes and goes starts anew each time. The moment it became ready was
written by the node's clock and is compared with the controller's: where they differ, it takes longer.

## How it is recognised
The Ready condition is True, and its lastTransitionTime plus minReadySeconds lies after now.

## How to check by hand
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.minReadySeconds}'
    kubectl -n NAMESPACE get pod POD -o jsonpath='{.status.conditions[?(@.type==\"Ready\")].lastTransitionTime}'

## How to fix it
Wait, or lower minReadySeconds. If the time lies in the future, set the clocks right (NTP on nodes and control plane).
",
};

/// The cause, if the pod is ready and not yet available.
pub fn causes(view: &View) -> Vec<Cause> {
    let seconds = view.subject.ds.spec.min_ready_seconds;
    let pod = view.pod;
    if !pod.is_ready() || view.subject.is_available(pod) {
        return Vec::new();
    }
    let since = pod.condition("Ready").and_then(|c| c.last_transition_time);
    let (message, severity) = match since.map(|t| view.now().seconds_since(t)) {
        Some(age) if age < 0 => (
            format!("the pod became ready {} in the future by its node's clock; minReadySeconds is {seconds}", Age(-age)),
            Severity::Warning,
        ),
        Some(age) => (format!("the pod has been ready for {}, it is available after {}", Age(age), Age(seconds.into())), Severity::Info),
        None => (format!("the pod does not say since when it is ready; minReadySeconds is {seconds}"), Severity::Warning),
    };
    let see = ["get", "pod", &pod.metadata.name, "-o", "jsonpath={.status.conditions[?(@.type==\"Ready\")].lastTransitionTime}"];
    vec![
        Cause::new(&ENTRY, seconds.to_string(), message)
            .severity(severity)
            .evidence(view.subject.object(), "spec.minReadySeconds", seconds)
            .evidence(view.object(), "status.conditions[Ready].lastTransitionTime", since.map(|t| t.to_string()))
            .remedy(Remedy::inspect("see since when it is ready", view.kubectl(&see))),
    ]
}

#[cfg(test)]
mod tests {
    use crate::cause::Severity;
    use crate::lifecycle::bed::{causes, names, node, pod};
    use serde_json::json;

    #[test]
    fn ready_for_less_than_min_ready_seconds() {
        for (since, severity) in [
            (json!("2026-11-30T11:59:00Z"), Severity::Info),
            (json!("2026-11-30T12:30:00Z"), Severity::Warning),
            (json!(null), Severity::Warning),
        ] {
            let status = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": since}]});
            let found = causes(node("True"), pod(status), vec![]);
            assert_eq!(names(&found), ["MinReadySeconds 900"]);
            assert_eq!(found[0].severity, severity, "{since}");
        }
    }
}
