//! RolloutIdle: the budget would allow more, and the controller replaces nothing.
//!
//! Upstream: `rollingUpdate` of `pkg/controller/daemon/update.go` (v1.37.2) runs in every sync of the
//! DaemonSet and takes what the budget allows at once. So old pods that nothing protects are a sign
//! that it does not run, or fails.

use super::rollout_budget::names;
use crate::cause::{Cause, Entry, Remedy, Stage};
use crate::controller::controller_silent;
use crate::diagnose::Subject;
use crate::model::time::Age;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "RolloutIdle",
    stage: Stage::Rollout,
    summary: "The rollout may go on, and the controller does nothing about it",
    doc: "\
## What it means
Old pods are there, the budget would let the controller replace them (or they are not available, and those are replaced whatever the
budget says), and nothing has moved for ten minutes. The controller does this within seconds; so kube-controller-manager does not run, has
no leader, or fails at this DaemonSet: it may not delete pods, or waits for creations and deletions that it has not seen.

## How it is recognised
The nodes are counted by the controller's own rule; fewer are unavailable than maxUnavailable allows (or fewer surge than maxSurge), and the
newest sign of progress (a new pod, a deletion, a new revision) is older than ten minutes and minReadySeconds.

## How to check by hand
    kubectl -n kube-system get lease kube-controller-manager -o yaml
    kubectl -n kube-system logs -l component=kube-controller-manager --tail=200
    kubectl -n NAMESPACE describe ds NAME

## How to fix it
Bring kube-controller-manager up; its log tells what it fails at. Deleting an old pod by hand shows whether a new one comes.
",
};

/// The cause, for old pods on these nodes that could be replaced.
pub fn cause(subject: &Subject, nodes: &[&str], stalled: i64) -> Cause {
    let message =
        format!("the budget lets {} be updated, and nothing has moved for {}: the controller does not act", names(nodes), Age(stalled));
    let mut cause = Cause::new(&ENTRY, "", message).evidence(subject.object(), "nodes that could be updated", nodes.to_vec()).evidence(
        subject.object(),
        "seconds without progress",
        stalled,
    );
    if let Some((lease, age)) = controller_silent::stale_lease(subject, "kube-controller-manager") {
        cause.message.push_str(&format!("; its lease has not been renewed for {}", Age(age)));
        let renewed = lease.spec.renew_time.map(|t| t.to_string());
        cause = cause.evidence("Lease/kube-system/kube-controller-manager", "spec.renewTime", renewed);
    }
    let see = "kubectl -n kube-system get lease kube-controller-manager -o yaml";
    cause.remedy(Remedy::inspect("see whether the controller runs", see))
}

#[cfg(test)]
mod tests {
    use crate::rollout::bed::{report, workload};
    use serde_json::json;

    #[test]
    fn what_could_be_replaced_and_is_not() {
        // Nothing has moved for half an hour.
        for (unavailable, surge, pods, want) in [
            (2, 0, vec![("a", "oa"), ("b", "nc")], true),
            (1, 0, vec![("a", "oa"), ("b", "nc")], false),
            (1, 0, vec![("a", "oa"), ("b", "na")], true),
            (1, 0, vec![("a", "oc"), ("b", "nc")], true),
            (1, 0, vec![("a", "na"), ("b", "nc")], false),
            (0, 1, vec![("a", "oa"), ("b", "na")], true),
            (0, 1, vec![("a", "oa"), ("b", "oa"), ("b", "nc")], false),
            (0, 1, vec![("a", "oa"), ("gone", "oa")], false),
            (0, 1, vec![("tainted", "oa"), ("b", "na")], false),
            (1, 0, vec![("tainted", "oa"), ("b", "na")], true),
        ] {
            let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": unavailable, "maxSurge": surge}});
            let report = report(strategy, &pods);
            let found = workload(&report).iter().any(|(code, _)| *code == "RolloutIdle");
            assert_eq!(found, want, "{unavailable} {surge} {pods:?}");
            assert!(!found || report.rollout.phase == "stuck");
        }
    }
}
