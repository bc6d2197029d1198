//! What was read of a cluster, at one moment. Everything after this is pure.

use std::collections::BTreeSet;
use std::ops::Deref;

use super::daemon_set::{ControllerRevision, DaemonSet};
use super::event::Event;
use super::node::Node;
use super::object::Object;
use super::pod::Pod;
use super::policy::*;
use super::resource_claim::{DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice};
use super::time::Time;
use super::version::{NEWEST, ServerVersion};
use super::volume::*;

/// Why objects of a kind are not (all) known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The verb that was refused or not possible: `list` or `get`. Empty if it was not tried, since
    /// no answer needs it: what is not known then is no fault to be reported.
    pub verb: String,
    /// The resource, as RBAC names it: `pods`, `csinodes.storage.k8s.io`.
    pub resource: String,
    /// The namespace, if only that one could not be read.
    pub namespace: Option<String>,
    /// Why: the server's words, or what the dump lacks.
    pub reason: String,
}

/// The objects of one kind, and what is not known of them.
#[derive(Clone, Debug)]
pub struct Listed<T> {
    /// The objects that were read.
    pub items: Vec<T>,
    /// Set if there may be others.
    pub gap: Option<Gap>,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Listed { items: Vec::new(), gap: None }
    }
}

impl<T> Deref for Listed<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> Listed<T> {
    /// True if every object of the kind was read.
    pub fn is_complete(&self) -> bool {
        self.gap.is_none()
    }

    /// What may be missing, in words: `persistentvolumes that could be read (forbidden)`.
    pub fn unknown(&self) -> Option<String> {
        self.gap.as_ref().map(Gap::to_string)
    }

    /// The same for the objects of one namespace.
    pub fn unknown_in(&self, namespace: &str) -> Option<String> {
        self.gap.as_ref().filter(|g| g.namespace.as_deref().is_none_or(|n| n == namespace)).map(Gap::to_string)
    }
}

impl std::fmt::Display for Gap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let resource = self.resource.split('.').next().unwrap_or_default();
        write!(f, "{resource} that could be read")?;
        if self.reason.is_empty() { Ok(()) } else { write!(f, " ({})", self.reason) }
    }
}

/// Declares the kinds of a snapshot, each as `field: Type, "resource"`.
macro_rules! kinds {
    ($( $(#[$meta:meta])* $field:ident: $ty:ty, $resource:literal; )*) => {
        /// The cluster's objects, as far as they were read.
        #[derive(Clone, Debug, Default)]
        pub struct Objects {
            $( $(#[$meta])* pub $field: Listed<$ty>, )*
        }

        impl Objects {
            /// Every kind, as (`kind:`, resource as RBAC names it), in the order of the fields.
            pub const KINDS: &'static [(&'static str, &'static str)] = &[$( (<$ty as Object>::KIND, $resource) ),*];

            /// The gaps of all kinds, in the order of the fields; not those of what was not asked for.
            pub fn gaps(&self) -> impl Iterator<Item = &Gap> {
                self.every_gap().filter(|g| !g.verb.is_empty())
            }

            /// The same with those of what was not asked for.
            pub fn every_gap(&self) -> impl Iterator<Item = &Gap> {
                [$( self.$field.gap.as_ref() ),*].into_iter().flatten()
            }

            /// How many objects were read, by resource.
            pub fn counts(&self) -> Vec<(&'static str, usize)> {
                vec![$( ($resource, self.$field.items.len()) ),*]
            }
        }

        /// Calls `$call!{ field, Type, "resource" }` for every kind of a snapshot.
        #[allow(unused_macros)]
        macro_rules! for_each_kind {
            ($call:ident) => { $( $call! { $field, $ty, $resource } )* };
        }
        #[allow(unused_imports)]
        pub(crate) use for_each_kind;
    };
}

kinds! {
    nodes: Node, "nodes";
    pods: Pod, "pods";
    daemon_sets: DaemonSet, "daemonsets.apps";
    controller_revisions: ControllerRevision, "controllerrevisions.apps";
    events: Event, "events";
    namespaces: Namespace, "namespaces";
    service_accounts: ServiceAccount, "serviceaccounts";
    priority_classes: PriorityClass, "priorityclasses.scheduling.k8s.io";
    runtime_classes: RuntimeClass, "runtimeclasses.node.k8s.io";
    limit_ranges: LimitRange, "limitranges";
    resource_quotas: ResourceQuota, "resourcequotas";
    pod_disruption_budgets: PodDisruptionBudget, "poddisruptionbudgets.policy";
    persistent_volume_claims: PersistentVolumeClaim, "persistentvolumeclaims";
    persistent_volumes: PersistentVolume, "persistentvolumes";
    storage_classes: StorageClass, "storageclasses.storage.k8s.io";
    csi_nodes: CSINode, "csinodes.storage.k8s.io";
    csi_drivers: CSIDriver, "csidrivers.storage.k8s.io";
    csi_storage_capacities: CSIStorageCapacity, "csistoragecapacities.storage.k8s.io";
    volume_attachments: VolumeAttachment, "volumeattachments.storage.k8s.io";
    resource_claims: ResourceClaim, "resourceclaims.resource.k8s.io";
    resource_claim_templates: ResourceClaimTemplate, "resourceclaimtemplates.resource.k8s.io";
    device_classes: DeviceClass, "deviceclasses.resource.k8s.io";
    resource_slices: ResourceSlice, "resourceslices.resource.k8s.io";
    device_taint_rules: DeviceTaintRule, "devicetaintrules.resource.k8s.io";
    leases: Lease, "leases.coordination.k8s.io";
    validating_webhooks: ValidatingWebhookConfiguration, "validatingwebhookconfigurations.admissionregistration.k8s.io";
    mutating_webhooks: MutatingWebhookConfiguration, "mutatingwebhookconfigurations.admissionregistration.k8s.io";
    services: Service, "services";
    endpoint_slices: EndpointSlice, "endpointslices.discovery.k8s.io";
    horizontal_pod_autoscalers: HorizontalPodAutoscaler, "horizontalpodautoscalers.autoscaling";
}

/// A cluster as it was read.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The moment that ages are counted to.
    pub now: Time,
    /// True if that is only the newest moment in files, which may have been saved later.
    pub now_is_guessed: bool,
    /// The version whose rules apply.
    pub version: ServerVersion,
    /// The version as the server or the user gave it; `None` if it is a guess.
    pub version_text: Option<String>,
    /// True if read from files: what is absent may only not have been dumped.
    pub from_files: bool,
    /// The objects.
    pub objects: Objects,
    /// The nodes whose pods were all read; `None` if those of every node were. A DaemonSet's own
    /// pods are known in either case.
    pub pods_known_on: Option<BTreeSet<String>>,
    /// What could not be read beside whole kinds, such as other namespaces' pods.
    pub other_gaps: Vec<Gap>,
}

impl Default for Snapshot {
    fn default() -> Self {
        Snapshot {
            now: Time::default(),
            now_is_guessed: false,
            version: NEWEST,
            version_text: None,
            from_files: true,
            objects: Objects::default(),
            pods_known_on: None,
            other_gaps: Vec::new(),
        }
    }
}

impl Deref for Snapshot {
    type Target = Objects;
    fn deref(&self) -> &Objects {
        &self.objects
    }
}

impl Snapshot {
    /// True if every pod on this node is known.
    pub fn knows_pods_of(&self, node: &str) -> bool {
        self.pods.is_complete() && self.pods_known_on.as_ref().is_none_or(|nodes| nodes.contains(node))
    }

    /// True if every pod of the cluster is known.
    pub fn knows_all_pods(&self) -> bool {
        self.pods.is_complete() && self.pods_known_on.is_none()
    }

    /// True if the pods of this namespace were read, or said to be none.
    pub fn knows_pods_in(&self, namespace: &str) -> bool {
        let lacks = |g: &Gap| g.resource == "pods" && g.namespace.as_deref() == Some(namespace);
        self.pods.is_complete() && !self.other_gaps.iter().any(lacks)
    }

    /// True for files that hold no pod, of a cluster whose controller has not acted on one of the DaemonSets yet: that
    /// there are none to be near is then what they say. Of a cluster that runs, pods that were not saved tell nothing.
    pub fn tells_of_no_pods(&self) -> bool {
        let untouched = |d: &DaemonSet| {
            let (meta, status) = (&d.metadata, &d.status);
            // One without either was never on an API server: it tells nothing of the cluster.
            (meta.generation > 0 || !meta.uid.is_empty())
                && status.observed_generation == 0
                && status.current_number_scheduled == 0
                && status.number_misscheduled == 0
        };
        self.from_files && self.pods.is_empty() && self.daemon_sets.iter().all(untouched)
    }

    /// Everything that could not be read.
    pub fn all_gaps(&self) -> impl Iterator<Item = &Gap> {
        self.objects.gaps().chain(&self.other_gaps)
    }

    /// The DaemonSet of this name.
    pub fn daemon_set(&self, namespace: &str, name: &str) -> Option<&DaemonSet> {
        self.daemon_sets.iter().find(|d| d.metadata.name == name && d.metadata.namespace == namespace)
    }

    /// The namespace object, if it was read.
    pub fn namespace(&self, name: &str) -> Option<&Namespace> {
        self.namespaces.iter().find(|n| n.metadata.name == name)
    }
}
