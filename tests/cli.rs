//! The binary as people use it.

use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_empty};

fn plugin() -> Command {
    let mut command = Command::cargo_bin("kubectl-ds_doctor").unwrap();
    // Nothing of the machine's own kubeconfig, locale or colours.
    command.env_clear().env("HOME", "/nonexistent").env("KUBECONFIG", "/nonexistent");
    command
}

fn case(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name).join("cluster.yaml");
    path.display().to_string()
}

#[test]
fn help() {
    let output = plugin().arg("--help").env("COLUMNS", "100").assert().success().get_output().stdout.clone();
    insta::assert_snapshot!("help", String::from_utf8(output).unwrap());
}

#[test]
fn what_cannot_be_done_is_one_line_and_exit_code_2() {
    let dump = case("01-control-plane-taint");
    let table: [(&[&str], &str); 11] = [
        (&["--bogus"], "--bogus"),
        (&["a", "--snapshot", "/nonexistent"], "error: /nonexistent: no such file or directory\n"),
        (&["pod/a"], "\"pod/a\" is no DaemonSet"),
        (&["nope", "--snapshot", &dump], "error: DaemonSet \"nope\" not found\n"),
        (&["-n", "nope", "--snapshot", &dump], "error: no DaemonSet in namespace \"nope\"; -A looks in all of them\n"),
        (&["-A", "--node", "nope", "--snapshot", &dump], "error: there is no node \"nope\"\n"),
        (&["--explain", "Nope"], "error: no cause has the code \"Nope\"; --explain without a code lists them\n"),
        (&["a"], "error: no cluster to ask: /nonexistent has no context, and this is no pod in a cluster; set KUBECONFIG"),
        (&["a", "--kubeconfig", "/nope"], "error: kubeconfig /nope: No such file or directory"),
        (&["a", "--server", "http://127.0.0.1:1"], "127.0.0.1:1"),
        (&["a", "--server", "http://127.0.0.1:1", "--token", "hunter2"], "connection refused"),
    ];
    for (args, line) in table {
        let outcome = plugin().args(args).assert().code(2).stdout(is_empty()).stderr(contains(line));
        let stderr = String::from_utf8_lossy(&outcome.get_output().stderr).into_owned();
        assert!(args == ["--bogus"] || args == ["pod/a"] || stderr.lines().count() == 1, "{args:?}: {stderr}");
        assert!(!stderr.contains("hunter2"), "{stderr}");
    }
}

#[test]
fn exit_codes_follow_the_verdict_and_fail_on() {
    let dump = case("01-control-plane-taint");
    for (args, code) in [(&["-A"][..], 0), (&["-A", "--fail-on", "warning"], 1), (&["-A", "--fail-on", "never"], 0)] {
        plugin().args(args).args(["--snapshot", &dump]).assert().code(code).stderr(is_empty());
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("kubectl-ds_doctor"))
        .args(["-A", "-o", "json", "--snapshot", &case("01-control-plane-taint")])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[test]
fn explains() {
    plugin().arg("--explain").assert().success().stdout(contains("NodePorts").and(contains("TaintToleration")));
    plugin().args(["--explain", "nodeports"]).assert().success().stdout(contains("How to fix it").and(contains("KubePodNotReady")));
    let alert = plugin().args(["--explain", "KubeDaemonSetNotScheduled"]).assert().success();
    alert.stdout(contains("runbooks.prometheus-operator.dev").and(contains("CreateQuota")).and(contains("NodePorts").not()));
}

#[test]
fn several_daemon_sets_are_a_list_and_one_is_not() {
    let dump = case("01-control-plane-taint");
    plugin().args(["-A", "-o", "json", "--snapshot", &dump]).assert().stdout(contains("\"DaemonSetReportList\""));
    plugin().args(["-A", "-o", "json", "-l", "no=such", "--snapshot", &dump]).assert().code(2);
}

#[test]
fn lint_is_advice_alone() {
    let dump = case("02-legacy-master-toleration");
    let lint = |more: &[&str]| plugin().args(["-A", "--lint", "--snapshot", &dump]).args(more).assert();
    lint(&[]).success().stdout(contains("! legacy-master-toleration").and(contains("DESIRED").not()));
    // It bears on what keeps pods away, so it is a warning; the rest is info.
    for (fail_on, code) in [("error", 0), ("warning", 1), ("info", 1), ("never", 0)] {
        lint(&["--fail-on", fail_on]).code(code);
    }
    let output = lint(&["-o", "json"]).success().get_output().stdout.clone();
    let list: serde_json::Value = serde_json::from_slice(&output).unwrap();
    assert_eq!((&list["apiVersion"], &list["kind"]), (&"ds-doctor/v1".into(), &"DaemonSetAdviceList".into()));
    let codes = list["items"][0]["advice"].as_array().unwrap().iter().map(|a| a["code"].as_str().unwrap()).collect::<Vec<_>>();
    assert!(codes.contains(&"legacy-master-toleration") && codes.contains(&"no-requests"), "{codes:?}");
    lint(&["-o", "yaml"]).success().stdout(contains("kind: DaemonSetAdviceList"));
    lint(&["-o", "wide"]).code(2).stderr(contains("--lint is written with -o text, json or yaml"));
    plugin().args(["-A", "--lint", "--watch"]).assert().code(2);
}
