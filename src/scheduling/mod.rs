//! A pod exists and has no node: why.

pub mod nominated_pod;
pub mod preemption;
pub mod preemption_pending;
mod rewritten;
pub mod scheduler_name;
pub mod scheduler_refuses;
pub mod scheduler_silent;
pub mod scheduling_gates;

use crate::cause::{Cause, Entry, Severity};
use crate::diagnose::{Subject, filter_causes};
use crate::filter::filters_of;
use crate::model::node_info::NodeInfo;
use crate::model::pod::Pod;
use crate::report::Preemption;
use preemption::DryRun;

/// The pages of this folder's codes.
pub static ENTRIES: &[&Entry] = &[
    &nominated_pod::ENTRY,
    &preemption_pending::ENTRY,
    &scheduler_name::ENTRY,
    &scheduler_refuses::ENTRY,
    &scheduler_silent::ENTRY,
    &scheduling_gates::ENTRY,
];

/// Why a pod that is pinned to this node is Pending: what the filters refuse, and what the
/// scheduler itself says or does not say. With it what preemption would do for the pod.
pub fn causes(subject: &Subject, info: &NodeInfo, pod: &Pod) -> (Vec<Cause>, Option<Preemption>) {
    let gates = scheduling_gates::causes(pod);
    if !gates.is_empty() {
        return (gates, None);
    }
    let scheduled = pod.condition("PodScheduled").filter(|c| c.status == "False");
    let silent = scheduled.is_none() && !has_spoken(subject, pod);
    let foreign = !matches!(pod.spec.scheduler_name.as_str(), "" | scheduler_name::DEFAULT);
    if foreign && silent {
        let mut cause = scheduler_name::cause(subject, pod);
        cause.evidence.extend(rewritten::evidence(subject, pod));
        return (vec![cause], None);
    }
    let cycle = subject.live_cycle(pod);
    let filters = filters_of(&cycle);
    let (mut causes, unknown) = filter_causes(&filters, info);
    let run = DryRun::new(&cycle, &filters, info);
    let victims = run.waiting_for();
    if !victims.is_empty() {
        // What the preempted pods hold is on its way to this pod: that is why it waits, the shortage only how it shows.
        let rest = info.without(&subject.features, |p| victims.iter().any(|v| std::ptr::eq(*v, p)));
        let (lasting, _) = filter_causes(&filters, &rest);
        for cause in causes.iter_mut().filter(|c| !lasting.iter().any(|l| l.order() == c.order())) {
            cause.severity = Severity::Info;
            cause.message.push_str("; until the preempted pods have ended");
        }
    }
    if causes.is_empty()
        && let Some(refusal) = run.refusal().filter(|r| r.for_nominated && !r.unknown)
    {
        causes.extend(run.nominated().iter().map(|nominated| nominated_pod::cause(info.node.name(), nominated, &refusal)));
    }
    causes.extend(victims.into_iter().map(|victim| preemption_pending::cause(pod, victim)));
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
    let rewritten = rewritten::evidence(subject, pod);
    causes.iter_mut().for_each(|c| c.evidence.extend(rewritten.iter().cloned()));
    (causes, run.outcome())
}

/// True if a scheduler has said anything about the pod: in its events or by nominating it.
fn has_spoken(subject: &Subject, pod: &Pod) -> bool {
    !pod.status.nominated_node_name.is_empty()
        || subject.events.of(pod).iter().any(|e| matches!(e.reason.as_str(), "FailedScheduling" | "Scheduled" | "Preempted"))
}
