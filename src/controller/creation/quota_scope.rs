//! CreateQuotaScope: the pod's scope may only be used where a quota covers it, and none does.
//!
//! Upstream: `checkRequest` of `apiserver/pkg/admission/plugin/resourcequota/controller.go`
//! (v0.37.2): limited resources of the admission configuration.

use super::{between, refusal};
use crate::cause::{Cause, Entry, Stage};
use crate::diagnose::Subject;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "CreateQuotaScope",
    stage: Stage::Creation,
    summary: "The pod's priority class may not be used in this namespace without a quota for it",
    doc: "\
## What it means
The cluster limits some scopes (most often the system priority classes) to namespaces that have a ResourceQuota with that scope. GKE does
so for system-node-critical and system-cluster-critical outside kube-system.

## How it is recognised
A FailedCreate event says `insufficient quota to match these scopes`, with the scope.

## How to check by hand
    kubectl -n NAMESPACE get resourcequotas -o yaml
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.template.spec.priorityClassName}'

## How to fix it
Create a ResourceQuota in the namespace whose `scopeSelector` names the priority class, or move the DaemonSet to kube-system.
",
};

/// Reads upstream's text.
pub fn from_event(subject: &Subject, text: &str) -> Option<Vec<Cause>> {
    let scope = match text.split_once("insufficient quota to match these scopes: ") {
        Some((_, scopes)) => between(scopes, "{", " ").unwrap_or("PriorityClass"),
        // Before v1.17 the system classes were bound to kube-system.
        None if text.contains("priorityClass is not permitted in ") => "PriorityClass",
        None => return None,
    };
    let message = format!("pods of scope {scope} need a ResourceQuota for that scope in the namespace, and there is none");
    let class = subject.ds.spec.template.spec.priority_class_name.as_str();
    Some(vec![refusal(&ENTRY, scope, message).evidence(subject.object(), "spec.template.spec.priorityClassName", class)])
}
