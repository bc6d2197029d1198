//! NotReady: the containers run, and the pod is not ready: a probe or a readiness gate.
//!
//! Upstream: `GeneratePodReadyCondition` of `pkg/kubelet/status/generate.go`, the `Unhealthy` event
//! of `pkg/kubelet/prober/prober.go` (v1.37.2).

use super::{Part, Role, View, shortened};
use crate::cause::{Cause, Entry, Remedy, Severity, Stage};
use crate::model::pod::Probe;
use crate::model::time::Age;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "NotReady",
    stage: Stage::Running,
    summary: "The containers run, but a probe or a readiness gate keeps the pod from being ready",
    doc: "\
## What it means
Everything is up, and something still says that the pod is not ready: its readiness probe fails, its startup probe has not succeeded yet
(until then no other probe runs), or a readiness gate that another controller should set is not True.

## How it is recognised
The pod's Ready condition is not True while its containers run. The newest event Unhealthy says which probe failed and how; the condition
ContainersReady tells a probe from a readiness gate.

## How to check by hand
    kubectl -n NAMESPACE describe pod POD
    kubectl -n NAMESPACE get pod POD -o jsonpath='{.status.conditions}'
    kubectl -n NAMESPACE logs POD -c CONTAINER

## How to fix it
Ask the program what it lacks (its log, its health endpoint). If it is merely slow, give the startup probe more time. For a readiness gate,
see the controller that should set the condition. If the containers are ready and the pod is not, the node was not ready: the kubelet
mends that once it reports again.
",
};

/// Seconds that a container may take to get ready before that is an error, where its probes do
/// not allow for more.
const PATIENCE: i64 = 60;

/// The cause: for containers that are not ready, or else for the gates.
pub fn causes(view: &View) -> Vec<Cause> {
    let unready: Vec<Part> = view.parts().filter(|p| p.role != Role::Init && p.status.state.running.is_some() && !p.status.ready).collect();
    if !unready.is_empty() {
        return unready.iter().map(|p| of_container(view, p)).collect();
    }
    if !view.is_started() {
        return Vec::new();
    }
    let gates = of_gates(view);
    if gates.is_empty() { vec![of_node(view)] } else { gates }
}

/// Which probe failed last, and what it said; an event without a container's name is of any.
fn last_failure<'a>(view: &View<'a>, part: &Part) -> Option<(&'static str, &'a crate::model::event::Event)> {
    let named = format!("{{{}}}", part.status.name);
    let about = |e: &crate::model::event::Event| e.involved_object.field_path.is_empty() || e.involved_object.field_path.contains(&named);
    let event = view.events.iter().rev().copied().find(|e| e.reason == "Unhealthy" && about(e))?;
    let kinds = [
        ("Readiness probe failed", "Readiness probe"),
        ("Startup probe failed", "Startup probe"),
        ("Liveness probe failed", "Liveness probe"),
    ];
    kinds.into_iter().find(|(_, start)| event.message.starts_with(start)).map(|(detail, _)| (detail, event))
}

fn of_container(view: &View, part: &Part) -> Cause {
    let since = part.status.state.running.as_ref().and_then(|r| r.started_at).map(|t| view.since(t));
    // By the newest moment in files, the pod's own start is often the last that is known.
    let told = since.filter(|s| *s > 0 || !view.subject.snapshot.now_is_guessed);
    let running = told.map_or(String::new(), |s| format!(" has run for {} and", Age(s)));
    let failure = last_failure(view, part);
    let (readiness, startup) = (part.spec.and_then(|c| c.readiness_probe.as_ref()), part.spec.and_then(|c| c.startup_probe.as_ref()));
    let (detail, why) = match failure {
        Some((detail, event)) => {
            let said = event.message.split_once(": ").map_or(event.message.as_str(), |m| m.1);
            (detail, format!("its {}: {}", detail.to_ascii_lowercase(), shortened(said)))
        }
        None if startup.is_some() && part.status.started == Some(false) => {
            ("Startup probe has not succeeded", format!("its startup probe {} has not succeeded", asks(startup)))
        }
        None if readiness.is_some() => {
            ("Readiness probe has not succeeded", format!("its readiness probe {} has not succeeded", asks(readiness)))
        }
        None => ("not ready, and no probe says why", "no probe of it says why".into()),
    };
    let patience = allowance(startup).saturating_add(allowance(readiness)).max(PATIENCE);
    // A probe that has failed this often has used its allowance up, whatever the clocks say.
    let failures = failure.map_or(0, |(_, event)| event.times());
    let threshold = readiness.map_or(3, |p| p.failure_threshold.max(3));
    let severity = if since.is_some_and(|s| s < patience) && failures < threshold { Severity::Info } else { Severity::Error };
    let mut cause = Cause::new(&ENTRY, detail, format!("{}{running} is not ready: {why}", part.title())).severity(severity).evidence(
        view.object(),
        format!("{}.ready", part.path),
        false,
    );
    if let Some((end, state)) = part.last_end() {
        cause = cause.evidence(view.object(), format!("{}.{state}.exitCode", part.path), end.exit_code);
    }
    cause = ready_condition(view, cause);
    view.with_event(cause, failure.map(|f| f.1)).remedy(view.logs(part, false)).remedy(view.describe())
}

/// What a probe asks, without what may be secret.
fn asks(probe: Option<&Probe>) -> String {
    let Some(handler) = probe.map(|p| &p.handler) else { return String::new() };
    if let Some(http) = &handler.http_get {
        let path = if http.path.is_empty() { "/" } else { http.path.split('?').next().unwrap_or_default() };
        return format!("(HTTP {path} on port {})", http.port);
    }
    if let Some(tcp) = &handler.tcp_socket {
        return format!("(TCP port {})", tcp.port);
    }
    if let Some(grpc) = &handler.grpc {
        return format!("(gRPC port {})", grpc.port);
    }
    "(a command)".into()
}

/// Seconds that a probe gives a container to get through.
fn allowance(probe: Option<&Probe>) -> i64 {
    let Some(p) = probe else { return 0 };
    let or = |given: i32, default: i64| if given > 0 { i64::from(given) } else { default };
    i64::from(p.initial_delay_seconds.max(0)).saturating_add(or(p.period_seconds, 10).saturating_mul(or(p.failure_threshold, 3)))
}

fn of_gates(view: &View) -> Vec<Cause> {
    let gates = view.pod.spec.readiness_gates.iter().map(|g| g.condition_type.as_str());
    gates
        .filter_map(|gate| {
            let condition = view.pod.condition(gate);
            let (status, why) = match condition {
                Some(c) if c.status == "True" => return None,
                Some(c) => (Some(c.status.as_str()), format!("is {}{}", c.status, because(&c.reason, &c.message))),
                None => (None, "is not set".to_string()),
            };
            let message = format!("every container is ready, but the readiness gate {gate} {why}");
            let see = view.kubectl(&["get", "pod", &view.pod.metadata.name, "-o", "jsonpath={.status.conditions}"]);
            let cause = Cause::new(&ENTRY, format!("readiness gate {gate}"), message)
                .evidence(view.object(), "spec.readinessGates", gate)
                .evidence(view.object(), format!("status.conditions[{gate}].status"), status)
                .remedy(Remedy::inspect("see the pod's conditions", see));
            Some(ready_condition(view, cause))
        })
        .collect()
}

fn because(reason: &str, message: &str) -> String {
    match (reason, message) {
        ("", "") => String::new(),
        (reason, "") => format!(" ({reason})"),
        (_, message) => format!(" ({})", shortened(message)),
    }
}

/// Every container is ready and no gate is missing: somebody else wrote that the pod is not.
fn of_node(view: &View) -> Cause {
    let message =
        "every container is ready, but the pod is marked as not ready: its node was not ready, and the kubelet has not set it right yet";
    let cause = Cause::new(&ENTRY, "marked by the node controller", message).evidence(
        view.object(),
        "status.conditions[ContainersReady].status",
        view.pod.condition("ContainersReady").map(|c| c.status.as_str()),
    );
    ready_condition(view, cause).remedy(view.describe())
}

fn ready_condition(view: &View, cause: Cause) -> Cause {
    let ready = view.pod.condition("Ready");
    let since = ready.and_then(|c| c.last_transition_time).map(|t| format!("for {}", Age(view.since(t))));
    let status = ready.map(|c| c.status.as_str());
    let cause = cause.evidence(view.object(), "status.conditions[Ready].status", status);
    match since {
        Some(since) => cause.evidence(view.object(), "status.conditions[Ready].lastTransitionTime", since),
        None => cause,
    }
}

#[cfg(test)]
mod tests {
    use crate::cause::Severity;
    use crate::lifecycle::bed::{causes, event, found, names, node, pod, running};
    use serde_json::json;

    #[test]
    fn the_probe_that_failed_last_is_named() {
        let up = running(json!({"state": {"running": {"startedAt": "2026-11-30T10:00:00Z"}}, "started": true}));
        for (message, want) in [
            ("Readiness probe failed: connection refused", "NotReady Readiness probe failed"),
            ("Startup probe failed: HTTP probe failed with statuscode: 500", "NotReady Startup probe failed"),
            ("Liveness probe failed: x", "NotReady Liveness probe failed"),
        ] {
            assert_eq!(found(up.clone(), vec![event("Unhealthy", message)]), [want]);
        }
    }

    #[test]
    fn without_events_the_template_says_which_probe_it_is() {
        let up = |started: bool| running(json!({"state": {"running": {"startedAt": "2026-11-30T11:59:50Z"}}, "started": started}));
        let probe = json!({"httpGet": {"path": "/healthz?token=x", "port": 8080}, "periodSeconds": 10});
        for (started, readiness, startup, want) in [
            (true, &probe, &json!(null), "NotReady Readiness probe has not succeeded"),
            (false, &probe, &probe, "NotReady Startup probe has not succeeded"),
            (true, &json!(null), &json!(null), "NotReady not ready, and no probe says why"),
        ] {
            let mut pod = pod(up(started));
            pod["spec"]["containers"][0]["readinessProbe"] = readiness.clone();
            pod["spec"]["containers"][0]["startupProbe"] = startup.clone();
            let found = causes(node("True"), pod, vec![]);
            assert_eq!(names(&found), [want]);
            assert_eq!(found[0].severity, Severity::Info, "it has run for 10 s only");
            assert!(!found[0].message.contains("token"), "{}", found[0].message);
        }
    }

    #[test]
    fn gates_and_marks_of_the_node_controller() {
        let ready = running(json!({"ready": true, "state": {"running": {}}}));
        let mut gated = pod(ready.clone());
        gated["spec"]["readinessGates"] = json!([{"conditionType": "lb.example/ready"}]);
        assert_eq!(names(&causes(node("True"), gated.clone(), vec![])), ["NotReady readiness gate lb.example/ready"]);
        gated["status"]["conditions"].as_array_mut().unwrap().push(json!({"type": "lb.example/ready", "status": "True"}));
        assert_eq!(names(&causes(node("True"), gated, vec![])), ["NotReady marked by the node controller"]);
        assert_eq!(found(ready, vec![]), ["NotReady marked by the node controller"]);
    }
}
