//! In-tree volumes as the CSI drivers see them that took them over.
//!
//! Upstream: `k8s.io/csi-translation-lib` (v0.34.3 and v0.37.2 alike): `TranslateInTreePVToCSI`,
//! `TranslateInTreeInlineVolumeToCSI`; `isCSIMigrationOn` of
//! `pkg/scheduler/framework/plugins/nodevolumelimits/utils.go`. Azure File and vSphere volumes have
//! a translation, too, but the scheduler counts and moves them nowhere.

use super::affinity::{NodeSelector, NodeSelectorRequirement, NodeSelectorTerm};
use super::volume::{PersistentVolume, PersistentVolumeSource, VolumeNodeAffinity, VolumeSource};

const ZONE: &str = "topology.kubernetes.io/zone";
const REGION: &str = "topology.kubernetes.io/region";
const BETA_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
const BETA_REGION: &str = "failure-domain.beta.kubernetes.io/region";
/// Separates the zones of a volume's zone label.
pub const ZONE_DELIMITER: &str = "__";

/// An in-tree plugin whose volumes a CSI driver serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migration {
    /// The in-tree plugin.
    pub plugin: &'static str,
    /// The CSI driver.
    pub driver: &'static str,
    /// The node label that the driver keeps the zone in, if it has one.
    zone_key: Option<&'static str>,
}

const AWS: Migration =
    Migration { plugin: "kubernetes.io/aws-ebs", driver: "ebs.csi.aws.com", zone_key: Some("topology.ebs.csi.aws.com/zone") };
const GCE: Migration =
    Migration { plugin: "kubernetes.io/gce-pd", driver: "pd.csi.storage.gke.io", zone_key: Some("topology.gke.io/zone") };
const CINDER: Migration = Migration {
    plugin: "kubernetes.io/cinder",
    driver: "cinder.csi.openstack.org",
    zone_key: Some("topology.cinder.csi.openstack.org/zone"),
};
const AZURE: Migration = Migration { plugin: "kubernetes.io/azure-disk", driver: "disk.csi.azure.com", zone_key: None };
const PORTWORX: Migration = Migration { plugin: "kubernetes.io/portworx-volume", driver: "pxd.portworx.com", zone_key: None };

/// The migration of an in-tree plugin of this name (a storage class's provisioner).
pub fn of_plugin(name: &str) -> Option<Migration> {
    [AWS, GCE, CINDER, AZURE, PORTWORX].into_iter().find(|m| m.plugin == name)
}

/// True for a plugin that has a translation and yet is not counted.
pub fn is_uncounted_plugin(name: &str) -> bool {
    matches!(name, "kubernetes.io/azure-file" | "kubernetes.io/vsphere-volume")
}

/// The migration that a pod's inline volume falls under.
pub fn of_inline(source: &VolumeSource) -> Option<Migration> {
    if source.aws_elastic_block_store.is_some() {
        Some(AWS)
    } else if source.gce_persistent_disk.is_some() {
        Some(GCE)
    } else if source.cinder.is_some() {
        Some(CINDER)
    } else if source.azure_disk.is_some() {
        Some(AZURE)
    } else {
        source.portworx_volume.as_ref().map(|_| PORTWORX)
    }
}

/// The migration that a volume falls under.
pub fn of_volume(source: &PersistentVolumeSource) -> Option<Migration> {
    if source.aws_elastic_block_store.is_some() {
        Some(AWS)
    } else if source.gce_persistent_disk.is_some() {
        Some(GCE)
    } else if source.cinder.is_some() {
        Some(CINDER)
    } else if source.azure_disk.is_some() {
        Some(AZURE)
    } else {
        source.portworx_volume.as_ref().map(|_| PORTWORX)
    }
}

/// The driver's handle of an inline volume; an error in upstream's words.
pub fn inline_handle(source: &VolumeSource) -> Result<String, String> {
    if let Some(disk) = &source.aws_elastic_block_store {
        ebs_handle(&disk.volume_id)
    } else if let Some(disk) = &source.gce_persistent_disk {
        Ok(format!("projects/UNSPECIFIED/zones/UNSPECIFIED/disks/{}", disk.pd_name))
    } else if let Some(disk) = &source.cinder {
        Ok(disk.volume_id.clone())
    } else if let Some(disk) = &source.azure_disk {
        azure_handle(&disk.disk_uri, disk.kind.as_deref())
    } else {
        Ok(source.portworx_volume.as_ref().map(|p| p.volume_id.clone()).unwrap_or_default())
    }
}

/// The driver's handle of a volume; an error in upstream's words.
pub fn volume_handle(volume: &PersistentVolume) -> Result<String, String> {
    let source = &volume.spec.source;
    if let Some(disk) = &source.aws_elastic_block_store {
        ebs_handle(&disk.volume_id)
    } else if let Some(disk) = &source.gce_persistent_disk {
        gce_handle(volume, &disk.pd_name)
    } else if let Some(disk) = &source.cinder {
        Ok(disk.volume_id.clone())
    } else if let Some(disk) = &source.azure_disk {
        azure_handle(&disk.disk_uri, disk.kind.as_deref())
    } else {
        Ok(source.portworx_volume.as_ref().map(|p| p.volume_id.clone()).unwrap_or_default())
    }
}

/// The volume with the node affinity that its CSI driver would give it.
pub fn translated(volume: &PersistentVolume, migration: Migration) -> Result<PersistentVolume, String> {
    volume_handle(volume)?;
    let mut volume = volume.clone();
    if let Some(key) = migration.zone_key {
        translate_topology(&mut volume, key);
    }
    Ok(volume)
}

fn ebs_handle(id: &str) -> Result<String, String> {
    let fail = |why: String| Err(format!("failed to translate Kubernetes ID to EBS Volume ID {why}"));
    let Some(rest) = id.strip_prefix("aws://") else { return Ok(id.to_string()) };
    // Of a URL the path alone counts: what is behind the first slash after the host.
    let path = rest.split(['?', '#']).next().unwrap_or_default().split_once('/').map_or("", |(_, path)| path).trim_matches('/');
    match path.strip_prefix("vol-") {
        Some(name) if !name.contains('/') => Ok(path.to_string()),
        _ => fail(format!("Invalid format for AWS volume ({id})")),
    }
}

fn azure_handle(uri: &str, kind: Option<&str>) -> Result<String, String> {
    let kind = kind.unwrap_or("Shared"); // the API server's default
    if kind.eq_ignore_ascii_case("Managed") { Ok(uri.to_string()) } else { Err(format!("kind({kind}) is not supported in csi migration")) }
}

fn gce_handle(volume: &PersistentVolume, disk: &str) -> Result<String, String> {
    let labels = &volume.metadata.labels;
    let label = labels.get(BETA_ZONE).filter(|v| !v.is_empty()).or_else(|| labels.get(ZONE)).map_or("", String::as_str);
    let zones: Vec<&str> = label.split(ZONE_DELIMITER).collect();
    match zones.as_slice() {
        [] | [""] => Ok(format!("projects/UNSPECIFIED/zones/UNSPECIFIED/disks/{disk}")),
        [zone] => Ok(format!("projects/UNSPECIFIED/zones/{zone}/disks/{disk}")),
        zones => {
            let region = gce_region(zones).map_err(|why| format!("failed to get region from zones: {why}"))?;
            Ok(format!("projects/UNSPECIFIED/regions/{region}/disks/{disk}"))
        }
    }
}

fn gce_region(zones: &[&str]) -> Result<String, String> {
    let mut regions: Vec<String> = Vec::new();
    for zone in zones {
        let [locale, region, _] = zone.split('-').collect::<Vec<_>>()[..] else {
            return Err(format!("zone in unexpected format, expected: {{locale}}-{{region}}-{{zone}}, got: {zone}"));
        };
        let region = format!("{locale}-{region}");
        if !regions.contains(&region) {
            regions.push(region);
        }
    }
    match regions.as_slice() {
        [region] => Ok(region.clone()),
        _ => Err(format!("multiple or no regions gotten from zones, got: {}", regions.join(" "))),
    }
}

/// Replaces the zone in the node affinity by the driver's, or takes it from the labels.
fn translate_topology(volume: &mut PersistentVolume, key: &str) {
    let has = |volume: &PersistentVolume, key: &str| requirements(volume).any(|r| r.key == key);
    let (zone, beta) = if has(volume, ZONE) {
        (ZONE, false)
    } else if has(volume, BETA_ZONE) {
        (BETA_ZONE, true)
    } else if volume.metadata.labels.contains_key(ZONE) {
        (ZONE, false)
    } else if volume.metadata.labels.contains_key(BETA_ZONE) {
        (BETA_ZONE, true)
    } else {
        (ZONE, false)
    };
    if requirements(volume).any(|r| r.key == zone && !r.values.is_empty()) {
        rename(volume, zone, key);
    } else if let Some(label) = volume.metadata.labels.get(zone) {
        let mut zones: Vec<String> = label.split(ZONE_DELIMITER).map(|z| z.trim().to_string()).filter(|z| !z.is_empty()).collect();
        zones.sort();
        zones.dedup();
        if !zones.is_empty() {
            add(volume, NodeSelectorRequirement { key: key.into(), operator: "In".into(), values: zones });
        }
    }
    if beta && requirements(volume).any(|r| r.key == BETA_REGION && !r.values.is_empty()) {
        rename(volume, BETA_REGION, REGION);
    }
}

fn requirements(volume: &PersistentVolume) -> impl Iterator<Item = &NodeSelectorRequirement> {
    let required = volume.spec.node_affinity.as_ref().and_then(|a| a.required.as_ref());
    required.into_iter().flat_map(|r| &r.node_selector_terms).flat_map(|t| &t.match_expressions)
}

fn rename(volume: &mut PersistentVolume, old: &str, new: &str) {
    let required = volume.spec.node_affinity.as_mut().and_then(|a| a.required.as_mut());
    for term in required.into_iter().flat_map(|r| &mut r.node_selector_terms) {
        for requirement in term.match_expressions.iter_mut().filter(|r| r.key == old) {
            requirement.key = new.to_string();
        }
    }
}

fn add(volume: &mut PersistentVolume, requirement: NodeSelectorRequirement) {
    let affinity = volume.spec.node_affinity.get_or_insert_with(VolumeNodeAffinity::default);
    let terms = &mut affinity.required.get_or_insert_with(NodeSelector::default).node_selector_terms;
    if terms.is_empty() {
        terms.push(NodeSelectorTerm::default());
    }
    for term in terms {
        term.match_expressions.push(requirement.clone());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn handles_as_the_drivers_name_them() {
        for (labels, source, want) in [
            (json!({}), json!({"awsElasticBlockStore": {"volumeID": "vol-1"}}), Ok("vol-1")),
            (json!({}), json!({"awsElasticBlockStore": {"volumeID": "aws://us-east-1a/vol-1"}}), Ok("vol-1")),
            (json!({}), json!({"awsElasticBlockStore": {"volumeID": "aws:///vol-1"}}), Ok("vol-1")),
            (json!({}), json!({"awsElasticBlockStore": {"volumeID": "aws://us-east-1a/disk"}}), Err(())),
            (json!({}), json!({"gcePersistentDisk": {"pdName": "d"}}), Ok("projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d")),
            (
                json!({ZONE: "eu-west1-b"}),
                json!({"gcePersistentDisk": {"pdName": "d"}}),
                Ok("projects/UNSPECIFIED/zones/eu-west1-b/disks/d"),
            ),
            (
                json!({BETA_ZONE: "eu-west1-b__eu-west1-c"}),
                json!({"gcePersistentDisk": {"pdName": "d"}}),
                Ok("projects/UNSPECIFIED/regions/eu-west1/disks/d"),
            ),
            (json!({ZONE: "a__b"}), json!({"gcePersistentDisk": {"pdName": "d"}}), Err(())),
            (json!({}), json!({"azureDisk": {"diskURI": "/d", "kind": "managed"}}), Ok("/d")),
            (json!({}), json!({"azureDisk": {"diskURI": "/d", "kind": "Shared"}}), Err(())),
        ] {
            let volume: PersistentVolume = serde_json::from_value(json!({"metadata": {"labels": labels}, "spec": source})).unwrap();
            assert_eq!(volume_handle(&volume).as_deref().map_err(|_| ()), want, "{source} {labels}");
        }
    }

    #[test]
    fn the_zone_becomes_the_drivers() {
        let volume: PersistentVolume =
            serde_json::from_value(json!({"metadata": {"labels": {ZONE: "b__a"}}, "spec": {"awsElasticBlockStore": {"volumeID": "v"}}}))
                .unwrap();
        let translated = translated(&volume, AWS).unwrap();
        let found: Vec<String> = requirements(&translated).map(ToString::to_string).collect();
        assert_eq!(found, ["topology.ebs.csi.aws.com/zone In [a b]"]);
    }
}
