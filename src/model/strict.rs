//! Fields that a DaemonSet does not have: what `kubectl apply` refuses and reading here would skip.
//!
//! Upstream: strict field validation of `apiserver/pkg/endpoints/handlers` (v0.37.2); the fields
//! are those of k8s-openapi's types.

use k8s_openapi::api::apps::v1 as api;
use serde_json::Value;

use super::daemon_set::DaemonSet;
use super::untrusted;

/// The fields of the object that the API does not know, such as `spec.template.spec.tolerationz`;
/// none if the object is not even of the right shape, which [`daemon_set`] tells.
pub fn unknown_fields(value: &Value) -> Vec<String> {
    let Ok(known) = serde_json::from_value::<api::DaemonSet>(value.clone()) else { return Vec::new() };
    let Ok(known) = serde_json::to_value(known) else { return Vec::new() };
    let mut found = Vec::new();
    compare(value, &known, String::new(), &mut found);
    found
}

/// What `given` has and `known` lacks. The type's own two fields are written by the type.
fn compare(given: &Value, known: &Value, at: String, found: &mut Vec<String>) {
    match (given, known) {
        (Value::Object(given), Value::Object(known)) => {
            for (key, value) in given.iter().filter(|(_, v)| !v.is_null()) {
                let path = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                match known.get(key) {
                    Some(known) => compare(value, known, path, found),
                    None => found.push(path),
                }
            }
        }
        (Value::Array(given), Value::Array(known)) => {
            for (i, (given, known)) in given.iter().zip(known).enumerate() {
                compare(given, known, format!("{at}[{i}]"), found);
            }
        }
        _ => {}
    }
}

/// The DaemonSet that a value is.
///
/// # Errors
/// The field and what is wrong with it, in one line.
pub fn daemon_set(value: Value) -> Result<DaemonSet, String> {
    // The API's own types first: they know fields, too, that are not held here.
    serde_path_to_error::deserialize::<_, api::DaemonSet>(value.clone()).map_err(|e| words(&e))?;
    serde_path_to_error::deserialize(value).map_err(|e| words(&e))
}

fn words(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let path = error.path().to_string();
    let inner = untrusted::message(&path, &error.inner().to_string());
    match path.as_str() {
        "." => inner,
        path => format!("{path}: {inner}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_what_the_api_does_not_know() {
        let spec = |spec: Value| json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "a"}, "spec": {"selector": {}, "template": {"spec": spec}}});
        for (value, want) in [
            (
                spec(json!({"containers": [{"name": "c", "env": [{"name": "A", "value": "b"}], "resources": {"limits": {"cpu": 1}}}]})),
                vec![],
            ),
            (spec(json!({"containers": [{"name": "c", "portz": []}]})), vec!["spec.template.spec.containers[0].portz"]),
            (spec(json!({"containers": [], "tolerationz": null})), vec![]),
            (spec(json!({"containers": [], "tolerations": [{"kee": "a"}]})), vec!["spec.template.spec.tolerations[0].kee"]),
            (json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "a"}, "spek": {}}), vec!["spek"]),
        ] {
            assert_eq!(unknown_fields(&value), want, "{value}");
        }
    }

    #[test]
    fn names_the_field_that_is_wrong() {
        let value = json!({"metadata": {"name": "a"}, "spec": {"selector": {}, "template": {"spec": {"containers": [{"name": "c", "ports": [{"hostPort": "x"}]}]}}}});
        let said = daemon_set(value).unwrap_err();
        assert!(said.starts_with("spec.template.spec.containers[0].ports[0].hostPort: "), "{said}");
        let value = json!({"spec": {"selector": {}, "template": {"spec": {"containers": [{"name": "c", "env": [{"name": "PIN", "value": 13579}]}]}}}});
        let said = daemon_set(value).unwrap_err();
        assert_eq!(said, "spec.template.spec.containers[0].env[0].value: invalid type: integer, expected a string");
    }
}
