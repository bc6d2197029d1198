//! What `kubectl rollout status` would say, and the strategy's numbers.
//!
//! Upstream: `DaemonSetStatusViewer.Status` of `k8s.io/kubectl/pkg/polymorphichelpers/rollout_status.go`,
//! `UnavailableCount` and `SurgeCount` of `pkg/controller/daemon/util/daemonset_util.go`,
//! `updatedDesiredNodeCounts` of `pkg/controller/daemon/update.go` (v1.37.2).

use crate::model::daemon_set::DaemonSet;
use crate::report::Rollout;

/// The strategy, resolved for `desired` nodes, and kubectl's words.
pub fn status(ds: &DaemonSet, desired: i64) -> Rollout {
    let strategy = if ds.spec.update_strategy.r#type.is_empty() { "RollingUpdate" } else { &ds.spec.update_strategy.r#type };
    let (max_unavailable, max_surge) = if strategy == "OnDelete" { (None, None) } else { resolve(ds, desired) };
    let (phase, message) = words(ds, strategy);
    Rollout { strategy: strategy.to_string(), max_unavailable, max_surge, phase, message, ..Rollout::default() }
}

/// maxUnavailable and maxSurge in pods: percentages are rounded up; where both come to 0, one pod
/// may be unavailable.
fn resolve(ds: &DaemonSet, desired: i64) -> (Option<i64>, Option<i64>) {
    let rolling = ds.spec.update_strategy.rolling_update.as_ref();
    let surge = rolling.and_then(|r| r.max_surge.as_ref()).map_or(Some(0), |s| s.scaled(desired, true));
    let unavailable = rolling.and_then(|r| r.max_unavailable.as_ref()).map_or(Some(1), |u| u.scaled(desired, true));
    match (unavailable, surge) {
        (Some(0), Some(0)) if desired > 0 => (Some(1), Some(0)),
        both => both,
    }
}

fn words(ds: &DaemonSet, strategy: &str) -> (&'static str, String) {
    let (name, status) = (&ds.metadata.name, &ds.status);
    if strategy != "RollingUpdate" {
        return ("waiting-for-delete", format!("rollout status is only available for RollingUpdate strategy type, this is {strategy}"));
    }
    if ds.metadata.generation > status.observed_generation {
        return ("unobserved", "Waiting for daemon set spec update to be observed...".into());
    }
    let (desired, updated, available) = (status.desired_number_scheduled, status.updated_number_scheduled, status.number_available);
    if updated < desired {
        let message =
            format!("Waiting for daemon set {name:?} rollout to finish: {updated} out of {desired} new pods have been updated...");
        return ("progressing", message);
    }
    if available < desired {
        let message = format!("Waiting for daemon set {name:?} rollout to finish: {available} of {desired} updated pods are available...");
        return ("progressing", message);
    }
    ("complete", format!("daemon set {name:?} successfully rolled out"))
}
