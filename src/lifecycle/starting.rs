//! Starting: the pod is on its way, or waits without a word.
//!
//! Upstream: the waiting reasons ContainerCreating and PodInitializing of
//! `pkg/kubelet/kubelet_pods.go` (v1.37.2), which the kubelet gives while it has no better one.

use super::{View, shortened};
use crate::cause::{Cause, Entry, Severity, Stage};
use crate::model::time::Age;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "Starting",
    stage: Stage::Running,
    summary: "The pod's containers are being created",
    doc: "\
## What it means
The kubelet has taken the pod on and makes its sandbox, mounts its volumes, pulls its images. That takes seconds, with large images
minutes. If it lasts and no event says why, what was said has expired (events are kept for an hour) or the kubelet hangs.

## How it is recognised
The containers wait with ContainerCreating or PodInitializing and no event names a failure. From ten minutes on it is an error.

## How to check by hand
    kubectl -n NAMESPACE describe pod POD
    kubectl -n NAMESPACE get events --field-selector involvedObject.name=POD

## How to fix it
Wait. If it lasts, see the kubelet's and the container runtime's log on the node.
",
};

/// Seconds after which starting is an error.
const PATIENCE: i64 = 600;

/// The cause, for a pod that is neither ready nor failing.
pub fn causes(view: &View) -> Vec<Cause> {
    let age = view.age();
    let for_long = age.map_or(String::new(), |a| format!(" for {}", Age(a)));
    let last = view.events.iter().rev().copied().find(|e| e.reason != "Scheduled");
    let said = last.map_or(String::new(), |e| format!("; last: {}", shortened(&e.message)));
    let waiting = view.parts().find_map(|p| p.waiting().map(|(r, _)| r.to_string())).filter(|r| !r.is_empty());
    let late = age.is_none_or(|a| a > PATIENCE);
    let hint = if late && last.is_none() { "; no event is left that says why" } else { "" };
    let cause = Cause::new(&ENTRY, "", format!("the pod has been starting{for_long}{said}{hint}"))
        .severity(if late { Severity::Error } else { Severity::Info })
        .evidence(view.object(), "status.phase", view.pod.status.phase.as_str())
        .evidence(view.object(), "status.containerStatuses[*].state.waiting.reason", waiting);
    vec![view.with_event(cause, last).remedy(view.describe())]
}

#[cfg(test)]
mod tests {
    use crate::cause::Severity;
    use crate::lifecycle::bed::{causes, names, node, pod};
    use serde_json::json;

    #[test]
    fn it_takes_a_while_but_not_for_ever() {
        for (start, severity) in [("2026-11-30T11:59:00Z", Severity::Info), ("2026-11-30T11:00:00Z", Severity::Error)] {
            let status = json!({"phase": "Pending", "startTime": start,
                "containerStatuses": [{"name": "agent", "state": {"waiting": {"reason": "ContainerCreating"}}}]});
            let found = causes(node("True"), pod(status), vec![]);
            assert_eq!(names(&found), ["Starting"]);
            assert_eq!(found[0].severity, severity);
        }
    }
}
