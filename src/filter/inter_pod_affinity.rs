//! InterPodAffinity: required affinity and anti-affinity between pods, in both directions.
//!
//! Upstream: `pkg/scheduler/framework/plugins/interpodaffinity/filtering.go`, `PreFilter`,
//! `Filter`, `AddPod`, `RemovePod` (v1.34.3, v1.37.2); `matchLabelKeys` and `mismatchLabelKeys` are
//! merged into the selector when the pod is created (`mutatePodAffinity` of
//! `pkg/registry/core/pod/strategy.go`). Terminating pods count.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Cycle, Failure, Filter, Finding, Plugin, Verdict, Want};
use rustc_hash::FxHashMap;

use crate::cause::{Entry, Evidence, Fact, PodRule, Stage};
use crate::model::affinity::{PodAffinity, PodAffinityTerm, anti_affinity_of};
use crate::model::daemon_pod::HASH_LABEL;
use crate::model::node::Node;
use crate::model::node_info::NodeInfo;
use crate::model::object::{LabelSelector, LabelSelectorRequirement, Labels};
use crate::model::pod::{Pod, PodSpec};
use crate::model::selector::{is_empty, selects};

/// The plugin.
pub const PLUGIN: Plugin = Plugin { name: "InterPodAffinity", entry: &ENTRY, prefilter };

const AFFINITY: &str = "node(s) didn't match pod affinity rules";
const ANTI_AFFINITY: &str = "node(s) didn't match pod anti-affinity rules";
const OF_ANOTHER: &str = "node(s) didn't satisfy existing pods anti-affinity rules";

/// How many pods of one holder are remembered, and how many holders are named.
const EXAMPLES: usize = 4;
const HOLDERS: usize = 8;

/// The place of a pod that is not on a node yet.
const NOWHERE: Place = (usize::MAX, usize::MAX);

static ENTRY: Entry = Entry {
    code: "InterPodAffinity",
    stage: Stage::Scheduling,
    summary: "A required pod affinity or anti-affinity, the pod's own or another pod's, refuses the node",
    doc: "\
## What it means
A required (anti-)affinity between pods keeps the pod off the node. There are three kinds: the pod's own `podAffinity` finds no pod that
it has to be near; its own `podAntiAffinity` finds a pod that it must not be near; or a pod that already runs has an anti-affinity that
repels this one. \"Near\" is: on a node with the same value of the term's `topologyKey`; with a zone as the key, one pod repels from the whole
zone. The controller does not look at it: it makes the pod, and the scheduler leaves it Pending.

## How it is recognised
Every pod of the cluster (also a terminating one) is compared with each term: its namespace (`namespaces`, `namespaceSelector`, else the
pod's own) and its labels (`labelSelector`, with `matchLabelKeys` and `mismatchLabelKeys`). Affinity wants one pod that meets all terms; if
no pod in the cluster does and the pod meets its own terms, it may be the first. The detail names the DaemonSet or pod that it repels or is
repelled by.

## How to check by hand
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.template.spec.affinity}'
    kubectl get pods -A -o wide -l SELECTOR
    kubectl get pods -A --field-selector spec.nodeName=NODE -o jsonpath='{range .items[*]}{.metadata.name} {.spec.affinity.podAntiAffinity}{\"\\n\"}{end}'

## How to fix it
An anti-affinity of a DaemonSet to itself is never needed (it has one pod a node): remove it, above all one with a zone as its topology
key. If another workload's anti-affinity repels the pod, narrow its selector, or move that pod to a node where the DaemonSet does not run.
",
};

/// A required term, ready to match.
struct Term {
    index: usize,
    key: String,
    namespaces: BTreeSet<String>,
    /// Matches namespaces by their labels; empty matches all.
    namespace_selector: Option<LabelSelector>,
    /// `None` matches nothing.
    selector: Option<LabelSelector>,
}

impl Term {
    /// The term of a pod in `namespace`.
    fn new(index: usize, term: &PodAffinityTerm, namespace: &str) -> Self {
        let mut namespaces: BTreeSet<String> = term.namespaces.iter().cloned().collect();
        if namespaces.is_empty() && term.namespace_selector.is_none() {
            namespaces.insert(namespace.to_string());
        }
        Term {
            index,
            key: term.topology_key.clone(),
            namespaces,
            namespace_selector: term.namespace_selector.clone(),
            selector: term.label_selector.clone(),
        }
    }

    /// With the label keys that creation merges into the selector.
    fn with_label_keys(mut self, term: &PodAffinityTerm, labels: &Labels) -> Self {
        if let Some(selector) = &mut self.selector {
            for (keys, operator) in [(&term.match_label_keys, "In"), (&term.mismatch_label_keys, "NotIn")] {
                for (key, value) in keys.iter().filter_map(|k| labels.get_key_value(k)) {
                    let values = vec![value.clone()];
                    selector.match_expressions.push(LabelSelectorRequirement { key: key.clone(), operator: operator.into(), values });
                }
            }
        }
        self
    }

    /// With the namespaces that the selector stands for; an empty one goes on matching all.
    fn with_namespaces(mut self, cycle: &Cycle) -> Self {
        if let Some(selector) = self.namespace_selector.take_if(|s| !is_empty(s)) {
            let selected = cycle.snapshot.namespaces.iter().filter(|n| selects(&selector, &n.metadata.labels));
            self.namespaces.extend(selected.map(|n| n.metadata.name.clone()));
            self.namespace_selector = Some(selector).filter(|_| cycle.features.namespace_selector_kept);
        }
        self
    }

    /// True if a pod in this namespace (with these labels of its own) is meant.
    fn matches(&self, namespace: &str, namespace_labels: &Labels, labels: &Labels) -> bool {
        (self.namespaces.contains(namespace) || self.namespace_selector.as_ref().is_some_and(|s| selects(s, namespace_labels)))
            && self.selector.as_ref().is_some_and(|s| selects(s, labels))
    }
}

/// The rules of the pod and what is known of its namespace.
struct Rules {
    affinity: Vec<Term>,
    anti_affinity: Vec<Term>,
    namespace_labels: Labels,
    /// The pod meets its own affinity, so it may be the first.
    first: bool,
}

impl Rules {
    fn new(cycle: &Cycle) -> Self {
        let terms = |rule: Option<&PodAffinity>| -> Vec<Term> {
            let listed = rule.into_iter().flat_map(|a| &a.required).enumerate();
            listed
                .map(|(i, t)| {
                    let term = Term::new(i, t, cycle.namespace);
                    // A live pod's selector has the keys in it already.
                    let term = if cycle.pod.is_none() { term.with_label_keys(t, cycle.labels) } else { term };
                    term.with_namespaces(cycle)
                })
                .collect()
        };
        let affinity = cycle.spec.affinity.as_ref();
        let mut rules = Rules {
            affinity: terms(affinity.and_then(|a| a.pod_affinity.as_ref())),
            anti_affinity: terms(affinity.and_then(|a| a.pod_anti_affinity.as_ref())),
            namespace_labels: cycle.snapshot.namespace(cycle.namespace).map(|n| Labels::clone(&n.metadata.labels)).unwrap_or_default(),
            first: false,
        };
        rules.first = rules.meets_affinity(cycle.namespace, cycle.labels);
        rules
    }

    /// True if the pod has terms of its own.
    fn has_terms(&self) -> bool {
        !(self.affinity.is_empty() && self.anti_affinity.is_empty())
    }

    /// True if a term may mean a pod with these labels.
    fn select(&self, labels: &Labels) -> bool {
        self.affinity.iter().chain(&self.anti_affinity).any(|t| t.selector.as_ref().is_some_and(|s| selects(s, labels)))
    }

    /// True if the pod meets every term of the affinity.
    fn meets_affinity(&self, namespace: &str, labels: &Labels) -> bool {
        !self.affinity.is_empty() && self.affinity.iter().all(|t| t.matches(namespace, &Labels::new(), labels))
    }

    /// Counts what the pods of a node, at this place of the cycle's nodes, mean for the judged pod.
    fn count<'a>(&self, cycle: &Cycle, node: &Node, pods: impl Iterator<Item = (Place, &'a Pod)>, counts: &mut Counts) {
        for (place, pod) in pods {
            let (namespace, labels) = (pod.metadata.namespace.as_str(), &pod.metadata.labels);
            if self.meets_affinity(namespace, labels) {
                self.affinity.iter().for_each(|t| counts.add(PodRule::Affinity, t.index, &t.key, node, place, pod));
            }
            for (rule, index, key) in self.repelling(cycle, pod) {
                counts.add(rule, index, key, node, place, pod);
            }
        }
    }

    /// The anti-affinity terms, of the judged pod and of this one, by which the two repel.
    fn repelling<'a>(&'a self, cycle: &'a Cycle, pod: &'a Pod) -> impl Iterator<Item = (PodRule, usize, &'a str)> {
        let (namespace, labels) = (pod.metadata.namespace.as_str(), &pod.metadata.labels);
        let own = self.anti_affinity.iter().filter(move |t| t.matches(namespace, &Labels::new(), labels));
        let of_another = anti_affinity_of(&pod.spec)
            .iter()
            .enumerate()
            .filter(move |(_, t)| Term::new(0, t, namespace).matches(cycle.namespace, &self.namespace_labels, cycle.labels));
        own.map(|t| (PodRule::AntiAffinity, t.index, t.key.as_str()))
            .chain(of_another.map(|(i, t)| (PodRule::OfAnother, i, t.topology_key.as_str())))
    }
}

/// Where a pod is found: index of the node among the cycle's, index of the pod on it.
type Place = (usize, usize);

/// Matching pods of one topology domain.
#[derive(Debug, Default)]
struct Near {
    pods: i64,
    /// By DaemonSet or pod (see [`Pod::owner_name`]).
    holders: BTreeMap<String, Held>,
}

#[derive(Debug, Default)]
struct Held {
    pods: i64,
    /// The first term by which they match.
    term: usize,
    /// The first few pods by name.
    examples: BTreeMap<String, Place>,
}

/// Matching pods by rule, topology key and value.
#[derive(Debug, Default)]
struct Counts {
    near: BTreeMap<PodRule, BTreeMap<String, BTreeMap<String, Near>>>,
    /// How often pods meet the affinity on nodes that have a domain.
    affinity_total: i64,
    /// How often pods on such nodes repel the judged pod.
    of_another_total: i64,
}

impl Counts {
    fn add(&mut self, rule: PodRule, term: usize, key: &str, node: &Node, place: Place, pod: &Pod) {
        let Some(value) = node.metadata.labels.get(key) else { return };
        let near = self.near.entry(rule).or_default().entry(key.to_string()).or_default().entry(value.clone()).or_default();
        near.pods += 1;
        match rule {
            PodRule::Affinity => {
                self.affinity_total += 1;
                return;
            }
            PodRule::OfAnother => self.of_another_total += 1,
            PodRule::AntiAffinity => {}
        }
        let held = near.holders.entry(pod.owner_name()).or_insert_with(|| Held { term, ..Held::default() });
        held.pods += 1;
        held.examples.insert(pod.full_name(), place);
        if held.examples.len() > EXAMPLES {
            held.examples.pop_last();
        }
    }

    fn get(&self, rule: PodRule, key: &str, value: &str) -> Option<&Near> {
        self.near.get(&rule)?.get(key)?.get(value)
    }

    fn pods(&self, rule: PodRule, key: &str, value: &str) -> i64 {
        self.get(rule, key, value).map_or(0, |n| n.pods)
    }
}

/// The counts of the whole cluster, changed by what the judged node has more and less.
struct Tally<'c> {
    everywhere: &'c Counts,
    more: Counts,
    less: Counts,
}

impl Tally<'_> {
    fn pods(&self, rule: PodRule, key: &str, value: &str) -> i64 {
        self.everywhere.pods(rule, key, value) + self.more.pods(rule, key, value) - self.less.pods(rule, key, value)
    }

    /// True if no pod of the cluster meets the affinity.
    fn nobody(&self) -> bool {
        self.everywhere.affinity_total + self.more.affinity_total - self.less.affinity_total == 0
    }
}

fn prefilter<'a>(cycle: &'a Cycle<'a>) -> Filter<'a> {
    let rules = Rules::new(cycle);
    let everywhere = everywhere(cycle, &rules);
    Box::new(move |info, want| judge(cycle, &rules, &everywhere, info, want))
}

/// The counts of the whole cluster: the same for every pod of the DaemonSet with these terms.
fn everywhere(cycle: &Cycle, rules: &Rules) -> Arc<Counts> {
    let affinity = cycle.spec.affinity.as_ref().map(|a| (&a.pod_affinity, &a.pod_anti_affinity));
    let made = cycle.pod.is_some();
    let key = format!("InterPodAffinity {made} {} {:?} {affinity:?}", cycle.namespace, cycle.labels);
    cycle.memo.get(&key, || {
        let own_terms = rules.has_terms();
        // The pods of a workload share their labels: each set is looked at once.
        let mut selected: FxHashMap<usize, bool> = FxHashMap::default();
        let mut counts = Counts::default();
        for (i, info) in cycle.nodes.iter().enumerate().filter(|(_, info)| own_terms || info.repelling > 0) {
            let pods = info.pods.iter().enumerate().filter(|(_, p)| {
                let labels = &p.metadata.labels;
                own_terms && *selected.entry(labels.address()).or_insert_with(|| rules.select(labels))
                    || info.repelling > 0 && !anti_affinity_of(&p.spec).is_empty()
            });
            rules.count(cycle, info.node, pods.map(|(j, p)| ((i, j), *p)), &mut counts);
        }
        counts
    })
}

fn judge(cycle: &Cycle, rules: &Rules, everywhere: &Counts, info: &NodeInfo, want: Want) -> Verdict {
    let node = info.node;
    let (gone, come) = cycle.as_is(node.name()).map(|before| info.changes_since(before)).unwrap_or_default();
    let counted = |pods: &[&Pod]| {
        let mut counts = Counts::default();
        rules.count(cycle, node, pods.iter().map(|p| (NOWHERE, *p)), &mut counts);
        counts
    };
    if !rules.has_terms() {
        // Upstream's PreFilter looks for pods that repel this one; if there are none it skips the plugin for the
        // whole cycle, also where nominated pods come to the node that would repel it.
        let never_there: Vec<&Pod> = gone.iter().copied().filter(|p| cycle.pod.is_none() && cycle.owns(p)).collect();
        if everywhere.of_another_total == counted(&never_there).of_another_total {
            return not_known(cycle, rules, info).map_or(Verdict::Pass, Verdict::Unknown);
        }
    }
    let tally = Tally { everywhere, more: counted(&come), less: counted(&gone) };
    let labels = &node.metadata.labels;
    let mut refusals: Vec<(&'static str, bool, Vec<Finding>)> = Vec::new();
    let lacking: Vec<&Term> = rules.affinity.iter().filter(|t| !labels.contains_key(&t.key)).collect();
    let is_unmet = |t: &&Term| labels.get(&t.key).is_some_and(|value| tally.pods(PodRule::Affinity, &t.key, value) <= 0);
    let unmet: Vec<&Term> = rules.affinity.iter().filter(is_unmet).collect();
    if !lacking.is_empty() || !(unmet.is_empty() || rules.first && tally.nobody()) {
        let lacking = lacking.iter().map(|t| missing_label(cycle, t, node));
        let findings = want.findings(|| lacking.chain(unmet.iter().map(|t| nobody_near(cycle, t, node))).collect());
        refusals.push((AFFINITY, true, findings));
    }
    for (rule, reason) in [(PodRule::AntiAffinity, ANTI_AFFINITY), (PodRule::OfAnother, OF_ANOTHER)] {
        if labels.iter().any(|(key, value)| tally.pods(rule, key, value) > 0) {
            refusals.push((reason, false, want.findings(|| repulsions(cycle, rules, info, rule, &tally, &gone, &come))));
        }
    }
    let unsure = not_known(cycle, rules, info);
    match (refusals.first(), unsure) {
        // What was not read may hold the pod that the affinity looks for.
        (Some((AFFINITY, ..)), Some(why)) if lacking.is_empty() && refusals.len() == 1 && !cycle.snapshot.tells_of_no_pods() => {
            Verdict::Unknown(why)
        }
        (Some((reason, unresolvable, _)), _) => Verdict::Fail(Failure {
            reasons: vec![(*reason).into()],
            unresolvable: *unresolvable,
            findings: refusals.into_iter().flat_map(|(_, _, f)| f).collect(),
        }),
        (None, Some(why)) => Verdict::Unknown(why),
        (None, None) => Verdict::Pass,
    }
}

/// What keeps the plugin from knowing every pod or namespace that bears on the pod.
fn not_known(cycle: &Cycle, rules: &Rules, info: &NodeInfo) -> Option<String> {
    let selects_namespaces = cycle.spec.affinity.iter().any(|a| {
        let terms = a.pod_affinity.iter().chain(&a.pod_anti_affinity).flat_map(|a| &a.required);
        terms.into_iter().any(|t| t.namespace_selector.as_ref().is_some_and(|s| !is_empty(s)))
    });
    let by_namespace = |p: &Pod| anti_affinity_of(&p.spec).iter().any(|t| t.namespace_selector.as_ref().is_some_and(|s| !is_empty(s)));
    let snapshot = cycle.snapshot;
    // Without terms of its own the pod is taken to be repelled by pods on the node alone, where only those were
    // read: in a large cluster, unless they fail to explain why it waits.
    let pods_known = if rules.has_terms() { snapshot.knows_all_pods() } else { info.pods_known };
    if !pods_known {
        Some("not all pods could be read, so what this pod repels or is repelled by is not known".into())
    } else if !snapshot.nodes.is_complete() && rules.has_terms() {
        Some("not all nodes could be read, so what is near this one is not known".into())
    } else if cycle.pod.is_none() && cycle.hash_is_not_read() && by_revision(cycle.spec) {
        Some("the DaemonSet's revisions could not be read, so which pods are of the pod's own revision is not known".into())
    } else if !snapshot.namespaces.is_complete()
        && (selects_namespaces || snapshot.namespace(cycle.namespace).is_none() && snapshot.pods.iter().any(by_namespace))
    {
        Some("not all namespaces could be read, so which ones a namespaceSelector selects is not known".into())
    } else {
        None
    }
}

/// True if a term looks at the revision's hash.
fn by_revision(spec: &PodSpec) -> bool {
    let rules = spec.affinity.iter().flat_map(|a| a.pod_affinity.iter().chain(&a.pod_anti_affinity));
    rules.flat_map(|r| &r.required).any(|t| t.match_label_keys.iter().chain(&t.mismatch_label_keys).any(|k| k == HASH_LABEL))
}

/// The object that has the pod's own terms, and the path of the spec in it.
fn own_path(cycle: &Cycle, rule: &str, index: usize) -> (String, String) {
    let (object, spec) = match cycle.pod {
        Some(pod) => (format!("Pod/{}", pod.full_name()), "spec"),
        None => (format!("DaemonSet/{}", cycle.daemon_set.metadata.full_name()), "spec.template.spec"),
    };
    (object, format!("{spec}.affinity.{rule}.requiredDuringSchedulingIgnoredDuringExecution[{index}]"))
}

fn missing_label(cycle: &Cycle, term: &Term, node: &Node) -> Finding {
    let (object, path) = own_path(cycle, "podAffinity", term.index);
    Finding {
        detail: format!("{} (no label)", term.key),
        message: format!("the pod affinity needs the node's label {}, the node does not have it", term.key),
        evidence: vec![
            Evidence::new(object, format!("{path}.topologyKey"), term.key.as_str()),
            Evidence::new(format!("Node/{}", node.name()), format!("metadata.labels[{}]", term.key), serde_json::Value::Null),
        ],
        fact: Fact::PodAffinity { rule: PodRule::Affinity, key: term.key.clone(), pods: Vec::new(), in_all: 0 },
    }
}

fn nobody_near(cycle: &Cycle, term: &Term, node: &Node) -> Finding {
    let (object, path) = own_path(cycle, "podAffinity", term.index);
    let wanted = term.selector.as_ref().map_or_else(|| "nothing".to_string(), ToString::to_string);
    let value = node.metadata.labels.get(&term.key).map_or("", String::as_str);
    let namespaces: Vec<&str> = term.namespaces.iter().map(String::as_str).collect();
    let within = if term.namespace_selector.is_some() { "any namespace".to_string() } else { namespaces.join(", ") };
    let read = if cycle.snapshot.pods.is_complete() { "" } else { " as far as was read: there are no pods in the snapshot" };
    Finding {
        detail: format!("{wanted} near {}", term.key),
        message: format!("the pod has to be near a pod with {wanted} (in {within}), none is in {}={value}{read}", term.key),
        evidence: vec![
            Evidence::new(object, format!("{path}.labelSelector"), wanted),
            Evidence::new(format!("Node/{}", node.name()), format!("metadata.labels[{}]", term.key), value),
        ],
        fact: Fact::PodAffinity { rule: PodRule::Affinity, key: term.key.clone(), pods: Vec::new(), in_all: 0 },
    }
}

/// What the judged pod repels or is repelled by on this node: one finding for each DaemonSet or
/// pod, the first few by name.
fn repulsions(cycle: &Cycle, rules: &Rules, info: &NodeInfo, rule: PodRule, tally: &Tally, gone: &[&Pod], come: &[&Pod]) -> Vec<Finding> {
    let mut found: BTreeMap<String, Finding> = BTreeMap::new();
    for (key, value) in info.node.metadata.labels.iter() {
        for (name, held) in tally.everywhere.get(rule, key, value).iter().flat_map(|n| &n.holders) {
            let less = tally.less.get(rule, key, value).and_then(|n| n.holders.get(name)).map_or(0, |h| h.pods);
            if held.pods <= less || found.contains_key(name) {
                continue;
            }
            let places = held.examples.values().filter_map(|(i, j)| cycle.nodes.get(*i).and_then(|n| Some((n.node, *n.pods.get(*j)?))));
            let left: Vec<(&Node, &Pod)> = places.filter(|(_, p)| !gone.iter().any(|g| std::ptr::eq(*g, *p))).collect();
            if let Some(finding) = repulsion(cycle, info.node, (rule, held.term, key), &left, held.pods - less) {
                found.insert(name.clone(), finding);
            }
        }
    }
    for pod in come {
        for (_, term, key) in rules.repelling(cycle, pod).filter(|(r, ..)| *r == rule) {
            if let Some(finding) = repulsion(cycle, info.node, (rule, term, key), &[(info.node, pod)], 1) {
                found.entry(pod.owner_name()).or_insert(finding);
            }
        }
    }
    let more = found.len().saturating_sub(HOLDERS);
    let mut findings: Vec<Finding> = found.into_values().take(HOLDERS).collect();
    if let Some(last) = findings.last_mut().filter(|_| more > 0) {
        last.message.push_str(&format!("; {more} more do so"));
    }
    findings
}

/// The finding for the pods of one holder, `pods` in all, some of them given with their nodes.
fn repulsion(
    cycle: &Cycle,
    node: &Node,
    (rule, index, key): (PodRule, usize, &str),
    examples: &[(&Node, &Pod)],
    pods: i64,
) -> Option<Finding> {
    let (on, pod) = examples.iter().find(|(on, _)| on.name() == node.name()).or_else(|| examples.first())?;
    let value = on.metadata.labels.get(key).map_or("", String::as_str);
    let place = if on.name() == node.name() { "on this node".to_string() } else { format!("on node {}, also in {key}={value}", on.name()) };
    let others = if pods > 1 { format!(" and {} more", pods - 1) } else { String::new() };
    let (object, path, message) = match rule {
        PodRule::OfAnother => (
            format!("Pod/{}", pod.full_name()),
            format!("spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[{index}]"),
            format!("the anti-affinity of pod {} ({place}){others} repels the pod from {key}={value}", pod.full_name()),
        ),
        _ => {
            let (object, path) = own_path(cycle, "podAntiAffinity", index);
            (object, path, format!("the pod's anti-affinity repels it from pod {} ({place}){others}", pod.full_name()))
        }
    };
    Some(Finding {
        detail: pod.owner_name(),
        message,
        evidence: vec![
            Evidence::new(object, format!("{path}.topologyKey"), key),
            Evidence::new(format!("Pod/{}", pod.full_name()), "spec.nodeName", on.name()),
            Evidence::new(format!("Node/{}", node.name()), format!("metadata.labels[{key}]"), value),
        ],
        fact: Fact::PodAffinity {
            rule,
            key: key.to_string(),
            pods: examples.iter().map(|(_, p)| (p.metadata.namespace.clone(), p.metadata.name.clone())).collect(),
            in_all: pods,
        },
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::filter::world::{verdicts, world};

    const NODES: [&str; 3] = ["n1 zone=a,host=n1", "n2 zone=a,host=n2", "n3 zone=b"];

    fn rule(kind: &str, selector: Value, key: &str, extra: Value) -> Value {
        let mut term = json!({"labelSelector": selector, "topologyKey": key});
        term.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!({"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}})
    }

    #[test]
    fn the_pods_own_terms() {
        let web = || json!({"matchLabels": {"app": "web"}});
        let own = || json!({"matchLabels": {"app": "ds"}});
        for (what, spec, want) in [
            ("near web", rule("podAffinity", web(), "zone", json!({})), ["+", "+", AFFINITY]),
            ("near web on the node", rule("podAffinity", web(), "host", json!({})), ["+", AFFINITY, AFFINITY]),
            ("away from web", rule("podAntiAffinity", web(), "zone", json!({})), [ANTI_AFFINITY, ANTI_AFFINITY, "+"]),
            ("a node without the label is in no domain", rule("podAntiAffinity", web(), "host", json!({})), [ANTI_AFFINITY, "+", "+"]),
            ("the first of its kind", rule("podAffinity", own(), "zone", json!({})), ["+", "+", "+"]),
            ("the first, on a node without the label", rule("podAffinity", own(), "host", json!({})), ["+", "+", AFFINITY]),
            ("no selector matches nothing", rule("podAntiAffinity", Value::Null, "zone", json!({})), ["+", "+", "+"]),
            ("another namespace", rule("podAntiAffinity", web(), "zone", json!({"namespaces": ["other"]})), ["+", "+", ANTI_AFFINITY]),
            ("all namespaces", rule("podAntiAffinity", web(), "zone", json!({"namespaceSelector": {}})), [ANTI_AFFINITY; 3]),
        ] {
            let snapshot = world(spec, &NODES, &["default/web app=web n1", "other/web app=web n3"]);
            assert_eq!(verdicts(&snapshot, "InterPodAffinity"), want, "{what}");
        }
    }

    #[test]
    fn an_anti_affinity_to_itself_spares_the_judged_node_alone() {
        let spec = rule("podAntiAffinity", json!({"matchLabels": {"app": "ds"}}), "zone", json!({}));
        let snapshot = world(spec, &NODES, &["default/ds-1 app=ds n1"]);
        assert_eq!(verdicts(&snapshot, "InterPodAffinity"), ["+", ANTI_AFFINITY, "+"]);
    }

    #[test]
    fn whom_the_pod_has_to_be_near_is_not_known_where_pods_were_not_saved() {
        use crate::model::snapshot::Gap;
        let spec = rule("podAffinity", json!({"matchLabels": {"app": "web"}}), "zone", json!({}));
        // In files: uid, generation, that which the controller has seen, and the pods that the status counts. Nothing was listed.
        for (from_files, uid, generation, seen, counted, want) in [
            (true, "u", 1, 0, 0, AFFINITY),
            (true, "u", 0, 0, 0, AFFINITY),
            (true, "", 1, 0, 0, AFFINITY),
            (true, "", 0, 0, 0, "?"),
            (true, "u", 1, 1, 0, "?"),
            (true, "u", 1, 1, 1, "?"),
            (true, "u", 1, 0, 1, "?"),
            (false, "u", 1, 0, 0, "?"),
        ] {
            let mut snapshot = world(spec.clone(), &["n1 zone=a"], &[]);
            let gap = Gap { verb: "list".into(), resource: "pods".into(), namespace: None, reason: String::new() };
            (snapshot.from_files, snapshot.objects.pods.gap) = (from_files, Some(gap));
            let ds = &mut snapshot.objects.daemon_sets.items[0];
            (ds.metadata.uid, ds.metadata.generation) = (uid.to_string(), generation);
            (ds.status.observed_generation, ds.status.current_number_scheduled) = (seen, counted);
            assert_eq!(verdicts(&snapshot, "InterPodAffinity"), [want], "{from_files} {uid:?} {generation} {seen} {counted}");
        }
    }

    #[test]
    fn what_was_not_read_is_no_pass() {
        use crate::model::snapshot::Gap;
        let web = || json!({"matchLabels": {"app": "web"}});
        let by = |selector: Value| rule("podAntiAffinity", web(), "zone", json!({"namespaceSelector": selector}));
        let hash = json!({"matchLabelKeys": ["controller-revision-hash"]});
        for (resource, spec, repels, want) in [
            ("nodes", rule("podAntiAffinity", web(), "zone", json!({})), false, "?"),
            ("nodes", json!({}), false, "+"),
            ("namespaces", by(web()), false, "?"),
            ("namespaces", by(json!({})), false, "+"),
            ("namespaces", rule("podAffinity", json!({"matchLabels": {"app": "ds"}}), "zone", json!({})), false, "+"),
            ("namespaces", json!({}), true, "?"),
            ("namespaces", json!({}), false, "+"),
            ("controllerrevisions.apps", rule("podAntiAffinity", web(), "zone", hash), false, "?"),
            ("controllerrevisions.apps", rule("podAntiAffinity", web(), "zone", json!({})), false, "+"),
        ] {
            let mut snapshot = world(spec.clone(), &["n1 zone=a"], &["other/x app=x n1"]);
            if repels {
                let selector = json!({"matchLabels": {"team": "a"}});
                let term = rule("podAntiAffinity", json!({"matchLabels": {"app": "ds"}}), "zone", json!({"namespaceSelector": selector}));
                snapshot.objects.pods.items[0].spec.affinity = serde_json::from_value(term["affinity"].clone()).unwrap();
            }
            let gap = Some(Gap { verb: "list".into(), resource: resource.into(), namespace: None, reason: String::new() });
            match resource {
                "nodes" => snapshot.objects.nodes.gap = gap,
                "namespaces" => snapshot.objects.namespaces.gap = gap,
                _ => snapshot.objects.controller_revisions.gap = gap,
            }
            assert_eq!(verdicts(&snapshot, "InterPodAffinity"), [want], "{resource} {spec} {repels}");
            // The labels of the pod's own namespace are enough for the terms of others.
            if repels {
                let namespace = json!({"metadata": {"name": "default", "labels": {"team": "b"}}});
                snapshot.objects.namespaces.items.push(serde_json::from_value(namespace).unwrap());
                assert_eq!(verdicts(&snapshot, "InterPodAffinity"), ["+"], "{resource} {spec}");
            }
        }
    }

    #[test]
    fn another_pods_anti_affinity_repels() {
        let mut snapshot = world(json!({}), &NODES, &["default/web app=web n1"]);
        let term = json!({"labelSelector": {"matchLabels": {"app": "ds"}}, "topologyKey": "zone"});
        let affinity = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}});
        snapshot.objects.pods.items[0].spec.affinity = serde_json::from_value(affinity).unwrap();
        assert_eq!(verdicts(&snapshot, "InterPodAffinity"), [OF_ANOTHER, OF_ANOTHER, "+"]);
    }

    #[test]
    fn a_selector_that_no_labels_meet_matches_every_namespace_from_1_34_to_1_36() {
        let namespaces = json!({"namespaceSelector": {"matchExpressions": [{"key": "env", "operator": "DoesNotExist"}]}});
        let spec = rule("podAntiAffinity", json!({"matchLabels": {"app": "web"}}), "zone", namespaces);
        for (version, want) in [("1.33", "+"), ("1.34", ANTI_AFFINITY), ("1.36", ANTI_AFFINITY), ("1.37", "+")] {
            let mut snapshot = world(spec.clone(), &["n1 zone=a"], &["dev/web app=web n1"]);
            snapshot.version = version.parse().unwrap();
            let dev = json!({"metadata": {"name": "dev", "labels": {"env": "dev"}}});
            snapshot.objects.namespaces.items.push(serde_json::from_value(dev).unwrap());
            assert_eq!(verdicts(&snapshot, "InterPodAffinity"), [want], "{version}");
        }
    }
}
