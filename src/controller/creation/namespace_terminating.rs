//! NamespaceTerminating: nothing can be created in a namespace that is being deleted.
//!
//! Upstream: `apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go`; the controller
//! swallows this refusal (`createPods`, cause NamespaceTerminating) (v1.37.2).

use super::refusal;
use crate::cause::{Cause, Entry, Stage};
use crate::diagnose::Subject;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "NamespaceTerminating",
    stage: Stage::Creation,
    summary: "The namespace is being deleted, so nothing can be created in it",
    doc: "\
## What it means
Somebody deleted the namespace. It stays in phase Terminating until everything in it is gone; meanwhile no pod can be created, and the
controller does not even report that.

## How it is recognised
`status.phase` of the namespace is Terminating, or the API server's text says that the namespace is being terminated.

## How to check by hand
    kubectl get namespace NAMESPACE -o jsonpath='{.status}'
    kubectl api-resources --verbs=list --namespaced -o name | xargs -n 1 kubectl get --ignore-not-found -n NAMESPACE

## How to fix it
A deletion cannot be taken back. If it hangs, the namespace's conditions name what is left; when it is gone, install again.
",
};

/// Reads upstream's text.
pub fn from_event(subject: &Subject, text: &str) -> Option<Vec<Cause>> {
    text.contains("because it is being terminated").then(|| vec![cause(subject)])
}

/// The namespace's phase says so.
pub fn foreseen(subject: &Subject) -> Vec<Cause> {
    let namespace = subject.snapshot.namespace(&subject.ds.metadata.namespace);
    let terminating = namespace.is_some_and(|n| n.status.phase == "Terminating" || n.metadata.is_terminating());
    terminating.then(|| cause(subject)).into_iter().collect()
}

fn cause(subject: &Subject) -> Cause {
    let name = &subject.ds.metadata.namespace;
    refusal(&ENTRY, name.as_str(), format!("namespace {name} is being deleted, so nothing can be created in it")).evidence(
        format!("Namespace/{name}"),
        "status.phase",
        "Terminating",
    )
}
