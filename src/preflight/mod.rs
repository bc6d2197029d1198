//! What would come of a DaemonSet that is not applied: a manifest (`-f`) or a patch (`--what-if`).
//! Pure: the same checks as for a live one, on the pod that the controller would make, and beside
//! it what is there now.
//!
//! Upstream: the DaemonSet controller makes a pod for each node that should run one
//! (`pkg/controller/daemon/daemon_controller.go`, v1.37.2); an update of the template replaces the
//! pods that are there, one node after the other.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::cause::{Cause, Entry, RemedyKind, Severity};
use crate::controller::creation::{self, quota};
use crate::controller::recount::{Tally, recount};
use crate::controller::should_run::Decision;
use crate::controller::{no_eligible_nodes, ownership, selector_overlap};
use crate::diagnose::{self, Options, Subject, filter_causes, stand_in_name};
use crate::filter::{Filter, PLUGINS, Want, filters_of};
use crate::model::daemon_pod::daemon_pod;
use crate::model::daemon_set::DaemonSet;
use crate::model::node_info::NodeInfo;
use crate::model::pod::{Pod, PodSpec};
use crate::model::snapshot::{Gap, Snapshot};
use crate::remedy::trial::surges;
use crate::report::{API_VERSION, CheckVerdict, Missing, NodeReport, Report, State};
use crate::rollout;
use crate::scheduling::nominated_pod;
use crate::scheduling::preemption::DryRun;

pub mod invalid_daemon_set;
pub mod namespace_missing;
pub mod overlay;
pub mod turn;

/// The pages of this folder's codes.
pub static ENTRIES: &[&Entry] = &[&invalid_daemon_set::ENTRY, &namespace_missing::ENTRY];

/// What is to happen to the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// A DaemonSet more.
    Create,
    /// Another manifest for one that is there.
    Update,
    /// A patch of one that is there.
    Patch,
}

/// What is to be judged.
#[derive(Clone, Debug)]
pub struct Proposed<'a> {
    /// What is to happen.
    pub action: Action,
    /// The DaemonSet as it would be, under the uid of the one that is there.
    pub ds: &'a DaemonSet,
    /// The one that is there.
    pub before: Option<&'a DaemonSet>,
    /// Where it comes from: a file's name, or the patch's.
    pub source: &'a str,
    /// The file, if it holds this one object and nothing else: a command can name it.
    pub file: Option<&'a str>,
    /// What was wrong with it when it was read: field and words.
    pub faults: &'a [(String, String)],
    /// Pods that are there are replaced.
    pub replaces_pods: bool,
    /// What the API server said to a dry run.
    pub server: Option<Answers>,
}

/// What the API server said to a dry run of the DaemonSet and of one of its pods.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Answers {
    /// About the DaemonSet.
    pub daemon_set: Answer,
    /// About a pod as the controller would make it.
    pub pod: Answer,
    /// That pod after admission; what it says of resources, ports and so on counts.
    #[serde(skip)]
    pub admitted: Option<Box<Pod>>,
}

/// The API server's answer to one dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// It would be accepted; `null` if the server was not asked or did not say.
    pub allowed: Option<bool>,
    /// The server's words, where it refused or could not be asked.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The server's warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What the report says of a DaemonSet that is not applied.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Preflight {
    /// `create`, `update` or `patch`.
    pub action: Action,
    /// The file's or the patch's name.
    pub source: String,
    /// Pods that are there would be replaced.
    pub replaces_pods: bool,
    /// The nodes for which something changes, against what is there now.
    pub changes: Vec<Change>,
    /// What the API server said to a dry run, if it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<Answers>,
}

/// A node for which something changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The node's name.
    pub node: String,
    /// Its state now.
    pub before: State,
    /// Its state then.
    pub after: State,
}

/// Judges a DaemonSet that is not applied. The snapshot holds it in the place of the one that is
/// there; `now` is the report on that one.
pub fn foresee(snapshot: &Snapshot, proposed: &Proposed, now: Option<&Report>, options: &Options) -> Report {
    let ds = proposed.ds;
    let there = Subject::new(snapshot, ds);
    let mut subject = there.with(ds, there.nodes.clone(), true);
    if let Some(admitted) = proposed.server.as_ref().and_then(|s| s.admitted.as_deref()) {
        subject.fresh.spec = after_admission(&subject.fresh.spec, admitted);
    }
    let decisions = diagnose::decisions(&subject);
    // No pod that is there is of the revision to be.
    let tally = |info| Tally { updated: Some(false), ..diagnose::tally(&subject, &decisions, info) };
    let counters = recount(subject.nodes.iter().map(tally));

    let mut causes = invalid_daemon_set::causes(ds, proposed.before, proposed.faults);
    causes.extend(namespace_missing::cause(snapshot, ds));
    for cause in proposed.server.iter().flat_map(|s| refused_itself(&subject, &s.daemon_set)) {
        causes.retain(|c| (c.code, &c.detail) != (cause.code, &cause.detail));
        causes.push(cause);
    }
    let mut refusals = causes.clone();
    refusals.extend(creation::foreseen(&subject));
    refusals.extend(creation::webhook::foreseen(&subject));
    for cause in proposed.server.iter().flat_map(|s| refused(&subject, &s.pod)) {
        // The server has the last word on what it names.
        refusals.retain(|c| c.code != cause.code);
        refusals.push(cause);
    }
    let wanted = decisions.values().filter(|d| d.should_run).count();
    if refusals.is_empty() {
        causes.extend(quota::too_small(&subject, wanted));
    }
    if snapshot.nodes.is_complete() && !decisions.is_empty() && wanted == 0 {
        causes.push(no_eligible_nodes::cause(ds, decisions.len()));
    }
    causes.extend(selector_overlap::causes(&subject));

    let mut nodes = judge_nodes(&subject, &decisions, &refusals, proposed);
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    diagnose::put_in_order(&mut causes, &mut nodes);
    if !options.without_remedies {
        crate::remedy::propose(&subject, &mut nodes);
        nodes.iter_mut().for_each(|node| of_the_file(node, ds, proposed));
        crate::remedy::by_hand::add(ds, proposed.before.is_some(), &mut causes, &mut nodes);
    }
    let advice = crate::lint::advise(&subject, &nodes, &causes);
    let changes = changes(now, &nodes);
    nodes.retain(|n| options.nodes.is_empty() || options.nodes.contains(&n.name));
    let missing = missing(snapshot, &subject.fresh.spec, proposed);
    let summary = diagnose::summarize(&nodes, &causes, &missing);
    let mut rollout = rollout::status::status(ds, counters.desired_number_scheduled);
    rollout.phase = "not-applied";
    rollout.message = "not applied: only judged".into();
    Report {
        api_version: API_VERSION,
        kind: "DaemonSetReport",
        now: snapshot.now,
        server_version: snapshot.version_text.clone().unwrap_or_else(|| snapshot.version.to_string()),
        daemon_set: diagnose::about(ds, counters),
        preflight: Some(Preflight {
            action: proposed.action,
            source: proposed.source.to_string(),
            replaces_pods: proposed.replaces_pods && proposed.before.is_some(),
            changes,
            server: proposed.server.clone(),
        }),
        summary,
        rollout,
        causes,
        correlations: Vec::new(),
        advice,
        nodes,
        missing,
    }
}

/// The pods that would run, bound to their nodes: what comes after has to fit beside them.
pub fn placed(snapshot: &Snapshot, ds: &DaemonSet, report: &Report) -> Vec<Pod> {
    let fresh = daemon_pod(ds, None, snapshot);
    let owner = serde_json::json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": ds.metadata.name, "uid": ds.metadata.uid, "controller": true}]);
    let on = |node: &NodeReport| {
        let mut pod = Pod::default();
        pod.metadata.name = format!("{}-{}", ds.metadata.name, node.name);
        pod.metadata.namespace = ds.metadata.namespace.clone();
        pod.metadata.labels = fresh.labels.clone();
        pod.metadata.owner_references = serde_json::from_value(owner.clone()).unwrap_or_default();
        pod.moved_node_name = node.name.clone();
        pod.spec = fresh.spec.clone().into();
        pod.status.phase = "Pending".into();
        pod
    };
    report.nodes.iter().filter(|n| n.state == State::Healthy).map(on).collect()
}

/// The pod to be as admission made it, without the pin to one node.
fn after_admission(own: &PodSpec, admitted: &Pod) -> PodSpec {
    let mut spec: PodSpec = (*admitted.spec).clone();
    spec.affinity = own.affinity.clone();
    spec.node_name = own.node_name.clone();
    spec
}

fn refused_itself(subject: &Subject, answer: &Answer) -> Vec<Cause> {
    let invalid = invalid_daemon_set::from_server(subject.ds, &answer.message).filter(|_| answer.allowed == Some(false));
    invalid.map_or_else(|| refused(subject, answer), |cause| vec![cause])
}

fn refused(subject: &Subject, answer: &Answer) -> Vec<Cause> {
    if answer.allowed != Some(false) { Vec::new() } else { creation::read_refusal(subject, &answer.message) }
}

fn judge_nodes(subject: &Subject, decisions: &BTreeMap<&str, Decision>, refusals: &[Cause], proposed: &Proposed) -> Vec<NodeReport> {
    let name = stand_in_name(subject.ds);
    let cycle = subject.fresh_cycle(&name);
    let filters = filters_of(&cycle);
    let surge = proposed.before.is_some() && surges(subject.ds);
    let mut nodes = Vec::new();
    for info in subject.nodes.iter() {
        let Some(decision) = decisions.get(info.node.name()) else { continue };
        let pods = subject.pods.get(info.node.name()).map_or(&[][..], Vec::as_slice);
        let alone = info.without(&subject.features, |p| ownership::owns(subject.ds, p));
        let found = if surge { info } else { &alone };
        let run = DryRun::new(&cycle, &filters, found);
        let mut node = NodeReport {
            name: info.node.name().to_string(),
            state: State::Excluded,
            should_run: Some(decision.should_run),
            should_continue_running: Some(decision.should_continue),
            pods: pods.iter().map(|p| diagnose::pod_report(subject, p)).collect(),
            checks: PLUGINS.iter().zip(&filters).map(|(p, filter)| diagnose::check(p.name, filter(found, Want::Verdict))).collect(),
            preemption: None,
            causes: Vec::new(),
        };
        if decision.should_run {
            judge(subject, &filters, found, &run, refusals, &mut node);
        } else {
            node.causes.extend(decision.causes.iter().cloned());
        }
        nodes.push(node);
    }
    nodes
}

/// What would become of the pod on a node that should run it.
fn judge<'a>(subject: &Subject, filters: &[Filter<'a>], found: &NodeInfo<'a>, run: &DryRun, refusals: &[Cause], node: &mut NodeReport) {
    let (mut causes, unknown) = filter_causes(filters, found);
    if causes.is_empty()
        && let Some(refusal) = run.refusal().filter(|r| r.for_nominated && !r.unknown)
    {
        causes.extend(run.nominated().iter().map(|nominated| nominated_pod::cause(found.node.name(), nominated, &refusal)));
    }
    node.preemption = run.outcome().filter(|_| !causes.is_empty());
    let evicts = node.preemption.as_ref().is_some_and(|p| p.possible);
    let gated = !subject.fresh.spec.scheduling_gates.is_empty();
    node.state = match () {
        () if !refusals.is_empty() => State::Missing,
        () if gated => State::Pending,
        () if !causes.is_empty() && !evicts => State::Pending,
        () if unknown || node.checks.iter().any(|c| c.verdict == CheckVerdict::Unknown) => State::Unknown,
        () => State::Healthy,
    };
    if evicts && node.state == State::Healthy {
        // It would run, and others would pay for it.
        causes.iter_mut().for_each(|c| c.severity = Severity::Warning);
    }
    node.causes.extend(refusals.iter().cloned());
    node.causes.extend(causes);
}

/// Commands that patch the DaemonSet patch the file instead; without a file that is nothing else
/// they are left out.
fn of_the_file(node: &mut NodeReport, ds: &DaemonSet, proposed: &Proposed) {
    let meta = &ds.metadata;
    let live = crate::cause::command::command(["kubectl", "-n", &meta.namespace, "patch", "ds", &meta.name, "--type=json"]);
    let local =
        proposed.file.map(|f| crate::cause::command::command(["kubectl", "patch", "--local", "-o", "yaml", "-f", f, "--type=json"]));
    for remedy in node.causes.iter_mut().flat_map(|c| &mut c.remedies).filter(|r| r.kind != RemedyKind::Inspect) {
        let Some(command) = &remedy.command else { continue };
        if command.contains(&live) {
            remedy.command = local.as_ref().map(|local| command.replace(&live, local));
        }
    }
}

/// What is different from now, for all nodes that either report has.
fn changes(now: Option<&Report>, nodes: &[NodeReport]) -> Vec<Change> {
    let Some(now) = now else { return Vec::new() };
    let before: BTreeMap<&str, State> = now.nodes.iter().map(|n| (n.name.as_str(), n.state)).collect();
    let changed = nodes.iter().filter_map(|n| {
        let before = *before.get(n.name.as_str())?;
        (before != n.state).then(|| Change { node: n.name.clone(), before, after: n.state })
    });
    changed.collect()
}

/// What was not read. Of files also the kinds that admission consults and that the files have none of.
fn missing(snapshot: &Snapshot, spec: &PodSpec, proposed: &Proposed) -> Vec<Missing> {
    let mut missing = diagnose::missing(snapshot);
    let mut none = |resource: &str, effect: &str| {
        let gap = Gap { verb: "list".into(), resource: resource.into(), namespace: None, reason: "the snapshot has none".into() };
        missing.push(Missing::new(&gap, effect));
    };
    let asked = proposed.server.as_ref().is_some_and(|s| s.pod.allowed.is_some());
    if snapshot.from_files && !asked {
        if snapshot.namespaces.is_empty() {
            none("namespaces", "whether the namespace is there and its Pod Security level allows the pod cannot be known");
        }
        if snapshot.service_accounts.is_empty() && !matches!(spec.service_account_name.as_str(), "" | "default") {
            none("serviceaccounts", "whether the pod's ServiceAccount is there cannot be known");
        }
        if snapshot.namespaces.is_empty() && snapshot.resource_quotas.is_empty() && snapshot.limit_ranges.is_empty() {
            none("resourcequotas", "whether a quota has room cannot be known");
            none("limitranges", "whether a LimitRange allows the pod cannot be known");
        }
    }
    let applied = if proposed.before.is_some() { "patch" } else { "create" };
    for (verb, resource, answer) in
        proposed.server.iter().flat_map(|s| [(applied, "daemonsets.apps", &s.daemon_set), ("create", "pods", &s.pod)])
    {
        if answer.allowed.is_none() && !answer.message.is_empty() {
            let namespace = Some(proposed.ds.metadata.namespace.clone());
            let gap = Gap { verb: verb.into(), resource: resource.into(), namespace, reason: answer.message.clone() };
            missing.push(Missing::new(&gap, "what the API server would say was not told"));
        }
    }
    let known: BTreeSet<Missing> = missing.into_iter().collect();
    known.into_iter().collect()
}
