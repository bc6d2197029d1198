//! Kubernetes facts: API types with only the fields that are used, and the arithmetic on them.

pub mod affinity;
pub mod daemon_pod;
pub mod daemon_set;
pub mod event;
pub mod host_port;
pub mod int_or_string;
pub mod node;
pub mod node_info;
pub mod object;
pub mod pod;
pub mod pod_requests;
pub mod policy;
pub mod quantity;
pub mod resource_claim;
pub mod selector;
pub mod selector_text;
pub mod shared;
pub mod snapshot;
pub mod time;
pub mod toleration;
pub mod version;
pub mod volume;
pub(crate) mod wire;
