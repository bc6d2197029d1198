//! SchedulingGates: a pod with gates is not tried at all.
//!
//! Upstream: `pkg/scheduler/framework/plugins/schedulinggates/scheduling_gates.go`, `PreEnqueue`
//! (v1.37.2).

use super::{Cycle, Failure, Filter, Finding, Plugin, Verdict};
use crate::cause::{Entry, Evidence, Stage};

/// The plugin.
pub const PLUGIN: Plugin = Plugin { name: "SchedulingGates", entry: &ENTRY, prefilter };

static ENTRY: Entry = Entry {
    code: "SchedulingGates",
    stage: Stage::Scheduling,
    summary: "The pod has scheduling gates: the scheduler does not try it until they are removed",
    doc: "\
## What it means
The pod's spec lists scheduling gates. Whoever set them (the template, a webhook, a quota system) has to remove them; until then the
scheduler leaves the pod alone and it stays Pending.

## How it is recognised
`spec.schedulingGates` of the pod (or of the template) is not empty. The pod's condition PodScheduled is False with reason
SchedulingGated.

## How to check by hand
    kubectl -n NAMESPACE get pod POD -o jsonpath='{.spec.schedulingGates}'

## How to fix it
Find out which controller owns the gate from its name, and why it does not lift it. If the template sets a gate that nobody removes, take
it out of the template.
",
};

fn prefilter<'a>(cycle: &'a Cycle<'a>) -> Filter<'a> {
    let gates: Vec<&str> = cycle.spec.scheduling_gates.iter().map(|g| g.name.as_str()).collect();
    Box::new(move |_| {
        if gates.is_empty() {
            return Verdict::Pass;
        }
        let object = match cycle.pod {
            Some(pod) => format!("Pod/{}", pod.full_name()),
            None => format!("DaemonSet/{}", cycle.daemon_set.metadata.full_name()),
        };
        let prefix = if cycle.pod.is_some() { "" } else { "spec.template." };
        Verdict::Fail(Failure {
            reasons: vec![format!("waiting for scheduling gates: [{}]", gates.join(" ")).into()],
            unresolvable: true,
            findings: gates
                .iter()
                .enumerate()
                .map(|(i, gate)| Finding {
                    detail: gate.to_string(),
                    message: format!("scheduling gate {gate} has not been removed"),
                    evidence: vec![Evidence::new(object.clone(), format!("{prefix}spec.schedulingGates[{i}].name"), *gate)],
                    ..Finding::default()
                })
                .collect(),
        })
    })
}
