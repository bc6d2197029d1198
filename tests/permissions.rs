//! The roles in `deploy/` allow what is asked of a cluster, and nothing else: every request of
//! every kind of answer is compared with them, in both directions.

#[path = "support/api_server.rs"]
#[allow(dead_code)] // each test binary uses its own part
mod api_server;
mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use api_server::{Act, Rule, Server};
use assert_cmd::Command;
use ds_doctor::model::snapshot::{Objects, Snapshot};
use ds_doctor::source::access::Access;
use ds_doctor::source::cluster::Session;
use ds_doctor::source::progress::Progress;
use ds_doctor::source::request::Request;
use serde_json::{Value, json};

/// A verb and a resource, as `list csinodes.storage.k8s.io`.
type Permissions = BTreeSet<String>;

/// What a role's file allows.
fn allowed(file: &str) -> Permissions {
    let role: Value = yaml_serde::from_str(&std::fs::read_to_string(Path::new("deploy").join(file)).unwrap()).unwrap();
    let words = |value: &Value| -> Vec<String> { value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_string()).collect() };
    let mut found = Permissions::new();
    for rule in role["rules"].as_array().unwrap() {
        for group in words(&rule["apiGroups"]) {
            for resource in words(&rule["resources"]) {
                for verb in words(&rule["verbs"]) {
                    let dot = if group.is_empty() { "" } else { "." };
                    let new = found.insert(format!("{verb} {resource}{dot}{group}"));
                    assert!(new, "{file} allows to {verb} {resource} twice");
                }
            }
        }
    }
    found
}

/// What a request needs, and the namespace in which: `GET /api/v1/namespaces/x/pods?...`.
fn needed(request: &str) -> Option<(String, Option<String>)> {
    let target = request.strip_prefix("GET ").unwrap_or_else(|| panic!("{request} is no GET"));
    let path = target.split('?').next().unwrap();
    let mut parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let group = match *parts.first()? {
        "api" => {
            parts.drain(..2);
            String::new()
        }
        "apis" => format!(".{}", parts.drain(..3).nth(1).unwrap()),
        _ => return None, // /version is everybody's
    };
    let namespace = (parts.len() > 2 && parts[0] == "namespaces").then(|| parts[1].to_string());
    if namespace.is_some() {
        parts.drain(..2);
    }
    let verb = if parts.len() > 1 { "get" } else { "list" };
    Some((format!("{verb} {}{group}", parts[0]), namespace))
}

/// The requests that answering on one DaemonSet makes.
fn requests(snapshot: &Snapshot, (namespace, name): (&str, &str), rules: &[Rule]) -> Vec<String> {
    let server = Server::start(snapshot.clone(), "v1.37.2", true, rules);
    let kubeconfig = tempfile::NamedTempFile::new().unwrap();
    let access = Access {
        kubeconfig: Some(kubeconfig.path().into()),
        server: Some(server.url.clone()),
        deadline: Duration::from_secs(60),
        ..Access::default()
    };
    let request = Request { names: vec![name.into()], namespace: Some(namespace.into()), advice: true, ..Request::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // A DaemonSet that is not there is an answer, too.
    let _ = runtime.block_on(async { Session::open(&access).await?.read(&request, Progress::new(false)).await });
    server.requests()
}

/// A cluster in which every kind of object matters: pods that wait for volumes, devices and other
/// pods, pods that cannot be made where a webhook has its say, and more dead nodes than are asked
/// for one by one.
fn everything() -> Snapshot {
    let daemon_set = |name: &str, spec: Value| {
        json!({"kind": "DaemonSet", "metadata": {"name": name, "namespace": "x", "uid": name, "generation": 1},
            "spec": {"selector": {"matchLabels": {"app": name}}, "template": {"metadata": {"labels": {"app": name}}, "spec": spec}},
            "status": {"observedGeneration": 1}})
    };
    let pod = |of: &str, node: &str, pinned: Option<&str>| {
        let pin = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [pinned.unwrap_or(node)]}]}]}}});
        json!({"kind": "Pod", "metadata": {"name": format!("{of}-{}", pinned.unwrap_or(node)), "namespace": "x", "labels": {"app": of},
            "ownerReferences": [{"kind": "DaemonSet", "name": of, "uid": of, "controller": true}]},
            "spec": {"nodeName": node, "affinity": pin}, "status": {"phase": if node.is_empty() { "Pending" } else { "Running" }}})
    };
    let mut objects = vec![
        json!({"kind": "Namespace", "metadata": {"name": "x"}}),
        daemon_set(
            "waits",
            json!({
            "containers": [{"name": "c"}],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "v"}}],
            "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "zone", "namespaceSelector": {"matchLabels": {"a": "b"}}}]}}}),
        ),
        daemon_set("refused", json!({"containers": [{"name": "c"}], "serviceAccountName": "nobody"})),
        daemon_set("dead", json!({"containers": [{"name": "c"}], "tolerations": [{"operator": "Exists"}]})),
        json!({"kind": "ValidatingWebhookConfiguration", "metadata": {"name": "w"},
            "webhooks": [{"name": "w", "clientConfig": {"service": {"namespace": "hooks", "name": "s"}}}]}),
    ];
    for i in 0..70 {
        let name = format!("n{i}");
        objects.push(json!({"kind": "Node", "metadata": {"name": name}, "spec": {},
            "status": {"allocatable": {"pods": "9"}, "conditions": [{"type": "Ready", "status": "Unknown"}]}}));
        objects.push(pod("dead", &name, None));
        objects.push(pod("waits", "", Some(&name)));
    }
    support::snapshot(&objects, "v1.37.2")
}

/// Every request of answers on all kinds of trouble.
fn asked() -> Vec<String> {
    let world = everything();
    let mut all = Vec::new();
    for name in ["waits", "refused", "dead", "not-there"] {
        all.extend(requests(&world, ("x", name), &[]));
    }
    for path in std::fs::read_dir("tests/cases").unwrap().map(|d| d.unwrap().path()) {
        let dump: Value = yaml_serde::from_str(&std::fs::read_to_string(path.join("cluster.yaml")).unwrap()).unwrap();
        let expect: Value = serde_json::from_str(&std::fs::read_to_string(path.join("expect.json")).unwrap()).unwrap();
        let of = expect["daemonset"].as_str().unwrap().split_once('/').unwrap();
        all.extend(requests(&support::snapshot(dump["items"].as_array().unwrap(), "v1.37.2"), of, &[]));
    }
    // The whole cluster, a selection, and what a shell completes.
    let server = Server::start(world, "v1.37.2", true, &[]);
    for args in [
        vec!["-A"],
        vec!["-n", "x", "-l", "app=waits"],
        vec!["-n", "x", "--lint"],
        vec!["__complete", "-n", "x", ""],
        vec!["__complete", "-n", ""],
        vec!["__complete", "--node", ""],
    ] {
        let before = server.requests().len();
        let mut words = args.clone();
        let flags = usize::from(words[0] == "__complete");
        words.splice(flags..flags, ["--server", &server.url]);
        Command::cargo_bin("kubectl-ds_doctor").unwrap().env_clear().env("HOME", "/nonexistent").args(words).output().unwrap();
        assert!(server.requests().len() > before, "{args:?} asks nothing");
    }
    all.extend(server.requests());
    all
}

#[test]
fn the_cluster_role_allows_what_is_asked_and_nothing_else() {
    let asked: Permissions = asked().iter().filter_map(|r| needed(r)).map(|(permission, _)| permission).collect();
    assert_eq!(asked, allowed("clusterrole.yaml"));
    // Every kind that a snapshot can hold is read somewhere.
    let listed: BTreeSet<&str> = asked.iter().filter_map(|p| p.strip_prefix("list ")).collect();
    let kinds: BTreeSet<&str> = Objects::KINDS.iter().map(|(_, resource)| *resource).collect();
    assert_eq!(listed, kinds);
}

#[test]
fn the_role_of_a_namespace_allows_what_is_asked_there() {
    // Whoever has this role, and may list nodes besides, is refused what is asked of the whole cluster.
    let refused: Vec<Rule> = ["/api/v1/pods", "/api/v1/persistentvolumeclaims", "/policy/v1/poddisruptionbudgets", "/v1/resourceclaims"]
        .map(|path| (path, Act::Refuse(403)))
        .into();
    let world = everything();
    let mut asked = Permissions::new();
    for name in ["waits", "refused", "dead"] {
        for (permission, namespace) in requests(&world, ("x", name), &refused).iter().filter_map(|r| needed(r)) {
            // The namespace itself is an object of the cluster.
            if namespace.as_deref() == Some("x") {
                asked.insert(permission);
            }
        }
    }
    assert_eq!(asked, allowed("role.yaml"));
}

#[test]
fn the_documentation_names_every_resource() {
    let page = std::fs::read_to_string("docs/rbac.md").unwrap();
    for permission in allowed("clusterrole.yaml") {
        let plural = permission.split([' ', '.']).nth(1).unwrap();
        let named = page.contains(plural)
            || plural
                .strip_suffix("webhookconfigurations")
                .is_some_and(|kind| page.contains(&format!("{kind}- ")) || page.contains(plural));
        assert!(named, "docs/rbac.md does not name {plural}");
    }
}
