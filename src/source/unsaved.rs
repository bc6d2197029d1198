//! Namespaces whose pods were not saved, though those of others were: `kubectl get pods -n NAMESPACE`, or a dump of some
//! namespaces. What else runs on the nodes is then not known, and no check may pass for want of it.

use std::collections::BTreeSet;

use crate::model::snapshot::{Gap, Snapshot};

/// Notes the namespaces of files that have no pod, and a DaemonSet that counts ready ones there: of finished pods not all are held.
pub fn note(snapshot: &mut Snapshot) {
    let saved: BTreeSet<&str> = snapshot.pods.iter().map(|p| p.metadata.namespace.as_str()).collect();
    if saved.is_empty() {
        return; // there are none at all, which is a gap of its own unless an empty list says so
    }
    let has_ready = snapshot.daemon_sets.iter().filter(|d| {
        let (meta, status) = (&d.metadata, &d.status);
        status.observed_generation >= meta.generation && status.number_ready > 0
    });
    let unsaved: BTreeSet<&str> = has_ready.map(|d| d.metadata.namespace.as_str()).filter(|n| !saved.contains(n)).collect();
    let gap = |namespace: &str| Gap {
        verb: "list".into(),
        resource: "pods".into(),
        namespace: Some(namespace.into()),
        reason: "the snapshot has none of that namespace, where a DaemonSet has some that are ready".into(),
    };
    let gaps: Vec<Gap> = unsaved.into_iter().map(gap).collect();
    if !gaps.is_empty() {
        snapshot.pods_known_on = Some(BTreeSet::new());
        snapshot.other_gaps.extend(gaps);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_daemon_set_with_ready_pods_tells_of_those_that_were_not_saved() {
        for (pods, counted, seen, want) in [
            (vec!["b"], 2, 1, vec!["a"]),
            (vec!["b"], 0, 1, vec![]),
            (vec!["b"], 2, 0, vec![]), // the status is an old word
            (vec!["a", "b"], 2, 1, vec![]),
            (vec![], 2, 1, vec![]),
        ] {
            let mut snapshot = Snapshot::default();
            let status = json!({"observedGeneration": seen, "numberReady": counted});
            let ds = json!({"metadata": {"name": "ds", "namespace": "a", "generation": 1}, "status": status});
            snapshot.objects.daemon_sets.items.push(serde_json::from_value(ds).unwrap());
            let pod = |namespace: &str| serde_json::from_value(json!({"metadata": {"name": "p", "namespace": namespace}})).unwrap();
            snapshot.objects.pods.items.extend(pods.iter().map(|n| pod(n)));
            note(&mut snapshot);
            let found: Vec<&str> = snapshot.other_gaps.iter().filter_map(|g| g.namespace.as_deref()).collect();
            assert_eq!(found, want, "{pods:?} {counted} {seen}");
            assert_eq!(snapshot.knows_all_pods(), want.is_empty());
            assert_eq!(snapshot.knows_pods_in("a"), want.is_empty());
            assert!(snapshot.knows_pods_in("b"));
        }
    }
}
