//! A pod is there, but it is not healthy: why.
//!
//! Every check looks at a [`View`] and gives the causes it finds; which checks are asked follows
//! from how far the pod has come ([`causes`]).

use crate::cause::command::command;
use crate::cause::{Cause, Entry, Remedy, Severity};
use crate::diagnose::Subject;
use crate::model::event::Event;
use crate::model::node_info::NodeInfo;
use crate::model::pod::{Container, ContainerStateTerminated, ContainerStatus, Pod};
use crate::model::time::Time;

pub mod config_missing;
pub mod container_create_error;
pub mod crash_loop;
pub mod evicted;
pub mod image_pull;
pub mod init_container;
pub mod kubelet_preempted;
pub mod kubelet_rejected;
pub mod kubelet_silent;
pub mod min_ready_seconds;
pub mod node_not_ready;
pub mod not_ready;
pub mod oom_killed;
pub mod pod_recreated;
pub mod pod_succeeded;
pub mod sandbox_failed;
pub mod starting;
pub mod terminating;
pub mod volume_attach;
pub mod volume_mount;

/// The pages of this folder's codes.
pub static ENTRIES: &[&Entry] = &[
    &config_missing::ENTRY,
    &container_create_error::ENTRY,
    &crash_loop::ENTRY,
    &evicted::ENTRY,
    &image_pull::ENTRY,
    &init_container::ENTRY,
    &kubelet_preempted::ENTRY,
    &kubelet_rejected::ENTRY,
    &kubelet_silent::ENTRY,
    &min_ready_seconds::ENTRY,
    &node_not_ready::ENTRY,
    &not_ready::ENTRY,
    &oom_killed::ENTRY,
    &pod_recreated::ENTRY,
    &pod_succeeded::ENTRY,
    &sandbox_failed::ENTRY,
    &starting::ENTRY,
    &terminating::ENTRY,
    &volume_attach::ENTRY,
    &volume_mount::ENTRY,
];

/// A check of this folder.
type Check = fn(&View) -> Vec<Cause>;

/// What a pod that the kubelet has ended may have met with; the first that holds is said.
const ENDED: &[Check] = &[evicted::causes, kubelet_preempted::causes, pod_succeeded::causes, kubelet_rejected::causes];

/// What a live pod's containers may wait for or fail with.
const RUNNING: &[Check] = &[
    sandbox_failed::causes,
    volume_mount::causes,
    volume_attach::causes,
    config_missing::causes,
    image_pull::causes,
    container_create_error::causes,
    oom_killed::causes,
    crash_loop::causes,
];

/// What is left to say when nothing of [`RUNNING`] holds; the first that holds is said.
const WAITING: &[Check] = &[init_container::causes, not_ready::causes, starting::causes];

/// Why a bound, failed or terminating pod is not healthy; `info` is its node, if that exists.
pub fn causes(subject: &Subject, info: Option<&NodeInfo>, pod: &Pod) -> Vec<Cause> {
    let view = View { subject, info, pod, events: subject.events.of(pod) };
    let mut found = Vec::new();
    if pod.is_terminating() {
        found.extend(terminating::causes(&view));
        found.extend(node_not_ready::causes(&view));
        return found;
    }
    if pod.is_terminal() {
        return first(&view, ENDED);
    }
    if pod.is_ready() && !info.is_some_and(|i| i.node.is_silent()) {
        return min_ready_seconds::causes(&view);
    }
    found.extend(node_not_ready::causes(&view));
    found.extend(kubelet_silent::causes(&view));
    // Of a silent kubelet the status is old, and says nothing of now.
    if found.is_empty() || view.kubelet_reports() {
        let down = !found.is_empty();
        found.extend(RUNNING.iter().flat_map(|check| check(&view)));
        if found.is_empty() || (down && found.len() == 1 && !view.is_started()) {
            found.extend(first(&view, WAITING));
        }
    }
    // A pod that has only just begun says less than how those before it ended.
    let begins = |c: &Cause| c.severity == Severity::Info && (c.code == starting::ENTRY.code || c.code == kubelet_silent::ENTRY.code);
    if !found.is_empty()
        && found.iter().all(begins)
        && let Some(node) = pod.node_name()
    {
        let before = pod_recreated::causes(subject, node);
        if !before.is_empty() {
            return before;
        }
    }
    found
}

/// What is to be said of a pod on a node where the DaemonSet wants none: that it is going away,
/// and that the node is not ready.
pub fn leaving(subject: &Subject, info: &NodeInfo, pod: &Pod) -> Vec<Cause> {
    let view = View { subject, info: Some(info), pod, events: Vec::new() };
    if pod.node_name().is_none() || (pod.is_ready() && !pod.is_terminating()) {
        return Vec::new();
    }
    let mut found = terminating::causes(&view);
    found.extend(node_not_ready::causes(&view));
    found
}

fn first(view: &View, checks: &[Check]) -> Vec<Cause> {
    checks.iter().map(|check| check(view)).find(|causes| !causes.is_empty()).unwrap_or_default()
}

/// A pod on its node, with what was said about it.
pub struct View<'a> {
    /// The DaemonSet and the cluster.
    pub subject: &'a Subject<'a>,
    /// The pod's node, if it exists.
    pub info: Option<&'a NodeInfo<'a>>,
    /// The pod.
    pub pod: &'a Pod,
    /// The pod's events, oldest first.
    pub events: Vec<&'a Event>,
}

/// What a container is in its pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It runs as long as the pod.
    Main,
    /// An init container, to end before the main ones start.
    Init,
    /// An init container that keeps running.
    Sidecar,
}

impl Role {
    /// How messages name it.
    pub fn noun(self) -> &'static str {
        match self {
            Role::Main => "container",
            Role::Init => "init container",
            Role::Sidecar => "sidecar",
        }
    }
}

/// A container that ended this long ago or less, in seconds, and is not ready is still failing:
/// twice the kubelet's longest back-off (300 s).
const RESTART_WINDOW: i64 = 600;

/// A container's status with its place in the pod.
pub struct Part<'a> {
    /// What it is.
    pub role: Role,
    /// Its declaration, if the pod has it.
    pub spec: Option<&'a Container>,
    /// Its status.
    pub status: &'a ContainerStatus,
    /// The status's path: `status.containerStatuses[0]`.
    pub path: String,
}

impl Part<'_> {
    /// `container agent`, `init container setup`.
    pub fn title(&self) -> String {
        format!("{} {}", self.role.noun(), self.status.name)
    }

    /// The reason and message that the container waits with.
    pub fn waiting(&self) -> Option<(&str, &str)> {
        self.status.state.waiting.as_ref().map(|w| (w.reason.as_str(), w.message.as_str()))
    }

    /// True if the container ended within the last `RESTART_WINDOW` seconds or waits to be
    /// started again.
    pub fn is_restarting(&self, now: Time) -> bool {
        let state = &self.status.state;
        if self.waiting().is_some_and(|(reason, _)| reason == "CrashLoopBackOff") || state.terminated.is_some() {
            return true;
        }
        let ended = self.status.last_state.terminated.as_ref().and_then(|t| t.finished_at);
        let recent = ended.is_some_and(|t| now.seconds_since(t) <= RESTART_WINDOW);
        !self.status.ready && state.running.is_some() && self.status.restart_count >= 2 && recent
    }

    /// The last time that the container ended, with the path of that state.
    pub fn last_end(&self) -> Option<(&ContainerStateTerminated, &'static str)> {
        let now = self.status.state.terminated.as_ref().map(|t| (t, "state.terminated"));
        now.or_else(|| self.status.last_state.terminated.as_ref().map(|t| (t, "lastState.terminated")))
    }
}

impl<'a> View<'a> {
    /// `Pod/namespace/name`, as evidence names it.
    pub fn object(&self) -> String {
        format!("Pod/{}", self.pod.full_name())
    }

    /// The moment of the snapshot.
    pub fn now(&self) -> Time {
        self.subject.snapshot.now
    }

    /// Seconds from a moment to the snapshot's, not below 0.
    pub fn since(&self, moment: Time) -> i64 {
        self.now().seconds_since(moment).max(0)
    }

    /// Seconds since the pod was taken on by the kubelet, or else made.
    pub fn age(&self) -> Option<i64> {
        self.pod.start_time().or(self.pod.metadata.creation_timestamp).map(|t| self.since(t))
    }

    /// The containers that have a status, init containers first.
    pub fn parts(&self) -> impl Iterator<Item = Part<'a>> {
        let (spec, status) = (&self.pod.spec, &self.pod.status);
        let init = status.init_container_statuses.iter().enumerate().map(|(i, s)| {
            let container = spec.init_containers.iter().find(|c| c.name == s.name);
            let role = if container.is_some_and(Container::is_sidecar) { Role::Sidecar } else { Role::Init };
            Part { role, spec: container, status: s, path: format!("status.initContainerStatuses[{i}]") }
        });
        let main = status.container_statuses.iter().enumerate().map(|(i, s)| {
            let container = spec.containers.iter().find(|c| c.name == s.name);
            Part { role: Role::Main, spec: container, status: s, path: format!("status.containerStatuses[{i}]") }
        });
        init.chain(main)
    }

    /// The newest warning of one of these reasons.
    pub fn event(&self, reasons: &[&str]) -> Option<&'a Event> {
        self.events.iter().rev().copied().find(|e| reasons.contains(&e.reason.as_str()))
    }

    /// True if the kubelet of the pod's node writes status now: the node's Ready condition is not
    /// Unknown (which is what the node controller writes for a silent kubelet).
    pub fn kubelet_reports(&self) -> bool {
        let ready = self.info.and_then(|i| i.node.condition("Ready"));
        ready.is_none_or(|c| c.status != "Unknown") && self.kubelet_has_reported()
    }

    /// True if a kubelet has ever written the pod's status or an event about it.
    pub fn kubelet_has_reported(&self) -> bool {
        let status = &self.pod.status;
        let containers = !status.container_statuses.is_empty() || !status.init_container_statuses.is_empty();
        let conditions = status.conditions.iter().any(|c| !matches!(c.r#type.as_str(), "PodScheduled" | "DisruptionTarget" | "Ready"));
        let says = |e: &&&Event| e.source.component == "kubelet" || e.reporting_component == "kubelet";
        containers || conditions || self.pod.start_time().is_some() || self.events.iter().any(|e| says(&e))
    }

    /// True if any container has come further than waiting for its creation: sandbox and volumes
    /// are there.
    pub fn is_begun(&self) -> bool {
        let waits = |reason: &str| matches!(reason, "" | "ContainerCreating" | "PodInitializing");
        self.parts().any(|p| {
            let state = &p.status.state;
            state.running.is_some() || state.terminated.is_some() || p.waiting().is_some_and(|(r, _)| !waits(r))
        })
    }

    /// The events of failed mounts that hold still, oldest first; none once a container has begun.
    ///
    /// The kubelet tries again within about two minutes and says so again, so what was said long
    /// before the newest one is past.
    pub fn failed_mounts(&self) -> Vec<&'a Event> {
        const ROUND: i64 = 180;
        if self.is_begun() {
            return Vec::new();
        }
        let of_mounts = |e: &&Event| matches!(e.reason.as_str(), "FailedMount" | "FailedMapVolume" | "FailedMountOnFilesystemMismatch");
        let events: Vec<&Event> = self.events.iter().copied().filter(|e| of_mounts(e)).collect();
        let newest = events.iter().filter_map(|e| e.last_seen()).max();
        events.into_iter().filter(|e| newest.zip(e.last_seen()).is_none_or(|(n, t)| n.seconds_since(t) <= ROUND)).collect()
    }

    /// True if every container runs and is ready by itself.
    pub fn is_started(&self) -> bool {
        let mut parts = self.parts().filter(|p| p.role != Role::Init).peekable();
        parts.peek().is_some() && parts.all(|p| p.status.ready)
    }

    /// A `kubectl` command in the pod's namespace.
    pub fn kubectl(&self, arguments: &[&str]) -> String {
        let head = ["kubectl", "-n", self.pod.metadata.namespace.as_str()];
        command(head.into_iter().chain(arguments.iter().copied()))
    }

    /// Looks at the pod and its events.
    pub fn describe(&self) -> Remedy {
        Remedy::inspect("see the pod and its events", self.kubectl(&["describe", "pod", &self.pod.metadata.name]))
    }

    /// Shows what a container said before it ended, or says now.
    pub fn logs(&self, part: &Part, previous: bool) -> Remedy {
        let mut arguments = vec!["logs", self.pod.metadata.name.as_str(), "-c", part.status.name.as_str()];
        let title = if previous {
            arguments.push("--previous");
            "see what it said before it ended"
        } else {
            "see what it says"
        };
        Remedy::inspect(title, self.kubectl(&arguments))
    }

    /// Adds an event to a cause's evidence.
    pub fn with_event(&self, cause: Cause, event: Option<&Event>) -> Cause {
        let Some(event) = event else { return cause };
        let count = event.times();
        let cause = cause.evidence(self.object(), format!("event {}", event.reason), shortened(&event.message));
        if count > 1 { cause.evidence(self.object(), format!("event {} count", event.reason), count) } else { cause }
    }
}

/// The longest text of another's that a message or evidence quotes, in characters.
const QUOTED: usize = 400;

/// A text of the kubelet or runtime on one line, cut where it gets too long.
pub fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= QUOTED {
        return line;
    }
    line.chars().take(QUOTED).chain("...".chars()).collect()
}

/// The first text in double quotes.
pub fn quoted(text: &str) -> Option<&str> {
    text.split('"').nth(1).filter(|t| !t.is_empty())
}

#[cfg(test)]
pub(crate) mod bed;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_in_the_registry() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lifecycle");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .filter_map(|f| f.strip_suffix(".rs").map(|f| f.replace('_', "")))
            .filter(|f| f != "mod" && f != "bed")
            .collect();
        files.sort();
        let mut codes: Vec<String> = ENTRIES.iter().map(|e| e.code.to_ascii_lowercase()).collect();
        codes.sort();
        assert_eq!(files, codes);
    }

    #[test]
    fn long_texts_are_cut_and_put_on_one_line() {
        assert_eq!(shortened("a\n  b\t c"), "a b c");
        assert_eq!(shortened(&"x".repeat(500)).chars().count(), QUOTED + 3);
        assert_eq!(quoted(r#"secret "a" not found"#), Some("a"));
        assert_eq!(quoted("none"), None);
    }
}
