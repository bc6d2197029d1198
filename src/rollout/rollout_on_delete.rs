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
    let (pods_are, stay) =
        if old.len() == 1 { ("pod is", "it stays until it is deleted") } else { ("pods are", "they stay until they are deleted") };
    let message = format!("the strategy is OnDelete and {} {pods_are} of an older revision: {stay} ({})", old.len(), names(&nodes));
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

#[cfg(test)]
mod tests {
    use crate::rollout::bed::{report, workload};
    use serde_json::json;

    #[test]
    fn old_pods_wait_for_somebody_to_delete_them() {
        for (pods, said, order) in [
            (vec![("a", "na"), ("b", "na")], None, vec![]),
            (vec![("a", "oa"), ("b", "na")], Some("1 pod is of an older revision: it stays until it is deleted (a)"), vec!["p0"]),
            // Those that serve nobody come first, those on their way out are none.
            (
                vec![("a", "oa"), ("b", "oc"), ("c", "oad")],
                Some("2 pods are of an older revision: they stay until they are deleted (b and a)"),
                vec!["p1", "p0"],
            ),
        ] {
            let report = report(json!({"type": "OnDelete"}), &pods);
            let found = workload(&report);
            assert_eq!(
                found.iter().map(|(code, _)| *code).collect::<Vec<_>>(),
                if said.is_some() { vec!["RolloutOnDelete"] } else { vec![] }
            );
            assert_eq!(report.rollout.phase, if said.is_some() { "waiting-for-delete" } else { "complete" }, "{pods:?}");
            let Some(said) = said else { continue };
            assert!(found[0].1.ends_with(said), "{}", found[0].1);
            assert_eq!(report.causes[0].evidence[1].value, json!(order));
            assert!(report.causes[0].remedies[0].command.as_deref().unwrap().ends_with(order[0]));
        }
    }
}
