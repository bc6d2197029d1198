//! Public faults, rebuilt on a real control plane (`tests/cases`): the causes must be the right
//! ones, with every detail.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ds_doctor::cause::Cause;
use ds_doctor::diagnose::{Options, diagnose};
use ds_doctor::report::Report;
use ds_doctor::source::files::{ReadOptions, read};
use serde::Deserialize;

/// `expect.json` of a case.
#[derive(Deserialize)]
struct Expected {
    daemonset: String,
    nodes: BTreeMap<String, Node>,
    workload_causes: Vec<String>,
}

#[derive(Deserialize)]
struct Node {
    should_run: bool,
    has_pod: bool,
    bound: bool,
    ready: bool,
    pods: Option<usize>,
    causes: Vec<String>,
}

/// Codes whose details are worded freely.
const FREE: [&str; 2] = ["SandboxFailed", "NotReady"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

fn cases() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.filter(|n| folder().join(n).join("expect.json").is_file()).collect();
    names.sort();
    names
}

fn report(case: &str, daemonset: &str) -> Report {
    let snapshot = read(&[folder().join(case).join("cluster.yaml")], &ReadOptions::default()).unwrap();
    let (namespace, name) = daemonset.split_once('/').unwrap();
    diagnose(&snapshot, snapshot.daemon_set(namespace, name).unwrap(), &Options::default())
}

/// `Code detail`, the detail left out where it is free.
fn spelled(code: &str, detail: &str) -> String {
    if FREE.contains(&code) { code.to_string() } else { format!("{code} {detail}").trim().to_string() }
}

fn found(causes: &[Cause]) -> BTreeSet<String> {
    causes.iter().map(|c| spelled(c.code, &c.detail)).collect()
}

fn wanted(causes: &[String]) -> BTreeSet<String> {
    let split = |c: &str| c.split_once(' ').map(|(a, b)| (a.to_string(), b.to_string())).unwrap_or((c.to_string(), String::new()));
    causes.iter().map(|c| split(c)).map(|(code, detail)| spelled(&code, &detail)).collect()
}

/// What differs from the right answer, one line each.
fn differences(case: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder().join(case).join("expect.json")).unwrap();
    let expected: Expected = serde_json::from_str(&text).unwrap();
    let report = report(case, &expected.daemonset);
    let mut wrong = Vec::new();
    let mut check = |what: String, have: String, want: String| {
        if have != want {
            wrong.push(format!("{case}: {what} is {have}, should be {want}"));
        }
    };
    let names = |n: Vec<&String>| format!("{n:?}");
    let mut want: Vec<&String> = expected.nodes.keys().collect();
    want.sort();
    check("nodes".into(), names(report.nodes.iter().map(|n| &n.name).collect()), names(want));
    for node in &report.nodes {
        let Some(want) = expected.nodes.get(&node.name) else { continue };
        let name = &node.name;
        check(format!("{name} should run"), format!("{:?}", node.should_run), format!("{:?}", Some(want.should_run)));
        check(format!("{name} has a pod"), (!node.pods.is_empty()).to_string(), want.has_pod.to_string());
        check(format!("{name} has a bound pod"), node.pods.iter().any(|p| p.bound).to_string(), want.bound.to_string());
        check(format!("{name} has a ready pod"), node.pods.iter().any(|p| p.ready).to_string(), want.ready.to_string());
        if let Some(pods) = want.pods {
            check(format!("{name} has pods"), node.pods.len().to_string(), pods.to_string());
        }
        check(format!("causes of {name}"), format!("{:?}", found(&node.causes)), format!("{:?}", wanted(&want.causes)));
    }
    check("causes of the workload".into(), format!("{:?}", found(&report.causes)), format!("{:?}", wanted(&expected.workload_causes)));
    wrong
}

#[test]
fn every_case_is_right() {
    let cases = cases();
    assert!(cases.len() >= 90, "{cases:?}");
    let wrong: Vec<String> = cases.iter().flat_map(|c| differences(c)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_dead_node_makes_the_rollout_stuck_not_slow() {
    for (case, phase, blocked, waiting) in [
        ("55-terminating-on-dead-node", "stuck", vec!["wk-3"], vec!["wk-1", "wk-2"]),
        ("54-crashing-pods-use-up-budget", "stuck", vec!["wk-2", "wk-3"], vec!["wk-1", "wk-4"]),
        ("58-update-introduces-port-conflict", "stuck", vec!["wk-1"], vec!["wk-2"]),
        ("29-surge-with-host-port", "stuck", vec!["wk-1", "wk-2"], vec![]),
        ("53-ondelete-nothing-updates", "waiting-for-delete", vec![], vec!["wk-1", "wk-2", "wk-3"]),
        ("57-min-ready-seconds", "progressing", vec![], vec![]),
        ("48-readiness-failing", "updated", vec![], vec![]),
        ("11-cordoned-node-still-runs", "complete", vec![], vec![]),
        ("60-controller-not-running", "unobserved", vec![], vec![]),
    ] {
        let text = std::fs::read_to_string(folder().join(case).join("expect.json")).unwrap();
        let expected: Expected = serde_json::from_str(&text).unwrap();
        let rollout = report(case, &expected.daemonset).rollout;
        assert_eq!(
            (rollout.phase, rollout.blocked_by, rollout.waiting),
            (phase, blocked.iter().map(|s| s.to_string()).collect(), waiting.iter().map(|s| s.to_string()).collect()),
            "{case}"
        );
    }
}

#[test]
fn bad_nodes_are_named_by_what_they_have_in_common() {
    for (case, daemonset, want) in [
        ("43-linux-image-on-windows", "kube-system/node-dns", "ImagePull: the failing pod is on operating system windows"),
        ("44-amd64-image-on-arm64", "accel/plugin", "CrashLoop: both failing pods are on architecture arm64"),
        ("54-crashing-pods-use-up-budget", "ndt/server", "CrashLoop: both failing pods are of revision 2, the 2 healthy ones are not"),
    ] {
        let found = report(case, daemonset).correlations;
        assert!(found.iter().any(|c| c.starts_with(want)), "{case}: {found:?}");
    }
}
