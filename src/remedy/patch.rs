//! JSON patches of the DaemonSet: the same value is applied to the snapshot and given to the user.
//!
//! RFC 6902: remedies use `add`, `replace` and `remove`, users also `test`, `copy` and `move`.

use serde_json::{Value, json};

use crate::model::daemon_set::DaemonSet;

/// Why a patch cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The operation is not one of those.
    #[error("{0:?} is no operation of a JSON patch")]
    Operation(String),
    /// The value there is another than `test` asks for.
    #[error("{0} is not as the test wants it")]
    Test(String),
    /// What the path names is not there.
    #[error("{0} is not there")]
    Path(String),
    /// What the path names may be there, but is not held here.
    #[error("{0} is not held, so what comes of the patch cannot be known")]
    NotHeld(String),
    /// The result is not a DaemonSet any more.
    #[error("the result is no DaemonSet: {0}")]
    Result(String),
}

/// The path with these parts, escaped.
pub fn path<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    parts.into_iter().map(|p| format!("/{}", p.replace('~', "~0").replace('/', "~1"))).collect()
}

/// `add` at this path.
pub fn add(path: impl Into<String>, value: Value) -> Value {
    json!({"op": "add", "path": path.into(), "value": value})
}

/// `replace` of what is there.
pub fn replace(path: impl Into<String>, value: Value) -> Value {
    json!({"op": "replace", "path": path.into(), "value": value})
}

/// `remove` of what is there.
pub fn remove(path: impl Into<String>) -> Value {
    json!({"op": "remove", "path": path.into()})
}

/// The DaemonSet with the operations applied in order.
pub fn patched(ds: &DaemonSet, operations: &[Value]) -> Result<DaemonSet, PatchError> {
    let mut value = serde_json::to_value(ds).map_err(|e| PatchError::Result(e.to_string()))?;
    for operation in operations {
        apply(&mut value, operation)?;
    }
    serde_json::from_value(value).map_err(|e| PatchError::Result(e.to_string()))
}

/// Applies one operation.
pub fn apply(target: &mut Value, operation: &Value) -> Result<(), PatchError> {
    let path = operation["path"].as_str().unwrap_or_default();
    let missing = || PatchError::Path(path.to_string());
    let (parent, last) = path.rsplit_once('/').ok_or_else(missing)?;
    let last = last.replace("~1", "/").replace("~0", "~");
    let op = operation["op"].as_str().unwrap_or_default();
    let value = match op {
        "test" => {
            let holds = target.pointer(path) == Some(&operation["value"]);
            return if holds { Ok(()) } else { Err(PatchError::Test(path.to_string())) };
        }
        "copy" | "move" => {
            let from = operation["from"].as_str().unwrap_or_default();
            let value = target.pointer(from).cloned().ok_or_else(|| PatchError::Path(from.to_string()))?;
            if op == "move" {
                apply(target, &remove(from))?;
            }
            return apply(target, &add(path, value));
        }
        _ => operation["value"].clone(),
    };
    match (target.pointer_mut(parent).ok_or_else(missing)?, op) {
        (Value::Object(map), "add") => {
            map.insert(last, value);
        }
        (Value::Object(map), "replace") => *map.get_mut(&last).ok_or_else(missing)? = value,
        (Value::Object(map), "remove") => {
            map.remove(&last).ok_or_else(missing)?;
        }
        (Value::Array(list), "add") if last == "-" => list.push(value),
        (Value::Array(list), op) => {
            let index: usize = last.parse().map_err(|_| missing())?;
            match op {
                "add" if index <= list.len() => list.insert(index, value),
                "replace" if index < list.len() => list[index] = value,
                "remove" if index < list.len() => {
                    list.remove(index);
                }
                "add" | "replace" | "remove" => return Err(missing()),
                _ => return Err(PatchError::Operation(op.to_string())),
            }
        }
        (_, "add" | "replace" | "remove") => return Err(missing()),
        (_, op) => return Err(PatchError::Operation(op.to_string())),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn applies_as_rfc_6902() {
        let start = json!({"list": [1, 2], "map": {"a/b": 1}});
        for (operation, want) in [
            (add("/list/-", json!(3)), Some(json!({"list": [1, 2, 3], "map": {"a/b": 1}}))),
            (add("/list/0", json!(3)), Some(json!({"list": [3, 1, 2], "map": {"a/b": 1}}))),
            (replace("/list/1", json!(3)), Some(json!({"list": [1, 3], "map": {"a/b": 1}}))),
            (remove("/list/0"), Some(json!({"list": [2], "map": {"a/b": 1}}))),
            (remove(path(["map", "a/b"])), Some(json!({"list": [1, 2], "map": {}}))),
            (add("/new", json!(1)), Some(json!({"list": [1, 2], "map": {"a/b": 1}, "new": 1}))),
            (remove("/list/2"), None),
            (replace("/none", json!(1)), None),
            (add("/none/a", json!(1)), None),
            (json!({"op": "move", "path": "/list/0"}), None),
            (json!({"op": "move", "from": "/list/0", "path": "/new"}), Some(json!({"list": [2], "map": {"a/b": 1}, "new": 1}))),
            (json!({"op": "copy", "from": "/list/0", "path": "/list/-"}), Some(json!({"list": [1, 2, 1], "map": {"a/b": 1}}))),
            (json!({"op": "test", "path": "/list/0", "value": 1}), Some(start.clone())),
            (json!({"op": "test", "path": "/list/0", "value": 2}), None),
            (json!({"op": "put", "path": "/list/0"}), None),
        ] {
            let mut value = start.clone();
            let done = apply(&mut value, &operation).is_ok();
            assert_eq!(done.then_some(value), want, "{operation}");
        }
    }
}
