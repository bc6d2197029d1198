//! TaintToleration: no untolerated NoSchedule or NoExecute taint.
//!
//! Upstream: `pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go`, `Filter`
//! (v1.34.3, v1.37.2); the controller's own check is `NodeShouldRunDaemonPod`.

use super::{Cycle, Failure, Filter, Finding, Plugin, Verdict};
use crate::cause::{Entry, Evidence, Fact, Stage};
use crate::model::node::{Node, Taint};
use crate::model::toleration::untolerated;

/// The plugin.
pub const PLUGIN: Plugin = Plugin { name: "TaintToleration", entry: &ENTRY, prefilter };

const REASON: &str = "node(s) had untolerated taint(s)";

/// The effects that keep a pod away.
pub const EFFECTS: [&str; 2] = ["NoSchedule", "NoExecute"];

static ENTRY: Entry = Entry {
    code: "TaintToleration",
    stage: Stage::Controller,
    summary: "A taint of the node is not tolerated by the pod template",
    doc: "\
## What it means
The node has a taint with effect NoSchedule or NoExecute that no toleration of the pods covers. The DaemonSet controller then wants no pod
there: nothing is created, no event tells, and DESIRED does not count the node. Under NoSchedule a pod that already runs stays (and counts
as misscheduled); under NoExecute it is deleted.

The controller itself tolerates, for every DaemonSet pod: not-ready and unreachable with NoExecute; disk-pressure, memory-pressure,
pid-pressure and unschedulable with NoSchedule; network-unavailable with NoSchedule for pods on the host's network. Not tolerated are
not-ready and unreachable with NoSchedule, which the control plane puts on nodes that are not Ready.

## How it is recognised
Each entry of the node's `spec.taints` is compared with the template's `spec.tolerations` and with the controller's own: key, value
(operator Equal or Exists) and effect. PreferNoSchedule never counts.

## How to check by hand
    kubectl describe node NODE        # Taints, Conditions, Events
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.template.spec.tolerations}'

## How to fix it
If the pod belongs on these nodes, add a toleration to the template for exactly this taint. If the taint says that a node is not fit yet
(not-ready, uninitialized, network-unavailable, an agent's startup taint), find out who should have removed it.
",
};

/// The page of this code, for the controller's own check.
pub fn entry() -> &'static Entry {
    &ENTRY
}

fn prefilter<'a>(cycle: &'a Cycle<'a>) -> Filter<'a> {
    let comparison = cycle.features.toleration_comparison;
    Box::new(move |info, want| {
        let mut refusing = untolerated(&info.node.spec.taints, &cycle.spec.tolerations, &EFFECTS, comparison).peekable();
        if refusing.peek().is_none() {
            return Verdict::Pass;
        }
        let findings = want.findings(|| refusing.map(|(i, taint)| finding(info.node, i, taint)).collect());
        Verdict::Fail(Failure { reasons: vec![REASON.into()], unresolvable: true, findings })
    })
}

/// The finding for one untolerated taint of a node.
pub fn finding(node: &Node, index: usize, taint: &Taint) -> Finding {
    Finding {
        detail: taint.to_string(),
        message: format!("taint {taint} is not tolerated"),
        evidence: vec![Evidence::new(format!("Node/{}", node.name()), format!("spec.taints[{index}]"), taint.to_string())],
        fact: Fact::Taint(taint.clone()),
    }
}
