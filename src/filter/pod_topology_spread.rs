//! PodTopologySpread: the pod's own constraints that forbid scheduling (`DoNotSchedule`).
//!
//! Upstream: `pkg/scheduler/framework/plugins/podtopologyspread/filtering.go` and `common.go`,
//! `PreFilter`, `Filter`, `AddPod`, `RemovePod` (v1.34.3, v1.37.2). The cluster's default
//! constraints only rank nodes, so they refuse none.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Cycle, Failure, Filter, Finding, Plugin, Verdict, Want};
use crate::cause::{Entry, Evidence, Fact, Stage};
use crate::filter::node_affinity::required;
use crate::filter::taint_toleration::EFFECTS;
use crate::model::affinity::TopologySpreadConstraint;
use crate::model::daemon_pod::HASH_LABEL;
use crate::model::node::Node;
use crate::model::node_info::NodeInfo;
use crate::model::object::{LabelSelector, LabelSelectorRequirement, Labels};
use crate::model::pod::Pod;
use crate::model::selector::{is_empty, matches_node, selects};
use crate::model::toleration::untolerated;

/// The plugin.
pub const PLUGIN: Plugin = Plugin { name: "PodTopologySpread", entry: &ENTRY, prefilter };

const SKEW: &str = "node(s) didn't match pod topology spread constraints";
const NO_LABEL: &str = "node(s) didn't match pod topology spread constraints (missing required label)";

/// How many domains the evidence names.
const DOMAINS: usize = 5;

static ENTRY: Entry = Entry {
    code: "PodTopologySpread",
    stage: Stage::Scheduling,
    summary: "A topology spread constraint (DoNotSchedule) of the pod refuses the node",
    doc: "\
## What it means
The template has a topology spread constraint with `whenUnsatisfiable: DoNotSchedule`: the pod may go to a domain (the nodes that share the
value of `topologyKey`) only if that domain then has at most `maxSkew` matching pods more than the emptiest domain. The controller does
not look at it: it makes one pod for every node, whatever the spread.

## How it is recognised
Pods of the pod's namespace that the constraint's selector (with `matchLabelKeys`) selects are counted by domain; terminating pods do not
count. A node without the label `topologyKey` is refused at once. With `nodeAffinityPolicy: Honor` (the default) only nodes that the pod
may go to are domains; a DaemonSet's pod is pinned to its one node, so that is the only domain there is. With fewer domains than
`minDomains` the emptiest domain counts as 0.

## How to check by hand
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.template.spec.topologySpreadConstraints}'
    kubectl get node NODE --show-labels
    kubectl -n NAMESPACE get pods -l SELECTOR -o wide

## How to fix it
A DaemonSet spreads by itself: remove the constraint from the template, or set `whenUnsatisfiable: ScheduleAnyway`. If only the label is
missing, label the node.
",
};

/// A constraint that forbids, with its defaults.
struct Constraint<'a> {
    /// Where it stands in the spec.
    index: usize,
    max_skew: i64,
    key: &'a str,
    /// `None` selects nothing.
    selector: Option<Cow<'a, LabelSelector>>,
    min_domains: i64,
    honor_affinity: bool,
    honor_taints: bool,
    /// 1 if the pod itself is selected, else 0.
    own: i64,
    /// The selector looks at the revision's hash.
    by_revision: bool,
}

impl<'a> Constraint<'a> {
    fn new(index: usize, c: &'a TopologySpreadConstraint, labels: &Labels) -> Self {
        let keys: Vec<LabelSelectorRequirement> = c.match_label_keys.iter().filter_map(|key| same_value(key, labels)).collect();
        let selector = c.label_selector.as_ref().map(|s| match keys.is_empty() {
            true => Cow::Borrowed(s),
            false => {
                let mut merged = s.clone();
                merged.match_expressions.extend(keys);
                Cow::Owned(merged)
            }
        });
        let own = i64::from(selector.as_ref().is_some_and(|s| selects(s, labels)));
        Constraint {
            index,
            max_skew: c.max_skew.into(),
            key: &c.topology_key,
            selector,
            min_domains: c.min_domains.unwrap_or(1).into(),
            honor_affinity: c.node_affinity_policy.as_deref() != Some("Ignore"),
            honor_taints: c.node_taints_policy.as_deref() == Some("Honor"),
            own,
            by_revision: c.match_label_keys.iter().any(|k| k == HASH_LABEL),
        }
    }

    fn selects(&self, labels: &Labels) -> bool {
        self.selector.as_ref().is_some_and(|s| selects(s, labels))
    }

    /// How many pods of the node count. An empty selector counts none, as upstream has it.
    fn count(&self, cycle: &Cycle, info: &NodeInfo) -> i64 {
        info.pods.iter().filter(|p| self.counts(cycle, p)).count() as i64
    }

    fn counts(&self, cycle: &Cycle, pod: &Pod) -> bool {
        !self.selector.as_ref().is_none_or(|s| is_empty(s))
            && !pod.is_terminating()
            && pod.metadata.namespace == cycle.namespace
            && self.selects(&pod.metadata.labels)
    }

    /// True if the node is one of the domains' nodes, as far as taints go.
    fn takes_taints(&self, cycle: &Cycle, node: &Node) -> bool {
        let comparison = cycle.features.toleration_comparison;
        !self.honor_taints || untolerated(&node.spec.taints, &cycle.spec.tolerations, &EFFECTS, comparison).next().is_none()
    }
}

/// `key In [value]` with the pod's own value.
fn same_value(key: &str, labels: &Labels) -> Option<LabelSelectorRequirement> {
    let value = labels.get(key)?;
    Some(LabelSelectorRequirement { key: key.to_string(), operator: "In".into(), values: vec![value.clone()] })
}

/// Matching pods by domain.
#[derive(Debug, Default)]
struct Domains {
    counts: BTreeMap<String, i64>,
    /// The two emptiest domains.
    lowest: [Option<(i64, String)>; 2],
}

impl Domains {
    fn add(&mut self, domain: &str, pods: i64) {
        match self.counts.get_mut(domain) {
            Some(count) => *count += pods,
            None => {
                self.counts.insert(domain.to_string(), pods);
            }
        }
    }

    fn finish(mut self) -> Self {
        let mut sorted: Vec<(i64, &String)> = self.counts.iter().map(|(d, n)| (*n, d)).collect();
        sorted.sort();
        let mut lowest = sorted.into_iter().map(|(n, d)| (n, d.clone()));
        self.lowest = [lowest.next(), lowest.next()];
        self
    }

    /// The emptiest domain if `domain` had `pods`.
    fn emptiest(&self, domain: &str, pods: i64) -> Option<(i64, &str)> {
        let other = self.lowest.iter().flatten().find(|(_, d)| d != domain).map(|(n, d)| (*n, d.as_str()));
        let own = self.counts.get_key_value(domain).map(|(d, _)| (pods, d.as_str()));
        other.into_iter().chain(own).min()
    }
}

fn prefilter<'a>(cycle: &'a Cycle<'a>) -> Filter<'a> {
    let forbids = |(_, c): &(usize, &TopologySpreadConstraint)| c.when_unsatisfiable == "DoNotSchedule";
    let listed = cycle.spec.topology_spread_constraints.iter().enumerate().filter(forbids);
    let constraints: Vec<Constraint> = listed.map(|(i, c)| Constraint::new(i, c, cycle.labels)).collect();
    if constraints.is_empty() {
        return Box::new(|_, _| Verdict::Pass);
    }
    let everywhere = everywhere(cycle, &constraints);
    Box::new(move |info, want| judge(cycle, &constraints, &everywhere, info, want))
}

/// The domains of the constraints that do not heed node affinity: the same for every pod of the
/// DaemonSet; an empty entry for the others.
fn everywhere(cycle: &Cycle, constraints: &[Constraint]) -> Arc<Vec<Domains>> {
    if constraints.iter().all(|c| c.honor_affinity) {
        return Arc::new(constraints.iter().map(|_| Domains::default()).collect());
    }
    let tolerations = if constraints.iter().any(|c| c.honor_taints) { &cycle.spec.tolerations[..] } else { &[] };
    let of = &cycle.spec.topology_spread_constraints;
    let key = format!("PodTopologySpread {} {:?} {of:?} {tolerations:?}", cycle.namespace, cycle.labels);
    cycle.memo.get(&key, || count(cycle, constraints, cycle.nodes.iter(), |c, node| !c.honor_affinity && c.takes_taints(cycle, node)))
}

/// Counts the constraints' domains on these nodes, as far as `included` lets a node in.
fn count<'n, 'a: 'n>(
    cycle: &Cycle,
    constraints: &[Constraint],
    nodes: impl Iterator<Item = &'n NodeInfo<'a>>,
    included: impl Fn(&Constraint, &Node) -> bool,
) -> Vec<Domains> {
    let mut domains: Vec<Domains> = constraints.iter().map(|_| Domains::default()).collect();
    for info in nodes.filter(|i| has_all_keys(i.node, constraints)) {
        for (constraint, domains) in constraints.iter().zip(&mut domains) {
            if included(constraint, info.node)
                && let Some(domain) = info.node.metadata.labels.get(constraint.key)
            {
                domains.add(domain, constraint.count(cycle, info));
            }
        }
    }
    domains.into_iter().map(Domains::finish).collect()
}

fn has_all_keys(node: &Node, constraints: &[Constraint]) -> bool {
    constraints.iter().all(|c| node.metadata.labels.contains_key(c.key))
}

/// The one node that a pod may go to, where that can be told without looking at every node.
fn pinned_to<'a>(cycle: &'a Cycle<'a>, judged: &'a Node) -> Option<&'a str> {
    if cycle.pod.is_none() {
        return Some(judged.name());
    }
    match required(cycle.spec)?.node_selector_terms.as_slice() {
        [term] if term.match_expressions.is_empty() => match term.match_fields.as_slice() {
            [r] if r.key == "metadata.name" && r.operator == "In" && r.values.len() == 1 => r.values.first().map(String::as_str),
            _ => None,
        },
        _ => None,
    }
}

/// True if node selector and required affinity of the pod let it onto the node.
fn affinity_takes(cycle: &Cycle, node: &Node, pin: Option<&str>) -> bool {
    cycle.spec.node_selector.iter().all(|(k, v)| node.metadata.labels.get(k) == Some(v))
        && match pin {
            Some(name) => node.name() == name,
            None => required(cycle.spec).is_none_or(|r| matches_node(r, node)),
        }
}

/// The domains that the judged node is compared with, of the constraints that heed node affinity.
fn within_affinity(cycle: &Cycle, constraints: &[Constraint], judged: &Node) -> Vec<Domains> {
    let pin = pinned_to(cycle, judged);
    let included = |c: &Constraint, node: &Node| c.honor_affinity && affinity_takes(cycle, node, pin) && c.takes_taints(cycle, node);
    match pin {
        Some(name) => count(cycle, constraints, cycle.as_is(name).into_iter(), included),
        None => count(cycle, constraints, cycle.nodes.iter(), included),
    }
}

fn judge(cycle: &Cycle, constraints: &[Constraint], everywhere: &[Domains], info: &NodeInfo, want: Want) -> Verdict {
    let pin = pinned_to(cycle, info.node);
    let within = within_affinity(cycle, constraints, info.node);
    let all_keys = has_all_keys(info.node, constraints);
    let (gone, come) = cycle.as_is(info.node.name()).map(|before| info.changes_since(before)).unwrap_or_default();
    let (mut reason, mut findings, mut unknown) = (None, Vec::new(), None);
    for ((constraint, everywhere), within) in constraints.iter().zip(everywhere).zip(&within) {
        let Some(domain) = info.node.metadata.labels.get(constraint.key) else {
            reason = reason.or(Some((NO_LABEL, true)));
            findings.extend(want.findings(|| vec![missing_label(cycle, constraint, info.node)]));
            continue;
        };
        let domains = if constraint.honor_affinity { within } else { everywhere };
        let included =
            all_keys && constraint.takes_taints(cycle, info.node) && (!constraint.honor_affinity || affinity_takes(cycle, info.node, pin));
        let change = if included { change(cycle, constraint, &gone, &come) } else { 0 };
        let here = domains.counts.get(domain).copied().unwrap_or(0) + change;
        let too_few = (domains.counts.len() as i64) < constraint.min_domains;
        let emptiest = if too_few { Some((0, "")) } else { domains.emptiest(domain, here) };
        let least = emptiest.map_or(i32::MAX.into(), |(n, _)| n);
        if let Some(why) = not_known(cycle, constraint, info) {
            // Where the node is the only domain it is compared with itself: what is not known cancels out.
            if !constraint.honor_affinity || constraint.min_domains > 1 {
                unknown = unknown.or(Some(why));
                continue;
            }
        }
        if here + constraint.own - least > constraint.max_skew {
            reason = reason.or(Some((SKEW, false)));
            findings.extend(want.findings(|| vec![too_skewed(cycle, constraint, domains, domain, here, emptiest.filter(|_| !too_few))]));
        }
    }
    match (reason, unknown) {
        (Some((reason, unresolvable)), _) => Verdict::Fail(Failure { reasons: vec![reason.into()], unresolvable, findings }),
        (None, Some(why)) => Verdict::Unknown(why),
        (None, None) => Verdict::Pass,
    }
}

/// By how much the judged node's own pods differ from what was counted. The DaemonSet's own pods
/// that a pod to be does not find there are as if they had never been; for pods that preemption
/// takes away upstream subtracts 1 even if they were not counted (terminating, empty selector).
fn change(cycle: &Cycle, constraint: &Constraint, gone: &[&Pod], come: &[&Pod]) -> i64 {
    let matches = |pod: &Pod| pod.metadata.namespace == cycle.namespace && constraint.selects(&pod.metadata.labels);
    let gone = gone.iter().filter(|p| if cycle.pod.is_none() && cycle.owns(p) { constraint.counts(cycle, p) } else { matches(p) });
    come.iter().filter(|p| matches(p)).count() as i64 - gone.count() as i64
}

fn not_known(cycle: &Cycle, constraint: &Constraint, info: &NodeInfo) -> Option<String> {
    let pods_known = if constraint.honor_affinity { info.pods_known } else { cycle.snapshot.knows_all_pods() };
    let what = if !pods_known {
        "pods"
    } else if !constraint.honor_affinity && !cycle.snapshot.nodes.is_complete() {
        "nodes"
    } else if cycle.pod.is_none() && cycle.hash_is_not_read() && constraint.by_revision {
        "of the DaemonSet's revisions"
    } else {
        return None;
    };
    Some(format!("not all {what} could be read, so the domains of {} cannot be counted", constraint.key))
}

fn path(cycle: &Cycle, constraint: &Constraint) -> (String, String) {
    let (object, spec) = match cycle.pod {
        Some(pod) => (format!("Pod/{}", pod.full_name()), "spec"),
        None => (format!("DaemonSet/{}", cycle.daemon_set.metadata.full_name()), "spec.template.spec"),
    };
    (object, format!("{spec}.topologySpreadConstraints[{}]", constraint.index))
}

fn missing_label(cycle: &Cycle, constraint: &Constraint, node: &Node) -> Finding {
    let (object, path) = path(cycle, constraint);
    let key = constraint.key;
    Finding {
        detail: format!("{key} (no label)"),
        message: format!("the spread constraint needs the label {key}, the node does not have it"),
        evidence: vec![
            Evidence::new(object, format!("{path}.topologyKey"), key),
            Evidence::new(format!("Node/{}", node.name()), format!("metadata.labels[{key}]"), serde_json::Value::Null),
        ],
        fact: Fact::TopologySpread { constraint: constraint.index, missing_label: Some(key.to_string()) },
    }
}

fn too_skewed(cycle: &Cycle, c: &Constraint, domains: &Domains, domain: &str, here: i64, emptiest: Option<(i64, &str)>) -> Finding {
    let (object, path) = path(cycle, c);
    let key = c.key;
    let after = here + c.own;
    let against = match emptiest {
        Some((least, name)) => format!("the emptiest domain {key}={name} has {least}"),
        None => {
            format!("there are {} of at least {} domains (minDomains), so the emptiest counts as 0", domains.counts.len(), c.min_domains)
        }
    };
    let mut evidence = vec![
        Evidence::new(object.clone(), format!("{path}.maxSkew"), c.max_skew),
        Evidence::new(object.clone(), format!("matching pods in {key}={domain}, with this pod"), after),
    ];
    if c.min_domains > 1 {
        evidence.push(Evidence::new(object.clone(), format!("{path}.minDomains"), c.min_domains));
    }
    let mut others: Vec<(&i64, &String)> = domains.counts.iter().filter(|(d, _)| *d != domain).map(|(d, n)| (n, d)).collect();
    others.sort();
    evidence.extend(
        others.into_iter().take(DOMAINS).map(|(n, other)| Evidence::new(object.clone(), format!("matching pods in {key}={other}"), *n)),
    );
    Finding {
        detail: format!("{key}={domain}"),
        message: format!(
            "with this pod {key}={domain} would have {after} matching pods, {against}: more than maxSkew {} apart",
            c.max_skew
        ),
        evidence,
        fact: Fact::TopologySpread { constraint: c.index, missing_label: None },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::filter::world::{verdicts, world};
    use crate::model::snapshot::Gap;

    const NODES: [&str; 3] = ["n1 zone=a", "n2 zone=b", "n3"];
    const PODS: [&str; 3] = ["default/p1 app=ds n1", "default/p2 app=ds n1", "other/p3 app=ds n2"];

    fn constraint(extra: Value) -> Value {
        let mut c = json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "ds"}}});
        c.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!({"topologySpreadConstraints": [c]})
    }

    #[test]
    fn as_upstream() {
        for (what, extra, want) in [
            ("the pinned node is the only domain", json!({}), ["+", "+", NO_LABEL]),
            ("other namespaces do not count", json!({"nodeAffinityPolicy": "Ignore"}), [SKEW, "+", NO_LABEL]),
            ("too few domains", json!({"minDomains": 2}), [SKEW, "+", NO_LABEL]),
            ("enough domains", json!({"minDomains": 2, "nodeAffinityPolicy": "Ignore", "maxSkew": 3}), ["+", "+", NO_LABEL]),
            ("a preference", json!({"whenUnsatisfiable": "ScheduleAnyway", "nodeAffinityPolicy": "Ignore"}), ["+", "+", "+"]),
            ("no selector selects nothing", json!({"labelSelector": null, "nodeAffinityPolicy": "Ignore"}), ["+", "+", NO_LABEL]),
            ("an empty selector counts nothing", json!({"labelSelector": {}, "nodeAffinityPolicy": "Ignore"}), ["+", "+", NO_LABEL]),
            (
                "a label key of the pod",
                json!({"matchLabelKeys": ["controller-revision-hash"], "nodeAffinityPolicy": "Ignore"}),
                ["+", "+", NO_LABEL],
            ),
        ] {
            assert_eq!(verdicts(&world(constraint(extra), &NODES, &PODS), "PodTopologySpread"), want, "{what}");
        }
    }

    #[test]
    fn the_daemon_sets_own_pod_on_the_judged_node_is_left_out() {
        let spec = constraint(json!({"nodeAffinityPolicy": "Ignore"}));
        let pods = ["default/ds-1 app=ds n1", "default/ds-2 app=ds n2"];
        assert_eq!(verdicts(&world(spec, &NODES, &pods), "PodTopologySpread"), ["+", "+", NO_LABEL]);
    }

    #[test]
    fn what_was_not_read_is_not_counted_as_none() {
        let gap = Gap { verb: "list".into(), resource: "pods".into(), namespace: None, reason: String::new() };
        for (extra, want) in [(json!({}), ["+", "+", NO_LABEL]), (json!({"nodeAffinityPolicy": "Ignore"}), ["?", "?", NO_LABEL])] {
            let mut snapshot = world(constraint(extra), &NODES, &PODS);
            snapshot.objects.pods.gap = Some(gap.clone());
            assert_eq!(verdicts(&snapshot, "PodTopologySpread"), want);
        }
    }
}
