//! A change applied to the cluster in memory, and what the checks then say.

use std::collections::{BTreeMap, BTreeSet};

use crate::cause::{Cause, Fact, Stage};
use crate::controller::ownership;
use crate::diagnose::{Subject, decide_for, stand_in_name};
use crate::filter::{Filter, PLUGINS, Verdict, Want, filters_of};
use crate::model::daemon_set::DaemonSet;
use crate::model::int_or_string::IntOrString;
use crate::model::node::{Node, Taint};
use crate::model::node_info::NodeInfo;
use crate::model::pod::Pod;
use crate::model::toleration::daemon_pod_tolerations;
use crate::report::NodeReport;
use crate::scheduling::preemption::DryRun;

/// One change of the cluster.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// JSON patch operations on the DaemonSet.
    DaemonSet(Vec<serde_json::Value>),
    /// A label on the nodes of the group, set or (`None`) removed.
    Label(String, Option<String>),
    /// A taint less on the nodes of the group.
    Untaint(Taint),
    /// Pods less: namespace and name.
    RemovePods(BTreeSet<(String, String)>),
    /// More room in a quota, enough for the group: its name and the resource.
    RaiseQuota(String, String),
}

/// What would keep the pod off each of these nodes after the changes, by code; an empty list: it
/// would run; a node is left out if what was not read decides. `preempts`: evicting pods of lower priority is part of the change. `None` if the
/// changes cannot be applied.
pub fn try_out(subject: &Subject, changes: &[Change], preempts: bool, group: &[&NodeReport]) -> Option<BTreeMap<String, Vec<String>>> {
    let names: BTreeSet<&str> = group.iter().map(|n| n.name.as_str()).collect();
    let operations: Vec<serde_json::Value> =
        changes.iter().flat_map(|c| if let Change::DaemonSet(o) = c { o.as_slice() } else { &[] }).cloned().collect();
    let ds = super::patch::patched(subject.ds, &operations).ok()?;
    let changed: BTreeMap<&str, Node> = subject
        .nodes
        .iter()
        .filter(|i| names.contains(i.node.name()))
        .filter_map(|i| Some((i.node.name(), node_after(i.node, changes)?)))
        .collect();
    let nodes = subject.nodes.iter().map(|info| after(subject, info, changes, changed.get(info.node.name()))).collect();
    let trial = subject.with(&ds, nodes, !operations.is_empty());
    let raised: Vec<String> = changes.iter().filter_map(raised).collect();
    Some(judge(&trial, group, operations.is_empty(), preempts, &raised))
}

/// The node after the changes, if they change it.
fn node_after(node: &Node, changes: &[Change]) -> Option<Node> {
    let mut after: Option<Node> = None;
    for change in changes {
        match change {
            Change::Label(key, value) => {
                let labels = &mut after.get_or_insert_with(|| node.clone()).metadata.labels;
                match value {
                    Some(value) => labels.insert(key.clone(), value.clone()),
                    None => labels.remove(key),
                };
            }
            Change::Untaint(taint) => {
                let same = |t: &Taint| t.key == taint.key && t.effect == taint.effect;
                after.get_or_insert_with(|| node.clone()).spec.taints.retain(|t| !same(t));
            }
            Change::DaemonSet(_) | Change::RemovePods(_) | Change::RaiseQuota(..) => {}
        }
    }
    after
}

fn after<'b>(subject: &Subject<'b>, info: &NodeInfo<'b>, changes: &[Change], node: Option<&'b Node>) -> NodeInfo<'b> {
    let goes = |pod: &Pod| {
        changes.iter().any(|c| match c {
            Change::RemovePods(pods) => pods.contains(&(pod.metadata.namespace.clone(), pod.metadata.name.clone())),
            _ => false,
        })
    };
    let removes = changes.iter().any(|c| matches!(c, Change::RemovePods(_)));
    let mut rest = if removes && info.pods.iter().any(|p| goes(p)) { info.without(&subject.features, goes) } else { info.clone() };
    if let Some(node) = node {
        rest.node = node;
    }
    rest
}

/// The detail of the causes that a raised quota takes away.
fn raised(change: &Change) -> Option<String> {
    match change {
        Change::RaiseQuota(name, resource) => Some(format!("{name} {resource}")),
        _ => None,
    }
}

fn judge(trial: &Subject, group: &[&NodeReport], live_stays: bool, preempts: bool, raised: &[String]) -> BTreeMap<String, Vec<String>> {
    let name = stand_in_name(trial.ds);
    let cycle = trial.fresh_cycle(&name);
    let filters = filters_of(&cycle);
    let tolerations = daemon_pod_tolerations(&trial.ds.spec.template.spec);
    let surge = surges(trial.ds);
    let by_name: BTreeMap<&str, &NodeInfo> = trial.nodes.iter().map(|i| (i.node.name(), i)).collect();
    let mut blocked = BTreeMap::new();
    for report in group {
        let Some(info) = by_name.get(report.name.as_str()) else { continue };
        let mut codes: Vec<String> = others(&report.causes, raised);
        let mut unknown = false;
        let decision = decide_for(trial, &tolerations, info.node);
        if decision.should_run {
            let found = if surge { (*info).clone() } else { info.without(&trial.features, |p| ownership::owns(trial.ds, p)) };
            let run = DryRun::new(&cycle, &filters, &found);
            let outcome = run.outcome();
            if !(preempts && outcome.as_ref().is_some_and(|p| p.possible)) {
                codes.extend(refusals(&filters, &found, &mut unknown));
                if codes.is_empty() && !unknown && outcome.is_some() {
                    codes.push("NominatedPod".into());
                }
            }
            if live_stays && let Some(pending) = pending(trial, &report.name) {
                let cycle = trial.live_cycle(pending);
                let filters = filters_of(&cycle);
                codes.extend(refusals(&filters, info, &mut unknown));
            }
        } else {
            codes.extend(decision.causes.iter().map(|c| c.code.to_string()));
        }
        if codes.is_empty() && unknown {
            continue;
        }
        codes.sort();
        codes.dedup();
        blocked.insert(report.name.clone(), codes);
    }
    blocked
}

fn refusals<'a>(filters: &[Filter<'a>], info: &NodeInfo<'a>, unknown: &mut bool) -> Vec<String> {
    let refuses = PLUGINS.iter().zip(filters).filter(|(_, filter)| match filter(info, Want::Verdict) {
        Verdict::Pass => false,
        Verdict::Fail(_) => true,
        Verdict::Unknown(_) => {
            *unknown = true;
            false
        }
    });
    refuses.map(|(plugin, _)| plugin.name.to_string()).collect()
}

/// The codes of what no filter decides and no change here touches.
fn others(causes: &[Cause], raised: &[String]) -> Vec<String> {
    let filter = |code: &str| PLUGINS.iter().any(|p| p.name == code) || matches!(code, "NominatedPod" | "PreemptionPending");
    let stays = |c: &&Cause| matches!(c.stage, Stage::Creation | Stage::Scheduling) && !filter(c.code);
    let has_room = |c: &&Cause| matches!(c.fact, Fact::Quota { .. }) && raised.contains(&c.detail);
    causes.iter().filter(stays).filter(|c| !has_room(c)).map(|c| c.code.to_string()).collect()
}

/// The DaemonSet's pod for this node that waits for the scheduler.
fn pending<'b>(trial: &Subject<'b>, node: &str) -> Option<&'b Pod> {
    trial.pods.get(node)?.iter().copied().find(|p| p.node_name().is_none() && !p.is_terminating() && !p.is_terminal())
}

/// True if a new pod has to fit beside the old one.
pub fn surges(ds: &DaemonSet) -> bool {
    let rolling = ds.spec.update_strategy.rolling_update.as_ref().filter(|_| ds.spec.update_strategy.r#type != "OnDelete");
    rolling.and_then(|r| r.max_surge.as_ref()).is_some_and(|s: &IntOrString| s.scaled(100, true).is_some_and(|n| n > 0))
}
