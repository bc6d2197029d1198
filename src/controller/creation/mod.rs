//! Why a wanted pod does not exist: what the API server refused, or would refuse, and what keeps
//! the controller from trying.
//!
//! Upstream: `syncNodes` of `pkg/controller/daemon/daemon_controller.go` and `createPods` of
//! `pkg/controller/controller_utils.go` (v1.37.2): a refusal is told by a FailedCreate event on
//! the DaemonSet, which names no node; so each refusal counts for every node that lacks its pod.
//! One refusal a file: how its event is read, and how it is foreseen from the objects when no
//! event is left.

use crate::cause::{Cause, Entry, Severity, Stage};
use crate::controller::{controller_silent, empty_selector, status_stale};
use crate::diagnose::Subject;
use crate::model::event::Event;

pub mod admission_policy;
pub mod failed_create;
pub mod invalid_pod;
pub mod limit_range;
pub mod namespace_terminating;
pub mod node_selector_conflict;
pub mod not_created;
pub mod own_priority;
pub mod pod_security;
mod pod_security_checks;
pub mod priority_class;
pub mod quota;
pub mod quota_scope;
pub mod runtime_class;
pub mod security_context_constraints;
pub mod service_account;
pub mod toleration_conflict;
pub mod webhook;

/// The pages of this folder's codes.
pub static ENTRIES: &[&Entry] = &[
    &admission_policy::ENTRY,
    &failed_create::ENTRY,
    &invalid_pod::ENTRY,
    &limit_range::ENTRY,
    &namespace_terminating::ENTRY,
    &node_selector_conflict::ENTRY,
    &not_created::ENTRY,
    &own_priority::ENTRY,
    &pod_security::ENTRY,
    &priority_class::ENTRY,
    &quota::ENTRY,
    &quota_scope::ENTRY,
    &runtime_class::ENTRY,
    &security_context_constraints::ENTRY,
    &service_account::ENTRY,
    &toleration_conflict::ENTRY,
    &webhook::ENTRY,
];

/// How an event's text is read; `None` if it tells of something else.
type Reading = fn(&Subject, &str) -> Option<Vec<Cause>>;

/// From the most telling to the least; the first that reads the text counts.
const READINGS: &[Reading] = &[
    quota_scope::from_event,
    quota::from_event,
    pod_security::from_event,
    service_account::from_event,
    webhook::from_event,
    admission_policy::from_event,
    security_context_constraints::from_event,
    priority_class::from_event,
    own_priority::from_event,
    runtime_class::from_event,
    node_selector_conflict::from_event,
    toleration_conflict::from_event,
    namespace_terminating::from_event,
    limit_range::from_event,
    invalid_pod::from_event,
    failed_create::from_event,
];

/// What the objects alone show, with or without an event.
const FORESEEN: &[fn(&Subject) -> Vec<Cause>] = &[
    namespace_terminating::foreseen,
    service_account::foreseen,
    priority_class::foreseen,
    own_priority::foreseen,
    node_selector_conflict::in_force,
    runtime_class::foreseen,
    limit_range::foreseen,
    invalid_pod::foreseen,
    pod_security::foreseen,
    quota::foreseen,
];

/// Refusals this close to the newest one count as its contemporaries: the controller tries all
/// nodes in one round.
const ONE_ROUND_SECONDS: i64 = 60;

/// The causes that keep the controller from making pods, the same for every node that lacks one.
pub fn causes(subject: &Subject) -> Vec<Cause> {
    if subject.ds.metadata.is_terminating() {
        return vec![crate::controller::daemon_set_terminating::cause(subject.ds)];
    }
    if let Some(cause) = empty_selector::cause(subject.ds) {
        return vec![cause];
    }
    if let Some(lag) = status_stale::lag(subject.ds) {
        let mut causes = vec![status_stale::node_cause(subject.ds, lag)];
        causes.extend(controller_silent::cause(subject));
        causes.extend(refused(subject));
        return causes;
    }
    let mut causes = refused(subject);
    // The events have the last word on what they name; the objects add what they do not.
    let told: Vec<&str> = causes.iter().map(|c| c.code).collect();
    causes.extend(FORESEEN.iter().flat_map(|f| f(subject)).filter(|c| !told.contains(&c.code)));
    if causes.is_empty() {
        causes.extend(controller_silent::cause(subject));
    }
    // What only counts if the server has the plugin, or no condition excepts the pod, is believed last.
    if causes.is_empty() {
        causes.extend(node_selector_conflict::foreseen(subject));
        causes.extend(webhook::foreseen(subject));
    }
    // A webhook of which nobody can tell whether it is asked does not end the search.
    if !causes.iter().any(|c| c.code != webhook::ENTRY.code || c.severity == Severity::Error) {
        causes.push(not_created::cause(subject));
    }
    causes
}

/// What an API server would refuse of this template, judged from the objects alone.
pub fn foreseen(subject: &Subject) -> Vec<Cause> {
    FORESEEN.iter().flat_map(|f| f(subject)).collect()
}

/// What an API server's refusal of a pod says.
pub fn read_refusal(subject: &Subject, text: &str) -> Vec<Cause> {
    READINGS.iter().find_map(|read| read(subject, text)).unwrap_or_default()
}

/// The refusals that the events tell of and that no success has followed.
fn refused(subject: &Subject) -> Vec<Cause> {
    let events = subject.events.of(subject.ds);
    let last_of = |reason: &str| events.iter().rev().find(|e| e.reason == reason).and_then(|e| e.last_seen());
    let success = last_of("SuccessfulCreate");
    let Some(newest) = last_of("FailedCreate") else { return Vec::new() };
    if success.is_some_and(|s| s.seconds_since(newest) > ONE_ROUND_SECONDS) {
        return Vec::new();
    }
    let mut causes: Vec<Cause> = Vec::new();
    let contemporary =
        |e: &&&Event| e.reason == "FailedCreate" && e.last_seen().is_some_and(|t| newest.seconds_since(t) <= ONE_ROUND_SECONDS);
    for event in events.iter().filter(contemporary).rev() {
        let text = event.message.strip_prefix("Error creating: ").unwrap_or(&event.message);
        let Some(found) = READINGS.iter().find_map(|read| read(subject, text)) else { continue };
        for cause in found {
            if !causes.iter().any(|c| c.order() == cause.order()) {
                causes.push(with_event(cause, subject, event));
            }
        }
    }
    causes
}

fn with_event(cause: Cause, subject: &Subject, event: &Event) -> Cause {
    let age = event.last_seen().map(|t| format!("{} ago, ", subject.snapshot.now.since(t))).unwrap_or_default();
    let field = format!("event {} ({age}{} times)", event.reason, event.times());
    cause.evidence(subject.object(), field, event.message.as_str())
}

/// A cause of this folder.
pub fn refusal(entry: &'static Entry, detail: impl Into<String>, message: impl Into<String>) -> Cause {
    Cause::new(entry, detail, message).stage(Stage::Creation).severity(Severity::Error)
}

/// The text between two others.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let from = text.find(start)? + start.len();
    let rest = &text[from..];
    Some(&rest[..rest.find(end)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::snapshot::Snapshot;

    /// The code and detail that each of upstream's texts is read as.
    #[test]
    fn reads_upstreams_texts() {
        let snapshot = Snapshot::default();
        let ds = crate::model::daemon_set::DaemonSet::default();
        let subject = Subject::new(&snapshot, &ds);
        for (text, want) in [
            (
                r#"pods "a-x" is forbidden: exceeded quota: freeze, requested: pods=1, used: pods=0, limited: pods=0"#,
                "CreateQuota freeze pods",
            ),
            (
                r#"pods "a-x" is forbidden: exceeded quota: q, requested: limits.cpu=1,requests.memory=1Gi, used: limits.cpu=4,requests.memory=8Gi, limited: limits.cpu=4,requests.memory=8Gi"#,
                "CreateQuota q limits.cpu; CreateQuota q requests.memory",
            ),
            (
                r#"pods "a-x" is forbidden: failed quota: q: must specify limits.cpu for: a0; requests.memory for: a0,a1"#,
                "CreateQuota q limits.cpu; CreateQuota q requests.memory",
            ),
            (
                "insufficient quota to match these scopes: [{PriorityClass In [system-node-critical system-cluster-critical]}]",
                "CreateQuotaScope PriorityClass",
            ),
            (
                r#"pods "a-x" is forbidden: failed quota: q: must specify limits.cpu,memory"#,
                "CreateQuota q limits.cpu; CreateQuota q memory",
            ),
            (
                r#"pods "a-" is forbidden: pods with system-node-critical priorityClass is not permitted in ns namespace"#,
                "CreateQuotaScope PriorityClass",
            ),
            (
                r#"pods "a-x" is forbidden: violates PodSecurity "baseline:latest": hostPath volumes (volume "v")"#,
                "CreatePodSecurity baseline",
            ),
            (
                r#"pods "a-" is forbidden: error looking up service account ns/sa: serviceaccount "sa" not found"#,
                "CreateServiceAccountMissing ns/sa",
            ),
            (
                r#"Internal error occurred: failed calling webhook "w.example": failed to call webhook: Post "https://x": no endpoints available for service "x""#,
                "CreateWebhook w.example",
            ),
            (r#"admission webhook "w.example" denied the request: no"#, "CreateWebhook w.example"),
            (r#"pods "a-x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"#, "CreateAdmissionPolicy p"),
            (
                r#"pods "a-" is forbidden: unable to validate against any security context constraint: [provider "anyuid": Forbidden]"#,
                "CreateSecurityContextConstraint",
            ),
            (r#"pods "a-" is forbidden: no PriorityClass with name high was found"#, "CreatePriorityClassMissing high"),
            (
                r#"pods "a-" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name"#,
                "CreatePriorityConflict priority",
            ),
            (r#"pods "a-" is forbidden: pod rejected: RuntimeClass "kata" not found"#, "CreateRuntimeClassMissing kata"),
            ("pod node label selector conflicts with its namespace node label selector", "CreateNodeSelectorConflict"),
            (
                r#"pods "a-x" is forbidden: unable to create new content in namespace ns because it is being terminated"#,
                "NamespaceTerminating",
            ),
            (r#"pods "a-x" is forbidden: maximum cpu usage per Container is 16, but limit is 17"#, "CreateLimitRange cpu"),
            (
                r#"pods "a-x" is forbidden: [minimum memory usage per Pod is 1Gi, but request is 1Mi, cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000]"#,
                "CreateLimitRange cpu; CreateLimitRange memory",
            ),
            (
                r#"Pod "a-x" is invalid: spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1"#,
                "CreateInvalid spec.containers[0].resources.requests",
            ),
            ("something new", "CreateFailed"),
        ] {
            let mut got: Vec<String> = READINGS
                .iter()
                .find_map(|read| read(&subject, text))
                .unwrap_or_default()
                .iter()
                .map(|c| format!("{} {}", c.code, c.detail).trim().to_string())
                .collect();
            got.sort();
            assert_eq!(got.join("; "), want, "{text}");
        }
    }
}
