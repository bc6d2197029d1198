//! RolloutBudget: nothing more may be taken down, so the rollout does not go on.
//!
//! Upstream: `rollingUpdate`, `findUpdatedPodsOnNode` and `updatedDesiredNodeCounts` of
//! `pkg/controller/daemon/update.go` (v1.37.2).

use std::collections::{BTreeMap, BTreeSet};

use crate::cause::command::command;
use crate::cause::{Cause, Entry, Remedy, Severity, Stage};
use crate::controller::should_run::Decision;
use crate::diagnose::Subject;
use crate::model::pod::Pod;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "RolloutBudget",
    stage: Stage::Rollout,
    summary: "As many pods are unavailable as maxUnavailable allows, so no old pod is replaced",
    doc: "\
## What it means
A rolling update deletes old pods only while fewer than maxUnavailable nodes lack an available pod. So many do already, and the other old
pods wait. Every node with a pod of the DaemonSet counts, also one where it is not wanted: a node whose new pod is not available, whose
old pod is not, that has both, or that has only pods which are being deleted (a dead node!), and a node that should have a pod and has
none. An old pod that is not available is replaced whatever the budget says.
maxUnavailable is resolved against the number of nodes that should run the pod; a percentage is rounded up; 0 with maxSurge 0 counts as 1.
The DaemonSet's status can look perfect meanwhile: UP-TO-DATE alone shows it.

## How it is recognised
The nodes are counted by the controller's own rule. The detail is how many are unavailable and how many may be. It is stuck, not slow, if
what keeps the counted pods does not pass by itself (a crash, a missing image, a port, a dead node), or if nothing has moved for ten
minutes (as long as a Deployment waits by default) and minReadySeconds.

## How to check by hand
    kubectl -n NAMESPACE rollout status ds/NAME --timeout=5s
    kubectl -n NAMESPACE get pods -l SELECTOR -L controller-revision-hash -o wide
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.updateStrategy} {.status}'

## How to fix it
Mend the pods that use the budget up; each has its own cause in the report. If the new revision is bad, roll back: `kubectl rollout undo`.
If they are bad nodes, mend or delete the nodes, or raise maxUnavailable for the time being.
",
};

/// What a node is for the rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Its pod is new and available.
    Done,
    /// Its pod is new and not available.
    New,
    /// Its pod is old and available.
    Old,
    /// Its pod is old and not available: it is replaced beyond the budget.
    Replaceable,
    /// It has no pod, or only pods that are being deleted.
    Vacant,
    /// It has an old and a new pod; the new one is available.
    Changed,
    /// It has an old and a new pod; the new one is not available.
    Changing,
    /// It has several old or several new pods.
    Excess,
}

/// The nodes as the rollout sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places<'a>(pub BTreeMap<&'a str, Place>);

impl<'a> Places<'a> {
    /// Every node with pods and every node that should have one; `None` if it is not known of
    /// which revision a pod is.
    pub fn find(subject: &Subject<'a>, decisions: &BTreeMap<&'a str, Decision>) -> Option<Places<'a>> {
        let desired = decisions.iter().filter(|(_, d)| d.should_run).map(|(node, _)| *node);
        let nodes: BTreeSet<&str> = desired.chain(subject.pods.keys().copied()).collect();
        let place = |node: &'a str| Some((node, place(subject, subject.pods.get(node).map_or(&[], Vec::as_slice))?));
        nodes.into_iter().map(place).collect::<Option<_>>().map(Places)
    }

    /// The nodes in one of these places.
    pub fn of(&self, places: &[Place]) -> Vec<&'a str> {
        self.0.iter().filter(|(_, p)| places.contains(p)).map(|(n, _)| *n).collect()
    }

    /// The nodes that use maxUnavailable up, where no surge is allowed.
    pub fn unavailable(&self) -> Vec<&'a str> {
        self.of(&[Place::New, Place::Replaceable, Place::Vacant, Place::Changed, Place::Changing, Place::Excess])
    }

    /// The nodes that use maxSurge up.
    pub fn surging(&self) -> Vec<&'a str> {
        self.of(&[Place::Changing, Place::Excess])
    }

    /// The nodes whose old pod the controller may replace at once: those that are not available, and
    /// all others while fewer than `allowed` use the budget up.
    pub fn open(&self, surge: bool, allowed: i64) -> Vec<&'a str> {
        let used = if surge { self.surging().len() } else { self.unavailable().len() };
        let room = i64::try_from(used).is_ok_and(|used| used < allowed);
        self.of(if room { &[Place::Old, Place::Replaceable] } else { &[Place::Replaceable] })
    }

    /// The same without those of these nodes that have an old pod alone.
    pub fn without_old(&self, leave: impl Fn(&str) -> bool) -> Places<'a> {
        let stays = |(node, place): &(&&'a str, &Place)| !(matches!(place, Place::Old | Place::Replaceable) && leave(node));
        Places(self.0.iter().filter(stays).map(|(n, p)| (*n, *p)).collect())
    }

    /// The nodes that do not exist and have an old pod bound to them, and no new one.
    pub fn lost(&self, subject: &Subject<'a>) -> Vec<&'a str> {
        let known: BTreeSet<&str> = subject.nodes.iter().map(|i| i.node.name()).collect();
        self.of(&[Place::Old, Place::Replaceable]).into_iter().filter(|n| !known.contains(n)).collect()
    }

    /// The nodes whose pod waits to be replaced.
    pub fn waiting(&self) -> Vec<&'a str> {
        self.of(&[Place::Old])
    }
}

fn place(subject: &Subject, pods: &[&Pod]) -> Option<Place> {
    let (mut new, mut old) = (Vec::new(), Vec::new());
    for pod in pods.iter().filter(|p| !p.is_terminating()) {
        if subject.is_updated(pod)? { new.push(*pod) } else { old.push(*pod) }
    }
    Some(match (new.as_slice(), old.as_slice()) {
        ([], []) => Place::Vacant,
        ([pod], []) if subject.is_available(pod) => Place::Done,
        ([_], []) => Place::New,
        ([], [pod]) if subject.is_available(pod) => Place::Old,
        ([], [_]) => Place::Replaceable,
        ([pod], [_]) if subject.is_available(pod) => Place::Changed,
        ([_], [_]) => Place::Changing,
        _ => Place::Excess,
    })
}

/// The cause, for a rollout that waits for `unavailable` nodes where `allowed` may be.
pub fn cause(subject: &Subject, unavailable: &[&str], allowed: i64, waiting: &[&str], stuck: bool) -> Cause {
    let detail = format!("{}/{allowed}", unavailable.len());
    // Which ones they are is said of the rollout, and stands in the evidence.
    let nodes = |list: &[&str], one: &str, many: &str| match list.len() {
        1 => format!("1 node {one}"),
        n => format!("{n} nodes {many}"),
    };
    let message = format!(
        "{} an available pod, as many as maxUnavailable {allowed} allows: {} for an update",
        nodes(unavailable, "lacks", "lack"),
        nodes(waiting, "waits", "wait")
    );
    let meta = &subject.ds.metadata;
    let name = format!("ds/{}", meta.name);
    Cause::new(&ENTRY, detail, message)
        .severity(if stuck { Severity::Error } else { Severity::Info })
        .evidence(subject.object(), "spec.updateStrategy.rollingUpdate.maxUnavailable", maximum(subject))
        .evidence(subject.object(), "nodes that use the budget up", unavailable.to_vec())
        .evidence(subject.object(), "nodes that wait", waiting.to_vec())
        .remedy(Remedy::inspect(
            "see how far it is",
            command(["kubectl", "-n", &meta.namespace, "rollout", "status", &name, "--timeout=5s"]),
        ))
}

fn maximum(subject: &Subject) -> String {
    let rolling = subject.ds.spec.update_strategy.rolling_update.as_ref();
    rolling.and_then(|r| r.max_unavailable.as_ref()).map_or("1".into(), |m| m.to_string())
}

/// Up to three names and how many more.
pub fn names(nodes: &[&str]) -> String {
    match nodes {
        [] => "no node".into(),
        [rest @ .., last] if nodes.len() <= 3 => {
            if rest.is_empty() {
                (*last).to_string()
            } else {
                format!("{} and {last}", rest.join(", "))
            }
        }
        [a, b, rest @ ..] => format!("{a}, {b} and {} more", rest.len()),
        [one] => (*one).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::snapshot::Snapshot;
    use serde_json::{Value, json};

    /// A pod of the node, described by letters: n(ew) or o(ld), a(vailable), d(eleted).
    fn pod(node: &str, marks: &str, i: usize) -> Value {
        let hash = if marks.contains('n') { "h2" } else { "h1" };
        let ready = if marks.contains('a') { "True" } else { "False" };
        let mut pod = json!({"metadata": {"name": format!("{node}-{i}"), "namespace": "ns", "labels": {"controller-revision-hash": hash},
                "ownerReferences": [{"kind": "DaemonSet", "name": "ds", "uid": "u", "controller": true}]},
            "spec": {"nodeName": node}, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}});
        if marks.contains('d') {
            pod["metadata"]["deletionTimestamp"] = "2026-11-30T12:00:00Z".into();
        }
        pod
    }

    #[test]
    fn nodes_are_placed_as_upstream_places_them() {
        let cases: [(&str, &[&str], Place); 13] = [
            ("nothing", &[], Place::Vacant),
            ("deleted", &["oad"], Place::Vacant),
            ("done", &["na"], Place::Done),
            ("new", &["n"], Place::New),
            ("new-beside-deleted", &["na", "oad"], Place::Done),
            ("old", &["oa"], Place::Old),
            ("replaceable", &["o"], Place::Replaceable),
            ("changed", &["oa", "na"], Place::Changed),
            ("changing", &["oa", "n"], Place::Changing),
            ("two-new", &["na", "na"], Place::Excess),
            ("two-old", &["oa", "o"], Place::Excess),
            ("three", &["oa", "na", "n"], Place::Excess),
            ("unwanted", &["od"], Place::Vacant),
        ];
        let mut snapshot = Snapshot::default();
        for (node, pods, _) in &cases {
            if *node != "unwanted" {
                snapshot.objects.nodes.items.push(serde_json::from_value(json!({"metadata": {"name": node}})).unwrap());
            }
            snapshot.objects.pods.items.extend(pods.iter().enumerate().map(|(i, p)| serde_json::from_value(pod(node, p, i)).unwrap()));
        }
        let revision = json!({"metadata": {"name": "r", "namespace": "ns", "labels": {"controller-revision-hash": "h2"},
            "ownerReferences": [{"kind": "DaemonSet", "name": "ds", "uid": "u", "controller": true}]}, "revision": 2});
        snapshot.objects.controller_revisions.items.push(serde_json::from_value(revision).unwrap());
        let ds = serde_json::from_value(json!({"metadata": {"name": "ds", "namespace": "ns", "uid": "u"}})).unwrap();
        let subject = Subject::new(&snapshot, &ds);
        let decision = Decision { should_run: true, should_continue: true, causes: Vec::new() };
        let decisions = subject.nodes.iter().map(|i| (i.node.name(), decision.clone())).collect();
        let places = Places::find(&subject, &decisions).unwrap();
        for (node, _, want) in cases {
            assert_eq!(places.0.get(node), Some(&want), "{node}");
        }
        assert_eq!(places.waiting(), ["old"]);
        assert_eq!(places.unavailable().len(), 10);
        assert_eq!(places.surging(), ["changing", "three", "two-new", "two-old"]);
    }

    #[test]
    fn the_budget_is_told_with_who_uses_it_up() {
        use crate::rollout::bed::report;
        for (max, pods, want) in [
            (
                json!(1),
                vec![("a", "nc"), ("b", "oa"), ("c", "oa")],
                "1/1 1 node lacks an available pod, as many as maxUnavailable 1 allows: 2 nodes wait for an update",
            ),
            (
                json!("40%"),
                vec![("a", "nc"), ("b", "oad"), ("c", "oa")],
                "2/2 2 nodes lack an available pod, as many as maxUnavailable 2 allows: 1 node waits for an update",
            ),
            (
                json!(1),
                vec![("a", "na"), ("tainted", "oad"), ("c", "oa")],
                "1/1 1 node lacks an available pod, as many as maxUnavailable 1 allows: 1 node waits for an update; tainted counts although no pod is wanted there any more",
            ),
            (json!(2), vec![("a", "nc"), ("b", "oa")], ""),
            (json!(1), vec![("a", "nc"), ("b", "na")], ""),
        ] {
            let report = report(json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": max}}), &pods);
            let found =
                report.causes.iter().find(|c| c.code == ENTRY.code).map_or(String::new(), |c| format!("{} {}", c.detail, c.message));
            assert_eq!(found, want, "{max} {pods:?}");
        }
    }

    #[test]
    fn long_lists_are_cut() {
        for (nodes, want) in [
            (vec!["a"], "a"),
            (vec!["a", "b"], "a and b"),
            (vec!["a", "b", "c"], "a, b and c"),
            (vec!["a", "b", "c", "d"], "a, b and 2 more"),
        ] {
            assert_eq!(names(&nodes), want);
        }
    }
}
