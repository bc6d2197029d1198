//! CreatePodSecurity: the namespace's Pod Security level does not allow the pod.
//!
//! Upstream: `k8s.io/pod-security-admission` `policy/check_*.go` and `admission/admission.go`
//! (v0.37.2).

use super::pod_security_checks::violations;
use super::{between, refusal};
use crate::cause::command::command;
use crate::cause::{Cause, Entry, Remedy, RemedyKind, Stage};
use crate::diagnose::Subject;
use crate::model::object::Labels;
use crate::model::version::ServerVersion;

/// The label that sets the level which is enforced.
pub const ENFORCE: &str = "pod-security.kubernetes.io/enforce";

/// The label that pins the version of the policy.
const ENFORCE_VERSION: &str = "pod-security.kubernetes.io/enforce-version";

/// The page.
pub static ENTRY: Entry = Entry {
    code: "CreatePodSecurity",
    stage: Stage::Creation,
    summary: "The Pod Security level of the namespace does not allow the pod",
    doc: "\
## What it means
The namespace enforces a Pod Security level (baseline or restricted) and the template asks for what that level forbids, such as host paths,
the host's network or privileged containers. The API server refuses every pod. Node agents usually need the level privileged.

## How it is recognised
A FailedCreate event says `violates PodSecurity`, with every violation. The template is judged against the namespace's labels
`pod-security.kubernetes.io/enforce` and `enforce-version` as well, so the cause is found after the event has expired. Exemptions in the
API server's configuration cannot be seen.

## How to check by hand
    kubectl get namespace NAMESPACE --show-labels
    kubectl label --dry-run=server --overwrite namespace NAMESPACE pod-security.kubernetes.io/enforce=baseline

## How to fix it
If the DaemonSet is trusted with the node, set the level of its namespace:
`kubectl label --overwrite namespace NAMESPACE pod-security.kubernetes.io/enforce=privileged`. Else take out of the template what the level
forbids.
",
};

/// Reads upstream's text.
pub fn from_event(subject: &Subject, text: &str) -> Option<Vec<Cause>> {
    let policy = between(text, "violates PodSecurity \"", "\"")?;
    let level = policy.split(':').next().unwrap_or(policy);
    let words = text.split_once("\": ").map_or("", |(_, words)| words);
    Some(vec![cause(subject, level, words)])
}

/// The template judged by the namespace's label.
pub fn foreseen(subject: &Subject) -> Vec<Cause> {
    let Some(namespace) = subject.snapshot.namespace(&subject.ds.metadata.namespace) else { return Vec::new() };
    let Some((level, version)) = policy(&namespace.metadata.labels, subject.snapshot.version) else { return Vec::new() };
    let found = violations(level, &subject.fresh.spec, version);
    if found.is_empty() {
        return Vec::new();
    }
    vec![cause(subject, level, &found.join(", "))]
}

/// Level and version that a namespace's labels enforce (upstream: `PolicyToEvaluate` of `api/helpers.go`).
fn policy(labels: &Labels, server: ServerVersion) -> Option<(&'static str, ServerVersion)> {
    let level = match labels.get(ENFORCE)?.as_str() {
        "privileged" => "privileged",
        "baseline" => "baseline",
        // What is no level is taken for the strictest.
        _ => "restricted",
    };
    // Anything else than `v1.N` is `latest`, and so is what the server does not know yet.
    let minor = labels.get(ENFORCE_VERSION).and_then(|v| v.strip_prefix("v1.")).filter(|m| m.bytes().all(|b| b.is_ascii_digit()));
    let pinned = minor.and_then(|m| m.parse().ok()).map(|minor| ServerVersion { major: 1, minor });
    Some((level, pinned.map_or(server, |pinned| pinned.min(server))))
}

fn cause(subject: &Subject, level: &str, words: &str) -> Cause {
    let namespace = &subject.ds.metadata.namespace;
    let privileged = format!("{ENFORCE}=privileged");
    refusal(&ENTRY, level, format!("namespace {namespace} enforces Pod Security level {level}, which forbids: {words}"))
        .evidence(format!("Namespace/{namespace}"), format!("metadata.labels[{ENFORCE}]"), level)
        .remedy(Remedy {
            title: format!("if the DaemonSet is trusted with its nodes, let namespace {namespace} allow it"),
            kind: RemedyKind::Node,
            command: Some(command(["kubectl", "label", "--overwrite", "namespace", namespace, &privileged])),
            effect: None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        let server = ServerVersion { major: 1, minor: 35 };
        for (level, version, want) in [
            (None, Some("v1.30"), None),
            (Some("baseline"), None, Some(("baseline", 35))),
            (Some("privileged"), Some("latest"), Some(("privileged", 35))),
            (Some("restricted"), Some("v1.30"), Some(("restricted", 30))),
            (Some("restricted"), Some("v1.99"), Some(("restricted", 35))),
            (Some("restricted"), Some("1.30"), Some(("restricted", 35))),
            (Some("restricted"), Some("v1.30.2"), Some(("restricted", 35))),
            (Some("Baseline"), Some("v1."), Some(("restricted", 35))),
        ] {
            let labels: Labels = [(ENFORCE, level), (ENFORCE_VERSION, version)]
                .into_iter()
                .filter_map(|(key, value)| Some((key.to_string(), value?.to_string())))
                .collect();
            assert_eq!(policy(&labels, server).map(|(level, v)| (level, v.minor)), want, "{level:?} {version:?}");
        }
    }
}
