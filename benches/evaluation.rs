//! What judging costs, without reading: every filter on every node, and per node from 500 to 50,000.
//!
//! ```text
//! cargo bench --bench evaluation
//! ```

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ds_doctor::diagnose::{Options, Subject, diagnose};
use ds_doctor::filter::{Filter, PLUGINS, Verdict, Want};
use ds_doctor::model::daemon_set::DaemonSet;
use ds_doctor::model::node::Node;
use ds_doctor::model::pod::Pod;
use ds_doctor::model::snapshot::Snapshot;
use serde_json::{from_value, json};

const PODS: usize = 30;

/// A cluster of so many nodes with 30 pods each; the DaemonSet lacks its pod on every one.
fn cluster(nodes: usize) -> Snapshot {
    let mut snapshot = Snapshot::default();
    let node: Node = from_value(json!({
        "metadata": {"name": "", "labels": {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "topology.kubernetes.io/zone": "a"}},
        "spec": {"taints": [{"key": "dedicated", "value": "web", "effect": "NoSchedule"}]},
        "status": {"allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"}, "conditions": [{"type": "Ready", "status": "True"}]}}))
    .expect("a node");
    let pod: Pod = from_value(json!({
        "metadata": {"name": "", "namespace": "team", "labels": {"app": "web"}, "ownerReferences": [{"kind": "ReplicaSet", "name": "web", "uid": "r", "controller": true}]},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "200m", "memory": "256Mi"}}, "ports": [{"containerPort": 8080, "hostPort": 0}]}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}))
    .expect("a pod");
    for n in 0..nodes {
        let mut node = node.clone();
        node.metadata.name = format!("node-{n:05}");
        snapshot.objects.nodes.items.push(node);
        for p in 0..PODS {
            let mut pod = pod.clone();
            pod.metadata.name = format!("web-{n:05}-{p:02}");
            pod.moved_node_name = format!("node-{n:05}");
            snapshot.objects.pods.items.push(pod);
        }
    }
    snapshot
}

/// A DaemonSet for which no filter has nothing to do.
fn daemon_set() -> DaemonSet {
    from_value(json!({
        "metadata": {"name": "agent", "namespace": "monitoring", "uid": "d", "generation": 1},
        "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {
            "nodeSelector": {"kubernetes.io/os": "linux"},
            "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "web"}],
            "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "other"}}}]}},
            "topologySpreadConstraints": [{"maxSkew": 5, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "agent"}}}],
            "containers": [{"name": "agent", "image": "agent:1", "ports": [{"containerPort": 9100, "hostPort": 9100}],
                "resources": {"requests": {"cpu": "4", "memory": "1Gi"}}}]}}}}))
    .expect("a DaemonSet")
}

fn filters(c: &mut Criterion) {
    let mut group = c.benchmark_group("every filter on every node");
    group.sample_size(20);
    for nodes in [500, 5_000, 50_000] {
        let (snapshot, ds) = (cluster(nodes), daemon_set());
        group.throughput(Throughput::Elements(nodes as u64));
        group.bench_with_input(BenchmarkId::from_parameter(nodes), &nodes, |b, _| {
            b.iter(|| {
                let subject = Subject::new(&snapshot, &ds);
                let cycle = subject.fresh_cycle("agent-xxxxx");
                let filters: Vec<Filter> = PLUGINS.iter().map(|plugin| (plugin.prefilter)(&cycle)).collect();
                subject
                    .nodes
                    .iter()
                    .map(|info| filters.iter().filter(|filter| !matches!(filter(info, Want::Verdict), Verdict::Pass)).count())
                    .sum::<usize>()
            });
        });
    }
    group.finish();
}

fn reports(c: &mut Criterion) {
    let mut group = c.benchmark_group("the whole report");
    group.sample_size(10);
    for nodes in [500, 5_000] {
        let (snapshot, ds) = (cluster(nodes), daemon_set());
        let options = Options { without_remedies: true, ..Options::default() };
        group.throughput(Throughput::Elements(nodes as u64));
        group
            .bench_with_input(BenchmarkId::from_parameter(nodes), &nodes, |b, _| b.iter(|| diagnose(&snapshot, &ds, &options).nodes.len()));
    }
    group.finish();
}

criterion_group!(benches, filters, reports);
criterion_main!(benches);
