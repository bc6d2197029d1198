//! CreatePodSecurity: the namespace's Pod Security level does not allow the pod.
//!
//! Upstream: `k8s.io/pod-security-admission` `policy/check_*.go` and `admission/admission.go`
//! (v0.37.2).

use super::pod_security_checks::violations;
use super::{between, refusal};
use crate::cause::command::command;
use crate::cause::{Cause, Entry, Remedy, RemedyKind, Stage};
use crate::diagnose::Subject;

/// The label that sets the level which is enforced.
pub const ENFORCE: &str = "pod-security.kubernetes.io/enforce";

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
A FailedCreate event says `violates PodSecurity`, with every violation. The template is judged against the namespace's label
`pod-security.kubernetes.io/enforce` as well, so the cause is found after the event has expired. Exemptions in the API server's
configuration cannot be seen.

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
    let Some(level) = namespace.metadata.labels.get(ENFORCE) else { return Vec::new() };
    let found = violations(level, &subject.fresh.spec, subject.snapshot.version);
    if found.is_empty() {
        return Vec::new();
    }
    vec![cause(subject, level, &found.join(", "))]
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
