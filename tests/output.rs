//! What people and scripts see: screens as snapshots, JSON by its schema, and the README's screen.

use std::fs;
use std::path::{Path, PathBuf};

use ds_doctor::diagnose::{Options, diagnose};
use ds_doctor::model::snapshot::Snapshot;
use ds_doctor::render::{Style, explain, json, lint, markdown, name, node, survey, text, wide, yaml};
use ds_doctor::report::Report;
use ds_doctor::source::files::{ReadOptions, read};

const NARROW: Style = Style { width: 80, color: false, ascii: false };
const BROAD: Style = Style { width: 200, color: false, ascii: false };

fn snapshot(path: &str) -> Snapshot {
    read(&[PathBuf::from(path)], &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn reports(snapshot: &Snapshot) -> Vec<Report> {
    snapshot.daemon_sets.iter().map(|ds| diagnose(snapshot, ds, &Options::default())).collect()
}

#[allow(clippy::needless_update)] // options to come
fn one(snapshot: &Snapshot, namespace: &str, name: &str, nodes: &[&str]) -> Vec<Report> {
    let options = Options { nodes: nodes.iter().map(|n| n.to_string()).collect(), ..Options::default() };
    let chosen = snapshot.daemon_sets.iter().filter(|d| d.metadata.namespace == namespace && d.metadata.name == name);
    let reports: Vec<Report> = chosen.map(|ds| diagnose(snapshot, ds, &options)).collect();
    assert_eq!(reports.len(), 1);
    reports
}

fn exporter() -> Vec<Report> {
    one(&snapshot("examples/monitoring.yaml"), "monitoring", "node-exporter", &[])
}

/// Renders into text.
macro_rules! screen {
    ($render:path, $reports:expr $(, $argument:expr)*) => {{
        let mut out = Vec::new();
        $render(&mut out, $reports $(, $argument)*).unwrap();
        String::from_utf8(out).unwrap()
    }};
}

/// Every cluster of the repository, by name.
fn clusters() -> Vec<(String, PathBuf)> {
    let mut all: Vec<(String, PathBuf)> = fs::read_dir("tests/cases")
        .unwrap()
        .map(|d| d.unwrap())
        .map(|d| (d.file_name().into_string().unwrap(), d.path().join("cluster.yaml")))
        .filter(|(_, path)| path.exists())
        .collect();
    all.extend(["monitoring", "healthy"].map(|n| (n.to_string(), PathBuf::from(format!("examples/{n}.yaml")))));
    all.sort();
    all
}

#[test]
fn the_screens_of_the_example() {
    let reports = exporter();
    insta::assert_snapshot!("example-text-80", screen!(text::render, &reports, &NARROW));
    insta::assert_snapshot!("example-text-200", screen!(text::render, &reports, &BROAD));
    insta::assert_snapshot!(
        "example-text-80-colour",
        screen!(text::render, &reports, &Style { color: true, ..NARROW }).replace('\u{1b}', "␛")
    );
    insta::assert_snapshot!("example-text-80-ascii", screen!(text::render, &reports, &Style { ascii: true, ..NARROW }));
    insta::assert_snapshot!("example-wide-80", screen!(wide::render, &reports, &NARROW));
    insta::assert_snapshot!("example-wide-200", screen!(wide::render, &reports, &BROAD));
    insta::assert_snapshot!("example-wide-80-ascii", screen!(wide::render, &reports, &Style { ascii: true, ..NARROW }));
    insta::assert_snapshot!("example-markdown", screen!(markdown::render, &reports, &NARROW));
    insta::assert_snapshot!("example-name", screen!(name::render, &reports, false));
    assert!(screen!(name::render, &reports, true).contains("\npod/monitoring/node-exporter-"));
    insta::assert_snapshot!("example-yaml", screen!(yaml::render, &reports, false));
    let cluster = snapshot("examples/monitoring.yaml");
    let nodes = one(&cluster, "monitoring", "node-exporter", &["worker-3", "worker-4", "worker-7"]);
    insta::assert_snapshot!("example-node-80", screen!(node::render, &nodes, &NARROW));
    insta::assert_snapshot!(
        "example-survey-80",
        screen!(survey::render_with, &self::reports(&cluster), &NARROW, "--snapshot=examples/monitoring.yaml")
    );
    insta::assert_snapshot!("healthy-text-80", screen!(text::render, &self::reports(&snapshot("examples/healthy.yaml")), &NARROW));
}

#[test]
fn the_explanations() {
    let mut list = Vec::new();
    explain::list(&mut list, &NARROW).unwrap();
    let list = String::from_utf8(list).unwrap();
    for entry in ds_doctor::cause::registry::entries() {
        assert!(list.contains(entry.code), "{} is not listed", entry.code);
        let mut page = Vec::new();
        explain::page(&mut page, entry, &NARROW).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(page.starts_with(entry.code) && page.contains("How to fix it"), "{page}");
    }
    let mut page = Vec::new();
    explain::page(&mut page, ds_doctor::cause::registry::find("nodeports").unwrap(), &NARROW).unwrap();
    insta::assert_snapshot!("explain-node-ports", String::from_utf8(page).unwrap());
    insta::assert_snapshot!("explain-list-80", list);
    insta::assert_snapshot!("explain-list-40", screen!(explain::list, &Style { width: 40, ..NARROW }));
}

/// Lines that may be wider than the terminal: commands, and words that cannot be broken.
fn may_be_wide(line: &str) -> bool {
    let body = line.trim_start();
    body.starts_with("kubectl ") || body.split(' ').any(|w| w.chars().count() > 60)
}

#[test]
fn no_screen_of_any_case_is_wider_than_the_terminal() {
    for (name, path) in clusters() {
        let reports = reports(&snapshot(path.to_str().unwrap()));
        for style in [NARROW, Style { ascii: true, ..NARROW }, BROAD] {
            for out in [screen!(text::render, &reports, &style), screen!(node::render, &reports, &style)] {
                for line in out.lines().filter(|l| !may_be_wide(l)) {
                    assert!(line.chars().count() <= style.width, "{name}: {line}");
                }
                assert!(!style.ascii || out.is_ascii(), "{name}");
            }
        }
        let plain = screen!(text::render, &reports, &NARROW);
        let colored = screen!(text::render, &reports, &Style { color: true, ..NARROW });
        let mut stripped = String::new();
        let mut rest = colored.as_str();
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            stripped += before;
            rest = after.split_once('m').unwrap().1;
        }
        assert_eq!(stripped + rest, plain, "{name}: colour changes the words");
    }
}

/// Where a value breaks a schema, for the words of JSON Schema that the published one uses; any
/// other word is a violation too, so that none goes unchecked.
fn violations(root: &serde_json::Value, schema: &serde_json::Value, value: &serde_json::Value, at: &str) -> Vec<String> {
    use serde_json::Value;
    let Value::Object(words) = schema else {
        return if schema == &Value::Bool(true) { Vec::new() } else { vec![format!("{at}: nothing is allowed here")] };
    };
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    let valid = |s: &Value| violations(root, s, value, at).is_empty();
    let mut found = Vec::new();
    for (word, rule) in words {
        let good = match (word.as_str(), rule) {
            ("$schema" | "$id" | "$defs" | "title" | "description" | "format", _) => true,
            ("default", _) => true,
            ("$ref", Value::String(path)) => {
                let target = root.pointer(path.trim_start_matches('#')).unwrap_or(&Value::Bool(false));
                found.extend(violations(root, target, value, at));
                true
            }
            ("type", Value::String(name)) => is(name),
            ("type", Value::Array(names)) => names.iter().any(|n| is(n.as_str().unwrap_or_default())),
            ("const", constant) => value == constant,
            ("enum", Value::Array(all)) => all.contains(value),
            ("minimum", Value::Number(n)) => value.as_f64().is_none_or(|v| v >= n.as_f64().unwrap()),
            ("oneOf", Value::Array(all)) => all.iter().filter(|s| valid(s)).count() == 1,
            ("anyOf", Value::Array(all)) => all.iter().any(valid),
            ("required", Value::Array(names)) => {
                value.as_object().is_none_or(|o| names.iter().all(|n| o.contains_key(n.as_str().unwrap())))
            }
            ("items", item) => {
                for (i, v) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(violations(root, item, v, &format!("{at}[{i}]")));
                }
                true
            }
            ("properties", Value::Object(properties)) => {
                for (name, rule) in properties {
                    if let Some(v) = value.get(name) {
                        found.extend(violations(root, rule, v, &format!("{at}.{name}")));
                    }
                }
                true
            }
            ("additionalProperties", rule) => {
                let known = schema.get("properties");
                for (name, v) in value.as_object().into_iter().flatten().filter(|(n, _)| known.is_none_or(|k| k.get(n).is_none())) {
                    found.extend(violations(root, rule, v, &format!("{at}.{name}")));
                }
                true
            }
            _ => false,
        };
        if !good {
            found.push(format!("{at}: {word} {rule}").chars().take(200).collect());
        }
    }
    found
}

#[test]
fn json_and_yaml_of_every_cluster_obey_the_schema_and_are_one_tree() {
    let schema: serde_json::Value = serde_json::from_str(&fs::read_to_string("docs/schema/ds-doctor-v1.json").unwrap()).unwrap();
    for (name, path) in clusters() {
        let reports = reports(&snapshot(path.to_str().unwrap()));
        let list: serde_json::Value = serde_json::from_str(&screen!(json::render, &reports, true)).unwrap();
        let single: serde_json::Value = serde_json::from_str(&screen!(json::render, &reports[..1], false)).unwrap();
        for value in [&list, &single] {
            let errors = violations(&schema, &schema, value, "$");
            assert!(errors.is_empty(), "{name}: {errors:?}");
        }
        let from_yaml: serde_json::Value = yaml_serde::from_str(&screen!(yaml::render, &reports, true)).unwrap();
        assert_eq!(from_yaml, list, "{name}");
    }
    for bad in [
        serde_json::json!({ "apiVersion": "ds-doctor/v1", "kind": "DaemonSetReport" }),
        serde_json::json!({ "apiVersion": "ds-doctor/v1", "kind": "DaemonSetReportList", "items": [{}] }),
        serde_json::json!({ "apiVersion": "ds-doctor/v2", "kind": "DaemonSetReportList", "items": [] }),
        serde_json::json!([]),
    ] {
        assert!(!violations(&schema, &schema, &bad, "$").is_empty(), "{bad}");
    }
}

/// The binary's standard output, and its exit code.
fn run(arguments: &str, input: &str) -> (String, Option<i32>) {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-ds_doctor"));
    command.args(arguments.split(' ')).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

#[test]
fn every_json_that_is_written_obeys_the_schema() {
    let schema: serde_json::Value = serde_json::from_str(&fs::read_to_string("docs/schema/ds-doctor-v1.json").unwrap()).unwrap();
    for (what, kind, input) in [
        ("node-exporter -n monitoring", "DaemonSetReport", ""),
        ("node-exporter -n monitoring --node worker-4 --node gpu-1", "DaemonSetReport", ""),
        ("-A", "DaemonSetReportList", ""),
        ("-n legacy", "DaemonSetReportList", ""),
        ("-A --lint", "DaemonSetAdviceList", ""),
        ("node-exporter -n monitoring --lint", "DaemonSetAdviceList", ""),
        ("node-exporter -n monitoring --what-if -", "DaemonSetReport", "spec: {template: {spec: {hostNetwork: yes}}}"),
        ("-f -", "DaemonSetReport", NOT_APPLIED),
        ("-f - --lint", "DaemonSetAdviceList", NOT_APPLIED),
    ] {
        let arguments = format!("{what} --snapshot examples/monitoring.yaml -o");
        let (json, code) = run(&format!("{arguments} json"), input);
        let value: serde_json::Value = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{what}: {e} ({code:?}): {json}"));
        let errors = violations(&schema, &schema, &value, "$");
        assert!(errors.is_empty() && value["kind"] == kind, "{what}: {} {errors:?}", value["kind"]);
        let from_yaml: serde_json::Value = yaml_serde::from_str(&run(&format!("{arguments} yaml"), input).0).unwrap();
        assert_eq!(from_yaml, value, "{what}");
    }
    let value = serde_json::json!({ "apiVersion": "ds-doctor/v1", "kind": "DaemonSetAdviceList", "items": [{ "namespace": "a" }] });
    assert!(!violations(&schema, &schema, &value, "$").is_empty());
}

/// A manifest as people write it: octal modes and the booleans of YAML 1.1, which kubectl reads.
const NOT_APPLIED: &str = "\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: monitoring}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      hostNetwork: yes
      containers:
      - {name: agent, image: 'example.com/agent:1', ports: [{containerPort: 9100}], resources: {requests: {cpu: 10m}}}
      volumes:
      - {name: conf, configMap: {name: agent, defaultMode: 0644}}
";

/// The reports on what is not there: a patch of the example's DaemonSet, or the manifest.
fn foreseen(patch: Option<&str>) -> Vec<Report> {
    use ds_doctor::preflight::turn::{Item, each};
    let cluster = snapshot("examples/monitoring.yaml");
    let item = match patch {
        Some(patch) => {
            let ds = cluster.daemon_set("monitoring", "node-exporter").unwrap();
            let operations: Vec<serde_json::Value> = serde_json::from_str(patch).unwrap();
            let ds = ds_doctor::remedy::patch::patched(ds, &operations).unwrap();
            Item { ds, source: "patch.yaml".into(), patch: Some(true), ..Item::default() }
        }
        None => {
            let file = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
            fs::write(file.path(), NOT_APPLIED).unwrap();
            let ds = ds_doctor::source::manifests::read(&[file.path().to_path_buf()]).unwrap().items.remove(0).ds;
            Item { ds, source: "agent.yaml".into(), ..Item::default() }
        }
    };
    each(cluster, vec![item], &Default::default(), &Options::default())
}

#[test]
fn the_screens_of_what_is_not_there() {
    let tolerant = r#"[{"op":"add","path":"/spec/template/spec/tolerations","value":[{"operator":"Exists"}]}]"#;
    for (name, reports) in [("what-if", foreseen(Some(tolerant))), ("manifest", foreseen(None))] {
        insta::assert_snapshot!(format!("{name}-text-80"), screen!(text::render, &reports, &NARROW));
        insta::assert_snapshot!(format!("{name}-text-200"), screen!(text::render, &reports, &BROAD));
        insta::assert_snapshot!(format!("{name}-markdown"), screen!(markdown::render, &reports, &NARROW));
    }
    let reports = reports(&snapshot("examples/monitoring.yaml"));
    insta::assert_snapshot!("lint-80", screen!(lint::render, &reports, &NARROW));
    insta::assert_snapshot!("lint-200", screen!(lint::render, &reports, &BROAD));
}

/// The example with as many nodes as asked, each a copy of one that has trouble.
fn large(nodes: usize) -> Vec<Report> {
    let mut reports = exporter();
    let report = &mut reports[0];
    let troubled: Vec<_> = report.nodes.iter().filter(|n| !n.causes.is_empty()).cloned().collect();
    report.nodes = (0..nodes)
        .map(|i| {
            let mut node = troubled[i % troubled.len()].clone();
            node.name = format!("ip-10-{}-{}-{}.eu-north-1.compute.internal", i / 65536, i / 256 % 256, i % 256);
            for cause in &mut node.causes {
                cause.message = cause.message.replace("worker-", &format!("n{i}-"));
            }
            node
        })
        .collect();
    report.summary.nodes = nodes;
    report.summary.states.clear();
    for node in &report.nodes {
        *report.summary.states.entry(node.state).or_insert(0) += 1;
    }
    reports
}

#[test]
fn the_screen_of_3_000_nodes_is_no_longer_than_that_of_12() {
    let small = screen!(text::render, &exporter(), &NARROW);
    let out = screen!(text::render, &large(3000), &NARROW);
    assert!(out.lines().count() <= small.lines().count() + 30, "{out}");
    insta::assert_snapshot!("3000-nodes-text-80", out);
    insta::assert_snapshot!("3000-nodes-text-200", screen!(text::render, &large(3000), &BROAD));
    insta::assert_snapshot!("3-nodes-text-80", screen!(text::render, &large(3), &NARROW));
}

#[test]
fn what_others_wrote_cannot_steer_a_terminal() {
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}gnp\u{2066}\r\n\u{200b}`|<b>@here";
    let mut reports = exporter();
    let report = &mut reports[0];
    report.daemon_set.name += evil;
    report.daemon_set.namespace += evil;
    report.daemon_set.node_selector.insert(evil.into(), evil.into());
    report.rollout.message += evil;
    report.rollout.changes.push(evil.into());
    report.correlations.push(evil.into());
    for node in &mut report.nodes {
        node.name += evil;
        for pod in &mut node.pods {
            pod.name += evil;
            pod.phase += evil;
            pod.scheduler_message = Some(format!("0/1 nodes are available: 1 {evil}."));
        }
        for cause in &mut node.causes {
            cause.message += evil;
            cause.detail += evil;
            for e in &mut cause.evidence {
                e.object += evil;
                e.field += evil;
                e.value = evil.into();
            }
            cause.remedies.push(ds_doctor::cause::Remedy::inspect(evil, evil));
        }
    }
    let outputs = [
        screen!(text::render, &reports, &NARROW),
        screen!(wide::render, &reports, &NARROW),
        screen!(node::render, &reports, &NARROW),
        screen!(survey::render, &reports, &NARROW),
        screen!(markdown::render, &reports, &NARROW),
        screen!(name::render, &reports, false),
        screen!(json::render, &reports, false),
        screen!(yaml::render, &reports, false),
    ];
    for out in outputs {
        let bad: Vec<char> = out.chars().filter(|c| *c != '\n' && ds_doctor::render::safe::is_unsafe(*c)).collect();
        assert!(bad.is_empty(), "{bad:?} in {out}");
    }
    let back: serde_json::Value = serde_json::from_str(&screen!(json::render, &reports, false)).unwrap();
    assert!(back["daemonSet"]["name"].as_str().unwrap().ends_with(evil), "JSON keeps the name as it is");
}

/// The comparison quotes screens of the cases, and kubectl's own output as a real API server with
/// the case's objects made kubectl print it.
#[test]
fn the_comparison_shows_the_screens_as_they_are() {
    let path = "docs/comparison.md";
    let page = fs::read_to_string(path).unwrap();
    let mut parts = page.split("<!-- case ");
    let mut made = parts.next().unwrap().to_string();
    for part in parts {
        let (head, rest) = part.split_once(" -->\n```\n").unwrap();
        let (_, tail) = rest.split_once("\n```\n").unwrap();
        let (case, daemon_set) = head.split_once(' ').unwrap();
        let (namespace, name) = daemon_set.split_once('/').unwrap();
        let reports = one(&snapshot(&format!("tests/cases/{case}/cluster.yaml")), namespace, name, &[]);
        let screen = screen!(text::render, &reports, &Style { width: 120, ..NARROW });
        let screen = screen.split("\nMore: ").next().unwrap().trim_end().to_string();
        made += &format!("<!-- case {head} -->\n```\n{screen}\n```\n{tail}");
    }
    if std::env::var_os("UPDATE").is_some() {
        fs::write(path, made).unwrap();
        return;
    }
    assert!(page == made, "{path} is not current; UPDATE=1 cargo test --test output comparison writes it");
}

#[test]
fn the_readme_shows_the_screen_as_it_is() {
    let readme = fs::read_to_string("README.md").unwrap();
    let screen = screen!(text::render, &exporter(), &NARROW);
    if std::env::var_os("UPDATE").is_some() {
        let (head, rest) = readme.split_once("<!-- screen -->\n```\n").unwrap();
        let (_, tail) = rest.split_once("```\n<!-- /screen -->").unwrap();
        fs::write(Path::new("README.md"), format!("{head}<!-- screen -->\n```\n{screen}```\n<!-- /screen -->{tail}")).unwrap();
        return;
    }
    assert!(readme.contains(&screen), "the screen in README.md is not current; UPDATE=1 cargo test --test output readme writes it");
}
