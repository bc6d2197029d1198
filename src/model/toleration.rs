//! Which taints a pod tolerates.
//!
//! Upstream: `v1.Toleration.ToleratesTaint` of `k8s.io/api/core/v1/toleration.go` and
//! `AddOrUpdateDaemonPodTolerations` of `pkg/controller/daemon/util/daemonset_util.go` (v1.37.2).

use super::affinity::Toleration;
use super::node::Taint;
use super::pod::PodSpec;

/// True if the toleration tolerates the taint; `comparison` switches the operators Lt and Gt on.
pub fn tolerates(toleration: &Toleration, taint: &Taint, comparison: bool) -> bool {
    if !toleration.effect.is_empty() && toleration.effect != taint.effect {
        return false;
    }
    if !toleration.key.is_empty() && toleration.key != taint.key {
        return false;
    }
    match toleration.operator.as_str() {
        "" | "Equal" => toleration.value == taint.value,
        "Exists" => true,
        "Lt" | "Gt" if comparison => {
            let (Some(limit), Some(value)) = (decimal(&toleration.value), decimal(&taint.value)) else { return false };
            if toleration.operator == "Lt" { value < limit } else { value > limit }
        }
        _ => false,
    }
}

/// A whole number without sign `+`, leading zeros or blanks, as upstream's `IsDecimalInteger`.
fn decimal(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let canonical = digits == "0" && text != "-0" || !digits.starts_with('0');
    if !canonical || digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// The taints with one of these effects that no toleration tolerates, with their index.
pub fn untolerated<'a>(
    taints: &'a [Taint],
    tolerations: &'a [Toleration],
    effects: &'a [&'a str],
    comparison: bool,
) -> impl Iterator<Item = (usize, &'a Taint)> {
    taints
        .iter()
        .enumerate()
        .filter(move |(_, taint)| effects.contains(&taint.effect.as_str()) && !tolerations.iter().any(|t| tolerates(t, taint, comparison)))
}

/// The taints that the controller tolerates for every DaemonSet pod, as key and effect.
pub const DAEMON_TOLERATIONS: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

/// The tolerations of a pod that the controller makes from this template: the template's own,
/// and those for node conditions (for the missing network only with the host's network).
pub fn daemon_pod_tolerations(template: &PodSpec) -> Vec<Toleration> {
    let mut tolerations = template.tolerations.clone();
    let network = template.host_network.then_some(("node.kubernetes.io/network-unavailable", "NoSchedule"));
    for (key, effect) in DAEMON_TOLERATIONS.into_iter().chain(network) {
        let added = Toleration { key: key.into(), operator: "Exists".into(), effect: effect.into(), ..Toleration::default() };
        let same =
            |t: &&mut Toleration| t.key == added.key && t.effect == added.effect && t.operator == added.operator && t.value == added.value;
        match tolerations.iter_mut().find(same) {
            // Upstream replaces the template's own, and so its tolerationSeconds.
            Some(own) => *own = added,
            None => tolerations.push(added),
        }
    }
    tolerations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerations_as_upstream() {
        let taint = |value: &str| Taint { key: "k".into(), value: value.into(), effect: "NoSchedule".into(), time_added: None };
        for (key, operator, value, effect, taint_value, comparison, want) in [
            ("k", "", "v", "", "v", false, true),
            ("k", "Equal", "", "", "v", false, false),
            ("k", "Equal", "", "", "", false, true),
            ("", "Exists", "", "", "v", false, true),
            ("k", "Exists", "", "NoExecute", "v", false, false),
            ("other", "Exists", "", "", "v", false, false),
            ("", "", "v", "", "v", false, true),
            ("k", "Gt", "5", "", "6", false, false),
            ("k", "Gt", "5", "", "6", true, true),
            ("k", "Lt", "5", "", "4", true, true),
            ("k", "Lt", "5", "", "04", true, false),
            ("k", "Gt", "-3", "", "-2", true, true),
            ("k", "Near", "v", "", "v", true, false),
        ] {
            let t = Toleration {
                key: key.into(),
                operator: operator.into(),
                value: value.into(),
                effect: effect.into(),
                toleration_seconds: Some(0),
            };
            assert_eq!(tolerates(&t, &taint(taint_value), comparison), want, "{t:?} {taint_value}");
        }
    }

    #[test]
    fn the_controller_tolerates_node_conditions_with_one_effect_each() {
        let tolerations = daemon_pod_tolerations(&PodSpec::default());
        let untolerated_keys = |key: &str, effect: &str, tolerations: &[Toleration]| {
            let taints = [Taint { key: key.into(), effect: effect.into(), ..Taint::default() }];
            untolerated(&taints, tolerations, &["NoSchedule", "NoExecute"], false).count()
        };
        for (key, effect, want) in [
            ("node.kubernetes.io/not-ready", "NoExecute", 0),
            ("node.kubernetes.io/not-ready", "NoSchedule", 1),
            ("node.kubernetes.io/memory-pressure", "NoSchedule", 0),
            ("node.kubernetes.io/memory-pressure", "NoExecute", 1),
            ("node.kubernetes.io/unschedulable", "NoSchedule", 0),
            ("node.kubernetes.io/network-unavailable", "NoSchedule", 1),
            ("node.kubernetes.io/network-unavailable", "PreferNoSchedule", 0),
        ] {
            assert_eq!(untolerated_keys(key, effect, &tolerations), want, "{key}:{effect}");
        }
        let host = daemon_pod_tolerations(&PodSpec { host_network: true, ..PodSpec::default() });
        assert_eq!(untolerated_keys("node.kubernetes.io/network-unavailable", "NoSchedule", &host), 0);
    }
}
