//! A pod exists and has no node: why.

pub mod scheduler_name;
pub mod scheduler_refuses;
pub mod scheduler_silent;
pub mod scheduling_gates;

use crate::cause::{Cause, Entry};
use crate::diagnose::{Subject, filter_causes};
use crate::model::node_info::NodeInfo;
use crate::model::pod::Pod;

/// The pages of this folder's codes.
pub static ENTRIES: &[&Entry] = &[&scheduler_name::ENTRY, &scheduler_refuses::ENTRY, &scheduler_silent::ENTRY, &scheduling_gates::ENTRY];

/// Why a pod that is pinned to this node is Pending: what the filters refuse, and what the
/// scheduler itself says or does not say.
pub fn causes(subject: &Subject, info: &NodeInfo, pod: &Pod) -> Vec<Cause> {
    let gates = scheduling_gates::causes(pod);
    if !gates.is_empty() {
        return gates;
    }
    let scheduled = pod.condition("PodScheduled").filter(|c| c.status == "False");
    let silent = scheduled.is_none() && !has_spoken(subject, pod);
    let foreign = !matches!(pod.spec.scheduler_name.as_str(), "" | scheduler_name::DEFAULT);
    if foreign && silent {
        return vec![scheduler_name::cause(subject, pod)];
    }
    let (mut causes, unknown) = filter_causes(subject, info, pod);
    if let Some(scheduled) = scheduled.filter(|c| !c.message.is_empty()) {
        let object = format!("Pod/{}", pod.full_name());
        for cause in &mut causes {
            *cause = cause.clone().evidence(&object, "status.conditions[PodScheduled].message", scheduled.message.as_str());
        }
    }
    if causes.is_empty() {
        match scheduled {
            Some(scheduled) => causes.push(scheduler_refuses::cause(subject, pod, scheduled)),
            // What could not be judged may be what keeps it; then the scheduler need not be silent.
            None if silent && !unknown => causes.push(scheduler_silent::cause(subject, pod)),
            None => {}
        }
    }
    causes
}

/// True if a scheduler has said anything about the pod in its events.
fn has_spoken(subject: &Subject, pod: &Pod) -> bool {
    subject.snapshot.events_of(pod).iter().any(|e| matches!(e.reason.as_str(), "FailedScheduling" | "Scheduled" | "Preempted"))
}
