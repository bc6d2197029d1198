//! What the trees of dump tools tell by the names of their files.
//!
//! `kubectl cluster-info dump` and `oc adm inspect` (hence must-gather) write lists and objects that
//! name their kind; replicatedhq support bundles write bare arrays into files named after it.

use std::path::Path;

use super::ingest::Kind;
use super::read_error::ReadError;

/// Short names that support bundles give to resources.
const SHORT: &[(&str, &str)] = &[("pvs", "persistentvolumes"), ("pvcs", "persistentvolumeclaims"), ("resourcequota", "resourcequotas")];

/// The kind that the file's name, or its folders', says its objects are of:
/// `cluster-resources/pods/default.json`, `nodes.json`.
pub fn kind_of_path(path: &str) -> Option<Kind> {
    let names = Path::new(path).iter().rev().take(3).filter_map(|n| n.to_str());
    names.map(|n| n.split('.').next().unwrap_or(n).replace('-', "")).find_map(|name| {
        let name = SHORT.iter().find(|(short, _)| *short == name).map_or(name.as_str(), |(_, long)| long);
        Kind::of_resource(name)
    })
}

/// True for a file's name that says JSON or YAML, also packed.
pub fn is_text_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let plain = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    [".json", ".yaml", ".yml", ".jsonl"].iter().any(|end| plain.ends_with(end))
}

/// True if a file of a tree may be left out although it cannot be read: neither its name nor its
/// beginning has anything of the objects that a snapshot is made of.
pub fn is_beside(path: &str, start: &[u8], error: &ReadError) -> bool {
    let unreadable =
        matches!(error, ReadError::Syntax { .. } | ReadError::Binary { .. } | ReadError::Zip { .. } | ReadError::TooLarge { .. });
    let head = start.get(..start.len().min(4096)).unwrap_or_default();
    let named = [b"\"kind\"".as_slice(), b"kind:"].iter().any(|key| head.windows(key.len()).any(|w| w == *key));
    unreadable && !named && kind_of_path(path).is_none()
}

/// The Kubernetes version of an OpenShift release: 4.16 is 1.29.
pub fn openshift_version(release: &str) -> Option<String> {
    let minor: u32 = release.strip_prefix("4.")?.split('.').next()?.parse().ok()?;
    Some(format!("v1.{} (OpenShift {release})", minor.checked_add(13)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_kinds() {
        for (path, want) in [
            ("bundle/cluster-resources/pods/kube-system.json", Some("Pod")),
            ("bundle/cluster-resources/nodes.json", Some("Node")),
            ("x/storage-classes.json", Some("StorageClass")),
            ("x/pvcs/default.json", Some("PersistentVolumeClaim")),
            ("x/cluster-resources/resource-quota/default.json", Some("ResourceQuota")),
            ("x/cluster-resources/pod-disruption-budgets/default.json", Some("PodDisruptionBudget")),
            ("x/nodes.json.gz", Some("Node")),
            ("x/deployments/default.json", None),
            ("a.json", None),
        ] {
            assert_eq!(kind_of_path(path).map(Kind::name), want, "{path}");
        }
    }

    #[test]
    fn openshift_counts_thirteen_behind() {
        assert_eq!(openshift_version("4.16.3").as_deref(), Some("v1.29 (OpenShift 4.16.3)"));
        assert_eq!(openshift_version("3.11").as_deref(), None);
    }
}
