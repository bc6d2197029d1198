//! VolumeRestrictions: disks that only one pod may use, and ReadWriteOncePod claims.
//!
//! Upstream: `pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go`,
//! `PreFilter`, `Filter` (v1.34.3, v1.37.2).

use super::{Cycle, Failure, Filter, Finding, Plugin, Verdict};
use crate::cause::{ClaimProblem, Entry, Evidence, Fact, Stage};
use crate::model::node_info::NodeInfo;
use crate::model::pod::Pod;
use crate::model::storage::Storage;
use crate::model::volume::{Volume, VolumeSource};

/// The plugin.
pub const PLUGIN: Plugin = Plugin { name: "VolumeRestrictions", entry: &ENTRY, prefilter };

const DISK_CONFLICT: &str = "node(s) had no available disk";
const ONE_POD_CONFLICT: &str =
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";

static ENTRY: Entry = Entry {
    code: "VolumeRestrictions",
    stage: Stage::Scheduling,
    summary: "A volume that only one pod may use is in use, or a claim does not exist",
    doc: "\
## What it means
The pod names a disk (AWS EBS, GCE PD, iSCSI, Ceph RBD) in its own spec that another pod on the node uses, or a claim with access mode
ReadWriteOncePod that another pod in the cluster uses. A DaemonSet whose pods all name one such volume can run on one node at most. A claim
that does not exist fails this check, too, with NodeVolumeLimits, VolumeBinding and VolumeZone.

## How it is recognised
For disks: the same EBS volume; the same GCE disk, IQN or RBD image (a common monitor, same pool and image) unless both mount it read-only.
For claims: a pod on any node uses the ReadWriteOncePod claim. Finished pods do not count.

## How to check by hand
    kubectl -n NAMESPACE get pvc CLAIM -o jsonpath='{.spec.accessModes}'
    kubectl -n NAMESPACE describe pvc CLAIM        # Used By

## How to fix it
Give each pod a volume of its own (a generic ephemeral volume, hostPath or emptyDir), or use a volume that many nodes may mount
(ReadWriteMany) or that is mounted read-only. Create the claim if it is missing.
",
};

fn prefilter<'a>(cycle: &'a Cycle<'a>) -> Filter<'a> {
    if cycle.spec.volumes.is_empty() {
        return Verdict::Pass.into();
    }
    match one_pod_claims(cycle) {
        Ok(claims) => Box::new(move |info| judge(cycle, &claims, info)),
        Err(verdict) => verdict.into(),
    }
}

/// The pod's claims that only one pod may use; a claim that does not exist is a refusal.
fn one_pod_claims<'a>(cycle: &Cycle<'a>) -> Result<Vec<&'a str>, Verdict> {
    let storage = Storage::new(cycle.snapshot);
    let mut claims = Vec::new();
    for source in cycle.spec.volumes.iter().filter_map(|v| v.source.persistent_volume_claim.as_ref()) {
        let name = source.claim_name.as_str();
        let Some(claim) = storage.claim(cycle.namespace, name).map_err(Verdict::Unknown)? else {
            return Err(missing_claim(cycle, name, ClaimProblem::Missing, format!("persistentvolumeclaim \"{name}\" not found")));
        };
        if claim.spec.access_modes.iter().any(|m| m == "ReadWriteOncePod") {
            claims.push(name);
        }
    }
    Ok(claims)
}

/// The refusal of every node for a claim that does not exist; `reason` are the plugin's words.
pub fn missing_claim(cycle: &Cycle, name: &str, problem: ClaimProblem, reason: String) -> Verdict {
    let namespace = cycle.namespace;
    Verdict::Fail(Failure {
        reasons: vec![reason.into()],
        unresolvable: true,
        findings: vec![Finding {
            detail: format!("{namespace}/{name}"),
            message: match problem {
                ClaimProblem::NotMade => format!("claim {namespace}/{name} has not been made for the pod's ephemeral volume yet"),
                _ => format!("claim {namespace}/{name} does not exist"),
            },
            evidence: vec![Evidence::new(format!("PersistentVolumeClaim/{namespace}/{name}"), "", serde_json::Value::Null)],
            fact: Fact::Claim { namespace: namespace.into(), name: name.into(), problem },
        }],
    })
}

fn judge(cycle: &Cycle, claims: &[&str], info: &NodeInfo) -> Verdict {
    let exclusive = cycle.spec.volumes.iter().filter(|v| is_exclusive(&v.source));
    let disks: Vec<Finding> = exclusive.flat_map(|v| holders(v, info)).collect();
    if !disks.is_empty() {
        return Verdict::Fail(Failure { reasons: vec![DISK_CONFLICT.into()], unresolvable: false, findings: dedup(disks) });
    }
    let used: Vec<Finding> = claims.iter().flat_map(|claim| users(cycle, claim, info)).collect();
    if !used.is_empty() {
        return Verdict::Fail(Failure { reasons: vec![ONE_POD_CONFLICT.into()], unresolvable: false, findings: dedup(used) });
    }
    if !claims.is_empty() && !cycle.snapshot.knows_all_pods() {
        return Verdict::Unknown("not all pods were read, and another one may use the ReadWriteOncePod claim".into());
    }
    if cycle.spec.volumes.iter().any(|v| is_exclusive(&v.source)) { Verdict::pass_if_pods_known(info) } else { Verdict::Pass }
}

fn dedup(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| a.detail.cmp(&b.detail));
    findings.dedup_by(|a, b| a.detail == b.detail);
    findings
}

fn is_exclusive(v: &VolumeSource) -> bool {
    v.gce_persistent_disk.is_some() || v.aws_elastic_block_store.is_some() || v.rbd.is_some() || v.iscsi.is_some()
}

/// The pods on the node that hold the same disk.
fn holders(volume: &Volume, info: &NodeInfo) -> Vec<Finding> {
    let holds = |pod: &&&Pod| pod.spec.volumes.iter().any(|other| conflict(&volume.source, &other.source));
    info.pods
        .iter()
        .filter(holds)
        .map(|pod| Finding {
            detail: format!("{} {}", volume.name, pod.full_name()),
            message: format!("the disk of volume {} is in use by pod {} on the node", volume.name, pod.full_name()),
            evidence: vec![Evidence::new(format!("Pod/{}", pod.full_name()), "spec.volumes", volume.name.clone())],
            fact: Fact::VolumeInUse { holder: (pod.metadata.namespace.clone(), pod.metadata.name.clone()) },
        })
        .collect()
}

/// True if two volumes are the same disk and one of them is not read-only.
fn conflict(a: &VolumeSource, b: &VolumeSource) -> bool {
    if let (Some(a), Some(b)) = (&a.gce_persistent_disk, &b.gce_persistent_disk)
        && a.pd_name == b.pd_name
        && !(a.read_only && b.read_only)
    {
        return true;
    }
    if let (Some(a), Some(b)) = (&a.aws_elastic_block_store, &b.aws_elastic_block_store)
        && a.volume_id == b.volume_id
    {
        return true;
    }
    if let (Some(a), Some(b)) = (&a.iscsi, &b.iscsi)
        && a.iqn == b.iqn
        && !(a.read_only && b.read_only)
    {
        return true;
    }
    if let (Some(a), Some(b)) = (&a.rbd, &b.rbd) {
        // The API server fills in the pool.
        let pool = |p: &str| if p.is_empty() { "rbd".to_string() } else { p.to_string() };
        return a.monitors.iter().any(|m| b.monitors.contains(m))
            && pool(&a.pool) == pool(&b.pool)
            && a.image == b.image
            && !(a.read_only && b.read_only);
    }
    false
}

/// The pods of the cluster that use a claim; of the judged node only those that are left on it.
fn users(cycle: &Cycle, claim: &str, info: &NodeInfo) -> Vec<Finding> {
    let elsewhere =
        cycle.nodes.iter().filter(|n| n.node.name() != info.node.name()).flat_map(|n| n.pods.iter().map(|p| (n.node.name(), p)));
    let here = info.pods.iter().map(|p| (info.node.name(), p));
    let uses = |pod: &Pod| {
        let claims = pod.spec.volumes.iter().filter_map(|v| v.source.persistent_volume_claim.as_ref());
        pod.metadata.namespace == cycle.namespace && claims.into_iter().any(|c| c.claim_name == claim)
    };
    here.chain(elsewhere)
        .filter(|(_, pod)| uses(pod))
        .map(|(node, pod)| {
            let namespace = cycle.namespace;
            let own = if cycle.owns(pod) { ", of this DaemonSet" } else { "" };
            Finding {
                detail: format!("{namespace}/{claim} {}", pod.owner_name()),
                message: format!("claim {namespace}/{claim} is ReadWriteOncePod and in use by pod {}{own} on node {node}", pod.full_name()),
                evidence: vec![
                    Evidence::new(format!("PersistentVolumeClaim/{namespace}/{claim}"), "spec.accessModes", "ReadWriteOncePod"),
                    Evidence::new(format!("Pod/{}", pod.full_name()), "spec.nodeName", node),
                ],
                fact: Fact::VolumeInUse { holder: (pod.metadata.namespace.clone(), pod.metadata.name.clone()) },
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(json: serde_json::Value) -> VolumeSource {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn the_same_disk_conflicts_unless_both_read() {
        use serde_json::json;
        for (what, a, b, want) in [
            (
                "EBS, even read-only",
                json!({"awsElasticBlockStore": {"volumeID": "v", "readOnly": true}}),
                json!({"awsElasticBlockStore": {"volumeID": "v", "readOnly": true}}),
                true,
            ),
            (
                "another EBS volume",
                json!({"awsElasticBlockStore": {"volumeID": "v"}}),
                json!({"awsElasticBlockStore": {"volumeID": "w"}}),
                false,
            ),
            (
                "GCE, both read-only",
                json!({"gcePersistentDisk": {"pdName": "d", "readOnly": true}}),
                json!({"gcePersistentDisk": {"pdName": "d", "readOnly": true}}),
                false,
            ),
            (
                "GCE, one writes",
                json!({"gcePersistentDisk": {"pdName": "d", "readOnly": true}}),
                json!({"gcePersistentDisk": {"pdName": "d"}}),
                true,
            ),
            ("iSCSI by IQN, whatever the LUN", json!({"iscsi": {"iqn": "i", "lun": 0}}), json!({"iscsi": {"iqn": "i", "lun": 1}}), true),
            (
                "RBD by a common monitor",
                json!({"rbd": {"monitors": ["a", "b"], "pool": "p", "image": "i"}}),
                json!({"rbd": {"monitors": ["b"], "pool": "p", "image": "i"}}),
                true,
            ),
            (
                "RBD, no common monitor",
                json!({"rbd": {"monitors": ["a"], "pool": "p", "image": "i"}}),
                json!({"rbd": {"monitors": ["b"], "pool": "p", "image": "i"}}),
                false,
            ),
            (
                "RBD, the default pool",
                json!({"rbd": {"monitors": ["a"], "image": "i"}}),
                json!({"rbd": {"monitors": ["a"], "pool": "rbd", "image": "i"}}),
                true,
            ),
            ("different kinds", json!({"rbd": {"monitors": ["a"], "image": "i"}}), json!({"iscsi": {"iqn": "i"}}), false),
        ] {
            assert_eq!(conflict(&source(a), &source(b)), want, "{what}");
        }
    }
}
