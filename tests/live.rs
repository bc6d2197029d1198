//! Reading a live cluster: the same answers as from a dump of all of it, in either encoding, with
//! fewer requests; and what happens when the API fails.

#[allow(dead_code)] // each test binary uses its own part
#[path = "support/api_server.rs"]
mod api_server;
mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use api_server::{Act, Rule, Server};
use assert_cmd::Command;
use ds_doctor::diagnose::{Options, diagnose};
use ds_doctor::model::snapshot::Snapshot;
use ds_doctor::report::Report;
use ds_doctor::source::access::Access;
use ds_doctor::source::cluster::{Request, Session};
use ds_doctor::source::progress::Progress;
use serde_json::Value;

fn cases() -> Vec<PathBuf> {
    let mut cases: Vec<PathBuf> = std::fs::read_dir("tests/cases").unwrap().map(|d| d.unwrap().path()).collect();
    cases.sort();
    cases
}

/// A case's whole cluster, its version, and the DaemonSet in question.
fn case(path: &Path) -> (Snapshot, String, (String, String)) {
    let text = std::fs::read_to_string(path.join("cluster.yaml")).unwrap();
    let dump: Value = yaml_serde::from_str(&text).unwrap();
    let expect: Value = serde_json::from_str(&std::fs::read_to_string(path.join("expect.json")).unwrap()).unwrap();
    let (namespace, name) = expect["daemonset"].as_str().unwrap().split_once('/').unwrap();
    let version = expect["observed"]["server"].as_str().unwrap_or("v1.34.3").to_string();
    let mut snapshot = support::snapshot(dump["items"].as_array().unwrap(), &version);
    snapshot.now = expect["observed"]["taken_at"].as_str().and_then(|t| t.parse::<jiff::Timestamp>().ok()).unwrap().into();
    (snapshot, version, (namespace.to_string(), name.to_string()))
}

fn live(server: &Server, kubeconfig: &Path, of: &(String, String), now: &Snapshot) -> Snapshot {
    let access = Access {
        kubeconfig: Some(kubeconfig.into()),
        server: Some(server.url.clone()),
        deadline: Duration::from_secs(60),
        ..Access::default()
    };
    let request = Request { names: vec![of.1.clone()], namespace: Some(of.0.clone()), now: Some(now.now), ..Request::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let read = async { Session::open(&access).await?.read(&request, Progress::new(false)).await };
    runtime.block_on(read).unwrap_or_else(|e| panic!("{of:?}: {e}")).snapshot
}

fn report(snapshot: &Snapshot, of: &(String, String)) -> Report {
    diagnose(snapshot, snapshot.daemon_set(&of.0, &of.1).unwrap(), &Options::default())
}

/// What must not depend on how much was read.
fn answer(report: &Report) -> String {
    let causes =
        |causes: &[ds_doctor::cause::Cause]| causes.iter().map(|c| format!("{} {}", c.code, c.detail)).collect::<Vec<_>>().join("; ");
    let mut lines = vec![format!("{:?} {}", report.summary.verdict, causes(&report.causes))];
    for n in &report.nodes {
        lines.push(format!("{} {:?} {:?} {} pods: {}", n.name, n.state, n.should_run, n.pods.len(), causes(&n.causes)));
    }
    lines.join("\n")
}

#[test]
fn live_reading_answers_as_a_dump_of_everything() {
    let kubeconfig = tempfile::NamedTempFile::new().unwrap();
    for path in cases() {
        let (whole, version, of) = case(&path);
        let want = answer(&report(&whole, &of));
        let protobuf = Server::start(whole.clone(), &version, true, &[]);
        let json = Server::start(whole.clone(), &version, false, &[]);
        let (by_protobuf, by_json) = (live(&protobuf, kubeconfig.path(), &of, &whole), live(&json, kubeconfig.path(), &of, &whole));
        let (first, second) = (report(&by_protobuf, &of), report(&by_json, &of));
        assert_eq!(answer(&first), want, "{}", path.display());
        assert_eq!(serde_json::to_string(&first).unwrap(), serde_json::to_string(&second).unwrap(), "{}", path.display());
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("saved.json");
        ds_doctor::source::capture::save(&by_protobuf, &file).unwrap();
        let replayed = ds_doctor::source::files::read(&[file], &Default::default()).unwrap();
        let replayed = serde_json::to_string(&report(&replayed, &of)).unwrap();
        assert_eq!(replayed, serde_json::to_string(&first).unwrap(), "{}: what was saved of a live read", path.display());
        for request in protobuf.requests().iter().chain(&json.requests()) {
            assert!(request.starts_with("GET "), "{request}");
        }
    }
}

fn plugin(server: &Server) -> Command {
    let mut command = Command::cargo_bin("kubectl-ds_doctor").unwrap();
    command.env_clear().env("HOME", "/nonexistent").args(["--server", &server.url, "--token", "hunter2", "-o", "json"]);
    command.args(["--now", "2026-11-30T12:00:00Z"]);
    command
}

/// A case in which a pod is Pending for want of room.
const FULL: &str = "tests/cases/18-insufficient-cpu";

#[test]
fn a_failing_api_never_makes_a_wrong_verdict() {
    use Act::*;
    let (whole, version, of) = case(Path::new(FULL));
    let node_pods = "fieldSelector=spec.nodeName";
    let the_ds = "/daemonsets/";
    // What fails, how, the exit code, and what standard error or the report says.
    let table: Vec<(&str, Vec<Rule>, i32, &str)> = vec![
        ("nothing", vec![], 1, ""),
        ("401", vec![("/api", Refuse(401))], 2, "does not accept the credentials (401 Unauthorized)"),
        ("403 on the DaemonSet", vec![(the_ds, Refuse(403))], 2, "does not let you get DaemonSets"),
        ("500 on the DaemonSet", vec![(the_ds, Refuse(500))], 2, "an error on the server (500"),
        ("busy, then well", vec![("/nodes", Busy(429, 2)), (the_ds, Busy(503, 1))], 1, ""),
        ("busy for good", vec![("/nodes", Busy(429, 99))], 1, "\"resource\": \"nodes\""),
        ("403 on the nodes", vec![("/nodes", Refuse(403))], 3, "\"resource\": \"nodes\""),
        ("403 on own pods", vec![("/pods?label", Refuse(403))], 3, "\"resource\": \"pods\""),
        ("403 on other pods", vec![(node_pods, Refuse(403)), ("/v1/pods", Refuse(403))], 1, "\"resource\": \"pods\""),
        ("500 on revisions", vec![("controllerrevisions", Refuse(500))], 1, "\"resource\": \"controllerrevisions.apps\""),
        ("403 on events", vec![("events", Refuse(403))], 1, "\"resource\": \"events\""),
        ("403 on limits", vec![("limitranges", Refuse(403))], 1, "\"resource\": \"limitranges\""),
        ("404 on classes", vec![("runtimeclasses", Refuse(404))], 1, "\"resource\": \"runtimeclasses.node.k8s.io\""),
        ("half a list, then all", vec![("/nodes", Half(1)), ("/pods", Half(2))], 1, ""),
        ("half a list for good", vec![("/nodes", Half(99))], 1, "\"resource\": \"nodes\""),
        ("pages", vec![("/nodes", Pages(1)), ("/pods", Pages(2))], 1, ""),
        ("a login page", vec![("/", Raw("text/html", "<html>log in</html>"))], 2, "not the Kubernetes API's but text/html"),
        ("a login page for nodes", vec![("/nodes", Raw("text/html", "<html>"))], 1, "not the Kubernetes API"),
        ("bad JSON", vec![(the_ds, Raw("application/json", "{\"metadata\": nonsense"))], 2, "bad JSON at line 1"),
        ("bad protobuf", vec![("/nodes", Raw("application/vnd.kubernetes.protobuf", "k8s\0\u{12}\u{7f}"))], 1, "\"resource\": \"nodes\""),
        ("an object for a list", vec![("/nodes", Raw("application/json", "{\"kind\": \"Node\"}"))], 1, "is no list"),
        ("no version", vec![("/version", Refuse(403))], 1, ""),
    ];
    let healthy = {
        let server = Server::start(whole.clone(), &version, true, &[]);
        plugin(&server).args(["-n", &of.0, &of.1]).output().unwrap().stdout
    };
    for (what, rules, code, says) in table {
        let server = Server::start(whole.clone(), &version, true, &rules);
        let output = plugin(&server).args(["-n", &of.0, &of.1]).output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        // Nodes that could not be read leave the pods' own problems, if those can be told without.
        let codes = if code == 1 && says.contains("nodes") || says.contains("not the Kube") || says.contains("is no list") {
            vec![1, 3, code]
        } else {
            vec![code]
        };
        assert!(codes.contains(&output.status.code().unwrap()), "{what}: {:?} {err}{out}", output.status);
        assert!(format!("{out}{err}").contains(says), "{what}: {err}{out}");
        assert!(!format!("{out}{err}").contains("hunter2"), "{what}");
        assert_eq!(err.lines().count(), usize::from(output.status.code() == Some(2)), "{what}: {err}");
        if says.is_empty() && !what.contains("version") {
            let strip =
                |text: &[u8]| String::from_utf8_lossy(text).lines().filter(|l| !l.contains("\"now\"")).collect::<Vec<_>>().join("\n");
            assert_eq!(strip(&output.stdout), strip(&healthy), "{what}");
        }
    }
}

#[test]
fn a_node_in_no_list_is_gone_only_if_the_server_says_so() {
    let kubeconfig = tempfile::NamedTempFile::new().unwrap();
    let (mut whole, version, of) = case(Path::new("tests/cases/16-label-removed-pod-gone"));
    let bound = |s: &Snapshot| report(s, &of).nodes.into_iter().find(|n| n.pods.iter().any(|p| p.bound)).unwrap().name;
    let name = bound(&whole);
    whole.objects.nodes.items.retain(|n| n.name() != name);
    for (act, want, verbs) in [(Act::Serve, "Misscheduled", ""), (Act::Refuse(403), "Unknown", "get nodes")] {
        let server = Server::start(whole.clone(), &version, true, &[("/api/v1/nodes/", act)]);
        let report = report(&live(&server, kubeconfig.path(), &of, &whole), &of);
        let node = report.nodes.iter().find(|n| n.name == name).unwrap();
        let gone = report.causes.iter().any(|c| c.code == "NodeGone");
        let missing: Vec<String> = report.missing.iter().map(|m| format!("{} {}", m.verb, m.resource)).collect();
        assert_eq!((format!("{:?}", node.state).as_str(), gone, missing.join(",").as_str()), (want, verbs.is_empty(), verbs));
    }
}

#[test]
fn servers_that_say_nothing_are_not_waited_for() {
    let (whole, version, of) = case(&cases()[0]);
    for (rules, code) in [(vec![("/", Act::Silent)], 2), (vec![("/nodes", Act::Silent)], 3)] {
        let server = Server::start(whole.clone(), &version, true, &rules);
        let started = std::time::Instant::now();
        let output = plugin(&server).args(["-n", &of.0, &of.1, "--request-timeout", "1s"]).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).contains("no answer within 1s"));
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn a_daemon_set_that_is_not_there_and_its_neighbours() {
    let (whole, version, of) = case(&cases()[0]);
    let server = Server::start(whole, &version, true, &[]);
    let typo = format!("{}x", of.1);
    let output = plugin(&server).args(["-n", &of.0, &typo]).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(err.contains(&format!("did you mean {}?", of.1)) && err.lines().count() == 1, "{err}");
    let output = plugin(&server).args(["-n", "nowhere", &of.1]).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(err.contains("there is no namespace \"nowhere\"") && err.contains(&format!("{} -n {}", of.1, of.0)), "{err}");
}

#[test]
fn old_servers_are_read_page_by_page_and_pages_survive_their_end() {
    let (whole, _, of) = case(&cases()[0]);
    let kubeconfig = tempfile::NamedTempFile::new().unwrap();
    let fresh = Server::start(whole.clone(), "v1.30.0", true, &[]);
    let want = answer(&report(&live(&fresh, kubeconfig.path(), &of, &whole), &of));
    assert!(fresh.requests().iter().any(|r| r.contains("/nodes?limit=500")));
    let gone = Server::start(whole.clone(), "v1.30.0", true, &[("/nodes", Act::Gone)]);
    assert_eq!(answer(&report(&live(&gone, kubeconfig.path(), &of, &whole), &of)), want);
    assert!(gone.requests().iter().any(|r| r.ends_with("/nodes")), "{:?}", gone.requests());
}

#[test]
fn waits_until_all_is_well_or_the_time_is_up() {
    // Nothing is wrong: at once. One pod is pending: when the time is up, with the diagnosis.
    for (name, code, says) in [("tests/cases/01-control-plane-taint", 0, "healthy"), (FULL, 1, "not healthy after 3s")] {
        let (whole, version, of) = case(Path::new(name));
        let server = Server::start(whole, &version, true, &[]);
        let output = plugin(&server).args(["-n", &of.0, &of.1, "--wait", "--timeout", "3s"]).output().unwrap();
        let all = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(code), "{name}");
        assert!(all.contains(says) && all.contains("DaemonSetReport"), "{name}");
        assert!(code == 0 || server.requests().iter().filter(|r| r.contains("/nodes")).count() >= 2);
    }
}
