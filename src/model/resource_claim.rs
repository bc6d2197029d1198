//! Dynamic resource allocation. Upstream: `k8s.io/api/resource/v1` (v0.37.2).

use std::collections::BTreeMap;

use super::affinity::NodeSelector;
use super::node::ResourceList;
use super::object::{ObjectMeta, objects};
use super::quantity::Quantity;
use super::time::Time;
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
        pub distinct_attribute: Option<String> = [string, optional] 3,
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
        pub tolerations: Vec<DeviceToleration> = [message, repeated] 6,
        pub capacity: Option<CapacityRequirements> = [message, optional] 7,
    }

    /// `DeviceSubRequest`.
    pub struct DeviceSubRequest {
        pub name: String = [string] 1,
        pub device_class_name: String = [string] 2,
        pub selectors: Vec<DeviceSelector> = [message, repeated] 3,
        pub allocation_mode: String = [string] 4,
        pub count: i64 = [int64] 5,
        pub tolerations: Vec<DeviceToleration> = [message, repeated] 6,
        pub capacity: Option<CapacityRequirements> = [message, optional] 7,
    }

    /// `DeviceToleration`.
    pub struct DeviceToleration {
        pub key: String = [string] 1,
        pub operator: String = [string] 2,
        pub value: String = [string] 3,
        pub effect: String = [string] 4,
    }

    /// `CapacityRequirements`.
    pub struct CapacityRequirements {
        pub requests: ResourceList = [btree_map = "string, message"] 1,
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
        pub devices: Vec<AllocatedDeviceStatus> = [message, repeated] 4,
    }

    /// `AllocatedDeviceStatus`: what the driver says of a device.
    pub struct AllocatedDeviceStatus {
        pub driver: String = [string] 1,
        pub pool: String = [string] 2,
        pub device: String = [string] 3,
        pub conditions: Vec<DeviceCondition> = [message, repeated] 4,
    }

    /// `Condition` of `k8s.io/apimachinery/pkg/apis/meta/v1`.
    pub struct DeviceCondition {
        pub r#type: String = [string] 1,
        pub status: String = [string] 2,
        pub reason: String = [string] 5,
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
        pub allocation_timestamp: Option<Time> = [message, optional] 5,
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
        pub binding_conditions: Vec<String> = [string, repeated] 7,
        pub binding_failure_conditions: Vec<String> = [string, repeated] 8,
        #[serde(rename = "shareID")]
        pub share_id: Option<String> = [string, optional] 9,
        pub consumed_capacity: ResourceList = [btree_map = "string, message"] 10,
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
        pub per_device_node_selection: Option<bool> = [bool, optional] 7,
        pub shared_counters: Vec<CounterSet> = [message, repeated] 8,
    }

    /// `CounterSet`.
    pub struct CounterSet {
        pub name: String = [string] 1,
        pub counters: BTreeMap<String, Counter> = [btree_map = "string, message"] 2,
    }

    /// `Counter`.
    pub struct Counter {
        pub value: Quantity = [message, required] 1,
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
        pub attributes: BTreeMap<String, DeviceAttribute> = [btree_map = "string, message"] 2,
        pub capacity: BTreeMap<String, DeviceCapacity> = [btree_map = "string, message"] 3,
        pub consumes_counters: Vec<CounterConsumption> = [message, repeated] 4,
        pub node_name: Option<String> = [string, optional] 5,
        pub node_selector: Option<NodeSelector> = [message, optional] 6,
        pub all_nodes: Option<bool> = [bool, optional] 7,
        pub taints: Vec<DeviceTaint> = [message, repeated] 8,
        pub binding_conditions: Vec<String> = [string, repeated] 10,
        pub allow_multiple_allocations: Option<bool> = [bool, optional] 12,
    }

    /// `DeviceAttribute`: one of the values is set.
    pub struct DeviceAttribute {
        pub int: Option<i64> = [int64, optional] 2,
        pub bool: Option<bool> = [bool, optional] 3,
        pub string: Option<String> = [string, optional] 4,
        pub version: Option<String> = [string, optional] 5,
    }

    /// `DeviceCapacity`.
    pub struct DeviceCapacity {
        pub value: Quantity = [message, required] 1,
        pub request_policy: Option<RequestPolicy> = [message, optional] 2,
    }

    /// `CapacityRequestPolicy`: what may be asked for, and what is taken where nothing is.
    pub struct RequestPolicy {
        pub default: Option<Quantity> = [message, optional] 1,
        pub valid_values: Vec<Quantity> = [message, repeated] 3,
        pub valid_range: Option<RequestPolicyRange> = [message, optional] 4,
    }

    /// `CapacityRequestPolicyRange`.
    pub struct RequestPolicyRange {
        pub min: Option<Quantity> = [message, optional] 1,
        pub max: Option<Quantity> = [message, optional] 2,
        pub step: Option<Quantity> = [message, optional] 3,
    }

    /// `DeviceCounterConsumption`.
    pub struct CounterConsumption {
        pub counter_set: String = [string] 1,
        pub counters: BTreeMap<String, Counter> = [btree_map = "string, message"] 2,
        pub compatibility_groups: Vec<String> = [string, repeated] 3,
    }

    /// `DeviceTaint`.
    pub struct DeviceTaint {
        pub key: String = [string] 1,
        pub value: String = [string] 2,
        pub effect: String = [string] 3,
    }

    /// `DeviceTaintRule`: a taint that an administrator puts on devices.
    pub struct DeviceTaintRule {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: DeviceTaintRuleSpec = [message, required] 2,
    }

    /// `DeviceTaintRuleSpec`.
    pub struct DeviceTaintRuleSpec {
        pub device_selector: Option<DeviceTaintSelector> = [message, optional] 1,
        pub taint: DeviceTaint = [message, required] 2,
    }

    /// `DeviceTaintSelector`: every field that is set has to match.
    pub struct DeviceTaintSelector {
        pub driver: Option<String> = [string, optional] 2,
        pub pool: Option<String> = [string, optional] 3,
        pub device: Option<String> = [string, optional] 4,
    }
}

objects!(ResourceClaim, ResourceClaimTemplate, DeviceClass, ResourceSlice, DeviceTaintRule);

impl ResourceClaim {
    /// The devices that the claim keeps from others: those allocated to it but for admin access.
    pub fn held(&self) -> impl Iterator<Item = &DeviceRequestAllocationResult> {
        let results = self.status.allocation.iter().flat_map(|a| &a.devices.results);
        results.filter(|r| r.admin_access != Some(true))
    }
}

/// For how long the scheduler waits for the binding conditions of a claim's devices
/// (upstream: `DynamicResourcesBindingTimeoutDefault`).
const BINDING_SECONDS: i64 = 600;

impl ResourceClaim {
    /// Why the scheduler gives the claim's devices up although they are allocated: one failed to be
    /// prepared, or was not ready in time (upstream: `isClaimReadyForBinding`, `isClaimTimeout`).
    pub fn given_up(&self, now: Time) -> Option<String> {
        let allocation = self.status.allocation.as_ref()?;
        let name = |r: &DeviceRequestAllocationResult| format!("{}/{}/{}", r.driver, r.pool, r.device);
        let late = |r: &DeviceRequestAllocationResult, condition: &str| {
            let since = allocation.allocation_timestamp?;
            let waited = now.seconds_since(since);
            (waited > BINDING_SECONDS).then(|| format!("device {} is not {condition} {waited} s after it was allocated", name(r)))
        };
        for result in allocation.devices.results.iter().filter(|r| !r.binding_conditions.is_empty()) {
            let same = |d: &&AllocatedDeviceStatus| d.device == result.device && d.driver == result.driver && d.pool == result.pool;
            let status = self.status.devices.iter().find(same);
            let holds = |kind: &&String| status.is_some_and(|s| s.conditions.iter().any(|c| c.r#type == **kind && c.status == "True"));
            if let Some(failed) = result.binding_failure_conditions.iter().find(holds) {
                return Some(format!("device {} could not be prepared ({failed})", name(result)));
            }
            if let Some(open) = result.binding_conditions.iter().find(|c| !holds(c)) {
                return late(result, open);
            }
        }
        None
    }
}

impl DeviceToleration {
    /// True if the toleration covers the taint (upstream: `ToleratesTaint`).
    pub fn tolerates(&self, taint: &DeviceTaint) -> bool {
        (self.effect.is_empty() || self.effect == taint.effect)
            && (self.key.is_empty() || self.key == taint.key)
            && match self.operator.as_str() {
                "" | "Equal" => self.value == taint.value,
                "Exists" => true,
                _ => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn devices_are_given_up_that_failed_or_are_late() {
        let now = Time::parse("2026-01-05T12:00:00Z").unwrap();
        let (old, fresh) = ("2026-01-05T11:49:59Z", "2026-01-05T11:50:00Z");
        let said = |kind: &str, status: &str| json!([{"type": kind, "status": status}]);
        for (what, allocated, conditions, want) in [
            ("ready", old, Some(said("ready", "True")), false),
            ("failed", fresh, Some(said("failed", "True")), true),
            ("a failure that is over", fresh, Some(said("failed", "False")), false),
            ("silent, in time", fresh, None, false),
            ("silent, late", old, None, true),
            ("not ready, late", old, Some(said("ready", "False")), true),
            ("not ready, in time", fresh, Some(said("ready", "False")), false),
        ] {
            let result =
                json!({"driver": "d", "pool": "p", "device": "x", "bindingConditions": ["ready"], "bindingFailureConditions": ["failed"]});
            let devices = conditions.map(|c| json!([{"driver": "d", "pool": "p", "device": "x", "conditions": c}])).unwrap_or(json!([]));
            let status = json!({"allocation": {"devices": {"results": [result]}, "allocationTimestamp": allocated}, "devices": devices});
            let claim: ResourceClaim = serde_json::from_value(json!({"metadata": {"name": "c"}, "status": status})).unwrap();
            assert_eq!(claim.given_up(now).is_some(), want, "{what}");
        }
        assert_eq!(ResourceClaim::default().given_up(now), None);
    }
}
