//! Patches of a DaemonSet as users write them: strategic merge, JSON merge (RFC 7386), JSON patch
//! (RFC 6902).
//!
//! Upstream: `StrategicMergePatch` of `k8s.io/apimachinery/pkg/util/strategicpatch/patch.go` and the
//! `patchMergeKey` tags of `k8s.io/api` `core/v1` (v0.37.2).

use serde_json::{Map, Value, json};

use super::held::{is_held, is_surely_absent, is_whole};
use super::patch::{PatchError, apply};
use crate::model::daemon_set::DaemonSet;
use crate::model::{strict, untrusted};

/// How a patch is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// kubectl's default: lists of named things are merged by name.
    Strategic,
    /// Lists are replaced.
    Merge,
    /// A list of operations.
    Json,
}

/// A patch.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    kind: Kind,
    value: Value,
}

/// Lists of objects that are merged, with the field that names an element.
const MERGE_KEYS: &[(&str, &str)] = &[
    ("conditions", "type"),
    ("containers", "name"),
    ("env", "name"),
    ("ephemeralContainers", "name"),
    ("hostAliases", "ip"),
    ("imagePullSecrets", "name"),
    ("initContainers", "name"),
    ("ownerReferences", "uid"),
    ("ports", "containerPort"),
    ("resourceClaims", "name"),
    ("schedulingGates", "name"),
    ("topologySpreadConstraints", "topologyKey"),
    ("volumeDevices", "devicePath"),
    ("volumeMounts", "mountPath"),
    ("volumes", "name"),
];

/// Fields of a template that are never held, or not in full: a patch may name what is not there.
const NOT_HELD: &[&str] = &[
    "annotations",
    "args",
    "automountServiceAccountToken",
    "command",
    "dnsConfig",
    "dnsPolicy",
    "enableServiceLinks",
    "env",
    "envFrom",
    "fsGroup",
    "fsGroupChangePolicy",
    "hostAliases",
    "hostname",
    "httpGet",
    "httpHeaders",
    "lifecycle",
    "livenessProbe",
    "managedFields",
    "readOnlyRootFilesystem",
    "readinessProbe",
    "resizePolicy",
    "runAsGroup",
    "setHostnameAsFQDN",
    "shareProcessNamespace",
    "startupProbe",
    "stdin",
    "stdinOnce",
    "subdomain",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "tty",
    "volumeDevices",
    "volumeMounts",
    "workingDir",
];

/// Operations of a JSON patch (upstream: `maxJSONPatchOperations` of `apiserver/pkg/endpoints/handlers/patch.go`, v0.37.2).
const MOST_OPERATIONS: usize = 10_000;

/// Values that all copies of a patch may add; upstream allows 3 MiB of them.
const MOST_COPIED: usize = 100_000;

/// Levels of an object and what is added to it, together; a DaemonSet has less than 20.
const DEEPEST: usize = 128;

/// What a patch makes of a DaemonSet.
#[derive(Clone, Debug, PartialEq)]
pub struct Patched {
    /// The DaemonSet after it.
    pub daemon_set: DaemonSet,
    /// Its pods are replaced: the template differs, or the patch touches a part of it that is not held.
    pub replaces_pods: bool,
    /// Operations that the server may refuse, for they go by what is not held, such as `test /metadata/annotations/a`.
    pub unsure: Vec<String>,
}

impl Patch {
    /// Reads a patch, JSON or YAML. Without `kind` a list is a JSON patch and an object a strategic
    /// merge.
    ///
    /// # Errors
    /// In one line, if it is none.
    pub fn parse(text: &str, kind: Option<Kind>) -> Result<Patch, String> {
        let value: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(_) if untrusted::is_too_deep(text) => return Err("is neither JSON nor YAML: too many brackets are open".into()),
            Err(_) => yaml_serde::from_str(text).map_err(|e| format!("is neither JSON nor YAML: {e}"))?,
        };
        let kind = kind.unwrap_or(if value.is_array() { Kind::Json } else { Kind::Strategic });
        match (kind, &value) {
            (Kind::Json, Value::Array(operations)) => {
                if operations.len() > MOST_OPERATIONS {
                    return Err(format!("has {} operations; the API server takes {MOST_OPERATIONS}", operations.len()));
                }
                // Only where, never what: a value may be secret.
                for (i, operation) in operations.iter().enumerate() {
                    let text = |key: &str| operation[key].as_str().unwrap_or_default();
                    let needs_value = matches!(text("op"), "add" | "replace" | "test") && operation.get("value").is_none();
                    if !matches!(text("op"), "add" | "replace" | "remove" | "test" | "move" | "copy") {
                        return Err(format!("operation {i}: op is one of add, replace, remove, test, move and copy"));
                    } else if !text("path").starts_with('/') || needs_value {
                        return Err(format!("operation {i}: needs a path such as /spec/template, and a value"));
                    }
                }
            }
            (Kind::Json, _) => return Err("a JSON patch is a list of operations".into()),
            (_, Value::Object(map)) if !map.is_empty() => {}
            (_, Value::Null | Value::Object(_)) => return Err("is empty".into()),
            _ => return Err("is no object: a patch has the fields of a DaemonSet, such as spec: {template: ...}".into()),
        }
        Ok(Patch { kind, value })
    }

    /// The DaemonSet with the patch applied.
    ///
    /// # Errors
    /// If that cannot be done, or what comes of it is no DaemonSet.
    pub fn apply(&self, ds: &DaemonSet) -> Result<Patched, PatchError> {
        let wrong = |e: String| PatchError::Result(e);
        let mut value = serde_json::to_value(ds).map_err(|e| wrong(e.to_string()))?;
        fill_empty(&mut value);
        let before: DaemonSet = serde_json::from_value(value.clone()).map_err(|e| wrong(e.to_string()))?;
        let (mut beside, mut unsure) = (false, Vec::new());
        match (self.kind, &self.value) {
            (Kind::Json, Value::Array(operations)) => {
                let mut copied = 0;
                for operation in operations {
                    let path = operation["path"].as_str().unwrap_or_default();
                    copied += growth(&value, operation, path)?;
                    if copied > MOST_COPIED {
                        return Err(wrong(format!("copies make it larger than {MOST_COPIED} values")));
                    }
                    if !is_sure(&value, operation)? {
                        unsure.push(format!("{} {path}", operation["op"].as_str().unwrap_or_default()));
                    } else if operation["op"] != "test" {
                        apply(&mut value, operation)?;
                    }
                    beside |= operation["op"] != "test" && path.starts_with("/spec/template/") && !is_held(path);
                }
            }
            (Kind::Merge, patch) => json_merge(&mut value, patch),
            (_, patch) => strategic_merge(&mut value, patch).map_err(wrong)?,
        }
        if self.kind != Kind::Json {
            beside = self.value.pointer("/spec/template").is_some_and(names_what_is_not_held);
        }
        if let Some(field) = strict::unknown_fields(&value).first() {
            return Err(wrong(format!("unknown field {field}")));
        }
        let after: DaemonSet = strict::daemon_set(value).map_err(wrong)?;
        let same = |a: &DaemonSet, b: &DaemonSet| {
            a.metadata.name == b.metadata.name && a.metadata.namespace == b.metadata.namespace && a.metadata.uid == b.metadata.uid
        };
        if !same(&after, ds) {
            return Err(wrong("a patch cannot change name, namespace or uid".into()));
        }
        let replaces_pods = beside || after.spec.template != before.spec.template;
        Ok(Patched { daemon_set: after, replaces_pods, unsure })
    }
}

/// Whether the operation can be applied to what is held; `false` if it goes by what is not, and the server may refuse it.
///
/// # Errors
/// If the server refuses it for sure, or if what comes of it cannot be known.
fn is_sure(target: &Value, operation: &Value) -> Result<bool, PatchError> {
    let text = |key: &str| operation[key].as_str().unwrap_or_default();
    let (op, path, from) = (text("op"), text("path"), text("from"));
    let there = |path: &str| match target.pointer(path) {
        Some(_) => Ok(true),
        None if is_surely_absent(target, path) => Err(PatchError::Path(path.to_string())),
        None => Ok(false),
    };
    match op {
        "test" => {
            let (found, wanted) = (target.pointer(path), operation.get("value").unwrap_or(&Value::Null));
            match found {
                Some(found) if found.is_object() || found.is_array() => match (is_whole(path), found == wanted) {
                    (true, false) => Err(PatchError::Test(path.to_string())),
                    (whole, _) => Ok(whole),
                },
                Some(found) if found == wanted => Ok(true),
                None if wanted.is_null() && is_surely_absent(target, path) => Ok(true),
                None if !is_surely_absent(target, path) => Ok(false),
                _ => Err(PatchError::Test(path.to_string())),
            }
        }
        "copy" | "move" if !there(from)? => Err(PatchError::NotHeld(from.to_string())),
        "replace" | "remove" => there(path),
        // A list that is not held may be there or not.
        _ => there(path.rsplit_once('/').map_or("", |(parent, _)| parent)),
    }
}

/// How many values an operation adds by copying.
///
/// # Errors
/// If it leads deeper than any DaemonSet goes: a chain of copies can double that each time.
fn growth(target: &Value, operation: &Value, path: &str) -> Result<usize, PatchError> {
    let from = || target.pointer(operation["from"].as_str().unwrap_or_default());
    let copies = operation["op"] == "copy";
    let added = if copies || operation["op"] == "move" { from() } else { operation.get("value") };
    let (depth, count) = added.map_or((0, 0), untrusted::measure);
    if path.matches('/').count() + depth > DEEPEST {
        return Err(PatchError::Result("it is too deep".into()));
    }
    Ok(if copies { count } else { 0 })
}

/// Objects that the API server always writes, be they empty.
fn fill_empty(value: &mut Value) {
    let Some(spec) = value.pointer_mut("/spec/template/spec").and_then(Value::as_object_mut) else { return };
    spec.entry("securityContext").or_insert_with(|| json!({}));
    for list in ["containers", "initContainers"] {
        for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(container) = container.as_object_mut() {
                container.entry("resources").or_insert_with(|| json!({}));
            }
        }
    }
}

fn names_what_is_not_held(patch: &Value) -> bool {
    match patch {
        Value::Object(map) => map.iter().any(|(key, value)| NOT_HELD.contains(&key.as_str()) || names_what_is_not_held(value)),
        Value::Array(list) => list.iter().any(names_what_is_not_held),
        _ => false,
    }
}

/// RFC 7386.
fn json_merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let Value::Object(target) = target else { return };
    for (key, value) in patch {
        if value.is_null() {
            target.remove(key);
        } else {
            json_merge(target.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

/// Upstream's merge with its directives.
fn strategic_merge(target: &mut Value, patch: &Value) -> Result<(), String> {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return Ok(());
    };
    match patch.get("$patch").map(|d| d.as_str().unwrap_or_default()) {
        None | Some("merge") => {}
        Some("replace") => {
            *target = without_directives(patch);
            return Ok(());
        }
        Some("delete") => {
            *target = json!({});
            return Ok(());
        }
        Some(other) => return Err(format!("$patch: {other:?} is not merge, replace or delete")),
    }
    if !target.is_object() {
        *target = json!({});
    }
    let Value::Object(target) = target else { return Ok(()) };
    if let Some(Value::Array(keep)) = patch.get("$retainKeys") {
        target.retain(|key, _| keep.iter().any(|k| k == key));
    }
    for (key, value) in patch {
        if let Some(list) = key.strip_prefix("$deleteFromPrimitiveList/") {
            let gone = value.as_array().ok_or_else(|| format!("{key} is no list"))?;
            target.get_mut(list).and_then(Value::as_array_mut).into_iter().for_each(|l| l.retain(|v| !gone.contains(v)));
        } else if key.starts_with("$setElementOrder/") || matches!(key.as_str(), "$patch" | "$retainKeys") {
        } else if key.starts_with('$') {
            return Err(format!("directive {key} is not known"));
        } else if value.is_null() || value.get("$patch").is_some_and(|d| d == "delete") {
            target.remove(key);
        } else if let Value::Array(elements) = value {
            merge_list(target, key, elements)?;
        } else {
            strategic_merge(target.entry(key.clone()).or_insert(Value::Null), value)?;
        }
    }
    Ok(())
}

fn merge_list(target: &mut Map<String, Value>, field: &str, elements: &[Value]) -> Result<(), String> {
    let there = target.entry(field.to_string()).or_insert_with(|| json!([]));
    let own = std::mem::take(there).as_array().cloned().unwrap_or_default();
    let replaces = elements.iter().any(|e| e["$patch"] == "replace");
    let Some((_, key)) = MERGE_KEYS.iter().find(|(name, _)| *name == field).filter(|_| !replaces) else {
        *there = if field == "finalizers" {
            let fresh: Vec<Value> = elements.iter().filter(|e| !own.contains(e)).cloned().collect();
            own.into_iter().chain(fresh).collect()
        } else {
            elements.iter().filter(|e| e["$patch"] != "replace").map(|e| e.as_object().map_or(e.clone(), without_directives)).collect()
        };
        return Ok(());
    };
    let mut merged = own;
    for element in elements {
        let name = element.get(key).filter(|_| element.is_object()).ok_or_else(|| format!("{field}: an element has no {key}"))?;
        let at = merged.iter().position(|e| e[key] == *name);
        match (element["$patch"].as_str(), at) {
            (Some("delete"), Some(at)) => drop(merged.remove(at)),
            (Some("delete"), None) => {}
            (_, Some(at)) => merged.get_mut(at).map_or(Ok(()), |own| strategic_merge(own, element))?,
            (_, None) => {
                let mut fresh = json!({});
                strategic_merge(&mut fresh, element)?;
                merged.push(fresh);
            }
        }
    }
    *there = Value::Array(merged);
    Ok(())
}

fn without_directives(map: &Map<String, Value>) -> Value {
    map.iter().filter(|(key, _)| !key.starts_with('$')).map(|(key, value)| (key.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ds() -> DaemonSet {
        serde_json::from_value(json!({
            "metadata": {"name": "a", "namespace": "x", "uid": "u"},
            "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": {"metadata": {"labels": {"app": "a"}}, "spec": {
                "nodeSelector": {"pool": "a", "disk": "ssd"},
                "tolerations": [{"key": "k", "operator": "Exists"}],
                "containers": [
                    {"name": "c", "image": "c:1", "ports": [{"containerPort": 80, "hostPort": 80}], "resources": {"requests": {"cpu": "1"}}},
                    {"name": "d", "image": "d:1"}]}}}
        }))
        .unwrap()
    }

    /// The template's spec after a patch, as far as `at` points.
    fn after(text: &str, kind: Option<Kind>, at: &str) -> Value {
        let patched = Patch::parse(text, kind).unwrap().apply(&ds()).unwrap().daemon_set;
        serde_json::to_value(&patched.spec.template.spec).unwrap().pointer(at).cloned().unwrap_or_default()
    }

    #[test]
    fn each_kind_of_patch() {
        let spec = |body: &str| format!("spec: {{template: {{spec: {body}}}}}");
        for (text, kind, at, want) in [
            (spec("{nodeSelector: {pool: b}}"), None, "/nodeSelector", json!({"pool": "b", "disk": "ssd"})),
            (spec("{nodeSelector: {pool: null}}"), None, "/nodeSelector", json!({"disk": "ssd"})),
            (spec("{nodeSelector: {$patch: replace, zone: z}}"), None, "/nodeSelector", json!({"zone": "z"})),
            (spec("{nodeSelector: {$patch: delete}}"), None, "/nodeSelector", Value::Null),
            (spec("{nodeSelector: {$retainKeys: [pool], pool: b}}"), None, "/nodeSelector", json!({"pool": "b"})),
            (spec("{tolerations: [{operator: Exists}]}"), None, "/tolerations", json!([{"operator": "Exists"}])),
            (spec("{containers: [{name: c, image: 'c:2'}]}"), None, "/containers/0/image", json!("c:2")),
            (spec("{containers: [{name: c, image: 'c:2'}]}"), None, "/containers/0/ports/0/hostPort", json!(80)),
            (spec("{containers: [{name: c, ports: [{containerPort: 80, hostPort: 81}]}]}"), None, "/containers/0/ports/0/hostPort", json!(81)),
            (spec("{containers: [{name: c, ports: [{containerPort: 81}]}]}"), None, "/containers/0/ports/1/containerPort", json!(81)),
            (spec("{containers: [{name: c, $patch: delete}]}"), None, "/containers/0/name", json!("d")),
            (spec("{containers: [{name: e, image: 'e:1'}]}"), None, "/containers/2/image", json!("e:1")),
            (spec("{containers: [{name: c, image: 'c:2'}]}"), Some(Kind::Merge), "/containers", json!([{"name": "c", "image": "c:2"}])),
            (spec("{nodeSelector: {pool: null}}"), Some(Kind::Merge), "/nodeSelector", json!({"disk": "ssd"})),
            (r#"[{"op":"replace","path":"/spec/template/spec/nodeSelector/pool","value":"b"}]"#.into(), None, "/nodeSelector/pool", json!("b")),
            (
                r#"[{"op":"test","path":"/spec/template/spec/nodeSelector/pool","value":"a"},{"op":"move","from":"/spec/template/spec/nodeSelector/pool","path":"/spec/template/spec/nodeSelector/x"}]"#.into(),
                None,
                "/nodeSelector",
                json!({"disk": "ssd", "x": "a"}),
            ),
            (
                r#"[{"op":"add","path":"/spec/template/spec/containers/1/resources/limits","value":{"cpu":"2"}}]"#.into(),
                None,
                "/containers/1/resources/limits/cpu",
                json!("2"),
            ),
        ] {
            assert_eq!(after(&text, kind, at), want, "{text}");
        }
    }

    #[test]
    fn what_it_does_to_pods() {
        for (text, replaces) in [
            ("spec: {minReadySeconds: 5}", false),
            ("spec: {updateStrategy: {type: OnDelete}}", false),
            ("spec: {template: {spec: {hostNetwork: true}}}", true),
            ("spec: {template: {spec: {nodeSelector: {pool: a}}}}", false),
            ("spec: {template: {spec: {containers: [{name: c, args: [--x]}]}}}", true),
            (r#"[{"op":"replace","path":"/spec/template/spec/containers/0/args/0","value":"--x"}]"#, true),
        ] {
            assert_eq!(Patch::parse(text, None).unwrap().apply(&ds()).unwrap().replaces_pods, replaces, "{text}");
        }
    }

    #[test]
    fn what_is_not_held_is_not_judged() {
        let at = |op: &str, path: &str, value: Value| json!({"op": op, "path": path, "value": value});
        let c = "/spec/template/spec/containers/0";
        for (operation, want) in [
            (at("test", &format!("{c}/image"), json!("c:1")), "sure"),
            (at("test", &format!("{c}/image"), json!("c:2")), "/spec/template/spec/containers/0/image is not as the test wants it"),
            (at("test", &format!("{c}/args/0"), json!("--x")), "unsure"),
            (at("test", "/metadata/annotations/a", json!("b")), "unsure"),
            (at("test", "/metadata/resourceVersion", json!("7")), "unsure"),
            (at("test", c, json!({"name": "c"})), "unsure"),
            (at("test", "/spec/template/spec/nodeSelector", json!({"pool": "a", "disk": "ssd"})), "sure"),
            (
                at("test", "/spec/template/spec/nodeSelector", json!({"pool": "a"})),
                "/spec/template/spec/nodeSelector is not as the test wants it",
            ),
            (at("test", "/spec/template/spec/nodeSelector/zone", Value::Null), "sure"),
            (
                at("test", "/spec/template/spec/nodeSelector/zone", json!("z")),
                "/spec/template/spec/nodeSelector/zone is not as the test wants it",
            ),
            (
                at("test", "/spec/template/spec/containers/7/args/0", json!("--x")),
                "/spec/template/spec/containers/7/args/0 is not as the test wants it",
            ),
            (at("replace", &format!("{c}/args/0"), json!("--x")), "unsure"),
            (at("replace", "/spec/template/spec/dnsPolicy", json!("Default")), "unsure"),
            (
                at("replace", "/spec/template/spec/containers/7/args/0", json!("--x")),
                "/spec/template/spec/containers/7/args/0 is not there",
            ),
            (at("remove", &format!("{c}/livenessProbe"), Value::Null), "/spec/template/spec/containers/0/livenessProbe is not there"),
            (at("remove", &format!("{c}/lifecycle"), Value::Null), "unsure"),
            (at("remove", "/metadata/annotations/a", Value::Null), "unsure"),
            (at("add", &format!("{c}/args"), json!(["--x"])), "sure"),
            (at("add", &format!("{c}/args/-"), json!("--x")), "unsure"),
            (at("add", "/spec/template/spec/volumes/-", json!({"name": "v"})), "/spec/template/spec/volumes is not there"),
            (
                json!({"op": "copy", "from": "/metadata/annotations/a", "path": "/metadata/labels"}),
                "/metadata/annotations/a is not held, so what comes of the patch cannot be known",
            ),
            (
                json!({"op": "move", "from": "/spec/template/spec/nodeSelector/zone", "path": "/metadata/labels"}),
                "/spec/template/spec/nodeSelector/zone is not there",
            ),
        ] {
            let said = match Patch::parse(&json!([operation]).to_string(), None).unwrap().apply(&ds()) {
                Ok(patched) => {
                    if patched.unsure.is_empty() {
                        "sure".to_string()
                    } else {
                        "unsure".into()
                    }
                }
                Err(e) => e.to_string(),
            };
            assert_eq!(said, want, "{operation}");
        }
    }

    #[test]
    fn a_wrong_patch_is_one_clear_line() {
        for (text, kind, want) in [
            ("", None, "is empty"),
            ("{}", None, "is empty"),
            ("word", None, "is no object"),
            ("a: [", None, "is neither JSON nor YAML"),
            ("spec: {}", Some(Kind::Json), "a JSON patch is a list"),
            (r#"[{"op":"put","path":"/a"}]"#, None, "op is one of"),
            (r#"[{"op":"add","path":"/a"}]"#, None, "needs a path"),
            (r#"[{"op":"remove","path":"/spec/nothing"}]"#, None, "/spec/nothing is not there"),
            (r#"[{"op":"add","path":"/spec/nothing","value":1}]"#, None, "unknown field spec.nothing"),
            (r#"[{"op":"test","path":"/spec/template/spec/nodeSelector/pool","value":"z"}]"#, None, "is not as the test wants it"),
            ("spec: {template: {spec: {tolerationz: []}}}", None, "unknown field spec.template.spec.tolerationz"),
            ("spec: {template: {spec: {hostNetwork: maybe}}}", None, "spec.template.spec.hostNetwork"),
            ("spec: {template: {spec: {containers: [{image: x}]}}}", None, "containers: an element has no name"),
            ("spec: {$bogus: 1}", None, "directive $bogus"),
            ("metadata: {name: b}", None, "cannot change name"),
        ] {
            let said = match Patch::parse(text, kind) {
                Err(e) => e,
                Ok(patch) => patch.apply(&ds()).unwrap_err().to_string(),
            };
            assert!(said.contains(want) && !said.contains('\n'), "{text}: {said}");
        }
    }

    #[test]
    fn patches_that_were_written_to_do_harm() {
        let op = |op: &str, from: &str, path: &str| json!({"op": op, "from": from, "path": path});
        let doubling: Vec<Value> = (0..60).map(|i| op("copy", "/metadata", &format!("/metadata/x{i}"))).collect();
        let mut deep = vec![json!({"op": "add", "path": "/metadata/a", "value": {"b": {"b": {"b": {}}}}})];
        deep.extend((2..20).map(|i| op("copy", "/metadata/a", &format!("/metadata/a{}", "/b".repeat(1 << i)))));
        let wrapping: Vec<Value> = (0..200)
            .flat_map(|_| {
                [
                    json!({"op": "add", "path": "/y", "value": {"b": 1}}),
                    op("move", "/spec/selector", "/y/b"),
                    op("move", "/y", "/spec/selector"),
                ]
            })
            .collect();
        let adding: Vec<Value> =
            (0..300).map(|i| json!({"op": "add", "path": format!("/metadata{}", "/a".repeat(i + 1)), "value": {}})).collect();
        let many = vec![json!({"op": "remove", "path": "/a"}); 10_001];
        let secret = json!([{"op": "x", "path": "/spec", "value": {"env": [{"name": "P", "value": "hunter2"}]}}]);
        let env = json!([{"op": "add", "path": "/spec/template/spec/containers/0/env", "value": [{"name": "P", "value": 13579}]}]);
        let up = json!([{"op": "replace", "path": "/spec/../../../etc/passwd", "value": 1}]);
        for (patch, want) in [
            (Value::Array(doubling), "copies make it larger"),
            (Value::Array(deep), "too deep"),
            (Value::Array(wrapping), "too deep"),
            (Value::Array(adding), "too deep"),
            (Value::Array(many), "has 10001 operations"),
            (secret, "operation 0: op is one of"),
            (env, "env[0].value: invalid type: integer, expected a string"),
            (up, "/spec/../../../etc/passwd is not there"),
            (json!({"metadata": {"annotations": {"a": 13579}}}), "metadata.annotations.a: invalid type: integer, expected a string"),
        ] {
            let said = match Patch::parse(&patch.to_string(), None) {
                Err(e) => e,
                Ok(patch) => patch.apply(&ds()).unwrap_err().to_string(),
            };
            assert!(said.contains(want) && !said.contains("hunter2") && !said.contains("13579"), "{said}");
        }
        for text in ["{\"a\":".repeat(100_000), "{a: ".repeat(50_000), "[".repeat(100_000)] {
            assert!(Patch::parse(&text, None).unwrap_err().contains("too many brackets"));
        }
    }
}
