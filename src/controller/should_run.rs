//! Whether the controller wants a pod on a node.
//!
//! Upstream: `NodeShouldRunDaemonPod` and `predicates` of
//! `pkg/controller/daemon/daemon_controller.go` (v1.37.2): the template's node name, its node
//! selector and required node affinity, and its tolerations with the controller's own. Nothing
//! else: no resources, ports, volumes or conditions.

use crate::cause::{Cause, Severity, Stage};
use crate::filter::{Finding, node_affinity, node_name, taint_toleration};
use crate::model::affinity::Toleration;
use crate::model::daemon_set::DaemonSet;
use crate::model::node::Node;
use crate::model::selector::matches_node;
use crate::model::toleration::untolerated;
use crate::model::version::Features;

/// The controller's decision for one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// A pod is wanted.
    pub should_run: bool,
    /// A pod that runs may stay.
    pub should_continue: bool,
    /// Why no pod is wanted; every reason that holds.
    pub causes: Vec<Cause>,
}

/// Decides for one node; `tolerations` are those of the pods that the controller makes.
pub fn decide(ds: &DaemonSet, tolerations: &[Toleration], node: &Node, features: &Features) -> Decision {
    let template = &ds.spec.template.spec;
    let object = format!("DaemonSet/{}", ds.metadata.full_name());
    let mut causes = Vec::new();

    let named = template.node_name.is_empty() || template.node_name == node.name();
    if !named {
        let message = format!("the template names node {}", template.node_name);
        causes.push(Cause::new(node_name::entry(), &template.node_name, message).severity(Severity::Info).evidence(
            &object,
            "spec.template.spec.nodeName",
            template.node_name.as_str(),
        ));
    }

    let missing = template.node_selector.iter().filter(|(k, v)| node.metadata.labels.get(k) != Some(*v));
    let mut affinity: Vec<Finding> =
        missing.map(|(key, value)| node_affinity::selector_finding(&object, "spec.template.spec", node, key, value)).collect();
    if let Some(required) = node_affinity::required(template)
        && !matches_node(required, node)
    {
        affinity.extend(node_affinity::affinity_findings(required, node, &object, "spec.template.spec"));
    }
    let fits_affinity = affinity.is_empty();
    causes.extend(affinity.into_iter().map(|f| cause(node_affinity::entry(), f).severity(Severity::Info)));

    let taints: Vec<_> = untolerated(&node.spec.taints, tolerations, &taint_toleration::EFFECTS, features.toleration_comparison).collect();
    let evicting = taints.iter().any(|(_, t)| t.effect == "NoExecute");
    let fits_taints = taints.is_empty();
    // A taint is likely not meant, but behind a selector that leaves the node out it is by design.
    let severity = if named && fits_affinity { Severity::Warning } else { Severity::Info };
    causes.extend(
        taints.into_iter().map(|(i, taint)| cause(taint_toleration::entry(), taint_toleration::finding(node, i, taint)).severity(severity)),
    );

    let wanted = named && fits_affinity;
    causes.sort_by(|a, b| a.order().cmp(&b.order()));
    causes.dedup_by(|a, b| a.order() == b.order());
    Decision { should_run: wanted && fits_taints, should_continue: wanted && !evicting, causes }
}

fn cause(entry: &'static crate::cause::Entry, finding: Finding) -> Cause {
    let mut cause = Cause::new(entry, finding.detail, finding.message).stage(Stage::Controller).fact(finding.fact);
    cause.evidence = finding.evidence;
    cause
}
