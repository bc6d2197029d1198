//! `--save-snapshot`: replaying the file gives the same report, and nothing secret is in it.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::cargo_bin("kubectl-ds_doctor").unwrap().args(arguments).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap())
}

fn cases() -> Vec<(String, String, PathBuf)> {
    let entries = fs::read_dir("tests/cases").unwrap().map(|e| e.unwrap().path());
    let mut cases: Vec<(String, String, PathBuf)> = entries
        .map(|case| {
            let expected: serde_json::Value = serde_json::from_slice(&fs::read(case.join("expect.json")).unwrap()).unwrap();
            let (namespace, name) = expected["daemonset"].as_str().unwrap().split_once('/').unwrap();
            (namespace.to_string(), name.to_string(), case.join("cluster.yaml"))
        })
        .collect();
    cases.sort();
    assert!(cases.len() >= 40);
    cases
}

#[test]
fn replays_to_the_same_report() {
    let dir = tempfile::tempdir().unwrap();
    for (i, (namespace, name, cluster)) in cases().iter().enumerate() {
        let file = dir.path().join(["a.json", "a.json.gz", "a.json.zst"][i % 3]).display().to_string();
        let again = dir.path().join("b.json").display().to_string();
        let cluster = cluster.display().to_string();
        let (_, saved) = run(&[name, "-n", namespace, "--snapshot", &cluster, "-o", "json", "--save-snapshot", &file]);
        let (_, replayed) = run(&[name, "-n", namespace, "--snapshot", &file, "-o", "json", "--save-snapshot", &again]);
        assert_eq!(saved, replayed, "{cluster}");
        assert!(saved.contains("DaemonSetReport"), "{cluster}: {saved}");
        let (first, second) = (unpacked(Path::new(&file)), fs::read(&again).unwrap());
        assert!(first == second, "{cluster}: the replay is saved differently");
        assert!(first.len() < fs::metadata(&cluster).unwrap().len() as usize, "{cluster}");
    }
}

#[test]
fn a_guessed_time_stays_a_guess() {
    let dir = tempfile::tempdir().unwrap();
    let [cluster, file] = ["cluster.yaml", "saved.json"].map(|n| dir.path().join(n).display().to_string());
    fs::write(
        &cluster,
        r#"
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: 1, memory: 1Gi, pods: 9}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: d, namespace: n, uid: u, generation: 1}
spec: {selector: {matchLabels: {app: d}}, template: {metadata: {labels: {app: d}}, spec: {containers: [{name: c, image: i}]}}}
status: {observedGeneration: 1, desiredNumberScheduled: 1, currentNumberScheduled: 1, updatedNumberScheduled: 1, numberUnavailable: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: d-1, namespace: n, labels: {app: d}, creationTimestamp: "2026-01-01T00:00:00Z", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u, controller: true}]}
spec: {nodeName: a, containers: [{name: c, image: i}]}
status:
  phase: Running
  conditions: [{type: Ready, status: "False", lastTransitionTime: "2026-01-01T00:00:00Z"}]
  containerStatuses: [{name: c, started: true, ready: false, state: {running: {startedAt: "2026-01-01T00:00:00Z"}}}]
"#,
    )
    .unwrap();
    let saved = run(&["d", "-n", "n", "--snapshot", &cluster, "-o", "json", "--save-snapshot", &file]);
    assert_eq!(saved.0, Some(3), "{}", saved.1);
    assert_eq!(saved, run(&["d", "-n", "n", "--snapshot", &file, "-o", "json"]));
    let told = run(&["d", "-n", "n", "--snapshot", &file, "-o", "json", "--now", "2026-01-01T02:00:00Z"]);
    assert_eq!(told.0, Some(1), "{}", told.1);
}

fn unpacked(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    match path.extension().unwrap().to_str().unwrap() {
        "gz" => {
            let mut text = Vec::new();
            std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(bytes.as_slice()), &mut text).unwrap();
            text
        }
        "zst" => zstd::decode_all(bytes.as_slice()).unwrap(),
        _ => bytes,
    }
}

#[test]
fn keeps_secrets_out() {
    let dir = tempfile::tempdir().unwrap();
    let cluster = dir.path().join("cluster.yaml").display().to_string();
    let file = dir.path().join("saved.json");
    fs::write(
        &cluster,
        r#"
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: n}
stringData: {k: SECRET}
---
apiVersion: v1
kind: Node
metadata: {name: a, annotations: {token: SECRET}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: d, namespace: n, uid: u, generation: 1, annotations: {kubectl.kubernetes.io/last-applied-configuration: SECRET}}
spec:
  selector: {matchLabels: {app: d}}
  template: &template
    metadata: {labels: {app: d}, annotations: {token: SECRET}}
    spec:
      containers:
      - name: c
        image: i
        command: [run, --password=SECRET]
        args: [SECRET]
        env: [{name: PASSWORD, value: SECRET}]
        livenessProbe: {httpGet: {path: /, port: 80, httpHeaders: [{name: Authorization, value: SECRET}]}, periodSeconds: 1}
        lifecycle: {preStop: {exec: {command: [SECRET]}}}
---
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: d-1, namespace: n, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u, controller: true}]}
revision: 1
data:
  spec:
    template:
      metadata: {annotations: {token: SECRET}}
      spec:
        containers:
        - {name: c, command: [SECRET], env: [{name: PASSWORD, value: SECRET}], livenessProbe: {exec: {command: [SECRET]}}}
"#,
    )
    .unwrap();
    let (_, report) = run(&["d", "-n", "n", "--snapshot", &cluster, "-o", "json", "--save-snapshot", &file.display().to_string()]);
    let saved = fs::read_to_string(&file).unwrap();
    for text in [&report, &saved] {
        assert!(text.contains("\"d\"") && !text.contains("SECRET"), "{text}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        // A file that others could read before is closed to them.
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        run(&["d", "-n", "n", "--snapshot", &cluster, "--save-snapshot", &file.display().to_string()]);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
