//! VolumeMount: a volume cannot be mounted on the node.
//!
//! Upstream: events `FailedMount` of `pkg/kubelet/kubelet.go` (`WaitForAttachAndMount`) and of
//! `pkg/volume/util/operationexecutor/operation_generator.go` (v1.37.2).

use super::{View, config_missing, shortened};
use crate::cause::{Cause, Entry, Remedy, Stage};

/// The page.
pub static ENTRY: Entry = Entry {
    code: "VolumeMount",
    stage: Stage::Running,
    summary: "A volume of the pod cannot be mounted on the node",
    doc: "\
## What it means
The pod has its node, but its containers wait for a volume: the path of a hostPath is not of the type that the template asks for, the CSI
driver does not run on the node, the file server does not answer, a device is busy. A missing Secret or ConfigMap is reported as
ConfigMissing, a volume that cannot be attached as VolumeAttach.

## How it is recognised
The containers wait in ContainerCreating, and the pod has events FailedMount. The detail is the volume's name (for a claim, its
PersistentVolume's).

## How to check by hand
    kubectl -n NAMESPACE describe pod POD
    kubectl -n NAMESPACE get pod POD -o jsonpath='{.spec.volumes}'
    kubectl get csinode NODE -o jsonpath='{.spec.drivers[*].name}'

## How to fix it
For a hostPath, create the path on the node or set its type to DirectoryOrCreate. For CSI, see that the driver's own DaemonSet runs on the
node. For NFS and the like, see that the node reaches the server and has the mount helper.
",
};

/// The causes, one for each volume.
pub fn causes(view: &View) -> Vec<Cause> {
    let events: Vec<_> = view.failed_mounts().into_iter().filter(|e| config_missing::named(view, &e.message).is_empty()).collect();
    let mut causes: Vec<Cause> = Vec::new();
    // What a single volume fails with says more than the sum that the kubelet waited in vain.
    for event in events.iter().rev().filter(|e| !e.message.starts_with("Unable to attach or mount")) {
        let volume = volume_of(&event.message);
        if causes.iter().any(|c| c.detail == volume) {
            continue;
        }
        let message = format!("volume {volume} cannot be mounted: {}", reason(&event.message));
        causes.push(cause(view, volume, message, event));
    }
    if causes.is_empty()
        && view.failed_mounts().len() == events.len()
        && let Some(event) = events.last()
    {
        let waits = unmounted(&event.message);
        for volume in waits {
            let message = format!("volume {volume} is not mounted: {}", shortened(&event.message));
            causes.push(cause(view, volume, message, event));
        }
    }
    causes
}

fn cause(view: &View, volume: &str, message: String, event: &crate::model::event::Event) -> Cause {
    let mut cause = view.with_event(Cause::new(&ENTRY, volume, message), Some(event));
    if event.message.contains("registered CSI drivers")
        && let Some(node) = view.pod.node_name()
    {
        let see = crate::cause::command::command(["kubectl", "get", "csinode", node, "-o", "jsonpath={.spec.drivers[*].name}"]);
        cause = cause.remedy(Remedy::inspect("see which CSI drivers the node has", see));
    }
    let see = view.kubectl(&["get", "pod", &view.pod.metadata.name, "-o", "jsonpath={.spec.volumes}"]);
    cause.remedy(Remedy::inspect("see the pod's volumes", see)).remedy(view.describe())
}

/// The volume that a message names behind `for volume`.
pub fn volume_of(message: &str) -> &str {
    message.split("for volume \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default()
}

/// What the message says behind the volume's name.
fn reason(message: &str) -> String {
    let rest =
        message.split("for volume \"").nth(1).and_then(|rest| rest.split_once("\" : ").or_else(|| rest.split_once("\" "))).map(|r| r.1);
    shortened(rest.unwrap_or(message))
}

/// The volumes of `unmounted volumes=[a b]`.
fn unmounted(message: &str) -> Vec<&str> {
    let list = message.split("unmounted volumes=[").nth(1).and_then(|rest| rest.split(']').next()).unwrap_or_default();
    list.split([' ', ',']).filter(|v| !v.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use crate::lifecycle::bed::{event, found, running};
    use serde_json::json;

    const SUM: &str = "Unable to attach or mount volumes: unmounted volumes=[data log], unattached volumes=[data log]: timed out waiting for the condition";

    #[test]
    fn each_volume_is_said_once() {
        let waits = running(json!({"state": {"waiting": {"reason": "ContainerCreating"}}}));
        let setup = |v: &str, why: &str| event("FailedMount", &format!("MountVolume.SetUp failed for volume \"{v}\" : {why}"));
        for (events, want) in [
            (vec![setup("log", "hostPath type check failed: /x is not a directory")], vec!["VolumeMount log"]),
            (vec![setup("log", "x"), setup("log", "x"), event("FailedMount", SUM)], vec!["VolumeMount log"]),
            (vec![event("FailedMount", SUM)], vec!["VolumeMount data", "VolumeMount log"]),
            (
                vec![event(
                    "FailedMount",
                    "MountVolume.MountDevice failed for volume \"pvc-1\" : driver name x not found in the list of registered CSI drivers",
                )],
                vec!["VolumeMount pvc-1"],
            ),
            (vec![setup("tls", "secret \"a\" not found"), event("FailedMount", SUM)], vec!["ConfigMissing secret/a"]),
        ] {
            assert_eq!(found(waits.clone(), events), want);
        }
    }
}
