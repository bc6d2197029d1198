//! CreateTolerationConflict: the pod's tolerations are not on the namespace's list.
//!
//! Upstream: `plugin/pkg/admission/podtolerationrestriction/admission.go` (v1.37.2).

use super::refusal;
use crate::cause::{Cause, Entry, Stage};
use crate::diagnose::Subject;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "CreateTolerationConflict",
    stage: Stage::Creation,
    summary: "The pod's tolerations conflict with those that its namespace allows",
    doc: "\
## What it means
The admission plugin PodTolerationRestriction allows only tolerations on the namespace's list. The DaemonSet controller adds tolerations
of its own, so they have to be on the list, too.

## How it is recognised
A FailedCreate event says that the pod's tolerations conflict with its namespace.

## How to check by hand
    kubectl get namespace NAMESPACE -o jsonpath='{.metadata.annotations}'

## How to fix it
Extend the annotation `scheduler.alpha.kubernetes.io/tolerationsWhitelist` of the namespace, or move the DaemonSet.
",
};

/// Reads upstream's texts.
pub fn from_event(subject: &Subject, text: &str) -> Option<Vec<Cause>> {
    let conflict = text.contains("tolerations") && (text.contains("conflict with its namespace") || text.contains("namespace whitelist"));
    conflict.then(|| {
        let message = "the pod's tolerations are not among those that its namespace allows, so every pod is refused";
        vec![refusal(&ENTRY, "", message).evidence(
            format!("Namespace/{}", subject.ds.metadata.namespace),
            "metadata.annotations[scheduler.alpha.kubernetes.io/tolerationsWhitelist]",
            "conflicts",
        )]
    })
}
