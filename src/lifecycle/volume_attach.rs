//! VolumeAttach: a volume cannot be attached to the node.
//!
//! Upstream: events `FailedAttachVolume` of `pkg/controller/volume/attachdetach` (`reconciler.go`,
//! the Multi-Attach error) and of `pkg/volume/util/operationexecutor` (v1.37.2).

use super::{View, quoted, shortened};
use crate::cause::{Cause, Entry, Remedy, Stage};

/// The page.
pub static ENTRY: Entry = Entry {
    code: "VolumeAttach",
    stage: Stage::Running,
    summary: "A volume of the pod cannot be attached to the node",
    doc: "\
## What it means
The disk behind the claim cannot be attached to the pod's node. *Multi-Attach error*: it is attached to another node already and may be so
to one only (ReadWriteOnce): one claim in the template of a DaemonSet can serve one node. Otherwise the storage driver refuses, or the node
has too many disks.

## How it is recognised
The containers wait in ContainerCreating, and the pod has events FailedAttachVolume. The detail is the volume's name.

## How to check by hand
    kubectl -n NAMESPACE describe pod POD
    kubectl get volumeattachments

## How to fix it
Give each node storage of its own: a generic ephemeral volume or a hostPath instead of one claim in the template, or a claim of
ReadWriteMany. If the other node is dead, delete its Node object (or taint it node.kubernetes.io/out-of-service) so that the disk is freed.
",
};

/// The causes, one for each volume.
pub fn causes(view: &View) -> Vec<Cause> {
    if view.is_begun() {
        return Vec::new();
    }
    let mut causes: Vec<Cause> = Vec::new();
    for event in view.events.iter().rev().filter(|e| e.reason == "FailedAttachVolume") {
        let volume = quoted(&event.message).unwrap_or_default();
        let attached = view
            .events
            .iter()
            .any(|e| e.reason == "SuccessfulAttachVolume" && e.message.contains(volume) && e.last_seen() >= event.last_seen());
        if attached || causes.iter().any(|c| c.detail == volume) {
            continue;
        }
        let why = if event.message.starts_with("Multi-Attach error") {
            let users =
                event.message.split_once("already used by ").map_or(String::new(), |(_, who)| format!(" (used by {})", shortened(who)));
            format!("it is attached to another node and may be so to one only{users}")
        } else {
            shortened(&event.message)
        };
        let cause = Cause::new(&ENTRY, volume, format!("volume {volume} cannot be attached to the node: {why}"));
        causes.push(
            view.with_event(cause, Some(event))
                .remedy(Remedy::inspect("see what is attached where", "kubectl get volumeattachments"))
                .remedy(view.describe()),
        );
    }
    causes
}

#[cfg(test)]
mod tests {
    use crate::lifecycle::bed::{causes, event, found, node, pod, running};
    use serde_json::json;

    #[test]
    fn an_attachment_that_came_about_is_past() {
        let waits = running(json!({"state": {"waiting": {"reason": "ContainerCreating"}}}));
        let multi =
            "Multi-Attach error for volume \"pvc-1\" Volume is already exclusively attached to one node and can't be attached to another";
        let done = event("SuccessfulAttachVolume", "AttachVolume.Attach succeeded for volume \"pvc-1\" ");
        assert_eq!(found(waits.clone(), vec![event("FailedAttachVolume", multi)]), ["VolumeAttach pvc-1"]);
        let used = event("FailedAttachVolume", "Multi-Attach error for volume \"pvc-1\" Volume is already used by pod(s) ds-x");
        let found_used = causes(node("True"), pod(waits.clone()), vec![used]);
        assert!(found_used[0].message.ends_with("may be so to one only (used by pod(s) ds-x)"), "{}", found_used[0].message);
        assert_eq!(found(waits, vec![event("FailedAttachVolume", multi), done]), ["Starting"]);
    }
}
