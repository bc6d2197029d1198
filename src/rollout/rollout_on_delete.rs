//! RolloutOnDelete: old pods stay until somebody deletes them.
//!
//! Upstream: `updateDaemonSet` of `pkg/controller/daemon/daemon_controller.go` (v1.37.2) does
//! nothing about old pods where the strategy is OnDelete.

use super::rollout_budget::names;
use crate::cause::command::command;
use crate::cause::{Cause, Entry, Remedy, RemedyKind, Severity, Stage};
use crate::diagnose::Subject;
use crate::model::pod::Pod;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "RolloutOnDelete",
    stage: Stage::Rollout,
    summary: "The update strategy is OnDelete and old pods remain",
    doc: "\
## What it means
With `updateStrategy: OnDelete` the controller makes a new pod only where the old one is gone. After a change of the template everything
stays as it is until somebody deletes the pods, node by node. `kubectl rollout status` does not work with it.

## How it is recognised
`spec.updateStrategy.type` is OnDelete and pods of an older revision are there.

## How to check by hand
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.updateStrategy.type}'
    kubectl -n NAMESPACE get pods -l SELECTOR -L controller-revision-hash -o wide

## How to fix it
Delete the old pods one after the other, those that are not ready first, and wait for each new pod to be ready. Or change the strategy to
RollingUpdate.
Answers the alert KubeDaemonSetRolloutStuck, which fires for as long as old pods remain.
",
};

/// The cause, if old pods remain.
pub fn cause(subject: &Subject) -> Option<Cause> {
    let mut old: Vec<(&str, &Pod)> = Vec::new();
    for (node, pods) in &subject.pods {
        old.extend(pods.iter().filter(|p| !p.is_terminating() && subject.is_updated(p) == Some(false)).map(|p| (*node, *p)));
    }
    // Pods that serve nobody first; then node by node.
    old.sort_by_key(|(node, pod)| (subject.is_available(pod), *node, pod.metadata.name.as_str()));
    let (_, first) = old.first()?;
    let nodes: Vec<&str> = old.iter().map(|(node, _)| *node).collect();
    let (are, s) = if old.len() == 1 { ("is", "") } else { ("are", "s") };
    let message = format!(
        "the strategy is OnDelete and {} pod{s} {are} of an older revision: they stay until they are deleted ({})",
        old.len(),
        names(&nodes)
    );
    let meta = &subject.ds.metadata;
    Some(
        Cause::new(&ENTRY, "", message)
            .severity(Severity::Warning)
            .evidence(subject.object(), "spec.updateStrategy.type", "OnDelete")
            .evidence(
                subject.object(),
                "old pods, in the order to delete them",
                old.iter().map(|(_, p)| p.metadata.name.clone()).collect::<Vec<_>>(),
            )
            .remedy(Remedy {
                title: "delete the old pods one after the other, this one first".into(),
                kind: RemedyKind::Disruptive,
                command: Some(command(["kubectl", "-n", &meta.namespace, "delete", "pod", &first.metadata.name])),
                effect: None,
            }),
    )
}
