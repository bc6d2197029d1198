//! Dynamic resource allocation. Upstream: `k8s.io/api/resource/v1` (v0.37.2).

use super::affinity::NodeSelector;
use super::object::{ObjectMeta, objects};
use super::wire::wire;

wire! {
    /// `ResourceClaim`.
    pub struct ResourceClaim {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: ResourceClaimSpec = [message, required] 2,
        pub status: ResourceClaimStatus = [message, required] 3,
    }

    /// `ResourceClaimTemplate`.
    pub struct ResourceClaimTemplate {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: ResourceClaimTemplateSpec = [message, required] 2,
    }

    /// `ResourceClaimTemplateSpec`.
    pub struct ResourceClaimTemplateSpec {
        pub spec: ResourceClaimSpec = [message, required] 2,
    }

    /// `ResourceClaimSpec`.
    pub struct ResourceClaimSpec {
        pub devices: DeviceClaim = [message, required] 1,
    }

    /// `DeviceClaim`.
    pub struct DeviceClaim {
        pub requests: Vec<DeviceRequest> = [message, repeated] 1,
        pub constraints: Vec<DeviceConstraint> = [message, repeated] 2,
    }

    /// `DeviceConstraint`.
    pub struct DeviceConstraint {
        pub requests: Vec<String> = [string, repeated] 1,
        pub match_attribute: Option<String> = [string, optional] 2,
    }

    /// `DeviceRequest`.
    pub struct DeviceRequest {
        pub name: String = [string] 1,
        pub exactly: Option<ExactDeviceRequest> = [message, optional] 2,
        pub first_available: Vec<DeviceSubRequest> = [message, repeated] 3,
    }

    /// `ExactDeviceRequest`.
    pub struct ExactDeviceRequest {
        pub device_class_name: String = [string] 1,
        pub selectors: Vec<DeviceSelector> = [message, repeated] 2,
        pub allocation_mode: String = [string] 3,
        pub count: i64 = [int64] 4,
        pub admin_access: Option<bool> = [bool, optional] 5,
    }

    /// `DeviceSubRequest`.
    pub struct DeviceSubRequest {
        pub name: String = [string] 1,
        pub device_class_name: String = [string] 2,
        pub selectors: Vec<DeviceSelector> = [message, repeated] 3,
        pub allocation_mode: String = [string] 4,
        pub count: i64 = [int64] 5,
    }

    /// `DeviceSelector`.
    pub struct DeviceSelector {
        pub cel: Option<CelDeviceSelector> = [message, optional] 1,
    }

    /// `CELDeviceSelector`.
    pub struct CelDeviceSelector {
        pub expression: String = [string] 1,
    }

    /// `ResourceClaimStatus`.
    pub struct ResourceClaimStatus {
        pub allocation: Option<AllocationResult> = [message, optional] 1,
        pub reserved_for: Vec<ConsumerReference> = [message, repeated] 2,
    }

    /// `ResourceClaimConsumerReference`.
    pub struct ConsumerReference {
        pub resource: String = [string] 3,
        pub name: String = [string] 4,
        pub uid: String = [string] 5,
    }

    /// `AllocationResult`.
    pub struct AllocationResult {
        pub devices: DeviceAllocationResult = [message, required] 1,
        pub node_selector: Option<NodeSelector> = [message, optional] 3,
    }

    /// `DeviceAllocationResult`.
    pub struct DeviceAllocationResult {
        pub results: Vec<DeviceRequestAllocationResult> = [message, repeated] 1,
    }

    /// `DeviceRequestAllocationResult`.
    pub struct DeviceRequestAllocationResult {
        pub request: String = [string] 1,
        pub driver: String = [string] 2,
        pub pool: String = [string] 3,
        pub device: String = [string] 4,
        pub admin_access: Option<bool> = [bool, optional] 5,
    }

    /// `DeviceClass`.
    pub struct DeviceClass {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: DeviceClassSpec = [message, required] 2,
    }

    /// `DeviceClassSpec`.
    pub struct DeviceClassSpec {
        pub selectors: Vec<DeviceSelector> = [message, repeated] 1,
        pub extended_resource_name: Option<String> = [string, optional] 4,
    }

    /// `ResourceSlice`.
    pub struct ResourceSlice {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: ResourceSliceSpec = [message, required] 2,
    }

    /// `ResourceSliceSpec`.
    pub struct ResourceSliceSpec {
        pub driver: String = [string] 1,
        pub pool: ResourcePool = [message, required] 2,
        pub node_name: Option<String> = [string, optional] 3,
        pub node_selector: Option<NodeSelector> = [message, optional] 4,
        pub all_nodes: Option<bool> = [bool, optional] 5,
        pub devices: Vec<Device> = [message, repeated] 6,
    }

    /// `ResourcePool`.
    pub struct ResourcePool {
        pub name: String = [string] 1,
        pub generation: i64 = [int64] 2,
        pub resource_slice_count: i64 = [int64] 3,
    }

    /// `Device`.
    pub struct Device {
        pub name: String = [string] 1,
    }
}

objects!(ResourceClaim, ResourceClaimTemplate, DeviceClass, ResourceSlice);
