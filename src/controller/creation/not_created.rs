//! NotCreated: the pod is missing and nothing that could be read says why.

use super::refusal;
use crate::cause::{Cause, Entry, Severity, Stage};
use crate::diagnose::Subject;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "NotCreated",
    stage: Stage::Creation,
    summary: "The pod is missing; neither events nor objects say why",
    doc: "\
## What it means
The controller wants a pod on the node, has seen the newest spec, and there is none; no refusal is on record and none can be foreseen.
Either it is about to be created (a new node, a pod just deleted), or the record has expired: events are kept for an hour.

## How it is recognised
The node should run the pod, no pod is there, there is no FailedCreate event, and quotas, Pod Security, ServiceAccount, LimitRanges and
classes, as far as they were read, do not refuse it.

## How to check by hand
    kubectl -n NAMESPACE describe ds NAME
    kubectl -n kube-system logs -l component=kube-controller-manager --tail=200 | grep -i daemon

## How to fix it
Look again in a minute. If it stays, look at kube-controller-manager's log; creating the pod by hand with a server dry run shows what the
API server would say.
",
};

/// A node or DaemonSet this young is simply being served.
const YOUNG_SECONDS: i64 = 30;

/// The cause.
pub fn cause(subject: &Subject) -> Cause {
    let young = subject.ds.metadata.creation_timestamp.is_some_and(|t| subject.snapshot.now.seconds_since(t) < YOUNG_SECONDS);
    let events = if subject.snapshot.events.is_complete() {
        "no event says why; events older than an hour are gone"
    } else {
        "events could not be read"
    };
    let message = if young {
        "the pod has not been created yet; the DaemonSet is new".to_string()
    } else {
        format!("the pod has not been created; {events}")
    };
    refusal(&ENTRY, "", message).severity(if young { Severity::Info } else { Severity::Error }).evidence(
        subject.object(),
        "status.observedGeneration",
        subject.ds.status.observed_generation,
    )
}
