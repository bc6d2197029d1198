//! SandboxFailed: the pod's sandbox (its network, its runtime) cannot be made.
//!
//! Upstream: events `FailedCreatePodSandBox` and `NetworkNotReady` of `pkg/kubelet/events/event.go`
//! (v1.37.2); the condition PodReadyToStartContainers stays False meanwhile.

use super::{View, shortened};
use crate::cause::command::command;
use crate::cause::{Cause, Entry, Remedy, Stage};

/// The page.
pub static ENTRY: Entry = Entry {
    code: "SandboxFailed",
    stage: Stage::Running,
    summary: "The node cannot set the pod's sandbox up: network plugin or container runtime",
    doc: "\
## What it means
Before any container the kubelet makes the pod's sandbox: it asks the network plugin (CNI) for an address and the container runtime for
the frame. One of them fails: the plugin is not installed or not ready on the node, has no address left, or the runtime has no handler for
the pod's RuntimeClass. If this DaemonSet *is* the network plugin, it must run with hostNetwork.

## How it is recognised
The containers wait in ContainerCreating, and the newest event of the pod about it is FailedCreatePodSandBox or NetworkNotReady. Its text
tells the kinds apart: no runtime handler, no IP address, network not ready, network plugin, sandbox image (the pause image), sysctl,
runtime too slow, and the container runtime for all else.

## How to check by hand
    kubectl -n NAMESPACE describe pod POD
    kubectl get pods -A -o wide --field-selector spec.nodeName=NODE
    kubectl get runtimeclass

## How to fix it
See the network plugin's own pod on that node and its log; on the node, /etc/cni/net.d and the runtime's log. For a RuntimeClass, install
its handler on the node, or keep the DaemonSet to nodes that have it (`scheduling.nodeSelector` of the RuntimeClass).
",
};

/// The cause, if the sandbox failed and nothing has come of the pod since.
pub fn causes(view: &View) -> Vec<Cause> {
    if view.is_begun() {
        return Vec::new();
    }
    let Some(event) = view.event(&["FailedCreatePodSandBox", "NetworkNotReady", "FailedMount", "FailedAttachVolume", "Pulling", "Pulled"])
    else {
        return Vec::new();
    };
    if !matches!(event.reason.as_str(), "FailedCreatePodSandBox" | "NetworkNotReady") {
        return Vec::new();
    }
    let (detail, what) = reason(&event.message, view.pod.spec.runtime_class_name.as_deref());
    let cause = Cause::new(&ENTRY, detail, format!("the pod's sandbox cannot be made: {what}"));
    let mut cause = view.with_event(cause, Some(event));
    if let Some(ready) = view.pod.condition("PodReadyToStartContainers") {
        cause = cause.evidence(view.object(), "status.conditions[PodReadyToStartContainers].status", ready.status.as_str());
    }
    if let Some(node) = view.pod.node_name() {
        let selector = format!("--field-selector=spec.nodeName={node}");
        cause = cause.remedy(Remedy::inspect(
            "see the network plugin's pod on the node",
            command(["kubectl", "get", "pods", "-A", "-o", "wide", &selector]),
        ));
    }
    if view.pod.spec.runtime_class_name.is_some() {
        cause = cause.remedy(Remedy::inspect("see the runtime classes", "kubectl get runtimeclass"));
    }
    vec![cause.remedy(view.describe())]
}

/// A short name for the trouble, and what it is.
fn reason(message: &str, class: Option<&str>) -> (&'static str, String) {
    let text = message.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|w| text.contains(w));
    if has(&["no runtime for", "runtimehandler", "runtime handler", "unknown runtime"]) {
        let class = class.map_or(String::new(), |c| format!(" of RuntimeClass {c}"));
        return ("no runtime handler", format!("the node's container runtime has no handler{class}"));
    }
    // What the address managers say when they have none; that one of them does not answer is another matter.
    const NO_ADDRESS: [&str; 12] = [
        "no ip addresses available",
        "no ips available",
        "no more ip",
        "no available ip",
        "no available addresses",
        "no available private ip",
        "assigned 0 out of",
        "failed to assign an ip",
        "insufficient ip",
        "failed to allocate for range",
        "range is full",
        "pool exhausted",
    ];
    if has(&NO_ADDRESS) {
        return ("no IP address", "the network plugin has no address for it".into());
    }
    if has(&["network is not ready", "cni plugin not initialized", "networkpluginnotready"]) {
        return ("network not ready", "the node's network plugin is not ready".into());
    }
    if has(&["cni", "setup network", "network for sandbox", "networkplugin"]) {
        return ("network plugin", format!("the network plugin failed: {}", shortened(message)));
    }
    if has(&["pause", "sandbox image"]) && has(&["pull", "image"]) {
        return ("sandbox image", "the pause image cannot be pulled".into());
    }
    if has(&["sysctl"]) {
        return ("sysctl", shortened(message));
    }
    if has(&["deadlineexceeded", "deadline exceeded", "name is reserved", "is reserved for", "timed out"]) {
        return ("runtime too slow", format!("the container runtime does not answer in time: {}", shortened(message)));
    }
    ("container runtime", shortened(message))
}

#[cfg(test)]
mod tests {
    use crate::lifecycle::bed::{event, found, running};
    use serde_json::json;

    #[test]
    fn what_fails_is_told_apart() {
        let waits = running(json!({"state": {"waiting": {"reason": "ContainerCreating"}}}));
        for (reason, message, want) in [
            (
                "FailedCreatePodSandBox",
                r#"Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "gvisor" is configured"#,
                "SandboxFailed no runtime handler",
            ),
            (
                "FailedCreatePodSandBox",
                r#"Failed to create pod sandbox: ... failed to setup network for sandbox "x": plugin type="aws-cni" failed (add): failed to assign an IP address to container"#,
                "SandboxFailed no IP address",
            ),
            (
                "FailedCreatePodSandBox",
                r#"... failed to setup network for sandbox "x": plugin type="calico" failed (add): stat /var/lib/calico/nodename: no such file"#,
                "SandboxFailed network plugin",
            ),
            (
                "FailedCreatePodSandBox",
                r#"... plugin type="calico" failed (add): failed to request IPv4 addresses: Assigned 0 out of 1 requested IPv4 addresses; No IPs available in pools: [10.0.0.0/24]"#,
                "SandboxFailed no IP address",
            ),
            (
                "FailedCreatePodSandBox",
                r#"... failed to setup network for sandbox "x": plugin type="azure-vnet" failed (add): IPAM plugin timed out connecting to its service"#,
                "SandboxFailed network plugin",
            ),
            (
                "FailedCreatePodSandBox",
                r#"... failed to reserve sandbox name "a_b_0": name "a_b_0" is reserved for "0123""#,
                "SandboxFailed runtime too slow",
            ),
            ("NetworkNotReady", "network is not ready: container runtime network not ready", "SandboxFailed network not ready"),
            ("FailedCreatePodSandBox", "Failed to create pod sandbox: odd", "SandboxFailed container runtime"),
        ] {
            assert_eq!(found(waits.clone(), vec![event(reason, message)]), [want]);
        }
    }

    #[test]
    fn an_old_failure_is_past_once_a_container_ran() {
        let runs = running(json!({"state": {"waiting": {"reason": "ImagePullBackOff"}}}));
        assert_eq!(found(runs, vec![event("FailedCreatePodSandBox", "x")]), ["ImagePull ImagePullBackOff"]);
    }
}
