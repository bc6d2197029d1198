//! `--watch` for as long as asked, on a cluster that changes all the time and a server that fails
//! now and then: memory stays flat, every state is told, the server is not pressed.
//!
//! `DS_DOCTOR_SOAK=3600 cargo test --test soak -- --ignored --nocapture`; `DS_DOCTOR_BIN` names another
//! binary, such as a release build's.

#[allow(dead_code)] // each test binary uses its own part
#[path = "support/api_server.rs"]
mod api_server;
mod support;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use api_server::{Act, Server};
use ds_doctor::model::snapshot::Snapshot;
use serde_json::Value;

const NODES: usize = 300;
/// A change must be told within so long, failures of the server and a busy machine included: the pause between looks is ten
/// times as long as a look.
const PATIENCE: Duration = Duration::from_secs(180);
const NAME: &str = "kube-system/kube-proxy";

/// The healthy example with many nodes: of each node's objects, by its name.
struct Cluster {
    node: Value,
    pod: Value,
    others: Vec<Value>,
}

impl Cluster {
    fn read() -> Cluster {
        let list: Value = yaml_serde::from_str(&std::fs::read_to_string("examples/healthy.yaml").unwrap()).unwrap();
        let items = list["items"].as_array().unwrap();
        let node = items.iter().find(|o| o["kind"] == "Node" && o["metadata"]["name"] == "worker-1").unwrap().clone();
        let pod = items
            .iter()
            .find(|o| o["kind"] == "Pod" && o["metadata"]["namespace"] == "kube-system" && o["spec"]["nodeName"] == "worker-1")
            .unwrap()
            .clone();
        let others = items.iter().filter(|o| !["Node", "Pod"].contains(&o["kind"].as_str().unwrap())).cloned().collect();
        Cluster { node, pod, others }
    }

    fn named(template: &Value, node: &str) -> Value {
        let text = template.to_string().replace("worker-1", node);
        let mut object: Value = serde_json::from_str(&text).unwrap();
        let name = object["metadata"]["name"].as_str().unwrap().to_string();
        object["metadata"]["uid"] = format!("uid-{name}-{node}").into();
        if object["kind"] == "Pod" {
            object["metadata"]["name"] = format!("kube-proxy-{node}").into();
        }
        object
    }

    fn whole(&self) -> Snapshot {
        let mut objects = self.others.clone();
        for i in 0..NODES {
            objects.extend([Self::named(&self.node, &name(i)), Self::named(&self.pod, &name(i))]);
        }
        support::snapshot(&objects, "v1.34.3")
    }
}

fn name(i: usize) -> String {
    format!("node-{i:03}")
}

/// What a node's state is made to be.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Made {
    Healthy,
    Unhealthy,
    Missing,
    Gone,
}

fn make(snapshot: &mut Snapshot, cluster: &Cluster, node: &str, made: Made) {
    let objects = &mut snapshot.objects;
    objects.nodes.items.retain(|n| n.metadata.name != node);
    objects.pods.items.retain(|p| p.spec.node_name != node);
    if made == Made::Gone {
        return;
    }
    objects.nodes.items.push(serde_json::from_value(Cluster::named(&cluster.node, node)).unwrap());
    if made == Made::Missing {
        return;
    }
    let mut pod = Cluster::named(&cluster.pod, node);
    if made == Made::Unhealthy {
        for condition in pod["status"]["conditions"].as_array_mut().unwrap() {
            if ["Ready", "ContainersReady"].contains(&condition["type"].as_str().unwrap()) {
                condition["status"] = "False".into();
            }
        }
        pod["status"]["containerStatuses"][0]["ready"] = false.into();
    }
    objects.pods.items.push(serde_json::from_value(pod).unwrap());
}

/// Resident memory in KiB, open files.
fn used(child: &Child) -> (u64, usize) {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let rss = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap();
    let files = std::fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap().count();
    (rss.split_whitespace().next().unwrap().parse().unwrap(), files)
}

/// Waits for a line with this text; returns how long that took.
fn wait(lines: &Receiver<String>, want: &str, others: &mut BTreeMap<String, usize>) -> Option<Duration> {
    let began = Instant::now();
    loop {
        match lines.recv_timeout(PATIENCE.saturating_sub(began.elapsed())) {
            Ok(line) if line.contains(want) => return Some(began.elapsed()),
            Ok(line) => *others.entry(line.split_once(' ').unwrap_or_default().1.to_string()).or_default() += 1,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
        }
    }
}

#[test]
#[ignore = "as long as DS_DOCTOR_SOAK says: just soak"]
fn watching_costs_the_same_for_ever() {
    let seconds = std::env::var("DS_DOCTOR_SOAK").ok().and_then(|s| s.parse().ok()).unwrap_or(60);
    let cluster = Cluster::read();
    let server = Server::start(cluster.whole(), "v1.34.3", true, &[]);
    let binary = std::env::var("DS_DOCTOR_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_kubectl-ds_doctor").into());
    let mut child = Command::new(binary)
        .env_clear()
        .env("HOME", "/nonexistent")
        .args([
            "kube-proxy",
            "-n",
            "kube-system",
            "--watch",
            "--request-timeout",
            "2s",
            "--now",
            "2026-10-29T05:00:00Z",
            "--server",
            &server.url,
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (send, lines) = channel();
    let out = BufReader::new(child.stdout.take().unwrap());
    thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|l| send.send(l)));
    let err = BufReader::new(child.stderr.take().unwrap());
    let warnings = thread::spawn(move || {
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        err.lines().map_while(Result::ok).for_each(|l| *count.entry(l).or_default() += 1);
        count
    });
    // The first screen is of a healthy cluster.
    thread::sleep(Duration::from_secs(5));
    let first: Vec<String> = lines.try_iter().collect();
    assert!(first.first().is_some_and(|l| l.contains("healthy")), "{first:?}");

    let began = Instant::now();
    let mut made = vec![Made::Healthy; NODES];
    let mut dice = 7_u64;
    let (mut changes, mut missed, mut faults) = (0, Vec::new(), 0);
    let (mut delays, mut memory, mut files, mut rates) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut others = BTreeMap::new();
    let (mut minute, mut requests) = (Instant::now(), server.requests().len());
    while began.elapsed() < Duration::from_secs(seconds) {
        dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let roll = (dice >> 33) as usize;
        let (i, next) = (roll % NODES, [Made::Healthy, Made::Unhealthy, Made::Missing, Made::Gone][roll / NODES % 4]);
        if made[i] == next {
            continue;
        }
        let fails = (roll / 7).is_multiple_of(20);
        if fails {
            // The server fails while the cluster goes on.
            let acts = [Act::Refuse(503), Act::Half(usize::MAX), Act::Raw("text/html", "<html>"), Act::Silent];
            server.rules(&[("/", acts[faults % acts.len()].clone())]);
            faults += 1;
        }
        let node = name(i);
        server.change(|s| make(s, &cluster, &node, next));
        if fails {
            thread::sleep(Duration::from_secs(3));
            server.rules(&[]);
        }
        let want = match (made[i], next) {
            (_, Made::Gone) => format!("{NAME} {node} is gone"),
            (Made::Gone, next) => format!("{NAME} {node} new → {next:?}"),
            (from, next) => format!("{NAME} {node} {from:?} → {next:?}"),
        };
        match wait(&lines, &want, &mut others) {
            Some(delay) => delays.push(delay.as_secs_f64()),
            None => missed.push(want),
        }
        made[i] = next;
        changes += 1;
        let (rss, open) = used(&child);
        memory.push(rss);
        files.push(open);
        if minute.elapsed() >= Duration::from_secs(60) {
            let now = server.requests().len();
            rates.push((now - requests) as f64 / minute.elapsed().as_secs_f64() * 60.0);
            println!(
                "{:>5} s: {changes} changes, {} missed, {rss} KiB, {open} files, {:.0} requests/min",
                began.elapsed().as_secs(),
                missed.len(),
                rates[rates.len() - 1]
            );
            (minute, requests) = (Instant::now(), now);
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    delays.sort_by(f64::total_cmp);
    let tenth = (memory.len() / 10).max(1);
    let mean = |part: &[u64]| part.iter().sum::<u64>() / part.len() as u64;
    let (early, late) = (mean(&memory[tenth..2 * tenth]), mean(&memory[memory.len() - tenth..]));
    println!("{} s, {NODES} nodes: {changes} changes, {} missed, {faults} times of failure", began.elapsed().as_secs(), missed.len());
    println!("a change is told after {:.1} s (median), {:.1} s at most", delays[delays.len() / 2], delays[delays.len() - 1]);
    println!("memory {early} KiB (second tenth), {late} KiB (last tenth), {} KiB at most", memory.iter().max().unwrap());
    println!(
        "open files {} at most; requests a minute: {:.0} at most",
        files.iter().max().unwrap(),
        rates.iter().fold(0.0, |a: f64, b| a.max(*b))
    );
    println!("warnings: {:#?}", warnings.join().unwrap());
    println!("lines of other nodes: {others:#?}");
    assert!(missed.is_empty(), "{missed:?}");
    assert!(late < early + early / 10 + 1024, "memory grows: {early} KiB to {late} KiB");
    assert!(files.iter().max() < Some(&64));
    assert!(rates.iter().all(|r| *r < 600.0), "{rates:?}");
}
