//! From a snapshot to a report. Pure: what it says depends on the snapshot alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cause::{Cause, Fact, Severity, Stage};
use crate::controller::creation::not_created;
use crate::controller::recount::{Counters, Tally, recount};
use crate::controller::should_run::{Decision, decide};
use crate::controller::{
    daemon_set_terminating, empty_selector, misscheduled, no_eligible_nodes, node_gone, ownership, pod_orphaned, project_selector,
    selector_overlap, status_disagrees, status_stale,
};
use crate::filter::{Cycle, Filter, Memo, PLUGINS, Verdict, Want, filters_of};
use crate::model::affinity::Toleration;
use crate::model::daemon_pod::{DaemonPod, daemon_pod};
use crate::model::daemon_set::DaemonSet;
use crate::model::index::{Events, Index, Neighbours};
use crate::model::node::Node;
use crate::model::node_info::NodeInfo;
use crate::model::pod::Pod;
use crate::model::snapshot::{Gap, Snapshot};
use crate::model::toleration::daemon_pod_tolerations;
use crate::model::version::Features;
use crate::report::{
    API_VERSION, Check, CheckVerdict, DaemonSetSummary, Missing, NodeReport, Outcome, PodReport, Preemption, Report, State, StatusCounters,
    Summary,
};
use crate::rollout;
use crate::scheduling::preemption::DryRun;

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Only these nodes; empty for all.
    pub nodes: BTreeSet<String>,
    /// Try no remedies, only say what is.
    pub without_remedies: bool,
    /// Ask the filters nothing of nodes that are well.
    pub without_checks: bool,
}

/// The DaemonSet with everything about it that several checks need.
pub struct Subject<'a> {
    /// The cluster.
    pub snapshot: &'a Snapshot,
    /// What its version has switched on.
    pub features: Features,
    /// The DaemonSet.
    pub ds: &'a DaemonSet,
    /// The current revision's hash, if it is known.
    pub hash: Option<&'a str>,
    /// Its pods by node, in the controller's order.
    pub pods: BTreeMap<&'a str, Vec<&'a Pod>>,
    /// Every node with the pods on it.
    pub nodes: Arc<[NodeInfo<'a>]>,
    /// The events.
    pub events: Arc<Events<'a>>,
    /// The pods of each namespace.
    pub neighbours: Arc<Neighbours<'a>>,
    /// The pod that the controller would make now.
    pub fresh: DaemonPod,
    /// What the filters counted once.
    pub memo: Memo,
}

impl<'a> Subject<'a> {
    /// Gathers it.
    pub fn new(snapshot: &'a Snapshot, ds: &'a DaemonSet) -> Self {
        Subject::of(&Index::new(snapshot), ds)
    }

    /// Gathers it from what is looked up for all DaemonSets.
    pub fn of(index: &Index<'a>, ds: &'a DaemonSet) -> Self {
        let snapshot = index.snapshot;
        let hash = ownership::current_hash(ds, &snapshot.controller_revisions);
        Subject {
            snapshot,
            features: index.features,
            ds,
            hash,
            pods: ownership::pods_by_node(ds, index.pods_of(ds)),
            nodes: index.nodes.clone(),
            events: index.events.clone(),
            neighbours: index.neighbours.clone(),
            fresh: daemon_pod(ds, hash, snapshot),
            memo: Memo::default(),
        }
    }

    /// The same with another DaemonSet and other nodes; `template_changed` if its pods will be of
    /// a revision that does not exist yet.
    pub fn with<'b>(&self, ds: &'b DaemonSet, nodes: Arc<[NodeInfo<'b>]>, template_changed: bool) -> Subject<'b>
    where
        'a: 'b,
    {
        let hash = self.hash.filter(|_| !template_changed);
        Subject {
            snapshot: self.snapshot,
            features: self.features,
            ds,
            hash,
            pods: self.pods.clone(),
            nodes,
            events: self.events.clone(),
            neighbours: self.neighbours.clone(),
            fresh: daemon_pod(ds, hash, self.snapshot),
            memo: Memo::default(),
        }
    }

    /// True if the pod is of the current revision; `None` if that cannot be told.
    pub fn is_updated(&self, pod: &Pod) -> Option<bool> {
        ownership::is_updated(self.ds, self.hash, pod)
    }

    /// True if the pod is available now.
    pub fn is_available(&self, pod: &Pod) -> bool {
        pod.is_available(self.ds.spec.min_ready_seconds, self.snapshot.now)
    }

    /// `DaemonSet/namespace/name`, as evidence names it.
    pub fn object(&self) -> String {
        format!("DaemonSet/{}", self.ds.metadata.full_name())
    }

    /// The cycle that judges the pod to be. `name` is its stand-in name.
    pub fn fresh_cycle<'s>(&'s self, name: &'s str) -> Cycle<'s> {
        Cycle {
            snapshot: self.snapshot,
            features: self.features,
            daemon_set: self.ds,
            namespace: &self.fresh.namespace,
            pod_name: name,
            pod_uid: "",
            claim_statuses: &[],
            labels: &self.fresh.labels,
            spec: &self.fresh.spec,
            pod: None,
            nodes: &self.nodes,
            added_selector: &self.fresh.added_selector,
            memo: &self.memo,
        }
    }

    /// The pod that waits for the node, if claims are made for the DaemonSet's pods by their names.
    pub fn claimant(&self, node: &str) -> Option<&'a Pod> {
        let spec = &self.fresh.spec;
        if spec.resource_claims.is_empty() && !spec.volumes.iter().any(|v| v.is_ephemeral()) {
            return None;
        }
        let pods = self.pods.get(node).map_or(&[][..], Vec::as_slice);
        pods.iter().copied().filter(|p| p.node_name().is_none() && !p.is_terminal()).min_by_key(|p| &p.metadata.name)
    }

    /// The cycle of the pod to be with the name of the pod that waits in its place and the claims that were made for that one.
    pub fn named_cycle<'s>(&'s self, waiting: &'s Pod) -> Cycle<'s> {
        Cycle {
            pod_uid: &waiting.metadata.uid,
            claim_statuses: &waiting.status.resource_claim_statuses,
            ..self.fresh_cycle(&waiting.metadata.name)
        }
    }

    /// The cycle that judges a live pod as it is.
    pub fn live_cycle<'s>(&'s self, pod: &'s Pod) -> Cycle<'s> {
        Cycle {
            snapshot: self.snapshot,
            features: self.features,
            daemon_set: self.ds,
            namespace: &pod.metadata.namespace,
            pod_name: &pod.metadata.name,
            pod_uid: &pod.metadata.uid,
            claim_statuses: &pod.status.resource_claim_statuses,
            labels: &pod.metadata.labels,
            spec: &pod.spec,
            pod: Some(pod),
            nodes: &self.nodes,
            added_selector: &self.fresh.added_selector,
            memo: &self.memo,
        }
    }
}

/// The pod to be has no name yet; upstream's generator puts five characters behind this.
pub fn stand_in_name(ds: &DaemonSet) -> String {
    format!("{}-xxxxx", ds.metadata.name)
}

/// Diagnoses one DaemonSet of the snapshot.
pub fn diagnose(snapshot: &Snapshot, ds: &DaemonSet, options: &Options) -> Report {
    diagnose_of(&Index::new(snapshot), ds, options)
}

/// Diagnoses one DaemonSet of several of a snapshot.
pub fn diagnose_of(index: &Index, ds: &DaemonSet, options: &Options) -> Report {
    let snapshot = index.snapshot;
    let subject = Subject::of(index, ds);
    let decisions = decisions(&subject);

    let counters = recount(subject.nodes.iter().map(|info| tally(&subject, &decisions, info)));
    let mut causes = Vec::new();
    let mut nodes = judge_nodes(&subject, &decisions, options);
    nodes.extend(gone_nodes(&subject, &mut causes));
    nodes.sort_by(|a, b| a.name.cmp(&b.name));

    let mut rollout = rollout::status::status(ds, counters.desired_number_scheduled);
    workload_causes(&subject, &decisions, &counters, &mut causes);
    crate::rollout::assess(&subject, &decisions, &mut nodes, &mut rollout, &mut causes);

    let correlations = rollout::correlation::correlate(&subject, &mut nodes);

    put_in_order(&mut causes, &mut nodes);
    if !options.without_remedies {
        crate::remedy::propose(&subject, &mut nodes);
        crate::remedy::by_hand::add(ds, true, &mut causes, &mut nodes);
    }
    let advice = crate::lint::advise(&subject, &nodes, &causes);
    // Only now: what holds the rollout up is found on other nodes, too.
    nodes.retain(|n| wanted(options, &n.name));
    let missing = missing(snapshot);
    let mut summary = summarize(&nodes, &causes, &missing);
    // What seems to be on its way by a guess of the time may have been stuck for long.
    let on_its_way = |n: &NodeReport| matches!(n.state, State::Unhealthy | State::Terminating) && n.should_run == Some(true);
    if summary.verdict == Outcome::Healthy && !tells_time(snapshot) && nodes.iter().any(on_its_way) {
        summary.verdict = Outcome::Inconclusive;
    }
    Report {
        api_version: API_VERSION,
        kind: "DaemonSetReport",
        now: snapshot.now,
        server_version: snapshot.version_text.clone().unwrap_or_else(|| snapshot.version.to_string()),
        daemon_set: about(ds, counters),
        preflight: None,
        summary,
        rollout,
        causes,
        correlations,
        advice,
        nodes,
        missing,
    }
}

/// Orders the causes of the whole and of each node, and says none of a node twice.
pub fn put_in_order(causes: &mut [Cause], nodes: &mut [NodeReport]) {
    causes.sort_by(|a, b| a.order().cmp(&b.order()));
    for node in nodes {
        node.causes.sort_by(|a, b| a.order().cmp(&b.order()));
        node.causes.dedup_by(|a, b| a.order() == b.order());
    }
}

/// The DaemonSet as the report has it, with the recount of its status.
pub fn about(ds: &DaemonSet, recount: Counters) -> DaemonSetSummary {
    DaemonSetSummary {
        namespace: ds.metadata.namespace.clone(),
        name: ds.metadata.name.clone(),
        generation: ds.metadata.generation,
        node_selector: ds.spec.template.spec.node_selector.clone(),
        status: StatusCounters { observed_generation: ds.status.observed_generation, counters: Counters::from(&ds.status) },
        recount,
    }
}

/// The controller's decision on every node, by name.
pub fn decisions<'a>(subject: &Subject<'a>) -> BTreeMap<&'a str, Decision> {
    let tolerations = daemon_pod_tolerations(&subject.ds.spec.template.spec);
    subject.nodes.iter().map(|info| (info.node.name(), decide_for(subject, &tolerations, info.node))).collect()
}

/// The controller's decision, with the project's selector where the cluster is OpenShift.
pub fn decide_for(subject: &Subject, tolerations: &[Toleration], node: &Node) -> Decision {
    let mut decision = decide(subject.ds, tolerations, node, &subject.features);
    if let Some(selector) = &subject.fresh.namespace_selector {
        project_selector::restrict(subject.ds, selector, node, &mut decision);
    }
    decision
}

/// What the controller counts of one node.
pub fn tally(subject: &Subject, decisions: &BTreeMap<&str, Decision>, info: &NodeInfo) -> Tally {
    let oldest = subject.pods.get(info.node.name()).and_then(|pods| pods.first());
    Tally {
        should_run: decisions.get(info.node.name()).is_some_and(|d| d.should_run),
        has_pod: oldest.is_some(),
        ready: oldest.is_some_and(|p| p.is_ready()),
        available: oldest.is_some_and(|p| subject.is_available(p)),
        updated: oldest.and_then(|p| subject.is_updated(p)),
    }
}

fn wanted(options: &Options, name: &str) -> bool {
    options.nodes.is_empty() || options.nodes.contains(name)
}

fn judge_nodes(subject: &Subject, decisions: &BTreeMap<&str, Decision>, options: &Options) -> Vec<NodeReport> {
    let name = stand_in_name(subject.ds);
    let cycle = subject.fresh_cycle(&name);
    let filters = filters_of(&cycle);
    let lacking = crate::controller::creation::causes(subject);
    let orphans = pod_orphaned::adoptable(subject);
    let mut nodes = Vec::new();
    for info in subject.nodes.iter() {
        let Some(decision) = decisions.get(info.node.name()) else { continue };
        let pods = subject.pods.get(info.node.name()).map_or(&[][..], Vec::as_slice);
        let without_own;
        let unasked = options.without_checks && is_well(subject, info.node, pods);
        let is_own = |pod: &Pod| pods.iter().any(|own| std::ptr::eq(*own, pod));
        let as_found = if !unasked && !pods.is_empty() && info.pods.iter().any(|p| is_own(p)) {
            without_own = info.without(&subject.features, is_own);
            &without_own
        } else {
            info
        };
        // Claims are made for the pod by name: where one waits for the node, those are its own.
        let (checks, preemption) = match subject.claimant(info.node.name()).map(|p| subject.named_cycle(p)) {
            _ if unasked => Default::default(),
            Some(cycle) => ask(&cycle, &filters_of(&cycle), as_found),
            None => ask(&cycle, &filters, as_found),
        };
        let mut node = NodeReport {
            name: info.node.name().to_string(),
            state: State::Unknown,
            should_run: Some(decision.should_run),
            should_continue_running: Some(decision.should_continue),
            pods: pods.iter().map(|p| pod_report(subject, p)).collect(),
            checks,
            preemption,
            causes: Vec::new(),
        };
        let orphan = orphans.get(info.node.name()).copied();
        judge(subject, info, decision, (pods, orphan), &lacking, &mut node);
        nodes.push(node);
    }
    nodes
}

/// What each filter says of the node, and what preemption would do.
fn ask<'s>(cycle: &Cycle<'s>, filters: &[Filter<'s>], info: &NodeInfo<'s>) -> (Vec<Check>, Option<Preemption>) {
    let verdicts: Vec<Verdict> = filters.iter().map(|filter| filter(info, Want::Verdict)).collect();
    let preemption = DryRun::new(cycle, filters, info).outcome_after(&verdicts);
    (PLUGINS.iter().zip(verdicts).map(|(p, verdict)| check(p.name, verdict)).collect(), preemption)
}

/// One filter's verdict as the report has it.
pub fn check(plugin: &'static str, verdict: Verdict) -> Check {
    match verdict {
        Verdict::Pass => Check { plugin, verdict: CheckVerdict::Pass, reasons: Vec::new() },
        Verdict::Fail(f) => Check { plugin, verdict: CheckVerdict::Fail, reasons: f.reasons.iter().map(|r| r.to_string()).collect() },
        Verdict::Unknown(why) => Check { plugin, verdict: CheckVerdict::Unknown, reasons: vec![why] },
    }
}

/// One pod as the report has it.
pub fn pod_report(subject: &Subject, pod: &Pod) -> PodReport {
    let terminating = pod.is_terminating();
    let statuses = pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
    PodReport {
        name: pod.metadata.name.clone(),
        phase: pod.status.phase.clone(),
        bound: pod.node_name().is_some(),
        ready: pod.is_ready() && !terminating,
        available: subject.is_available(pod) && !terminating,
        up_to_date: subject.is_updated(pod),
        terminating,
        restarts: statuses.map(|s| i64::from(s.restart_count)).sum(),
        created: pod.metadata.creation_timestamp,
        scheduler_message: pod
            .condition("PodScheduled")
            .filter(|c| c.status == "False" && pod.node_name().is_none())
            .map(|c| c.message.clone()),
    }
}

/// True if one of the pods of a node that should have one is as it should be.
fn is_well(subject: &Subject, node: &Node, pods: &[&Pod]) -> bool {
    pods.iter().any(|p| !p.is_terminating() && is_good(subject, node, p) && is_current(subject, p))
}

/// Of a silent kubelet even Ready is an old word.
fn is_good(subject: &Subject, node: &Node, pod: &Pod) -> bool {
    pod.node_name().is_some() && pod.is_ready() && subject.is_available(pod) && !node.is_silent()
}

fn is_current(subject: &Subject, pod: &Pod) -> bool {
    subject.is_updated(pod) != Some(false)
}

/// Finds the node's state and causes.
///
/// `orphan` is a pod for the node that the controller has not adopted yet; `lacking` is why a pod is not made.
fn judge(
    subject: &Subject,
    info: &NodeInfo,
    decision: &Decision,
    (pods, orphan): (&[&Pod], Option<&Pod>),
    lacking: &[Cause],
    node: &mut NodeReport,
) {
    // Where pods could not be read, a status that counts none still tells that there are none.
    let status = &subject.ds.status;
    let counted = subject.ds.metadata.generation > 0 && status.current_number_scheduled == 0 && status.number_misscheduled == 0;
    let pods_known = subject.snapshot.knows_pods_in(&subject.ds.metadata.namespace) || counted;
    let live: Vec<&Pod> = pods.iter().copied().filter(|p| !p.is_terminating()).collect();
    if !decision.should_run {
        node.causes.extend(decision.causes.iter().cloned());
        node.state = State::Excluded;
        if let Some(cause) = misscheduled::cause(decision, pods) {
            node.state = State::Misscheduled;
            node.causes.push(cause);
        } else if !pods.is_empty() && live.is_empty() {
            node.state = State::Terminating;
        }
        // Of a pod that is not wanted only its end matters, and whether its node is there to confirm it.
        for pod in pods {
            node.causes.extend(crate::lifecycle::leaving(subject, info, pod));
        }
        return;
    }
    if pods.is_empty() {
        node.state = if pods_known { State::Missing } else { State::Unknown };
        if let Some(pod) = orphan {
            // It is adopted, not made: what refuses new pods does not bear on the node.
            node.causes.extend(lacking.iter().filter(|c| pod_orphaned::bears(c)).cloned());
            node.causes.push(pod_orphaned::cause(subject, pod));
        } else if pods_known {
            node.causes.extend(lacking.iter().map(|c| not_created::on_node(c, info.node, subject.snapshot.now)));
            // Where nothing keeps the controller from making a pod, how the last one ended says more.
            if node.causes.iter().any(not_created::is_it) {
                let ended = crate::lifecycle::pod_recreated::causes(subject, info.node.name());
                if !ended.is_empty() {
                    node.causes.retain(|c| !not_created::is_it(c));
                    node.causes.extend(ended);
                }
            }
        }
        return;
    }
    if live.is_empty() {
        node.state = State::Terminating;
        for pod in pods {
            node.causes.extend(crate::lifecycle::causes(subject, Some(info), pod));
        }
        return;
    }
    if is_well(subject, info.node, pods) {
        node.state = State::Healthy;
        return;
    }
    let good = |p: &&&Pod| is_good(subject, info.node, p);
    let current = |p: &&&Pod| is_current(subject, p);
    // With maxSurge a ready old pod stays while the new one is on its way: the new one is judged.
    let old_ready = live.iter().find(|p| good(p) && !current(p));
    let judged = live.iter().find(|p| current(p) && !good(p)).or_else(|| live.iter().find(|p| !good(p)));
    match (judged, old_ready) {
        (Some(pod), old) => {
            let (state, causes) = judge_pod(subject, info, pod, node);
            node.state = if old.is_some() { State::Outdated } else { state };
            node.causes.extend(causes);
        }
        (None, Some(pod)) => {
            node.state = State::Outdated;
            node.causes.push(rollout::old_revision::cause(subject, pod));
        }
        (None, None) => {}
    }
}

/// The state and causes of a pod that is not as it should be.
fn judge_pod(subject: &Subject, info: &NodeInfo, pod: &Pod, node: &mut NodeReport) -> (State, Vec<Cause>) {
    if pod.status.phase == "Failed" || pod.status.phase == "Succeeded" {
        return (State::Rejected, crate::lifecycle::causes(subject, Some(info), pod));
    }
    if pod.node_name().is_some() {
        return (State::Unhealthy, crate::lifecycle::causes(subject, Some(info), pod));
    }
    let (causes, preemption) = crate::scheduling::causes(subject, info, pod);
    node.preemption = preemption;
    (State::Pending, causes)
}

/// What the filters (those of [`PLUGINS`], in their order) say of a live pod on the node that it
/// is pinned to, and whether one of them could not tell.
pub fn filter_causes<'a>(filters: &[Filter<'a>], info: &NodeInfo<'a>) -> (Vec<Cause>, bool) {
    let (mut causes, mut unknown) = (Vec::new(), false);
    for (plugin, filter) in PLUGINS.iter().zip(filters) {
        match filter(info, Want::Findings) {
            Verdict::Pass => {}
            Verdict::Unknown(_) => unknown = true,
            Verdict::Fail(failure) => causes.extend(failure.findings.into_iter().map(|finding| {
                let mut cause = Cause::new(plugin.entry, finding.detail, finding.message).stage(Stage::Scheduling).fact(finding.fact);
                cause.evidence = finding.evidence;
                cause
            })),
        }
    }
    // A claim that cannot be used fails every volume check; one of them says it.
    let told: Vec<Fact> = causes.iter().filter(|c| c.code == "VolumeBinding" && is_claim(&c.fact)).map(|c| c.fact.clone()).collect();
    causes.retain(|c| c.code == "VolumeBinding" || !told.contains(&c.fact));
    (causes, unknown)
}

fn is_claim(fact: &Fact) -> bool {
    matches!(fact, Fact::Claim { .. })
}

/// Nodes that do not exist but have pods of the DaemonSet bound to them.
fn gone_nodes(subject: &Subject, causes: &mut Vec<Cause>) -> Vec<NodeReport> {
    let known: BTreeSet<&str> = subject.nodes.iter().map(|i| i.node.name()).collect();
    let complete = subject.snapshot.nodes.is_complete();
    let mut nodes = Vec::new();
    for (name, pods) in &subject.pods {
        if known.contains(name) || !pods.iter().any(|p| p.node_name().is_some()) {
            continue;
        }
        let mut node = NodeReport {
            name: name.to_string(),
            state: if complete { State::Misscheduled } else { State::Unknown },
            should_run: complete.then_some(false),
            should_continue_running: complete.then_some(false),
            pods: pods.iter().map(|p| pod_report(subject, p)).collect(),
            checks: Vec::new(),
            preemption: None,
            causes: Vec::new(),
        };
        if complete && let Some(pod) = pods.first() {
            node.causes.push(node_gone::cause(name, pod));
            let mut cause = node_gone::cause(name, pod);
            cause.detail = name.to_string();
            causes.push(cause);
            for pod in pods.iter().filter(|p| p.is_terminating()) {
                node.state = State::Terminating;
                node.causes.extend(crate::lifecycle::causes(subject, None, pod));
            }
        } else {
            for pod in pods.iter().filter(|p| !(p.is_ready() && subject.is_available(p))) {
                node.causes.extend(crate::lifecycle::causes(subject, None, pod));
            }
        }
        nodes.push(node);
    }
    nodes
}

fn workload_causes(subject: &Subject, decisions: &BTreeMap<&str, Decision>, counters: &Counters, causes: &mut Vec<Cause>) {
    let ds = subject.ds;
    let complete = subject.snapshot.nodes.is_complete();
    if complete && !decisions.is_empty() && decisions.values().all(|d| !d.should_run) {
        causes.push(no_eligible_nodes::cause(ds, decisions.len()));
    }
    causes.extend(selector_overlap::causes(subject));
    if ds.metadata.is_terminating() {
        causes.push(daemon_set_terminating::cause(ds));
        return;
    }
    if let Some(cause) = empty_selector::cause(ds) {
        causes.push(cause);
        return;
    }
    match status_stale::lag(ds) {
        Some(lag) => causes.push(status_stale::workload_cause(ds, lag)),
        // Without any generation the DaemonSet was never on an API server.
        None if complete && subject.snapshot.knows_pods_in(&ds.metadata.namespace) && ds.metadata.generation > 0 => {
            causes.extend(status_disagrees::causes(ds, &Counters::from(&ds.status), counters));
        }
        None => {}
    }
}

/// What each kind that was not read keeps from being judged, if it does.
pub fn missing(snapshot: &Snapshot) -> Vec<Missing> {
    let timeless = !tells_time(snapshot);
    let mut missing: Vec<Missing> = snapshot.all_gaps().map(|gap| Missing::new(gap, effect(gap, timeless))).collect();
    missing.sort();
    missing.dedup();
    missing
}

/// True if the moment of the snapshot is known, or events show that it is not far from the newest one in the files.
fn tells_time(snapshot: &Snapshot) -> bool {
    !snapshot.now_is_guessed || snapshot.events.is_complete()
}

fn effect(gap: &Gap, timeless: bool) -> &'static str {
    match gap.resource.as_str() {
        "nodes" => "which nodes there are and what they have cannot be known",
        "pods" => "which pods there are and what is taken on the nodes cannot be known",
        "events" if timeless => {
            "what the controller, scheduler and kubelet last said cannot be known, nor when this was saved: what seems to be starting may be stuck"
        }
        "events" => "what the controller, scheduler and kubelet last said cannot be known",
        "controllerrevisions.apps" => "which pods are of the current revision cannot be known",
        _ => "checks that depend on it cannot be judged",
    }
}

/// The answer in numbers.
pub fn summarize(nodes: &[NodeReport], causes: &[Cause], missing: &[Missing]) -> Summary {
    let mut states = BTreeMap::new();
    for node in nodes {
        *states.entry(node.state).or_insert(0) += 1;
    }
    let worst = causes.iter().chain(nodes.iter().flat_map(|n| &n.causes)).map(|c| c.severity).max();
    let bad = nodes.iter().any(|n| matches!(n.state, State::Missing | State::Rejected | State::Pending));
    let verdict = if worst == Some(Severity::Error) || bad {
        Outcome::Problems
    } else if nodes.iter().any(|n| n.state == State::Unknown) || missing.iter().any(|m| m.resource != "events") {
        Outcome::Inconclusive
    } else {
        Outcome::Healthy
    };
    Summary { nodes: nodes.len(), states, verdict }
}
