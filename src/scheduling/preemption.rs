//! Preemption: whether pods of lower priority would be evicted from the node to make room.
//!
//! Upstream: `SelectVictimsOnNode` and `PodEligibleToPreemptOthers` of
//! `pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go`, `findCandidates` of
//! `pkg/scheduler/framework/preemption/preemption.go`, `RunFilterPluginsWithNominatedPods` of
//! `pkg/scheduler/framework/runtime/framework.go` (v1.34.3, v1.37.2). A DaemonSet's pod is pinned,
//! so its own node is the only candidate.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::filter::{Cycle, Filter, PLUGINS, Verdict, Want};
use crate::model::node_info::NodeInfo;
use crate::model::pod::Pod;
use crate::model::policy::PodDisruptionBudget;
use crate::model::selector::{is_empty, selects};
use crate::model::version::ServerVersion;
use crate::report::Preemption;

/// Why the pod does not fit: the first filter in upstream's order that says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The plugin.
    pub plugin: &'static str,
    /// Its words; for an unknown verdict what is not known.
    pub reason: String,
    /// True if removing pods from the node cannot help.
    pub unresolvable: bool,
    /// True if the plugin could not judge.
    pub unknown: bool,
    /// True if only the pods nominated to the node make it refuse.
    pub for_nominated: bool,
}

impl Refusal {
    /// What a plugin's verdict says against the pod.
    fn of(plugin: &'static str, verdict: &Verdict) -> Option<Refusal> {
        let refusal = |reason, unresolvable, unknown| Some(Refusal { plugin, reason, unresolvable, unknown, for_nominated: false });
        match verdict {
            Verdict::Pass => None,
            Verdict::Fail(f) => refusal(f.reasons.join(", "), f.unresolvable, false),
            Verdict::Unknown(why) => refusal(why.clone(), false, true),
        }
    }
}

/// The pods that would be evicted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Victims<'a> {
    /// All of them, most important first.
    pub pods: Vec<&'a Pod>,
    /// Those whose PodDisruptionBudget would be violated.
    pub violating: Vec<&'a Pod>,
}

/// The dry run for one pod on one node.
pub struct DryRun<'c, 'a> {
    cycle: &'c Cycle<'a>,
    /// Those of [`PLUGINS`], in their order.
    filters: &'c [Filter<'a>],
    /// The node as the pod finds it.
    info: &'c NodeInfo<'a>,
    /// Pods of at least the pod's priority that are to come to the node.
    nominated: Vec<&'a Pod>,
}

impl<'c, 'a> DryRun<'c, 'a> {
    /// A dry run with the filters of this cycle.
    pub fn new(cycle: &'c Cycle<'a>, filters: &'c [Filter<'a>], info: &'c NodeInfo<'a>) -> Self {
        DryRun { cycle, filters, info, nominated: nominated(cycle, info.node.name()) }
    }

    /// The pods of at least the pod's priority that are nominated to the node.
    pub fn nominated(&self) -> &[&'a Pod] {
        &self.nominated
    }

    /// Why the pod does not fit on the node as it is, if it does not.
    pub fn refusal(&self) -> Option<Refusal> {
        self.refusal_on(self.info)
    }

    /// Both with and without the nominated pods the filters have to pass.
    fn refusal_on(&self, info: &NodeInfo<'a>) -> Option<Refusal> {
        if self.nominated.is_empty() {
            return self.first_refusal(info);
        }
        let mut crowded = info.clone();
        self.nominated.iter().for_each(|pod| crowded.add(pod, &self.cycle.features));
        match (self.first_refusal(&crowded), self.first_refusal(info)) {
            (Some(refusal), None) => Some(Refusal { for_nominated: true, ..refusal }),
            (crowded, plain) => crowded.or(plain),
        }
    }

    fn first_refusal(&self, info: &NodeInfo<'a>) -> Option<Refusal> {
        PLUGINS.iter().zip(self.filters).find_map(|(plugin, filter)| Refusal::of(plugin.name, &filter(info, Want::Verdict)))
    }

    /// The pods of lower priority on the node, most important first; those that upstream holds
    /// equal by name.
    pub fn candidates(&self) -> Vec<&'a Pod> {
        let priority = priority(self.cycle);
        let mut pods: Vec<&Pod> = self.info.pods.iter().copied().filter(|p| p.priority() < priority).collect();
        pods.sort_by(|a, b| {
            importance(a, b).then_with(|| (&a.metadata.namespace, &a.metadata.name).cmp(&(&b.metadata.namespace, &b.metadata.name)))
        });
        pods
    }

    /// Which of the candidates (most important first) would have to go; why not, if that does
    /// not help.
    pub fn victims(&self, candidates: &[&'a Pod]) -> Result<Victims<'a>, Refusal> {
        let features = &self.cycle.features;
        let mut info = self.info.without(features, |pod| candidates.iter().any(|c| std::ptr::eq(*c, pod)));
        if let Some(refusal) = self.refusal_on(&info) {
            return Err(refusal);
        }
        let (violating, others) = by_budget(candidates, &self.cycle.snapshot.pod_disruption_budgets, self.cycle.snapshot.version);
        let mut victims = Victims::default();
        for (pod, violates) in violating.iter().map(|p| (*p, true)).chain(others.iter().map(|p| (*p, false))) {
            info.add(pod, features);
            if self.refusal_on(&info).is_none() {
                continue;
            }
            info = info.without(features, |p| std::ptr::eq(p, pod));
            victims.pods.push(pod);
            if violates {
                victims.violating.push(pod);
            }
        }
        victims.pods.sort_by_key(|p| candidates.iter().position(|c| std::ptr::eq(*c, *p)));
        Ok(victims)
    }

    /// What preemption would do for the pod; `None` if the pod needs none.
    pub fn outcome(&self) -> Option<Preemption> {
        self.outcome_of(self.refusal()?)
    }

    /// The same where the filters were asked already, of the node as it is.
    pub fn outcome_after(&self, verdicts: &[Verdict]) -> Option<Preemption> {
        if !self.nominated.is_empty() {
            return self.outcome();
        }
        self.outcome_of(PLUGINS.iter().zip(verdicts).find_map(|(plugin, verdict)| Refusal::of(plugin.name, verdict))?)
    }

    fn outcome_of(&self, refusal: Refusal) -> Option<Preemption> {
        let no = |reason: String| Some(Preemption { reason, ..Preemption::default() });
        if refusal.unknown {
            return no(format!("it cannot be told: {}", refusal.reason));
        }
        if self.cycle.spec.preemption_policy.as_deref() == Some("Never") {
            return no("the pod's preemptionPolicy is Never".into());
        }
        let waiting = self.waiting_for();
        if !waiting.is_empty() && !refusal.unresolvable {
            return no(format!("under way: waiting for {} to end", names(&waiting).join(", ")));
        }
        if refusal.unresolvable {
            return no(format!("not helpful: removing pods from the node does not change that {}", refusal.reason));
        }
        let (candidates, priority) = (self.candidates(), priority(self.cycle));
        if candidates.is_empty() {
            return no(format!("no victims: no pod on the node has a priority below {priority}"));
        }
        match self.victims(&candidates) {
            Err(r) if r.unknown => no(format!("it cannot be told: {}", r.reason)),
            Err(r) => {
                no(format!("not helpful: without the {} pods of a priority below {priority} there still is {}", candidates.len(), r.reason))
            }
            Ok(victims) if victims.pods.is_empty() => no("no victims: with the pods taken off and put back the pod fits".into()),
            Ok(victims) => Some(Preemption {
                possible: true,
                reason: format!("pods of lower priority than {priority} would be evicted"),
                victims: names(&victims.pods),
                violating: names(&victims.violating),
            }),
        }
    }

    /// The victims of an earlier preemption that this pod, nominated to the node, waits for. A pod
    /// to be stands in for the DaemonSet's pod that is nominated.
    pub fn waiting_for(&self) -> Vec<&'a Pod> {
        let is_nominated = match self.cycle.pod {
            Some(pod) => pod.status.nominated_node_name == self.info.node.name(),
            None => nominated_to(self.cycle, self.info.node.name()).any(|p| self.cycle.owns(p)),
        };
        if !is_nominated {
            return Vec::new();
        }
        let priority = priority(self.cycle);
        let mut pods: Vec<&Pod> = self.info.pods.iter().copied().filter(|p| p.priority() < priority && ends_by_preemption(p)).collect();
        pods.sort_by(|a, b| (&a.metadata.namespace, &a.metadata.name).cmp(&(&b.metadata.namespace, &b.metadata.name)));
        pods
    }
}

fn names(pods: &[&Pod]) -> Vec<String> {
    pods.iter().map(|p| p.full_name()).collect()
}

fn priority(cycle: &Cycle) -> i32 {
    cycle.spec.priority.unwrap_or(0)
}

/// True if the pod is being deleted because the scheduler preempted it.
fn ends_by_preemption(pod: &Pod) -> bool {
    pod.is_terminating() && pod.condition("DisruptionTarget").is_some_and(|c| c.status == "True" && c.reason == "PreemptionByScheduler")
}

/// The more important pod first: higher priority, then started earlier; not started is latest.
pub fn importance(a: &Pod, b: &Pod) -> Ordering {
    let started = |p: &Pod| (p.start_time().is_none(), p.start_time());
    b.priority().cmp(&a.priority()).then_with(|| started(a).cmp(&started(b)))
}

/// The pods in a scheduler's queue that are nominated to the node.
fn nominated_to<'a>(cycle: &Cycle<'a>, node: &str) -> impl Iterator<Item = &'a Pod> {
    let pods = &cycle.snapshot.pods;
    let index = cycle.memo.get("nominated pods", || {
        let mut index: HashMap<String, Vec<usize>> = HashMap::new();
        for (i, pod) in pods.iter().enumerate() {
            if !pod.status.nominated_node_name.is_empty() && is_queued(cycle, pod) {
                index.entry(pod.status.nominated_node_name.clone()).or_default().push(i);
            }
        }
        index
    });
    index.get(node).cloned().unwrap_or_default().into_iter().filter_map(|i| pods.get(i))
}

/// Pods of at least the pod's priority that its scheduler has nominated to the node, in order of
/// their names. What the DaemonSet owns is left out for a pod to be.
fn nominated<'a>(cycle: &Cycle<'a>, node: &str) -> Vec<&'a Pod> {
    let scheduler = |name: &str| if name.is_empty() { "default-scheduler".to_string() } else { name.to_string() };
    let own_scheduler = scheduler(&cycle.spec.scheduler_name);
    let itself = |p: &Pod| match cycle.pod {
        Some(pod) => p.metadata.namespace == pod.metadata.namespace && p.metadata.name == pod.metadata.name,
        None => cycle.owns(p),
    };
    let mut found: Vec<&Pod> = nominated_to(cycle, node)
        .filter(|p| p.priority() >= priority(cycle) && !itself(p) && scheduler(&p.spec.scheduler_name) == own_scheduler)
        .collect();
    found.sort_by(|a, b| (&a.metadata.namespace, &a.metadata.name).cmp(&(&b.metadata.namespace, &b.metadata.name)));
    found
}

/// True if the scheduler heeds the pod's nomination, be the pod ending. Up to 1.36 that is so only once
/// the pod waits in the queue: a gated pod or one whose claims do not exist (upstream: `PreEnqueue`
/// of SchedulingGates and DynamicResources) does not.
fn is_queued(cycle: &Cycle, pod: &Pod) -> bool {
    let claims = || {
        pod.spec.resource_claims.iter().all(|claim| {
            let of_template = || pod.status.resource_claim_statuses.iter().find(|s| s.name == claim.name);
            let name = match &claim.resource_claim_name {
                Some(name) => Some(name),
                None => match of_template() {
                    Some(status) => match &status.resource_claim_name {
                        Some(name) => Some(name),
                        // The template turned out to need no claim.
                        None => return true,
                    },
                    None => None,
                },
            };
            let claims = &cycle.snapshot.resource_claims;
            let found = |name: &String| claims.iter().find(|c| c.metadata.namespace == pod.metadata.namespace && c.metadata.name == *name);
            name.and_then(found).is_some_and(|c| !c.metadata.is_terminating())
        })
    };
    pod.node_name().is_none()
        && !pod.is_terminal()
        && (cycle.features.gated_nominations || pod.spec.scheduling_gates.is_empty() && (!cycle.features.dynamic_resources || claims()))
}

/// Splits the pods, in their order, into those whose eviction a budget does not allow and the
/// others. Each pod uses up what its budgets allow.
fn by_budget<'a>(pods: &[&'a Pod], budgets: &[PodDisruptionBudget], version: ServerVersion) -> (Vec<&'a Pod>, Vec<&'a Pod>) {
    let mut budgets: Vec<(&PodDisruptionBudget, i64)> = budgets.iter().map(|b| (b, b.status.disruptions_allowed.into())).collect();
    budgets.sort_by(|(a, _), (b, _)| a.metadata.name.cmp(&b.metadata.name));
    // From 1.37 on the first violated budget ends the look at a pod.
    let one_is_enough = version >= ServerVersion { major: 1, minor: 37 };
    pods.iter().copied().partition(|pod| {
        let mut violates = false;
        for (budget, allowed) in &mut budgets {
            let meant = budget.metadata.namespace == pod.metadata.namespace
                && !pod.metadata.labels.is_empty()
                && budget.spec.selector.as_ref().is_some_and(|s| !is_empty(s) && selects(s, &pod.metadata.labels))
                && !budget.status.disrupted_pods.contains_key(&pod.metadata.name);
            if meant && !(violates && one_is_enough) {
                *allowed -= 1;
                violates |= *allowed < 0;
            }
        }
        violates
    })
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::importance;
    use crate::model::pod::Pod;
    use serde_json::json;

    use crate::cause::{RemedyKind, Severity};
    use crate::filter::world::{report, world};
    use crate::model::snapshot::Snapshot;
    use crate::model::version::ServerVersion;
    use crate::report::Preemption;

    /// A node of 1 cpu, pods of 400m each, and a DaemonSet that wants this much with this priority.
    fn full(cpu: &str, priority: i32, pods: &[&str]) -> Snapshot {
        let containers = json!([{"name": "c", "resources": {"requests": {"cpu": cpu}}}]);
        let mut snapshot = world(json!({"containers": containers, "priorityClassName": "c"}), &["n1"], pods);
        let class = json!({"metadata": {"name": "c"}, "value": priority});
        snapshot.objects.priority_classes.items.push(serde_json::from_value(class).unwrap());
        snapshot
    }

    fn preemption(snapshot: &Snapshot) -> Option<Preemption> {
        report(snapshot).nodes[0].preemption.clone()
    }

    #[test]
    fn as_upstream() {
        for (what, cpu, priority, pods, victims) in [
            ("lower priority goes", "300m", 10, vec!["default/a app=a n1 5", "default/b app=b n1 10"], vec!["default/a"]),
            ("the least important goes", "300m", 10, vec!["default/a app=a n1 5", "default/b app=b n1 4"], vec!["default/b"]),
            ("equal priority stays", "300m", 5, vec!["default/a app=a n1 5", "default/b app=b n1 5"], vec![]),
            ("more than the node has", "2", 10, vec!["default/a app=a n1 5"], vec![]),
            ("not enough of it", "800m", 10, vec!["default/a app=a n1 5", "default/b app=b n1 10"], vec![]),
        ] {
            let got = preemption(&full(cpu, priority, &pods)).unwrap();
            assert_eq!((got.possible, got.victims), (!victims.is_empty(), victims.iter().map(|v| v.to_string()).collect()), "{what}");
        }
        assert_eq!(preemption(&full("100m", 10, &["default/a app=a n1 5"])), None);
    }

    #[test]
    fn a_budget_spares_its_pods_if_others_do() {
        let mut snapshot = full("300m", 10, &["default/a app=a n1 5", "default/b app=b n1 4"]);
        let budget = json!({"metadata": {"name": "b", "namespace": "default"}, "spec": {"selector": {"matchLabels": {"app": "b"}}}});
        snapshot.objects.pod_disruption_budgets.items.push(serde_json::from_value(budget).unwrap());
        assert_eq!(preemption(&snapshot).unwrap().victims, ["default/a"]);
        snapshot.objects.pods.items.remove(0);
        snapshot.objects.pods.items[0].spec.containers[0].resources.requests.insert("cpu".into(), "800m".parse().unwrap());
        let got = preemption(&snapshot).unwrap();
        assert_eq!((got.victims, got.violating), (vec!["default/b".to_string()], vec!["default/b".to_string()]));
    }

    #[test]
    fn never_means_never() {
        let mut snapshot = full("300m", 10, &["default/a app=a n1 5", "default/b app=b n1 4"]);
        snapshot.objects.priority_classes.items[0].preemption_policy = Some("Never".into());
        let got = preemption(&snapshot).unwrap();
        assert_eq!((got.possible, got.reason.contains("Never")), (false, true));
    }

    /// A Pending pod of the DaemonSet, pinned to the node.
    fn pending(snapshot: &mut Snapshot, nominated: &str) {
        let pin = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}}});
        let containers = json!([{"name": "c", "resources": {"requests": {"cpu": "300m"}}}]);
        let owner = json!([{"kind": "DaemonSet", "name": "ds", "uid": "u", "controller": true}]);
        let pod = json!({"metadata": {"name": "ds-1", "namespace": "default", "labels": {"app": "ds"}, "ownerReferences": owner},
            "spec": {"priority": 10, "affinity": pin, "containers": containers}, "status": {"phase": "Pending", "nominatedNodeName": nominated}});
        snapshot.objects.pods.items.push(serde_json::from_value(pod).unwrap());
    }

    fn causes(snapshot: &Snapshot) -> Vec<String> {
        report(snapshot).nodes[0].causes.iter().map(|c| format!("{} {}", c.code, c.detail)).collect()
    }

    #[test]
    fn a_nominated_pod_waits_for_its_victim() {
        let mut snapshot = full("300m", 10, &["default/a app=a n1 5", "default/b app=b n1 10"]);
        pending(&mut snapshot, "n1");
        let victim = &mut snapshot.objects.pods.items[0];
        victim.metadata.deletion_timestamp = Some(Default::default());
        let condition = json!({"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"});
        victim.status.conditions = vec![serde_json::from_value(condition).unwrap()];
        assert_eq!(causes(&snapshot), ["NodeResourcesFit cpu", "PreemptionPending default/a"]);
        let severities = |s: &Snapshot| report(s).nodes[0].causes.iter().map(|c| c.severity).collect::<Vec<_>>();
        assert_eq!(severities(&snapshot), [Severity::Info, Severity::Error], "the shortage goes with the victim");
        assert!(report(&snapshot).nodes[0].causes[0].remedies.iter().all(|r| r.kind == RemedyKind::Inspect));
        // What the victim does not take away stays a cause of its own.
        let waiting = snapshot.objects.pods.items.iter_mut().find(|p| p.metadata.name == "ds-1").unwrap();
        waiting.spec.containers[0].resources.requests.insert("cpu".into(), "3".parse().unwrap());
        assert_eq!(severities(&snapshot), [Severity::Error, Severity::Error]);
        assert!(!preemption(&snapshot).unwrap().possible);
    }

    #[test]
    fn of_equal_priority_what_started_earlier_is_more_important() {
        for moved in [false, true] {
            let pod = |started: &str| {
                let mut pod: Pod = serde_json::from_value(json!({"metadata": {}, "status": {"startTime": started}})).unwrap();
                if moved {
                    pod.moved_start_time = pod.status.start_time.take();
                }
                pod
            };
            let (early, late) = (pod("2026-01-01T00:00:00Z"), pod("2026-01-01T00:00:01Z"));
            assert_eq!((importance(&early, &late), importance(&late, &early)), (Ordering::Less, Ordering::Greater), "moved: {moved}");
        }
    }

    #[test]
    fn a_gated_pods_nomination_counts_from_1_37_on() {
        for (minor, want) in [(36, false), (37, true)] {
            let mut snapshot = full("300m", 10, &["default/a app=a n1 5"]);
            snapshot.version = ServerVersion { major: 1, minor };
            let containers = json!([{"name": "c", "resources": {"requests": {"cpu": "500m"}}}]);
            let pod = json!({"metadata": {"name": "big", "namespace": "default"}, "status": {"phase": "Pending", "nominatedNodeName": "n1"},
                "spec": {"priority": 10, "containers": containers, "schedulingGates": [{"name": "g"}]}});
            snapshot.objects.pods.items.push(serde_json::from_value(pod).unwrap());
            assert_eq!(preemption(&snapshot).is_some_and(|p| p.possible), want, "1.{minor}");
        }
    }

    #[test]
    fn room_is_kept_for_a_nominated_pod() {
        for (priority, want) in [(10, vec!["NominatedPod default/big"]), (9, vec!["SchedulerSilent "])] {
            let mut snapshot = full("300m", 10, &["default/a app=a n1 5"]);
            pending(&mut snapshot, "");
            let containers = json!([{"name": "c", "resources": {"requests": {"cpu": "500m"}}}]);
            let pod = json!({"metadata": {"name": "big", "namespace": "default"}, "spec": {"priority": priority, "containers": containers},
                "status": {"phase": "Pending", "nominatedNodeName": "n1"}});
            snapshot.objects.pods.items.push(serde_json::from_value(pod).unwrap());
            let got = causes(&snapshot);
            assert_eq!(got.iter().map(|c| c.as_str()).collect::<Vec<_>>(), want, "{priority}");
        }
    }
}
