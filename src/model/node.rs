//! Nodes. Upstream: `k8s.io/api/core/v1` (v0.37.2).

use std::collections::BTreeMap;

use super::object::{ObjectMeta, objects};
use super::quantity::Quantity;
use super::shared::Shared;
use super::time::Time;
use super::wire::wire;

/// Amounts by resource name.
pub type ResourceList = BTreeMap<String, Quantity>;

wire! {
    /// `Node`.
    pub struct Node {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: NodeSpec = [message, required] 2,
        pub status: NodeStatus = [message, required] 3,
    }

    /// `NodeSpec`.
    pub struct NodeSpec {
        #[serde(rename = "providerID")]
        pub provider_id: String = [string] 3,
        pub unschedulable: bool = [bool] 4,
        pub taints: Vec<Taint> = [message, repeated] 5,
    }

    /// `Taint`.
    pub struct Taint {
        pub key: String = [string] 1,
        pub value: String = [string] 2,
        pub effect: String = [string] 3,
        pub time_added: Option<Time> = [message, optional] 4,
    }

    /// `NodeStatus`.
    pub struct NodeStatus {
        pub capacity: Shared<ResourceList> = [btree_map = "string, message"] 1,
        pub allocatable: Shared<ResourceList> = [btree_map = "string, message"] 2,
        pub conditions: Vec<NodeCondition> = [message, repeated] 4,
        pub node_info: Shared<NodeSystemInfo> = [message, required] 7,
        pub declared_features: Vec<String> = [string, repeated] 14,
    }

    /// `NodeCondition`.
    pub struct NodeCondition {
        pub r#type: String = [string] 1,
        pub status: String = [string] 2,
        pub last_heartbeat_time: Option<Time> = [message, optional] 3,
        pub last_transition_time: Option<Time> = [message, optional] 4,
        pub reason: String = [string] 5,
        pub message: String = [string] 6,
    }

    /// `NodeSystemInfo`.
    pub struct NodeSystemInfo {
        pub kernel_version: String = [string] 4,
        pub os_image: String = [string] 5,
        pub container_runtime_version: String = [string] 6,
        pub kubelet_version: String = [string] 7,
        pub operating_system: String = [string] 9,
        pub architecture: String = [string] 10,
    }
}

objects!(Node);

impl Node {
    /// The node's name.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// The condition of this type, if the node has one.
    pub fn condition(&self, r#type: &str) -> Option<&NodeCondition> {
        self.status.conditions.iter().find(|c| c.r#type == r#type)
    }

    /// True if the node controller has written that the kubelet fell silent: what its pods' status says is old.
    pub fn is_silent(&self) -> bool {
        self.condition("Ready").is_some_and(|c| c.status == "Unknown")
    }

    /// True if the Ready condition is True.
    pub fn is_ready(&self) -> bool {
        self.condition("Ready").is_some_and(|c| c.status == "True")
    }
}

impl std::fmt::Display for Taint {
    /// `key[=value]:Effect`, as kubectl writes it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.key)?;
        if !self.value.is_empty() {
            write!(f, "={}", self.value)?;
        }
        write!(f, ":{}", self.effect)
    }
}
