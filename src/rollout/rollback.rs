//! Whether going back to the revision before is worth offering: only where it is the new revision's
//! pods that fail, and the old ones do not fail alike.

use std::collections::BTreeSet;

use super::revision;
use super::rollout_budget::{Place, Places};
use crate::cause::command::command;
use crate::cause::{Cause, Remedy, RemedyKind, Severity, Stage};
use crate::diagnose::Subject;
use crate::report::{CheckVerdict, NodeReport};

/// Codes that no template brings about.
const NOT_OF_THE_RELEASE: [&str; 10] = [
    "Evicted",
    "KubeletPreempted",
    "KubeletSilent",
    "NodeGone",
    "NodeNotReady",
    "NodeUnschedulable",
    "NominatedPod",
    "PreemptionPending",
    "SchedulerSilent",
    "Terminating",
];

/// What the failing pods say of a rollback.
#[derive(Clone, Debug, PartialEq)]
pub enum Advice {
    /// The new revision's pods fail and no old one does so: going back is worth a try.
    Offer(Remedy),
    /// The old pods fail alike, with this code: going back cures nothing.
    Alike(&'static str),
    /// Nothing points at the revision.
    None,
}

/// Compares what fails on nodes with a new pod with what fails on those with an old one.
pub fn advice(subject: &Subject, places: &Places, nodes: &[NodeReport]) -> Advice {
    let of = |wanted: &[Place]| -> BTreeSet<&'static str> {
        let names: BTreeSet<&str> = places.of(wanted).into_iter().collect();
        let nodes = nodes.iter().filter(|n| names.contains(n.name.as_str()));
        nodes.flat_map(|n| n.causes.iter().filter(|c| may_be_of_the_release(n, c))).map(|c| c.code).collect()
    };
    let (new, old) = (of(&[Place::New, Place::Changing]), of(&[Place::Replaceable]));
    match new.difference(&old).next() {
        Some(_) => undo(subject, "the new revision is bad").map_or(Advice::None, Advice::Offer),
        None => new.first().map_or(Advice::None, |code| Advice::Alike(code)),
    }
}

/// Where every pod is new and none is well, each failing node is offered the way back: what the old
/// pods were like cannot be seen any more.
pub fn offer_where_all_fail(subject: &Subject, places: &Places, nodes: &mut [NodeReport]) {
    let unsettled = [Place::Done, Place::Old, Place::Replaceable, Place::Changed, Place::Changing, Place::Excess];
    let failing: BTreeSet<&str> = places.of(&[Place::New]).into_iter().collect();
    if failing.is_empty() || !places.of(&unsettled).is_empty() {
        return;
    }
    let Some(current) = subject.hash.and_then(|h| revision::find(subject, h)) else { return };
    let age = current.metadata.creation_timestamp.map_or(String::new(), |t| format!(" (made {} ago)", subject.snapshot.now.since(t)));
    let Some(remedy) = undo(subject, &format!("it began with revision {}{age}", current.revision)) else { return };
    for node in nodes.iter_mut().filter(|n| failing.contains(n.name.as_str())) {
        let at = node.causes.iter().position(|c| may_be_of_the_release(node, c));
        if let Some(cause) = at.and_then(|at| node.causes.get_mut(at)) {
            cause.remedies.push(remedy.clone());
        }
    }
}

/// True if another template might not have the cause on this node.
fn may_be_of_the_release(node: &NodeReport, cause: &Cause) -> bool {
    // A new pod that fits once the old one is gone is blocked by the surge, not by what it is.
    let of_the_surge = cause.stage == Stage::Scheduling && node.checks.iter().all(|c| c.verdict == CheckVerdict::Pass);
    cause.severity == Severity::Error
        && matches!(cause.stage, Stage::Scheduling | Stage::Kubelet | Stage::Running)
        && !NOT_OF_THE_RELEASE.contains(&cause.code)
        && !of_the_surge
}

/// Back to the revision before the current one, if it is still there.
fn undo(subject: &Subject, condition: &str) -> Option<Remedy> {
    let meta = &subject.ds.metadata;
    let to = revision::previous(subject)?.revision;
    let line = ["kubectl", "-n", &meta.namespace, "rollout", "undo", &format!("ds/{}", meta.name), &format!("--to-revision={to}")];
    Some(Remedy {
        title: format!("if {condition}, roll back to revision {to}"),
        kind: RemedyKind::Daemonset,
        command: Some(command(line)),
        effect: None,
    })
}

#[cfg(test)]
mod tests {
    use crate::rollout::bed::{report, rolls_back};
    use serde_json::json;

    #[test]
    fn going_back_is_offered_only_where_it_may_help() {
        for (pods, budget, node, alike) in [
            // New pods crash, old ones are well.
            (vec![("a", "nc"), ("b", "oa")], true, false, false),
            // An old one crashes, too: the release is not it.
            (vec![("a", "nc"), ("b", "oc"), ("c", "oa")], false, false, true),
            // Every pod is new and none is well.
            (vec![("a", "nc"), ("b", "nc")], false, true, false),
            // Every pod is new and one is well.
            (vec![("a", "nc"), ("b", "na")], false, false, false),
            // Old pods crash, no new one is there.
            (vec![("a", "oc"), ("b", "oa")], false, false, false),
            // What holds the rollout up is a deleted pod.
            (vec![("a", "oad"), ("b", "oa")], false, false, false),
        ] {
            let report = report(json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}), &pods);
            assert_eq!(rolls_back(&report), (budget, node), "{pods:?}");
            assert_eq!(report.causes.iter().any(|c| c.message.contains("fail alike")), alike, "{pods:?}");
        }
    }
}
