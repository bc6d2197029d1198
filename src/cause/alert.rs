//! The public alerts that a report answers, with their runbooks.
//!
//! Upstream: `alerts/apps_alerts.libsonnet`, `kubelet.libsonnet` and others of
//! kubernetes-monitoring/kubernetes-mixin; the runbooks are those of prometheus-operator/runbooks,
//! which kube-prometheus names in its `runbook_url` annotations.

use super::{Entry, Stage, registry};

/// An alert of the Kubernetes monitoring mixin.
#[derive(Debug)]
pub struct Alert {
    /// The alert's name.
    pub name: &'static str,
    /// What it watches, in one or two sentences: what it fires for, and what not.
    pub watches: &'static str,
    /// All codes of these stages answer it.
    stages: &'static [Stage],
    /// These codes answer it, too.
    codes: &'static [&'static str],
}

/// Every alert that a DaemonSet's trouble can raise, those on DaemonSets first.
pub static ALERTS: &[Alert] = &[
    Alert {
        name: "KubeDaemonSetRolloutStuck",
        watches: "For 15 minutes current, updated or available pods are not as many as desired, or one is misscheduled, and no further pod \
            was updated. It fires without any rollout, too: one pod that is not available is enough. Nodes that the DaemonSet leaves out \
            (taints, selector) do not raise it: they are not desired.",
        stages: &[Stage::Creation, Stage::Scheduling, Stage::Kubelet, Stage::Running],
        codes: &[
            "Misscheduled",
            "OldRevision",
            "RolloutBudget",
            "RolloutIdle",
            "RolloutOnDelete",
            "RolloutSurgeBlocked",
            "StatusStale",
            "StatusDisagrees",
            "TaintToleration",
        ],
    },
    Alert {
        name: "KubeDaemonSetNotScheduled",
        watches: "For 10 minutes more nodes are desired than have a pod. A Pending pod counts as one: the alert is about pods that were never \
            created, not about those that the scheduler cannot place.",
        stages: &[Stage::Creation],
        codes: &["PodRecreated", "StatusStale", "StatusDisagrees"],
    },
    Alert {
        name: "KubeDaemonSetMisScheduled",
        watches: "For 15 minutes pods are on nodes where the DaemonSet wants none: a taint came or a label went after the pod. Most often the \
            node is not ready, which taints it.",
        stages: &[],
        codes: &["Misscheduled", "TaintToleration", "NodeAffinity", "NodeName", "NodeNotReady", "Terminating", "StatusDisagrees"],
    },
    Alert {
        name: "KubePodCrashLooping",
        watches: "For 15 minutes a container waits with reason CrashLoopBackOff, time and again.",
        stages: &[],
        codes: &["CrashLoop", "OOMKilled", "ContainerCreateError"],
    },
    Alert {
        name: "KubePodNotReady",
        watches: "For 15 minutes the pod's phase is Pending or Unknown (older rules: Failed, too). A pod that runs and fails its readiness \
            probe does not raise it, whatever the alert's name says.",
        stages: &[Stage::Scheduling, Stage::Kubelet],
        codes: &[
            "ConfigMissing",
            "ContainerCreateError",
            "ImagePull",
            "InitContainer",
            "KubeletSilent",
            "SandboxFailed",
            "Starting",
            "VolumeAttach",
            "VolumeMount",
        ],
    },
    Alert {
        name: "KubeContainerWaiting",
        watches: "For an hour a container waits with another reason than CrashLoopBackOff.",
        stages: &[],
        codes: &[
            "ConfigMissing",
            "ContainerCreateError",
            "ImagePull",
            "InitContainer",
            "SandboxFailed",
            "Starting",
            "VolumeAttach",
            "VolumeMount",
        ],
    },
    Alert {
        name: "KubeNodeNotReady",
        watches: "For 15 minutes a node is not Ready.",
        stages: &[],
        codes: &["NodeNotReady", "KubeletSilent", "Terminating"],
    },
    Alert {
        name: "KubeNodeUnreachable",
        watches: "A node has the taint node.kubernetes.io/unreachable:NoSchedule, which DaemonSets do not tolerate by themselves.",
        stages: &[],
        codes: &["NodeNotReady", "Terminating", "TaintToleration", "Misscheduled"],
    },
    Alert {
        name: "KubeNodePressure",
        watches: "For 10 minutes a node is under memory, disk or PID pressure.",
        stages: &[],
        codes: &["Evicted", "PodRecreated"],
    },
    Alert { name: "KubeNodeEviction", watches: "The kubelet of a node evicts pods.", stages: &[], codes: &["Evicted", "PodRecreated"] },
    Alert {
        name: "KubeletTooManyPods",
        watches: "A node runs more than 95 % of the pods that it takes: DaemonSet pods find no place there.",
        stages: &[],
        codes: &["NodeResourcesFit", "KubeletRejected"],
    },
    Alert { name: "KubeQuotaFullyUsed", watches: "A ResourceQuota is used up.", stages: &[], codes: &["CreateQuota"] },
    Alert {
        name: "KubePersistentVolumeErrors",
        watches: "A PersistentVolume has failed or stays pending.",
        stages: &[],
        codes: &["VolumeBinding", "VolumeAttach", "VolumeMount"],
    },
    Alert {
        name: "KubeControllerManagerDown",
        watches: "Prometheus finds no kube-controller-manager: no DaemonSet is acted on.",
        stages: &[],
        codes: &["ControllerSilent", "StatusStale", "StatusDisagrees", "NotCreated", "RolloutIdle"],
    },
    Alert {
        name: "KubeSchedulerDown",
        watches: "Prometheus finds no kube-scheduler: pods stay Pending without a word.",
        stages: &[],
        codes: &["SchedulerSilent"],
    },
];

impl Alert {
    /// Where its public runbook is.
    pub fn runbook(&self) -> String {
        format!("https://runbooks.prometheus-operator.dev/runbooks/kubernetes/{}", self.name.to_ascii_lowercase())
    }

    /// True if the code answers it.
    pub fn is_answered_by(&self, entry: &Entry) -> bool {
        // What is not applied raises no alert.
        let applied = !crate::preflight::ENTRIES.iter().any(|e| e.code == entry.code);
        applied && self.stages.contains(&entry.stage) || self.codes.contains(&entry.code)
    }

    /// The entries that answer it, by stage and code.
    pub fn entries(&self) -> Vec<&'static Entry> {
        registry::entries().into_iter().filter(|e| self.is_answered_by(e)).collect()
    }
}

/// The alerts that a code answers.
pub fn alerts_of(entry: &Entry) -> Vec<&'static Alert> {
    ALERTS.iter().filter(|a| a.is_answered_by(entry)).collect()
}

/// The alert of this name; the case of letters does not matter.
pub fn find(name: &str) -> Option<&'static Alert> {
    ALERTS.iter().find(|a| a.name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_named_exists() {
        for alert in ALERTS {
            for code in alert.codes {
                let entry = registry::find(code).unwrap_or_else(|| panic!("{}: {code}", alert.name));
                assert!(!alert.stages.contains(&entry.stage), "{}: {code} is of a stage that is named already", alert.name);
            }
            assert!(registry::find(alert.name).is_none(), "{} is a code, too", alert.name);
        }
    }

    #[test]
    fn codes_answer_alerts() {
        for (code, want) in [
            ("CrashLoop", "KubeDaemonSetRolloutStuck KubePodCrashLooping"),
            ("NotReady", "KubeDaemonSetRolloutStuck"),
            ("NodePorts", "KubeDaemonSetRolloutStuck KubePodNotReady"),
            ("CreateQuota", "KubeDaemonSetRolloutStuck KubeDaemonSetNotScheduled KubeQuotaFullyUsed"),
            ("Misscheduled", "KubeDaemonSetRolloutStuck KubeDaemonSetMisScheduled KubeNodeUnreachable"),
            ("NoEligibleNodes", ""),
            ("InvalidDaemonSet", ""),
            ("NamespaceMissing", ""),
        ] {
            let found: Vec<&str> = alerts_of(registry::find(code).unwrap()).iter().map(|a| a.name).collect();
            assert_eq!(found.join(" "), want, "{code}");
        }
        assert_eq!(
            find("kubedaemonsetrolloutstuck").unwrap().runbook(),
            "https://runbooks.prometheus-operator.dev/runbooks/kubernetes/kubedaemonsetrolloutstuck"
        );
    }
}
