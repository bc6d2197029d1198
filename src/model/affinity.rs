//! Affinity, tolerations and spread constraints. Upstream: `k8s.io/api/core/v1` (v0.37.2).
//! Preferences never keep a pod off a node; those between pods are held because a pod may be refused for them.

use super::object::LabelSelector;
use super::pod::PodSpec;
use super::wire::wire;

wire! {
    /// `Affinity`.
    pub struct Affinity {
        pub node_affinity: Option<NodeAffinity> = [message, optional] 1,
        pub pod_affinity: Option<PodAffinity> = [message, optional] 2,
        pub pod_anti_affinity: Option<PodAffinity> = [message, optional] 3,
    }

    /// `NodeAffinity`.
    pub struct NodeAffinity {
        #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
        pub required: Option<NodeSelector> = [message, optional] 1,
    }

    /// `NodeSelector`: the terms are alternatives.
    pub struct NodeSelector {
        pub node_selector_terms: Vec<NodeSelectorTerm> = [message, repeated] 1,
    }

    /// `NodeSelectorTerm`: the requirements all have to hold; none at all matches nothing.
    pub struct NodeSelectorTerm {
        pub match_expressions: Vec<NodeSelectorRequirement> = [message, repeated] 1,
        pub match_fields: Vec<NodeSelectorRequirement> = [message, repeated] 2,
    }

    /// `NodeSelectorRequirement`.
    pub struct NodeSelectorRequirement {
        pub key: String = [string] 1,
        pub operator: String = [string] 2,
        pub values: Vec<String> = [string, repeated] 3,
    }

    /// `PodAffinity` and `PodAntiAffinity`.
    pub struct PodAffinity {
        #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
        pub required: Vec<PodAffinityTerm> = [message, repeated] 1,
        #[serde(rename = "preferredDuringSchedulingIgnoredDuringExecution")]
        pub preferred: Vec<WeightedPodAffinityTerm> = [message, repeated] 2,
    }

    /// `WeightedPodAffinityTerm`, without the weight.
    pub struct WeightedPodAffinityTerm {
        pub pod_affinity_term: PodAffinityTerm = [message, required] 2,
    }

    /// `PodAffinityTerm`.
    pub struct PodAffinityTerm {
        pub label_selector: Option<LabelSelector> = [message, optional] 1,
        pub namespaces: Vec<String> = [string, repeated] 2,
        pub topology_key: String = [string] 3,
        pub namespace_selector: Option<LabelSelector> = [message, optional] 4,
        pub match_label_keys: Vec<String> = [string, repeated] 5,
        pub mismatch_label_keys: Vec<String> = [string, repeated] 6,
    }

    /// `TopologySpreadConstraint`.
    pub struct TopologySpreadConstraint {
        pub max_skew: i32 = [int32] 1,
        pub topology_key: String = [string] 2,
        pub when_unsatisfiable: String = [string] 3,
        pub label_selector: Option<LabelSelector> = [message, optional] 4,
        pub min_domains: Option<i32> = [int32, optional] 5,
        pub node_affinity_policy: Option<String> = [string, optional] 6,
        pub node_taints_policy: Option<String> = [string, optional] 7,
        pub match_label_keys: Vec<String> = [string, repeated] 8,
    }

    /// `Toleration`.
    pub struct Toleration {
        pub key: String = [string] 1,
        pub operator: String = [string] 2,
        pub value: String = [string] 3,
        pub effect: String = [string] 4,
        pub toleration_seconds: Option<i64> = [int64, optional] 5,
    }
}

/// The required anti-affinity terms of a spec.
pub fn anti_affinity_of(spec: &PodSpec) -> &[PodAffinityTerm] {
    spec.affinity.as_ref().and_then(|a| a.pod_anti_affinity.as_ref()).map_or(&[], |a| &a.required)
}

impl std::fmt::Display for NodeSelectorRequirement {
    /// `key Operator [values]`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.key, self.operator)?;
        if !self.values.is_empty() {
            write!(f, " [{}]", self.values.join(" "))?;
        }
        Ok(())
    }
}
