//! NotCreated: the pod is missing and nothing that could be read says why.

use super::refusal;
use crate::cause::{Cause, Entry, Severity, Stage};
use crate::diagnose::Subject;
use crate::model::node::Node;
use crate::model::time::Time;

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

/// True if it is this cause.
pub fn is_it(cause: &Cause) -> bool {
    cause.code == ENTRY.code
}

/// The same for a node: one that has only just come is simply to be served yet.
pub fn on_node(cause: &Cause, node: &Node, now: Time) -> Cause {
    let mut cause = cause.clone();
    let made = node.metadata.creation_timestamp.filter(|t| now.seconds_since(*t) < YOUNG_SECONDS);
    if let Some(made) = made.filter(|_| cause.code == ENTRY.code) {
        cause.message = format!("the pod has not been created yet; the node came {} ago", now.since(made));
        cause.severity = Severity::Info;
        cause = cause.evidence(format!("Node/{}", node.name()), "metadata.creationTimestamp", made.to_string());
    }
    cause
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::snapshot::Snapshot;
    use serde_json::json;

    #[test]
    fn what_is_new_is_not_wrong_yet() {
        let now = Time::parse("2026-11-30T12:00:00Z").unwrap();
        for (ds, node, want) in [
            ("2026-11-30T11:00:00Z", "2026-11-30T11:00:00Z", Severity::Error),
            ("2026-11-30T11:00:00Z", "2026-11-30T11:59:50Z", Severity::Info),
            ("2026-11-30T11:59:50Z", "2026-11-30T11:00:00Z", Severity::Info),
        ] {
            let snapshot = Snapshot { now, ..Snapshot::default() };
            let ds = serde_json::from_value(json!({"metadata": {"name": "ds", "namespace": "ns", "creationTimestamp": ds}})).unwrap();
            let node = serde_json::from_value(json!({"metadata": {"name": "n1", "creationTimestamp": node}})).unwrap();
            assert_eq!(on_node(&cause(&Subject::new(&snapshot, &ds)), &node, now).severity, want);
        }
    }
}
