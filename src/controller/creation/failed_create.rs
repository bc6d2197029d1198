//! CreateFailed: the API server refused the pod for a reason without a code of its own.
//!
//! Upstream: `createPods` of `pkg/controller/controller_utils.go` (v1.37.2).

use super::refusal;
use crate::cause::{Cause, Entry, Stage};
use crate::diagnose::Subject;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "CreateFailed",
    stage: Stage::Creation,
    summary: "The API server refused the pod; its own words say why",
    doc: "\
## What it means
The controller tried to create the pod and got an error that this tool has no special knowledge of: an admission plugin, a permission, or
the API server itself in trouble.

## How it is recognised
A FailedCreate event on the DaemonSet; its text is quoted.

## How to check by hand
    kubectl -n NAMESPACE describe ds NAME
    kubectl -n NAMESPACE get events --field-selector reason=FailedCreate

## How to fix it
Follow the text. `cannot create resource` means that kube-controller-manager's account lost its role; timeouts and connection
errors point at the API server, etcd or a webhook.
",
};

/// Quotes the text.
pub fn from_event(_: &Subject, text: &str) -> Option<Vec<Cause>> {
    Some(vec![refusal(&ENTRY, "", format!("creating the pod fails: {text}"))])
}
