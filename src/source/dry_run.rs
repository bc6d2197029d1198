//! `--dry-run=server`: what the API server itself says to a manifest and to a pod of it. The only
//! requests that are no reads; the server does all that a real one would have it do but store it.

use serde_json::{Value, json};

use super::api::{Api, DryRun};
use super::api_error::ApiError;
use super::ingest::accept;
use super::lists::{object_path, path};
use super::manifests::Manifest;
use super::slim::{Focus, Slimmer};
use crate::model::daemon_set::DaemonSet;
use crate::model::pod::Pod;
use crate::model::toleration::daemon_pod_tolerations;
use crate::preflight::{Answer, Answers};

/// Asks about the DaemonSet, `exists` if one of its name is there, and about its pod for a node.
pub async fn ask(api: &Api, manifest: &Manifest, exists: bool, node: Option<&str>) -> Answers {
    let meta = &manifest.ds.metadata;
    let namespace = Some(meta.namespace.as_str());
    let sets = "daemonsets.apps";
    let at = if exists { object_path(sets, namespace, &meta.name) } else { path(sets, namespace) };
    let daemon_set = send(api, DryRun { path: &at, apply: exists, body: whole(manifest).to_string().into_bytes() }).await.0;
    let body = pod(&manifest.raw, &manifest.ds, node).to_string().into_bytes();
    let (pod, body) = send(api, DryRun { path: &path("pods", namespace), apply: false, body }).await;
    let admitted = serde_json::from_slice::<Pod>(&body).ok().filter(|_| pod.allowed == Some(true)).map(|mut pod| {
        accept(&mut pod, &mut Slimmer::new(Focus::default()));
        Box::new(pod)
    });
    Answers { daemon_set, pod, admitted }
}

/// The manifest as it is to be applied: in its namespace, without what a server wrote.
fn whole(manifest: &Manifest) -> Value {
    let mut raw = manifest.raw.clone();
    raw["metadata"]["namespace"] = json!(manifest.ds.metadata.namespace);
    if let Some(object) = raw.as_object_mut() {
        object.remove("status");
    }
    if let Some(metadata) = raw["metadata"].as_object_mut() {
        for key in ["managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"] {
            metadata.remove(key);
        }
    }
    raw
}

/// A pod as the controller makes it for the node (upstream: `CreatePodTemplate`,
/// `ReplaceDaemonSetPodNodeNameNodeAffinity`), of the template as it was written.
fn pod(raw: &Value, ds: &DaemonSet, node: Option<&str>) -> Value {
    let template = &raw["spec"]["template"];
    let mut spec = template["spec"].clone();
    if !spec.is_object() {
        spec = json!({});
    }
    spec["tolerations"] = json!(daemon_pod_tolerations(&ds.spec.template.spec));
    if let Some(node) = node {
        let terms = json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]);
        for part in ["affinity", "nodeAffinity"] {
            let at = if part == "affinity" { &mut spec } else { &mut spec["affinity"] };
            if !at[part].is_object() {
                at[part] = json!({});
            }
        }
        spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = json!({"nodeSelectorTerms": terms});
    }
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": format!("{}-", ds.metadata.name),
            "namespace": ds.metadata.namespace,
            "labels": template["metadata"]["labels"],
            "annotations": template["metadata"]["annotations"],
        },
        "spec": spec,
    })
}

async fn send(api: &Api, ask: DryRun<'_>) -> (Answer, Vec<u8>) {
    match api.dry_run(ask).await {
        Ok((warnings, body)) => (Answer { allowed: Some(true), warnings, ..Answer::default() }, body),
        Err(error) => (Answer { allowed: verdict(&error), message: words(&error), warnings: Vec::new() }, Vec::new()),
    }
}

/// What an error says of the object: nothing, if it is about who asks or about the asking.
fn verdict(error: &ApiError) -> Option<bool> {
    let ApiError::Refused { code, message, .. } = error else { return None };
    let not_asked = match code {
        401 | 408 | 409 | 429 | 502..=504 => true,
        403 => message.contains("User \"") && message.contains(" cannot "),
        400 => message.contains("does not support dry run"),
        404 => !message.contains("namespaces \""),
        _ => false,
    };
    (!not_asked).then_some(false)
}

fn words(error: &ApiError) -> String {
    match error {
        ApiError::Refused { message, .. } => message.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_of_the_asker_says_nothing_of_the_object() {
        for (code, message, want) in [
            (403, r#"pods is forbidden: User "me" cannot create resource "pods" in API group "" in the namespace "x""#, None),
            (403, r#"pods "a-" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"#, Some(false)),
            (422, r#"DaemonSet.apps "a" is invalid: spec.selector: Required value"#, Some(false)),
            (400, "admission webhook \"w\" does not support dry run", None),
            (500, "Internal error occurred: failed calling webhook \"w\"", Some(false)),
            (404, r#"namespaces "x" not found"#, Some(false)),
            (429, "too many requests", None),
        ] {
            let error = ApiError::Refused { code, reason: String::new(), message: message.into(), wait: None };
            assert_eq!(verdict(&error), want, "{message}");
        }
    }

    #[test]
    fn the_pod_is_the_controllers() {
        let raw = json!({"metadata": {"name": "a"}, "spec": {"template": {"metadata": {"labels": {"app": "a"}}, "spec": {
            "containers": [{"name": "c", "image": "i", "env": [{"name": "A", "value": "b"}]}],
            "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [], "requiredDuringSchedulingIgnoredDuringExecution": {"x": 1}}}}}}});
        let ds: DaemonSet = serde_json::from_value(json!({"metadata": {"name": "a", "namespace": "x"}})).unwrap();
        let pod = pod(&raw, &ds, Some("n1"));
        assert_eq!(pod["metadata"]["generateName"], "a-");
        assert_eq!(pod["spec"]["containers"][0]["env"][0]["value"], "b", "what is sent is what was written");
        let affinity = &pod["spec"]["affinity"]["nodeAffinity"];
        assert_eq!(affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"][0]["matchFields"][0]["values"][0], "n1");
        assert!(affinity["preferredDuringSchedulingIgnoredDuringExecution"].is_array());
        assert!(pod["spec"]["tolerations"].as_array().unwrap().len() >= 5);
    }
}
