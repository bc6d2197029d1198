//! Which Kubernetes version's rules apply, and what differs between them.

use std::fmt;
use std::str::FromStr;

/// The newest minor version whose rules are known here.
pub const NEWEST: ServerVersion = ServerVersion { major: 1, minor: 37 };

/// A Kubernetes version: rules change with the minor version only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServerVersion {
    /// `1`.
    pub major: u32,
    /// `37` of `v1.37.2`.
    pub minor: u32,
}

/// The text is not a Kubernetes version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a Kubernetes version (such as v1.34.3)")]
pub struct InvalidVersion(pub String);

impl FromStr for ServerVersion {
    type Err = InvalidVersion;

    /// Reads `v1.34.3`, `1.34` and vendors' forms such as `v1.33.4-gke.100` or `1.32+`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidVersion(text.chars().take(80).collect());
        let mut parts = text.trim().trim_start_matches('v').splitn(3, '.');
        let mut number = |whole: bool| -> Option<u32> {
            let part = parts.next()?;
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            if whole && digits.len() != part.len() { None } else { digits.parse().ok() }
        };
        let major = number(true).ok_or_else(invalid)?;
        let minor = number(false).ok_or_else(invalid)?;
        Ok(ServerVersion { major, minor })
    }
}

impl fmt::Display for ServerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}.{}", self.major, self.minor)
    }
}

/// Feature gates that bear on a verdict, as they are on by default in a version
/// (upstream: `pkg/features/kube_features.go`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// `TaintTolerationComparisonOperators`: the toleration operators Lt and Gt. Alpha, off.
    pub toleration_comparison: bool,
    /// `PodLevelResources`: `spec.resources` of a pod.
    pub pod_level_resources: bool,
    /// `PodLevelResourcesFixDefaulting`: pod-level defaults are set after admission, not before.
    pub pod_level_defaults_after_admission: bool,
    /// `InPlacePodVerticalScaling`: requests of a running pod may come from its status.
    pub in_place_resize: bool,
    /// From 1.37 on the pod's sums are compared, before it each container's amounts.
    pub resize_by_sums: bool,
    /// `InPlacePodLevelResourcesVerticalScaling`.
    pub in_place_pod_level_resize: bool,
    /// `DynamicResourceAllocation`.
    pub dynamic_resources: bool,
    /// `DRAExtendedResource`: extended resources backed by device classes.
    pub dra_extended_resources: bool,
    /// `DRADeviceTaints`.
    pub dra_device_taints: bool,
    /// `DRADeviceTaintRules`.
    pub dra_device_taint_rules: bool,
    /// `DRAPartitionableDevices`; from the same minor on the incubating allocator is used.
    pub dra_partitionable_devices: bool,
    /// `DRAConsumableCapacity`.
    pub dra_consumable_capacity: bool,
    /// `DRAFractionalCapacityRange`.
    pub dra_fractional_capacity: bool,
    /// `DRADeviceBindingConditions`.
    pub dra_binding_conditions: bool,
    /// `NodeDeclaredFeatures`.
    pub node_declared_features: bool,
    /// `VolumeLimitScaling`.
    pub volume_limit_scaling: bool,
    /// A pod's overhead has to equal its RuntimeClass's exactly, not only rounded to thousandths.
    pub exact_overhead: bool,
    /// The scheduler forgets that a namespaceSelector was resolved, so one that an empty set of
    /// labels meets (NotIn, DoesNotExist) selects every namespace. A bug of 1.34 to 1.36.
    pub namespace_selector_kept: bool,
    /// `MatchLabelKeysInPodTopologySpreadSelectorMerge`: creation merges the keys of spread constraints into their selectors.
    pub spread_keys_merged: bool,
    /// The scheduler heeds the nomination of a pod that is held back before its queue.
    pub gated_nominations: bool,
    /// The NodeName plugin answers in PreFilter, with the text of a pre-filtered node.
    pub node_name_prefilters: bool,
}

impl ServerVersion {
    /// The defaults of this version.
    pub fn features(self) -> Features {
        let from = |minor| self >= ServerVersion { major: 1, minor };
        Features {
            toleration_comparison: false,
            pod_level_resources: from(34),
            pod_level_defaults_after_admission: from(37),
            in_place_resize: from(33),
            resize_by_sums: from(37),
            in_place_pod_level_resize: from(36),
            dynamic_resources: from(34),
            dra_extended_resources: from(36),
            dra_device_taints: from(36),
            dra_device_taint_rules: from(37),
            dra_partitionable_devices: from(36),
            dra_consumable_capacity: from(36),
            dra_fractional_capacity: from(37),
            dra_binding_conditions: from(36),
            node_declared_features: from(36),
            volume_limit_scaling: from(37),
            exact_overhead: from(37),
            namespace_selector_kept: from(34) && !from(37),
            spread_keys_merged: from(34),
            gated_nominations: from(37),
            node_name_prefilters: from(37),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_versions() {
        for (text, want) in [
            ("v1.34.3", Some((1, 34))),
            ("1.37", Some((1, 37))),
            ("v1.33.4-gke.100", Some((1, 33))),
            ("1.32+", Some((1, 32))),
            ("latest", None),
            ("v1", None),
            ("", None),
        ] {
            assert_eq!(text.parse().ok().map(|v: ServerVersion| (v.major, v.minor)), want, "{text}");
        }
    }
}
