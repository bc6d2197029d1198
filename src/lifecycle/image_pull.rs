//! ImagePull: an image cannot be had on the node.
//!
//! Upstream: the errors of `pkg/kubelet/images/types.go` (v1.37.2) and
//! `k8s.io/cri-api/pkg/errors` are the waiting reasons; what the registry said is in the message
//! or, of older kubelets, only in the event `Failed`.

use super::{Part, View, quoted, shortened};
use crate::cause::{Cause, Entry, Remedy, Stage};
use crate::model::event::Event;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "ImagePull",
    stage: Stage::Running,
    summary: "The image of a container cannot be pulled on the node",
    doc: "\
## What it means
The node's container runtime cannot get the image. What the registry said is told apart: there is no such image or tag; it wants a login
and the pod has no (or a wrong) pull secret; it limits the rate of pulls (a DaemonSet pulls once on every node); the image has no variant
for the node's platform; the registry cannot be reached; the disk is full. Nodes that hold the image already run it all the same, which is
why only new nodes may fail.

## How it is recognised
A container waits with ErrImagePull, ImagePullBackOff, ErrImageNeverPull, InvalidImageName or ImageInspectError (the detail). Why is in its
message, or, of older kubelets, in the pod's events Failed.

## How to check by hand
    kubectl -n NAMESPACE describe pod POD
    kubectl -n NAMESPACE get pod POD -o jsonpath='{.spec.imagePullSecrets}'
    kubectl -n NAMESPACE get events --field-selector involvedObject.name=POD

## How to fix it
Mend the name or tag; create the pull secret (`kubectl create secret docker-registry`) and name it in imagePullSecrets or the service
account; publish the image for the node's platform or keep the DaemonSet away with a node selector on kubernetes.io/arch or
kubernetes.io/os; use a mirror or log in against rate limits.
",
};

/// Waiting reasons that mean that the image is not there.
const REASONS: [&str; 7] = [
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "ImageInspectError",
    "RegistryUnavailable",
    "SignatureValidationFailed",
];

/// What is said of an image that is there, but not for the node's platform.
pub const NO_VARIANT: &str = "it has no variant for";

/// What the registry or the runtime said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Platform,
    RateLimit,
    Login,
    Absent,
    Unreachable,
    Certificate,
    Plain,
    DiskFull,
    Other,
}

/// The causes, one for each container whose image is missing.
pub fn causes(view: &View) -> Vec<Cause> {
    if view.parts().next().is_none() {
        return told(view).into_iter().collect();
    }
    let mut causes: Vec<Cause> = Vec::new();
    for part in view.parts() {
        let Some((reason, message)) = part.waiting().filter(|(r, _)| REASONS.contains(r)) else { continue };
        let cause = cause(view, &part, reason, message);
        match causes.iter_mut().find(|c| c.detail == cause.detail) {
            Some(same) => same.evidence.extend(cause.evidence),
            None => causes.push(cause),
        }
    }
    causes
}

/// What events tell of a pod whose kubelet has not written any container's status yet.
fn told(view: &View) -> Option<Cause> {
    let back_off = |e: &Event| e.reason == "BackOff" && e.message.starts_with("Back-off pulling image ");
    let failed = |e: &Event| e.reason == "Failed" && e.message.starts_with("Failed to pull image ");
    let last = view.events.iter().rev().copied().find(|e| back_off(e) || failed(e) || matches!(e.reason.as_str(), "Pulled" | "Started"))?;
    let image = quoted(&last.message).filter(|_| back_off(last) || failed(last))?;
    let why = view.events.iter().rev().copied().find(|e| failed(e) && e.message.contains(image)).unwrap_or(last);
    let reason = if back_off(last) { "ImagePullBackOff" } else { "ErrImagePull" };
    let message = format!("image {image} cannot be pulled: {}", sentence(view, kind(&why.message), &why.message));
    Some(view.with_event(Cause::new(&ENTRY, reason, message), Some(why)).remedy(view.describe()))
}

fn cause(view: &View, part: &Part, reason: &str, waiting: &str) -> Cause {
    let image = part.spec.map_or(part.status.image.as_str(), |c| c.image.as_str());
    let event = view.events.iter().rev().copied().find(|e| e.reason == "Failed" && e.message.contains(image) && e.message.contains("pull"));
    // The back-off of older kubelets says only that it backs off.
    let said = event.map(|e| e.message.as_str()).filter(|_| kind(waiting) == Kind::Other).unwrap_or(waiting);
    let why = match reason {
        "ErrImageNeverPull" => "it is not on the node, and imagePullPolicy Never forbids to pull it".to_string(),
        "InvalidImageName" => "the name is not a valid image reference".to_string(),
        _ => sentence(view, kind(said), said),
    };
    let mut cause = Cause::new(&ENTRY, reason, format!("image {image} of {} cannot be pulled: {why}", part.title()))
        .evidence(view.object(), format!("{}.state.waiting.reason", part.path), reason)
        .evidence(view.object(), format!("{}.state.waiting.message", part.path), shortened(waiting));
    if said != waiting {
        cause = view.with_event(cause, event);
    }
    if kind(said) == Kind::Login {
        let see = view.kubectl(&["get", "pod", &view.pod.metadata.name, "-o", "jsonpath={.spec.imagePullSecrets}"]);
        cause = cause.remedy(Remedy::inspect("see which pull secrets it has", see));
        for secret in &view.pod.spec.image_pull_secrets {
            cause = cause.remedy(Remedy::inspect("see whether the pull secret is there", view.kubectl(&["get", "secret", &secret.name])));
        }
    }
    if kind(said) == Kind::Platform
        && let Some(node) = view.info.map(|i| i.node)
    {
        let platform = format!("{}/{}", node.status.node_info.operating_system, node.status.node_info.architecture);
        cause = cause.evidence(format!("Node/{}", node.name()), "status.nodeInfo", platform);
    }
    cause.remedy(view.describe())
}

fn sentence(view: &View, kind: Kind, said: &str) -> String {
    match kind {
        Kind::Platform => {
            let node = view.info.map(|i| &i.node.status.node_info).filter(|n| !n.architecture.is_empty());
            let platform = node.map_or("the node's platform".to_string(), |n| format!("{}/{}", n.operating_system, n.architecture));
            format!("{NO_VARIANT} {platform}")
        }
        Kind::RateLimit => "the registry limits the rate of pulls".into(),
        Kind::Login => login(view),
        Kind::Absent => "the registry has no such image or tag".into(),
        Kind::Unreachable => format!("the registry cannot be reached: {}", shortened(said)),
        Kind::Certificate => format!("the registry's certificate is not trusted: {}", shortened(said)),
        Kind::Plain => "the registry speaks plain HTTP, which the node's runtime is not set up for (a mirror or insecure registry in its configuration)".into(),
        Kind::DiskFull => "the node's disk is full".into(),
        Kind::Other if said.is_empty() => "the kubelet does not say why".into(),
        Kind::Other => shortened(said),
    }
}

fn login(view: &View) -> String {
    let lost = view.event(&["FailedToRetrieveImagePullSecret"]).and_then(|e| e.message.split('(').nth(1)?.split(')').next());
    let secrets: Vec<&str> = view.pod.spec.image_pull_secrets.iter().map(|s| s.name.as_str()).collect();
    match (lost, secrets.as_slice()) {
        (Some(names), _) => format!("the registry wants a login, and the pull secret {names} is not in the namespace"),
        (None, []) => "the registry wants a login (or has no such image), and the pod has no pull secret".into(),
        (None, names) => format!("the registry does not accept the login of the pull secret {}", names.join(", ")),
    }
}

fn kind(message: &str) -> Kind {
    let text = message.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|w| text.contains(w));
    // In this order: the words of the later kinds come along with those of the earlier ones.
    if has(&[
        "no match for platform",
        "no matching manifest",
        "does not match the specified platform",
        "no image found in manifest list",
        "no image found in image index",
    ]) {
        Kind::Platform
    } else if has(&["toomanyrequests", "too many requests", "rate limit"]) {
        Kind::RateLimit
    } else if has(&["no space left"]) {
        Kind::DiskFull
    } else if has(&["x509:", "verify certificate"]) {
        Kind::Certificate
    } else if has(&["http response to https client"]) {
        Kind::Plain
    } else if has(&[
        "unauthorized",
        "forbidden",
        "failed to authorize",
        "authentication required",
        "denied",
        "no basic auth",
        "insufficient_scope",
    ]) {
        Kind::Login
    } else if has(&[
        "no such host",
        "i/o timeout",
        "connection refused",
        "deadline exceeded",
        "unreachable",
        ": eof",
        "connection reset",
        "server misbehaving",
        "no route to host",
        "tls handshake timeout",
        "context canceled",
        "bad gateway",
        "service unavailable",
        "gateway timeout",
        "internal server error",
    ]) {
        Kind::Unreachable
    } else if has(&["not found", "manifest unknown", "name unknown"]) {
        Kind::Absent
    } else {
        Kind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::bed::{causes, event, found, node, pod, running};
    use serde_json::json;

    #[test]
    fn what_the_registry_says_is_told_apart() {
        for (message, want) in [
            ("failed to pull and unpack image \"x\": no match for platform in manifest: not found", Kind::Platform),
            ("no matching manifest for linux/arm64/v8 in the manifest list entries", Kind::Platform),
            (
                "choosing image instance: no image found in image index for architecture \"arm64\", variant \"v8\", OS \"linux\"",
                Kind::Platform,
            ),
            ("toomanyrequests: You have reached your pull rate limit. unauthenticated", Kind::RateLimit),
            ("failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized", Kind::Login),
            ("pull access denied, repository does not exist or may require authorization: server message: insufficient_scope", Kind::Login),
            ("reg/x:9: not found", Kind::Absent),
            ("manifest unknown: manifest unknown", Kind::Absent),
            ("dial tcp: lookup reg on 10.0.0.10:53: no such host", Kind::Unreachable),
            ("unexpected status from HEAD request to https://reg/v2/x/manifests/1: 503 Service Unavailable", Kind::Unreachable),
            ("Head \"https://reg/v2/x\": http: server gave HTTP response to HTTPS client", Kind::Plain),
            ("tls: failed to verify certificate: x509: certificate signed by unknown authority", Kind::Certificate),
            ("write /var/lib/containerd/x: no space left on device", Kind::DiskFull),
            ("Back-off pulling image \"reg/agent:1\"", Kind::Other),
        ] {
            assert_eq!(kind(message), want, "{message}");
        }
    }

    #[test]
    fn an_older_kubelet_says_why_in_an_event_only() {
        let waits =
            running(json!({"state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image \"reg/agent:1\""}}}));
        let failed = event("Failed", "Failed to pull image \"reg/agent:1\": rpc error: reg/agent:1: not found");
        let found = causes(node("True"), pod(waits), vec![failed]);
        assert_eq!(found[0].message, "image reg/agent:1 of container agent cannot be pulled: the registry has no such image or tag");
    }

    #[test]
    fn events_tell_where_no_status_is_written_yet() {
        let failed = || event("Failed", "Failed to pull image \"reg/agent:1\": rpc error: reg/agent:1: not found");
        let back_off = || event("BackOff", "Back-off pulling image \"reg/agent:1\"");
        for (events, want) in [
            (vec![failed()], "ImagePull ErrImagePull"),
            (vec![failed(), back_off()], "ImagePull ImagePullBackOff"),
            (vec![failed(), event("Pulled", "Successfully pulled image \"reg/agent:1\"")], "Starting"),
            (vec![event("BackOff", "Back-off restarting failed container agent")], "Starting"),
        ] {
            let found = causes(node("True"), pod(json!({"phase": "Pending", "startTime": "2026-11-30T10:00:00Z"})), events);
            assert_eq!(crate::lifecycle::bed::names(&found), [want]);
            assert_eq!(found[0].message.ends_with("cannot be pulled: the registry has no such image or tag"), want != "Starting");
        }
    }

    #[test]
    fn the_pull_secret_is_named() {
        let waits = running(json!({"state": {"waiting": {"reason": "ErrImagePull", "message": "401 Unauthorized"}}}));
        let mut with = pod(waits.clone());
        with["spec"]["imagePullSecrets"] = json!([{"name": "regcred"}]);
        for (pod, events, want) in [
            (pod(waits), vec![], "and the pod has no pull secret"),
            (with.clone(), vec![], "the login of the pull secret regcred"),
            (
                with,
                vec![event(
                    "FailedToRetrieveImagePullSecret",
                    "Unable to retrieve some image pull secrets (regcred); attempting to pull the image may not succeed.",
                )],
                "the pull secret regcred is not in the namespace",
            ),
        ] {
            let found = causes(node("True"), pod, events);
            assert!(found[0].message.ends_with(want), "{}", found[0].message);
        }
    }

    #[test]
    fn init_containers_and_sidecars_have_images_too() {
        let status = json!({"phase": "Pending", "startTime": "2026-11-30T10:00:00Z",
            "initContainerStatuses": [{"name": "setup", "state": {"waiting": {"reason": "ErrImageNeverPull"}}}],
            "containerStatuses": [{"name": "agent", "state": {"waiting": {"reason": "PodInitializing"}}}]});
        assert_eq!(found(status, vec![]), ["ImagePull ErrImageNeverPull"]);
    }
}
