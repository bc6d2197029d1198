//! What several tests need: objects from JSON values, and the labelled corpora.
#![allow(dead_code)] // each test binary uses its own part

use std::path::{Path, PathBuf};

use ds_doctor::model::snapshot::Snapshot;
use serde_json::Value;

/// Reads objects by their kind; kinds that the tool does not use are skipped.
pub fn snapshot(objects: &[Value], version: &str) -> Snapshot {
    let mut s = Snapshot { version: version.parse().unwrap(), version_text: Some(version.into()), ..Snapshot::default() };
    macro_rules! read {
        ($value:expr, $kind:expr, $($name:literal => $field:ident),* $(,)?) => {
            match $kind {
                $($name => s.objects.$field.items.push(serde_json::from_value($value.clone()).unwrap()),)*
                _ => {}
            }
        };
    }
    for object in objects {
        read!(object, object["kind"].as_str().unwrap_or_default(),
            "Node" => nodes, "Pod" => pods, "DaemonSet" => daemon_sets, "ControllerRevision" => controller_revisions,
            "Event" => events, "Namespace" => namespaces, "ServiceAccount" => service_accounts,
            "PriorityClass" => priority_classes, "RuntimeClass" => runtime_classes, "LimitRange" => limit_ranges,
            "ResourceQuota" => resource_quotas, "PodDisruptionBudget" => pod_disruption_budgets,
            "PersistentVolumeClaim" => persistent_volume_claims, "PersistentVolume" => persistent_volumes,
            "StorageClass" => storage_classes, "CSINode" => csi_nodes, "CSIDriver" => csi_drivers,
            "CSIStorageCapacity" => csi_storage_capacities, "VolumeAttachment" => volume_attachments,
            "ResourceClaim" => resource_claims, "ResourceClaimTemplate" => resource_claim_templates,
            "DeviceClass" => device_classes, "ResourceSlice" => resource_slices, "Lease" => leases,
            "ValidatingWebhookConfiguration" => validating_webhooks, "MutatingWebhookConfiguration" => mutating_webhooks,
            "Service" => services, "EndpointSlice" => endpoint_slices, "DeviceTaintRule" => device_taint_rules,
            "HorizontalPodAutoscaler" => horizontal_pod_autoscalers,
        );
    }
    s
}

/// The corpus files: every `tests/corpus/*.jsonl.zst`, or those of the folder `CORPUS_DIR` instead.
pub fn corpora() -> Vec<PathBuf> {
    let folder = std::env::var_os("CORPUS_DIR").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus"), PathBuf::from);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).filter(|p| p.to_string_lossy().ends_with(".jsonl.zst")).collect();
    files.sort();
    files
}

/// The cases of one corpus file.
pub fn cases(file: &Path) -> impl Iterator<Item = Value> {
    use std::io::BufRead;
    let mut decoder = zstd::Decoder::new(std::fs::File::open(file).unwrap()).unwrap();
    decoder.window_log_max(27).unwrap();
    std::io::BufReader::new(decoder).lines().map(|l| serde_json::from_str(&l.unwrap()).unwrap())
}
