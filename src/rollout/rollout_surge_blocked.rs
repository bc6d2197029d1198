//! RolloutSurgeBlocked: new pods are made beside the old ones and cannot become available there.
//!
//! Upstream: the surging half of `rollingUpdate` of `pkg/controller/daemon/update.go` (v1.37.2): an
//! old pod is deleted only once the new one beside it is available.

use super::rollout_budget::names;
use crate::cause::command::command;
use crate::cause::{Cause, Entry, Remedy, Severity, Stage};
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
A node has an available old pod and a new one that is not: pending, with the scheduler's causes on the node, or failing.

## How to check by hand
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.updateStrategy}'
    kubectl -n NAMESPACE get pods -l SELECTOR -o wide
    kubectl -n NAMESPACE describe pod POD

## How to fix it
Set maxSurge to 0 and maxUnavailable to 1 or more, so that the old pod goes first; the rollout then goes on by itself. Or take away what
both need: the host port, the node's last free cpu.
Answers the alert KubeDaemonSetRolloutStuck.
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

fn surge(subject: &Subject) -> String {
    let rolling = subject.ds.spec.update_strategy.rolling_update.as_ref();
    rolling.and_then(|r| r.max_surge.as_ref()).map_or("0".into(), |m| m.to_string())
}
