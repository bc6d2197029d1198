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

/// Files as (name, text) and what they hold, as "nodes pods events gaps".
#[test]
fn reads_what_people_save() {
    let node = |name: &str| format!(r#"{{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{name}"}}}}"#);
    #[allow(clippy::type_complexity)] // a table of tests reads best as it is
    let table: Vec<(&str, Vec<(&str, String)>, &str)> = vec![
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
