//! VolumeZone: the zone labels of the claims' volumes match the node's.
//!
//! Upstream: `pkg/scheduler/framework/plugins/volumezone/volume_zone.go`, `PreFilter`, `Filter`
//! (v1.34.3, v1.37.2).

use super::volume_restrictions::missing_claim;
use super::{Cycle, Failure, Filter, Finding, Plugin, Verdict};
use crate::cause::{ClaimProblem, Entry, Evidence, Fact, Stage};
use crate::model::csi_migration::ZONE_DELIMITER;
use crate::model::node_info::NodeInfo;
use crate::model::storage::Storage;
use crate::model::volume::{PersistentVolume, PersistentVolumeClaim};

/// The plugin.
pub const PLUGIN: Plugin = Plugin { name: "VolumeZone", entry: &ENTRY, prefilter };

const REASON: &str = "node(s) had no available volume zone";

static ENTRY: Entry = Entry {
    code: "VolumeZone",
    stage: Stage::Scheduling,
    summary: "The zone or region label of a claim's volume is not the node's",
    doc: "\
## What it means
The volume behind one of the pod's claims carries a zone or region label, and the node is in another zone or region. Such volumes can be
used in their zone only, so a DaemonSet whose pods share the claim can never run in the other zones. The check also fails where the claim,
its volume or its storage class does not exist, or where a claim that should be bound at once is not.

## How it is recognised
The labels topology.kubernetes.io/zone and /region (and the old failure-domain.beta.kubernetes.io ones) of the volume; a value may list
several zones with `__` between them. A node that has none of these labels passes. A claim that waits for its first consumer is skipped.

## How to check by hand
    kubectl get pv VOLUME --show-labels
    kubectl get nodes -L topology.kubernetes.io/zone,topology.kubernetes.io/region

## How to fix it
Use a volume of its own per node (a generic ephemeral volume, hostPath), a kind of storage that is not tied to a zone, or restrict the
DaemonSet to the volume's zone by node affinity.
",
};

/// The labels that count, of volumes and nodes; the old ones stand for the new.
const LABELS: [(&str, &str); 4] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("topology.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("topology.kubernetes.io/region", "topology.kubernetes.io/region"),
];

/// A zone or region label of a claim's volume.
struct Topology<'a> {
    claim: &'a PersistentVolumeClaim,
    volume: &'a PersistentVolume,
    key: &'static str,
    new_key: &'static str,
    label: &'a str,
}

fn prefilter<'a>(cycle: &'a Cycle<'a>) -> Filter<'a> {
    if cycle.spec.volumes.is_empty() {
        return Verdict::Pass.into();
    }
    match topologies(cycle) {
        Ok(topologies) => Box::new(move |info, _| judge(&topologies, info)),
        Err(verdict) => verdict.into(),
    }
}

fn topologies<'a>(cycle: &Cycle<'a>) -> Result<Vec<Topology<'a>>, Verdict> {
    let storage = Storage::new(cycle.snapshot);
    let mut found = Vec::new();
    for source in cycle.spec.volumes.iter().filter_map(|v| v.source.persistent_volume_claim.as_ref()) {
        let name = source.claim_name.as_str();
        let Some(claim) = storage.claim(cycle.namespace, name).map_err(Verdict::Unknown)? else {
            return Err(missing_claim(cycle, name, ClaimProblem::Missing, format!("persistentvolumeclaim \"{name}\" not found")));
        };
        if claim.spec.volume_name.is_empty() {
            unbound(&storage, claim)?;
            continue;
        }
        let volume_name = claim.spec.volume_name.as_str();
        let Some(volume) = storage.volume(volume_name).map_err(Verdict::Unknown)? else {
            return Err(unusable(
                claim,
                ClaimProblem::Lost,
                format!("persistentvolume \"{volume_name}\" not found"),
                format!("volume {volume_name} of claim {} does not exist", claim.metadata.full_name()),
            ));
        };
        for (key, new_key) in LABELS {
            // A label that lists an empty zone is not looked at.
            if let Some(label) = volume.metadata.labels.get(key).filter(|l| l.split(ZONE_DELIMITER).all(|z| !z.trim().is_empty())) {
                found.push(Topology { claim, volume, key, new_key, label });
            }
        }
    }
    Ok(found)
}

/// A claim without a volume passes only if it waits for its consumer.
fn unbound(storage: &Storage, claim: &PersistentVolumeClaim) -> Result<(), Verdict> {
    let name = claim.metadata.full_name();
    let class_name = claim.class_name();
    if class_name.is_empty() {
        return Err(unusable(
            claim,
            ClaimProblem::Unbound,
            "PersistentVolumeClaim had no pv name and storageClass name".into(),
            format!("claim {name} has neither a volume nor a storage class"),
        ));
    }
    match storage.class(class_name).map_err(Verdict::Unknown)? {
        None => Err(unusable(
            claim,
            ClaimProblem::Unbound,
            format!("storageclass.storage.k8s.io \"{class_name}\" not found"),
            format!("claim {name} has no volume, and its storage class {class_name} does not exist"),
        )),
        Some(class) if class.waits_for_consumer() => Ok(()),
        Some(_) => Err(unusable(
            claim,
            ClaimProblem::Unbound,
            "PersistentVolume had no name".into(),
            format!("claim {name} has no volume yet; storage class {class_name} should have provided one at once"),
        )),
    }
}

fn unusable(claim: &PersistentVolumeClaim, problem: ClaimProblem, reason: String, message: String) -> Verdict {
    let object = format!("PersistentVolumeClaim/{}", claim.metadata.full_name());
    let mut evidence = vec![Evidence::new(object.clone(), "status.phase", claim.status.phase.clone())];
    evidence.push(Evidence::new(object.clone(), "spec.storageClassName", claim.class_name()));
    evidence.push(Evidence::new(object, "spec.volumeName", claim.spec.volume_name.clone()));
    Verdict::Fail(Failure {
        reasons: vec![reason.into()],
        unresolvable: true,
        findings: vec![Finding {
            detail: claim.metadata.full_name(),
            message,
            evidence,
            fact: Fact::Claim { namespace: claim.metadata.namespace.clone(), name: claim.metadata.name.clone(), problem },
        }],
    })
}

fn judge(topologies: &[Topology], info: &NodeInfo) -> Verdict {
    let labels = &info.node.metadata.labels;
    if !LABELS.iter().any(|(key, _)| labels.contains_key(key)) {
        return Verdict::Pass;
    }
    let findings: Vec<Finding> = topologies
        .iter()
        .filter_map(|t| {
            let have = labels.get(t.key).or_else(|| labels.get(t.new_key));
            let fits = have.is_some_and(|have| t.label.split(ZONE_DELIMITER).any(|zone| zone.trim() == have));
            (!fits).then(|| finding(t, have, info))
        })
        .collect();
    if findings.is_empty() {
        return Verdict::Pass;
    }
    Verdict::Fail(Failure { reasons: vec![REASON.into()], unresolvable: true, findings })
}

fn finding(t: &Topology, have: Option<&String>, info: &NodeInfo) -> Finding {
    let (claim, volume) = (t.claim.metadata.full_name(), &t.volume.metadata.name);
    let node = match have {
        Some(have) => format!("the node has {}={have}", t.new_key),
        None => format!("the node has no label {}", t.new_key),
    };
    Finding {
        detail: format!("{claim} {volume} {}", t.key),
        message: format!("volume {volume} of claim {claim} is in {}={}, {node}", t.key, t.label),
        evidence: vec![
            Evidence::new(format!("PersistentVolume/{volume}"), format!("metadata.labels[{}]", t.key), t.label),
            Evidence::new(format!("Node/{}", info.node.name()), format!("metadata.labels[{}]", t.new_key), have.cloned()),
        ],
        fact: Fact::VolumeElsewhere { volume: volume.clone(), claim: (t.claim.metadata.namespace.clone(), t.claim.metadata.name.clone()) },
    }
}
