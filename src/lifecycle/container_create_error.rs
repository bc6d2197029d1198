//! ContainerCreateError: a container cannot be made or started.
//!
//! Upstream (v1.37.2): `ErrCreateContainerConfig`, `ErrCreateContainer`, `ErrPreStartHook`,
//! `ErrPostStartHook` of `pkg/kubelet/kuberuntime/kuberuntime_container.go`, `ErrRunContainer` of
//! `pkg/kubelet/container/sync_result.go`.

use super::{View, config_missing, shortened};
use crate::cause::{Cause, Entry, Stage};

/// The page.
pub static ENTRY: Entry = Entry {
    code: "ContainerCreateError",
    stage: Stage::Running,
    summary: "The container runtime cannot make or start a container",
    doc: "\
## What it means
The image is there, and the container cannot be made from it or started. CreateContainerConfigError: the kubelet cannot work the
configuration out (runAsNonRoot with an image that runs as root, a subPath that does not exist). CreateContainerError, RunContainerError:
the runtime refuses (the command is not in the image, a mount path is wrong, a device, seccomp or AppArmor profile is missing, the name is
still in use). PostStartHookError: the postStart hook failed.

## How it is recognised
A container waits with such a reason. A missing Secret or ConfigMap is reported as ConfigMissing.

## How to check by hand
    kubectl -n NAMESPACE describe pod POD
    kubectl -n NAMESPACE get events --field-selector involvedObject.name=POD

## How to fix it
The message says what the runtime lacks. If only some nodes are hit, compare their runtime, kernel and what is installed there.
",
};

/// The causes, one for each container and reason.
pub fn causes(view: &View) -> Vec<Cause> {
    let mut causes = Vec::new();
    for part in view.parts() {
        let Some((reason, message)) = part.waiting() else { continue };
        let ours = matches!(
            reason,
            "CreateContainerConfigError"
                | "CreateContainerError"
                | "RunContainerError"
                | "PreCreateHookError"
                | "PreStartHookError"
                | "PostStartHookError"
        );
        if !ours || (reason == "CreateContainerConfigError" && !config_missing::named(view, message).is_empty()) {
            continue;
        }
        let said = if message.is_empty() { view.event(&["Failed"]).map_or("", |e| e.message.as_str()) } else { message };
        let said = shortened(said);
        let colon = if said.is_empty() { "" } else { ": " };
        causes.push(
            Cause::new(&ENTRY, reason, format!("{} cannot be made or started ({reason}){colon}{said}", part.title()))
                .evidence(view.object(), format!("{}.state.waiting.reason", part.path), reason)
                .evidence(view.object(), format!("{}.state.waiting.message", part.path), said)
                .remedy(view.describe()),
        );
    }
    causes
}

#[cfg(test)]
mod tests {
    use crate::lifecycle::bed::{found, running};
    use serde_json::json;

    #[test]
    fn each_reason_is_a_detail() {
        for reason in ["CreateContainerError", "RunContainerError", "PostStartHookError"] {
            let waits = running(json!({"state": {"waiting": {"reason": reason, "message": "no"}}}));
            assert_eq!(found(waits, vec![]), [format!("ContainerCreateError {reason}")]);
        }
        assert_eq!(found(running(json!({"state": {"waiting": {"reason": "ContainerCreating"}}})), vec![]), ["Starting"]);
    }
}
