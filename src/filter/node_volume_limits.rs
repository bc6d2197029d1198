//! NodeVolumeLimits: the node takes no more volumes of a CSI driver than it says.
//!
//! Upstream: `pkg/scheduler/framework/plugins/nodevolumelimits/csi.go`, `PreFilter`, `Filter`
//! (v1.34.3, v1.37.2).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::volume_restrictions::missing_claim;
use super::{Cycle, Failure, Filter, Finding, Plugin, Verdict};
use crate::cause::{ClaimProblem, Entry, Evidence, Fact, Stage};
use crate::model::csi_migration::{inline_handle, is_uncounted_plugin, of_inline, of_plugin, of_volume, volume_handle};
use crate::model::node_info::NodeInfo;
use crate::model::pod::PodSpec;
use crate::model::storage::Storage;
use crate::model::volume::{CSINode, PersistentVolumeClaim};

/// The plugin.
pub const PLUGIN: Plugin = Plugin { name: "NodeVolumeLimits", entry: &ENTRY, prefilter };

const REASON: &str = "node(s) exceed max volume count";

static ENTRY: Entry = Entry {
    code: "NodeVolumeLimits",
    stage: Stage::Scheduling,
    summary: "The node has as many volumes of a CSI driver attached as it takes",
    doc: "\
## What it means
A CSI driver says per node how many volumes can be attached there (cloud machines take a fixed number). With the pod's volumes there would
be more. The check also fails where a claim of the pod does not exist, and (from Kubernetes 1.37 on) where a driver that asks for it is not
installed on the node.

## How it is recognised
The limit is `spec.drivers[].allocatable.count` of the node's CSINode object. What counts are the different volumes of the driver that the
pods on the node use through claims, and the VolumeAttachments of the node; in-tree volumes count for the CSI driver that took them over. A
claim without a volume counts for its storage class's provisioner. Without a CSINode or a count there is no limit.

## How to check by hand
    kubectl get csinode NODE -o jsonpath='{.spec.drivers}'
    kubectl get volumeattachments -o wide | grep NODE

## How to fix it
Move pods with volumes to other nodes, delete stale VolumeAttachments, or use machines that take more volumes. Consider whether a DaemonSet
needs attached volumes at all: hostPath and emptyDir do not count.
",
};

fn prefilter<'a>(cycle: &'a Cycle<'a>) -> Filter<'a> {
    let counts = |v: &crate::model::volume::Volume| v.claim_name(cycle.pod_name).is_some() || of_inline(&v.source).is_some();
    if !cycle.spec.volumes.iter().any(counts) {
        return Verdict::Pass.into();
    }
    let storage = Storage::new(cycle.snapshot);
    Box::new(move |info, _| judge(cycle, &storage, info).unwrap_or_else(|verdict| verdict))
}

/// Volumes by their unique name: the driver and what holds it (`claim ns/name` or `volume name`).
type Attached = BTreeMap<(String, String), String>;

fn judge(cycle: &Cycle, storage: &Storage, info: &NodeInfo) -> Result<Verdict, Verdict> {
    let node = info.node.name();
    let csi_node = storage.csi_node(node);
    let counter = Counter { storage, csi_node: csi_node.as_ref().ok().copied().flatten() };
    let mut new = Attached::new();
    counter.count_new(cycle, &mut new)?;
    // Whether an in-tree volume is counted depends on there being a CSINode.
    let csi_node = csi_node.map_err(Verdict::Unknown)?;
    if new.is_empty() {
        return Ok(Verdict::Pass);
    }
    if cycle.features.volume_limit_scaling {
        installed(storage, csi_node, &new, node)?;
    }
    let limits: BTreeMap<&str, i64> = csi_node
        .iter()
        .flat_map(|n| &n.spec.drivers)
        .filter_map(|d| Some((d.name.as_str(), i64::from(d.allocatable.as_ref()?.count?))))
        .collect();
    if !new.keys().any(|(driver, _)| limits.contains_key(driver.as_str())) && limits.is_empty() {
        return Ok(Verdict::Pass);
    }
    let mut attached = Attached::new();
    for pod in &info.pods {
        counter.count(&pod.metadata.uid, &pod.spec, &pod.metadata.namespace, &pod.metadata.name, false, &mut attached)?;
    }
    new.retain(|volume, _| !attached.contains_key(volume));
    counter.count_attachments(cycle, node, &mut attached)?;
    over_the_limit(cycle, &limits, &new, &attached, info)
}

/// Compares what there would be with the limits, driver by driver.
fn over_the_limit(
    cycle: &Cycle,
    limits: &BTreeMap<&str, i64>,
    new: &Attached,
    attached: &Attached,
    info: &NodeInfo,
) -> Result<Verdict, Verdict> {
    let node = info.node.name();
    let mut findings = Vec::new();
    let drivers: BTreeSet<&str> = new.keys().map(|(driver, _)| driver.as_str()).collect();
    for driver in drivers {
        let Some(&limit) = limits.get(driver) else { continue };
        let count = |list: &Attached| list.keys().filter(|(d, _)| d == driver).count() as i64;
        let (wanted, used) = (count(new), count(attached));
        if used + wanted <= limit {
            if !info.pods_known {
                return Err(Verdict::pass_if_pods_known(info));
            }
            if let Some(unknown) = cycle.snapshot.volume_attachments.unknown() {
                return Err(Verdict::Unknown(format!("whether volumes of {driver} without a pod are attached is not among the {unknown}")));
            }
            continue;
        }
        let names: Vec<&str> = new.iter().filter(|((d, _), _)| d == driver).map(|(_, what)| what.as_str()).collect();
        findings.push(Finding {
            detail: driver.to_string(),
            message: format!(
                "the node takes {limit} volumes of CSI driver {driver} and has {used}; the pod adds {wanted} ({})",
                names.join(", ")
            ),
            evidence: vec![
                Evidence::new(format!("CSINode/{node}"), format!("spec.drivers[{driver}].allocatable.count"), limit),
                Evidence::new(format!("Node/{node}"), format!("volumes of {driver} in use"), used),
                Evidence::new(
                    format!("DaemonSet/{}", cycle.daemon_set.metadata.full_name()),
                    format!("volumes of {driver} that the pod adds"),
                    wanted,
                ),
            ],
            fact: Fact::VolumeLimit { driver: driver.to_string(), limit, used, wanted },
        });
    }
    if findings.is_empty() {
        return Ok(Verdict::Pass);
    }
    Ok(Verdict::Fail(Failure { reasons: vec![REASON.into()], unresolvable: false, findings }))
}

/// From 1.37 on a driver may ask that pods stay away from nodes without it.
fn installed(storage: &Storage, csi_node: Option<&CSINode>, new: &Attached, node: &str) -> Result<(), Verdict> {
    let drivers: BTreeSet<&str> = new.keys().map(|(driver, _)| driver.as_str()).collect();
    let mut findings = Vec::new();
    let mut reason = Cow::Borrowed("");
    for driver in drivers {
        let object = storage.csi_driver(driver).map_err(Verdict::Unknown)?;
        let asks = object.is_some_and(|d| d.spec.prevent_pod_scheduling_if_missing == Some(true));
        if !asks || csi_node.is_some_and(|n| n.spec.drivers.iter().any(|d| d.name == driver)) {
            continue;
        }
        // Upstream names one of the drivers, whichever comes first.
        if reason.is_empty() {
            reason = format!("{driver} CSI driver is not installed on the node").into();
        }
        findings.push(Finding {
            detail: format!("{driver} not installed"),
            message: format!("CSI driver {driver} is not installed on the node and lets no pod be scheduled without it"),
            evidence: vec![
                Evidence::new(format!("CSIDriver/{driver}"), "spec.preventPodSchedulingIfMissing", true),
                Evidence::new(format!("CSINode/{node}"), format!("spec.drivers[{driver}]"), serde_json::Value::Null),
            ],
            fact: Fact::None,
        });
    }
    if findings.is_empty() {
        return Ok(());
    }
    Err(Verdict::Fail(Failure { reasons: vec![reason], unresolvable: false, findings }))
}

/// Counts volumes as a node's CSINode makes them count.
struct Counter<'s, 'a> {
    storage: &'s Storage<'a>,
    csi_node: Option<&'a CSINode>,
}

impl Counter<'_, '_> {
    fn count_new(&self, cycle: &Cycle, new: &mut Attached) -> Result<(), Verdict> {
        for volume in &cycle.spec.volumes {
            let Some(name) = volume.claim_name(cycle.pod_name) else { continue };
            if self.storage.claim(cycle.namespace, &name).map_err(Verdict::Unknown)?.is_none() {
                let reason = format!("looking up PVC {}/{name}: persistentvolumeclaim \"{name}\" not found", cycle.namespace);
                let problem = if volume.is_ephemeral() { ClaimProblem::NotMade } else { ClaimProblem::Missing };
                return Err(missing_claim(cycle, &name, problem, reason));
            }
            // Of several claims the first one that is missing or foreign is upstream's reason.
            self.check_owner(cycle.pod_uid, volume.is_ephemeral(), cycle.namespace, cycle.pod_name, &name)?;
        }
        self.count(cycle.pod_uid, cycle.spec, cycle.namespace, cycle.pod_name, true, new)
    }

    fn check_owner(&self, pod_uid: &str, ephemeral: bool, namespace: &str, pod_name: &str, claim: &str) -> Result<(), Verdict> {
        let Ok(Some(claim)) = self.storage.claim(namespace, claim) else { return Ok(()) };
        match claim.not_made_for(pod_uid, namespace, pod_name).filter(|_| ephemeral) {
            Some(reason) => Err(foreign_claim(claim, reason)),
            None => Ok(()),
        }
    }

    /// Adds the volumes of a pod. An inline volume that cannot be translated is an error for the
    /// whole node, as is an ephemeral volume's claim that was made for another pod.
    fn count(&self, pod_uid: &str, spec: &PodSpec, namespace: &str, pod_name: &str, new: bool, list: &mut Attached) -> Result<(), Verdict> {
        for volume in &spec.volumes {
            let Some(name) = volume.claim_name(pod_name) else {
                if let Some(migration) = of_inline(&volume.source).filter(|_| self.csi_node.is_some()) {
                    let handle = inline_handle(&volume.source).map_err(|why| {
                        let reason = format!("converting volume({}) from inline to csi: {why}", volume.name);
                        error(reason, format!("Pod/{namespace}/{pod_name}"), format!("spec.volumes[{}]", volume.name))
                    })?;
                    list.insert((migration.driver.to_string(), handle), format!("volume {}", volume.name));
                }
                continue;
            };
            let claim = match self.storage.claim(namespace, &name) {
                Ok(Some(claim)) => claim,
                // A claim of another pod that is gone is not counted.
                Ok(None) => continue,
                Err(unknown) => return Err(Verdict::Unknown(unknown)),
            };
            if !new {
                self.check_owner(pod_uid, volume.is_ephemeral(), namespace, pod_name, &name)?;
            }
            if let Some(id) = self.driver_and_handle(claim)? {
                list.insert(id, format!("claim {namespace}/{name}"));
            }
        }
        Ok(())
    }

    /// The driver and the handle that a claim's volume counts under, if it counts.
    fn driver_and_handle(&self, claim: &PersistentVolumeClaim) -> Result<Option<(String, String)>, Verdict> {
        let volume_name = claim.spec.volume_name.as_str();
        let volume = if volume_name.is_empty() { None } else { self.storage.volume(volume_name).map_err(Verdict::Unknown)? };
        let Some(volume) = volume else { return self.provisioner_and_handle(claim) };
        let id = match (&volume.spec.source.csi, of_volume(&volume.spec.source)) {
            (Some(csi), _) => (csi.driver.clone(), csi.volume_handle.clone()),
            (None, Some(migration)) if self.csi_node.is_some() => match volume_handle(volume) {
                Ok(handle) => (migration.driver.to_string(), handle),
                Err(_) => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok(Some(id).filter(|(driver, handle)| !driver.is_empty() && !handle.is_empty()))
    }

    /// A claim without a volume counts for its class's provisioner, as a volume of its own.
    fn provisioner_and_handle(&self, claim: &PersistentVolumeClaim) -> Result<Option<(String, String)>, Verdict> {
        let class_name = claim.class_name();
        if class_name.is_empty() {
            return Ok(None);
        }
        let Some(class) = self.storage.class(class_name).map_err(Verdict::Unknown)? else { return Ok(None) };
        let driver = match of_plugin(&class.provisioner) {
            Some(migration) if self.csi_node.is_some() => migration.driver.to_string(),
            Some(_) => return Ok(None),
            None if is_uncounted_plugin(&class.provisioner) || class.provisioner.is_empty() => return Ok(None),
            None => class.provisioner.clone(),
        };
        Ok(Some((driver, format!("unbound {}", claim.metadata.full_name()))))
    }

    /// Adds the volumes that are attached to the node, used by a pod or not.
    fn count_attachments(&self, cycle: &Cycle, node: &str, list: &mut Attached) -> Result<(), Verdict> {
        for attachment in cycle.snapshot.volume_attachments.iter().filter(|a| a.spec.node_name == node) {
            let Some(name) = attachment.spec.source.persistent_volume_name.as_deref().filter(|_| !attachment.spec.attacher.is_empty())
            else {
                continue;
            };
            let volume = self.storage.volume(name).map_err(Verdict::Unknown)?;
            if let Some(csi) = volume.and_then(|v| v.spec.source.csi.as_ref()) {
                let id = (attachment.spec.attacher.clone(), csi.volume_handle.clone());
                list.entry(id).or_insert_with(|| format!("volume {name}"));
            }
        }
        Ok(())
    }
}

/// The refusal for an ephemeral volume's claim that was made for another pod.
pub fn foreign_claim(claim: &PersistentVolumeClaim, reason: String) -> Verdict {
    let name = claim.metadata.full_name();
    let owner = claim.metadata.controller();
    let made_for = owner.map_or("nobody".to_string(), |o| format!("{} {}", o.kind, o.name));
    Verdict::Fail(Failure {
        reasons: vec![reason.into()],
        unresolvable: true,
        findings: vec![Finding {
            detail: name.clone(),
            message: format!("claim {name} has the name of the pod's ephemeral volume but belongs to {made_for}"),
            evidence: vec![Evidence::new(
                format!("PersistentVolumeClaim/{name}"),
                "metadata.ownerReferences",
                owner.map(|o| format!("{} {} (uid {})", o.kind, o.name, o.uid)),
            )],
            fact: Fact::Claim {
                namespace: claim.metadata.namespace.clone(),
                name: claim.metadata.name.clone(),
                problem: ClaimProblem::NotOwned,
            },
        }],
    })
}

/// An error of the plugin itself, which keeps the pod Pending as a refusal does.
pub fn error(reason: String, object: String, field: String) -> Verdict {
    Verdict::Fail(Failure {
        findings: vec![Finding {
            detail: object.clone(),
            message: reason.clone(),
            evidence: vec![Evidence::new(object, field, reason.clone())],
            fact: Fact::None,
        }],
        reasons: vec![reason.into()],
        unresolvable: true,
    })
}
