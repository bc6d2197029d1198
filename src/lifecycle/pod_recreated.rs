//! PodRecreated: the node's pods fail and are replaced too fast to be seen; their events stay.
//!
//! Upstream: `podsShouldBeOnNode` of `pkg/controller/daemon/daemon_controller.go` (v1.37.2): events
//! `FailedDaemonPod` and `SucceededDaemonPod` on the DaemonSet, which name the pod and the node.

use super::{View, evicted, kubelet_preempted, kubelet_rejected, shortened};
use crate::cause::command::command;
use crate::cause::{Cause, Entry, Remedy, Stage};
use crate::diagnose::Subject;
use crate::model::event::Event;
use crate::model::time::Age;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "PodRecreated",
    stage: Stage::Kubelet,
    summary: "The node's pods end and are replaced again and again",
    doc: "\
## What it means
Each pod that the controller makes for the node ends soon; the controller deletes it and makes another at once. It lets an ended pod stand
before it deletes it, from one second at first to 15 minutes in the end (the back-off of failed pods). At the moment of looking the node
has no pod, or one that has only just begun.

## How it is recognised
Events of the DaemonSet (FailedDaemonPod, SucceededDaemonPod) of the last half hour name a pod of the node that is gone, and no event of
that pod's kubelet is left that says why it ended. Where one is left, its own code is reported instead (Evicted, KubeletPreempted,
KubeletRejected).

## How to check by hand
    kubectl -n NAMESPACE get events --field-selector involvedObject.kind=DaemonSet,involvedObject.name=NAME
    kubectl -n NAMESPACE get pods -o wide --field-selector spec.nodeName=NODE --watch

## How to fix it
Watch the next pod to see how it ends, and see the kubelet's log on the node.
",
};

/// The kubelet's reason for a pod that makes room for a critical one.
const PREEMPTING: &str = "Preempting";

/// Seconds after which such an event says nothing of now: twice the controller's longest back-off.
const WINDOW: i64 = 1800;

/// Why the node's last pods ended, from events, for a node that has no pod or one that only begins.
pub fn causes(subject: &Subject, node: &str) -> Vec<Cause> {
    let snapshot = subject.snapshot;
    let recent = |e: &&Event| e.last_seen().is_some_and(|t| snapshot.now.seconds_since(t) <= WINDOW);
    let own = subject.events.of(subject.ds);
    let on_node = format!(" on node {node},");
    let end = own
        .iter()
        .rev()
        .copied()
        .filter(recent)
        .find(|e| matches!(e.reason.as_str(), "FailedDaemonPod" | "SucceededDaemonPod") && e.message.contains(&on_node));
    let prefix = format!("{}-", subject.ds.metadata.name);
    let said = subject
        .events
        .from_host(node)
        .iter()
        .copied()
        .filter(|e| {
            let o = &e.involved_object;
            o.kind == "Pod" && o.namespace == subject.ds.metadata.namespace && o.name.starts_with(&prefix)
        })
        .filter(|e| matches!(e.reason.as_str(), "Evicted" | PREEMPTING) || kubelet_rejected::is_refusal(&e.reason))
        .filter(recent)
        .filter(|e| suffix_is_generated(&e.involved_object.name, &prefix))
        // Another workload's name may start alike; where the DaemonSet's own events are left, they must name the pod.
        .filter(|e| {
            let named = format!("/{} ", e.involved_object.name);
            own.is_empty() || own.iter().any(|o| o.message.contains(&named) || o.message.ends_with(named.trim_matches(['/', ' '])))
        })
        .max_by_key(|e| e.last_seen());
    let times = replaced_on(&own, node);
    match (said, end) {
        (Some(event), _) => ended(subject, event, times),
        (None, Some(event)) => vec![replaced(subject, event, times)],
        (None, None) => Vec::new(),
    }
}

/// How many ended pods of the node the controller's events tell of.
fn replaced_on(own: &[&Event], node: &str) -> i32 {
    let on_node = format!(" on node {node},");
    own.iter().filter(|e| e.message.contains(&on_node)).map(|e| e.times()).fold(0, i32::saturating_add)
}

/// What is to be added of a pod that has ended and still stands: how many went before it.
pub fn before(view: &View) -> String {
    let own = view.subject.events.of(view.subject.ds);
    let times = view.pod.node_name().map_or(0, |node| replaced_on(&own, node));
    match times {
        0 => String::new(),
        1 => "; 1 pod of the node ended before it, and the controller lets each stand longer before it makes the next".into(),
        n => format!("; {n} pods of the node ended before it, and the controller lets each stand longer before it makes the next"),
    }
}

/// True if only the five characters of a generated name follow the prefix.
fn suffix_is_generated(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|s| s.len() == 5 && !s.contains('-'))
}

fn ended(subject: &Subject, event: &Event, times: i32) -> Vec<Cause> {
    let ago = event.last_seen().map_or(String::new(), |t| format!(" {} ago", Age(subject.snapshot.now.seconds_since(t))));
    let pod = format!("Pod/{}/{}", event.involved_object.namespace, event.involved_object.name);
    let again = if times > 1 { format!(", {times} pods so far") } else { String::new() };
    let said = shortened(&event.message);
    let cause = |entry: &'static Entry, detail: &str| {
        let message = format!("the node's last pod ended with {}{ago}{again}: {said}", event.reason);
        Cause::new(entry, detail, message).evidence(&pod, format!("event {}", event.reason), said.as_str()).remedy(see_events(subject))
    };
    if event.reason == "Evicted" {
        return evicted::pressures(&event.message).into_iter().map(|p| cause(&evicted::ENTRY, p)).collect();
    }
    if event.reason == PREEMPTING {
        return vec![cause(&kubelet_preempted::ENTRY, "")];
    }
    vec![cause(&kubelet_rejected::ENTRY, &event.reason)]
}

fn replaced(subject: &Subject, event: &Event, times: i32) -> Cause {
    let ago = event.last_seen().map_or(String::new(), |t| format!(", last {} ago", Age(subject.snapshot.now.seconds_since(t))));
    let pods = if times == 1 {
        "a pod of the node has ended and was deleted".to_string()
    } else {
        format!("{times} pods of the node have ended and were deleted")
    };
    let message = format!("{pods}{ago}; no event is left that says why");
    Cause::new(&ENTRY, "", message)
        .evidence(subject.object(), format!("event {}", event.reason), shortened(&event.message))
        .remedy(see_events(subject))
}

fn see_events(subject: &Subject) -> Remedy {
    let meta = &subject.ds.metadata;
    let selector = format!("--field-selector=involvedObject.kind=DaemonSet,involvedObject.name={}", meta.name);
    Remedy::inspect("see how often the controller replaced it", command(["kubectl", "-n", &meta.namespace, "get", "events", &selector]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::bed::{NOW, names, node};
    use crate::model::daemon_set::DaemonSet;
    use crate::model::snapshot::Snapshot;
    use crate::model::time::Time;
    use serde_json::{Value, json};

    fn event(kind: &str, name: &str, reason: &str, message: &str, at: &str) -> Value {
        json!({"metadata": {"name": "e", "namespace": "ns"}, "involvedObject": {"kind": kind, "namespace": "ns", "name": name},
            "reason": reason, "message": message, "source": {"component": "kubelet", "host": "n1"}, "lastTimestamp": at})
    }

    #[test]
    fn what_ended_the_pods_is_read_from_events() {
        let failed = |node: &str, at: &str| {
            event(
                "DaemonSet",
                "ds",
                "FailedDaemonPod",
                &format!("Found failed daemon pod ns/ds-abcde on node {node}, will try to kill it"),
                at,
            )
        };
        let soon = "2026-11-30T11:59:00Z";
        let evicted = event("Pod", "ds-abcde", "Evicted", "The node had condition: [DiskPressure]. ", soon);
        let other = event("Pod", "ds-more-abcde", "OutOfcpu", "", soon);
        let full = event("Pod", "ds-abcde", "OutOfcpu", "Node didn't have enough resource: cpu", soon);
        for (events, want) in [
            (vec![failed("n1", soon), evicted], vec!["Evicted DiskPressure"]),
            (vec![failed("n1", soon), full], vec!["KubeletRejected OutOfcpu"]),
            (
                vec![failed("n1", soon), event("Pod", "ds-abcde", "Preempting", "Preempted in order to admit critical pod", soon)],
                vec!["KubeletPreempted"],
            ),
            (vec![failed("n1", soon), other], vec!["PodRecreated"]),
            (vec![failed("n2", soon)], vec![]),
            (
                vec![
                    event("DaemonSet", "ds", "SuccessfulCreate", "Created pod: ds-abcde", soon),
                    event("Pod", "ds-abcde", "OutOfpods", "", soon),
                ],
                vec!["KubeletRejected OutOfpods"],
            ),
            (vec![failed("n1", "2026-11-30T09:00:00Z")], vec![]),
        ] {
            let mut snapshot = Snapshot { now: Time::parse(NOW).unwrap(), ..Snapshot::default() };
            snapshot.objects.nodes.items.push(serde_json::from_value(node("True")).unwrap());
            snapshot.objects.events.items.extend(events.into_iter().map(|e| serde_json::from_value(e).unwrap()));
            let ds: DaemonSet = serde_json::from_value(json!({"metadata": {"name": "ds", "namespace": "ns"}})).unwrap();
            assert_eq!(names(&causes(&Subject::new(&snapshot, &ds), "n1")), want);
        }
    }
}
