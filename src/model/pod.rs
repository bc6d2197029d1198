//! Pods. Upstream: `k8s.io/api/core/v1` (v0.37.2).
//!
//! Values of environment variables, commands and arguments are not held: they may be secret.

use super::affinity::{Affinity, Toleration, TopologySpreadConstraint};
use super::int_or_string::IntOrString;
use super::node::ResourceList;
use super::object::{LocalObjectReference, ObjectMeta, StringMap, objects};
use super::quantity::Quantity;
use super::shared::Shared;
use super::time::Time;
use super::volume::Volume;
use super::wire::{wire, wire_inline};

wire! {
    /// `Pod`.
    pub struct Pod {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: Shared<PodSpec> = [message, required] 2,
        pub status: Shared<PodStatus> = [message, required] 3,
        /// `spec.nodeName`, where the source moved it here so that pods can share their spec.
        #[serde(skip)]
        pub moved_node_name: String = [string] 1001,
        /// `status.startTime`, where the source moved it here so that pods can share their status.
        #[serde(skip)]
        pub moved_start_time: Option<Time> = [message, optional] 1002,
    }

    /// `PodTemplateSpec`.
    pub struct PodTemplateSpec {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: PodSpec = [message, required] 2,
    }

    /// `PodSpec`.
    pub struct PodSpec {
        pub volumes: Vec<Volume> = [message, repeated] 1,
        pub containers: Vec<Container> = [message, repeated] 2,
        pub restart_policy: String = [string] 3,
        pub termination_grace_period_seconds: Option<i64> = [int64, optional] 4,
        pub active_deadline_seconds: Option<i64> = [int64, optional] 5,
        pub node_selector: StringMap = [btree_map = "string, string"] 7,
        pub service_account_name: String = [string] 8,
        /// Deprecated name of `serviceAccountName`.
        pub service_account: String = [string] 9,
        pub node_name: String = [string] 10,
        pub host_network: bool = [bool] 11,
        #[serde(rename = "hostPID")]
        pub host_pid: bool = [bool] 12,
        #[serde(rename = "hostIPC")]
        pub host_ipc: bool = [bool] 13,
        pub security_context: Option<PodSecurityContext> = [message, optional] 14,
        pub image_pull_secrets: Vec<LocalObjectReference> = [message, repeated] 15,
        pub affinity: Option<Affinity> = [message, optional] 18,
        pub scheduler_name: String = [string] 19,
        pub init_containers: Vec<Container> = [message, repeated] 20,
        pub tolerations: Vec<Toleration> = [message, repeated] 22,
        pub priority_class_name: String = [string] 24,
        pub priority: Option<i32> = [int32, optional] 25,
        pub readiness_gates: Vec<PodReadinessGate> = [message, repeated] 28,
        pub runtime_class_name: Option<String> = [string, optional] 29,
        pub preemption_policy: Option<String> = [string, optional] 31,
        pub overhead: ResourceList = [btree_map = "string, message"] 32,
        pub topology_spread_constraints: Vec<TopologySpreadConstraint> = [message, repeated] 33,
        pub os: Option<PodOs> = [message, optional] 36,
        pub host_users: Option<bool> = [bool, optional] 37,
        pub scheduling_gates: Vec<PodSchedulingGate> = [message, repeated] 38,
        pub resource_claims: Vec<PodResourceClaim> = [message, repeated] 39,
        pub resources: Option<ResourceRequirements> = [message, optional] 40,
    }

    /// `PodOS`.
    pub struct PodOs {
        pub name: String = [string] 1,
    }

    /// `PodSchedulingGate`.
    pub struct PodSchedulingGate {
        pub name: String = [string] 1,
    }

    /// `PodReadinessGate`.
    pub struct PodReadinessGate {
        pub condition_type: String = [string] 1,
    }

    /// `PodResourceClaim`.
    pub struct PodResourceClaim {
        pub name: String = [string] 1,
        pub resource_claim_name: Option<String> = [string, optional] 3,
        pub resource_claim_template_name: Option<String> = [string, optional] 4,
    }

    /// `Container`.
    pub struct Container {
        pub name: String = [string] 1,
        pub image: String = [string] 2,
        pub ports: Vec<ContainerPort> = [message, repeated] 6,
        pub env: Vec<EnvVar> = [message, repeated] 7,
        pub resources: ResourceRequirements = [message, required] 8,
        pub volume_mounts: Vec<VolumeMount> = [message, repeated] 9,
        pub liveness_probe: Option<Probe> = [message, optional] 10,
        pub readiness_probe: Option<Probe> = [message, optional] 11,
        pub image_pull_policy: String = [string] 14,
        pub security_context: Option<SecurityContext> = [message, optional] 15,
        pub env_from: Vec<EnvFromSource> = [message, repeated] 19,
        pub startup_probe: Option<Probe> = [message, optional] 22,
        pub restart_policy: Option<String> = [string, optional] 24,
        pub restart_policy_rules: Vec<ContainerRestartRule> = [message, repeated] 25,
    }

    /// `ContainerRestartRule`: what to do, not when.
    pub struct ContainerRestartRule {
        pub action: String = [string] 1,
    }

    /// `ContainerPort`.
    pub struct ContainerPort {
        pub name: String = [string] 1,
        pub host_port: i32 = [int32] 2,
        pub container_port: i32 = [int32] 3,
        pub protocol: String = [string] 4,
        #[serde(rename = "hostIP")]
        pub host_ip: String = [string] 5,
    }

    /// `ResourceRequirements`.
    pub struct ResourceRequirements {
        pub limits: ResourceList = [btree_map = "string, message"] 1,
        pub requests: ResourceList = [btree_map = "string, message"] 2,
        pub claims: Vec<ContainerClaim> = [message, repeated] 3,
    }

    /// `ResourceClaim` of a container: the pod's claim that it uses.
    pub struct ContainerClaim {
        pub name: String = [string] 1,
        pub request: String = [string] 2,
    }

    /// `VolumeMount`.
    pub struct VolumeMount {
        pub name: String = [string] 1,
        pub mount_path: String = [string] 3,
        pub sub_path: String = [string] 4,
        pub bind_mount_options: Vec<String> = [string, repeated] 8,
    }

    /// `EnvVar`, never with its value.
    pub struct EnvVar {
        pub name: String = [string] 1,
        pub value_from: Option<EnvVarSource> = [message, optional] 3,
    }

    /// `EnvVarSource`.
    pub struct EnvVarSource {
        pub config_map_key_ref: Option<KeySelector> = [message, optional] 3,
        pub secret_key_ref: Option<KeySelector> = [message, optional] 4,
    }

    /// `EnvFromSource`.
    pub struct EnvFromSource {
        pub config_map_ref: Option<ObjectSource> = [message, optional] 2,
        pub secret_ref: Option<ObjectSource> = [message, optional] 3,
    }

    /// `ProbeHandler`: which way the probe asks; commands and headers are not held.
    pub struct ProbeHandler {
        pub exec: Option<ExecAction> = [message, optional] 1,
        pub http_get: Option<HttpGetAction> = [message, optional] 2,
        pub tcp_socket: Option<TcpSocketAction> = [message, optional] 3,
        pub grpc: Option<GrpcAction> = [message, optional] 4,
    }

    /// `ExecAction`.
    pub struct ExecAction {}

    /// `HTTPGetAction`.
    pub struct HttpGetAction {
        pub path: String = [string] 1,
        pub port: IntOrString = [message, required] 2,
        pub host: String = [string] 3,
        pub scheme: String = [string] 4,
    }

    /// `TCPSocketAction`.
    pub struct TcpSocketAction {
        pub port: IntOrString = [message, required] 1,
        pub host: String = [string] 2,
    }

    /// `GRPCAction`.
    pub struct GrpcAction {
        pub port: i32 = [int32] 1,
    }

    /// `PodSecurityContext`.
    pub struct PodSecurityContext {
        pub se_linux_options: Option<SeLinuxOptions> = [message, optional] 1,
        pub run_as_user: Option<i64> = [int64, optional] 2,
        pub run_as_non_root: Option<bool> = [bool, optional] 3,
        pub sysctls: Vec<Sysctl> = [message, repeated] 7,
        pub windows_options: Option<WindowsOptions> = [message, optional] 8,
        pub seccomp_profile: Option<Profile> = [message, optional] 10,
        pub app_armor_profile: Option<Profile> = [message, optional] 11,
    }

    /// `SecurityContext`.
    pub struct SecurityContext {
        pub capabilities: Option<Capabilities> = [message, optional] 1,
        pub privileged: Option<bool> = [bool, optional] 2,
        pub se_linux_options: Option<SeLinuxOptions> = [message, optional] 3,
        pub run_as_user: Option<i64> = [int64, optional] 4,
        pub run_as_non_root: Option<bool> = [bool, optional] 5,
        pub allow_privilege_escalation: Option<bool> = [bool, optional] 7,
        pub proc_mount: Option<String> = [string, optional] 9,
        pub windows_options: Option<WindowsOptions> = [message, optional] 10,
        pub seccomp_profile: Option<Profile> = [message, optional] 11,
        pub app_armor_profile: Option<Profile> = [message, optional] 12,
    }

    /// `Capabilities`.
    pub struct Capabilities {
        pub add: Vec<String> = [string, repeated] 1,
        pub drop: Vec<String> = [string, repeated] 2,
    }

    /// `SELinuxOptions`.
    pub struct SeLinuxOptions {
        pub user: String = [string] 1,
        pub role: String = [string] 2,
        pub r#type: String = [string] 3,
        pub level: String = [string] 4,
    }

    /// `WindowsSecurityContextOptions`.
    pub struct WindowsOptions {
        pub host_process: Option<bool> = [bool, optional] 4,
    }

    /// `SeccompProfile` and `AppArmorProfile`.
    pub struct Profile {
        pub r#type: String = [string] 1,
        pub localhost_profile: Option<String> = [string, optional] 2,
    }

    /// `Sysctl`.
    pub struct Sysctl {
        pub name: String = [string] 1,
    }

    /// `PodStatus`.
    pub struct PodStatus {
        pub phase: String = [string] 1,
        pub conditions: Vec<PodCondition> = [message, repeated] 2,
        pub message: String = [string] 3,
        pub reason: String = [string] 4,
        #[serde(rename = "podIP")]
        pub pod_ip: String = [string] 6,
        pub start_time: Option<Time> = [message, optional] 7,
        pub container_statuses: Vec<ContainerStatus> = [message, repeated] 8,
        pub qos_class: String = [string] 9,
        pub init_container_statuses: Vec<ContainerStatus> = [message, repeated] 10,
        pub nominated_node_name: String = [string] 11,
        pub resource_claim_statuses: Vec<PodResourceClaimStatus> = [message, repeated] 15,
        pub extended_resource_claim_status: Option<PodExtendedResourceClaimStatus> = [message, optional] 18,
        pub allocated_resources: ResourceList = [btree_map = "string, message"] 19,
        pub resources: Option<ResourceRequirements> = [message, optional] 20,
    }

    /// `PodCondition`.
    pub struct PodCondition {
        pub r#type: String = [string] 1,
        pub status: String = [string] 2,
        pub last_transition_time: Option<Time> = [message, optional] 4,
        pub reason: String = [string] 5,
        pub message: String = [string] 6,
    }

    /// `PodResourceClaimStatus`.
    pub struct PodResourceClaimStatus {
        pub name: String = [string] 1,
        pub resource_claim_name: Option<String> = [string, optional] 2,
    }

    /// `PodExtendedResourceClaimStatus`.
    pub struct PodExtendedResourceClaimStatus {
        pub request_mappings: Vec<ContainerExtendedResourceRequest> = [message, repeated] 1,
        pub resource_claim_name: String = [string] 2,
    }

    /// `ContainerExtendedResourceRequest`.
    pub struct ContainerExtendedResourceRequest {
        pub container_name: String = [string] 1,
        pub resource_name: String = [string] 2,
        pub request_name: String = [string] 3,
    }

    /// `ContainerStatus`.
    pub struct ContainerStatus {
        pub name: String = [string] 1,
        pub state: ContainerState = [message, required] 2,
        pub last_state: ContainerState = [message, required] 3,
        pub ready: bool = [bool] 4,
        pub restart_count: i32 = [int32] 5,
        pub image: String = [string] 6,
        #[serde(rename = "imageID")]
        pub image_id: String = [string] 7,
        pub started: Option<bool> = [bool, optional] 9,
        pub allocated_resources: ResourceList = [btree_map = "string, message"] 10,
        pub resources: Option<ResourceRequirements> = [message, optional] 11,
    }

    /// `ContainerState`.
    pub struct ContainerState {
        pub waiting: Option<ContainerStateWaiting> = [message, optional] 1,
        pub running: Option<ContainerStateRunning> = [message, optional] 2,
        pub terminated: Option<ContainerStateTerminated> = [message, optional] 3,
    }

    /// `ContainerStateWaiting`.
    pub struct ContainerStateWaiting {
        pub reason: String = [string] 1,
        pub message: String = [string] 2,
    }

    /// `ContainerStateRunning`.
    pub struct ContainerStateRunning {
        pub started_at: Option<Time> = [message, optional] 1,
    }

    /// `ContainerStateTerminated`.
    pub struct ContainerStateTerminated {
        pub exit_code: i32 = [int32] 1,
        pub signal: i32 = [int32] 2,
        pub reason: String = [string] 3,
        pub message: String = [string] 4,
        pub started_at: Option<Time> = [message, optional] 5,
        pub finished_at: Option<Time> = [message, optional] 6,
    }
}

wire_inline! {
    /// `Probe`.
    pub struct Probe {
        inline pub handler: ProbeHandler = 1,
        pub initial_delay_seconds: i32 = [int32] 2,
        pub timeout_seconds: i32 = [int32] 3,
        pub period_seconds: i32 = [int32] 4,
        pub success_threshold: i32 = [int32] 5,
        pub failure_threshold: i32 = [int32] 6,
    }

    /// `ConfigMapEnvSource`, `SecretEnvSource`: the whole object.
    pub struct ObjectSource {
        inline pub object: LocalObjectReference = 1,
        pub optional: Option<bool> = [bool, optional] 2,
    }

    /// `ConfigMapKeySelector`, `SecretKeySelector`: one key of the object.
    pub struct KeySelector {
        inline pub object: LocalObjectReference = 1,
        pub key: String = [string] 2,
        pub optional: Option<bool> = [bool, optional] 3,
    }
}

objects!(Pod);

impl Pod {
    /// The node the pod is bound to.
    pub fn node_name(&self) -> Option<&str> {
        [&self.moved_node_name, &self.spec.node_name].into_iter().map(String::as_str).find(|n| !n.is_empty())
    }

    /// When the kubelet took the pod on.
    pub fn start_time(&self) -> Option<Time> {
        self.moved_start_time.or(self.status.start_time)
    }

    /// True if the pod's phase is Succeeded or Failed: it holds nothing on its node any more.
    pub fn is_terminal(&self) -> bool {
        matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }

    /// True once the pod is being deleted.
    pub fn is_terminating(&self) -> bool {
        self.metadata.is_terminating()
    }

    /// The condition of this type, if the pod has one.
    pub fn condition(&self, r#type: &str) -> Option<&PodCondition> {
        self.status.conditions.iter().find(|c| c.r#type == r#type)
    }

    /// True if the Ready condition is True (upstream: `podutil.IsPodReady`).
    pub fn is_ready(&self) -> bool {
        self.condition("Ready").is_some_and(|c| c.status == "True")
    }

    /// True if ready for at least `min_ready_seconds` at `now` (upstream: `podutil.IsPodAvailable`).
    pub fn is_available(&self, min_ready_seconds: i32, now: Time) -> bool {
        let Some(ready) = self.condition("Ready").filter(|c| c.status == "True") else { return false };
        if min_ready_seconds == 0 {
            return true;
        }
        let Some(since) = ready.last_transition_time else { return false };
        // Upstream compares whole moments: since + minReadySeconds must not lie after now.
        Time { seconds: since.seconds.saturating_add(min_ready_seconds.into()), nanos: since.nanos } <= now
    }

    /// The pod's priority; 0 where admission set none (upstream: `corev1helpers.PodPriority`).
    pub fn priority(&self) -> i32 {
        self.spec.priority.unwrap_or(0)
    }

    /// `namespace/name`.
    pub fn full_name(&self) -> String {
        self.metadata.full_name()
    }

    /// How the pod is named as what stands in the way: `namespace/daemonset` for the pod of a
    /// DaemonSet, which has one on every node, else its own `namespace/name`.
    pub fn owner_name(&self) -> String {
        match self.metadata.controller().filter(|owner| owner.kind == "DaemonSet") {
            Some(owner) => format!("{}/{}", self.metadata.namespace, owner.name),
            None => self.full_name(),
        }
    }
}

impl Container {
    /// True for a sidecar: an init container that keeps running.
    pub fn is_sidecar(&self) -> bool {
        self.restart_policy.as_deref() == Some("Always")
    }

    /// The memory limit, if there is one.
    pub fn memory_limit(&self) -> Option<Quantity> {
        self.resources.limits.get("memory").copied()
    }
}
