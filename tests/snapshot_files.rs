//! Every form in which people save a cluster gives the same objects.

use std::fs;
use std::path::{Path, PathBuf};

use ds_doctor::model::snapshot::Snapshot;
use ds_doctor::source::files::{ReadOptions, read};

fn read_all(paths: &[&Path]) -> Snapshot {
    let paths: Vec<PathBuf> = paths.iter().map(|p| p.to_path_buf()).collect();
    read(&paths, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn cases() -> Vec<PathBuf> {
    let mut cases: Vec<PathBuf> = fs::read_dir("tests/cases").unwrap().map(|d| d.unwrap().path().join("cluster.yaml")).collect();
    cases.sort();
    assert!(cases.len() >= 40);
    cases
}

#[test]
fn cases_have_daemon_sets_and_nodes() {
    for case in cases() {
        let snapshot = read_all(&[&case]);
        assert!(!snapshot.daemon_sets.is_empty() && !snapshot.nodes.is_empty(), "{}", case.display());
        assert_eq!(snapshot.version.to_string(), "v1.34", "{}", case.display());
        assert_eq!(snapshot.version_text, None);
    }
}

/// What it is; files as (name, text); what they hold, as "nodes pods events gaps".
type Row = (&'static str, Vec<(&'static str, String)>, &'static str);

#[test]
fn reads_what_people_save() {
    let node = |name: &str| format!(r#"{{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{name}"}}}}"#);
    let table: Vec<Row> = vec![
        ("an object", vec![("a.json", node("a"))], "1 0 0 pods events"),
        (
            "a list",
            vec![("a.json", format!(r#"{{"apiVersion":"v1","items":[{},{}],"kind":"List"}}"#, node("a"), node("b")))],
            "2 0 0 pods events",
        ),
        (
            "a typed list",
            vec![("a.json", r#"{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}"#.into())],
            "1 0 0 pods events",
        ),
        (
            "its kind last",
            vec![("a.json", r#"{"apiVersion":"v1","items":[{"metadata":{"name":"a"}}],"kind":"NodeList"}"#.into())],
            "1 0 0 pods events",
        ),
        ("an empty list", vec![("a.json", r#"{"kind":"PodList","apiVersion":"v1","items":[]}"#.into())], "0 0 0 nodes events"),
        ("a null list", vec![("a.json", r#"{"kind":"PodList","apiVersion":"v1","items":null}"#.into())], "0 0 0 nodes events"),
        ("an array", vec![("a.json", format!("[{}]", node("a")))], "1 0 0 pods events"),
        ("values in a row", vec![("a.json", format!("{}\n{}", node("a"), node("b")))], "2 0 0 pods events"),
        (
            "documents",
            vec![(
                "a.yaml",
                "kind: Node\napiVersion: v1\nmetadata: {name: a}\n---\n---\nkind: Node\napiVersion: v1\nmetadata: {name: b}\n".into(),
            )],
            "2 0 0 pods events",
        ),
        ("JSON named YAML", vec![("a.yaml", node("a"))], "1 0 0 pods events"),
        (
            "nested lists",
            vec![("a.json", format!(r#"{{"kind":"List","apiVersion":"v1","items":[{{"kind":"List","items":[{}]}}]}}"#, node("a")))],
            "1 0 0 pods events",
        ),
        ("a directory", vec![("x/a.json", node("a")), ("x/y/b.yml", node("b")), ("notes.txt", "hello".into())], "2 0 0 pods events"),
        ("twice the same", vec![("a.json", node("a")), ("b.json", node("a"))], "1 0 0 pods events"),
        (
            "other kinds",
            vec![("a.json", r#"{"apiVersion":"v1","kind":"Secret","data":{"x":1},"metadata":7}"#.into())],
            "0 0 0 nodes pods events",
        ),
        (
            "a foreign Node",
            vec![("a.json", r#"{"apiVersion":"example.com/v1","kind":"Node","metadata":{"name":"a"}}"#.into())],
            "0 0 0 nodes pods events",
        ),
        (
            "an event of the newer API",
            vec![(
                "a.json",
                r#"{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"a"},"regarding":{"kind":"Pod"},"note":"x"}"#.into(),
            )],
            "0 0 1 nodes pods",
        ),
        (
            "an old shape",
            vec![(
                "a.json",
                r#"{"apiVersion":"resource.k8s.io/v1alpha2","kind":"ResourceClaim","metadata":{"name":"a"},"spec":[]}"#.into(),
            )],
            "0 0 0 nodes pods events resourceclaims.resource.k8s.io",
        ),
    ];
    for (what, files, want) in table {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let snapshot = read_all(&[dir.path()]);
        let gaps: Vec<&str> = snapshot.gaps().map(|g| g.resource.as_str()).collect();
        let got = format!("{} {} {} {}", snapshot.nodes.len(), snapshot.pods.len(), snapshot.events.len(), gaps.join(" "));
        assert_eq!(got, want, "{what}");
    }
}

#[test]
fn keeps_the_newest_copy() {
    let dir = tempfile::tempdir().unwrap();
    for (file, version, generation) in [("a", "9", 1), ("b", "10", 2), ("c", "8", 3)] {
        let text = format!(
            r#"{{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{{"name":"a","namespace":"n","resourceVersion":"{version}","generation":{generation}}}}}"#
        );
        fs::write(dir.path().join(file).with_extension("json"), text).unwrap();
    }
    let snapshot = read_all(&[dir.path()]);
    let generations: Vec<i64> = snapshot.daemon_sets.iter().map(|d| d.metadata.generation).collect();
    assert_eq!(generations, [2]);
}

#[test]
fn drops_annotations_that_no_check_needs() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.yaml");
    fs::write(
        &file,
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n  annotations:\n    token: secret\n    openshift.io/node-selector: a=b\n",
    )
    .unwrap();
    let snapshot = read_all(&[&file]);
    let annotations: Vec<&String> = snapshot.namespaces.iter().flat_map(|n| n.metadata.annotations.keys()).collect();
    assert_eq!(annotations, ["openshift.io/node-selector"]);
}

/// The API server's own pods say which version it is, though nothing else of them is kept.
#[test]
fn reads_the_version_from_the_servers_image() {
    let dir = tempfile::tempdir().unwrap();
    let node = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"},"status":{"nodeInfo":{"kubeletVersion":"v1.31.2"}}}"#;
    let pod = |name: &str, namespace: &str, image: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","namespace":"{namespace}"}},"spec":{{"containers":[{{"name":"kube-apiserver","image":"{image}"}}]}}}}"#
        )
    };
    for (i, (pods, want)) in [
        (vec![], None),
        (vec![pod("s", "kube-system", "registry.k8s.io/kube-apiserver:v1.33.4")], Some("v1.33.4")),
        (vec![pod("s", "kube-system", "r:5000/kube-apiserver:v1.33.4@sha256:0a")], Some("v1.33.4")),
        (
            vec![
                pod("s", "kube-system", "r/kube-apiserver:v1.34.0"),
                pod("t", "kube-system", "r/kube-apiserver:v1.33.4"),
                pod("u", "kube-system", "r/kube-apiserver@sha256:0a"),
            ],
            Some("v1.33.4"),
        ),
        (vec![pod("s", "other", "r/kube-apiserver:v1.33.4")], None),
    ]
    .into_iter()
    .enumerate()
    {
        let file = dir.path().join(format!("{i}.json"));
        fs::write(&file, format!("{node}\n{}", pods.join("\n"))).unwrap();
        let snapshot = read_all(&[&file]);
        assert_eq!(snapshot.version_text.as_deref(), want);
        assert_eq!(snapshot.version.to_string(), if want.is_some() { "v1.33" } else { "v1.31" });
    }
}

/// A pod that has only just begun by the newest moment in the files may have been stuck for long.
#[test]
fn files_without_events_do_not_tell_the_time() {
    let dir = tempfile::tempdir().unwrap();
    let meta = |name: &str| format!(r#""name":"{name}","namespace":"n","uid":"{name}","generation":1"#);
    let ds = format!(
        r#"{{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{{{}}},"spec":{{"selector":{{"matchLabels":{{"a":"b"}}}},"template":{{"metadata":{{"labels":{{"a":"b"}}}},"spec":{{"containers":[{{"name":"c","image":"i:1"}}]}}}}}},"status":{{"observedGeneration":1,"desiredNumberScheduled":1,"currentNumberScheduled":1}}}}"#,
        meta("d")
    );
    let node = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"},"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#;
    let pod = format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{{},"labels":{{"a":"b"}},"ownerReferences":[{{"apiVersion":"apps/v1","kind":"DaemonSet","name":"d","uid":"d","controller":true}}]}},"spec":{{"nodeName":"a","containers":[{{"name":"c","image":"i:1"}}]}},"status":{{"phase":"Running","startTime":"2026-11-30T12:00:00Z","containerStatuses":[{{"name":"c","image":"i:1","ready":false,"started":true,"state":{{"running":{{"startedAt":"2026-11-30T12:00:01Z"}}}}}}]}}}}"#,
        meta("p")
    );
    let event = r#"{"apiVersion":"v1","kind":"Event","metadata":{"name":"e","namespace":"n"},"involvedObject":{"kind":"Pod","namespace":"n","name":"p"},"reason":"Started","lastTimestamp":"2026-11-30T12:00:02Z"}"#;
    let whole = |more: &str| format!("{ds}\n{node}\n{pod}\n{more}");
    for (i, (text, now, want)) in [
        (whole(""), None, "Inconclusive"),
        (whole(event), None, "Healthy"),
        (whole(""), Some("2026-11-30T12:00:05Z"), "Healthy"),
        (whole(""), Some("2026-11-30T13:00:00Z"), "Problems"),
    ]
    .into_iter()
    .enumerate()
    {
        let file = dir.path().join(format!("{i}.json"));
        fs::write(&file, text).unwrap();
        let options = ReadOptions { now: now.and_then(|n| ds_doctor::model::time::Time::parse(n).ok()), ..ReadOptions::default() };
        let snapshot = read(&[file], &options).unwrap();
        let report = ds_doctor::diagnose::diagnose(&snapshot, &snapshot.daemon_sets[0], &Default::default());
        assert_eq!(format!("{:?}", report.summary.verdict), want, "{i}");
        let told = report.missing.iter().any(|m| m.effect.contains("nor when this was saved"));
        assert_eq!(told, want == "Inconclusive");
    }
}

fn error_of(name: &str, bytes: &[u8]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(name);
    fs::write(&file, bytes).unwrap();
    let error = read(&[file], &ReadOptions::default()).map(|_| ()).expect_err(name).to_string();
    error.replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn says_in_one_line_what_is_wrong() {
    let long = |inner: &str| format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p","namespace":"n"}},"spec":{{{inner}}}}}"#);
    let packed = {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut packed, long("").repeat(100).as_bytes()).unwrap();
        packed.finish().unwrap()
    };
    let pod = |inner: &str| long(inner).into_bytes();
    let rows: Vec<(&str, Vec<u8>, &str)> = vec![
        ("empty.yaml", vec![], "empty.yaml: is empty"),
        ("blank.yaml", b" \n\n".to_vec(), "blank.yaml: is empty"),
        ("comment.yaml", b"# nothing\n---\n".to_vec(), "comment.yaml: holds no Kubernetes object"),
        ("prose.yaml", b"hello\n".to_vec(), "prose.yaml: holds no Kubernetes object"),
        ("values.yaml", b"replicas: 3\n".to_vec(), "values.yaml: holds no Kubernetes object"),
        ("binary.json", vec![0x7f, b'E', b'L', b'F', 0, 1, 2], "binary.json: is neither JSON nor YAML"),
        ("latin.yaml", b"kind: Pod\nname: \xe9t\xe9\n".to_vec(), "latin.yaml: is neither JSON nor YAML"),
        (
            "cut.json",
            br#"{"apiVersion":"v1","kind":"List","items":[{"kind":"Pod","#.to_vec(),
            "cut.json:1:57: not valid JSON: the text ends in the midst of an object: the file is cut off",
        ),
        (
            "cut2.json",
            b"{\"kind\":\"List\",\"items\":[\n{}\n".to_vec(),
            "cut2.json:3:1: not valid JSON: the text ends in the midst of a list: the file is cut off",
        ),
        ("bare.json", b"[1,2".to_vec(), "bare.json:1:5: not valid JSON: the text ends in the midst of"),
        (
            "tail.json",
            b"{\"kind\":\"List\",\"items\":[]}\nerror: x".to_vec(),
            "tail.json:2:1: not valid JSON: expected an object or a list",
        ),
        ("comma.json", b"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"a\" 1}}".to_vec(), "comma.json:1:"),
        (
            "tab.yaml",
            b"kind: Pod\napiVersion: v1\nmetadata:\n\tname: a\n".to_vec(),
            "tab.yaml:4:1: not valid YAML: the line is indented with a tab",
        ),
        ("indent.yaml", b"a: 1\n---\nkind: Pod\napiVersion: v1\nmetadata:\n  name: a\n namespace: b\n".to_vec(), "indent.yaml:7:"),
        ("gz.json.gz", packed[..packed.len() / 2].to_vec(), "gz.json.gz: cannot be read"),
        (
            "q.json",
            pod(r#""containers":[{"name":"c","resources":{"requests":{"cpu":"1x"}}}]"#),
            "q.json: Pod n/p: spec.containers[0].resources.requests.cpu: \"1x\" is not a quantity (such as 500m, 2, 64Mi or 1Gi)",
        ),
        ("type.json", pod(r#""containers":{"name":"c"}"#), "type.json: Pod n/p: spec.containers: invalid type: map, expected a sequence"),
        (
            "time.yaml",
            b"kind: Pod\napiVersion: v1\nmetadata: {name: p, creationTimestamp: yesterday}\n".to_vec(),
            "time.yaml: Pod p: metadata.creationTimestamp: \"yesterday\" is not an RFC 3339 time",
        ),
        (
            "port.yaml",
            b"kind: Pod\napiVersion: v1\nmetadata:\n  name: p\nspec:\n  containers:\n  - ports:\n    - hostPort: web\n".to_vec(),
            "port.yaml: Pod p: spec.containers[0].ports[0].hostPort: invalid type: string, expected i32",
        ),
        ("label.yaml", b"kind: Node\napiVersion: v1\nmetadata:\n  name: a\n  labels:\n    gpu model: x\n".to_vec(), "label.yaml: Node a: metadata.labels: \"gpu model\" is not a label key"),
        ("value.json", br#"{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"d","namespace":"n"},"spec":{"selector":{"matchLabels":{"app":"-"}}}}"#.to_vec(), "value.json: DaemonSet n/d: spec.selector.matchLabels.app: \"-\" is not a label value"),
        ("type.yaml", b"kind: Node\napiVersion: v1\nmetadata:\n  name: a\n  labels:\n    gpu: true\n".to_vec(), "type.yaml: Node a: metadata.labels.gpu: invalid type: boolean `true`, expected a string"),
        ("list.yaml", b"kind: NodeList\napiVersion: v1\nitems:\n- metadata:\n    name: a\n- metadata:\n    name: b\n    labels: 7\n".to_vec(), "list.yaml: Node b: metadata.labels: invalid type: integer `7`, expected a map"),
        ("deep.json", [b"[".repeat(100_000), b"]".repeat(100_000)].concat(), "deep.json: lists are nested more than 16 deep"),
        ("deep2.json", format!(r#"{{"apiVersion":"apps/v1","kind":"ControllerRevision","data":{}1{}}}"#, "{\"x\":".repeat(500), "}".repeat(500)).into_bytes(), "deep2.json:1:1: not valid JSON: recursion limit exceeded"),
        ("deep.yaml", [b"kind: Pod\napiVersion: v1\nx: ".to_vec(), b"[".repeat(10_000)].concat(), "deep.yaml:"),
        ("bomb.yaml", bomb().into_bytes(), "bomb.yaml:"),
    ];
    for (name, bytes, want) in rows {
        let got = error_of(name, &bytes);
        assert!(got.starts_with(want), "{name}\n got: {got}\nwant: {want}");
        assert!(!got.contains('\n') && got.len() < 400, "{name}: {got}");
    }
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing.yaml");
    for (path, want) in [(missing.as_path(), "no such file or directory"), (dir.path(), "there is no JSON or YAML file in this directory")]
    {
        let error = read(&[path.to_path_buf()], &ReadOptions::default()).expect_err("nothing there").to_string();
        assert_eq!(error, format!("{}: {want}", path.display()));
    }
}

/// Aliases of aliases: a billion laughs.
fn bomb() -> String {
    let mut text = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: n}\na0: &a0 [x]\n".to_string();
    for i in 1..30 {
        text += &format!("a{i}: &a{i} [*a{p}, *a{p}, *a{p}, *a{p}, *a{p}, *a{p}, *a{p}, *a{p}, *a{p}]\n", p = i - 1);
    }
    text + "spec: {containers: *a29}\n"
}

#[test]
fn reads_what_windows_writes() {
    let text = "apiVersion: v1\r\nkind: List\r\nitems:\r\n- apiVersion: v1\r\n  kind: Node\r\n  metadata:\r\n    name: a\r\n";
    let dir = tempfile::tempdir().unwrap();
    let little: Vec<u8> = [0xfffe_u16.to_be_bytes().to_vec(), text.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat();
    for (name, bytes) in
        [("crlf.yaml", text.as_bytes().to_vec()), ("bom.yaml", format!("\u{feff}{text}").into_bytes()), ("utf16.yaml", little)]
    {
        let file = dir.path().join(name);
        fs::write(&file, bytes).unwrap();
        let names: Vec<String> = read_all(&[&file]).nodes.iter().map(|n| n.name().to_string()).collect();
        assert_eq!(names, ["a"], "{name}");
    }
}
