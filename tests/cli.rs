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
    plugin().args(["--explain", "nodeports"]).assert().success().stdout(contains("How to fix it"));
}

#[test]
fn several_daemon_sets_are_a_list_and_one_is_not() {
    let dump = case("01-control-plane-taint");
    plugin().args(["-A", "-o", "json", "--snapshot", &dump]).assert().stdout(contains("\"DaemonSetReportList\""));
    plugin().args(["-A", "-o", "json", "-l", "no=such", "--snapshot", &dump]).assert().code(2);
}
