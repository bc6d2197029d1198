//! Hostile and broken input through the binary: an exit code, one clear line, in bounded memory
//! and time; and nothing that others wrote gets to a terminal or a shell as more than text.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use assert_cmd::Command;
use serde_json::{Value, json};

const FORMATS: [&str; 6] = ["text", "wide", "json", "yaml", "markdown", "name"];

/// Address space of a run in KiB: code, the threads' stacks and what is read.
const MEMORY: u64 = 2_000_000;
const TIME: Duration = Duration::from_secs(120);

struct Told {
    code: Option<i32>,
    out: String,
    err: String,
}

/// Runs the binary in bounded memory and time.
fn run(arguments: &[&str], input: &[u8]) -> Told {
    let binary = assert_cmd::cargo::cargo_bin("kubectl-ds_doctor");
    let script = format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(binary).args(arguments).env_clear().env("HOME", "/nonexistent").write_stdin(input).timeout(TIME);
    let began = Instant::now();
    let output = command.output().unwrap();
    assert!(began.elapsed() < TIME, "{arguments:?} takes too long");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Told { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// No character that a terminal would obey.
#[track_caller]
fn harmless(what: &str, text: &str) {
    let steers = |c: char| c != '\n' && ds_doctor::render::safe::is_unsafe(c);
    assert!(!text.contains(steers), "{what}: {:?}", text.chars().find(|c| steers(*c)));
}

fn node(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": name, "labels": {"kubernetes.io/hostname": "h"}},
        "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]}})
}

fn daemon_set(name: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": "x", "uid": "u", "generation": 1},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": {"metadata": {"labels": {"app": "a"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]}}}, "status": {"observedGeneration": 1}})
}

fn pod(name: &str, node: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "x", "uid": name, "labels": {"app": "a"},
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "a", "uid": "u", "controller": true}]},
        "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}]},
        "status": {"phase": "Pending", "conditions": [{"type": "Ready", "status": "False"}]}})
}

fn list(items: &[Value]) -> Vec<u8> {
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string().into_bytes()
}

fn changed(mut object: Value, pointer: &str, value: Value) -> Value {
    *object.pointer_mut(pointer).unwrap() = value;
    object
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// Like blanks of this length in MB, packed once and again in the form that `pack` makes.
fn bomb(megabytes: usize, mut sink: impl Write) {
    let blanks = vec![b' '; 1 << 20];
    sink.write_all(b"{").unwrap();
    for _ in 0..megabytes {
        sink.write_all(&blanks).unwrap();
    }
}

#[test]
fn broken_files_are_one_line_and_exit_code_2() {
    let whole = list(&[node("n"), daemon_set("a"), pod("p", "n")]);
    let with = |pointer: &str, value: Value| list(&[node("n"), daemon_set("a"), changed(pod("p", "n"), pointer, value)]);
    let late = |bytes: &[u8]| [b"# ".as_slice(), &b"x".repeat(3 << 20), b"\n", bytes].concat();
    let gz_bomb = {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        bomb(280, &mut packed);
        packed.finish().unwrap()
    };
    let zstd_bomb = {
        let mut packed = zstd::Encoder::new(Vec::new(), 1).unwrap();
        bomb(280, &mut packed);
        packed.finish().unwrap()
    };
    let replaced = |from: &str, to: &str| String::from_utf8(whole.clone()).unwrap().replace(from, to).into_bytes();
    let aliases = {
        let mut text = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: n}\na0: &a0 [x]\n".to_string();
        for i in 1..30 {
            text += &format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 9].join(", "));
        }
        text + "spec: {containers: *a29}\n"
    };
    let table: Vec<(&str, Vec<u8>, &str)> = vec![
        ("nothing", vec![], "is empty"),
        ("blanks", b" \n\t\n".to_vec(), "is empty"),
        ("arrays 100,000 deep", [b"[".repeat(100_000), b"]".repeat(100_000)].concat(), "nested"),
        ("objects 100,000 deep", replaced("\"c\"", &format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000))), "recursion limit"),
        (
            "YAML 100,000 deep",
            [b"kind: Pod\napiVersion: v1\nspec: ".to_vec(), b"[".repeat(100_000)].concat(),
            "nested more than 10,000 deep",
        ),
        (
            "blocks 3,000 deep",
            format!("kind: Pod\napiVersion: v1\nspec:\n{}", (1..3000).map(|i| format!("{}a:\n", " ".repeat(i))).collect::<String>())
                .into_bytes(),
            "not valid YAML",
        ),
        ("aliases of aliases", aliases.into_bytes(), "repetition limit"),
        ("a huge exponent", with("/spec/containers/0/image", json!(1)), "spec.containers[0].image: invalid type"),
        ("a huge quantity", replaced("\"cpu\":\"1\"", "\"cpu\":\"1e99999999999999999999\""), "not a quantity"),
        ("a huge generation", replaced("\"generation\":1", "\"generation\":99999999999999999999999"), "metadata.generation"),
        ("a key twice", replaced("\"uid\":\"p\"", "\"uid\":\"p\",\"uid\":\"q\""), "duplicate field `uid`"),
        ("a YAML key twice", b"kind: Node\napiVersion: v1\nmetadata:\n  name: a\n  name: b\n".to_vec(), ""),
        ("a label of 10 MB", with("/metadata/labels/app", json!("x".repeat(10 << 20))), "is not a label value"),
        ("a label key of 10 MB", replaced("\"app\":\"a\"", &format!("\"{}\":\"a\"", "k".repeat(10 << 20))), "is not a label key"),
        ("not UTF-8", b"kind: Pod\nname: \xff\xfe\n".to_vec(), "is neither JSON nor YAML but binary data"),
        ("not UTF-8 far on", late(b"kind: Pod\napiVersion: v1\nmetadata: {name: \xff}\n"), "not UTF-8 text"),
        (
            "not UTF-8 in JSON",
            replaced("\"image\":\"i\"", "\"image\":\"#\"").iter().map(|b| if *b == b'#' { 0xff } else { *b }).collect(),
            "",
        ),
        ("NUL", b"kind: Pod\0\n".to_vec(), "is neither JSON nor YAML but binary data"),
        ("NUL far on", late(b"kind: Pod\napiVersion: v1\nmetadata: {name: \0}\n"), "control characters are not allowed"),
        ("half a gzip", gz(&whole.repeat(50))[..200].to_vec(), "cannot be read"),
        ("gzip and more", [gz(&whole), b"more".to_vec()].concat(), "cannot be read"),
        ("a gzip bomb", gz_bomb, "not valid JSON"),
        ("a zstd bomb", zstd_bomb, "it unpacks to more than 500 times its size"),
        ("a zip", b"PK\x03\x04\x14\0\0\0\x08\0aaaaaaaaaaaaaaaaaaaaaa".to_vec(), "is a zip archive; unpack it and give the folder"),
        (
            "Deployments",
            list(&[json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}})]),
            "DaemonSet \"a\" not found",
        ),
        (
            "foreign kinds",
            list(&[json!({"apiVersion": "example.com/v1", "kind": "DaemonSet", "metadata": {"name": "a", "namespace": "x"}})]),
            "DaemonSet \"a\" not found",
        ),
        ("prose", b"To whom it may concern: hello".to_vec(), "holds no Kubernetes object"),
        ("a web page", b"<!doctype html><html><body>Log in</body></html>".to_vec(), ""),
        (
            "a name that is a flag",
            list(&[node("n"), daemon_set("a"), pod("--kubeconfig=/tmp/x", "n")]),
            "metadata.name: \"--kubeconfig=/tmp/x\" is not a name",
        ),
        ("a namespace that is a flag", with("/metadata/namespace", json!("-o=x")), "metadata.namespace: \"-o=x\" is not a name"),
    ];
    let dir = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for (what, bytes, says) in table {
        let path = dir.path().join("input.yaml");
        fs::write(&path, &bytes).unwrap();
        let path = path.to_str().unwrap();
        for (source, input) in [(path, vec![]), ("-", bytes)] {
            if source == "-" && what.ends_with("bomb") {
                continue;
            }
            let told = run(&["a", "--snapshot", source], &input);
            let one_line = told.err.starts_with("error: ") && told.err.lines().count() == 1 && told.err.len() < 700;
            if (told.code, told.out.as_str()) != (Some(2), "") || !one_line || !told.err.contains(says) {
                wrong.push(format!("{what}: {:?} {}", told.code, told.err));
            }
            harmless(what, &told.err);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_no_regular_file() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let mkfifo = |path: &Path| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    let whole = list(&[node("n"), daemon_set("a"), pod("p", "n")]);
    let table: [(PathBuf, &str); 5] = [
        (at("missing"), "no such file or directory"),
        (dir.path().into(), "there is no JSON or YAML file in this directory"),
        ("/dev/null".into(), "is empty"),
        ("/dev/zero".into(), "is neither JSON nor YAML but binary data"),
        ("/proc/self/mem".into(), "cannot be read"),
    ];
    for (path, says) in table {
        let told = run(&["a", "--snapshot", path.to_str().unwrap()], b"");
        assert!(told.code == Some(2) && told.err.contains(says) && told.err.lines().count() == 1, "{path:?}: {}", told.err);
    }
    // A pipe that the user names is read, as in --snapshot <(kubectl get ...).
    let fifo = at("pipe");
    mkfifo(&fifo);
    let mut writer = std::process::Command::new("sh").args(["-c", "cat > \"$0\""]).arg(&fifo).stdin(Stdio::piped()).spawn().unwrap();
    writer.stdin.take().unwrap().write_all(&whole).unwrap();
    let told = run(&["a", "--snapshot", fifo.to_str().unwrap()], b"");
    assert_eq!(told.code, Some(1), "{}", told.err);
    writer.wait().unwrap();
    // In a folder, pipes, sockets and devices are none of the files.
    let folder = at("folder");
    fs::create_dir(&folder).unwrap();
    mkfifo(&folder.join("pods.yaml"));
    std::os::unix::fs::symlink("/dev/zero", folder.join("zero.json")).unwrap();
    std::os::unix::fs::symlink(&folder, folder.join("self")).unwrap();
    std::os::unix::fs::symlink(folder.join("nowhere"), folder.join("dangling.yaml")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.join("socket.json")).unwrap();
    let told = run(&["a", "--snapshot", folder.to_str().unwrap()], b"");
    assert!(told.code == Some(2) && told.err.contains("no JSON or YAML file in this directory"), "{}", told.err);
    fs::write(folder.join("cluster.json"), &whole).unwrap();
    let told = run(&["a", "--snapshot", folder.to_str().unwrap()], b"");
    assert_eq!(told.code, Some(1), "{}", told.err);
}

/// Little of what a process gets: it answers as ever, or says what it lacks.
#[test]
fn a_machine_that_gives_little() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), list(&[node("n"), daemon_set("a"), pod("p", "n")])).unwrap();
    let config = tempfile::NamedTempFile::new().unwrap();
    let server = "{clusters: [{name: c, cluster: {server: 'http://127.0.0.1:9'}}], contexts: [{name: c, context: {cluster: c, user: u}}], current-context: c}";
    fs::write(config.path(), server).unwrap();
    let (saved, live) = (["--snapshot", file.path().to_str().unwrap()], ["--kubeconfig", config.path().to_str().unwrap()]);
    for (limit, source, code) in [
        ("-s 64", saved, 1),
        ("-s 64", live, 2),
        ("-n 5", saved, 1),
        ("-n 5", live, 2),
        ("-n 6", live, 2),
        ("-n 7", live, 2),
        ("-n 9", live, 2),
    ] {
        let binary = assert_cmd::cargo::cargo_bin("kubectl-ds_doctor");
        let script = format!("ulimit {limit}; exec \"$0\" \"$@\"");
        let output = Command::new("sh").args(["-c", &script]).arg(binary).args(["a", "-n", "x"]).args(source).env_clear().output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(code) && err.lines().count() == usize::from(code == 2), "{limit} {source:?}: {output:?}");
        assert!(!err.contains("this is a bug"), "{limit}: {err}");
    }
}

#[test]
fn odd_clusters_are_judged_all_the_same() {
    let owner = |kind: &str, name: &str| json!([{"apiVersion": "v1", "kind": kind, "name": name, "uid": name, "controller": true}]);
    let owned = |mut object: Value, by: Value| {
        object["metadata"]["ownerReferences"] = by;
        object
    };
    let anchors = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: n, labels: &l {app: a}}\n- apiVersion: apps/v1\n  \
                   kind: DaemonSet\n  metadata: {name: a, namespace: x, uid: u}\n  spec:\n    selector: {matchLabels: *l}\n    template: {metadata: {labels: *l}, spec: \
                   {containers: [{name: c, image: i}]}}\n---\nkind: PodList\napiVersion: v1\nitems: []\n---\nkind: EventList\napiVersion: v1\nitems: []\n";
    let long = "x".repeat(10 << 20);
    let message = |text: &str| {
        let mut p = pod("p", "n");
        p["spec"]["nodeName"] = json!("");
        p["spec"]["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}}});
        p["status"]["conditions"] = json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": text}]);
        p
    };
    let table: Vec<(&str, Vec<u8>)> = vec![
        ("owners in a ring", list(&[owned(node("n"), owner("Pod", "p")), owned(daemon_set("a"), owner("Pod", "p")), pod("p", "n")])),
        (
            "an owner of itself",
            list(&[node("n"), owned(daemon_set("a"), owner("DaemonSet", "u")), owned(pod("p", "n"), owner("Pod", "p"))]),
        ),
        ("names twice", list(&[node("n"), node("n"), daemon_set("a"), daemon_set("a"), pod("p", "n"), pod("p", "n")])),
        ("anchors of one list", anchors.as_bytes().to_vec()),
        ("a message of 10 MB", list(&[node("n"), daemon_set("a"), message(&long)])),
        ("a message of 10 MB of words", list(&[node("n"), daemon_set("a"), message(&"0/1 nodes: x, ".repeat(700_000))])),
        (
            "an annotation of 10 MB",
            list(&[node("n"), changed(daemon_set("a"), "/metadata/uid", json!("u")), {
                let mut p = pod("p", "n");
                p["metadata"]["annotations"] = json!({"a": long});
                p
            }]),
        ),
        (
            "5,000 containers",
            list(&[
                node("n"),
                daemon_set("a"),
                changed(pod("p", "n"), "/spec/containers", (0..5000).map(|i| json!({"name": format!("c{i}")})).collect()),
            ]),
        ),
        ("a JSON NUL in a message", list(&[node("n"), daemon_set("a"), message("\0\u{1b}[2J")])),
    ];
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("input.yaml");
    for (what, bytes) in table {
        fs::write(&path, &bytes).unwrap();
        for format in FORMATS {
            let told = run(&["a", "-n", "x", "--snapshot", path.to_str().unwrap(), "-o", format], b"");
            assert_eq!(told.code, Some(1), "{what} {format}: {}", told.err);
            assert!(!told.out.is_empty(), "{what} {format}");
            harmless(what, &told.out);
            if format == "text" {
                assert!(told.out.len() < 20_000, "{what}: {} bytes on the screen", told.out.len());
            }
        }
    }
}

/// Names and texts that want to be more than text.
const EVIL: [&str; 8] = [
    "$(touch PWNED)",
    "`touch PWNED`",
    "x';touch PWNED;'",
    "x\";touch PWNED;\"",
    "x\ntouch PWNED\n",
    "x|touch PWNED&",
    "\u{1b}]0;PWNED\u{7}\u{1b}[2J\u{9b}31m\r",
    "\u{202e}gnp.exe\u{2066}\u{200b}",
];

/// Puts `evil` where people of a cluster may write: names that refer to something, and messages.
fn evil_cluster(evil: &str) -> Vec<u8> {
    let name = format!("x{evil}");
    let mut n = node(&name);
    n["spec"] = json!({"taints": [{"key": "k", "value": name, "effect": "NoExecute"}]});
    let mut full = node("full");
    full["status"]["allocatable"]["pods"] = json!("0");
    let mut ds = daemon_set("a");
    ds["spec"]["template"]["spec"] = json!({"serviceAccountName": name, "priorityClassName": name, "runtimeClassName": name,
        "imagePullSecrets": [{"name": name}], "nodeSelector": {},
        "containers": [{"name": name, "image": name, "ports": [{"hostPort": 80, "containerPort": 80}], "envFrom": [{"configMapRef": {"name": name}}]}],
        "volumes": [{"name": "v", "configMap": {"name": name}}, {"name": "c", "persistentVolumeClaim": {"claimName": name}}]});
    let mut crash = pod("crash", "ok");
    crash["spec"]["containers"] = ds["spec"]["template"]["spec"]["containers"].clone();
    crash["spec"]["volumes"] = ds["spec"]["template"]["spec"]["volumes"].clone();
    crash["status"] = json!({"phase": "Running", "reason": name, "message": name, "conditions": [{"type": "Ready", "status": "False", "message": name}],
        "containerStatuses": [{"name": name, "ready": false, "restartCount": 9, "image": name,
            "state": {"waiting": {"reason": "CrashLoopBackOff", "message": name}}, "lastState": {"terminated": {"exitCode": 1, "reason": name}}}]});
    let mut waits = pod("waits", "");
    waits["spec"]["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["full"]}]}]}}});
    waits["status"]["conditions"] = json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": name}]);
    let mut pull = pod("pull", "pulls");
    pull["status"]["containerStatuses"] =
        json!([{"name": name, "image": name, "state": {"waiting": {"reason": "ImagePullBackOff", "message": name}}}]);
    pull["spec"]["containers"] = ds["spec"]["template"]["spec"]["containers"].clone();
    let event = |object: &str, reason: &str| {
        json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": format!("e{reason}"), "namespace": "x"}, "type": "Warning", "reason": reason,
            "message": format!("MountVolume.SetUp failed for volume \"v\" : configmap \"{name}\" not found"), "involvedObject": {"kind": object, "namespace": "x",
            "name": if object == "Pod" { "crash" } else { "a" }}})
    };
    list(&[
        n,
        full,
        node("ok"),
        node("pulls"),
        node("bare"),
        ds,
        crash,
        waits,
        pull,
        event("Pod", "FailedMount"),
        event("DaemonSet", "FailedCreate"),
    ])
}

#[test]
fn what_others_wrote_is_only_text() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("input.json");
    let mut commands = 0;
    for evil in EVIL {
        fs::write(&path, evil_cluster(evil)).unwrap();
        for format in FORMATS {
            for flags in [vec![], vec!["--node", "full"], vec!["--ascii"]] {
                let told = run(&[&["a", "--snapshot", path.to_str().unwrap(), "-o", format][..], &flags].concat(), b"");
                assert_eq!(told.code, Some(1), "{evil:?} {format}: {}", told.err);
                harmless(evil, &told.out);
                harmless(evil, &told.err);
            }
        }
        let told = run(&["a", "--snapshot", path.to_str().unwrap(), "-o", "json"], b"");
        let report: Value = serde_json::from_str(&told.out).unwrap();
        let mut found = Vec::new();
        commands_of(&report, &mut found);
        assert!(!found.is_empty());
        commands += found.len();
        for command in found {
            tried(&command, dir.path());
        }
    }
    assert!(commands >= 40, "{commands}");
}

fn commands_of(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|v| commands_of(v, found)),
        Value::Object(map) => map.iter().for_each(|(key, v)| match v {
            Value::String(text) if key == "command" => found.push(text.clone()),
            v => commands_of(v, found),
        }),
        _ => {}
    }
}

/// Runs a command with a `kubectl` that does nothing: nothing else may happen.
fn tried(command: &str, dir: &Path) {
    let bin = dir.join("bin");
    fs::create_dir_all(&bin).unwrap();
    let kubectl = bin.join("kubectl");
    fs::write(&kubectl, "#!/bin/sh\nexit 0\n").unwrap();
    fs::set_permissions(&kubectl, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let output = std::process::Command::new("sh")
        .args(["-c", command])
        .current_dir(dir)
        .env_clear()
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{command}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(!dir.join("PWNED").exists(), "{command}");
}
