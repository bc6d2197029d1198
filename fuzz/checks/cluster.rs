//! A whole cluster with damage: a case of the repository in which fields are replaced, moved and
//! dropped, then read, judged and written in every format.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use ds_doctor::diagnose::{Options, diagnose};
use ds_doctor::render::{Style, json, lint, markdown, name, node, safe, survey, text, wide, yaml};
use ds_doctor::report::Report;
use ds_doctor::source::capture;
use ds_doctor::source::ingest::{Ingest, Kind, Use};
use serde_json::{Value, json};

/// The cases: their files.
fn cases() -> &'static [PathBuf] {
    static CASES: OnceLock<Vec<PathBuf>> = OnceLock::new();
    CASES.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR").trim_end_matches("/fuzz"));
        let cases = std::fs::read_dir(root.join("tests/cases")).unwrap();
        let mut paths: Vec<_> = cases.map(|d| d.unwrap().path().join("cluster.yaml")).collect();
        paths.push(root.join("examples/monitoring.yaml"));
        paths.sort();
        paths
    })
}

/// The objects of a case, without what is never read; each is read from disk once.
fn case(number: usize) -> Vec<Value> {
    static READ: Mutex<BTreeMap<usize, Vec<Value>>> = Mutex::new(BTreeMap::new());
    let mut read = READ.lock().unwrap();
    let objects = read.entry(number).or_insert_with(|| {
        let list: Value = yaml_serde::from_str(&std::fs::read_to_string(&cases()[number]).unwrap()).unwrap();
        list["items"].as_array().unwrap().iter().filter(|o| matches!(kind(o), Use::Read(_))).cloned().collect()
    });
    objects.clone()
}

fn kind(object: &Value) -> Use {
    Kind::of(object["apiVersion"].as_str().unwrap_or_default(), object["kind"].as_str().unwrap_or_default())
}

/// Decisions, byte by byte.
struct Dice<'a>(&'a [u8]);

impl Dice<'_> {
    fn next(&mut self) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first)
    }

    fn below(&mut self, n: usize) -> usize {
        let roll = if n > 256 { self.next() << 8 | self.next() } else { self.next() };
        roll % n.max(1)
    }
}

/// Values that hurt.
fn evil(dice: &mut Dice) -> Value {
    let all = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1),
        json!(i32::MAX),
        json!(i32::MIN),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(1e300),
        json!(""),
        json!("0"),
        json!("-1"),
        json!("1"),
        json!("100%"),
        json!("-7%"),
        json!("9223372036854775807%"),
        json!("9223372036854775807"),
        json!("-9223372036854775808"),
        json!("999999999999E"),
        json!("1n"),
        json!("1e-9"),
        json!("1Ei"),
        json!("100000000000000000000Ei"),
        json!("1970-01-01T00:00:00Z"),
        json!("9999-12-31T23:59:59Z"),
        json!("-009999-01-02T01:59:59Z"),
        json!("2026-11-30T12:00:00Z"),
        json!("\u{1b}]0;x\u{7}\u{202e}"),
        json!("$(reboot)`x`'\"\\;|&"),
        json!("a\nb\r\tc"),
        json!("é漢字🦀"),
        json!("x".repeat(300)),
        json!("Exists"),
        json!("DoesNotExist"),
        json!("In"),
        json!("NotIn"),
        json!("Gt"),
        json!("Lt"),
        json!("NoSchedule"),
        json!("NoExecute"),
        json!("PreferNoSchedule"),
        json!("True"),
        json!("False"),
        json!("Unknown"),
        json!("Pending"),
        json!("Running"),
        json!("Failed"),
        json!("Succeeded"),
        json!("DaemonSet"),
        json!("kubernetes.io/hostname"),
        json!("metadata.name"),
        json!("OnDelete"),
        json!("TCP"),
        json!("SCTP"),
        json!("0.0.0.0"),
        json!("::"),
        json!([]),
        json!({}),
        json!([null]),
        json!(["", ""]),
        json!({"": ""}),
        json!({"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a", "operator": "In", "values": []}]}),
        json!({"cpu": "1", "memory": "1Gi", "pods": "0"}),
    ];
    all[dice.below(all.len())].clone()
}

fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(map) => map.values().map(size).sum(),
        _ => 0,
    }
}

/// The value of this number in the tree, root first.
fn at<'v>(value: &'v mut Value, mut number: usize) -> Option<&'v mut Value> {
    if number == 0 {
        return Some(value);
    }
    number -= 1;
    let children: Vec<&'v mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(map) => map.values_mut().collect(),
        _ => return None,
    };
    for child in children {
        let here = size(child);
        if number < here {
            return at(child, number);
        }
        number -= here;
    }
    None
}

fn damage(objects: &mut Vec<Value>, dice: &mut Dice) {
    let from = dice.below(objects.len());
    let other = dice.below(objects.len());
    let (donor, count) = (objects[other].clone(), size(&objects[from]));
    let number = dice.below(count);
    match dice.below(10) {
        0 => {
            objects.remove(from);
        }
        1 => {
            let copy = objects[from].clone();
            objects.push(copy);
        }
        how => {
            let Some(target) = at(&mut objects[from], number) else { return };
            match (how, target) {
                (2, Value::Array(items)) if !items.is_empty() => {
                    let i = dice.below(items.len());
                    items.remove(i);
                }
                (3, Value::Array(items)) if !items.is_empty() => {
                    let i = dice.below(items.len());
                    items.push(items[i].clone());
                }
                (2 | 3, Value::Object(map)) if !map.is_empty() => {
                    let key = map.keys().nth(dice.below(map.len())).cloned().unwrap_or_default();
                    map.remove(&key);
                }
                (4, Value::Object(map)) => {
                    let keys = [
                        "nodeName",
                        "hostNetwork",
                        "deletionTimestamp",
                        "overhead",
                        "nodeSelector",
                        "affinity",
                        "tolerations",
                        "unschedulable",
                        "hostPort",
                        "minReadySeconds",
                        "maxUnavailable",
                        "maxSurge",
                        "priority",
                        "schedulingGates",
                        "topologySpreadConstraints",
                    ];
                    map.insert(keys[dice.below(keys.len())].into(), evil(dice));
                }
                (5 | 6, target) => {
                    let mut donor = donor;
                    let i = dice.below(size(&donor));
                    if let Some(value) = at(&mut donor, i) {
                        *target = value.take();
                    }
                }
                (_, target) => *target = evil(dice),
            }
        }
    }
}

fn shown(out: Vec<u8>) -> String {
    let shown = String::from_utf8(out).unwrap();
    assert!(!shown.chars().any(|c| c != '\n' && safe::is_unsafe(c)), "{shown:?}");
    shown
}

/// Checks one input.
pub fn check(input: &[u8]) {
    let mut dice = Dice(input);
    let mut objects = case(dice.below(cases().len()));
    for _ in 0..=dice.below(6) {
        if objects.is_empty() {
            return;
        }
        damage(&mut objects, &mut dice);
    }
    let mut ingest = Ingest::default();
    for object in &objects {
        if let Use::Read(kind) = kind(object) {
            // What is refused is left out: the rest is still a cluster.
            let _ = ingest.read(kind, object);
        }
    }
    let snapshot = ingest.finish_files(None, None);
    let reports: Vec<Report> = snapshot.daemon_sets.iter().map(|ds| diagnose(&snapshot, ds, &Options::default())).collect();
    let style = Style { width: 40 + dice.next(), color: false, ascii: dice.next() % 2 == 1 };
    macro_rules! screen {
        ($render:path) => {{
            let mut out = Vec::new();
            $render(&mut out, &reports, &style).unwrap();
            shown(out)
        }};
    }
    let plain =
        [screen!(text::render), screen!(wide::render), screen!(node::render), screen!(survey::render), screen!(lint::render)].concat();
    assert!(!style.ascii || plain.is_ascii(), "{plain}");
    screen!(markdown::render);
    let mut out = Vec::new();
    json::render(&mut out, &reports, true).unwrap();
    let tree: Value = serde_json::from_slice(&out).unwrap();
    out.clear();
    yaml::render(&mut out, &reports, true).unwrap();
    assert_eq!(yaml_serde::from_slice::<Value>(&out).unwrap(), tree);
    out.clear();
    name::render(&mut out, &reports, false).unwrap();
    shown(out);
    // What was saved gives the same answer.
    let mut saved = Vec::new();
    capture::write(&snapshot, &mut saved).unwrap();
    let list: Value = serde_json::from_slice(&saved).unwrap();
    let mut ingest = Ingest::default();
    for object in list["items"].as_array().unwrap() {
        match kind(object) {
            Use::Read(kind) => ingest.read(kind, object).unwrap(),
            _ => ingest.other(object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap(), || object.clone()),
        }
    }
    let replayed = ingest.finish_files(None, None);
    let again: Vec<Report> = replayed.daemon_sets.iter().map(|ds| diagnose(&replayed, ds, &Options::default())).collect();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    json::render(&mut first, &reports, true).unwrap();
    json::render(&mut second, &again, true).unwrap();
    assert_eq!(String::from_utf8(first).unwrap(), String::from_utf8(second).unwrap());
}
