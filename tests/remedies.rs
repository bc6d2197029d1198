//! For every case the first remedy that claims to fix a node is carried out as its command says,
//! on the case's objects; then the pod has to be schedulable there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ds_doctor::cause::{Cause, Remedy, Severity};
use ds_doctor::diagnose::{Options, Subject, diagnose};
use ds_doctor::model::snapshot::Snapshot;
use ds_doctor::remedy::patch::apply;
use ds_doctor::report::{CheckVerdict, NodeReport};
use ds_doctor::source::files::{ReadOptions, read};
use serde::Deserialize;
use serde_json::{Value, json};

/// The words of a command line, as a POSIX shell splits it.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut chars) = (Vec::new(), None::<String>, false, line.chars());
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            '\\' if !quoted => word.get_or_insert_default().extend(chars.next()),
            ' ' if !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn name(object: &Value) -> (&str, &str, &str) {
    let meta = &object["metadata"];
    (object["kind"].as_str().unwrap_or_default(), meta["namespace"].as_str().unwrap_or_default(), meta["name"].as_str().unwrap_or_default())
}

/// Carries one kubectl command out.
fn run(objects: &mut Vec<Value>, line: &str) {
    let words = words(line);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["kubectl", "-n", ns, "patch", "ds", ds, "--type=json", "-p", patch] => {
            let target = objects.iter_mut().find(|o| name(o) == ("DaemonSet", *ns, *ds)).unwrap();
            for operation in serde_json::from_str::<Vec<Value>>(patch).unwrap() {
                apply(target, &operation).unwrap();
            }
            // The controller makes the pods that wait anew.
            objects.retain(|o| {
                let own = o["metadata"]["ownerReferences"][0]["name"] == *ds && name(o).1 == *ns;
                !(name(o).0 == "Pod" && own && o["spec"]["nodeName"].is_null())
            });
        }
        ["kubectl", "-n", ns, "patch", "resourcequota", quota, "--type=merge", "-p", patch] => {
            let target = objects.iter_mut().find(|o| name(o) == ("ResourceQuota", *ns, *quota)).unwrap();
            let patch: Value = serde_json::from_str(patch).unwrap();
            for (resource, amount) in patch["spec"]["hard"].as_object().unwrap() {
                target["spec"]["hard"][resource] = amount.clone();
                target["status"]["hard"][resource] = amount.clone();
            }
        }
        ["kubectl", "label", "node", rest @ ..] => {
            let (nodes, words): (Vec<&str>, Vec<&str>) =
                rest.iter().partition(|w| !w.contains('=') && !w.ends_with('-') && !w.starts_with('-'));
            for object in objects.iter_mut().filter(|o| name(o).0 == "Node") {
                if !nodes.contains(&name(object).2) {
                    continue;
                }
                let labels = object["metadata"]["labels"].as_object_mut().unwrap();
                match words[0].split_once('=') {
                    Some((key, value)) => labels.insert(key.into(), value.into()),
                    None => labels.remove(words[0].trim_end_matches('-')),
                };
            }
        }
        ["kubectl", "taint", "node", nodes @ .., taint] => {
            let (key, effect) = taint.trim_end_matches('-').split_once(':').unwrap();
            for object in objects.iter_mut().filter(|o| name(o).0 == "Node") {
                if nodes.contains(&name(object).2)
                    && let Some(taints) = object["spec"]["taints"].as_array_mut()
                {
                    taints.retain(|t| !(t["key"] == key && t["effect"] == effect));
                }
            }
        }
        ["kubectl", "-n", ns, "delete", "pod", pod] => objects.retain(|o| name(o) != ("Pod", *ns, *pod)),
        ["kubectl", "-n", ns, "delete", "ds", ds] => objects.retain(|o| {
            let owned = o["metadata"]["ownerReferences"][0]["name"] == *ds && name(o).1 == *ns;
            name(o) != ("DaemonSet", *ns, *ds) && !(name(o).0 == "Pod" && owned)
        }),
        other => panic!("not a command of a remedy: {other:?}"),
    }
}

fn objects(cluster: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(cluster).unwrap();
    let mut found = Vec::new();
    for document in yaml_serde::Deserializer::from_str(&text) {
        match Value::deserialize(document).unwrap() {
            Value::Object(mut list) if list.get("kind").and_then(Value::as_str).is_some_and(|k| k.ends_with("List")) => {
                found.extend(list.remove("items").and_then(|i| i.as_array().cloned()).unwrap_or_default());
            }
            Value::Null => {}
            object => found.push(object),
        }
    }
    found
}

/// The nodes of the DaemonSet as the report has them.
fn judged(snapshot: &Snapshot, daemonset: &str, without_remedies: bool) -> Vec<NodeReport> {
    let (namespace, name) = daemonset.split_once('/').unwrap();
    let options = Options { without_remedies, ..Options::default() };
    diagnose(snapshot, snapshot.daemon_set(namespace, name).unwrap(), &options).nodes
}

fn is_schedulable(node: &NodeReport) -> bool {
    let evicts = node.preemption.as_ref().is_some_and(|p| p.possible);
    node.should_run == Some(true) && (evicts || node.checks.iter().all(|c| c.verdict == CheckVerdict::Pass))
}

/// The first remedy of the node that claims to fix it.
fn first(node: &NodeReport) -> Option<&Remedy> {
    let fixes = |r: &&Remedy| r.effect.as_ref().is_some_and(|e| e.fixed.contains(&node.name));
    node.causes.iter().flat_map(|c| &c.remedies).find(fixes)
}

#[test]
fn what_claims_to_fix_does() {
    let clusters = clusters();
    let (mut tried, mut fixed, mut wrong, mut bare) = (0, BTreeSet::new(), Vec::new(), BTreeSet::new());
    for (case, daemonset) in &clusters {
        let snapshot = read(std::slice::from_ref(case), &ReadOptions::default()).unwrap();
        for node in judged(&snapshot, daemonset, false) {
            bare.extend(
                node.causes.iter().filter(|c| matters(c) && c.remedies.is_empty()).map(|c| format!("{} {}", case.display(), c.code)),
            );
            let Some(remedy) = first(&node) else { continue };
            let mut objects = objects(case);
            let command = remedy.command.as_deref().unwrap();
            command.split(" && ").for_each(|line| run(&mut objects, line));
            let file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
            std::fs::write(file.path(), json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()).unwrap();
            let after = read(&[file.path().to_path_buf()], &ReadOptions::default()).unwrap();
            let (namespace, ds) = daemonset.split_once('/').unwrap();
            let subject = Subject::new(&after, after.daemon_set(namespace, ds).unwrap());
            let refused: Vec<Cause> = ds_doctor::controller::creation::foreseen(&subject);
            assert!(refused.is_empty(), "{} {}: {}: {refused:?}", case.display(), node.name, remedy.title);
            tried += 1;
            fixed.insert(case.clone());
            println!("{} {}: {} [{command}]", case.display(), node.name, remedy.title);
            if !judged(&after, daemonset, true).iter().any(|n| n.name == node.name && is_schedulable(n)) {
                wrong.push(format!("{} {}: {}", case.display(), node.name, remedy.title));
            }
        }
    }
    let (cases, of) = (fixed.len(), clusters.len());
    let count = format!(
        "In {cases} of {of} clusters a remedy claims to fix a node; on {} of {tried} nodes the first such one does.",
        tried - wrong.len()
    );
    println!("{count}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(bare.is_empty(), "nothing to do and nothing to look at: {bare:#?}");
    let page = std::fs::read_to_string("docs/verification.md").unwrap();
    assert!(page.contains(&count), "docs/verification.md should say: {count}");
}

/// True for a cause that somebody has to do something about; what follows from others is seen to there.
fn matters(cause: &Cause) -> bool {
    cause.severity > Severity::Info && cause.code != "OldRevision"
}

/// Every case and example: its cluster and its DaemonSet.
fn clusters() -> Vec<(PathBuf, String)> {
    let mut found = vec![(PathBuf::from("examples/monitoring.yaml"), "monitoring/node-exporter".to_string())];
    for entry in std::fs::read_dir("tests/cases").unwrap() {
        let case = entry.unwrap().path();
        let Ok(text) = std::fs::read_to_string(case.join("expect.json")) else { continue };
        let expected: Value = serde_json::from_str(&text).unwrap();
        found.push((case.join("cluster.yaml"), expected["daemonset"].as_str().unwrap().to_string()));
    }
    found.sort();
    found
}
