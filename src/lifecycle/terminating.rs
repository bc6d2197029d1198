//! Terminating: the pod is being deleted and is still there.
//!
//! Upstream: `metadata.deletionTimestamp` is the moment by which the pod should be gone: that of
//! the deletion plus the grace period (`BeforeDelete` of `k8s.io/apiserver/pkg/registry/rest/delete.go`,
//! v1.37.2). The object goes once the kubelet says so and no finalizer is left.

use super::{View, shortened};
use crate::cause::{Cause, Entry, Remedy, RemedyKind, Severity, Stage};
use crate::model::time::Age;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "Terminating",
    stage: Stage::Running,
    summary: "The pod is being deleted and is still there",
    doc: "\
## What it means
The pod has been deleted, and its object waits to go. While it is there, the controller makes no new pod on the node (without maxSurge),
and in a rollout the node uses a part of the maxUnavailable budget up. Within the grace period that is how it should be. Beyond it, a
finalizer holds the object, or the kubelet cannot end the containers or take their network down, or the node is dead and nobody confirms
their end.

## How it is recognised
`metadata.deletionTimestamp` is set; it is the moment by which the pod should be gone. `metadata.finalizers` names what holds it. Of a pod
that is late the kubelet's events FailedKillPod and FailedPreStopHook are quoted.

## How to check by hand
    kubectl -n NAMESPACE get pod POD -o jsonpath='{.metadata.deletionTimestamp} {.metadata.finalizers}'
    kubectl -n NAMESPACE describe pod POD

## How to fix it
Find the controller that should remove the finalizer. On a dead node, mend the node or delete the Node object; the pod follows. As a last
resort, when the machine is surely off: `kubectl -n NAMESPACE delete pod POD --grace-period=0 --force`.
",
};

/// The cause: one for each finalizer, or one without detail.
pub fn causes(view: &View) -> Vec<Cause> {
    let meta = &view.pod.metadata;
    let Some(due) = meta.deletion_timestamp else { return Vec::new() };
    let grace = meta.deletion_grace_period_seconds.unwrap_or(0);
    let late = view.now().seconds_since(due);
    let since = view.now().seconds_since(due).saturating_add(grace).max(0);
    let base = |detail: String, why: String, severity: Severity| {
        let message = format!("the pod was deleted {} ago (grace period {grace}s) and {why}", Age(since));
        Cause::new(&ENTRY, detail, message)
            .severity(severity)
            .evidence(view.object(), "metadata.deletionTimestamp", due.to_string())
            .evidence(view.object(), "metadata.deletionGracePeriodSeconds", grace)
    };
    let name = meta.name.as_str();
    if !meta.finalizers.is_empty() {
        let see = view.kubectl(&["get", "pod", name, "-o", "jsonpath={.metadata.finalizers}"]);
        return meta
            .finalizers
            .iter()
            .map(|finalizer| {
                base(format!("finalizer {finalizer}"), format!("the finalizer {finalizer} holds it"), Severity::Error)
                    .evidence(view.object(), "metadata.finalizers", finalizer.as_str())
                    .remedy(Remedy::inspect("see what holds it", see.clone()))
            })
            .collect();
    }
    let down = view.info.is_some_and(|i| i.node.condition("Ready").is_some_and(|c| c.status != "True"));
    let hindrance = view.event(&["FailedKillPod", "FailedPreStopHook"]).filter(|_| !down && late > 0);
    let (why, severity) = match (down, late > 0) {
        (true, _) => ("its node is not ready to confirm that it has ended".to_string(), Severity::Error),
        (false, true) => {
            let said = hindrance.map_or(String::new(), |e| format!(": {}", shortened(&e.message)));
            (format!("should have been gone {} ago{said}", Age(late)), Severity::Error)
        }
        (false, false) => ("is within its grace period".to_string(), Severity::Info),
    };
    let mut cause = view.with_event(base(String::new(), why, severity), hindrance).remedy(view.describe());
    if down {
        cause = cause.remedy(Remedy {
            title: "if the machine is surely off, drop the pod".into(),
            kind: RemedyKind::Disruptive,
            command: Some(view.kubectl(&["delete", "pod", name, "--grace-period=0", "--force"])),
            effect: None,
        });
    }
    vec![cause]
}

#[cfg(test)]
mod tests {
    use crate::cause::Severity;
    use crate::lifecycle::bed::{causes, event, names, node, pod, running};
    use serde_json::json;

    #[test]
    fn what_the_kubelet_fails_with_is_quoted() {
        let kill = || event("FailedKillPod", "error killing pod: failed to \"KillPodSandbox\": connection is unauthorized");
        for (due, events, want) in [
            (
                "11:59:00",
                vec![kill()],
                "should have been gone 60s ago: error killing pod: failed to \"KillPodSandbox\": connection is unauthorized",
            ),
            ("11:59:00", vec![event("Killing", "Stopping container agent")], "should have been gone 60s ago"),
            ("12:00:10", vec![kill()], "is within its grace period"),
        ] {
            let mut pod = pod(running(json!({"ready": true, "state": {"running": {}}})));
            pod["metadata"]["deletionTimestamp"] = format!("2026-11-30T{due}Z").into();
            let found = causes(node("True"), pod, events);
            assert!(found[0].message.ends_with(want), "{}", found[0].message);
        }
    }

    #[test]
    fn finalizers_grace_and_dead_nodes_are_told_apart() {
        let status = running(json!({"ready": true, "state": {"running": {}}}));
        for (ready, due, finalizers, want, severity) in [
            ("True", "12:00:10", json!([]), vec!["Terminating"], Severity::Info),
            ("True", "11:59:00", json!([]), vec!["Terminating"], Severity::Error),
            ("Unknown", "12:00:10", json!([]), vec!["Terminating", "NodeNotReady"], Severity::Error),
            ("True", "12:00:10", json!(["a/b", "c"]), vec!["Terminating finalizer a/b", "Terminating finalizer c"], Severity::Error),
        ] {
            let mut pod = pod(status.clone());
            pod["metadata"]["deletionTimestamp"] = format!("2026-11-30T{due}Z").into();
            pod["metadata"]["deletionGracePeriodSeconds"] = 30.into();
            pod["metadata"]["finalizers"] = finalizers;
            let found = causes(node(ready), pod, vec![]);
            assert_eq!(names(&found), want);
            assert_eq!(found[0].severity, severity, "{ready} {due}");
        }
    }
}
