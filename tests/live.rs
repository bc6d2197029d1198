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
use ds_doctor::report::{Outcome, Report, State};
use ds_doctor::source::access::Access;
use ds_doctor::source::cluster::Session;
use ds_doctor::source::failure::Failure;
use ds_doctor::source::progress::Progress;
use ds_doctor::source::request::Request;
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
    try_live(server, kubeconfig, of, now).unwrap_or_else(|e| panic!("{of:?}: {e}"))
}

fn try_live(server: &Server, kubeconfig: &Path, of: &(String, String), now: &Snapshot) -> Result<Snapshot, Failure> {
    let access = Access {
        kubeconfig: Some(kubeconfig.into()),
        server: Some(server.url.clone()),
        deadline: Duration::from_secs(60),
        ..Access::default()
    };
    let request = Request { names: vec![of.1.clone()], namespace: Some(of.0.clone()), now: Some(now.now), ..Request::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let read = async { Session::open(&access).await?.read(&request, Progress::new(false)).await };
    runtime.block_on(read).map(|r| r.snapshot)
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

#[test]
fn all_pods_are_read_at_once_where_most_nodes_lack_one() {
    let nodes = 600;
    let mut whole = Snapshot::default();
    for n in 0..nodes {
        let node = serde_json::json!({"metadata": {"name": format!("n{n}")}, "status": {"allocatable": {"cpu": "1", "pods": "9"},
            "conditions": [{"type": "Ready", "status": "True"}]}});
        whole.objects.nodes.items.push(serde_json::from_value(node).unwrap());
        let pod = serde_json::json!({"metadata": {"name": format!("p{n}"), "namespace": "other"},
            "spec": {"nodeName": format!("n{n}"), "containers": [{"name": "c"}]}, "status": {"phase": "Running"}});
        whole.objects.pods.items.push(serde_json::from_value(pod).unwrap());
    }
    let ds = serde_json::json!({"metadata": {"name": "ds", "namespace": "ns", "uid": "u", "generation": 1},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c"}]}}},
        "status": {"observedGeneration": 1, "desiredNumberScheduled": nodes}});
    whole.objects.daemon_sets.items.push(serde_json::from_value(ds).unwrap());
    let of = ("ns".to_string(), "ds".to_string());
    let kubeconfig = tempfile::NamedTempFile::new().unwrap();
    let want = answer(&report(&whole, &of));
    // The number of objects is told in protobuf only; without it the plan finds out.
    for protobuf in [true, false] {
        let server = Server::start(whole.clone(), "v1.37.2", protobuf, &[]);
        let read = live(&server, kubeconfig.path(), &of, &whole);
        assert!(read.knows_all_pods());
        assert_eq!(answer(&report(&read, &of)), want, "protobuf: {protobuf}");
        let requests = server.requests();
        let of_pods = |part: &str| requests.iter().filter(|r| r.contains("/pods") && r.contains(part)).count();
        assert_eq!(of_pods("limit=1"), 1, "{requests:?}");
        assert_eq!((of_pods("labelSelector="), of_pods("spec.nodeName")), (usize::from(!protobuf), 0), "protobuf: {protobuf}");
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
    for ((what, rules, code, says), protobuf) in table.into_iter().flat_map(|row| [(row.clone(), true), (row, false)]) {
        let server = Server::start(whole.clone(), &version, protobuf, &rules);
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

/// Each fault on each call, one after the other: what is not known is named and judged by nobody, or the answer is whole.
#[test]
fn no_fault_of_any_call_makes_a_wrong_verdict() {
    let faults = || {
        let statuses = [400, 401, 403, 404, 409, 410, 422, 429, 500, 502, 503, 504].map(Act::Refuse);
        let others = [
            Act::Half(99),
            Act::Reset(99),
            Act::Raw("text/html", "<html>log in</html>"),
            Act::Raw("application/json", "{}"),
            Act::Raw("application/json", "{\"kind\": \"Status\", \"status\": \"Failure\"}"),
            Act::Raw("application/json", "nonsense"),
            Act::Raw("application/vnd.kubernetes.protobuf", "k8s\0nonsense"),
            Act::Raw("application/vnd.kubernetes.protobuf", ""),
        ];
        statuses.into_iter().chain(others)
    };
    let mut rows = Vec::new();
    let worlds = [FULL, "tests/cases/83-quota-for-some"].map(|name| (name, case(Path::new(name))));
    for world in &worlds {
        let (_, (whole, version, of)) = world;
        let kubeconfig = tempfile::NamedTempFile::new().unwrap();
        let server = Server::start(whole.clone(), version, true, &[]);
        live(&server, kubeconfig.path(), of, whole);
        let calls: std::collections::BTreeSet<String> =
            server.requests().iter().map(|r| r.trim_start_matches("GET ").split('&').next().unwrap().to_string()).collect();
        assert!(calls.len() > 8, "{calls:?}");
        for call in calls {
            rows.extend(faults().flat_map(|act| [(world, call.clone(), act.clone(), true), (world, call.clone(), act, false)]));
        }
    }
    let rows = std::sync::Mutex::new(rows.into_iter());
    let next = || rows.lock().unwrap().next();
    std::thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| {
                while let Some(((name, (whole, version, of)), call, act, protobuf)) = next() {
                    let what = format!("{name} {call} {act:?} protobuf {protobuf}");
                    let want = report(whole, of);
                    let server = Server::start(whole.clone(), version, protobuf, &[(call.clone().leak(), act)]);
                    let kubeconfig = tempfile::NamedTempFile::new().unwrap();
                    let Ok(snapshot) = try_live(&server, kubeconfig.path(), of, whole) else {
                        assert!(call.contains("/daemonsets"), "{what}: only without the DaemonSet there is no report");
                        continue;
                    };
                    let have = report(&snapshot, of);
                    assert!(!have.missing.is_empty() || answer(&have) == answer(&want), "{what}: {}\nnot {}", answer(&have), answer(&want));
                    assert_ne!(have.summary.verdict, Outcome::Healthy, "{what}");
                    for node in &have.nodes {
                        let of_it = want.nodes.iter().find(|n| n.name == node.name).unwrap();
                        assert!([of_it.state, State::Unknown].contains(&node.state), "{what}: {} {:?}", node.name, node.state);
                    }
                }
            });
        }
    });
}

#[test]
fn servers_that_say_nothing_are_not_waited_for() {
    let (whole, version, of) = case(&cases()[0]);
    let table = [(vec![("/", Act::Silent)], 2), (vec![("/nodes", Act::Silent)], 3)];
    for ((rules, code), protobuf) in table.into_iter().flat_map(|row| [(row.clone(), true), (row, false)]) {
        let server = Server::start(whole.clone(), &version, protobuf, &rules);
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
    for protobuf in [true, false] {
        let fresh = Server::start(whole.clone(), "v1.30.0", protobuf, &[]);
        let want = answer(&report(&live(&fresh, kubeconfig.path(), &of, &whole), &of));
        assert!(fresh.requests().iter().any(|r| r.contains("/nodes?limit=500")));
        let gone = Server::start(whole.clone(), "v1.30.0", protobuf, &[("/nodes", Act::Gone)]);
        assert_eq!(answer(&report(&live(&gone, kubeconfig.path(), &of, &whole), &of)), want);
        assert!(gone.requests().iter().any(|r| r.ends_with("/nodes")), "{:?}", gone.requests());
    }
}

/// The nodes list is older than the pods: it lacks a node that a pod is on. The node is asked for by name.
#[test]
fn a_node_that_came_after_the_nodes_were_listed() {
    let (whole, version, of) = case(Path::new("tests/cases/01-control-plane-taint"));
    let kubeconfig = tempfile::NamedTempFile::new().unwrap();
    let name: &'static str = whole.objects.pods.iter().find_map(|p| p.node_name()).unwrap().to_string().leak();
    let want = report(&whole, &of);
    // What the server says of the node itself, and what is made of it.
    for (act, state, gap) in [
        (Act::Before(name), State::Healthy, None),
        (Act::BeforeAnd(name, 404), State::Misscheduled, None),
        (Act::BeforeAnd(name, 403), State::Unknown, Some("forbidden")),
        (Act::BeforeAnd(name, 500), State::Unknown, Some("an error on the server (500 InternalError)")),
    ] {
        for protobuf in [true, false] {
            let server = Server::start(whole.clone(), &version, protobuf, &[("/v1/nodes", act.clone())]);
            let have = report(&live(&server, kubeconfig.path(), &of, &whole), &of);
            assert!(server.requests().iter().any(|r| r.ends_with(&format!("/nodes/{name}"))), "{act:?}");
            let node = have.nodes.iter().find(|n| n.name == name).unwrap();
            assert_eq!(node.state, state, "{act:?} {:?}", node.causes);
            let gone = have.causes.iter().chain(&node.causes).any(|c| c.code == "NodeGone");
            assert_eq!(gone, state == State::Misscheduled, "{act:?}");
            let told: Vec<String> = have.missing.iter().map(|m| format!("{} {}: {}", m.verb, m.resource, m.effect)).collect();
            match gap {
                None => assert_eq!(told, [""; 0], "{act:?}"),
                Some(why) => assert!(told.len() == 1 && told[0].starts_with("get nodes: ") && told[0].contains(why), "{act:?} {told:?}"),
            }
            if state == State::Healthy {
                assert_eq!(answer(&have), answer(&want));
            }
        }
    }
}

/// Two lists of one moment: a pod that is deleted or replaced between them is what the first says.
#[test]
fn a_pod_that_goes_between_two_lists() {
    let (whole, version, of) = case(Path::new(FULL));
    let kubeconfig = tempfile::NamedTempFile::new().unwrap();
    let ds = whole.daemon_set(&of.0, &of.1).unwrap();
    let own =
        whole.objects.pods.iter().find(|p| p.metadata.controller().is_some_and(|o| o.uid == ds.metadata.uid) && p.node_name().is_some());
    let name: &'static str = own.unwrap().metadata.name.clone().leak();
    let want = answer(&report(&whole, &of));
    for protobuf in [true, false] {
        // What is asked of other pods later does not have it any more.
        let later = [("fieldSelector=spec.nodeName", Act::Before(name)), ("/api/v1/pods", Act::Before(name))];
        let server = Server::start(whole.clone(), &version, protobuf, &later);
        assert_eq!(answer(&report(&live(&server, kubeconfig.path(), &of, &whole), &of)), want);
        let asked = server.requests();
        assert!(asked.iter().any(|r| r.contains("spec.nodeName") || r.ends_with("/api/v1/pods")), "{asked:?}");
    }
}

#[test]
fn ages_count_to_the_servers_time_where_this_machines_clock_is_wrong() {
    let (whole, version, of) = case(&cases()[0]);
    let server = Server::start(whole, &version, true, &[("/", Act::Dated("Wed, 01 Jan 2031 00:00:00 GMT"))]);
    let mut command = Command::cargo_bin("kubectl-ds_doctor").unwrap();
    command.env_clear().env("HOME", "/nonexistent").args(["--server", &server.url, "-o", "json", "-n", &of.0, &of.1]);
    let report: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    assert!(report["now"].as_str().unwrap().starts_with("2031-01-01T00:0"), "{}", report["now"]);
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
