//! The verdicts of upstream's own code on random clusters, compared node by node.
//!
//! `CORPUS_PLUGINS=A,B` compares only these plugins; `CORPUS_FILE=part` only files whose name has
//! the part; `CORPUS_MOST=N` prints N differences.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use ds_doctor::diagnose::{Options, diagnose};
use ds_doctor::filter::PLUGINS;
use ds_doctor::report::CheckVerdict;
use serde_json::Value;

type Failing = BTreeMap<String, BTreeSet<String>>;

fn reasons(value: &Value) -> BTreeSet<String> {
    value.as_array().into_iter().flatten().map(|r| r.as_str().unwrap_or_default().to_string()).collect()
}

#[test]
fn every_verdict_is_upstreams() {
    let only: Option<BTreeSet<String>> = std::env::var("CORPUS_PLUGINS").ok().map(|p| p.split(',').map(str::to_string).collect());
    let most: usize = std::env::var("CORPUS_MOST").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let part = std::env::var("CORPUS_FILE").unwrap_or_default();
    let keep = |plugin: &str| match &only {
        Some(only) => only.contains(plugin),
        None => PLUGINS.iter().any(|p| p.name == plugin),
    };
    let (mut nodes, mut judged, mut differences) = (0, 0, Vec::new());
    let mut by_plugin: BTreeMap<String, usize> = BTreeMap::new();
    let files = support::corpora();
    assert!(!files.is_empty());
    for file in files.iter().filter(|f| f.to_string_lossy().contains(&part)) {
        for case in support::cases(file) {
            let snapshot = support::snapshot(case["objects"].as_array().unwrap(), case["upstream"].as_str().unwrap());
            let (namespace, name) = case["daemonset"].as_str().unwrap().split_once('/').unwrap();
            let ds = snapshot.daemon_set(namespace, name).unwrap();
            let report = diagnose(&snapshot, ds, &Options::default());
            for want in case["verdicts"]["nodes"].as_array().unwrap() {
                nodes += 1;
                let node = want["node"].as_str().unwrap();
                let mut differ = |what: String| {
                    differences.push(format!("{} {} {node}: {what}", file.file_stem().unwrap().to_string_lossy(), case["id"]))
                };
                let Some(got) = report.nodes.iter().find(|n| n.name == node) else {
                    differ("not in the report".into());
                    continue;
                };
                let controller = (want["controller"]["shouldRun"].as_bool(), want["controller"]["shouldContinueRunning"].as_bool());
                if (got.should_run, got.should_continue_running) != controller {
                    differ(format!("controller {:?}/{:?}, upstream {controller:?}", got.should_run, got.should_continue_running));
                }
                let Some(plugins) = want["fresh"]["plugins"].as_object() else { continue };
                judged += 1;
                let want: Failing = plugins.iter().filter(|(p, _)| keep(p)).map(|(p, v)| (p.clone(), reasons(&v["reasons"]))).collect();
                let have: Failing = got
                    .checks
                    .iter()
                    .filter(|c| c.verdict == CheckVerdict::Fail && keep(c.plugin))
                    .map(|c| (c.plugin.to_string(), c.reasons.iter().cloned().collect()))
                    .collect();
                if have != want {
                    for plugin in want.keys().chain(have.keys()).collect::<BTreeSet<_>>() {
                        if want.get(plugin) != have.get(plugin) {
                            *by_plugin.entry(plugin.clone()).or_default() += 1;
                        }
                    }
                    differ(format!("{have:?}, upstream {want:?}"));
                }
            }
        }
    }
    for line in differences.iter().take(most) {
        println!("{line}");
    }
    println!("{nodes} nodes, {judged} judged by the scheduler's filters, {} differences {by_plugin:?}", differences.len());
    assert!(differences.is_empty(), "{} verdicts differ from upstream's", differences.len());
}
