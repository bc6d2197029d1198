//! What changed from one revision to another, in words.
//!
//! The data of a revision is the template (`getPatch` of `pkg/controller/daemon/update.go`,
//! v1.37.2). What may be secret was blotted out when it was read, so only that it changed is said.

use serde_json::{Map, Value};

use crate::model::daemon_set::ControllerRevision;

/// Changes that are said one by one; of more only the number.
const MOST: usize = 12;

/// The changes of the template from `old` to `new`.
pub fn changes(old: &ControllerRevision, new: &ControllerRevision) -> Vec<String> {
    let template = |r: &ControllerRevision| r.data.0.get("spec").and_then(|s| s.get("template")).cloned().unwrap_or_default();
    let mut found = Vec::new();
    walk(&mut Vec::new(), &template(old), &template(new), &mut found);
    let more = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    if more > 0 {
        found.push(format!("and {more} more"));
    }
    found
}

fn walk(path: &mut Vec<String>, old: &Value, new: &Value, found: &mut Vec<String>) {
    if old == new || (is_empty(old) && is_empty(new)) {
        return;
    }
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => objects(path, a, b, found),
        (Value::Array(a), Value::Array(b)) => match key_of(a, b) {
            Some(key) => keyed(path, key, a, b, found),
            None => found.push(words(path, old, new)),
        },
        (Value::Null, Value::Object(b)) if !is_leaf(path) => objects(path, &Map::new(), b, found),
        (Value::Object(a), Value::Null) if !is_leaf(path) => objects(path, a, &Map::new(), found),
        (Value::Null, Value::Array(b)) if key_of(&[], b).is_some() => keyed(path, key_of(&[], b).unwrap_or("name"), &[], b, found),
        (Value::Array(a), Value::Null) if key_of(a, &[]).is_some() => keyed(path, key_of(a, &[]).unwrap_or("name"), a, &[], found),
        _ => found.push(words(path, old, new)),
    }
}

fn objects(path: &mut Vec<String>, old: &Map<String, Value>, new: &Map<String, Value>, found: &mut Vec<String>) {
    let mut keys: Vec<&String> = old.keys().chain(new.keys()).filter(|k| !matches!(k.as_str(), "$patch" | "creationTimestamp")).collect();
    keys.sort();
    keys.dedup();
    for key in keys {
        path.push(key.clone());
        walk(path, old.get(key).unwrap_or(&Value::Null), new.get(key).unwrap_or(&Value::Null), found);
        path.pop();
    }
}

/// Lists whose items have a name are compared name by name.
fn keyed(path: &mut Vec<String>, key: &str, old: &[Value], new: &[Value], found: &mut Vec<String>) {
    let name = |v: &Value| v.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
    let last = path.last().cloned().unwrap_or_default();
    let place = path.get(..path.len().saturating_sub(1)).unwrap_or_default().to_vec();
    for item in old {
        let Some(other) = new.iter().find(|o| name(o) == name(item)) else {
            found.push(sentence(&place, &format!("{} {} removed", singular(&last), name(item))));
            continue;
        };
        if last == "env" {
            if item != other {
                found.push(sentence(&place, &format!("variable {} changed", name(item))));
            }
            continue;
        }
        let list = path.pop();
        path.push(format!("{last}[{}]", name(item)));
        walk(path, item, other, found);
        path.pop();
        path.extend(list);
    }
    for item in new.iter().filter(|i| !old.iter().any(|o| name(o) == name(i))) {
        found.push(sentence(&place, &format!("{} {} added", singular(&last), name(item))));
    }
}

/// The field that names every item of both lists.
fn key_of(old: &[Value], new: &[Value]) -> Option<&'static str> {
    let all = |key: &str| old.iter().chain(new).all(|v| v.get(key).is_some_and(Value::is_string));
    (!old.is_empty() || !new.is_empty()).then(|| ["name", "mountPath"].into_iter().find(|k| all(k))).flatten()
}

/// Fields that are said as a whole.
fn is_leaf(path: &[String]) -> bool {
    path.last().is_some_and(|p| p.ends_with("Probe") || matches!(p.as_str(), "lifecycle" | "affinity"))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

fn singular(list: &str) -> &str {
    match list {
        "env" => "variable",
        "initContainers" => "init container",
        "volumeMounts" => "mount",
        other => other.strip_suffix('s').unwrap_or(other),
    }
}

fn words(path: &[String], old: &Value, new: &Value) -> String {
    let field = path.last().map_or("", String::as_str);
    let what = match (short(old), short(new)) {
        (Some(a), Some(b)) => format!("{field} {a} → {b}"),
        (None, Some(b)) if is_empty(old) => format!("{field} set to {b}"),
        (Some(a), None) if is_empty(new) => format!("{field} removed (was {a})"),
        _ if is_empty(old) => format!("{field} added"),
        _ if is_empty(new) => format!("{field} removed"),
        _ => format!("{field} changed"),
    };
    sentence(path.get(..path.len().saturating_sub(1)).unwrap_or_default(), &what)
}

/// A value that can be shown in a few words.
fn short(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.starts_with("<hidden ") => None,
        Value::String(text) if text.is_empty() => Some("\"\"".into()),
        Value::String(text) => (text.len() <= 120).then(|| text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// What changed, behind where it did: `container agent: resources.limits: memory 64Mi → 1Gi`.
fn sentence(path: &[String], what: &str) -> String {
    let mut place: Vec<String> = Vec::new();
    let mut fields: Vec<&str> = Vec::new();
    for part in path.iter().filter(|p| !matches!(p.as_str(), "spec" | "env" | "volumeMounts" | "containers" | "initContainers" | "volumes"))
    {
        match part.split_once('[') {
            Some((list, name)) => place.push(format!("{} {}", singular(list), name.trim_end_matches(']'))),
            None => fields.push(part),
        }
    }
    if !fields.is_empty() {
        place.push(fields.join("."));
    }
    place.push(what.to_string());
    place.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::daemon_set::RevisionData;
    use serde_json::json;

    fn revision(template: Value) -> ControllerRevision {
        ControllerRevision { data: RevisionData::from_raw(json!({"spec": {"template": template}})), ..ControllerRevision::default() }
    }

    #[test]
    fn changes_are_said_in_words() {
        let agent = |more: Value| {
            let mut container = json!({"name": "agent", "image": "reg/agent:1"});
            container.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({"$patch": "replace", "metadata": {"creationTimestamp": null}, "spec": {"containers": [container]}})
        };
        for (old, new, want) in [
            (json!({}), json!({"image": "reg/agent:2"}), vec!["container agent: image reg/agent:1 → reg/agent:2"]),
            (
                json!({"resources": {"limits": {"memory": "64Mi"}}}),
                json!({"resources": {"limits": {"memory": "1Gi"}}}),
                vec!["container agent: resources.limits: memory 64Mi → 1Gi"],
            ),
            (
                json!({"env": [{"name": "A", "value": "secret1"}, {"name": "B", "value": "x"}]}),
                json!({"env": [{"name": "A", "value": "secret2"}, {"name": "C", "value": "x"}]}),
                vec!["container agent: variable A changed", "container agent: variable B removed", "container agent: variable C added"],
            ),
            (json!({"args": ["--token=a"]}), json!({"args": ["--token=b"]}), vec!["container agent: args changed"]),
            (json!({}), json!({"ports": [{"name": "web", "hostPort": 80}]}), vec!["container agent: port web added"]),
            (json!({"resources": {}}), json!({}), vec![]),
            (json!({}), json!({"readinessProbe": {"exec": {"command": ["x"]}}}), vec!["container agent: readinessProbe added"]),
        ] {
            let found = changes(&revision(agent(old)), &revision(agent(new)));
            assert_eq!(found, want);
            assert!(!found.concat().contains("secret") && !found.concat().contains("token"));
        }
    }

    #[test]
    fn the_pod_s_own_fields_too() {
        let old = json!({"metadata": {"labels": {"app": "a"}}, "spec": {"hostNetwork": true}});
        let new = json!({"metadata": {"labels": {"app": "a", "v": "2"}}, "spec": {"tolerations": [{"operator": "Exists"}], "initContainers": [{"name": "i"}]}});
        assert_eq!(
            changes(&revision(old), &revision(new)),
            ["metadata.labels: v set to 2", "hostNetwork removed (was true)", "init container i added", "tolerations added"]
        );
    }
}
