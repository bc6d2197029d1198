//! The node selector that a namespace imposes on its pods.
//!
//! Upstream: `plugin/pkg/admission/podnodeselector/admission.go` (v1.37.2), off by default; and
//! OpenShift's project selector, which its DaemonSet controller knows, too
//! (`pkg/controller/daemon/patch_nodeselector.go` of openshift/kubernetes).

use super::object::StringMap;
use super::snapshot::Snapshot;

/// The annotation of the admission plugin PodNodeSelector.
pub const PLUGIN_ANNOTATION: &str = "scheduler.alpha.kubernetes.io/node-selector";
/// The annotation of an OpenShift project.
pub const PROJECT_ANNOTATION: &str = "openshift.io/node-selector";

/// A namespace's selector that is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceSelector {
    /// The labels that a node has to have.
    pub labels: StringMap,
    /// The annotation that says so.
    pub annotation: &'static str,
    /// True if the controller heeds it as well (OpenShift); else admission alone does.
    pub heeded_by_controller: bool,
}

/// The selector in force in this namespace, if there is one.
///
/// OpenShift's annotation has no meaning elsewhere, so it is always in force. The plugin's may be
/// there without the plugin; it counts only where a pod of the namespace shows its work.
pub fn namespace_selector(snapshot: &Snapshot, namespace: &str) -> Option<NamespaceSelector> {
    let annotations = &snapshot.namespace(namespace)?.metadata.annotations;
    let project = annotations.get(PROJECT_ANNOTATION);
    let plugin = annotations.get(PLUGIN_ANNOTATION);
    if project.is_some() {
        // OpenShift's controller reads the plugin's annotation first.
        let (text, annotation) = plugin.map(|t| (t, PLUGIN_ANNOTATION)).or(project.map(|t| (t, PROJECT_ANNOTATION)))?;
        let labels = parse(text);
        return (!labels.is_empty()).then_some(NamespaceSelector { labels, annotation, heeded_by_controller: true });
    }
    let labels = parse(plugin?);
    let shows =
        |p: &&super::pod::Pod| p.metadata.namespace == namespace && labels.iter().all(|(k, v)| p.spec.node_selector.get(k) == Some(v));
    let in_force = !labels.is_empty() && snapshot.pods.iter().any(|p| shows(&p));
    in_force.then_some(NamespaceSelector { labels, annotation: PLUGIN_ANNOTATION, heeded_by_controller: false })
}

/// `k=v,k2=v2`, as both annotations are written.
pub fn parse(text: &str) -> StringMap {
    let entry = |part: &str| {
        let (key, value) = part.split_once('=')?;
        Some((key.trim().to_string(), value.trim_start_matches('=').trim().to_string()))
    };
    text.split(',').filter_map(entry).filter(|(k, _)| !k.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::pod::Pod;
    use crate::model::policy::Namespace;

    #[test]
    fn a_selector_counts_where_it_is_in_force() {
        let labels = |text: &str| parse(text);
        for (annotations, pod_selector, want) in [
            (vec![], "", None),
            (vec![(PLUGIN_ANNOTATION, "realm=test")], "", None),
            (vec![(PLUGIN_ANNOTATION, "realm=test")], "realm=test,a=b", Some(("realm=test", false))),
            (vec![(PROJECT_ANNOTATION, "zone = a")], "", Some(("zone=a", true))),
            (vec![(PROJECT_ANNOTATION, "")], "", None),
            (vec![(PROJECT_ANNOTATION, "zone=a"), (PLUGIN_ANNOTATION, "b=c")], "", Some(("b=c", true))),
        ] {
            let mut namespace = Namespace::default();
            namespace.metadata.name = "ns".into();
            namespace.metadata.annotations = annotations.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
            let mut pod = Pod::default();
            pod.metadata.namespace = "ns".into();
            pod.spec = crate::model::pod::PodSpec { node_selector: labels(pod_selector), ..Default::default() }.into();
            let mut snapshot = Snapshot::default();
            snapshot.objects.namespaces.items.push(namespace);
            snapshot.objects.pods.items.push(pod);
            let got = namespace_selector(&snapshot, "ns").map(|s| (s.labels, s.heeded_by_controller));
            assert_eq!(got, want.map(|(text, heeded)| (labels(text), heeded)), "{annotations:?}");
        }
    }
}
