//! OpenShift's controller also heeds the node selector of the project.
//!
//! Upstream: `nodeShouldRunDaemonPod` of `pkg/controller/daemon/patch_nodeselector.go` in
//! openshift/kubernetes; Kubernetes' own controller does not.

use super::should_run::Decision;
use crate::cause::{Cause, Severity, Stage};
use crate::filter::node_affinity;
use crate::model::daemon_set::DaemonSet;
use crate::model::namespace_selector::NamespaceSelector;
use crate::model::node::Node;

/// Takes the node out of the decision where the project's selector leaves it out.
pub fn restrict(ds: &DaemonSet, selector: &NamespaceSelector, node: &Node, decision: &mut Decision) {
    if !selector.heeded_by_controller {
        return;
    }
    let namespace = &ds.metadata.namespace;
    for (key, value) in selector.labels.iter().filter(|(k, v)| node.metadata.labels.get(k) != Some(*v)) {
        let message = format!("the node selector of project {namespace} wants {key}={value}, which the node does not have");
        let have = node.metadata.labels.get(key).cloned();
        let cause = Cause::new(node_affinity::entry(), format!("nodeSelector {key}={value} (of the namespace)"), message)
            .stage(Stage::Controller)
            .severity(Severity::Info)
            .evidence(format!("Namespace/{namespace}"), format!("metadata.annotations[{}]", selector.annotation), format!("{key}={value}"))
            .evidence(format!("Node/{}", node.name()), format!("metadata.labels[{key}]"), have);
        decision.causes.push(cause);
        decision.should_run = false;
        decision.should_continue = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_project_leaves_nodes_out() {
        let ds: DaemonSet = serde_json::from_value(json!({"metadata": {"name": "a", "namespace": "x"}})).unwrap();
        let node: Node = serde_json::from_value(json!({"metadata": {"name": "n", "labels": {"pool": "a", "zone": "z"}}})).unwrap();
        for (text, heeded, wants, codes) in [
            ("pool=a", true, true, 0),
            ("pool=b", true, false, 1),
            ("pool=b,zone=y", true, false, 2),
            ("pool=a,disk=ssd", true, false, 1),
            ("pool=b", false, true, 0),
        ] {
            let labels = crate::model::namespace_selector::parse(text);
            let selector = NamespaceSelector { labels, annotation: "openshift.io/node-selector", heeded_by_controller: heeded };
            let mut decision = Decision { should_run: true, should_continue: true, causes: Vec::new() };
            restrict(&ds, &selector, &node, &mut decision);
            assert_eq!((decision.should_run, decision.should_continue, decision.causes.len()), (wants, wants, codes), "{text}");
        }
    }
}
