//! NodeName: a pod that names its node runs there only.
//!
//! Upstream: `pkg/scheduler/framework/plugins/nodename/node_name.go`, `Filter` (v1.34.3),
//! `PreFilter` (v1.37.2).

use super::{Cycle, Filter, Finding, Plugin, Verdict};
use crate::cause::{Entry, Evidence, Stage};

/// The plugin.
pub const PLUGIN: Plugin = Plugin { name: "NodeName", entry: &ENTRY, prefilter };

static ENTRY: Entry = Entry {
    code: "NodeName",
    stage: Stage::Controller,
    summary: "The template names another node (spec.nodeName)",
    doc: "\
## What it means
The pod template sets `spec.nodeName`, so the DaemonSet wants a pod on that node alone. Such a pod also skips the scheduler: the kubelet
decides.

## How it is recognised
`spec.template.spec.nodeName` is set and is not the node's name.

## How to check by hand
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.template.spec.nodeName}'

## How to fix it
Remove `nodeName` from the template; select nodes with `nodeSelector` or node affinity instead.
",
};

/// The page of this code, for the controller's own check.
pub fn entry() -> &'static Entry {
    &ENTRY
}

fn prefilter<'a>(cycle: &'a Cycle<'a>) -> Filter<'a> {
    let wanted = cycle.spec.node_name.as_str();
    Box::new(move |info, _| {
        if wanted.is_empty() || wanted == info.node.name() {
            return Verdict::Pass;
        }
        let reason = if cycle.features.node_name_prefilters {
            "node(s) didn't satisfy plugin(s) [NodeName]"
        } else {
            "node(s) didn't match the requested node name"
        };
        Verdict::fail(
            reason,
            true,
            Finding {
                detail: wanted.to_string(),
                message: format!("the template names node {wanted}"),
                evidence: vec![Evidence::new(
                    format!("DaemonSet/{}", cycle.daemon_set.metadata.full_name()),
                    "spec.template.spec.nodeName",
                    wanted,
                )],
                ..Finding::default()
            },
        )
    })
}
