//! What of a DaemonSet is held here: of the rest a patch is judged without knowing what is there.

use k8s_openapi::api::apps::v1 as api;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::model::daemon_set::DaemonSet;

/// Fields that the type has and that are emptied, wholly or in part, when a DaemonSet is read.
const EMPTIED: [&str; 2] = ["annotations", "resourceVersion"];

/// Fields that are held with everything in them: an equal value is equal on the server, too.
const WHOLE: [&str; 14] = [
    "affinity",
    "finalizers",
    "imagePullSecrets",
    "labels",
    "nodeSelector",
    "overhead",
    "ports",
    "readinessGates",
    "resources",
    "schedulingGates",
    "selector",
    "tolerations",
    "topologySpreadConstraints",
    "updateStrategy",
];

/// Paths longer than this are of no field.
const LONGEST: usize = 64;

/// True if everything that the server has at this path is held.
pub fn is_whole(path: &str) -> bool {
    path.split('/').any(|part| WHOLE.contains(&part))
}

/// True if the field that the path (a JSON pointer) names would be held were it there.
pub fn is_held(path: &str) -> bool {
    !path.split('/').any(|part| EMPTIED.contains(&part)) && keeps::<DaemonSet>(path)
}

/// True if a value of some type that is put at this path is still there after it has been read as a `T`.
fn keeps<T: DeserializeOwned + Serialize>(path: &str) -> bool {
    let parts: Vec<String> = path.split('/').skip(1).map(|p| p.replace("~1", "/").replace("~0", "~")).collect();
    if parts.len() > LONGEST {
        return false;
    }
    let index = |part: &str| part == "-" || (!part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    // All elements of a list are of one type.
    let pointer: String = path.split('/').skip(1).map(|p| format!("/{}", if index(p) { "0" } else { p })).collect();
    // None of these is its type's default, which is not written.
    let leaves =
        [json!("1"), json!(1), json!(true), json!({}), json!(["1"]), json!([{}]), json!({"1": "1"}), json!("2026-01-01T00:00:00Z")];
    let structs = [json!({"type": "x"}), json!({"requests": {"x": "1"}}), json!({"name": "x"})];
    leaves.into_iter().chain(structs).any(|leaf| {
        let nested = parts.iter().rev().fold(leaf, |inner, part| if index(part) { json!([inner]) } else { json!({part: inner}) });
        let read = serde_json::from_value::<T>(nested).and_then(serde_json::to_value);
        read.is_ok_and(|value: Value| value.pointer(&pointer).is_some())
    })
}

/// True if nothing is at this path on the server either: the part at which it leaves `target` would
/// be held, or no DaemonSet has such a field.
pub fn is_surely_absent(target: &Value, path: &str) -> bool {
    let mut ends = path.match_indices('/').map(|(i, _)| i).skip(1).chain([path.len()]);
    let leaves = ends.find(|end| path.get(..*end).is_some_and(|part| target.pointer(part).is_none()));
    leaves.and_then(|end| path.get(..end)).is_some_and(|part| is_held(part) || !keeps::<api::DaemonSet>(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absence() {
        let target = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}});
        for (path, want) in [
            ("/metadata/labels/a", false),
            ("/metadata/labels/c", true),
            ("/metadata/annotations/c", false),
            ("/spec/template/spec/containers/0/args/0", false),
            ("/spec/template/spec/containers/1/args/0", true),
            ("/spec/template/spec/containers/0/image", true),
            ("/spec/template/spec/volumes/0/nfs/server", true),
            ("/spec/nothing", true),
            ("/spec/../../../etc/passwd", true),
            ("/spec/template/spec/dnsPolicy", false),
            ("", false),
        ] {
            assert_eq!(is_surely_absent(&target, path), want, "{path}");
        }
    }

    #[test]
    fn fields() {
        let spec = "/spec/template/spec";
        for (path, want) in [
            ("/metadata/labels/a".to_string(), true),
            ("/metadata/labels".into(), true),
            ("/metadata/generation".into(), true),
            ("/metadata/creationTimestamp".into(), true),
            ("/metadata/finalizers/0".into(), true),
            ("/metadata/annotations/a".into(), false),
            ("/metadata/resourceVersion".into(), false),
            ("/metadata/managedFields".into(), false),
            ("/spec/updateStrategy".into(), true),
            ("/spec/updateStrategy/rollingUpdate/maxSurge".into(), true),
            ("/spec/minReadySeconds".into(), true),
            ("/spec/nothing".into(), false),
            (format!("{spec}/nodeSelector/a~1b"), true),
            (format!("{spec}/dnsPolicy"), false),
            (format!("{spec}/tolerations/-"), true),
            (format!("{spec}/tolerations/12/key"), true),
            (format!("{spec}/containers/7"), true),
            (format!("{spec}/containers/0/image"), true),
            (format!("{spec}/containers/0/args"), false),
            (format!("{spec}/containers/0/args/0"), false),
            (format!("{spec}/containers/0/env/0/name"), true),
            (format!("{spec}/containers/0/env/0/value"), false),
            (format!("{spec}/containers/0/resources"), true),
            (format!("{spec}/containers/0/resources/limits/cpu"), true),
            (format!("{spec}/containers/0/livenessProbe/httpGet/httpHeaders"), false),
            (format!("{spec}/containers/0/livenessProbe/periodSeconds"), true),
            (format!("{spec}/volumes/0/configMap/name"), true),
            (format!("{spec}/volumes/0/configMap/items"), false),
            (format!("{spec}/volumes/0/nfs"), true),
            (format!("{spec}/volumes/0/nfs/server"), false),
            (format!("{spec}/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/0/topologyKey"), true),
            (format!("{spec}/priority"), true),
            ("/a".repeat(1000), false),
        ] {
            assert_eq!(is_held(&path), want, "{path}");
        }
    }
}
