//! Rules on the update strategy and on the revisions.

use std::collections::BTreeSet;

use super::Found;
use crate::cause::Remedy;
use crate::cause::command::command;
use crate::controller::should_run::decide;
use crate::diagnose::{Subject, stand_in_name};
use crate::filter::{Filter, PLUGINS, Verdict};
use crate::model::selector::selects;
use crate::model::toleration::daemon_pod_tolerations;
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
    for info in &subject.nodes {
        // One pod, and settled: a rollout that is under way has its own causes.
        let own = subject.pods.get(info.node.name()).map_or(&[][..], Vec::as_slice);
        if own.len() != 1 || !decide(subject.ds, &tolerations, info.node, &subject.features).should_run {
            continue;
        }
        all += 1;
        let refusing: Vec<&str> = filters.iter().filter(|(_, f)| matches!(f(info), Verdict::Fail(_))).map(|(name, _)| *name).collect();
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

/// Revisions with the DaemonSet's labels that no controller owns.
pub fn orphaned_revisions(subject: &Subject) -> Option<Found> {
    let meta = &subject.ds.metadata;
    let selector = subject.ds.spec.selector.as_ref()?;
    let orphans: Vec<&str> = subject
        .snapshot
        .controller_revisions
        .iter()
        .filter(|r| r.metadata.namespace == meta.namespace && r.metadata.controller().is_none() && selects(selector, &r.metadata.labels))
        .map(|r| r.metadata.name.as_str())
        .collect();
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
