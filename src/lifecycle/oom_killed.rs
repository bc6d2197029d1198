//! OOMKilled: a container was killed for want of memory.
//!
//! Upstream: the runtime reports `OOMKilled` as the reason of a termination; the kubelet passes it
//! on (`pkg/kubelet/kuberuntime/helpers.go`, v1.37.2).

use super::{Part, View};
use crate::cause::command::command;
use crate::cause::{Cause, Entry, Remedy, Stage};
use crate::model::time::Age;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "OOMKilled",
    stage: Stage::Running,
    summary: "A container was killed because it used more memory than its limit",
    doc: "\
## What it means
The kernel killed the container's process, and it is started again with a growing back-off. With a memory limit, the container has
reached it. Without one, the limit is the pod's or the node itself ran out of memory.

## How it is recognised
The container's last termination has the reason OOMKilled (exit code 137), and it waits to be started again or has been started a moment
ago. The detail is the memory limit. One that runs and is ready again is not reported.

## How to check by hand
    kubectl -n NAMESPACE get pod POD -o jsonpath='{.status.containerStatuses[*].lastState.terminated}'
    kubectl -n NAMESPACE top pod POD --containers
    kubectl describe node NODE

## How to fix it
Raise the container's memory limit (and request), or lower what it uses: on large nodes agents need more, for there is more to watch, so
compare the size of the failing nodes with the others. Go programs heed GOMEMLIMIT.
",
};

/// True if the container's last end was for want of memory.
pub fn is_killed(part: &Part) -> bool {
    part.last_end().is_some_and(|(end, _)| end.reason == "OOMKilled")
}

/// The causes, one for each limit that was reached.
pub fn causes(view: &View) -> Vec<Cause> {
    view.parts().filter(|p| is_killed(p) && p.is_restarting(view.now())).map(|p| cause(view, &p)).collect()
}

fn cause(view: &View, part: &Part) -> Cause {
    let limit = part.spec.and_then(|c| c.memory_limit());
    let of_pod = view.pod.spec.resources.as_ref().and_then(|r| r.limits.get("memory").copied());
    let detail = limit.or(of_pod).map_or("no limit".to_string(), |l| format!("limit {l}"));
    let of = match (limit, of_pod) {
        (Some(l), _) => format!("its memory limit of {l}"),
        (None, Some(l)) => format!("the pod's memory limit of {l}"),
        (None, None) => "what the node has (it has no memory limit)".into(),
    };
    let restarts = part.status.restart_count;
    let ago = part.last_end().and_then(|(end, _)| end.finished_at).map_or(String::new(), |t| format!(", last {} ago", Age(view.since(t))));
    let message = format!("{} used more memory than {of} and was killed; {restarts} restarts{ago}", part.title());
    let state = part.last_end().map_or("lastState.terminated", |(_, path)| path);
    let mut cause = Cause::new(&ENTRY, detail, message)
        .evidence(view.object(), format!("{}.{state}.reason", part.path), "OOMKilled")
        .evidence(view.object(), format!("{}.restartCount", part.path), restarts);
    if let Some(l) = limit.or(of_pod) {
        cause = cause.evidence(view.object(), format!("limits.memory of {}", part.title()), l.to_string());
    }
    let top = view.kubectl(&["top", "pod", &view.pod.metadata.name, "--containers"]);
    cause = cause.remedy(Remedy::inspect("see what it uses", top)).remedy(view.logs(part, true));
    if let (None, None, Some(node)) = (limit, of_pod, view.pod.node_name()) {
        cause = cause.remedy(Remedy::inspect("see the node's memory", command(["kubectl", "describe", "node", node])));
    }
    cause
}

#[cfg(test)]
mod tests {
    use crate::lifecycle::bed::{causes, found, names, node, pod, running};
    use serde_json::json;

    #[test]
    fn the_limit_is_the_detail() {
        let killed = json!({"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-11-30T11:58:00Z"});
        let backing_off =
            json!({"restartCount": 9, "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": killed}});
        let ended = json!({"restartCount": 0, "state": {"terminated": killed}});
        let again = json!({"restartCount": 9, "state": {"running": {}}, "lastState": {"terminated": killed}});
        for state in [&backing_off, &ended, &again] {
            assert_eq!(found(running(state.clone()), vec![]), ["OOMKilled limit 64Mi"]);
        }
        let mut unlimited = pod(running(backing_off));
        unlimited["spec"]["containers"][0]["resources"] = json!({});
        assert_eq!(names(&causes(node("True"), unlimited.clone(), vec![])), ["OOMKilled no limit"]);
        unlimited["spec"]["resources"] = json!({"limits": {"memory": "1Gi"}});
        assert_eq!(names(&causes(node("True"), unlimited, vec![])), ["OOMKilled limit 1Gi"]);
    }

    #[test]
    fn an_old_kill_is_not_todays_trouble() {
        let old = json!({"restartCount": 3, "state": {"running": {"startedAt": "2026-11-30T09:00:00Z"}},
            "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-11-30T09:00:00Z"}}});
        assert_eq!(found(running(old), vec![]), ["NotReady not ready, and no probe says why"]);
    }
}
