//! RolloutSurgeBlocked: new pods are made beside the old ones and cannot become available there.
//!
//! Upstream: the surging half of `rollingUpdate` of `pkg/controller/daemon/update.go` (v1.37.2): an
//! old pod is deleted only once the new one beside it is available.

use super::rollout_budget::names;
use crate::cause::command::command;
use crate::cause::{Cause, Entry, Remedy, RemedyKind, Severity, Stage};
use crate::diagnose::Subject;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "RolloutSurgeBlocked",
    stage: Stage::Rollout,
    summary: "maxSurge wants new pods beside the old ones, and they cannot be placed or run there",
    doc: "\
## What it means
With maxSurge the controller makes the new pod on a node while the old one still runs, and deletes the old one when the new one is
available. That can never be where both need what the node has only once: a host port, most of its cpu or memory, a device, a
ReadWriteOnce volume, or where the pod repels pods like itself. With hostNetwork a port that is not declared clashes, too: the new pod is
placed and crashes with `address already in use`.

## How it is recognised
A node has an available old pod and a new one that is not: pending, with the scheduler's causes on the node, or failing. Or an old pod is
bound to a node that does not exist: with maxSurge the controller looks the node up, fails, and updates nothing until that pod is gone.

## How to check by hand
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.updateStrategy}'
    kubectl -n NAMESPACE get pods -l SELECTOR -o wide
    kubectl -n NAMESPACE describe pod POD

## How to fix it
Set maxSurge to 0 and maxUnavailable to 1 or more, so that the old pod goes first; the rollout then goes on by itself. Or take away what
both need: the host port, the node's last free cpu.
",
};

/// The cause, for new pods on `blocked` nodes that cannot come up beside the old ones.
pub fn cause(subject: &Subject, blocked: &[&str], codes: &[&str], allowed: i64, stuck: bool) -> Cause {
    let why = if codes.is_empty() { String::new() } else { format!(" ({})", codes.join(", ")) };
    let message =
        format!("the new pod cannot come up beside the old one on {}{why}, so the old one stays: maxSurge {allowed}", names(blocked));
    let meta = &subject.ds.metadata;
    let see = command(["kubectl", "-n", &meta.namespace, "get", "ds", &meta.name, "-o", "jsonpath={.spec.updateStrategy}"]);
    Cause::new(&ENTRY, "", message)
        .severity(if stuck { Severity::Error } else { Severity::Warning })
        .evidence(subject.object(), "spec.updateStrategy.rollingUpdate.maxSurge", surge(subject))
        .evidence(subject.object(), "nodes where the new pod cannot come up", blocked.to_vec())
        .remedy(Remedy::inspect("see the strategy", see))
}

/// The strategy that ends such a rollout: the old pod goes before the new one comes.
pub fn old_pod_first(subject: &Subject) -> Remedy {
    let meta = &subject.ds.metadata;
    let patch = r#"{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":1}}}}"#;
    Remedy {
        title: "let the old pod go first: maxSurge 0, maxUnavailable 1".into(),
        kind: RemedyKind::Daemonset,
        command: Some(command(["kubectl", "-n", &meta.namespace, "patch", "ds", &meta.name, "--type=merge", "-p", patch])),
        effect: None,
    }
}

/// The cause, for old pods on nodes that do not exist: the controller's rolling update fails at them.
pub fn lost(subject: &Subject, nodes: &[&str]) -> Cause {
    let (are, exist) = if nodes.len() == 1 { ("an old pod is", "does") } else { ("old pods are", "do") };
    let message = format!(
        "{are} bound to {}, which {exist} not exist: with maxSurge the controller's rolling update fails there and updates no node at all \
         until the pod garbage collector has removed it",
        names(nodes)
    );
    let meta = &subject.ds.metadata;
    let first = nodes.first().copied().unwrap_or_default();
    let see = command(["kubectl", "-n", &meta.namespace, "get", "pods", "-o", "wide", &format!("--field-selector=spec.nodeName={first}")]);
    Cause::new(&ENTRY, "", message)
        .severity(Severity::Warning)
        .evidence(subject.object(), "spec.updateStrategy.rollingUpdate.maxSurge", surge(subject))
        .evidence(subject.object(), "nodes that do not exist and have an old pod", nodes.to_vec())
        .remedy(Remedy::inspect("see the pod, and what holds it", see))
}

fn surge(subject: &Subject) -> String {
    let rolling = subject.ds.spec.update_strategy.rolling_update.as_ref();
    rolling.and_then(|r| r.max_surge.as_ref()).map_or("0".into(), |m| m.to_string())
}

#[cfg(test)]
mod tests {
    use crate::cause::Severity;
    use crate::rollout::bed::{report, rolls_back, workload};
    use serde_json::json;

    #[test]
    fn new_pods_that_cannot_come_up_beside_the_old_ones() {
        let crash = "the new pod cannot come up beside the old one on a (CrashLoop), so the old one stays: maxSurge 1";
        let room = "the new pod cannot come up beside the old one on a (NodeResourcesFit), so the old one stays: maxSurge 1";
        for (pods, want, phase, undo) in [
            (vec![("a", "oa"), ("a", "nc"), ("b", "oa")], Some((crash, Severity::Error)), "stuck", true),
            // It would fit alone: the surge is at fault, not the release.
            (vec![("a", "oa"), ("a", "np"), ("b", "oa")], Some((room, Severity::Error)), "stuck", false),
            (vec![("a", "oa"), ("a", "na"), ("b", "oa")], None, "stuck", false),
            (vec![("a", "na"), ("b", "na")], None, "complete", false),
        ] {
            let report = report(json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}), &pods);
            let blocked = report.causes.iter().filter(|c| c.code == super::ENTRY.code);
            let found: Vec<_> = blocked.map(|c| (c.message.as_str(), c.severity)).collect();
            assert_eq!(found, want.into_iter().collect::<Vec<_>>(), "{pods:?}");
            assert_eq!((report.rollout.phase, rolls_back(&report).0), (phase, undo), "{pods:?}");
        }
    }

    #[test]
    fn an_old_pod_on_a_node_that_is_gone_stops_it_all() {
        let surge = |n: i32| json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1 - n, "maxSurge": n}});
        for (strategy, pods, want) in [
            (surge(1), vec![("a", "oa"), ("gone", "oa")], true),
            (surge(1), vec![("a", "oa"), ("gone", "oad")], false),
            (surge(1), vec![("a", "oa"), ("gone", "na")], false),
            (surge(0), vec![("a", "oa"), ("gone", "oa")], false),
        ] {
            let report = report(strategy, &pods);
            let said = workload(&report)
                .iter()
                .any(|(code, m)| *code == "RolloutSurgeBlocked" && m.contains("bound to gone, which does not exist"));
            assert_eq!(said, want, "{pods:?}");
        }
    }
}
