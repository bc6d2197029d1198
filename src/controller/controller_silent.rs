//! ControllerSilent: kube-controller-manager does not renew its lease.
//!
//! Upstream: leader election of `k8s.io/client-go/tools/leaderelection` (v0.37.2): the leader
//! renews the Lease `kube-system/kube-controller-manager` every few seconds.

use crate::cause::{Cause, Entry, Stage};
use crate::diagnose::Subject;
use crate::model::policy::Lease;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "ControllerSilent",
    stage: Stage::Creation,
    summary: "kube-controller-manager has not renewed its lease: the DaemonSet controller does not run",
    doc: "\
## What it means
The process that runs the DaemonSet controller holds a lease and renews it every few seconds. It has not for a while, so nobody creates,
replaces or counts pods.

## How it is recognised
`spec.renewTime` of the Lease kube-system/kube-controller-manager is older than its duration. Control planes run by a provider may not show
this lease at all; then nothing is concluded.

## How to check by hand
    kubectl -n kube-system get lease kube-controller-manager -o yaml
    kubectl -n kube-system get pods -l component=kube-controller-manager -o wide

## How to fix it
Bring kube-controller-manager up: its log and its static pod on the control-plane nodes tell why it does not run or cannot reach the API
server.
",
};

/// How long a lease may lie without renewal before its holder counts as gone, in seconds; generous,
/// for the clocks of API server and reader differ.
const PATIENCE_SECONDS: i64 = 60;

/// The lease of a control plane component that has not been renewed, with its age in seconds.
pub fn stale_lease<'a>(subject: &'a Subject, name: &str) -> Option<(&'a Lease, i64)> {
    let lease = subject.snapshot.leases.iter().find(|l| l.metadata.namespace == "kube-system" && l.metadata.name == name)?;
    let age = subject.snapshot.now.seconds_since(lease.spec.renew_time?);
    let patience = PATIENCE_SECONDS.max(i64::from(lease.spec.lease_duration_seconds.unwrap_or(15)) * 2);
    (age > patience).then_some((lease, age))
}

/// The cause, if the controller's lease is stale.
pub fn cause(subject: &Subject) -> Option<Cause> {
    let (lease, age) = stale_lease(subject, "kube-controller-manager")?;
    let message = format!("kube-controller-manager has not renewed its lease for {age} seconds: no controller acts on DaemonSets");
    let renewed = lease.spec.renew_time.map(|t| t.to_string());
    Some(Cause::new(&ENTRY, "", message).evidence("Lease/kube-system/kube-controller-manager", "spec.renewTime", renewed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::snapshot::Snapshot;
    use crate::model::time::Time;
    use serde_json::{Value, json};

    #[test]
    fn a_lease_that_nobody_renews() {
        for (name, renewed, seconds, want) in [
            ("kube-controller-manager", json!("2026-11-30T11:59:30.000000Z"), 15, false),
            ("kube-controller-manager", json!("2026-11-30T11:58:30.000000Z"), 15, true),
            ("kube-controller-manager", json!("2026-11-30T11:58:30.000000Z"), 60, false),
            // The reader's clock may be behind.
            ("kube-controller-manager", json!("2026-11-30T12:10:00.000000Z"), 15, false),
            ("kube-controller-manager", Value::Null, 15, false),
            ("kube-scheduler", json!("2026-11-30T11:00:00.000000Z"), 15, false),
        ] {
            let mut snapshot = Snapshot { now: Time::parse("2026-11-30T12:00:00Z").unwrap(), ..Snapshot::default() };
            let lease = json!({"metadata": {"name": name, "namespace": "kube-system"}, "spec": {"renewTime": renewed, "leaseDurationSeconds": seconds}});
            snapshot.objects.leases.items.push(serde_json::from_value(lease).unwrap());
            let ds = serde_json::from_value(json!({"metadata": {"name": "ds", "namespace": "ns"}})).unwrap();
            assert_eq!(cause(&Subject::new(&snapshot, &ds)).is_some(), want, "{name} {renewed} {seconds}");
        }
    }
}
