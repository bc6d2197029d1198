//! ConfigMissing: a Secret or ConfigMap, or a key of it, that the pod needs is not there.
//!
//! Upstream (v1.37.2): `makeEnvironmentVariables` of `pkg/kubelet/kubelet_pods.go` (reason
//! CreateContainerConfigError), `pkg/volume/secret`, `pkg/volume/configmap`, `pkg/volume/projected`
//! (events FailedMount).

use super::{View, volume_mount};
use crate::cause::{Cause, Entry, Remedy, Stage};

/// The page.
pub static ENTRY: Entry = Entry {
    code: "ConfigMissing",
    stage: Stage::Running,
    summary: "A Secret or ConfigMap (or a key of it) that the pod needs does not exist",
    doc: "\
## What it means
The template takes a variable or a volume from a Secret or ConfigMap that is not in the namespace, or lacks the key. The container cannot
be made; the kubelet tries again every few seconds, so the pod starts by itself once the object is there.

## How it is recognised
A container waits with CreateContainerConfigError, or the pod has events FailedMount, whose message says `secret \"X\" not found`,
`configmap \"X\" not found`, or that a key cannot be found.

## How to check by hand
    kubectl -n NAMESPACE describe pod POD
    kubectl -n NAMESPACE get secrets,configmaps
    kubectl -n NAMESPACE describe secret SECRET

## How to fix it
Create it in the DaemonSet's namespace (objects of other namespaces are not seen), mend the name or key in the template, or mark the
reference `optional: true`. Often another component was to make it: a certificate, an operator, a Helm hook.
",
};

/// What is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// `secret` or `configmap`.
    pub kind: &'static str,
    /// The object's name.
    pub name: String,
    /// The key, if the object itself may be there.
    pub key: Option<String>,
}

/// The causes, one for each object.
pub fn causes(view: &View) -> Vec<Cause> {
    let mut causes: Vec<Cause> = Vec::new();
    for part in view.parts() {
        let Some((reason, message)) = part.waiting() else { continue };
        if reason != "CreateContainerConfigError" {
            continue;
        }
        for missing in named(view, message) {
            let said = format!("{} of {} cannot be found", missing.title(), part.title());
            let cause = Cause::new(&ENTRY, missing.detail(), said)
                .evidence(view.object(), format!("{}.state.waiting.reason", part.path), reason)
                .evidence(view.object(), format!("{}.state.waiting.message", part.path), super::shortened(message));
            push(&mut causes, finish(view, cause, &missing));
        }
    }
    for event in view.failed_mounts() {
        for missing in named(view, &event.message) {
            let volume = volume_mount::volume_of(&event.message);
            let said = format!("{} of volume {volume} cannot be found", missing.title());
            let cause = view.with_event(Cause::new(&ENTRY, missing.detail(), said), Some(event));
            push(&mut causes, finish(view, cause, &missing));
        }
    }
    causes
}

fn push(causes: &mut Vec<Cause>, cause: Cause) {
    if !causes.iter().any(|c| c.detail == cause.detail) {
        causes.push(cause);
    }
}

fn finish(view: &View, cause: Cause, missing: &Missing) -> Cause {
    // Names and sizes of keys only; `describe` does not show what a Secret holds.
    let see = view.kubectl(&["describe", missing.kind, &missing.name]);
    cause.remedy(Remedy::inspect("see whether it is there and which keys it has", see)).remedy(view.describe())
}

impl Missing {
    fn detail(&self) -> String {
        format!("{}/{}", self.kind, self.name)
    }

    fn title(&self) -> String {
        match &self.key {
            Some(key) => format!("key {key} of {} {}", self.kind, self.name),
            None => format!("{} {}", self.kind, self.name),
        }
    }
}

/// What a message of the kubelet says is missing.
pub fn named(view: &View, message: &str) -> Vec<Missing> {
    let mut found = Vec::new();
    for (kind, words) in [("secret", "secret \""), ("configmap", "configmap \"")] {
        for rest in message.split(words).skip(1) {
            if let Some((name, behind)) = rest.split_once('"')
                && behind.trim_start().starts_with("not found")
            {
                found.push(Missing { kind, name: name.to_string(), key: None });
            }
        }
    }
    for (kind, words) in [("secret", " in Secret "), ("configmap", " in ConfigMap ")] {
        if let Some((before, after)) = message.split_once(words)
            && let Some(key) = before.rsplit_once("couldn't find key ").map(|r| r.1)
            && let Some((_, name)) = after.split_once('/')
        {
            let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || "-.".contains(c))).unwrap_or(name.len());
            found.push(Missing { kind, name: name[..end].to_string(), key: Some(key.to_string()) });
        }
    }
    for (kind, words) in [("secret", "references non-existent secret key: "), ("configmap", "references non-existent config key: ")] {
        if let Some(key) = message.split(words).nth(1).and_then(|rest| rest.split_whitespace().next())
            && let Some(name) = source_of(view, volume_mount::volume_of(message), kind)
        {
            found.push(Missing { kind, name, key: Some(key.trim_end_matches([',', ']']).to_string()) });
        }
    }
    found
}

/// The Secret or ConfigMap that the volume of this name is made from, if it is a single one.
fn source_of(view: &View, volume: &str, kind: &str) -> Option<String> {
    let source = &view.pod.spec.volumes.iter().find(|v| v.name == volume)?.source;
    let projected = source.projected.iter().flat_map(|p| &p.sources);
    let mut names: Vec<&str> = if kind == "secret" {
        let own = source.secret.iter().map(|s| s.secret_name.as_str());
        own.chain(projected.flat_map(|p| &p.secret).map(|s| s.object.name.as_str())).collect()
    } else {
        let own = source.config_map.iter().map(|c| c.object.name.as_str());
        own.chain(projected.flat_map(|p| &p.config_map).map(|c| c.object.name.as_str())).collect()
    };
    names.dedup();
    match names.as_slice() {
        [name] => Some((*name).to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::lifecycle::bed::{causes, event, found, names, node, pod, running};
    use serde_json::json;

    #[test]
    fn objects_and_keys_are_found_in_the_messages() {
        for (message, want) in [
            (r#"secret "member-key" not found"#, "ConfigMissing secret/member-key"),
            (r#"configmap "conf" not found"#, "ConfigMissing configmap/conf"),
            ("couldn't find key token in Secret ns/keys", "ConfigMissing secret/keys"),
            ("couldn't find key a.yaml in ConfigMap ns/conf.d", "ConfigMissing configmap/conf.d"),
            ("container has runAsNonRoot and image will run as root", "ContainerCreateError CreateContainerConfigError"),
        ] {
            let waits = running(json!({"state": {"waiting": {"reason": "CreateContainerConfigError", "message": message}}}));
            assert_eq!(found(waits, vec![]), [want]);
        }
    }

    #[test]
    fn volumes_need_them_too() {
        let waits = running(json!({"state": {"waiting": {"reason": "ContainerCreating"}}}));
        let mut pod = pod(waits);
        pod["spec"]["volumes"] = json!([{"name": "tls", "secret": {"secretName": "cert"}}]);
        for (why, want) in [
            (r#"[secret "a" not found, configmap "b" not found]"#, vec!["ConfigMissing secret/a", "ConfigMissing configmap/b"]),
            ("references non-existent secret key: tls.key", vec!["ConfigMissing secret/cert"]),
        ] {
            let events = vec![event("FailedMount", &format!("MountVolume.SetUp failed for volume \"tls\" : {why}"))];
            assert_eq!(names(&causes(node("True"), pod.clone(), events)), want);
        }
    }

    #[test]
    fn an_init_container_may_lack_it() {
        let status = json!({"phase": "Pending", "startTime": "2026-11-30T10:00:00Z",
            "initContainerStatuses": [{"name": "setup", "state": {"waiting": {"reason": "CreateContainerConfigError", "message": "secret \"x\" not found"}}}],
            "containerStatuses": [{"name": "agent", "state": {"waiting": {"reason": "PodInitializing"}}}]});
        assert_eq!(found(status, vec![]), ["ConfigMissing secret/x"]);
    }
}
