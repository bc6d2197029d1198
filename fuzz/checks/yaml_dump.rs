//! A saved cluster in YAML: cut item by item it is what it is as a whole.

use ds_doctor::model::snapshot::Snapshot;
use ds_doctor::source::read_error::ReadError;
use serde_json::Value;

fn names(snapshot: &Snapshot) -> Vec<String> {
    let pods = snapshot.pods.iter().map(|p| format!("Pod {}/{}", p.metadata.namespace, p.metadata.name));
    let nodes = snapshot.nodes.iter().map(|n| format!("Node {}", n.metadata.name));
    let sets = snapshot.daemon_sets.iter().map(|d| format!("DaemonSet {}/{}", d.metadata.namespace, d.metadata.name));
    pods.chain(nodes).chain(sets).collect()
}

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let read = super::dump::snapshot(bytes, ".yaml");
    if let Ok(snapshot) = &read {
        super::dump::judged(snapshot);
    }
    // One document that a whole parser reads is the same written as JSON.
    let has_merges = bytes.windows(2).any(|w| w == b"<<");
    let Some(whole) = yaml_serde::from_slice::<Value>(bytes).ok().filter(|v| v.is_object() && !has_merges) else { return };
    let again = super::dump::snapshot(whole.to_string().as_bytes(), ".json");
    match (&read, &again) {
        (Ok(read), Ok(again)) => assert_eq!(names(read), names(again)),
        (Err(_), Err(_)) => {}
        // A list of nothing is nothing, whether that is said at once or found by whoever looks for a DaemonSet in it.
        (Ok(nothing), Err(ReadError::NoObjects { .. })) | (Err(ReadError::NoObjects { .. }), Ok(nothing)) => {
            assert_eq!(names(nothing), [""; 0]);
        }
        _ => panic!("{:?} {:?}", read.map(|s| names(&s)), again.map(|s| names(&s))),
    }
}
