//! NodeAffinity: the node selector and the required node affinity.
//!
//! Upstream: `pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go`, `Filter` (v1.37.2)
//! with `GetRequiredNodeAffinity` of component-helpers; the controller's own check is
//! `NodeShouldRunDaemonPod`. On a pod that the controller makes, the template's required affinity
//! is replaced by the pin to the node, so only its node selector is left to fail here.

use super::{Cycle, Failure, Filter, Finding, Plugin, Verdict};
use crate::cause::{Entry, Evidence, Fact, Stage};
use crate::model::affinity::NodeSelector;
use crate::model::node::Node;
use crate::model::pod::PodSpec;
use crate::model::selector::{field_holds, label_holds, matches_node, term_is_valid};

/// The plugin.
pub const PLUGIN: Plugin = Plugin { name: "NodeAffinity", entry: &ENTRY, prefilter };

const REASON: &str = "node(s) didn't match Pod's node affinity/selector";

static ENTRY: Entry = Entry {
    code: "NodeAffinity",
    stage: Stage::Controller,
    summary: "The node's labels do not meet the pod's node selector or required node affinity",
    doc: "\
## What it means
The template's `nodeSelector` or its required node affinity leaves the node out. The DaemonSet controller then wants no pod there; it says
nothing. Where a pod exists and is Pending for this reason, admission has added a selector to the pod that the template does not have
(marked `added at admission`): the controller does not know of it and will want the pod for ever.

## How it is recognised
Every entry of `nodeSelector` has to be among the node's labels. Of the affinity's terms one has to match: all its `matchExpressions`
(on labels) and `matchFields` (on the node's name) have to hold. An empty term matches nothing; a term with a value that cannot be parsed
is skipped. NotIn and DoesNotExist hold for a missing label, Gt and Lt do not.

## How to check by hand
    kubectl get node NODE --show-labels
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.template.spec.nodeSelector}{.spec.template.spec.affinity.nodeAffinity}'

## How to fix it
If the pod belongs on the node, label the node (`kubectl label node NODE KEY=VALUE`) or widen the template's selector. For a selector
added at admission look at the namespace's annotation `scheduler.alpha.kubernetes.io/node-selector` (or `openshift.io/node-selector`), the
RuntimeClass and mutating webhooks.
",
};

/// The page of this code, for the controller's own check.
pub fn entry() -> &'static Entry {
    &ENTRY
}

fn prefilter<'a>(cycle: &'a Cycle<'a>) -> Filter<'a> {
    let template = &cycle.daemon_set.spec.template.spec.node_selector;
    Box::new(move |info, want| {
        let node = info.node;
        let selected = cycle.spec.node_selector.iter().all(|(key, value)| node.metadata.labels.get(key) == Some(value));
        let unmet = required(cycle.spec).filter(|required| cycle.pod.is_some() && !matches_node(required, node));
        if selected && unmet.is_none() {
            return Verdict::Pass;
        }
        let findings = want.findings(|| {
            let mut findings = selector_findings(cycle, node, |key, value| template.get(key).is_some_and(|v| v == value));
            findings.extend(unmet.into_iter().flat_map(|required| affinity_findings(required, node, &object(cycle), "spec")));
            findings
        });
        Verdict::Fail(Failure { reasons: vec![REASON.into()], unresolvable: true, findings })
    })
}

/// The required node affinity of a spec.
pub fn required(spec: &PodSpec) -> Option<&NodeSelector> {
    spec.affinity.as_ref()?.node_affinity.as_ref()?.required.as_ref()
}

fn object(cycle: &Cycle) -> String {
    match cycle.pod {
        Some(pod) => format!("Pod/{}", pod.full_name()),
        None => format!("DaemonSet/{}", cycle.daemon_set.metadata.full_name()),
    }
}

/// The entries of the pod's node selector that the node's labels lack.
fn selector_findings(cycle: &Cycle, node: &Node, in_template: impl Fn(&str, &str) -> bool) -> Vec<Finding> {
    let missing = cycle.spec.node_selector.iter().filter(|(key, value)| node.metadata.labels.get(key) != Some(*value));
    missing
        .map(|(key, value)| {
            let added = !in_template(key, value);
            let by = cycle.added_selector.iter().find(|(k, v, _)| k == key && v == value).map(|(_, _, by)| by.as_str());
            let mut finding = selector_finding(&object(cycle), "spec", node, key, value);
            if added {
                finding.detail.push_str(" (added at admission)");
                finding.message.push_str(&match by {
                    Some(by) => format!("; {by} adds the selector at admission, the template does not have it"),
                    None => "; the selector was added at admission, the template does not have it".to_string(),
                });
            }
            finding.fact = Fact::NodeSelector { key: key.clone(), value: value.clone(), added };
            finding
        })
        .collect()
}

/// The finding for one entry of a node selector that the node does not have. `spec` is the path
/// of the pod spec within `object`.
pub fn selector_finding(object: &str, spec: &str, node: &Node, key: &str, value: &str) -> Finding {
    let have = node.metadata.labels.get(key);
    Finding {
        detail: format!("nodeSelector {key}={value}"),
        message: match have {
            Some(have) => format!("the node selector wants {key}={value}, the node has {key}={have}"),
            None => format!("the node selector wants {key}={value}, the node has no label {key}"),
        },
        evidence: vec![
            Evidence::new(object, format!("{spec}.nodeSelector[{key}]"), value),
            Evidence::new(format!("Node/{}", node.name()), format!("metadata.labels[{key}]"), have.cloned()),
        ],
        fact: Fact::NodeSelector { key: key.to_string(), value: value.to_string(), added: false },
    }
}

/// The requirements that fail, of every term; `spec` is the path of the pod spec within `object`.
pub fn affinity_findings(required: &NodeSelector, node: &Node, object: &str, spec: &str) -> Vec<Finding> {
    let path = format!("{spec}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    let mut findings = Vec::new();
    for (i, term) in required.node_selector_terms.iter().enumerate() {
        if term.match_expressions.is_empty() && term.match_fields.is_empty() {
            findings.push(Finding {
                detail: "empty term".into(),
                message: "an empty term of the required node affinity matches no node".into(),
                evidence: vec![Evidence::new(object, format!("{path}[{i}]"), "{}")],
                fact: Fact::None,
            });
            continue;
        }
        let valid = term_is_valid(term);
        let expressions =
            term.match_expressions.iter().enumerate().map(|(j, r)| ("matchExpressions", j, r, label_holds(r, &node.metadata.labels)));
        let fields = term.match_fields.iter().enumerate().map(|(j, r)| ("matchFields", j, r, field_holds(r, node)));
        // A term that the node's name rules out is meant for other nodes: its labels say nothing here.
        let by_name = valid && term.match_fields.iter().any(|r| !field_holds(r, node));
        for (kind, j, r, holds) in expressions.filter(|_| !by_name).chain(fields) {
            let single = crate::model::affinity::NodeSelectorTerm {
                match_expressions: if kind == "matchExpressions" { vec![r.clone()] } else { vec![] },
                match_fields: if kind == "matchFields" { vec![r.clone()] } else { vec![] },
            };
            let parsable = valid || term_is_valid(&single);
            if holds && parsable {
                continue;
            }
            let have = if kind == "matchFields" { Some(node.metadata.name.clone()) } else { node.metadata.labels.get(&r.key).cloned() };
            let message = match (&have, parsable) {
                (_, false) => format!("the required node affinity has {r}, which cannot be parsed, so its term matches no node"),
                (Some(have), _) if kind == "matchFields" => format!("the required node affinity wants {r}, this is {have}"),
                (Some(have), _) => format!("the required node affinity wants {r}, the node has {}={have}", r.key),
                (None, _) => format!("the required node affinity wants {r}, the node has no label {}", r.key),
            };
            let field = if kind == "matchFields" { r.key.clone() } else { format!("metadata.labels[{}]", r.key) };
            findings.push(Finding {
                detail: r.to_string(),
                message,
                evidence: vec![
                    Evidence::new(object, format!("{path}[{i}].{kind}[{j}]"), r.to_string()),
                    Evidence::new(format!("Node/{}", node.name()), field, have),
                ],
                fact: Fact::NodeAffinity { term: i, field: kind == "matchFields", requirement: r.clone() },
            });
        }
    }
    if required.node_selector_terms.is_empty() {
        findings.push(Finding {
            detail: "no terms".into(),
            message: "the required node affinity has no terms, so it matches no node".into(),
            evidence: vec![Evidence::new(object, path, "[]")],
            fact: Fact::None,
        });
    }
    findings
}
