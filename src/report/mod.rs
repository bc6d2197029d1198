//! The report: everything a rendering needs, with the field names of the JSON contract.

pub mod grouping;
pub mod scheduler_words;
#[cfg(test)]
mod schema;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::cause::command::addressed;
use crate::cause::{Cause, Severity};
use crate::controller::recount::Counters;
use crate::model::snapshot::Gap;
use crate::model::time::Time;
use crate::preflight::Preflight;

/// The contract's version.
pub const API_VERSION: &str = "ds-doctor/v1";

/// What is to be said of one DaemonSet.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// [`API_VERSION`].
    pub api_version: &'static str,
    /// `DaemonSetReport`.
    pub kind: &'static str,
    /// The moment of the snapshot.
    pub now: Time,
    /// The version whose rules were applied.
    pub server_version: String,
    /// The DaemonSet and its counters.
    pub daemon_set: DaemonSetSummary,
    /// Set if the DaemonSet is only judged, not applied: then all states are what would be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preflight: Option<Preflight>,
    /// The answer in numbers.
    pub summary: Summary,
    /// The rollout.
    pub rollout: Rollout,
    /// Causes of the DaemonSet as a whole.
    pub causes: Vec<Cause>,
    /// What the failing pods have in common and the healthy ones do not, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub correlations: Vec<String>,
    /// What could be better in the DaemonSet. Only advice with `bearsOn` belongs to a normal
    /// report; the rest is for those who ask (`--lint`).
    pub advice: Vec<crate::lint::Advice>,
    /// Every node, by name.
    pub nodes: Vec<NodeReport>,
    /// What could not be read.
    pub missing: Vec<Missing>,
}

/// The DaemonSet.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DaemonSetSummary {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// `metadata.generation`.
    pub generation: i64,
    /// The template's node selector.
    pub node_selector: BTreeMap<String, String>,
    /// The counters as the API gives them.
    pub status: StatusCounters,
    /// The counters, counted again.
    pub recount: Counters,
}

/// The counters of the API with the generation that they are of.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StatusCounters {
    /// `status.observedGeneration`.
    pub observed_generation: i64,
    /// The counters.
    #[serde(flatten)]
    pub counters: Counters,
}

/// Whether all is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Everything was looked at and is fine.
    Healthy,
    /// There are causes of severity error.
    Problems,
    /// No problem was found, but not everything could be read.
    Inconclusive,
}

/// The answer in numbers.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary {
    /// How many nodes the report has.
    pub nodes: usize,
    /// How many nodes are in each state.
    pub states: BTreeMap<State, usize>,
    /// The answer.
    pub verdict: Outcome,
}

/// The state of a node, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum State {
    /// The node should run the pod, none exists.
    Missing,
    /// The kubelet refused or evicted the pod.
    Rejected,
    /// The scheduler has not placed the pod.
    Pending,
    /// A bound pod is not ready or not available.
    Unhealthy,
    /// Only a pod that is going away.
    Terminating,
    /// A pod runs where it should not.
    Misscheduled,
    /// A ready pod of an older revision.
    Outdated,
    /// What is needed could not be read.
    Unknown,
    /// The DaemonSet does not target the node.
    Excluded,
    /// A ready, available pod of the current revision.
    Healthy,
}

impl State {
    /// The name, as the contract spells it.
    pub fn name(self) -> &'static str {
        match self {
            State::Missing => "Missing",
            State::Rejected => "Rejected",
            State::Pending => "Pending",
            State::Unhealthy => "Unhealthy",
            State::Terminating => "Terminating",
            State::Misscheduled => "Misscheduled",
            State::Outdated => "Outdated",
            State::Unknown => "Unknown",
            State::Excluded => "Excluded",
            State::Healthy => "Healthy",
        }
    }
}

/// One node.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeReport {
    /// The node's name.
    pub name: String,
    /// Its state.
    pub state: State,
    /// Whether the controller wants a pod there; `None` if the node could not be read.
    pub should_run: Option<bool>,
    /// Whether a running pod may stay.
    pub should_continue_running: Option<bool>,
    /// The DaemonSet's pods for this node.
    pub pods: Vec<PodReport>,
    /// The filters' verdicts on a fresh pod.
    pub checks: Vec<Check>,
    /// What preemption would do for the pod, where it bears on the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemption: Option<Preemption>,
    /// Why the node lacks a healthy, current pod.
    pub causes: Vec<Cause>,
}

/// One pod.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PodReport {
    /// Its name.
    pub name: String,
    /// Its phase.
    pub phase: String,
    /// It has a node.
    pub bound: bool,
    /// Ready and not terminating.
    pub ready: bool,
    /// Ready for minReadySeconds and not terminating.
    pub available: bool,
    /// Of the current revision; `None` if that is unknown.
    pub up_to_date: Option<bool>,
    /// It is being deleted.
    pub terminating: bool,
    /// Restarts of all its containers.
    pub restarts: i64,
    /// When it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Time>,
    /// The scheduler's own words (condition PodScheduled), if it has not placed the pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler_message: Option<String>,
}

/// One filter's verdict.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Check {
    /// The plugin's name.
    pub plugin: &'static str,
    /// `pass`, `fail` or `unknown`.
    pub verdict: CheckVerdict,
    /// Upstream's words; for `unknown` what is not known.
    pub reasons: Vec<String>,
}

/// A verdict in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CheckVerdict {
    /// It fits.
    Pass,
    /// It does not.
    Fail,
    /// It cannot be told.
    Unknown,
}

/// What preemption would do.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Preemption {
    /// Evicting pods of lower priority would make room.
    pub possible: bool,
    /// These, as `namespace/name`.
    pub victims: Vec<String>,
    /// Why it would not, or what stands in its way.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Victims whose PodDisruptionBudget would be violated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub violating: Vec<String>,
}

/// The rollout.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Rollout {
    /// `RollingUpdate` or `OnDelete`.
    pub strategy: String,
    /// Pods that may be unavailable, resolved; `None` for OnDelete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<i64>,
    /// Nodes that may have two pods, resolved; `None` for OnDelete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_surge: Option<i64>,
    /// `complete`, `progressing`, `stuck`, `updated` (every pod is new, not all are available),
    /// `waiting-for-delete`, `unobserved`, `not-applied` (only judged) or `unknown`.
    pub phase: &'static str,
    /// What `kubectl rollout status` would say.
    pub message: String,
    /// The current revision's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<i64>,
    /// The revisions that pods are of, oldest first, with how many pods.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<RevisionCount>,
    /// Unavailable pods that use the budget up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<i64>,
    /// The nodes that use the budget up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<String>,
    /// The nodes that wait for an update.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<String>,
    /// Seconds since the last progress, where it can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stalled_seconds: Option<i64>,
    /// What changed from the old revision to the current one, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
}

/// Pods of one revision.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RevisionCount {
    /// The revision's number, if its ControllerRevision was read.
    pub revision: Option<i64>,
    /// The hash that pods carry.
    pub hash: String,
    /// How many pods.
    pub pods: usize,
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Missing {
    /// `list` or `get`.
    pub verb: String,
    /// The resource, as RBAC names it.
    pub resource: String,
    /// The namespace, if only there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Why, and what could not be judged for it.
    pub effect: String,
}

impl Missing {
    /// A gap with what it keeps from being judged.
    pub fn new(gap: &Gap, effect: &str) -> Self {
        Missing {
            verb: gap.verb.clone(),
            resource: gap.resource.clone(),
            namespace: gap.namespace.clone(),
            effect: if gap.reason.is_empty() { effect.to_string() } else { format!("{effect} ({})", gap.reason) },
        }
    }
}

impl Report {
    /// The worst severity of any cause.
    pub fn worst(&self) -> Option<Severity> {
        self.all_causes().map(|c| c.severity).max()
    }

    /// Puts the flags that lead to the cluster into every command to copy.
    pub fn address(&mut self, flags: &str) {
        let causes = self.causes.iter_mut().chain(self.nodes.iter_mut().flat_map(|n| &mut n.causes));
        let remedies = causes.flat_map(|c| &mut c.remedies).chain(self.advice.iter_mut().flat_map(|a| &mut a.remedies));
        for command in remedies.filter_map(|r| r.command.as_mut()) {
            *command = addressed(command, flags);
        }
    }

    /// Every cause, of the DaemonSet and of the nodes.
    pub fn all_causes(&self) -> impl Iterator<Item = &Cause> {
        self.causes.iter().chain(self.nodes.iter().flat_map(|n| &n.causes))
    }
}

/// Several reports.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportList<'a> {
    /// [`API_VERSION`].
    pub api_version: &'static str,
    /// `DaemonSetReportList`.
    pub kind: &'static str,
    /// The reports.
    pub items: &'a [Report],
}

impl<'a> ReportList<'a> {
    /// A list of these.
    pub fn new(items: &'a [Report]) -> Self {
        ReportList { api_version: API_VERSION, kind: "DaemonSetReportList", items }
    }
}

/// The advice on several DaemonSets (`--lint`).
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AdviceList<'a> {
    /// [`API_VERSION`].
    pub api_version: &'static str,
    /// `DaemonSetAdviceList`.
    pub kind: &'static str,
    /// One item for each DaemonSet.
    pub items: Vec<DaemonSetAdvice<'a>>,
}

/// The advice on one DaemonSet.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DaemonSetAdvice<'a> {
    /// Its namespace.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The advice, by code.
    pub advice: &'a [crate::lint::Advice],
    /// What could not be read.
    pub missing: &'a [Missing],
}

impl<'a> AdviceList<'a> {
    /// The advice of these reports.
    pub fn new(reports: &'a [Report]) -> Self {
        let of = |r: &'a Report| DaemonSetAdvice {
            namespace: &r.daemon_set.namespace,
            name: &r.daemon_set.name,
            advice: &r.advice,
            missing: &r.missing,
        };
        AdviceList { api_version: API_VERSION, kind: "DaemonSetAdviceList", items: reports.iter().map(of).collect() }
    }
}
