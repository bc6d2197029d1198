//! OldRevision: the node's pod is of an older revision.
//!
//! Upstream: `IsPodUpdated` of `pkg/controller/daemon/util/daemonset_util.go` (v1.37.2).

use super::revision;
use crate::cause::{Cause, Entry, Severity, Stage};
use crate::controller::ownership::HASH_LABEL;
use crate::diagnose::Subject;
use crate::model::pod::Pod;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "OldRevision",
    stage: Stage::Rollout,
    summary: "The node's pod is of an older revision of the template",
    doc: "\
## What it means
The template has changed and this node's pod was made from an older one. It is healthy otherwise. While a rollout goes on this is how it
should be; when the rollout is stuck, or the strategy is OnDelete, it stays so.

## How it is recognised
The pod's label `controller-revision-hash` is not that of the DaemonSet's current ControllerRevision.

## How to check by hand
    kubectl -n NAMESPACE get pods -l SELECTOR -L controller-revision-hash -o wide
    kubectl -n NAMESPACE rollout history ds/NAME

## How to fix it
See the rollout line of the report for what holds the rollout up. With OnDelete, delete the pod.
",
};

/// The cause for such a pod.
pub fn cause(subject: &Subject, pod: &Pod) -> Cause {
    let own = pod.metadata.labels.get(HASH_LABEL).map_or("none", String::as_str);
    let title = |hash: &str| revision::number(subject, hash).map_or_else(|| hash.to_string(), |n| format!("{n} ({hash})"));
    let current = subject.hash.map_or("not made yet".to_string(), &title);
    let message = format!("pod {} is of revision {}, the current one is {current}", pod.metadata.name, title(own));
    Cause::new(&ENTRY, "", message).severity(Severity::Info).evidence(
        format!("Pod/{}", pod.full_name()),
        format!("metadata.labels[{HASH_LABEL}]"),
        own,
    )
}
