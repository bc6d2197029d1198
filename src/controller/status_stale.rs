//! StatusStale: the controller has not looked at the newest spec.
//!
//! Upstream: `syncDaemonSet` and `storeDaemonSetStatus` of
//! `pkg/controller/daemon/daemon_controller.go` (v1.37.2): observedGeneration follows generation.

use crate::cause::{Cause, Entry, Stage};
use crate::model::daemon_set::DaemonSet;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "StatusStale",
    stage: Stage::Rollout,
    summary: "The controller has not acted on the DaemonSet's newest spec",
    doc: "\
## What it means
`status.observedGeneration` is behind `metadata.generation`: since the last change of the spec the DaemonSet controller has not finished a
round for this DaemonSet. Either kube-controller-manager does not run (or has no leader), or it is behind or waits for creations and
deletions that it has not seen happen.

## How it is recognised
observedGeneration < generation, or observedGeneration is missing altogether.

## How to check by hand
    kubectl -n kube-system get lease kube-controller-manager -o yaml
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.metadata.generation} {.status.observedGeneration}'

## How to fix it
See that kube-controller-manager runs, holds its lease and can reach the API server; its log tells what keeps it. Seconds after a change
this is normal.
",
};

/// `observedGeneration` and `generation`, if the first is behind.
pub fn lag(ds: &DaemonSet) -> Option<(i64, i64)> {
    let (observed, generation) = (ds.status.observed_generation, ds.metadata.generation);
    // A manifest that was never on an API server has neither.
    (observed < generation).then_some((observed, generation))
}

/// The cause for a node that lacks its pod meanwhile.
pub fn node_cause(ds: &DaemonSet, (observed, generation): (i64, i64)) -> Cause {
    let mut cause = workload_cause(ds, (observed, generation));
    cause.detail = format!("observedGeneration {observed} < {generation}");
    cause
}

/// The cause for the DaemonSet as a whole.
pub fn workload_cause(ds: &DaemonSet, (observed, generation): (i64, i64)) -> Cause {
    let message = match observed {
        0 => "the controller has not acted on the DaemonSet yet: it is behind or does not run".to_string(),
        _ => format!("the controller has acted on generation {observed}, the spec is at {generation}: it is behind or does not run"),
    };
    let object = format!("DaemonSet/{}", ds.metadata.full_name());
    Cause::new(&ENTRY, "", message).evidence(&object, "metadata.generation", generation).evidence(
        &object,
        "status.observedGeneration",
        observed,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_observed_generation_is_behind() {
        for (generation, observed, want) in [(1, 0, Some((0, 1))), (4, 3, Some((3, 4))), (4, 4, None), (0, 0, None)] {
            let ds = json!({"metadata": {"name": "ds", "generation": generation}, "status": {"observedGeneration": observed}});
            let ds: DaemonSet = serde_json::from_value(ds).unwrap();
            assert_eq!(lag(&ds), want);
            if let Some(lag) = want {
                assert_eq!(node_cause(&ds, lag).detail, format!("observedGeneration {observed} < {generation}"));
                assert_eq!(workload_cause(&ds, lag).detail, "");
            }
        }
    }
}
