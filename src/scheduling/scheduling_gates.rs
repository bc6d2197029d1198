//! SchedulingGates: a pod with gates is not tried at all.
//!
//! Upstream: `pkg/scheduler/framework/plugins/schedulinggates/scheduling_gates.go`, `PreEnqueue`
//! (v1.37.2).

use crate::cause::{Cause, Entry, Stage};
use crate::model::pod::Pod;

/// The page.
pub static ENTRY: Entry = Entry {
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

/// A cause for each gate of the pod.
pub fn causes(pod: &Pod) -> Vec<Cause> {
    let cause = |(i, gate): (usize, &crate::model::pod::PodSchedulingGate)| {
        let message = format!("scheduling gate {} has not been removed from pod {}", gate.name, pod.metadata.name);
        let object = format!("Pod/{}", pod.full_name());
        Cause::new(&ENTRY, &gate.name, message).evidence(object, format!("spec.schedulingGates[{i}].name"), gate.name.as_str())
    };
    pod.spec.scheduling_gates.iter().enumerate().map(cause).collect()
}
