//! What upstream's own `rollingUpdate` does in clusters in the middle of a rollout, compared with
//! what the report makes of them: the budget, who uses it up, and which pods are replaced next.
//!
//! `ROLLOUT_DIR=folder` compares other files than the committed ones.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ds_doctor::controller::should_run::Decision;
use ds_doctor::diagnose::{Options, Subject, decide_for, diagnose};
use ds_doctor::model::time::Time;
use ds_doctor::model::toleration::daemon_pod_tolerations;
use ds_doctor::rollout::rollout_budget::{Place, Places};
use serde_json::Value;

/// What the controller does next, as far as it does not draw lots: these for sure, and so many of those.
#[derive(Debug, Default)]
struct Next<'a> {
    sure: BTreeSet<&'a str>,
    any: BTreeSet<&'a str>,
    of_any: i64,
}

impl Next<'_> {
    fn allows(&self, done: &BTreeSet<&str>) -> bool {
        let drawn: BTreeSet<&str> = done.difference(&self.sure).copied().collect();
        let most = i64::try_from(self.any.len()).unwrap();
        self.sure.is_subset(done) && drawn.is_subset(&self.any) && i64::try_from(drawn.len()).unwrap() == self.of_any.clamp(0, most)
    }
}

/// Pods deleted and nodes given a second pod; `None` if the update fails at a node that is gone.
fn next<'a>(subject: &Subject<'a>, places: &Places<'a>, wanted: &dyn Fn(&str) -> bool, max: (i64, i64)) -> Option<(Next<'a>, Next<'a>)> {
    let old = |nodes: Vec<&'a str>| -> BTreeSet<&'a str> {
        let pods = nodes.into_iter().flat_map(|n| &subject.pods[n]);
        pods.filter(|p| !p.is_terminating() && subject.is_updated(p) == Some(false)).map(|p| p.metadata.name.as_str()).collect()
    };
    let count = |nodes: &[&str]| i64::try_from(nodes.len()).unwrap();
    let (max_unavailable, max_surge) = max;
    if max_surge == 0 {
        let sure = old(places.of(&[Place::Replaceable]));
        let delete = Next { sure, any: old(places.waiting()), of_any: max_unavailable - count(&places.unavailable()) };
        return Some((delete, Next::default()));
    }
    if !places.lost(subject).is_empty() {
        return None;
    }
    let split = |place: Place| -> (Vec<&'a str>, Vec<&'a str>) { places.of(&[place]).into_iter().partition(|n| wanted(n)) };
    let (replaceable, sunset_bad) = split(Place::Replaceable);
    let (waiting, sunset) = split(Place::Old);
    // Available pods beyond one for each wanted node let go of those that are not wanted any more.
    let serving = |pods: &&Vec<&ds_doctor::model::pod::Pod>| {
        let live: Vec<_> = pods.iter().filter(|p| !p.is_terminating()).collect();
        let of = |updated| live.iter().find(|p| subject.is_updated(p) == Some(updated));
        of(false).or(of(true)).is_some_and(|p| subject.is_available(p))
    };
    let excess = places.of(&[Place::Excess]);
    let available = subject.pods.iter().filter(|(n, pods)| !excess.contains(n) && serving(pods)).count();
    let desired = subject.nodes.iter().filter(|i| wanted(i.node.name())).count();
    let spare = i64::try_from(available).unwrap() - i64::try_from(desired).unwrap();
    let mut sure = old(places.of(&[Place::Changed]));
    sure.extend(old(sunset_bad));
    let create =
        Next { sure: replaceable.into_iter().collect(), any: waiting.into_iter().collect(), of_any: max_surge - count(&places.surging()) };
    Some((Next { sure, any: old(sunset), of_any: spare }, create))
}

#[test]
fn the_budget_is_upstreams() {
    let committed = || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rollout");
    let folder = std::env::var_os("ROLLOUT_DIR").map_or_else(committed, PathBuf::from);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let (mut updates, mut failing, mut deleted, mut surged, mut wrong) = (0, 0, 0, 0, Vec::new());
    for case in files.iter().flat_map(|f| support::cases(f)) {
        let mut snapshot = support::snapshot(case["objects"].as_array().unwrap(), case["upstream"].as_str().unwrap());
        snapshot.now = Time::parse(case["now"].as_str().unwrap()).unwrap();
        let ds = snapshot.daemon_set("ns", "agent").unwrap();
        let report = diagnose(&snapshot, ds, &Options { without_remedies: true, ..Options::default() });
        let subject = Subject::new(&snapshot, ds);
        let mut differ = |what: String| wrong.push(format!("{}: {what}", case["id"]));
        if subject.hash != case["hash"].as_str() {
            differ(format!("current revision {:?}, upstream {}", subject.hash, case["hash"]));
        }
        let status = &case["status"];
        if case["update"]["error"].is_null() {
            let recount = serde_json::to_value(&report.daemon_set.recount).unwrap();
            let zero = Value::from(0);
            for (counter, have) in recount.as_object().unwrap() {
                let want = status.get(counter).unwrap_or(&zero);
                if have != want {
                    differ(format!("{counter} {have}, upstream {want}"));
                }
            }
        }
        let (Some(update), Some(max_unavailable), Some(max_surge)) =
            (case.get("update"), report.rollout.max_unavailable, report.rollout.max_surge)
        else {
            continue;
        };
        updates += 1;
        let tolerations = daemon_pod_tolerations(&ds.spec.template.spec);
        let decisions: BTreeMap<&str, Decision> =
            subject.nodes.iter().map(|i| (i.node.name(), decide_for(&subject, &tolerations, i.node))).collect();
        let wanted = |node: &str| decisions.get(node).is_some_and(|d| d.should_run);
        let places = Places::find(&subject, &decisions).unwrap();
        let names = |list: &Value| -> Vec<String> { list.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_string()).collect() };
        let (del, made) = (names(&update["deleted"]), names(&update["created"]));
        let (del, made): (BTreeSet<&str>, BTreeSet<&str>) =
            (del.iter().map(String::as_str).collect(), made.iter().map(String::as_str).collect());
        match (next(&subject, &places, &wanted, (max_unavailable, max_surge)), update.get("error")) {
            (None, Some(_)) => failing += 1,
            (Some((delete, create)), None) => {
                deleted += del.len();
                surged += made.len();
                if !delete.allows(&del) || !create.allows(&made) {
                    differ(format!("next {delete:?} {create:?}, upstream deleted {del:?} and created {made:?}"));
                }
            }
            (next, error) => differ(format!("next {next:?}, upstream's error {error:?}")),
        }
    }
    println!("{updates} rolling updates: {deleted} pods deleted, {surged} nodes surged, {failing} failed at a node that is gone");
    for line in wrong.iter().take(20) {
        println!("{line}");
    }
    assert!(updates > 1000 && deleted > 500 && surged > 500 && failing > 10, "the corpus says too little");
    assert!(wrong.is_empty(), "{} differ", wrong.len());
}
