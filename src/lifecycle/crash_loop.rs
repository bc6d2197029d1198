//! CrashLoop: a container ends again and again.
//!
//! Upstream: `doBackOff` of `pkg/kubelet/kuberuntime/kuberuntime_manager.go` (v1.37.2), reason
//! CrashLoopBackOff; `lastState.terminated` keeps how it ended last.

use super::{Part, Role, View, oom_killed, shortened};
use crate::cause::{Cause, Entry, Stage};
use crate::model::time::Age;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "CrashLoop",
    stage: Stage::Running,
    summary: "A container ends again and again",
    doc: "\
## What it means
The container starts and ends, and the kubelet starts it again with a back-off of up to five minutes. The exit code says how it ended:
- 0: it ended by itself with success, where it should run on (a wrong command, a daemon that puts itself in the background);
- 1, 2 and others: the program's own error, see its log;
- 126: the command cannot be executed; 127: it does not exist; 128 with StartError: the runtime could not start it;
- 255 or 1 with `exec format error`: the image is built for another processor;
- 134 (SIGABRT), 136 (SIGFPE), 139 (SIGSEGV): it crashed; 137 (SIGKILL): it was killed, by its liveness probe, by hand or for memory;
  143 (SIGTERM): it was asked to end, usually by its liveness probe.
Init containers and sidecars are held to the same.

## How it is recognised
A container waits with CrashLoopBackOff, or has just ended, or was started again within ten minutes, at least the second time, and is not
ready. The detail is the exit code of the last end. A container killed for memory is reported as OOMKilled.

## How to check by hand
    kubectl -n NAMESPACE logs POD -c CONTAINER --previous
    kubectl -n NAMESPACE get pod POD -o jsonpath='{.status.containerStatuses[*].lastState.terminated}'
    kubectl -n NAMESPACE describe pod POD

## How to fix it
Read the log of the last run first. If only new pods crash, the release is bad: `kubectl rollout undo`. If only some nodes' pods do, look at
what these nodes have in common. `address already in use` with hostNetwork: another process of the node has the port.
",
};

/// The causes, one for each exit code.
pub fn causes(view: &View) -> Vec<Cause> {
    let mut causes: Vec<Cause> = Vec::new();
    for part in view.parts().filter(|p| fails(view, p) && !oom_killed::is_killed(p)) {
        let cause = cause(view, &part);
        match causes.iter_mut().find(|c| c.detail == cause.detail) {
            Some(same) => {
                same.evidence.extend(cause.evidence);
                same.remedies.extend(cause.remedies);
            }
            None => causes.push(cause),
        }
    }
    causes
}

/// True if the container ends where it should run; an init container should end, but with success.
fn fails(view: &View, part: &Part) -> bool {
    let done = part.role == Role::Init && part.status.state.terminated.as_ref().is_some_and(|t| t.exit_code == 0);
    part.is_restarting(view.now()) && !done
}

fn cause(view: &View, part: &Part) -> Cause {
    let restarts = part.status.restart_count;
    let Some((end, state)) = part.last_end() else {
        let message = format!("{} ends again and again ({restarts} restarts); how it ended is not known", part.title());
        return Cause::new(&ENTRY, "", message)
            .evidence(view.object(), format!("{}.restartCount", part.path), restarts)
            .remedy(view.logs(part, true));
    };
    let code = end.exit_code;
    let why = meaning(view, part).map_or(String::new(), |m| format!(" ({m})"));
    let ago = end.finished_at.map_or(String::new(), |t| format!(", last {} ago", Age(view.since(t))));
    let message = format!("{} exited with {code}{why}; {restarts} restarts{ago}", part.title());
    let mut cause = Cause::new(&ENTRY, format!("exit {code}"), message)
        .evidence(view.object(), format!("{}.{state}.exitCode", part.path), code)
        .evidence(view.object(), format!("{}.restartCount", part.path), restarts);
    if !end.reason.is_empty() {
        cause = cause.evidence(view.object(), format!("{}.{state}.reason", part.path), end.reason.as_str());
    }
    if !end.message.is_empty() {
        cause = cause.evidence(view.object(), format!("{}.{state}.message", part.path), shortened(&end.message));
    }
    cause.remedy(view.logs(part, true)).remedy(view.describe())
}

/// What the exit says, as far as the code, the runtime's words and events tell.
fn meaning(view: &View, part: &Part) -> Option<String> {
    let (end, _) = part.last_end()?;
    let text = end.message.to_ascii_lowercase();
    if text.contains("exec format error") {
        let arch = view.info.map(|i| i.node.status.node_info.architecture.as_str()).filter(|a| !a.is_empty()).unwrap_or("this node");
        return Some(format!("exec format error: the image is not built for {arch}"));
    }
    if matches!(end.reason.as_str(), "StartError" | "ContainerCannotRun") {
        return Some(format!("the runtime could not start it: {}", shortened(&end.message)));
    }
    if end.reason == "ContainerStatusUnknown" {
        return Some("the kubelet lost sight of it, most likely in a restart of the node".into());
    }
    let probe = |words: &str| view.events.iter().any(|e| e.message.contains(words) && e.message.contains(&part.status.name));
    if matches!(end.exit_code, 137 | 143) {
        let by = ["liveness", "startup"].into_iter().find(|p| probe(&format!("failed {p} probe")));
        if let Some(by) = by {
            return Some(format!("{}: its {by} probe failed", signal(end.exit_code)?));
        }
    }
    let code = match end.exit_code {
        0 => "it ended by itself with success, where it should run on",
        126 => "the command cannot be executed",
        127 => "the command was not found",
        128 => "the runtime could not start it",
        255 => "the program's own error, or a failure before it began, as with an image for another processor",
        _ => return signal(end.exit_code).map(str::to_string),
    };
    Some(code.to_string())
}

/// The signal behind an exit code of 128 and more.
fn signal(code: i32) -> Option<&'static str> {
    Some(match code - 128 {
        1 => "SIGHUP",
        2 => "SIGINT",
        4 => "SIGILL: an instruction that this processor lacks",
        6 => "SIGABRT: it gave itself up",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL: it was killed",
        11 => "SIGSEGV: it crashed",
        15 => "SIGTERM: it was asked to end",
        31 => "SIGSYS: a system call that the seccomp profile forbids",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::lifecycle::bed::{causes, event, found, node, pod, running};
    use serde_json::json;

    #[test]
    fn the_states_of_a_crash() {
        let end = |code: i32, at: &str| json!({"exitCode": code, "reason": "Error", "finishedAt": at});
        for (state, want) in [
            (
                json!({"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": end(2, "2026-11-30T11:00:00Z")}}),
                "CrashLoop exit 2",
            ),
            (json!({"state": {"waiting": {"reason": "CrashLoopBackOff"}}}), "CrashLoop"),
            (json!({"state": {"terminated": end(0, "2026-11-30T11:59:00Z")}}), "CrashLoop exit 0"),
            (
                json!({"restartCount": 4, "state": {"running": {}}, "lastState": {"terminated": end(1, "2026-11-30T11:58:00Z")}}),
                "CrashLoop exit 1",
            ),
            (
                json!({"restartCount": 4, "state": {"running": {}}, "lastState": {"terminated": end(1, "2026-11-30T10:58:00Z")}}),
                "NotReady not ready, and no probe says why",
            ),
        ] {
            assert_eq!(found(running(state), vec![]), [want]);
        }
    }

    #[test]
    fn init_containers_may_end_but_only_well() {
        let init = |state: serde_json::Value| {
            json!({"phase": "Pending", "startTime": "2026-11-30T10:00:00Z",
                "initContainerStatuses": [{"name": "setup", "state": state}],
                "containerStatuses": [{"name": "agent", "state": {"waiting": {"reason": "PodInitializing"}}}]})
        };
        assert_eq!(found(init(json!({"terminated": {"exitCode": 1, "reason": "Error"}})), vec![]), ["CrashLoop exit 1"]);
        assert_eq!(found(init(json!({"terminated": {"exitCode": 0, "reason": "Completed"}})), vec![]), ["Starting"]);
        assert_eq!(found(init(json!({"running": {"startedAt": "2026-11-30T10:00:00Z"}})), vec![]), ["InitContainer setup"]);
    }

    #[test]
    fn the_code_is_explained() {
        for (code, reason, message, events, want) in [
            (255, "Error", "exec /usr/bin/agent: exec format error", vec![], "exec format error: the image is not built for arm64"),
            (
                137,
                "Error",
                "",
                vec![event("Killing", "Container agent failed liveness probe, will be restarted")],
                "SIGKILL: it was killed: its liveness probe failed",
            ),
            (139, "Error", "", vec![], "SIGSEGV: it crashed"),
            (127, "Error", "", vec![], "the command was not found"),
            (128, "StartError", "no such file", vec![], "the runtime could not start it: no such file"),
        ] {
            let mut node = node("True");
            node["status"]["nodeInfo"] = json!({"architecture": "arm64"});
            let end = json!({"exitCode": code, "reason": reason, "message": message});
            let status = running(json!({"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": end}}));
            let found = causes(node, pod(status), events);
            assert!(found[0].message.contains(&format!("({want})")), "{}", found[0].message);
        }
    }
}
