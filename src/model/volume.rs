//! Volumes, claims and what provides them.
//! Upstream: `k8s.io/api/core/v1`, `k8s.io/api/storage/v1` (v0.37.2).

use super::affinity::NodeSelector;
use super::node::ResourceList;
use super::object::{LabelSelector, LocalObjectReference, ObjectMeta, ObjectReference, objects};
use super::quantity::Quantity;
use super::wire::{wire, wire_inline};

wire! {
    /// `VolumeSource`.
    pub struct VolumeSource {
        pub host_path: Option<HostPathVolumeSource> = [message, optional] 1,
        pub empty_dir: Option<Present> = [message, optional] 2,
        pub gce_persistent_disk: Option<GcePersistentDisk> = [message, optional] 3,
        pub aws_elastic_block_store: Option<AwsElasticBlockStore> = [message, optional] 4,
        pub git_repo: Option<Present> = [message, optional] 5,
        pub secret: Option<SecretVolumeSource> = [message, optional] 6,
        pub nfs: Option<Present> = [message, optional] 7,
        pub iscsi: Option<Iscsi> = [message, optional] 8,
        pub glusterfs: Option<Present> = [message, optional] 9,
        pub persistent_volume_claim: Option<PersistentVolumeClaimVolumeSource> = [message, optional] 10,
        pub rbd: Option<Rbd> = [message, optional] 11,
        pub flex_volume: Option<Present> = [message, optional] 12,
        pub cinder: Option<Cinder> = [message, optional] 13,
        pub cephfs: Option<Present> = [message, optional] 14,
        pub flocker: Option<Present> = [message, optional] 15,
        #[serde(rename = "downwardAPI")]
        pub downward_api: Option<Present> = [message, optional] 16,
        pub fc: Option<Present> = [message, optional] 17,
        pub azure_file: Option<Present> = [message, optional] 18,
        pub config_map: Option<ObjectSourceNamed> = [message, optional] 19,
        pub vsphere_volume: Option<VsphereVolume> = [message, optional] 20,
        pub quobyte: Option<Present> = [message, optional] 21,
        pub azure_disk: Option<AzureDisk> = [message, optional] 22,
        pub photon_persistent_disk: Option<Present> = [message, optional] 23,
        pub portworx_volume: Option<PortworxVolume> = [message, optional] 24,
        #[serde(rename = "scaleIO")]
        pub scale_io: Option<Present> = [message, optional] 25,
        pub projected: Option<ProjectedVolumeSource> = [message, optional] 26,
        pub storageos: Option<Present> = [message, optional] 27,
        pub csi: Option<CsiVolumeSource> = [message, optional] 28,
        pub ephemeral: Option<EphemeralVolumeSource> = [message, optional] 29,
        pub image: Option<Present> = [message, optional] 30,
    }

    /// A source of which only the presence matters.
    pub struct Present {}

    /// `HostPathVolumeSource`.
    pub struct HostPathVolumeSource {
        pub path: String = [string] 1,
        pub r#type: Option<String> = [string, optional] 2,
    }

    /// `GCEPersistentDiskVolumeSource`.
    pub struct GcePersistentDisk {
        pub pd_name: String = [string] 1,
        pub read_only: bool = [bool] 4,
    }

    /// `AWSElasticBlockStoreVolumeSource`.
    pub struct AwsElasticBlockStore {
        #[serde(rename = "volumeID")]
        pub volume_id: String = [string] 1,
        pub read_only: bool = [bool] 4,
    }

    /// `ISCSIVolumeSource`.
    pub struct Iscsi {
        pub target_portal: String = [string] 1,
        pub iqn: String = [string] 2,
        pub lun: i32 = [int32] 3,
        pub read_only: bool = [bool] 6,
    }

    /// `RBDVolumeSource`.
    pub struct Rbd {
        pub monitors: Vec<String> = [string, repeated] 1,
        pub image: String = [string] 2,
        pub pool: String = [string] 4,
        pub read_only: bool = [bool] 8,
    }

    /// `CinderVolumeSource`.
    pub struct Cinder {
        #[serde(rename = "volumeID")]
        pub volume_id: String = [string] 1,
    }

    /// `AzureDiskVolumeSource`.
    pub struct AzureDisk {
        pub disk_name: String = [string] 1,
        #[serde(rename = "diskURI")]
        pub disk_uri: String = [string] 2,
        pub kind: Option<String> = [string, optional] 6,
    }

    /// `VsphereVirtualDiskVolumeSource`.
    pub struct VsphereVolume {
        pub volume_path: String = [string] 1,
    }

    /// `PortworxVolumeSource`.
    pub struct PortworxVolume {
        #[serde(rename = "volumeID")]
        pub volume_id: String = [string] 1,
    }

    /// `SecretVolumeSource`.
    pub struct SecretVolumeSource {
        pub secret_name: String = [string] 1,
        pub optional: Option<bool> = [bool, optional] 4,
    }

    /// `ProjectedVolumeSource`.
    pub struct ProjectedVolumeSource {
        pub sources: Vec<VolumeProjection> = [message, repeated] 1,
    }

    /// `VolumeProjection`.
    pub struct VolumeProjection {
        pub secret: Option<ProjectedObject> = [message, optional] 1,
        pub config_map: Option<ProjectedObject> = [message, optional] 3,
    }

    /// `PersistentVolumeClaimVolumeSource`.
    pub struct PersistentVolumeClaimVolumeSource {
        pub claim_name: String = [string] 1,
        pub read_only: bool = [bool] 2,
    }

    /// `CSIVolumeSource` of a pod's inline volume.
    pub struct CsiVolumeSource {
        pub driver: String = [string] 1,
    }

    /// `EphemeralVolumeSource`.
    pub struct EphemeralVolumeSource {
        pub volume_claim_template: Option<PersistentVolumeClaimTemplate> = [message, optional] 1,
    }

    /// `PersistentVolumeClaimTemplate`.
    pub struct PersistentVolumeClaimTemplate {
        pub spec: PersistentVolumeClaimSpec = [message, required] 2,
    }

    /// `PersistentVolumeClaim`.
    pub struct PersistentVolumeClaim {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: PersistentVolumeClaimSpec = [message, required] 2,
        pub status: PersistentVolumeClaimStatus = [message, required] 3,
    }

    /// `PersistentVolumeClaimSpec`.
    pub struct PersistentVolumeClaimSpec {
        pub access_modes: Vec<String> = [string, repeated] 1,
        pub resources: VolumeResources = [message, required] 2,
        pub volume_name: String = [string] 3,
        pub selector: Option<LabelSelector> = [message, optional] 4,
        pub storage_class_name: Option<String> = [string, optional] 5,
        pub volume_mode: Option<String> = [string, optional] 6,
        pub volume_attributes_class_name: Option<String> = [string, optional] 9,
    }

    /// `VolumeResourceRequirements`.
    pub struct VolumeResources {
        pub requests: ResourceList = [btree_map = "string, message"] 2,
    }

    /// `PersistentVolumeClaimStatus`.
    pub struct PersistentVolumeClaimStatus {
        pub phase: String = [string] 1,
    }

    /// `PersistentVolume`.
    pub struct PersistentVolume {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: PersistentVolumeSpec = [message, required] 2,
        pub status: PersistentVolumeStatus = [message, required] 3,
    }

    /// `PersistentVolumeSource`.
    pub struct PersistentVolumeSource {
        pub gce_persistent_disk: Option<GcePersistentDisk> = [message, optional] 1,
        pub aws_elastic_block_store: Option<AwsElasticBlockStore> = [message, optional] 2,
        pub host_path: Option<HostPathVolumeSource> = [message, optional] 3,
        pub nfs: Option<Present> = [message, optional] 5,
        pub rbd: Option<Rbd> = [message, optional] 6,
        pub iscsi: Option<Iscsi> = [message, optional] 7,
        pub cinder: Option<Cinder> = [message, optional] 8,
        pub azure_file: Option<Present> = [message, optional] 13,
        pub vsphere_volume: Option<VsphereVolume> = [message, optional] 14,
        pub azure_disk: Option<AzureDisk> = [message, optional] 16,
        pub portworx_volume: Option<PortworxVolume> = [message, optional] 18,
        pub local: Option<Present> = [message, optional] 20,
        pub csi: Option<CsiPersistentVolumeSource> = [message, optional] 22,
    }

    /// `CSIPersistentVolumeSource`.
    pub struct CsiPersistentVolumeSource {
        pub driver: String = [string] 1,
        pub volume_handle: String = [string] 2,
        pub read_only: bool = [bool] 3,
    }

    /// `PersistentVolumeStatus`.
    pub struct PersistentVolumeStatus {
        pub phase: String = [string] 1,
    }

    /// `VolumeNodeAffinity`.
    pub struct VolumeNodeAffinity {
        pub required: Option<NodeSelector> = [message, optional] 1,
    }

    /// `StorageClass`, without its parameters.
    pub struct StorageClass {
        pub metadata: ObjectMeta = [message, required] 1,
        pub provisioner: String = [string] 2,
        pub volume_binding_mode: Option<String> = [string, optional] 7,
        pub allowed_topologies: Vec<TopologySelectorTerm> = [message, repeated] 8,
    }

    /// `TopologySelectorTerm`.
    pub struct TopologySelectorTerm {
        pub match_label_expressions: Vec<TopologySelectorRequirement> = [message, repeated] 1,
    }

    /// `TopologySelectorLabelRequirement`.
    pub struct TopologySelectorRequirement {
        pub key: String = [string] 1,
        pub values: Vec<String> = [string, repeated] 2,
    }

    /// `CSINode`.
    pub struct CSINode {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: CsiNodeSpec = [message, required] 2,
    }

    /// `CSINodeSpec`.
    pub struct CsiNodeSpec {
        pub drivers: Vec<CsiNodeDriver> = [message, repeated] 1,
    }

    /// `CSINodeDriver`.
    pub struct CsiNodeDriver {
        pub name: String = [string] 1,
        pub topology_keys: Vec<String> = [string, repeated] 3,
        pub allocatable: Option<VolumeNodeResources> = [message, optional] 4,
    }

    /// `VolumeNodeResources`.
    pub struct VolumeNodeResources {
        pub count: Option<i32> = [int32, optional] 1,
    }

    /// `CSIDriver`.
    pub struct CSIDriver {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: CsiDriverSpec = [message, required] 2,
    }

    /// `CSIDriverSpec`.
    pub struct CsiDriverSpec {
        pub attach_required: Option<bool> = [bool, optional] 1,
        pub volume_lifecycle_modes: Vec<String> = [string, repeated] 3,
        pub storage_capacity: Option<bool> = [bool, optional] 4,
        pub prevent_pod_scheduling_if_missing: Option<bool> = [bool, optional] 11,
    }

    /// `CSIStorageCapacity`.
    pub struct CSIStorageCapacity {
        pub metadata: ObjectMeta = [message, required] 1,
        pub node_topology: Option<LabelSelector> = [message, optional] 2,
        pub storage_class_name: String = [string] 3,
        pub capacity: Option<Quantity> = [message, optional] 4,
        pub maximum_volume_size: Option<Quantity> = [message, optional] 5,
    }

    /// `VolumeAttachment`.
    pub struct VolumeAttachment {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: VolumeAttachmentSpec = [message, required] 2,
    }

    /// `VolumeAttachmentSpec`.
    pub struct VolumeAttachmentSpec {
        pub attacher: String = [string] 1,
        pub source: VolumeAttachmentSource = [message, required] 2,
        pub node_name: String = [string] 3,
    }

    /// `VolumeAttachmentSource`.
    pub struct VolumeAttachmentSource {
        pub persistent_volume_name: Option<String> = [string, optional] 1,
        pub inline_volume_spec: Option<PersistentVolumeSpec> = [message, optional] 2,
    }
}

wire_inline! {
    /// `Volume`.
    pub struct Volume {
        inline pub source: VolumeSource = 2,
        pub name: String = [string] 1,
    }

    /// `ConfigMapVolumeSource`.
    pub struct ObjectSourceNamed {
        inline pub object: LocalObjectReference = 1,
        pub optional: Option<bool> = [bool, optional] 4,
    }

    /// `SecretProjection` and `ConfigMapProjection`.
    pub struct ProjectedObject {
        inline pub object: LocalObjectReference = 1,
        pub optional: Option<bool> = [bool, optional] 4,
    }

    /// `PersistentVolumeSpec`.
    pub struct PersistentVolumeSpec {
        inline pub source: PersistentVolumeSource = 2,
        pub capacity: ResourceList = [btree_map = "string, message"] 1,
        pub access_modes: Vec<String> = [string, repeated] 3,
        pub claim_ref: Option<ObjectReference> = [message, optional] 4,
        pub storage_class_name: String = [string] 6,
        pub volume_mode: Option<String> = [string, optional] 8,
        pub node_affinity: Option<VolumeNodeAffinity> = [message, optional] 9,
        pub volume_attributes_class_name: Option<String> = [string, optional] 10,
    }
}

objects!(PersistentVolumeClaim, PersistentVolume, StorageClass, CSINode, CSIDriver, CSIStorageCapacity, VolumeAttachment,);
