//! The trees and archives that dump tools write.

use std::fs;
use std::io::Write;
use std::path::Path;

use ds_doctor::model::snapshot::Snapshot;
use ds_doctor::source::files::{ReadOptions, read};

const NODES: &str = r#"{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"n1"},"status":{"nodeInfo":{"kubeletVersion":"v1.33.1"}}}]}"#;
const PODS: &str =
    r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a-x","namespace":"kube-system"},"spec":{"nodeName":"n1"}}]}"#;
const DAEMON_SETS: &str =
    r#"{"kind":"DaemonSetList","apiVersion":"apps/v1","items":[{"metadata":{"name":"a","namespace":"kube-system"}}]}"#;
const EVENTS: &str = r#"{"kind":"EventList","apiVersion":"v1","items":[{"metadata":{"name":"e","namespace":"kube-system"}}]}"#;
const LOG: &str = "==== START logs for container c of pod kube-system/a-x ====\n{\"level\":\"info\"\nRequest log: } ] \" {\n==== END logs for container c of pod kube-system/a-x ====\n";

/// A tool, the files that it writes, and what is read from them: `nodes pods daemonsets events version`.
type Row = (&'static str, Vec<(&'static str, String)>, &'static str);

fn rows() -> Vec<Row> {
    let pretty = |text: &str| serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(text).unwrap()).unwrap() + "\n";
    let bare = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["items"].to_string();
    let typed = |kind: &str, api: &str, text: &str| {
        let mut list: serde_json::Value = serde_json::from_str(text).unwrap();
        for item in list["items"].as_array_mut().unwrap() {
            item["kind"] = kind.into();
            item["apiVersion"] = api.into();
        }
        list
    };
    let yaml = |value: &serde_json::Value| format!("---\n{}", yaml_serde::to_string(value).unwrap());
    let document = |text: &str| yaml_serde::to_string(&serde_json::from_str::<serde_json::Value>(text).unwrap()).unwrap();
    vec![
        (
            "kubectl cluster-info dump --output-directory",
            vec![
                ("nodes.json", NODES.into()),
                ("kube-system/pods.json", PODS.into()),
                ("kube-system/daemonsets.json", DAEMON_SETS.into()),
                ("kube-system/events.json", EVENTS.into()),
                ("kube-system/replicasets.json", r#"{"kind":"ReplicaSetList","apiVersion":"apps/v1","items":[]}"#.into()),
                ("kube-system/a-x/logs.txt", "{\"not\": json".into()),
            ],
            "1 1 1 1 v1.33",
        ),
        (
            "kubectl cluster-info dump",
            vec![("dump.json", [NODES, EVENTS, DAEMON_SETS, PODS].map(pretty).concat() + LOG + LOG)],
            "1 1 1 1 v1.33",
        ),
        (
            "kubectl cluster-info dump -o yaml",
            vec![(
                "dump.yaml",
                [NODES, EVENTS, DAEMON_SETS].map(document).join("---\n")
                    + "---\napiVersion: v1\nitems: null\nkind: PodList\nmetadata:\n  resourceVersion: \"1\"\n"
                    + LOG
                    + &LOG.replace("{\n====", "- a: &x *x\nno line feed====")
                    + "---\n"
                    + &document(PODS)
                    + LOG,
            )],
            "1 1 1 1 v1.33",
        ),
        (
            "must-gather",
            vec![
                ("must-gather.local.1/timestamp", "2026-01-01\n".into()),
                ("must-gather.local.1/q/cluster-scoped-resources/core/nodes/n1.yaml", yaml(&typed("Node", "v1", NODES)["items"][0])),
                ("must-gather.local.1/q/cluster-scoped-resources/config.openshift.io/clusterversions/version.yaml", "---\napiVersion: config.openshift.io/v1\nkind: ClusterVersion\nmetadata:\n  name: version\nstatus:\n  desired:\n    version: 4.18.5\n".into()),
                ("must-gather.local.1/q/namespaces/kube-system/core/pods.yaml", yaml(&typed("Pod", "v1", PODS))),
                ("must-gather.local.1/q/namespaces/kube-system/pods/a-x/a-x.yaml", yaml(&typed("Pod", "v1", PODS)["items"][0])),
                ("must-gather.local.1/q/namespaces/kube-system/apps/daemonsets.yaml", yaml(&typed("DaemonSet", "apps/v1", DAEMON_SETS))),
                ("must-gather.local.1/q/namespaces/kube-system/core/events.yaml", yaml(&typed("Event", "v1", EVENTS))),
                ("must-gather.local.1/q/namespaces/kube-system/core/configmaps.yaml", "---\napiVersion: v1\nitems: []\nkind: ConfigMapList\n".into()),
                ("must-gather.local.1/q/etcd_info/endpoint_status.json", "Error: no endpoint\n{".into()),
            ],
            "1 1 1 1 v1.31",
        ),
        (
            "a support bundle",
            vec![
                ("support-bundle/cluster-info/cluster_version.json", r#"{"info":{"major":"1","minor":"32","gitVersion":"v1.32.4"},"string":"v1.32.4"}"#.into()),
                ("support-bundle/cluster-resources/nodes.json", bare(NODES)),
                ("support-bundle/cluster-resources/pods/kube-system.json", bare(PODS)),
                ("support-bundle/cluster-resources/daemonsets/kube-system.json", pretty(DAEMON_SETS)),
                ("support-bundle/cluster-resources/events/kube-system.json", bare(EVENTS)),
                ("support-bundle/cluster-resources/pods-errors.json", "[\"forbidden\"]".into()),
                ("support-bundle/cluster-resources/storage-classes.json", "[]".into()),
                ("support-bundle/analysis.json", r#"[{"name":"x","labels":{},"insight":{}}]"#.into()),
                ("support-bundle/version.yaml", "apiVersion: troubleshoot.sh/v1beta2\nkind: SupportBundle\nspec:\n  versionNumber: 0.100.0\n".into()),
            ],
            "1 1 1 1 v1.32",
        ),
        (
            "kubectl get, a kind a file",
            vec![("n.json", NODES.into()), ("p.json", PODS.into()), ("d.json", DAEMON_SETS.into()), ("e.json", EVENTS.into())],
            "1 1 1 1 v1.33",
        ),
    ]
}

fn seen(snapshot: &Snapshot) -> String {
    let s = snapshot;
    format!("{} {} {} {} {}", s.nodes.len(), s.pods.len(), s.daemon_sets.len(), s.events.len(), s.version)
}

fn read_at(path: &Path) -> Result<Snapshot, String> {
    read(&[path.to_path_buf()], &ReadOptions::default()).map_err(|e| e.to_string())
}

#[test]
fn reads_the_trees_of_dump_tools() {
    for (tool, files, want) in rows() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        assert_eq!(read_at(dir.path()).as_ref().map(seen), Ok(want.to_string()), "{tool}");
    }
}

#[test]
fn a_dump_that_breaks_off_in_a_log_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (name, list, want) in [
        ("dump.json", NODES, "cut off"),
        ("dump.yaml", "apiVersion: v1\nkind: NodeList\nitems: []", "4:1: not valid YAML: the log that begins here does not end"),
    ] {
        let path = dir.path().join(name);
        let text = format!("{list}\n{}", LOG.split_once("==== END").unwrap().0);
        fs::write(&path, text).unwrap();
        let error = read_at(&path).unwrap_err();
        assert!(error.contains(want), "{name}: {error}");
    }
}

/// A tar archive of files, as `tar` makes it.
fn packed(files: &[(&str, String)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap()
}

#[test]
fn reads_archives_of_them() {
    let dir = tempfile::tempdir().unwrap();
    for (tool, files, want) in rows() {
        // A name that is too long for the header comes in an entry of its own.
        let long = format!("{}/x.json", "folder/".repeat(40));
        let files: Vec<(&str, String)> = files.into_iter().chain([(long.as_str(), "{}".to_string())]).collect();
        let tar = packed(&files);
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gz.write_all(&tar).unwrap();
        for (name, bytes) in
            [("a.tar", tar.clone()), ("a.tar.gz", gz.finish().unwrap()), ("a.tar.zst", zstd::encode_all(tar.as_slice(), 0).unwrap())]
        {
            let path = dir.path().join(name);
            fs::write(&path, bytes).unwrap();
            assert_eq!(read_at(&path).as_ref().map(seen), Ok(want.to_string()), "{tool} as {name}");
        }
    }
}

#[test]
fn hostile_archives_do_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let read_bytes = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        read_at(&path).map(|s| seen(&s)).map_err(|e| e.replace(&format!("{}/", dir.path().display()), ""))
    };
    // Names that lead out of the folder are names; nothing is written.
    let mut tar = packed(&[("aa/aa/escape.json", NODES.into())]);
    tar[..17].copy_from_slice(b"../../escape.json");
    let sum: u32 = tar[..512].iter().enumerate().map(|(i, b)| u32::from(if (148..156).contains(&i) { b' ' } else { *b })).sum();
    tar[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    assert_eq!(read_bytes("escape.tar", &tar), Ok("1 0 0 0 v1.33".into()));
    assert!(!dir.path().parent().unwrap().join("escape.json").exists());
    // A name with terminal control sequences is shown without them.
    let error = read_bytes("control.tar", &packed(&[("\u{1b}[2Jpods.json", "{\"kind\":\"Pod\"".into())])).unwrap_err();
    assert!(!error.contains('\u{1b}') && error.starts_with("control.tar:\\u{1b}[2Jpods.json:1:14: not valid JSON"), "{error}");
    // An archive that is cut off, or is not one, is an error.
    let whole = packed(&[("nodes.json", NODES.into())]);
    assert!(read_bytes("cut.tar", &whole[..600]).is_err());
    // What is in it is not repeated.
    let mut wrong = whole.clone();
    wrong[148..156].copy_from_slice(b"hunter2!");
    assert_eq!(read_bytes("wrong.tar", &wrong), Err("wrong.tar: cannot be read: the archive is damaged".into()));
    assert_eq!(
        read_bytes("none.tar", &packed(&[("a.txt", "x".into())])),
        Err("none.tar: holds no Kubernetes object (nothing with apiVersion and kind)".into())
    );
    // A bomb: half a gigabyte of blanks in half a megabyte.
    let mut bomb = zstd::Encoder::new(Vec::new(), 1).unwrap();
    let blanks = vec![b' '; 1 << 20];
    bomb.write_all(b"{").unwrap();
    for _ in 0..400 {
        bomb.write_all(&blanks).unwrap();
    }
    let error = read_bytes("bomb.json.zst", &bomb.finish().unwrap()).unwrap_err();
    assert!(error.starts_with("bomb.json.zst: cannot be read: it unpacks to more than 500 times its size"), "{error}");
}
