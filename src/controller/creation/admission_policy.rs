//! CreateAdmissionPolicy: a ValidatingAdmissionPolicy denies the pod.
//!
//! Upstream: `apiserver/pkg/admission/plugin/policy/validating/dispatcher.go` (v0.37.2).

use super::{between, refusal};
use crate::cause::{Cause, Entry, Stage};
use crate::diagnose::Subject;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "CreateAdmissionPolicy",
    stage: Stage::Creation,
    summary: "A ValidatingAdmissionPolicy denies the pod",
    doc: "\
## What it means
A policy of the cluster, checked by the API server itself, does not allow such a pod. No pod object exists.

## How it is recognised
A FailedCreate event names the ValidatingAdmissionPolicy and its binding, with the policy's own message.

## How to check by hand
    kubectl get validatingadmissionpolicy POLICY -o yaml
    kubectl get validatingadmissionpolicybinding BINDING -o yaml

## How to fix it
Change the template so that the policy's expression holds, or except the namespace in the policy's binding.
",
};

/// Reads upstream's text.
pub fn from_event(_: &Subject, text: &str) -> Option<Vec<Cause>> {
    let policy = between(text, "ValidatingAdmissionPolicy '", "'")?;
    let binding = between(text, "with binding '", "'").unwrap_or("?");
    let words = text.split_once("denied request: ").map_or("no reason given", |(_, words)| words);
    let message = format!("ValidatingAdmissionPolicy {policy} (binding {binding}) denies the pod: {words}");
    Some(vec![refusal(&ENTRY, policy, message)])
}
