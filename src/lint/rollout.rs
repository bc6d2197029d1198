//! Rules on the update strategy and on the revisions.

use std::collections::BTreeSet;

use super::Found;
use crate::cause::command::command;
use crate::cause::{Evidence, Remedy};
use crate::controller::ownership::{owns, owns_revision};
use crate::controller::should_run::decide;
use crate::diagnose::{Subject, stand_in_name};
use crate::filter::{Filter, PLUGINS, Verdict, Want};
use crate::model::pod::Pod;
use crate::model::selector::{is_empty, selects};
use crate::model::toleration::daemon_pod_tolerations;
use crate::rollout::revision;
use crate::rollout::rollout_budget::names;

/// Where a new pod would not fit beside the one that is there: a rollout with maxSurge would stop.
///
/// The filters judge a fresh pod on each node as it is, the DaemonSet's own pod included.
pub fn surge_blocked(subject: &Subject) -> Option<Found> {
    let rolling = subject.ds.spec.update_strategy.rolling_update.as_ref()?;
    let surge = rolling.max_surge.as_ref().filter(|s| s.scaled(100, true) != Some(0))?;
    if subject.ds.spec.update_strategy.r#type == "OnDelete" {
        return None;
    }
    let tolerations = daemon_pod_tolerations(&subject.ds.spec.template.spec);
    let name = stand_in_name(subject.ds);
    let cycle = subject.fresh_cycle(&name);
    let filters: Vec<(&str, Filter)> = PLUGINS.iter().map(|p| (p.name, (p.prefilter)(&cycle))).collect();
    let (mut blocked, mut plugins, mut all) = (Vec::new(), BTreeSet::new(), 0);
    for info in subject.nodes.iter() {
        // One pod, and settled: a rollout that is under way has its own causes.
        let own = subject.pods.get(info.node.name()).map_or(&[][..], Vec::as_slice);
        if own.len() != 1 || !decide(subject.ds, &tolerations, info.node, &subject.features).should_run {
            continue;
        }
        all += 1;
        let refusing: Vec<&str> =
            filters.iter().filter(|(_, f)| matches!(f(info, Want::Verdict), Verdict::Fail(_))).map(|(name, _)| *name).collect();
        if !refusing.is_empty() {
            blocked.push(info.node.name());
            plugins.extend(refusing);
        }
    }
    if blocked.is_empty() {
        return None;
    }
    let why = plugins.into_iter().collect::<Vec<_>>().join(", ");
    let message = format!(
        "maxSurge {surge}, but on {} of {all} nodes the new pod would not fit beside the old one ({why}): a rollout would stop there ({})",
        blocked.len(),
        names(&blocked)
    );
    Some(Found::new(message).evidence(subject, "spec.updateStrategy.rollingUpdate.maxSurge", surge.to_string()))
}

/// Nodes from which on one at a time is called slow.
const MANY: usize = 50;

/// maxUnavailable 1 on many nodes.
pub fn slow_rollout(subject: &Subject) -> Option<Found> {
    let strategy = &subject.ds.spec.update_strategy;
    if strategy.r#type == "OnDelete" {
        return None;
    }
    let nodes = subject.pods.len();
    let rolling = strategy.rolling_update.as_ref();
    let total = i64::try_from(nodes).unwrap_or(i64::MAX);
    let resolved = |v: Option<&crate::model::int_or_string::IntOrString>, default: i64| v.map_or(Some(default), |v| v.scaled(total, true));
    let unavailable = resolved(rolling.and_then(|r| r.max_unavailable.as_ref()), 1)?;
    let surge = resolved(rolling.and_then(|r| r.max_surge.as_ref()), 0)?;
    if nodes < MANY || unavailable.max(surge) > 1 {
        return None;
    }
    let message = format!(
        "a rollout replaces one pod after the other on {nodes} nodes, and a single bad node stops it; allow a percentage, such as 10%"
    );
    Some(Found::new(message).evidence(subject, "spec.updateStrategy.rollingUpdate.maxUnavailable", unavailable))
}

/// `status.collisionCount` above 0.
pub fn hash_collisions(subject: &Subject) -> Option<Found> {
    let count = subject.ds.status.collision_count.filter(|c| *c > 0)?;
    let message = format!(
        "the hash of a new template was that of another revision {count} times; the controller gave it another, nothing is to be done"
    );
    Some(Found::new(message).evidence(subject, "status.collisionCount", count))
}

/// Pods of the namespace that the selector selects and that are not the DaemonSet's.
///
/// Upstream: `ClaimPods` of `pkg/controller/controller_ref_manager.go` (v1.37.2) adopts those that
/// nobody owns and leaves the others alone.
pub fn foreign_pods(subject: &Subject) -> Option<Found> {
    let meta = &subject.ds.metadata;
    let selector = subject.ds.spec.selector.as_ref().filter(|s| !is_empty(s))?;
    let foreign = |p: &&Pod| !owns(subject.ds, p) && selects(selector, &p.metadata.labels);
    let mut pods: Vec<&Pod> = subject.neighbours.of(&meta.namespace).iter().copied().filter(foreign).collect();
    pods.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    let first = pods.first()?;
    let owner = |p: &&Pod| p.metadata.controller().map_or("nobody".to_string(), |o| format!("{} {}", o.kind, o.name));
    let owners: BTreeSet<String> = pods.iter().map(owner).collect();
    let owners: Vec<&str> = owners.iter().map(String::as_str).collect();
    let message = format!(
        "{} more of the namespace's pods match the selector and belong to {}: whatever goes by labels takes them for this DaemonSet's; a pod \
         that nobody owns is adopted, and one pod too many on a node is deleted",
        pods.len(),
        names(&owners)
    );
    let mut found = Found::new(message);
    found.evidence = vec![Evidence::new(format!("Pod/{}", first.full_name()), "metadata.ownerReferences", owner(first))];
    Some(found)
}

/// Other revisions of the DaemonSet with the data of the current one. The controller keeps the
/// newest, gives its hash to the pods of the others and deletes those (`dedupCurHistories`).
pub fn duplicate_revisions(subject: &Subject) -> Option<Found> {
    let current = subject.hash.and_then(|hash| revision::find(subject, hash)).filter(|r| !r.data.0.is_null())?;
    let own = subject.snapshot.controller_revisions.iter().filter(|r| owns_revision(subject.ds, r));
    let mut same: Vec<&str> =
        own.filter(|r| r.metadata.name != current.metadata.name && r.data == current.data).map(|r| r.metadata.name.as_str()).collect();
    same.sort_unstable();
    if same.is_empty() {
        return None;
    }
    let message = format!(
        "revision {} holds the same template as the current one, {}: the controller gives its pods the current hash and deletes it when it \
         next looks; if it stays, the controller does not run or may not delete",
        names(&same),
        current.metadata.name
    );
    let mut found = Found::new(message);
    found.evidence = same
        .iter()
        .map(|name| Evidence::new(format!("ControllerRevision/{}/{name}", current.metadata.namespace), "data", "as the current one's"))
        .collect();
    Some(found)
}

/// Revisions with the DaemonSet's labels that no controller owns.
pub fn orphaned_revisions(subject: &Subject) -> Option<Found> {
    let meta = &subject.ds.metadata;
    let selector = subject.ds.spec.selector.as_ref()?;
    let mut orphans: Vec<&str> = subject
        .snapshot
        .controller_revisions
        .iter()
        .filter(|r| r.metadata.namespace == meta.namespace && r.metadata.controller().is_none() && selects(selector, &r.metadata.labels))
        .map(|r| r.metadata.name.as_str())
        .collect();
    orphans.sort_unstable();
    if orphans.is_empty() {
        return None;
    }
    let message = format!(
        "revisions with the labels of this DaemonSet belong to nobody ({}); the controller adopts them when it next looks",
        names(&orphans)
    );
    let mut found = Found::new(message).evidence(subject, "spec.selector", orphans.join(", "));
    let see = command(["kubectl", "-n", &meta.namespace, "get", "controllerrevisions", "-o", "wide"]);
    found.remedies.push(Remedy::inspect("see the revisions", see));
    Some(found)
}
