//! What admission and preemption consult: classes, limits, quotas, budgets, webhooks, accounts.
//! Upstream: `k8s.io/api` `core/v1`, `scheduling/v1`, `node/v1`, `policy/v1`,
//! `admissionregistration/v1`, `discovery/v1`, `coordination/v1`, `autoscaling/v1` (v0.37.2).

use super::affinity::Toleration;
use super::int_or_string::IntOrString;
use super::node::ResourceList;
use super::object::{LabelSelector, LocalObjectReference, ObjectMeta, StringMap, objects};
use super::time::Time;
use super::wire::{wire, wire_inline};

wire! {
    /// `Namespace`; its labels and annotations steer admission and selectors.
    pub struct Namespace {
        pub metadata: ObjectMeta = [message, required] 1,
        pub status: NamespaceStatus = [message, required] 3,
    }

    /// `NamespaceStatus`.
    pub struct NamespaceStatus {
        pub phase: String = [string] 1,
    }

    /// `ServiceAccount`.
    pub struct ServiceAccount {
        pub metadata: ObjectMeta = [message, required] 1,
        pub image_pull_secrets: Vec<LocalObjectReference> = [message, repeated] 3,
    }

    /// `PriorityClass`.
    pub struct PriorityClass {
        pub metadata: ObjectMeta = [message, required] 1,
        pub value: i32 = [int32] 2,
        pub global_default: bool = [bool] 3,
        pub preemption_policy: Option<String> = [string, optional] 5,
    }

    /// `RuntimeClass`.
    pub struct RuntimeClass {
        pub metadata: ObjectMeta = [message, required] 1,
        pub handler: String = [string] 2,
        pub overhead: Option<Overhead> = [message, optional] 3,
        pub scheduling: Option<RuntimeClassScheduling> = [message, optional] 4,
    }

    /// `Overhead`.
    pub struct Overhead {
        pub pod_fixed: ResourceList = [btree_map = "string, message"] 1,
    }

    /// `Scheduling` of a RuntimeClass.
    pub struct RuntimeClassScheduling {
        pub node_selector: StringMap = [btree_map = "string, string"] 1,
        pub tolerations: Vec<Toleration> = [message, repeated] 2,
    }

    /// `HorizontalPodAutoscaler`.
    pub struct HorizontalPodAutoscaler {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: HorizontalPodAutoscalerSpec = [message, required] 2,
    }

    /// `HorizontalPodAutoscalerSpec`: what it scales; the same in every version.
    pub struct HorizontalPodAutoscalerSpec {
        pub scale_target_ref: CrossVersionObjectReference = [message, required] 1,
    }

    /// `CrossVersionObjectReference`.
    pub struct CrossVersionObjectReference {
        pub kind: String = [string] 1,
        pub name: String = [string] 2,
    }

    /// `LimitRange`.
    pub struct LimitRange {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: LimitRangeSpec = [message, required] 2,
    }

    /// `LimitRangeSpec`.
    pub struct LimitRangeSpec {
        pub limits: Vec<LimitRangeItem> = [message, repeated] 1,
    }

    /// `LimitRangeItem`.
    pub struct LimitRangeItem {
        pub r#type: String = [string] 1,
        pub max: ResourceList = [btree_map = "string, message"] 2,
        pub min: ResourceList = [btree_map = "string, message"] 3,
        pub default: ResourceList = [btree_map = "string, message"] 4,
        pub default_request: ResourceList = [btree_map = "string, message"] 5,
        pub max_limit_request_ratio: ResourceList = [btree_map = "string, message"] 6,
    }

    /// `ResourceQuota`.
    pub struct ResourceQuota {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: ResourceQuotaSpec = [message, required] 2,
        pub status: ResourceQuotaStatus = [message, required] 3,
    }

    /// `ResourceQuotaSpec`.
    pub struct ResourceQuotaSpec {
        pub hard: ResourceList = [btree_map = "string, message"] 1,
        pub scopes: Vec<String> = [string, repeated] 2,
        pub scope_selector: Option<ScopeSelector> = [message, optional] 3,
    }

    /// `ScopeSelector`.
    pub struct ScopeSelector {
        pub match_expressions: Vec<ScopedResourceSelectorRequirement> = [message, repeated] 1,
    }

    /// `ScopedResourceSelectorRequirement`.
    pub struct ScopedResourceSelectorRequirement {
        pub scope_name: String = [string] 1,
        pub operator: String = [string] 2,
        pub values: Vec<String> = [string, repeated] 3,
    }

    /// `ResourceQuotaStatus`.
    pub struct ResourceQuotaStatus {
        pub hard: ResourceList = [btree_map = "string, message"] 1,
        pub used: ResourceList = [btree_map = "string, message"] 2,
    }

    /// `PodDisruptionBudget`.
    pub struct PodDisruptionBudget {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: PodDisruptionBudgetSpec = [message, required] 2,
        pub status: PodDisruptionBudgetStatus = [message, required] 3,
    }

    /// `PodDisruptionBudgetSpec`.
    pub struct PodDisruptionBudgetSpec {
        pub min_available: Option<IntOrString> = [message, optional] 1,
        pub selector: Option<LabelSelector> = [message, optional] 2,
        pub max_unavailable: Option<IntOrString> = [message, optional] 3,
    }

    /// `PodDisruptionBudgetStatus`.
    pub struct PodDisruptionBudgetStatus {
        pub disrupted_pods: std::collections::BTreeMap<String, Time> = [btree_map = "string, message"] 2,
        pub disruptions_allowed: i32 = [int32] 3,
    }

    /// `Lease`.
    pub struct Lease {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: LeaseSpec = [message, required] 2,
    }

    /// `LeaseSpec`.
    pub struct LeaseSpec {
        pub holder_identity: Option<String> = [string, optional] 1,
        pub lease_duration_seconds: Option<i32> = [int32, optional] 2,
        pub renew_time: Option<Time> = [message, optional] 4,
    }

    /// `ValidatingWebhookConfiguration`.
    pub struct ValidatingWebhookConfiguration {
        pub metadata: ObjectMeta = [message, required] 1,
        pub webhooks: Vec<ValidatingWebhook> = [message, repeated] 2,
    }

    /// `MutatingWebhookConfiguration`.
    pub struct MutatingWebhookConfiguration {
        pub metadata: ObjectMeta = [message, required] 1,
        pub webhooks: Vec<MutatingWebhook> = [message, repeated] 2,
    }

    /// `ValidatingWebhook`.
    pub struct ValidatingWebhook {
        pub name: String = [string] 1,
        pub client_config: WebhookClientConfig = [message, required] 2,
        pub rules: Vec<RuleWithOperations> = [message, repeated] 3,
        pub failure_policy: Option<String> = [string, optional] 4,
        pub namespace_selector: Option<LabelSelector> = [message, optional] 5,
        pub object_selector: Option<LabelSelector> = [message, optional] 10,
        pub match_conditions: Vec<MatchCondition> = [message, repeated] 11,
    }

    /// `MutatingWebhook`.
    pub struct MutatingWebhook {
        pub name: String = [string] 1,
        pub client_config: WebhookClientConfig = [message, required] 2,
        pub rules: Vec<RuleWithOperations> = [message, repeated] 3,
        pub failure_policy: Option<String> = [string, optional] 4,
        pub namespace_selector: Option<LabelSelector> = [message, optional] 5,
        pub object_selector: Option<LabelSelector> = [message, optional] 11,
        pub match_conditions: Vec<MatchCondition> = [message, repeated] 12,
    }

    /// `MatchCondition`, without its expression: it is CEL.
    pub struct MatchCondition {
        pub name: String = [string] 1,
    }

    /// `WebhookClientConfig`.
    pub struct WebhookClientConfig {
        pub service: Option<ServiceReference> = [message, optional] 1,
        pub url: Option<String> = [string, optional] 3,
    }

    /// `ServiceReference`.
    pub struct ServiceReference {
        pub namespace: String = [string] 1,
        pub name: String = [string] 2,
    }

    /// `Rule`.
    pub struct Rule {
        pub api_groups: Vec<String> = [string, repeated] 1,
        pub api_versions: Vec<String> = [string, repeated] 2,
        pub resources: Vec<String> = [string, repeated] 3,
        pub scope: Option<String> = [string, optional] 4,
    }

    /// `Service`.
    pub struct Service {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: ServiceSpec = [message, required] 2,
    }

    /// `ServiceSpec`.
    pub struct ServiceSpec {
        pub selector: StringMap = [btree_map = "string, string"] 2,
    }

    /// `EndpointSlice`.
    pub struct EndpointSlice {
        pub metadata: ObjectMeta = [message, required] 1,
        pub endpoints: Vec<Endpoint> = [message, repeated] 2,
    }

    /// `Endpoint`.
    pub struct Endpoint {
        pub conditions: EndpointConditions = [message, required] 2,
    }

    /// `EndpointConditions`.
    pub struct EndpointConditions {
        pub ready: Option<bool> = [bool, optional] 1,
    }
}

wire_inline! {
    /// `RuleWithOperations`.
    pub struct RuleWithOperations {
        inline pub rule: Rule = 2,
        pub operations: Vec<String> = [string, repeated] 1,
    }
}

objects!(
    Namespace,
    ServiceAccount,
    PriorityClass,
    RuntimeClass,
    HorizontalPodAutoscaler,
    LimitRange,
    ResourceQuota,
    PodDisruptionBudget,
    Lease,
    ValidatingWebhookConfiguration,
    MutatingWebhookConfiguration,
    Service,
    EndpointSlice,
);
