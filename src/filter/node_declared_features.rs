//! NodeDeclaredFeatures: the node has the features that the pod's spec needs.
//!
//! Upstream: `pkg/scheduler/framework/plugins/nodedeclaredfeatures/nodedeclaredfeatures.go`,
//! `PreFilter`, `Filter`, and `k8s.io/component-helpers/nodedeclaredfeatures/features` (v1.37.2).

use super::{Cycle, Failure, Filter, Finding, Plugin, Verdict};
use crate::cause::{Entry, Evidence, Fact, Stage};
use crate::model::pod::PodSpec;
use crate::model::version::ServerVersion;

/// The plugin.
pub const PLUGIN: Plugin = Plugin { name: "NodeDeclaredFeatures", entry: &ENTRY, prefilter };

const REASON: &str = "node(s) didn't match Pod's required features";

static ENTRY: Entry = Entry {
    code: "NodeDeclaredFeatures",
    stage: Stage::Scheduling,
    summary: "The node's kubelet does not declare a feature that the pod's spec needs",
    doc: "\
## What it means
The pod uses something that only some kubelets can do. A kubelet declares such features in `status.declaredFeatures` of its node, and from
Kubernetes 1.36 on the scheduler keeps pods away from nodes without them: older kubelets, or ones with the feature gate off.

## How it is recognised
Needed are RestartAllContainersOnContainerExits for a container restart rule with action RestartAllContainers,
UserNamespacesHostNetworkSupport for `hostNetwork: true` together with `hostUsers: false`, and (1.37) VolumeBindMountOptions for volume mounts
with bind mount options. The node lacks one of them.

## How to check by hand
    kubectl get node NODE -o jsonpath='{.status.declaredFeatures}{.status.nodeInfo.kubeletVersion}'

## How to fix it
Upgrade the node's kubelet (and container runtime), turn the feature gate on there, or drop the field from the template.
",
};

fn prefilter<'a>(cycle: &'a Cycle<'a>) -> Filter<'a> {
    let needed = if cycle.features.node_declared_features { needed(cycle.spec, cycle.snapshot.version) } else { Vec::new() };
    Box::new(move |info, _| {
        let declared = &info.node.status.declared_features;
        let missing = needed.iter().filter(|(feature, _)| !declared.iter().any(|d| d == feature));
        let findings: Vec<Finding> = missing
            .map(|(feature, field)| Finding {
                detail: feature.to_string(),
                message: format!("{field} needs the feature {feature}, which the node's kubelet does not declare"),
                evidence: vec![
                    Evidence::new(format!("Node/{}", info.node.name()), "status.declaredFeatures", declared.clone()),
                    Evidence::new(
                        format!("Node/{}", info.node.name()),
                        "status.nodeInfo.kubeletVersion",
                        info.node.status.node_info.kubelet_version.clone(),
                    ),
                    Evidence::new(format!("DaemonSet/{}", cycle.daemon_set.metadata.full_name()), "spec.template.spec", *field),
                ],
                fact: Fact::None,
            })
            .collect();
        if findings.is_empty() {
            return Verdict::Pass;
        }
        Verdict::Fail(Failure { reasons: vec![REASON.into()], unresolvable: true, findings })
    })
}

/// The features that a spec needs, with the field that needs each.
fn needed(spec: &PodSpec, version: ServerVersion) -> Vec<(&'static str, &'static str)> {
    let containers = || spec.containers.iter().chain(&spec.init_containers);
    let restarts_all = containers().flat_map(|c| &c.restart_policy_rules).any(|r| r.action == "RestartAllContainers");
    let bind_options = containers().flat_map(|c| &c.volume_mounts).any(|m| !m.bind_mount_options.is_empty());
    [
        (restarts_all, "RestartAllContainersOnContainerExits", "restartPolicyRules with action RestartAllContainers"),
        (spec.host_network && spec.host_users == Some(false), "UserNamespacesHostNetworkSupport", "hostNetwork with hostUsers: false"),
        (bind_options && version.minor >= 37, "VolumeBindMountOptions", "volumeMounts with bindMountOptions"),
    ]
    .into_iter()
    .filter(|(needed, ..)| *needed)
    .map(|(_, feature, field)| (feature, field))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spec_needs() {
        use serde_json::json;
        for (spec, minor, want) in [
            (json!({"containers": [{}]}), 37, vec![]),
            (json!({"hostNetwork": true}), 37, vec![]),
            (json!({"hostNetwork": true, "hostUsers": false}), 36, vec!["UserNamespacesHostNetworkSupport"]),
            (json!({"hostUsers": false}), 37, vec![]),
            (
                json!({"initContainers": [{"restartPolicyRules": [{"action": "RestartAllContainers"}]}]}),
                37,
                vec!["RestartAllContainersOnContainerExits"],
            ),
            (json!({"containers": [{"restartPolicyRules": [{"action": "Restart"}]}]}), 37, vec![]),
            (json!({"containers": [{"volumeMounts": [{"bindMountOptions": ["noexec"]}]}]}), 37, vec!["VolumeBindMountOptions"]),
            (json!({"containers": [{"volumeMounts": [{"bindMountOptions": ["noexec"]}]}]}), 36, vec![]),
        ] {
            let spec: PodSpec = serde_json::from_value(spec).unwrap();
            let features: Vec<&str> = needed(&spec, ServerVersion { major: 1, minor }).iter().map(|(f, _)| *f).collect();
            assert_eq!(features, want);
        }
    }
}
