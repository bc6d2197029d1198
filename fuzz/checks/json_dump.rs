//! A saved cluster in JSON: what is cut out of the stream is what a whole parser finds.

use serde_json::Value;

/// The names of pods that a whole parser finds; `None` if it cannot tell what counts.
fn pods(value: &Value, of: Option<&str>, depth: usize, names: &mut Vec<String>) -> Option<()> {
    if depth > 8 {
        return None;
    }
    match value {
        Value::Array(items) => items.iter().try_for_each(|v| pods(v, of, depth + 1, names)),
        Value::Object(map) => {
            let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default();
            let (version, kind) = of.map_or((text("apiVersion"), text("kind")), |kind| ("v1", kind));
            match kind {
                "List" | "PodList" => {
                    let of = (kind == "PodList").then_some("Pod");
                    (of.is_none() || text("apiVersion") == "v1").then_some(())?;
                    map.get("items").map_or(Some(()), |items| match items {
                        Value::Array(items) => items.iter().try_for_each(|v| pods(v, of, depth + 1, names)),
                        _ => None,
                    })
                }
                "Pod" if version == "v1" => {
                    let meta = &map.get("metadata")?;
                    names.push(format!("{}/{}", meta["namespace"].as_str().unwrap_or_default(), meta["name"].as_str().unwrap_or_default()));
                    Some(())
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let Ok(snapshot) = super::dump::snapshot(bytes, ".json") else { return };
    let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_slice(bytes).into_iter().collect();
    let mut names = Vec::new();
    if !bytes.contains(&b'\\')
        && let Ok(values) = values
        && values.iter().try_for_each(|v| pods(v, None, 0, &mut names)).is_some()
    {
        names.sort();
        names.dedup();
        let mut read: Vec<String> = snapshot.pods.iter().map(|p| format!("{}/{}", p.metadata.namespace, p.metadata.name)).collect();
        read.sort();
        assert_eq!(read, names);
    }
    super::dump::judged(&snapshot);
}
