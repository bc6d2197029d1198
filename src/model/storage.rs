//! Claims, volumes and classes by name, and what the scheduler's volume plugins share.
//!
//! Upstream: `k8s.io/component-helpers/storage` (v0.37.2): `GetPersistentVolumeClaimClass`,
//! `VolumeClaimName`, `VolumeIsForPod`, `CheckNodeAffinity`.

use std::collections::HashMap;

use super::node::Node;
use super::object::Object;
use super::selector::matches_node;
use super::snapshot::{Listed, Snapshot};
use super::volume::*;

/// The annotation that a claim has once it is bound for good.
pub const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
/// The annotation of a claim that names the node for which its volume is being made.
pub const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
/// The old way to name a storage class, which still wins.
pub const BETA_STORAGE_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
/// The annotation of a CSINode that lists the in-tree plugins that CSI drivers serve there.
pub const MIGRATED_PLUGINS: &str = "storage.alpha.kubernetes.io/migrated-plugins";

/// Storage objects by name. A look-up gives an error that names the resource where an object that
/// was not found may only not have been read.
pub struct Storage<'a> {
    snapshot: &'a Snapshot,
    claims: HashMap<(&'a str, &'a str), &'a PersistentVolumeClaim>,
    volumes: HashMap<&'a str, &'a PersistentVolume>,
}

impl<'a> Storage<'a> {
    /// The storage objects of the snapshot.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Storage {
            snapshot,
            claims: snapshot
                .persistent_volume_claims
                .iter()
                .map(|c| ((c.metadata.namespace.as_str(), c.metadata.name.as_str()), c))
                .collect(),
            volumes: snapshot.persistent_volumes.iter().map(|v| (v.metadata.name.as_str(), v)).collect(),
        }
    }

    /// The claim of this name.
    pub fn claim(&self, namespace: &str, name: &str) -> Result<Option<&'a PersistentVolumeClaim>, String> {
        let claims = &self.snapshot.persistent_volume_claims;
        match (self.claims.get(&(namespace, name)), claims.unknown_in(namespace)) {
            (None, Some(unknown)) => Err(format!("claim {namespace}/{name} is not among the {unknown}")),
            (found, _) => Ok(found.copied()),
        }
    }

    /// The volume of this name.
    pub fn volume(&self, name: &str) -> Result<Option<&'a PersistentVolume>, String> {
        match (self.volumes.get(name), self.snapshot.persistent_volumes.unknown()) {
            (None, Some(unknown)) => Err(format!("volume {name} is not among the {unknown}")),
            (found, _) => Ok(found.copied()),
        }
    }

    /// The storage class of this name.
    pub fn class(&self, name: &str) -> Result<Option<&'a StorageClass>, String> {
        named(&self.snapshot.storage_classes, name)
    }

    /// The CSINode of this node.
    pub fn csi_node(&self, node: &str) -> Result<Option<&'a CSINode>, String> {
        named(&self.snapshot.csi_nodes, node)
    }

    /// The CSIDriver of this name.
    pub fn csi_driver(&self, name: &str) -> Result<Option<&'a CSIDriver>, String> {
        named(&self.snapshot.csi_drivers, name)
    }
}

/// The cluster-wide object of this name.
fn named<'a, T: Object>(list: &'a Listed<T>, name: &str) -> Result<Option<&'a T>, String> {
    match (list.iter().find(|o| o.meta().name == name), list.unknown()) {
        (None, Some(unknown)) => Err(format!("{} {name} is not among the {unknown}", T::KIND)),
        (found, _) => Ok(found),
    }
}

impl Volume {
    /// The name of the claim that the volume uses, of a pod of this name; of a generic ephemeral
    /// volume the claim is made for the pod.
    pub fn claim_name(&self, pod_name: &str) -> Option<String> {
        match (&self.source.persistent_volume_claim, &self.source.ephemeral) {
            (Some(source), _) => Some(source.claim_name.clone()),
            (None, Some(_)) => Some(format!("{pod_name}-{}", self.name)),
            (None, None) => None,
        }
    }

    /// True for a generic ephemeral volume.
    pub fn is_ephemeral(&self) -> bool {
        self.source.persistent_volume_claim.is_none() && self.source.ephemeral.is_some()
    }
}

impl PersistentVolumeClaim {
    /// The name of its storage class; empty for none.
    pub fn class_name(&self) -> &str {
        match self.metadata.annotations.get(BETA_STORAGE_CLASS) {
            Some(name) => name,
            None => self.spec.storage_class_name.as_deref().unwrap_or_default(),
        }
    }

    /// True once it is bound to a volume for good.
    pub fn is_bound(&self) -> bool {
        !self.spec.volume_name.is_empty() && self.metadata.annotations.contains_key(BIND_COMPLETED)
    }

    /// Why a pod may not use the claim as its ephemeral volume's, in upstream's words. No claim was
    /// made for a pod without a uid: it is not made itself.
    pub fn not_made_for(&self, pod_uid: &str, namespace: &str, pod_name: &str) -> Option<String> {
        if !pod_uid.is_empty() && self.metadata.controller().is_some_and(|o| o.uid == pod_uid) {
            return None;
        }
        Some(format!("PVC {} was not created for pod {namespace}/{pod_name} (pod is not owner)", self.metadata.full_name()))
    }
}

impl PersistentVolume {
    /// The name of its storage class; empty for none.
    pub fn class_name(&self) -> &str {
        self.metadata.annotations.get(BETA_STORAGE_CLASS).unwrap_or(&self.spec.storage_class_name)
    }

    /// True if the volume's node affinity lets it be used on the node. Only labels count here:
    /// upstream looks at a node without a name.
    pub fn reaches(&self, node: &Node) -> bool {
        let Some(required) = self.spec.node_affinity.as_ref().and_then(|a| a.required.as_ref()) else { return true };
        if required.node_selector_terms.iter().all(|t| t.match_fields.is_empty()) {
            return matches_node(required, node);
        }
        let mut nameless = Node::default();
        nameless.metadata.labels = node.metadata.labels.clone();
        matches_node(required, &nameless)
    }
}

impl StorageClass {
    /// True if a volume is bound or made only once a pod needs it; the default is at once.
    pub fn waits_for_consumer(&self) -> bool {
        self.volume_binding_mode.as_deref() == Some("WaitForFirstConsumer")
    }
}
