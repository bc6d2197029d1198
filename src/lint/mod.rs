//! Advice on the DaemonSet itself: what harms nothing now and may harm later.
//!
//! A table of rules, each with the codes of the causes that it bears on: a normal report shows only
//! advice that bears on what is wrong, `--lint` shows all.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::cause::{Evidence, Remedy};
use crate::diagnose::Subject;
use crate::report::NodeReport;

mod owner;
mod rollout;
mod template;

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Advice {
    /// The stable code, in kebab case: `no-requests`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// The facts that show it.
    pub evidence: Vec<Evidence>,
    /// What to do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy>,
    /// False for what is only good to know, such as the cost.
    #[serde(skip)]
    pub asks: bool,
    /// The codes of the report's causes that the advice bears on; empty if it bears on none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bears_on: Vec<&'static str>,
}

/// A rule of the table.
pub struct Rule {
    /// The stable code.
    pub code: &'static str,
    /// What it asks for, in one line.
    pub summary: &'static str,
    /// The codes of causes that the advice bears on, if the report has them.
    pub bears: &'static [&'static str],
    check: fn(&Subject) -> Option<Found>,
}

/// A row of the table.
const fn rule(code: &'static str, summary: &'static str, bears: &'static [&'static str], check: fn(&Subject) -> Option<Found>) -> Rule {
    Rule { code, summary, bears, check }
}

/// What a rule found.
struct Found {
    message: String,
    evidence: Vec<Evidence>,
    remedies: Vec<Remedy>,
    /// Nodes that the advice is about; it bears only on their causes. Empty for all.
    nodes: BTreeSet<String>,
}

impl Found {
    fn new(message: impl Into<String>) -> Self {
        Found { message: message.into(), evidence: Vec::new(), remedies: Vec::new(), nodes: BTreeSet::new() }
    }

    /// With a field of the DaemonSet as evidence.
    fn evidence(mut self, subject: &Subject, field: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.evidence.push(Evidence::new(subject.object(), field, value));
        self
    }
}

/// The codes that ask for nothing.
const KNOWLEDGE: [&str; 3] = ["cost", "hash-collisions", "kept-by-another"];

/// The rules, by code.
pub static RULES: &[Rule] = &[
    rule("autoscaled", "No autoscaler can scale a DaemonSet: its nodes decide how many pods there are", &[], owner::autoscaled),
    rule(
        "container-restart-policy",
        "Leave the restart policy of containers alone: a pod of a DaemonSet is meant to run on",
        &["PodSucceeded", "PodRecreated", "KubeletRejected", "NotReady"],
        template::container_restart_policy,
    ),
    rule("cost", "What the DaemonSet takes of the cluster: its nodes times its requests", &[], template::cost),
    rule(
        "duplicate-revisions",
        "Several ControllerRevisions hold the current template",
        &["OldRevision", "RolloutBudget"],
        rollout::duplicate_revisions,
    ),
    rule("foreign-pods", "Let no other controller's pods match the selector", &["SelectorOverlap", "NodePorts"], rollout::foreign_pods),
    rule("hash-collisions", "Two templates of the DaemonSet had the same hash", &[], rollout::hash_collisions),
    // Where changing the DaemonSet is the way out.
    rule(
        "kept-by-another",
        "Change the DaemonSet where it is kept (Helm, Argo CD, Flux, an operator), or the change is taken back",
        &[
            "TaintToleration",
            "NodeAffinity",
            "NodePorts",
            "NodeResourcesFit",
            "ImagePull",
            "RolloutBudget",
            "RolloutSurgeBlocked",
            "OldRevision",
        ],
        owner::kept_by_another,
    ),
    rule(
        "legacy-master-toleration",
        "Tolerate node-role.kubernetes.io/control-plane, not only the former master taint",
        &["TaintToleration"],
        template::legacy_master_toleration,
    ),
    rule("memory-overcommit", "Request the memory that the limit allows to use", &["Evicted", "OOMKilled"], template::memory_overcommit),
    // Of a full node the remedies tell, which try a class.
    rule(
        "no-priority-class",
        "Give the pods a priority class, so that others make room for them",
        &["Evicted", "KubeletPreempted"],
        template::no_priority_class,
    ),
    rule("no-readiness-probe", "Have a readiness probe, or a rollout takes broken pods for good ones", &[], template::no_readiness_probe),
    rule(
        "no-requests",
        "Request cpu and memory: pods without requests are evicted first",
        &["Evicted", "KubeletPreempted", "OOMKilled"],
        template::no_requests,
    ),
    rule("orphaned-revisions", "ControllerRevisions that match the selector belong to nobody", &[], rollout::orphaned_revisions),
    // The cause of that name says the same.
    rule(
        "privileged-in-guarded-namespace",
        "The namespace's Pod Security level forbids what the template asks for",
        &[],
        template::privileged_in_guarded_namespace,
    ),
    rule("slow-rollout", "One node after the other takes long on many nodes", &["RolloutBudget"], rollout::slow_rollout),
    rule(
        "surge-blocked",
        "With maxSurge the new pod would not fit beside the old one",
        &["RolloutSurgeBlocked", "NodePorts", "NodeResourcesFit"],
        rollout::surge_blocked,
    ),
    rule(
        "template-goes-back-and-forth",
        "The template has returned to earlier states several times: two parties may be changing it against each other",
        &["OldRevision", "RolloutBudget", "StatusStale"],
        owner::template_goes_back_and_forth,
    ),
    rule(
        "tolerates-everything",
        "A toleration for every taint lets the pods on virtual and dying nodes, too",
        &["KubeletSilent", "NodeResourcesFit"],
        template::tolerates_everything,
    ),
    rule(
        "undeclared-host-ports",
        "Declare the ports of pods on the host's network, so that the scheduler sees clashes",
        &["CrashLoop", "RolloutSurgeBlocked"],
        template::undeclared_host_ports,
    ),
    rule("unpinned-image", "Name a version of the image, not latest or none", &["ImagePull", "CrashLoop"], template::unpinned_image),
];

/// The advice, by code.
pub fn advise(subject: &Subject, nodes: &[NodeReport], workload: &[crate::cause::Cause]) -> Vec<Advice> {
    let advise = |rule: &Rule| {
        let found = (rule.check)(subject)?;
        let named: BTreeSet<&str> = found.nodes.iter().map(String::as_str).collect();
        let about = |n: &&NodeReport| named.is_empty() || named.contains(n.name.as_str());
        let present: BTreeSet<&str> = nodes.iter().filter(about).flat_map(|n| &n.causes).chain(workload).map(|c| c.code).collect();
        Some(Advice {
            code: rule.code,
            message: found.message,
            evidence: found.evidence,
            remedies: found.remedies,
            asks: !KNOWLEDGE.contains(&rule.code),
            bears_on: rule.bears.iter().copied().filter(|code| present.contains(code)).collect(),
        })
    };
    RULES.iter().filter_map(advise).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::snapshot::Snapshot;
    use serde_json::{Value, json};

    /// The codes of the advice on a DaemonSet with this spec on two nodes.
    fn codes(spec: Value) -> Vec<&'static str> {
        let mut snapshot = Snapshot::default();
        for name in ["n1", "n2"] {
            let node = json!({"metadata": {"name": name}, "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "10"}}});
            snapshot.objects.nodes.items.push(serde_json::from_value(node).unwrap());
            let pod = json!({"metadata": {"name": format!("p-{name}"), "namespace": "ns",
                    "ownerReferences": [{"kind": "DaemonSet", "name": "ds", "uid": "u", "controller": true}]},
                "spec": {"nodeName": name, "containers": spec["template"]["spec"]["containers"], "hostNetwork": spec["template"]["spec"]["hostNetwork"]},
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
            snapshot.objects.pods.items.push(serde_json::from_value(pod).unwrap());
        }
        let namespace = json!({"metadata": {"name": "ns", "labels": {"pod-security.kubernetes.io/enforce": "baseline"}}});
        snapshot.objects.namespaces.items.push(serde_json::from_value(namespace).unwrap());
        let ds = serde_json::from_value(json!({"metadata": {"name": "ds", "namespace": "ns", "uid": "u"}, "spec": spec})).unwrap();
        advise(&Subject::new(&snapshot, &ds), &[], &[]).into_iter().map(|a| a.code).collect()
    }

    /// A spec that nothing is to be said of but its cost, changed.
    fn with(change: impl Fn(&mut Value)) -> Value {
        let mut spec = json!({
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
            "template": {"spec": {"priorityClassName": "system-node-critical", "containers": [{
                "name": "c", "image": "reg/c:1.2", "readinessProbe": {"tcpSocket": {"port": 1}},
                "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "64Mi"}}}]}}
        });
        change(&mut spec);
        spec
    }

    #[test]
    fn each_rule_has_its_fault() {
        let pod = |key: &'static str, value: Value| move |s: &mut Value| s["template"]["spec"][key] = value.clone();
        let container = |key: &'static str, value: Value| move |s: &mut Value| s["template"]["spec"]["containers"][0][key] = value.clone();
        let surge = |s: &mut Value| s["updateStrategy"]["rollingUpdate"] = json!({"maxUnavailable": 0, "maxSurge": 1});
        for (spec, want) in [
            (with(|_| ()), vec!["cost"]),
            (with(container("resources", json!({}))), vec!["no-requests"]),
            (with(container("image", json!("reg:5000/c"))), vec!["cost", "unpinned-image"]),
            (with(container("restartPolicy", json!("OnFailure"))), vec!["container-restart-policy", "cost"]),
            (with(container("restartPolicy", json!("Always"))), vec!["cost"]),
            (with(container("image", json!("c:latest"))), vec!["cost", "unpinned-image"]),
            (with(container("image", json!("c@sha256:0"))), vec!["cost"]),
            (with(container("readinessProbe", json!(null))), vec!["cost", "no-readiness-probe"]),
            (with(pod("priorityClassName", json!(""))), vec!["cost", "no-priority-class"]),
            (
                with(container("resources", json!({"requests": {"cpu": "1", "memory": "1Mi"}, "limits": {"memory": "1Gi"}}))),
                vec!["cost", "memory-overcommit"],
            ),
            (with(pod("tolerations", json!([{"operator": "Exists"}]))), vec!["cost", "tolerates-everything"]),
            (
                with(pod("tolerations", json!([{"key": "node-role.kubernetes.io/master", "operator": "Exists"}]))),
                vec!["cost", "legacy-master-toleration"],
            ),
            (with(pod("hostNetwork", json!(true))), vec!["cost", "privileged-in-guarded-namespace", "undeclared-host-ports"]),
            (with(surge), vec!["cost"]),
            (
                with(|s| {
                    surge(s);
                    container("ports", json!([{"containerPort": 80, "hostPort": 80}]))(s);
                }),
                vec!["cost", "privileged-in-guarded-namespace", "surge-blocked"],
            ),
            (
                with(|s| {
                    surge(s);
                    container("resources", json!({"requests": {"cpu": "600m", "memory": "64Mi"}}))(s);
                }),
                vec!["cost", "surge-blocked"],
            ),
        ] {
            assert_eq!(codes(spec.clone()), want, "{spec}");
        }
    }

    #[test]
    fn what_others_have_of_it() {
        let owner = |uid: &str| json!([{"kind": "DaemonSet", "name": "ds", "uid": uid, "controller": true}]);
        let template = |image: &str| json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}});
        let revision = |name: &str, image: &str| {
            json!({"metadata": {"name": name, "namespace": "ns", "ownerReferences": owner("u"),
                "labels": {"app": "x", "controller-revision-hash": name}},
                "revision": 2, "data": template(image)})
        };
        let pod = |uid: &str, app: &str| json!({"metadata": {"name": "p", "namespace": "ns", "labels": {"app": app}, "ownerReferences": owner(uid)}});
        for (revisions, pods, want) in [
            (vec![revision("r1", "a"), revision("r2", "b")], vec![pod("u", "x")], vec![]),
            (vec![revision("r1", "b"), revision("r2", "b")], vec![], vec!["duplicate-revisions"]),
            (vec![], vec![pod("u", "x"), pod("other", "y")], vec![]),
            (vec![], vec![pod("other", "x")], vec!["foreign-pods"]),
        ] {
            let mut snapshot = Snapshot::default();
            snapshot.objects.controller_revisions.items = revisions.into_iter().map(|r| serde_json::from_value(r).unwrap()).collect();
            snapshot.objects.pods.items = pods.into_iter().map(|p| serde_json::from_value(p).unwrap()).collect();
            let mut spec = with(|_| ());
            spec["selector"] = json!({"matchLabels": {"app": "x"}});
            let ds = serde_json::from_value(json!({"metadata": {"name": "ds", "namespace": "ns", "uid": "u"}, "spec": spec})).unwrap();
            let found: Vec<&str> =
                advise(&Subject::new(&snapshot, &ds), &[], &[]).into_iter().map(|a| a.code).filter(|c| *c != "cost").collect();
            assert_eq!(found, want);
        }
    }

    #[test]
    fn the_table_is_sorted() {
        let codes: Vec<&str> = RULES.iter().map(|r| r.code).collect();
        let mut sorted = codes.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(codes, sorted);
        assert!(RULES.iter().all(|r| !r.summary.is_empty()));
    }
}
