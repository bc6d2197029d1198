//! `-f` and `--what-if` on a saved cluster, and `--dry-run=server` against a stand-in of an API
//! server: what would be, in words, in JSON and as an exit code.

#[allow(dead_code)] // each test binary uses its own part
#[path = "support/api_server.rs"]
mod api_server;
mod support;

use api_server::{Act, Server};
use assert_cmd::Command;
use serde_json::{Value, json};

const CLUSTER: &str = "examples/monitoring.yaml";

fn plugin(arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut command = Command::cargo_bin("kubectl-ds_doctor").unwrap();
    let output = command.env_clear().env("LANG", "C.UTF-8").args(arguments).write_stdin(input).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// A DaemonSet as people write it, without what the API server fills in.
fn manifest(change: impl Fn(&mut Value)) -> Value {
    let mut value = json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent", "namespace": "monitoring"}, "spec": {
        "selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {
        "nodeSelector": {"kubernetes.io/os": "linux"}, "containers": [{"name": "agent", "image": "agent:1", "env": [{"name": "TOKEN", "value": "hunter2"}],
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}}}]}}}});
    change(&mut value);
    value
}

fn judged(objects: &[Value], more: &[&str]) -> (i32, Value) {
    let text = objects.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let arguments = [&["-f", "-", "--snapshot", CLUSTER, "-o", "json"][..], more].concat();
    let (code, out, err) = plugin(&arguments, &text);
    assert!(!out.contains("hunter2") && !err.contains("hunter2"));
    (code, serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}")))
}

/// `node state codes` of each node that would not run the pod.
fn lacking(report: &Value) -> Vec<String> {
    let nodes = report["nodes"].as_array().unwrap().iter().filter(|n| n["state"] != "Healthy");
    let codes = |n: &Value| n["causes"].as_array().unwrap().iter().map(|c| c["code"].as_str().unwrap().to_string()).collect::<Vec<_>>();
    nodes.map(|n| format!("{} {} {}", n["name"].as_str().unwrap(), n["state"].as_str().unwrap(), codes(n).join("+"))).collect()
}

const LEFT_OUT: [&str; 4] =
    ["cp-1 Excluded TaintToleration", "gpu-1 Excluded TaintToleration", "gpu-2 Excluded TaintToleration", "win-1 Excluded NodeAffinity"];

#[test]
fn a_new_daemon_set() {
    let (code, report) = judged(&[manifest(|_| ())], &[]);
    assert_eq!(lacking(&report), LEFT_OUT, "{report}");
    assert_eq!(report["preflight"]["action"], "create");
    assert_eq!(report["rollout"]["phase"], "not-applied");
    assert_eq!(report["summary"]["verdict"], if code == 0 { "healthy" } else { "inconclusive" });

    let port = |v: &mut Value| v["spec"]["template"]["spec"]["containers"][0]["ports"] = json!([{"containerPort": 9100, "hostPort": 9100}]);
    let (code, report) = judged(&[manifest(port)], &[]);
    assert_eq!(code, 1);
    let held: Vec<String> = lacking(&report).into_iter().filter(|l| l.contains("NodePorts")).collect();
    assert!(held.len() >= 6, "{held:?}");

    // Without hostPort the API server sets it, on the host's network.
    let host = |v: &mut Value| {
        v["spec"]["template"]["spec"]["hostNetwork"] = json!(true);
        v["spec"]["template"]["spec"]["containers"][0]["ports"] = json!([{"containerPort": 9100}]);
    };
    assert_eq!(lacking(&judged(&[manifest(host)], &[]).1), lacking(&report));

    let huge = |v: &mut Value| v["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("100");
    let (code, report) = judged(&[manifest(huge)], &[]);
    assert_eq!((code, lacking(&report).iter().filter(|l| l.contains("Pending NodeResourcesFit")).count()), (1, 8));
}

#[test]
fn what_the_api_server_would_refuse() {
    let namespace = |labels: Value| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "monitoring", "labels": labels}});
    let baseline = namespace(json!({"pod-security.kubernetes.io/enforce": "baseline"}));
    let host = manifest(|v| v["spec"]["template"]["spec"]["hostNetwork"] = json!(true));
    let quota = |pods: &str| json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "monitoring"}, "spec": {"hard": {"pods": pods}}});
    let range = json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "r", "namespace": "monitoring"},
        "spec": {"limits": [{"type": "Container", "min": {"cpu": "50m"}}]}});
    let class = manifest(|v| v["spec"]["template"]["spec"]["priorityClassName"] = json!("no-such-class"));
    let classes = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "other"}, "value": 5});
    let surge = manifest(|v| v["spec"]["updateStrategy"] = json!({"rollingUpdate": {"maxSurge": 1}}));
    let typo = manifest(|v| v["spec"]["template"]["spec"]["tolerationz"] = json!([]));
    for (objects, want) in [
        (vec![baseline, host], "CreatePodSecurity"),
        (vec![quota("0"), manifest(|_| ())], "CreateQuota"),
        (vec![range, manifest(|_| ())], "CreateLimitRange"),
        (vec![classes, class], "CreatePriorityClassMissing"),
        (vec![surge], "InvalidDaemonSet"),
        (vec![typo], "InvalidDaemonSet"),
    ] {
        let (code, report) = judged(&objects, &[]);
        let refused: Vec<String> = lacking(&report).into_iter().filter(|l| l.contains(" Missing ")).collect();
        assert_eq!((code, refused.len()), (1, 8), "{want}: {refused:?}");
        assert!(refused.iter().all(|l| l.contains(want)), "{want}: {refused:?}");
    }
    // Room for some: no node in particular is without, the whole is.
    let (code, report) = judged(&[quota("4"), manifest(|_| ())], &[]);
    assert_eq!((code, lacking(&report).len(), &report["causes"][0]["code"]), (1, 4, &json!("CreateQuota")));
    assert!(report["causes"][0]["message"].as_str().unwrap().contains("room for 4 of 8 pods"), "{report}");
}

#[test]
fn an_update_is_held_against_what_is_there() {
    let update = |change: fn(&mut Value)| {
        manifest(|v| {
            v["metadata"]["name"] = json!("node-exporter");
            let labels = json!({"app.kubernetes.io/name": "node-exporter"});
            v["spec"]["selector"]["matchLabels"] = labels.clone();
            v["spec"]["template"]["metadata"]["labels"] = labels;
            change(v);
        })
    };
    let cluster: Value = yaml_serde::from_str(&std::fs::read_to_string(CLUSTER).unwrap()).unwrap();
    let there = cluster["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|o| o["kind"] == "DaemonSet" && o["metadata"]["name"] == "node-exporter" && o["metadata"]["namespace"] == "monitoring");
    let labels = there.unwrap()["spec"]["selector"]["matchLabels"].clone();
    let mut same = update(|_| ());
    same["spec"]["selector"]["matchLabels"] = labels.clone();
    same["spec"]["template"]["metadata"]["labels"] = labels;
    same["spec"]["template"]["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
    let (_, report) = judged(&[same], &[]);
    assert_eq!(lacking(&report), ["win-1 Excluded NodeAffinity"]);
    assert_eq!((&report["preflight"]["action"], &report["preflight"]["replacesPods"]), (&json!("update"), &json!(true)));
    let changes = report["preflight"]["changes"].as_array().unwrap();
    let change = |node: &str| changes.iter().find(|c| c["node"] == node).map(|c| format!("{} {}", c["before"], c["after"]));
    assert_eq!(change("gpu-1").as_deref(), Some("\"Excluded\" \"Healthy\""));
    assert_eq!(change("win-1"), None);
    let mut other = update(|_| ());
    other["spec"]["selector"]["matchLabels"]["x"] = json!("y");
    other["spec"]["template"]["metadata"]["labels"]["x"] = json!("y");
    let (code, report) = judged(&[other], &[]);
    assert_eq!(
        (code, &report["causes"][0]["code"], &report["causes"][0]["detail"]),
        (1, &json!("InvalidDaemonSet"), &json!("spec.selector"))
    );
}

#[test]
fn several_documents_in_turn() {
    let named = |name: &'static str| {
        manifest(move |v| {
            v["metadata"]["name"] = json!(name);
            v["spec"]["template"]["spec"]["containers"][0]["ports"] = json!([{"containerPort": 7000, "hostPort": 7000}]);
        })
    };
    let (code, list) = judged(&[named("first"), named("second")], &[]);
    assert_eq!((code, &list["kind"]), (1, &json!("DaemonSetReportList")));
    assert_eq!(lacking(&list["items"][0]), LEFT_OUT);
    let second = lacking(&list["items"][1]);
    assert_eq!(
        second.iter().filter(|l| l.ends_with("Pending NodePorts")).count(),
        8,
        "what the first takes the second cannot have: {second:?}"
    );
    let (_, one) = judged(&[named("first"), named("second")], &["second"]);
    assert_eq!(lacking(&one), LEFT_OUT, "only the named one is judged");
}

#[test]
fn every_output_says_would() {
    let text = manifest(|v| v["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("100")).to_string();
    for (format, want) in [
        ("text", "would lack a pod on 8 of 8 nodes"),
        ("wide", "would lack a pod on 8 of 8 nodes"),
        ("markdown", "would lack a pod on 8 of 8 nodes"),
        ("name", "node/worker-1"),
        ("yaml", "action: create"),
    ] {
        let (code, out, err) = plugin(&["-f", "-", "--snapshot", CLUSTER, "-o", format], &text);
        assert!(code == 1 && out.contains(want), "{format}: {code} {out}{err}");
    }
    let (_, out, _) = plugin(&["-f", "-", "--snapshot", CLUSTER, "--node", "worker-1"], &text);
    assert!(out.contains("its pod would stay pending"), "{out}");
}

#[test]
fn what_if() {
    let run = |patch: &str, more: &[&str]| {
        let arguments = [&["node-exporter", "-n", "monitoring", "--snapshot", CLUSTER, "--what-if", patch][..], more].concat();
        plugin(&arguments, patch)
    };
    let tolerate = r#"{"spec":{"template":{"spec":{"tolerations":[{"operator":"Exists"}]}}}}"#;
    let (_, out, err) = run(tolerate, &[]);
    assert!(out.contains("gains   2 nodes: gpu-1, gpu-2 "), "{out}{err}");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), tolerate).unwrap();
    let (_, from_file, _) = run(file.path().to_str().unwrap(), &[]);
    assert!(from_file.contains("gains   2 nodes: gpu-1, gpu-2 "), "{from_file}");
    let nowhere = r#"[{"op":"add","path":"/spec/template/spec/nodeSelector/disk","value":"none"}]"#;
    let (code, out, _) = run(nowhere, &[]);
    assert!(code == 0 || code == 1 || code == 3, "{code}");
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("would run on none of 12 nodes") && words.contains("loses 7 nodes"), "{out}");
    for text in ["spec: {minReadySeconds: 30}\n", "spec: {minReadySeconds: 30}"] {
        let (_, out, err) = run(text, &[]);
        assert!(out.contains("its pods stay"), "{out}{err}");
    }
    // What is never read cannot be tested: that is said, and is no pass.
    let image = "/spec/template/spec/containers/0/image";
    for (path, value, code) in
        [(image, "e:1", 2), ("/spec/template/spec/containers/0/args/0", "--x", 3), ("/metadata/annotations/a", "b", 3)]
    {
        let patch = json!([{"op": "test", "path": path, "value": value}, {"op": "add", "path": "/spec/minReadySeconds", "value": 0}]);
        let (got, out, err) = run(&patch.to_string(), &["--node", "worker-2", "-o", "wide"]);
        let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!((got == 2) == (code == 2), "{path}: {got} {out}{err}");
        assert!(
            got == 2 || (got != 0 && words.contains("would take the patch cannot be known") && words.contains(path)),
            "{path}: {got} {out}{err}"
        );
    }
    for (patch, want) in [
        ("{\"spec\": ", "the patch: "),
        ("/no/such/file", "/no/such/file: no such file or directory"),
        (r#"[{"op":"remove","path":"/spec/nothing"}]"#, "the patch: /spec/nothing is not there"),
        (r#"{"spec":{"templat":{}}}"#, "the patch: the result is no DaemonSet: unknown field spec.templat"),
    ] {
        let (code, out, err) = run(patch, &[]);
        assert!(code == 2 && out.is_empty() && err.contains(want) && err.trim_end().lines().count() == 1, "{patch}: {code} {out}{err}");
    }
}

#[test]
fn wrong_manifests_are_one_line_and_2() {
    for (text, want) in [
        ("kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n", "holds no DaemonSet"),
        ("a: [", "standard input:"),
        (
            "{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\",\"metadata\":{\"name\":\"a\"},\"spec\":{\"template\":{\"spec\":{\"hostNetwork\":\"x\"}}}}",
            "spec.template.spec.hostNetwork",
        ),
    ] {
        let (code, out, err) = plugin(&["-f", "-", "--snapshot", CLUSTER], text);
        assert!(code == 2 && out.is_empty() && err.contains(want) && err.trim_end().lines().count() == 1, "{text}: {code} {out}{err}");
    }
    let (code, _, err) = plugin(&["-f", "-", "--snapshot", CLUSTER, "-n", "other"], &manifest(|_| ()).to_string());
    assert!(code == 2 && err.contains("is of namespace \"monitoring\", not of \"other\""), "{err}");
}

#[test]
fn the_api_server_is_asked_and_its_answer_counts() {
    let dump: Value = yaml_serde::from_str(&std::fs::read_to_string(CLUSTER).unwrap()).unwrap();
    let cluster = support::snapshot(dump["items"].as_array().unwrap(), "v1.34.3");
    let file = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
    std::fs::write(file.path(), manifest(|_| ()).to_string()).unwrap();
    let denied = r#"{"kind":"Status","reason":"Forbidden","code":403,"message":"pods \"agent-x\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3"}"#;
    let refused = r#"{"kind":"Status","reason":"Forbidden","code":403,"message":"pods is forbidden: User \"me\" cannot create resource \"pods\" in API group \"\" in the namespace \"monitoring\""}"#;
    let made = r#"{"kind":"DaemonSet","apiVersion":"apps/v1","metadata":{"name":"agent"}}"#;
    // What admission made of the pod counts: a webhook added a host port here.
    let pod = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"agent-x"},"spec":{"containers":[{"name":"agent","image":"agent:1","ports":[{"containerPort":9100,"hostPort":9100}]}]}}"#;
    let plain =
        r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"agent-x"},"spec":{"containers":[{"name":"agent","image":"agent:1"}]}}"#;
    for (pod_answer, code, want) in [
        (Act::Dry(201, plain), 0, "API server, dry run of a pod of it: accepted"),
        (Act::Dry(201, pod), 1, "NodePorts"),
        (Act::Dry(403, denied), 1, "CreateQuota"),
        (Act::Dry(403, refused), 3, "not told: pods is forbidden"),
    ] {
        let rules = [("/daemonsets?dryRun=All", Act::Dry(201, made)), ("/pods?dryRun=All", pod_answer)];
        let server = Server::start(cluster.clone(), "v1.34.3", true, &rules);
        let arguments = ["--server", &server.url, "--token", "t", "-f", file.path().to_str().unwrap(), "--dry-run=server"];
        let (got, out, err) = plugin(&arguments, "");
        assert!(got == code && out.contains(want), "{want}: {got} {out}{err}");
        assert!(out.contains("dry run of the DaemonSet: accepted") && out.contains("! deprecated"), "{out}");
        let writes: Vec<String> = server.requests().into_iter().filter(|r| !r.starts_with("GET ")).collect();
        assert_eq!(writes.len(), 2, "{writes:?}");
        assert!(writes.iter().all(|w| w.starts_with("POST ") && w.contains("?dryRun=All&")), "{writes:?}");
    }
    // Without being asked to, it only reads.
    let server = Server::start(cluster, "v1.34.3", true, &[]);
    let (_, out, err) = plugin(&["--server", &server.url, "--token", "t", "-f", file.path().to_str().unwrap()], "");
    assert!(out.contains("would run on every node that should run it (8 of"), "{out}{err}");
    assert!(server.requests().iter().all(|r| r.starts_with("GET ")));
}
