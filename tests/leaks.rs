//! Secrets planted wherever people put them: none is ever printed or saved, whatever is asked for
//! and whatever goes wrong.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::thread;

use prost::Message;
use serde_json::{Value, json};

/// A secret of its own for each place; all begin alike.
fn canary(place: &str) -> String {
    format!("cAnArY-{place}")
}

/// Its forms: as it is, in base64, as a part of a URL.
fn forms() -> [&'static str; 3] {
    ["cAnArY", "Y0FuQXJZ", "cAnArY%2D"]
}

/// A DaemonSet, its pods and what belongs to them, with a secret at each place that may hold one.
fn objects() -> Vec<Value> {
    let owner = json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "a", "uid": "u", "controller": true}]);
    let container = |name: &str| {
        json!({"name": name, "image": "registry.example.com/i:v1", "command": ["run", canary("command")], "args": [format!("--password={}", canary("args"))],
            "env": [{"name": "PASSWORD", "value": canary("env")}, {"name": "REF", "valueFrom": {"secretKeyRef": {"name": "s", "key": "password"}}}],
            "livenessProbe": {"exec": {"command": [canary("probe")]}},
            "readinessProbe": {"httpGet": {"path": "/ready", "port": 80, "httpHeaders": [{"name": "Authorization", "value": canary("header")}]}},
            "lifecycle": {"preStop": {"exec": {"command": [canary("hook")]}}}, "workingDir": "/srv",
            "volumeMounts": [{"name": "v", "mountPath": "/x", "subPathExpr": "x"}],
            "resources": {"requests": {"cpu": "2"}}, "ports": [{"containerPort": 80, "hostPort": 80}]})
    };
    let annotations = json!({"token": canary("annotation"), "vault.example.com/secret": canary("vault"),
        "kubectl.kubernetes.io/last-applied-configuration": json!({"spec": canary("applied")}).to_string()});
    let spec = json!({"containers": [container("c")], "initContainers": [container("i")], "imagePullSecrets": [{"name": "pull-secret"}],
        "volumes": [{"name": "v", "csi": {"driver": "d", "volumeAttributes": {"token": canary("csi")}}},
            {"name": "f", "flexVolume": {"driver": "d", "options": {"password": canary("flex")}}}],
        "dnsConfig": {"searches": ["example.com"]}, "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["example.com"]}]});
    let template = json!({"metadata": {"labels": {"app": "a"}, "annotations": annotations}, "spec": spec});
    let meta = |name: &str| json!({"name": name, "namespace": "x", "uid": name, "annotations": annotations, "labels": {"app": "a"}, "ownerReferences": owner});
    let revision = |name: &str, number: i32, image: &str| {
        let mut template = template.clone();
        template["$patch"] = json!("replace");
        template["spec"]["containers"][0]["image"] = json!(image);
        template["spec"]["containers"][0]["env"][0]["value"] = json!(canary(&format!("env-{number}")));
        template["spec"]["containers"][0]["args"][0] = json!(canary(&format!("args-{number}")));
        let mut meta = meta(name);
        meta["labels"]["controller-revision-hash"] = json!(name);
        json!({"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": meta, "revision": number, "data": {"spec": {"template": template}}})
    };
    let pod = |name: &str, node: &str, status: Value| {
        let mut meta = meta(name);
        meta["labels"]["controller-revision-hash"] = json!("r1");
        let mut spec = spec.clone();
        spec["nodeName"] = json!(node);
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status})
    };
    let node = |name: &str| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "annotations": annotations},
            "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]}})
    };
    let ready = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
    let crashes = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}], "containerStatuses": [{"name": "c", "image": "i", "imageID": "i",
        "restartCount": 9, "ready": false, "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
        "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}}]});
    vec![
        json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "a", "namespace": "x", "uid": "u", "generation": 2, "annotations": annotations},
            "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": template}, "status": {"observedGeneration": 2}}),
        revision("r1", 1, "registry.example.com/i:v0"),
        revision("r2", 2, "registry.example.com/i:v1"),
        node("n1"),
        node("n2"),
        node("n3"),
        pod("p1", "n1", ready),
        pod("p2", "n2", crashes),
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x", "annotations": annotations}}),
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "x", "annotations": annotations}, "secrets": [{"name": "token"}]}),
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "x"}, "stringData": {"k": canary("secret")}}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "s", "namespace": "x"}, "data": {"k": canary("configmap")}}),
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "s"}, "provisioner": "p", "parameters": {"key": canary("parameter")}}),
        json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {"csi": {"driver": "d", "volumeHandle": "h", "volumeAttributes": {"t": canary("pv")}},
            "mountOptions": [format!("password={}", canary("mount"))]}}),
        json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration", "metadata": {"name": "w"},
            "webhooks": [{"name": "w.example.com", "clientConfig": {"url": format!("https://me:{}@w.example.com/?t={}", canary("webhook"), canary("query")), "caBundle": "eA=="}}]}),
    ]
}

fn plugin(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-ds_doctor"));
    command.args(arguments).env_clear().env("HOME", "/nonexistent").env("RUST_LOG", "trace").env("RUST_BACKTRACE", "full");
    command
}

#[track_caller]
fn keeps_quiet(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for form in forms() {
        if let Some(at) = text.find(form) {
            panic!("{what}: {}", text.get(at.saturating_sub(60)..).unwrap_or_default().chars().take(140).collect::<String>());
        }
    }
}

/// Neither stream says a secret; returns the exit code.
#[track_caller]
fn told(what: &str, output: &Output) -> i32 {
    keeps_quiet(what, &output.stdout);
    keeps_quiet(what, &output.stderr);
    output.status.code().unwrap()
}

const FORMATS: [&str; 6] = ["text", "wide", "json", "yaml", "markdown", "name"];

/// Every way of looking at these sources.
fn looked_at(what: &str, source: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    for format in FORMATS {
        for flags in [vec![], vec!["--node", "n2", "--color", "always"]] {
            let output = plugin(&[&["a", "-n", "x", "-o", format][..], source, &flags].concat()).output().unwrap();
            assert_eq!(told(&format!("{what} {format} {flags:?}"), &output), 1, "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    for end in ["json", "json.gz", "json.zst"] {
        let saved = dir.path().join(format!("saved.{end}"));
        let output = plugin(&[&["a", "-n", "x", "--save-snapshot", saved.to_str().unwrap()][..], source].concat()).output().unwrap();
        told(what, &output);
        let bytes = fs::read(&saved).unwrap();
        let text = match end {
            "json.gz" => {
                let mut text = Vec::new();
                flate2::read::GzDecoder::new(bytes.as_slice()).read_to_end(&mut text).unwrap();
                text
            }
            "json.zst" => zstd::decode_all(bytes.as_slice()).unwrap(),
            _ => bytes,
        };
        assert!(text.windows(3).any(|w| w == b"\"a\""));
        keeps_quiet(&format!("{what} saved.{end}"), &text);
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&saved).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn nothing_of_a_saved_cluster() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cluster.json");
    fs::write(&path, json!({"apiVersion": "v1", "kind": "List", "items": objects()}).to_string()).unwrap();
    looked_at("JSON", &["--snapshot", path.to_str().unwrap()]);
    let path = dir.path().join("cluster.yaml");
    fs::write(&path, yaml_serde::to_string(&json!({"apiVersion": "v1", "kind": "List", "items": objects()})).unwrap()).unwrap();
    looked_at("YAML", &["--snapshot", path.to_str().unwrap()]);
}

#[test]
fn nothing_of_a_cluster_that_cannot_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let wrong: [(&str, &str, Value); 8] = [
        ("DaemonSet", "/metadata/annotations/token", json!(73_577_357)),
        ("DaemonSet", "/metadata/annotations/token", json!({"deep": canary("deep")})),
        ("Pod", "/spec/containers/0/env", json!(canary("env"))),
        ("Pod", "/spec/containers/0/env/0/name", json!([canary("env")])),
        ("Pod", "/spec/containers/0/args", json!({"x": canary("args")})),
        ("Pod", "/spec/containers/0/readinessProbe", json!(canary("probe"))),
        ("Pod", "/spec/volumes", json!(canary("volumes"))),
        ("ControllerRevision", "/data", json!(canary("data"))),
    ];
    for (kind, pointer, value) in wrong {
        let mut all = objects();
        let object = all.iter_mut().find(|o| o["kind"] == kind).unwrap();
        *object.pointer_mut(pointer).unwrap() = value;
        let list = json!({"apiVersion": "v1", "kind": "List", "items": all});
        for (name, text) in [("c.json", list.to_string()), ("c.yaml", yaml_serde::to_string(&list).unwrap())] {
            let path = dir.path().join(name);
            fs::write(&path, &text).unwrap();
            let output = plugin(&["a", "--snapshot", path.to_str().unwrap()]).output().unwrap();
            told(&format!("{kind} {pointer} {name}"), &output);
            assert!(!String::from_utf8_lossy(&output.stderr).contains("73577357"), "{}", String::from_utf8_lossy(&output.stderr));
            // Cut off within a secret, and with rubbish behind one.
            for place in text.match_indices("cAnArY").step_by(3).map(|(i, _)| i) {
                for broken in [text[..place + 7].to_string(), format!("{}\u{1}]}}{}", &text[..place + 4], &text[place + 4..])] {
                    fs::write(&path, broken).unwrap();
                    told(&format!("{name} broken at {place}"), &plugin(&["a", "--snapshot", path.to_str().unwrap()]).output().unwrap());
                }
            }
        }
    }
}

/// `EnvVar` and `Container`, as far as they hold secrets.
#[derive(Clone, PartialEq, Message)]
struct EnvVar {
    #[prost(string, tag = 1)]
    name: String,
    #[prost(string, tag = 2)]
    value: String,
}

#[derive(Clone, PartialEq, Message)]
struct Container {
    #[prost(string, tag = 1)]
    name: String,
    #[prost(string, repeated, tag = 3)]
    command: Vec<String>,
    #[prost(string, repeated, tag = 4)]
    args: Vec<String>,
    #[prost(message, repeated, tag = 7)]
    env: Vec<EnvVar>,
}

#[derive(Clone, PartialEq, Message)]
struct PodSpec {
    #[prost(message, repeated, tag = 2)]
    containers: Vec<Container>,
}

#[derive(Clone, PartialEq, Message)]
struct Meta {
    #[prost(btree_map = "string, string", tag = 12)]
    annotations: std::collections::BTreeMap<String, String>,
}

#[derive(Clone, PartialEq, Message)]
struct More {
    #[prost(message, optional, tag = 1)]
    metadata: Option<Meta>,
    #[prost(message, optional, tag = 2)]
    spec: Option<PodSpec>,
}

#[derive(Clone, PartialEq, Message)]
struct Unknown {
    #[prost(bytes = "vec", tag = 2)]
    raw: Vec<u8>,
}

/// A pod in protobuf: what the model has of it, and the secrets, which merge with it on the way in.
fn protobuf_pod(pod: &Value) -> Vec<u8> {
    let model: ds_doctor::model::pod::Pod = serde_json::from_value(pod.clone()).unwrap();
    let container = Container {
        name: "secret".into(),
        command: vec![canary("command")],
        args: vec![canary("args")],
        env: vec![EnvVar { name: "PASSWORD".into(), value: canary("env") }],
    };
    let annotations = [("token".to_string(), canary("annotation"))].into();
    let more = More { metadata: Some(Meta { annotations }), spec: Some(PodSpec { containers: vec![container] }) };
    [model.encode_to_vec(), more.encode_to_vec()].concat()
}

/// A server that gives the objects whole, secrets and all: pods in protobuf, the rest in JSON. All
/// its refusals repeat the credentials that it was sent.
fn server(refuse: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let objects = Arc::new(objects());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let objects = objects.clone();
            thread::spawn(move || {
                let mut stream = BufReader::new(stream);
                loop {
                    let mut head = String::new();
                    while !head.ends_with("\r\n\r\n") {
                        if stream.read_line(&mut head).unwrap_or(0) == 0 {
                            return;
                        }
                    }
                    let target = head.split(' ').nth(1).unwrap_or_default().to_string();
                    let (code, media, body) = if refuse { (403, "application/json", refusal(&head)) } else { answer(&target, &objects) };
                    let head = format!("HTTP/1.1 {code} X\r\nContent-Type: {media}\r\nContent-Length: {}\r\n\r\n", body.len());
                    if stream.get_mut().write_all(&[head.as_bytes(), &body].concat()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

fn refusal(head: &str) -> Vec<u8> {
    let sent = head.lines().find(|l| l.to_lowercase().starts_with("authorization:")).unwrap_or_default();
    json!({"kind": "Status", "reason": "Forbidden", "message": format!("no access with {sent}"), "code": 403}).to_string().into_bytes()
}

fn answer(target: &str, objects: &[Value]) -> (u16, &'static str, Vec<u8>) {
    let path = target.split('?').next().unwrap_or_default();
    if path == "/version" {
        return (200, "application/json", br#"{"gitVersion": "v1.34.3"}"#.to_vec());
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    let kind = |o: &Value| format!("{}s", o["kind"].as_str().unwrap_or_default().to_lowercase()).replace("classs", "classes");
    if let Some(one) = objects.iter().find(|o| o["metadata"]["name"] == last && path.contains(&kind(o))) {
        return (200, "application/json", one.to_string().into_bytes());
    }
    let found: Vec<&Value> = objects.iter().filter(|o| kind(o) == last).collect();
    if last == "pods" && !target.contains("fieldSelector") {
        let mut raw = Vec::new();
        found.iter().for_each(|pod| prost::encoding::bytes::encode(2, &protobuf_pod(pod), &mut raw));
        return (200, "application/vnd.kubernetes.protobuf", [b"k8s\0".as_slice(), &Unknown { raw }.encode_to_vec()].concat());
    }
    (200, "application/json", json!({"kind": "XList", "metadata": {}, "items": found}).to_string().into_bytes())
}

#[test]
fn nothing_of_a_live_cluster() {
    let address = server(false);
    looked_at("live", &["--server", &format!("http://{address}"), "--token", &canary("token")]);
}

fn kubeconfig(path: &Path, server: &str, more: &str, user: &str) {
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
         clusters:\n- name: c\n  cluster: {{server: '{server}'{more}}}\nusers:\n- name: u\n  user: {user}\n"
    );
    fs::write(path, text).unwrap();
}

#[test]
fn nothing_of_the_credentials() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config");
    let refuses = server(true);
    let (token, password) = (canary("token"), canary("password"));
    let servers = [
        format!("http://{refuses}"),
        format!("http://me:{password}@{refuses}"),
        format!("https://me:{password}@{refuses}"),
        format!("http://me:{password}@127.0.0.1:1/?token={token}"),
        format!("http://me:{password}@"),
        format!("//{password}"),
        format!("http://{refuses}/{token}"),
    ];
    let plugin_of = |script: &str| {
        format!(
            "{{exec: {{apiVersion: client.authentication.k8s.io/v1, command: sh, args: ['-c', '{script}', {token}], env: [{{name: SECRET, value: {token}}}], interactiveMode: Never}}}}"
        )
    };
    let users = [
        format!("{{token: {token}}}"),
        format!("{{token: \"{token}\\n\"}}"),
        format!("{{tokenFile: {}}}", dir.path().join("token").display()),
        format!("{{username: me, password: {password}}}"),
        format!("{{username: \"{password}\\n\", password: \"{password}\\n\"}}"),
        format!("{{client-certificate-data: {token}, client-key-data: {token}}}"),
        "{client-certificate-data: Y0FuQXJZ, client-key-data: Y0FuQXJZ}".to_string(),
        format!("{{token: [{token}}}"),
        format!("{{token: {{a: {token}}}}}"),
        plugin_of("echo $SECRET; echo $SECRET >&2; exit 1"),
        plugin_of("echo $SECRET; echo $SECRET >&2"),
        plugin_of("exec /nonexistent/$SECRET"),
        format!(
            "{{auth-provider: {{name: oidc, config: {{client-id: x, client-secret: {token}, id-token: {token}, refresh-token: {token}, idp-issuer-url: http://127.0.0.1:1}}}}}}"
        ),
        format!("{{auth-provider: {{name: {token}, config: {{a: {token}}}}}}}"),
    ];
    fs::write(dir.path().join("token"), &token).unwrap();
    for server in &servers {
        for user in &users {
            for more in [
                "".to_string(),
                format!(", proxy-url: 'http://me:{password}@127.0.0.1:1'"),
                format!(", certificate-authority-data: {token}"),
            ] {
                kubeconfig(&file, server, &more, user);
                let output = plugin(&["a", "--request-timeout", "5s"]).env("KUBECONFIG", &file).output().unwrap();
                let what = format!("{server} {user} {more}");
                assert_eq!(told(&what, &output), 2, "{what}");
                assert!(
                    String::from_utf8_lossy(&output.stderr).lines().count() == 1,
                    "{what}: {}",
                    String::from_utf8_lossy(&output.stderr)
                );
            }
        }
    }
    for (flags, env) in [
        (vec!["--token", &token], vec![]),
        (vec!["--token", "\u{1}cAnArY"], vec![]),
        (vec![], vec![("HTTP_PROXY", format!("http://me:{password}@127.0.0.1:1"))]),
        (vec![], vec![("HTTP_PROXY", format!("me:{password}@@@"))]),
        (vec![], vec![("HTTPS_PROXY", format!("ftp://me:{password}@127.0.0.1:1"))]),
    ] {
        for server in ["http://198.51.100.1.invalid:80".to_string(), "https://api.invalid".into(), format!("http://{refuses}")] {
            let output =
                plugin(&[&["a", "--server", &server, "--request-timeout", "5s"][..], &flags].concat()).envs(env.clone()).output().unwrap();
            assert_eq!(told(&format!("{server} {flags:?} {env:?}"), &output), 2);
        }
    }
    // Completion says nothing at all of what went wrong.
    kubeconfig(&file, &format!("http://me:{password}@{refuses}"), "", &format!("{{token: {token}}}"));
    told("completion", &plugin(&["__complete", ""]).env("KUBECONFIG", &file).output().unwrap());
    // A token among the words of a command line that is wrong.
    told("usage", &plugin(&["a", "--token", &token, "--bogus"]).output().unwrap());
    told("usage", &plugin(&["a", "--request-timeout", "x", "--token", &token]).output().unwrap());
}
