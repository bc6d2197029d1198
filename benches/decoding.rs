//! What reading costs, without a network: nodes and pods in the API server's protobuf and in JSON,
//! taken apart in chunks as they arrive and made small. A node's text has 10 KB, a pod's 4.5 KB, as
//! real ones have; most of it is skipped.
//!
//! ```text
//! cargo bench --bench decoding
//! ```

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ds_doctor::model::node::Node;
use ds_doctor::model::pod::Pod;
use ds_doctor::source::api_error::{ApiError, not_json};
use ds_doctor::source::ingest::{Ingested, accept};
use ds_doctor::source::slim::{Focus, Slimmer};
use ds_doctor::source::{json_items, protobuf};
use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, json};

/// What a connection gives at once.
const CHUNK: usize = 16 << 10;

const OBJECTS: usize = 2_000;

/// Field numbers: `ObjectMeta.managedFields`, `NodeStatus.images`.
const MANAGED_FIELDS: u32 = 17;
const IMAGES: u32 = 8;

fn node(n: usize) -> Node {
    let mut labels = json!({"kubernetes.io/os": "linux", "kubernetes.io/hostname": format!("node-{n:05}")});
    for i in 0..25 {
        labels[format!("example.org/label-{i:02}")] = json!("some-value");
    }
    let amounts = json!({"cpu": "8", "memory": "32Gi", "pods": "110", "ephemeral-storage": "100Gi"});
    let condition = |kind: &str| {
        json!({"type": kind, "status": "False", "reason": "Kubelet", "message": "kubelet says so",
        "lastHeartbeatTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"})
    };
    let conditions: Vec<Value> = ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map(condition).into();
    from_value(json!({"metadata": {"name": format!("node-{n:05}"), "labels": labels, "uid": format!("uid-{n}")},
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": conditions,
            "nodeInfo": {"kubeletVersion": "v1.37.2", "operatingSystem": "linux", "architecture": "amd64"}}}))
    .expect("a node")
}

/// Every second pod is the DaemonSet's in question, the others are not.
fn pod(n: usize) -> Pod {
    let (kind, owner) = if n.is_multiple_of(2) { ("DaemonSet", "agent".to_string()) } else { ("ReplicaSet", format!("app-{}", n / 100)) };
    let condition = |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"});
    let conditions: Vec<Value> = ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map(condition).into();
    from_value(json!({
        "metadata": {"name": format!("{owner}-{n:05}"), "namespace": "monitoring", "uid": format!("uid-{n}"), "labels": {"app": owner},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": owner, "controller": true}]},
        "spec": {"nodeName": format!("node-{n:05}"), "serviceAccountName": "default", "tolerations": [{"operator": "Exists"}],
            "volumes": [{"name": format!("kube-api-access-{n:05}"), "projected": {}}],
            "containers": [{"name": "main", "image": "registry.example.org/team/application:1", "ports": [{"containerPort": 8080}],
                "env": [{"name": "A"}, {"name": "B"}], "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
                "volumeMounts": [{"name": format!("kube-api-access-{n:05}"), "mountPath": "/token"}]}]},
        "status": {"phase": "Running", "startTime": "2026-01-01T00:00:00Z", "conditions": conditions, "containerStatuses": [
            {"name": "main", "ready": true, "started": true, "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]}}))
    .expect("a pod")
}

fn field(tag: u32, value: &[u8], out: &mut Vec<u8>) {
    encode_key(tag, WireType::LengthDelimited, out);
    encode_varint(value.len() as u64, out);
    out.extend_from_slice(value);
}

/// A list as the API server sends it; what is not held of each object is `skipped` bytes of its metadata and of its status.
fn protobuf_list<T>(objects: &[T], parts: impl Fn(&T) -> [Vec<u8>; 3], skipped: [usize; 2]) -> Vec<u8> {
    let mut list = Vec::new();
    field(1, b"", &mut list);
    for object in objects {
        let [mut metadata, spec, mut status] = parts(object);
        field(MANAGED_FIELDS, &vec![b'f'; skipped[0]], &mut metadata);
        for _ in 0..skipped[1] / 180 {
            field(IMAGES, &[b'i'; 180], &mut status);
        }
        let mut item = Vec::new();
        [metadata, spec, status].iter().zip(1..).for_each(|(part, tag)| field(tag, part, &mut item));
        field(2, &item, &mut list);
    }
    let mut body = b"k8s\0".to_vec();
    field(2, &list, &mut body);
    body
}

fn json_list<T: Serialize>(objects: &[T], skipped: [usize; 2]) -> Vec<u8> {
    let items: Vec<Value> = objects
        .iter()
        .map(|object| {
            let mut value = serde_json::to_value(object).expect("JSON");
            value["metadata"]["managedFields"] = json!([{"fieldsV1": {"f:metadata": "f".repeat(skipped[0])}}]);
            value["status"]["images"] = json!((0..skipped[1] / 180).map(|_| "i".repeat(180)).collect::<Vec<_>>());
            value
        })
        .collect();
    serde_json::to_vec(&json!({"kind": "List", "metadata": {}, "items": items})).expect("JSON")
}

fn read_protobuf<T: Ingested + Message + Default>(body: &[u8]) -> usize {
    let mut slimmer = Slimmer::new(Focus { namespace: Some("monitoring".into()), names: vec!["agent".into()] });
    let (mut list, mut held) = (protobuf::Items::default(), Vec::new());
    for chunk in body.chunks(CHUNK) {
        let read = list.feed(chunk, &mut |bytes| {
            held.extend(T::sifted(bytes, &mut slimmer)?);
            Ok::<(), ApiError>(())
        });
        read.expect("a list");
    }
    held.len()
}

fn read_json<T: Ingested + DeserializeOwned>(body: &[u8]) -> usize {
    let mut slimmer = Slimmer::new(Focus { namespace: Some("monitoring".into()), names: vec!["agent".into()] });
    let (mut list, mut held) = (json_items::Items::default(), Vec::new());
    for chunk in body.chunks(CHUNK) {
        let read = list.feed(chunk, &mut |text| {
            let mut object: T = serde_json::from_slice(text).map_err(not_json)?;
            if accept(&mut object, &mut slimmer) {
                held.push(object);
            }
            Ok::<(), ApiError>(())
        });
        read.expect("a list");
    }
    held.len()
}

fn decoding(c: &mut Criterion) {
    let nodes: Vec<Node> = (0..OBJECTS).map(node).collect();
    let pods: Vec<Pod> = (0..OBJECTS).map(pod).collect();
    let of_node = |n: &Node| [n.metadata.encode_to_vec(), n.spec.encode_to_vec(), n.status.encode_to_vec()];
    let of_pod = |p: &Pod| [p.metadata.encode_to_vec(), p.spec.encode_to_vec(), p.status.encode_to_vec()];
    let mut group = c.benchmark_group(format!("reading {OBJECTS} objects"));
    group.sample_size(20);
    let mut bench = |what: &str, body: Vec<u8>, read: fn(&[u8]) -> usize| {
        assert_eq!(read(&body), OBJECTS, "{what}");
        group.throughput(Throughput::Bytes(body.len() as u64));
        group.bench_with_input(BenchmarkId::from_parameter(what), &body, |b, body| b.iter(|| read(body)));
    };
    bench("nodes in protobuf", protobuf_list(&nodes, of_node, [2_500, 6_000]), read_protobuf::<Node>);
    bench("nodes in JSON", json_list(&nodes, [2_500, 6_000]), read_json::<Node>);
    bench("pods in protobuf", protobuf_list(&pods, of_pod, [3_500, 0]), read_protobuf::<Pod>);
    bench("pods in JSON", json_list(&pods, [3_500, 0]), read_json::<Pod>);
    group.finish();
}

criterion_group!(benches, decoding);
criterion_main!(benches);
