//! Nodes from the API server's protobuf, without reading what is not held.
//!
//! Most of a node are the names of images and the fields' managers, which are skipped; what many
//! nodes have alike is decoded once. What comes out is what decoding the whole node and making it
//! small gives.

use prost::Message;

use super::ingest::keeps_annotation;
use super::protobuf::Malformed;
use super::sift::{Fields, Known, parts, text, value_of, whole};
use super::slim::{Slimmer, Words};
use crate::model::labels::{Label, Labels};
use crate::model::node::{Node, NodeSpec, NodeStatus, NodeSystemInfo, ResourceList};
use crate::model::object::ObjectMeta;
use crate::model::shared::Shared;

/// What is remembered from node to node.
#[derive(Debug, Default)]
pub struct NodeSieve {
    capacities: Known<Shared<ResourceList>>,
    allocatables: Known<Shared<ResourceList>>,
    infos: Known<Shared<NodeSystemInfo>>,
}

/// Reads a node, as decoding and [`Ingested::slim`] leave it.
///
/// # Errors
/// If the bytes are not a node's.
pub fn node(bytes: &[u8], slimmer: &mut Slimmer) -> Result<Node, Malformed> {
    let Some([metadata, spec, status]) = parts(bytes)? else { return whole(bytes, slimmer) };
    Ok(Node {
        metadata: meta(metadata, &mut slimmer.words)?,
        spec: NodeSpec::decode(spec)?,
        status: node_status(status, &mut slimmer.node_sieve)?,
    })
}

fn meta(bytes: &[u8], words: &mut Words) -> Result<ObjectMeta, Malformed> {
    let (mut rest, mut labels) = (Vec::new(), Vec::new());
    let mut fields = Fields(bytes);
    while let Some(field) = fields.next()? {
        match field.tag {
            // The version of the object, and who manages which field.
            6 | 17 => {}
            11 => {
                let (key, value) = (value_of(field.value, 1)?, value_of(field.value, 2)?);
                labels.push(Label { key: words.of(text(key)?), value: words.of(text(value)?) });
            }
            12 if !std::str::from_utf8(value_of(field.value, 1)?).is_ok_and(keeps_annotation::<Node>) => {}
            _ => rest.extend_from_slice(field.whole),
        }
    }
    let mut meta = ObjectMeta::decode(rest.as_slice())?;
    meta.labels = labels.into_iter().collect::<Labels>().into();
    Ok(meta)
}

fn node_status(bytes: &[u8], sieve: &mut NodeSieve) -> Result<NodeStatus, Malformed> {
    let [mut capacity, mut allocatable, mut info, mut rest] = [const { Vec::new() }; 4];
    let mut fields = Fields(bytes);
    while let Some(field) = fields.next()? {
        match field.tag {
            1 => capacity.extend_from_slice(field.whole),
            2 => allocatable.extend_from_slice(field.whole),
            4 | 14 => rest.extend_from_slice(field.whole),
            7 => info.extend_from_slice(field.whole),
            _ => {}
        }
    }
    let mut status = NodeStatus::decode(rest.as_slice())?;
    status.conditions.shrink_to_fit();
    status.capacity = sieve.capacities.get(&capacity, || Ok(NodeStatus::decode(capacity.as_slice())?.capacity))?;
    status.allocatable = sieve.allocatables.get(&allocatable, || Ok(NodeStatus::decode(allocatable.as_slice())?.allocatable))?;
    status.node_info = sieve.infos.get(&info, || Ok(NodeStatus::decode(info.as_slice())?.node_info))?;
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A node with everything that real ones have, changed by `change`.
    fn made(change: &dyn Fn(&mut Value)) -> Node {
        let mut node = json!({
            "metadata": {"name": "n", "uid": "u", "resourceVersion": "7", "creationTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["f/g"],
                "labels": {"zone": "a", "kubernetes.io/hostname": "n"}, "annotations": {"secret": "token"},
                "ownerReferences": [{"apiVersion": "v1", "kind": "Machine", "name": "m", "uid": "o"}]},
            "spec": {"providerID": "p", "unschedulable": true, "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]},
            "status": {"capacity": {"cpu": "8", "memory": "32Gi", "example.com/gpu": "2"}, "allocatable": {"cpu": "7900m", "memory": "31Gi"},
                "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "m", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}],
                "nodeInfo": {"kubeletVersion": "v1.37.2", "architecture": "amd64"}, "declaredFeatures": ["A", "B"]}});
        change(&mut node);
        serde_json::from_value(node).unwrap()
    }

    #[test]
    fn what_is_picked_is_what_slimming_leaves() {
        type Change = &'static dyn Fn(&mut Value);
        let changes: &[(&str, Change)] = &[
            ("as it is", &|_| {}),
            ("without labels", &|n| n["metadata"]["labels"] = json!({})),
            ("without allocatable", &|n| n["status"]["allocatable"] = json!({})),
            ("the same amount, spelled otherwise", &|n| n["status"]["capacity"]["memory"] = json!("32768Mi")),
            ("without conditions", &|n| n["status"]["conditions"] = json!([])),
            ("of another kubelet", &|n| n["status"]["nodeInfo"] = json!({})),
            ("ending", &|n| n["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z")),
            ("without anything", &|n| *n = json!({})),
        ];
        let (mut picking, mut wholly) = (Slimmer::default(), Slimmer::default());
        for (what, change) in changes {
            let bytes = made(change).encode_to_vec();
            let (picked, slim) = (super::node(&bytes, &mut picking).unwrap(), whole::<Node>(&bytes, &mut wholly).unwrap());
            assert_eq!(format!("{picked:?}"), format!("{slim:?}"), "{what}");
            assert_eq!(picked, super::node(&bytes, &mut picking).unwrap(), "{what} again");
        }
    }

    #[test]
    fn nodes_that_are_alike_share() {
        let mut slimmer = Slimmer::default();
        let named = |name: &'static str| made(&|n| n["metadata"]["name"] = json!(name)).encode_to_vec();
        let both: Vec<Node> = ["a", "b"].iter().map(|n| super::node(&named(n), &mut slimmer).unwrap()).collect();
        let slim: Vec<Node> = ["a", "b"].iter().map(|n| whole(&named(n), &mut slimmer).unwrap()).collect();
        for pair in [both, slim] {
            let [a, b] = [0, 1].map(|i: usize| &pair[i].status);
            assert!(a.capacity.same(&b.capacity) && a.allocatable.same(&b.allocatable) && a.node_info.same(&b.node_info));
        }
    }

    #[test]
    fn labels_said_twice_count_as_said_last_and_other_fields_are_skipped() {
        let mut bytes = made(&|_| {}).encode_to_vec();
        let more = ObjectMeta { labels: [("zone".to_string(), "b".to_string())].into_iter().collect(), ..ObjectMeta::default() };
        let mut meta = made(&|_| {}).metadata.encode_to_vec();
        meta.extend(more.encode_to_vec());
        assert_eq!(super::meta(&meta, &mut Words::default()).unwrap().labels.get("zone").map(String::as_str), Some("b"));
        // A second metadata is merged, as decoding does it.
        bytes.extend(Node { metadata: more, ..Node::default() }.encode_to_vec());
        let node = super::node(&bytes, &mut Slimmer::default()).unwrap();
        assert_eq!((node.name(), node.metadata.labels.get("zone").map(String::as_str)), ("n", Some("b")));
    }

    #[test]
    fn bytes_that_are_no_node_are_an_error() {
        let bytes = made(&|_| {}).encode_to_vec();
        for end in 0..bytes.len() {
            let _ = super::node(&bytes[..end], &mut Slimmer::default());
        }
        for bad in [&b"\x0a\xff"[..], b"\x0a\x05a", b"\x0b", b"\x1a\x03\x0a\x05a"] {
            assert!(super::node(bad, &mut Slimmer::default()).is_err(), "{bad:?}");
        }
    }
}
