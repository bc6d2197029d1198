//! The verdicts of upstream's own code on random clusters, compared node by node.
//!
//! `CORPUS_PLUGINS=A,B` compares only these plugins; `CORPUS_FILE=part` only files whose name has
//! the part; `CORPUS_DIR=folder` other files than the committed ones; `CORPUS_MOST=N` prints N differences.

mod support;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use ds_doctor::controller::ownership::owns;
use ds_doctor::controller::recount::Counters;
use ds_doctor::diagnose::{Options, Subject, diagnose, stand_in_name};
use ds_doctor::filter::{Cycle, Filter, PLUGINS};
use ds_doctor::model::daemon_set::DaemonSet;
use ds_doctor::model::pod::Pod;
use ds_doctor::model::selector::selects;
use ds_doctor::model::snapshot::Snapshot;
use ds_doctor::model::time::Time;
use ds_doctor::report::CheckVerdict;
use ds_doctor::scheduling::preemption::{DryRun, importance};
use serde_json::Value;

type Failing = BTreeMap<String, BTreeSet<String>>;

fn reasons(value: &Value) -> BTreeSet<String> {
    value.as_array().into_iter().flatten().map(|r| r.as_str().unwrap_or_default().to_string()).collect()
}

/// How preemption compares on one node.
enum Compared {
    Equal,
    /// Equal but for the order of pods that upstream holds equal.
    Tie,
    Different(String),
}

/// What differs in preemption for the pod to be, node by node. Nodes that a plugin refuses that is
/// not compared are left out.
fn preemption_differences(subject: &Subject, nodes: &[Value], keep: impl Fn(&str) -> bool) -> (usize, usize, Vec<(String, String)>) {
    let name = stand_in_name(subject.ds);
    let fresh_cycle = subject.fresh_cycle(&name);
    let fresh_filters = filters_of(&fresh_cycle);
    let (mut compared, mut ties, mut differences) = (0, 0, Vec::new());
    for want in nodes {
        let fresh = &want["fresh"];
        let judged = fresh["schedulable"] == true || fresh["preemption"].is_object();
        let comparable = fresh["plugins"].as_object().is_some_and(|p| p.keys().all(|p| keep(p)));
        let info = subject.nodes.iter().find(|i| want["node"] == i.node.name());
        let (Some(info), true) = (info, judged && comparable && fresh["bypassed"] != true) else { continue };
        compared += 1;
        let found = info.without(&subject.features, |p| owns(subject.ds, p));
        let outcome = match subject.claimant(info.node.name()).map(|p| subject.named_cycle(p)) {
            Some(cycle) => compare_preemption(&DryRun::new(&cycle, &filters_of(&cycle), &found), fresh),
            None => compare_preemption(&DryRun::new(&fresh_cycle, &fresh_filters, &found), fresh),
        };
        match outcome {
            Compared::Equal => {}
            Compared::Tie => ties += 1,
            Compared::Different(what) => differences.push((info.node.name().to_string(), what)),
        }
    }
    (compared, ties, differences)
}

fn filters_of<'s>(cycle: &'s Cycle<'s>) -> Vec<Filter<'s>> {
    PLUGINS.iter().map(|p| (p.prefilter)(cycle)).collect()
}

fn compare_preemption(run: &DryRun, fresh: &Value) -> Compared {
    let have = run.outcome();
    let have_victims: BTreeSet<String> = have.iter().flat_map(|p| p.victims.clone()).collect();
    let want_victims = reasons(&fresh["preemption"]["victims"]);
    let possible = fresh["preemption"]["possible"] == true;
    // Upstream asks for victims only where a filter refused; a pod that waits for a claim, or whose
    // devices cannot be judged here, has none there and an impossible preemption here.
    let asked = fresh["preemption"].is_object();
    if (have.is_some() == asked || !asked) && have.as_ref().is_some_and(|p| p.possible) == possible && have_victims == want_victims {
        Compared::Equal
    } else if possible && another_order_gives(run, &want_victims) {
        Compared::Tie
    } else {
        Compared::Different(format!("preemption {have:?}, upstream {}", fresh["preemption"]))
    }
}

/// True if the controller would first take pods over that have the labels but no owner, or let go of
/// those that have lost the labels: that is over in a moment, and the tool goes by the owner.
fn adopts_or_releases(snapshot: &Snapshot, ds: &DaemonSet) -> bool {
    let selector = ds.spec.selector.as_ref();
    let matches = |p: &Pod| selector.is_some_and(|s| selects(s, &p.metadata.labels));
    let here = snapshot.pods.iter().filter(|p| p.metadata.namespace == ds.metadata.namespace);
    here.into_iter().any(|p| if p.metadata.controller().is_none() { matches(p) } else { owns(ds, p) && !matches(p) })
}

/// The counters that differ from those that upstream's controller writes.
fn status_differences(have: &Counters, want: &Value) -> Vec<String> {
    let have = serde_json::to_value(have).unwrap();
    let counters = have.as_object().unwrap().iter().filter(|(_, have)| !have.is_null());
    let differing = counters.filter(|(name, have)| have.as_i64() != Some(want[name.as_str()].as_i64().unwrap_or(0)));
    differing.map(|(name, have)| format!("{name} {have}, upstream {}", want[name.as_str()])).collect()
}

/// True if some order of the candidates that upstream holds equal (priority and start time; no
/// start time is any order) leads to these victims: which one upstream takes depends on its maps.
fn another_order_gives(run: &DryRun, victims: &BTreeSet<String>) -> bool {
    let mut orders: Vec<Vec<&Pod>> = vec![Vec::new()];
    let candidates = run.candidates();
    for equal in candidates.chunk_by(|a, b| importance(a, b) == Ordering::Equal) {
        let permuted = permutations(equal);
        orders = orders.iter().flat_map(|o| permuted.iter().map(move |p| [o.as_slice(), p].concat())).collect();
    }
    orders.iter().any(|o| run.victims(o).is_ok_and(|v| v.pods.iter().map(|p| p.full_name()).collect::<BTreeSet<_>>() == *victims))
}

fn permutations<'a>(pods: &[&'a Pod]) -> Vec<Vec<&'a Pod>> {
    let [first, rest @ ..] = pods else { return vec![Vec::new()] };
    let inserted = |p: Vec<&'a Pod>| (0..=p.len()).map(move |i| [&p[..i], &[*first], &p[i..]].concat());
    permutations(rest).into_iter().flat_map(inserted).collect()
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
    let (mut preemptions, mut ties, mut statuses) = (0, 0, 0);
    let files = support::corpora();
    assert!(!files.is_empty());
    for file in files.iter().filter(|f| f.to_string_lossy().contains(&part)) {
        for case in support::cases(file) {
            let mut snapshot = support::snapshot(case["objects"].as_array().unwrap(), case["upstream"].as_str().unwrap());
            snapshot.now = Time::parse("2026-01-05T12:00:00Z").unwrap(); // the oracle's clock
            let (namespace, name) = case["daemonset"].as_str().unwrap().split_once('/').unwrap();
            let ds = snapshot.daemon_set(namespace, name).unwrap();
            let report = diagnose(&snapshot, ds, &Options { without_remedies: true, ..Options::default() });
            let subject = Subject::new(&snapshot, ds);
            let known = |plugin: &str| PLUGINS.iter().any(|p| p.name == plugin);
            let (compared, excepted, differing) = preemption_differences(&subject, case["verdicts"]["nodes"].as_array().unwrap(), known);
            preemptions += compared;
            ties += excepted;
            for (node, what) in differing {
                differences.push(format!("{} {} {node}: {what}", file.file_stem().unwrap().to_string_lossy(), case["id"]));
            }
            let status = &case["verdicts"]["daemonset"]["status"];
            if status.is_object() && !ds.metadata.is_terminating() && !adopts_or_releases(&snapshot, ds) {
                statuses += 1;
                for what in status_differences(&report.daemon_set.recount, status) {
                    differences.push(format!("{} {}: {what}", file.file_stem().unwrap().to_string_lossy(), case["id"]));
                }
            }
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
                    let unknown: Vec<_> = got.checks.iter().filter(|c| c.verdict == CheckVerdict::Unknown).map(|c| &c.reasons).collect();
                    differ(format!("{have:?}, upstream {want:?}, unknown {unknown:?}"));
                }
            }
        }
    }
    for line in differences.iter().take(most) {
        println!("{line}");
    }
    println!("{preemptions} dry runs of preemption compared, {ties} equal but for the order of equal pods; {statuses} statuses counted");
    println!("{nodes} nodes, {judged} judged by the scheduler's filters, {} differences {by_plugin:?}", differences.len());
    assert!(differences.is_empty(), "{} verdicts differ from upstream's", differences.len());
}
