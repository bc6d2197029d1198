//! What is asked for once the first lists are there, since they were made at different moments.

use super::*;

impl Reader<'_> {
    /// Nodes that have joined since the nodes were listed: a pod that was listed later is on them.
    pub(super) async fn late_nodes(&self, objects: &mut Objects) {
        if !objects.nodes.is_complete() {
            return;
        }
        let known: BTreeSet<&str> = objects.nodes.iter().map(|n| n.name()).collect();
        let unknown: BTreeSet<&str> = objects.pods.iter().filter_map(Pod::node_name).filter(|n| !known.contains(n)).collect();
        let late = if unknown.len() > NODES_AT_ONCE {
            self.list::<Node>("nodes", None, Ask::default()).await
        } else {
            let names: Vec<(Option<&str>, &str)> = unknown.iter().map(|n| (None, *n)).collect();
            self.get_each("nodes", &names).await
        };
        let joined: Vec<Node> = late.items.into_iter().filter(|n| unknown.contains(n.name())).collect();
        objects.nodes.items.extend(joined);
        // One that could not be asked for may be there.
        objects.nodes.gap = late.gap;
    }

    /// The events of these pods.
    pub(super) async fn pod_events(&self, pods: &BTreeSet<(String, String)>) -> Listed<Event> {
        if pods.len() <= PODS_ONE_BY_ONE {
            return merged(join_all(pods.iter().map(|(ns, name)| self.events("Pod", ns, Some(name)))).await);
        }
        let namespaces: BTreeSet<&str> = pods.iter().map(|(ns, _)| ns.as_str()).collect();
        merged(join_all(namespaces.into_iter().map(|ns| self.events("Pod", ns, None))).await)
    }
}
