//! NodeUnschedulable: a cordoned node takes only pods that tolerate it.
//!
//! Upstream: `pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go`, `Filter`
//! (v1.37.2). The controller tolerates it for every DaemonSet pod, so this fails only where
//! something took that toleration away again.

use super::{Cycle, Filter, Finding, Plugin, Verdict};
use crate::cause::{Entry, Evidence, Stage};
use crate::model::node::Taint;
use crate::model::toleration::tolerates;

/// The plugin.
pub const PLUGIN: Plugin = Plugin { name: "NodeUnschedulable", entry: &ENTRY, prefilter };

const REASON: &str = "node(s) were unschedulable";

static ENTRY: Entry = Entry {
    code: "NodeUnschedulable",
    stage: Stage::Scheduling,
    summary: "The node is cordoned and the pod does not tolerate that",
    doc: "\
## What it means
The node is cordoned (`spec.unschedulable: true`) and the pod lacks the toleration for it. The DaemonSet controller gives every pod that
it makes this toleration, so a cordon alone never keeps a DaemonSet's pod away: something has removed the toleration, most likely a
mutating webhook.

## How it is recognised
`spec.unschedulable` of the node is true and no toleration of the pod covers `node.kubernetes.io/unschedulable:NoSchedule`.

## How to check by hand
    kubectl get node NODE -o jsonpath='{.spec.unschedulable}'
    kubectl -n NAMESPACE get pod POD -o jsonpath='{.spec.tolerations}'

## How to fix it
Uncordon the node (`kubectl uncordon NODE`), and find the webhook that rewrites the pod's tolerations.
",
};

fn prefilter<'a>(cycle: &'a Cycle<'a>) -> Filter<'a> {
    let taint = Taint { key: "node.kubernetes.io/unschedulable".into(), effect: "NoSchedule".into(), ..Taint::default() };
    let tolerated = cycle.spec.tolerations.iter().any(|t| tolerates(t, &taint, cycle.features.toleration_comparison));
    Box::new(move |info, _| {
        if !info.node.spec.unschedulable || tolerated {
            return Verdict::Pass;
        }
        let name = info.node.name();
        Verdict::fail(
            REASON,
            true,
            Finding {
                message: format!("node {name} is cordoned and the pod does not tolerate that"),
                evidence: vec![Evidence::new(format!("Node/{name}"), "spec.unschedulable", true)],
                ..Finding::default()
            },
        )
    })
}
