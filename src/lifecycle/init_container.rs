//! InitContainer: an init container runs and does not end, or a sidecar does not come up.
//!
//! Upstream: `computeInitContainerActions` of
//! `pkg/kubelet/kuberuntime/kuberuntime_container.go` (v1.37.2): init containers one after the
//! other; a sidecar lets the next one start once it has started.

use super::{Part, Role, View};
use crate::cause::{Cause, Entry, Severity, Stage};
use crate::model::time::Age;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "InitContainer",
    stage: Stage::Running,
    summary: "An init container has not finished, so the containers do not start",
    doc: "\
## What it means
The pod's containers start once its init containers have ended with success, one after the other, and its sidecars have started. One of
them still runs: it waits for something (a DNS name, another service, a lock), or a sidecar's startup probe has not succeeded.

## How it is recognised
An init container runs, or a sidecar has not started, and the main containers wait with PodInitializing. The detail is its name. One that
fails is reported as CrashLoop.

## How to check by hand
    kubectl -n NAMESPACE logs POD -c CONTAINER
    kubectl -n NAMESPACE get pod POD -o jsonpath='{.status.initContainerStatuses}'

## How to fix it
The log of the init container says what it waits for. Mind circles: an agent whose init container needs the network must not be what
brings the network up.
",
};

/// Seconds that an init container may run before that is an error.
const PATIENCE: i64 = 120;

/// The cause: the first init container or sidecar that holds the others up.
pub fn causes(view: &View) -> Vec<Cause> {
    // Of a sidecar with a startup probe NotReady says more: what the probe met with.
    let probed = |p: &Part| p.spec.is_some_and(|c| c.startup_probe.is_some());
    let holds = |p: &Part| p.role == Role::Init || (p.role == Role::Sidecar && p.status.started != Some(true) && !probed(p));
    let Some(part) = view.parts().find(|p| p.status.state.running.is_some() && holds(p)) else { return Vec::new() };
    let since = part.status.state.running.as_ref().and_then(|r| r.started_at).map(|t| view.since(t));
    let for_long = since.map_or(String::new(), |s| format!(" for {}", Age(s)));
    let what = if part.role == Role::Init { "has run" } else { "has been starting" };
    let message = format!("{} {what}{for_long}, the containers wait for it", part.title());
    let severity = if since.is_some_and(|s| s < PATIENCE) { Severity::Info } else { Severity::Error };
    vec![
        Cause::new(&ENTRY, part.status.name.as_str(), message)
            .severity(severity)
            .evidence(view.object(), format!("{}.state.running.startedAt", part.path), since.map(|s| format!("{} ago", Age(s))))
            .remedy(view.logs(&part, false))
            .remedy(view.describe()),
    ]
}

#[cfg(test)]
mod tests {
    use crate::cause::Severity;
    use crate::lifecycle::bed::{causes, names, node, pod};
    use serde_json::json;

    #[test]
    fn sidecars_hold_the_pod_up_until_they_started() {
        for (started, policy, probe, want) in [
            (json!(false), json!("Always"), json!(null), "InitContainer setup"),
            (json!(false), json!("Always"), json!({"tcpSocket": {"port": 1}}), "NotReady Startup probe has not succeeded"),
            (json!(true), json!("Always"), json!(null), "Starting"),
            (json!(null), json!(null), json!(null), "InitContainer setup"),
        ] {
            let mut pod = pod(json!({"phase": "Pending", "startTime": "2026-11-30T10:00:00Z",
                "initContainerStatuses": [{"name": "setup", "started": started, "ready": started == true, "state": {"running": {"startedAt": "2026-11-30T11:59:30Z"}}}],
                "containerStatuses": [{"name": "agent", "state": {"waiting": {"reason": "PodInitializing"}}}]}));
            pod["spec"]["initContainers"][0]["restartPolicy"] = policy;
            pod["spec"]["initContainers"][0]["startupProbe"] = probe;
            let found = causes(node("True"), pod, vec![]);
            assert_eq!(names(&found), [want]);
            if want.starts_with("Init") {
                assert_eq!(found[0].severity, Severity::Info);
            }
        }
    }
}
