//! VolumeBinding: the claims' volumes can be used on the node, or be found or made for it.
//!
//! Upstream: `pkg/scheduler/framework/plugins/volumebinding/volume_binding.go` `PreFilter`,
//! `Filter`, and `binder.go` `GetPodVolumeClaims`, `FindPodVolumes` (v1.34.3, v1.37.2);
//! `FindMatchingVolume` of `k8s.io/component-helpers/storage/volume`.

use std::borrow::Cow;

use super::node_volume_limits::{error, foreign_claim};
use super::volume_restrictions::missing_claim;
use super::{Cycle, Failure, Filter, Finding, Plugin, Verdict};
use crate::cause::{ClaimProblem, Entry, Evidence, Fact, Stage};
use crate::model::affinity::NodeSelectorRequirement;
use crate::model::csi_migration::{of_volume, translated};
use crate::model::node::Node;
use crate::model::node_info::NodeInfo;
use crate::model::quantity::Quantity;
use crate::model::selector::{is_label_value, is_qualified_name, label_holds, selects, term_is_valid};
use crate::model::snapshot::Snapshot;
use crate::model::storage::{MIGRATED_PLUGINS, SELECTED_NODE, Storage};
use crate::model::volume::{CSINode, CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass, TopologySelectorTerm};

/// The plugin.
pub const PLUGIN: Plugin = Plugin { name: "VolumeBinding", entry: &ENTRY, prefilter };

const NODE_CONFLICT: &str = "node(s) didn't match PersistentVolume's node affinity";
const BIND_CONFLICT: &str = "node(s) didn't find available persistent volumes to bind";
const NOT_ENOUGH_SPACE: &str = "node(s) did not have enough free storage";
const VOLUME_GONE: &str = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
const UNBOUND_IMMEDIATE: &str = "pod has unbound immediate PersistentVolumeClaims";
/// The provisioner of classes whose volumes are made by hand.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

static ENTRY: Entry = Entry {
    code: "VolumeBinding",
    stage: Stage::Scheduling,
    summary: "A claim's volume cannot be used on the node, or none can be found or made for it",
    doc: "\
## What it means
One of the pod's claims cannot be met on the node. Its volume is tied to other nodes (a disk in one zone, a local disk), it has none yet and
no free volume reaches the node, its storage has no room, or the claim itself is missing, lost, being deleted or not bound. A DaemonSet's pods
all use the same claim where the template names one: a volume that only one node or zone can use keeps the pod off all others for ever.

## How it is recognised
A bound claim: the node affinity of its PersistentVolume against the node's labels. A claim whose class waits for the first consumer: an
Available volume of the class, large enough, with the claim's access modes and selector and an affinity that fits the node; else the class's
provisioner, its allowed topologies, and the CSIStorageCapacity objects of drivers that publish them. Any other claim has to be bound before.
The detail names the claim and, where there is one, the volume.

## How to check by hand
    kubectl -n NAMESPACE get pvc CLAIM
    kubectl get pv VOLUME -o jsonpath='{.spec.nodeAffinity}'
    kubectl get storageclass CLASS -o yaml
    kubectl get csistoragecapacities -A

## How to fix it
Give every pod a volume of its own (a generic ephemeral volume in the template, hostPath or emptyDir), use storage that all nodes reach, or
restrict the DaemonSet to the nodes that the volume reaches. For a claim that is not bound look at its events: class, provisioner and quota.
",
};

fn prefilter<'a>(cycle: &'a Cycle<'a>) -> Filter<'a> {
    if cycle.spec.volumes.iter().all(|v| v.claim_name(cycle.pod_name).is_none()) {
        return Verdict::Pass.into();
    }
    let storage = Storage::new(cycle.snapshot);
    match claims(cycle, &storage) {
        Ok(claims) => Box::new(move |info, _| claims.judge(cycle, &storage, info).unwrap_or_else(|verdict| verdict)),
        Err(verdict) => verdict.into(),
    }
}

/// The pod's claims: bound, and those that wait for their consumer.
#[derive(Default)]
struct Claims<'a> {
    bound: Vec<&'a PersistentVolumeClaim>,
    delayed: Vec<(&'a PersistentVolumeClaim, &'a StorageClass)>,
}

fn claims<'a>(cycle: &Cycle<'a>, storage: &Storage<'a>) -> Result<Claims<'a>, Verdict> {
    let mut used = Vec::new();
    for volume in &cycle.spec.volumes {
        let Some(name) = volume.claim_name(cycle.pod_name) else { continue };
        let Some(claim) = storage.claim(cycle.namespace, &name).map_err(Verdict::Unknown)? else {
            let (problem, reason) = if volume.is_ephemeral() {
                let reason = format!("waiting for ephemeral volume controller to create the persistentvolumeclaim \"{name}\"");
                (ClaimProblem::NotMade, reason)
            } else {
                (ClaimProblem::Missing, format!("persistentvolumeclaim \"{name}\" not found"))
            };
            return Err(missing_claim(cycle, &name, problem, reason));
        };
        usable(cycle, claim, volume.is_ephemeral())?;
        used.push(claim);
    }
    let mut claims = Claims::default();
    let mut unbound = Vec::new();
    for claim in used {
        if claim.is_bound() {
            claims.bound.push(claim);
            continue;
        }
        let class = match claim.class_name() {
            "" => None,
            name => storage.class(name).map_err(Verdict::Unknown)?,
        };
        match class.filter(|c| c.waits_for_consumer() && claim.spec.volume_name.is_empty()) {
            Some(class) => claims.delayed.push((claim, class)),
            None => unbound.push(not_bound(claim, class)),
        }
    }
    if !unbound.is_empty() {
        return Err(Verdict::Fail(Failure { reasons: vec![UNBOUND_IMMEDIATE.into()], unresolvable: true, findings: unbound }));
    }
    Ok(claims)
}

/// A claim that is lost, being deleted or another pod's refuses every node.
fn usable(cycle: &Cycle, claim: &PersistentVolumeClaim, ephemeral: bool) -> Result<(), Verdict> {
    let (name, full) = (&claim.metadata.name, claim.metadata.full_name());
    if claim.status.phase == "Lost" {
        let volume = &claim.spec.volume_name;
        return Err(whole(
            claim,
            ClaimProblem::Lost,
            format!("persistentvolumeclaim \"{name}\" bound to non-existent persistentvolume \"{volume}\""),
            format!("claim {full} has lost its volume {volume}, which does not exist any more"),
        ));
    }
    if claim.metadata.is_terminating() {
        return Err(whole(
            claim,
            ClaimProblem::Deleting,
            format!("persistentvolumeclaim \"{name}\" is being deleted"),
            format!("claim {full} is being deleted"),
        ));
    }
    match claim.not_made_for(cycle.pod_uid, cycle.namespace, cycle.pod_name).filter(|_| ephemeral) {
        Some(reason) => Err(foreign_claim(claim, reason)),
        None => Ok(()),
    }
}

/// The refusal of every node for one claim.
fn whole(claim: &PersistentVolumeClaim, problem: ClaimProblem, reason: String, message: String) -> Verdict {
    Verdict::Fail(Failure { reasons: vec![reason.into()], unresolvable: true, findings: vec![claim_finding(claim, problem, message)] })
}

fn claim_finding(claim: &PersistentVolumeClaim, problem: ClaimProblem, message: String) -> Finding {
    let object = object(claim);
    let mut evidence = vec![Evidence::new(object.clone(), "status.phase", claim.status.phase.clone())];
    if let Some(since) = claim.metadata.deletion_timestamp {
        evidence.push(Evidence::new(object.clone(), "metadata.deletionTimestamp", since.to_string()));
        evidence.push(Evidence::new(object.clone(), "metadata.finalizers", claim.metadata.finalizers.clone()));
    }
    evidence.push(Evidence::new(object.clone(), "spec.storageClassName", claim.class_name()));
    evidence.push(Evidence::new(object, "spec.volumeName", claim.spec.volume_name.clone()));
    Finding {
        detail: claim.metadata.full_name(),
        message,
        evidence,
        fact: Fact::Claim { namespace: claim.metadata.namespace.clone(), name: claim.metadata.name.clone(), problem },
    }
}

fn not_bound(claim: &PersistentVolumeClaim, class: Option<&StorageClass>) -> Finding {
    let full = claim.metadata.full_name();
    let message = match (class, claim.class_name()) {
        _ if !claim.spec.volume_name.is_empty() => {
            format!("claim {full} asks for volume {} and is not bound to it yet", claim.spec.volume_name)
        }
        (Some(class), name) => {
            format!("claim {full} is not bound; storage class {name} (provisioner {}) should bind it at once", class.provisioner)
        }
        (None, "") => format!("claim {full} is not bound and has no storage class: a volume has to be made by hand"),
        (None, name) => format!("claim {full} is not bound; its storage class {name} does not exist"),
    };
    claim_finding(claim, ClaimProblem::Unbound, message)
}

fn object(claim: &PersistentVolumeClaim) -> String {
    format!("PersistentVolumeClaim/{}", claim.metadata.full_name())
}

/// What keeps a node from meeting a claim; upstream has one reason for each.
struct Obstacle {
    reason: &'static str,
    finding: Finding,
}

impl<'a> Claims<'a> {
    fn judge(&self, cycle: &Cycle, storage: &Storage, info: &NodeInfo) -> Result<Verdict, Verdict> {
        let mut obstacles = self.check_bound(storage, info.node)?;
        obstacles.extend(self.check_delayed(cycle.snapshot, storage, info.node)?);
        if obstacles.is_empty() {
            return Ok(Verdict::Pass);
        }
        let mut reasons: Vec<Cow<'static, str>> = Vec::new();
        for obstacle in &obstacles {
            if !reasons.iter().any(|r| r == obstacle.reason) {
                reasons.push(obstacle.reason.into());
            }
        }
        Ok(Verdict::Fail(Failure { reasons, unresolvable: true, findings: obstacles.into_iter().map(|o| o.finding).collect() }))
    }

    /// Bound claims. Upstream stops at the first that fails; the others are told of, too, as long
    /// as they fail for the same reason and can be judged.
    fn check_bound(&self, storage: &Storage, node: &Node) -> Result<Vec<Obstacle>, Verdict> {
        let mut obstacles: Vec<Obstacle> = Vec::new();
        for claim in &self.bound {
            let name = claim.spec.volume_name.as_str();
            let failed = !obstacles.is_empty();
            let found = match storage.volume(name).map_err(Verdict::Unknown) {
                Ok(Some(volume)) => on_node(storage, volume, node).map(Some),
                Ok(None) => Ok(None),
                Err(unknown) => Err(unknown),
            };
            // Upstream is not there any more to meet with this one's error.
            let found = match found {
                Err(_) if failed => continue,
                found => found?,
            };
            let Some(volume) = found else {
                let message = format!("claim {} is bound to volume {name}, which does not exist", claim.metadata.full_name());
                let mut finding = claim_finding(claim, ClaimProblem::Lost, message);
                finding.detail = format!("{} {name}", claim.metadata.full_name());
                obstacles.push(Obstacle { reason: VOLUME_GONE, finding });
                continue;
            };
            if !volume.reaches(node) {
                obstacles.push(Obstacle { reason: NODE_CONFLICT, finding: unreachable(claim, &volume, node) });
            }
        }
        let first = obstacles.first().map(|o| o.reason);
        obstacles.retain(|o| Some(o.reason) == first);
        Ok(obstacles)
    }

    fn check_delayed(&self, snapshot: &Snapshot, storage: &Storage, node: &Node) -> Result<Option<Obstacle>, Verdict> {
        let mut to_provision = Vec::new();
        let mut to_match = Vec::new();
        for &(claim, class) in &self.delayed {
            match claim.metadata.annotations.get(SELECTED_NODE) {
                Some(selected) if selected != node.name() => return Ok(Some(provisioned_elsewhere(claim, selected, node))),
                Some(_) => to_provision.push((claim, class)),
                None => to_match.push((claim, class)),
            }
        }
        // The smallest claim first, so that it takes the smallest volume.
        to_match.sort_by_key(|(claim, _)| size(claim));
        let mut chosen: Vec<&str> = Vec::new();
        for (claim, class) in to_match {
            match find_volume(snapshot, claim, &chosen, node) {
                Some(volume) => chosen.push(&volume.metadata.name),
                None => to_provision.push((claim, class)),
            }
        }
        for (claim, class) in to_provision {
            if let Some(obstacle) = check_provision(snapshot, storage, claim, class, node)? {
                return Ok(Some(obstacle));
            }
        }
        Ok(None)
    }
}

/// The volume as the CSI driver sees it, if the node's in-tree plugin has been migrated.
fn on_node<'v>(storage: &Storage, volume: &'v PersistentVolume, node: &Node) -> Result<Cow<'v, PersistentVolume>, Verdict> {
    let Some(migration) = of_volume(&volume.spec.source) else { return Ok(Cow::Borrowed(volume)) };
    let csi_node = storage.csi_node(node.name()).map_err(Verdict::Unknown)?;
    if !csi_node.is_some_and(|n| is_migrated(n, migration.plugin)) {
        return Ok(Cow::Borrowed(volume));
    }
    let name = &volume.metadata.name;
    let failed = |why| error(format!("could not translate pv: {why}"), format!("PersistentVolume/{name}"), "spec".into());
    translated(volume, migration).map(Cow::Owned).map_err(failed)
}

fn is_migrated(csi_node: &CSINode, plugin: &str) -> bool {
    csi_node.metadata.annotations.get(MIGRATED_PLUGINS).is_some_and(|list| list.split(',').any(|p| p == plugin))
}

/// The finding for a volume whose node affinity leaves the node out.
fn unreachable(claim: &PersistentVolumeClaim, volume: &PersistentVolume, node: &Node) -> Finding {
    let (full, name) = (claim.metadata.full_name(), &volume.metadata.name);
    let terms = volume.spec.node_affinity.iter().filter_map(|a| a.required.as_ref()).flat_map(|r| &r.node_selector_terms);
    let mut evidence = vec![Evidence::new(object(claim), "spec.volumeName", name.clone())];
    let mut wants: Vec<String> = Vec::new();
    for (i, term) in terms.enumerate() {
        let valid = term_is_valid(term);
        let failing: Vec<&NodeSelectorRequirement> =
            term.match_expressions.iter().filter(|r| !valid || !label_holds(r, &node.metadata.labels)).chain(&term.match_fields).collect();
        for requirement in &failing {
            let path = format!("spec.nodeAffinity.required.nodeSelectorTerms[{i}]");
            evidence.push(Evidence::new(format!("PersistentVolume/{name}"), path, requirement.to_string()));
            let label = node.metadata.labels.get(&requirement.key).cloned();
            let field = format!("metadata.labels[{}]", requirement.key);
            evidence.push(Evidence::new(format!("Node/{}", node.name()), field, label.clone()));
            wants.push(match label {
                Some(have) => format!("{requirement} (the node has {have})"),
                None => format!("{requirement} (the node has no such label)"),
            });
        }
    }
    let wants = if wants.is_empty() { "no node at all".to_string() } else { wants.join(" or ") };
    Finding {
        detail: format!("{full} {name}"),
        message: format!("volume {name} of claim {full} can only be used where {wants}"),
        evidence,
        fact: Fact::VolumeElsewhere { volume: name.clone(), claim: (claim.metadata.namespace.clone(), claim.metadata.name.clone()) },
    }
}

fn provisioned_elsewhere(claim: &PersistentVolumeClaim, selected: &str, node: &Node) -> Obstacle {
    let full = claim.metadata.full_name();
    Obstacle {
        reason: BIND_CONFLICT,
        finding: Finding {
            detail: full.clone(),
            message: format!("the volume of claim {full} is being made for node {selected}, not for {}", node.name()),
            evidence: vec![Evidence::new(object(claim), format!("metadata.annotations[{SELECTED_NODE}]"), selected)],
            fact: Fact::None,
        },
    }
}

fn size(claim: &PersistentVolumeClaim) -> Quantity {
    claim.spec.resources.requests.get("storage").copied().unwrap_or_default()
}

/// The volume that the scheduler would bind the claim to on this node: one that is reserved for
/// it, else the smallest that fits.
fn find_volume<'a>(snapshot: &'a Snapshot, claim: &PersistentVolumeClaim, chosen: &[&str], node: &Node) -> Option<&'a PersistentVolume> {
    let class = claim.class_name();
    let mut smallest: Option<(&PersistentVolume, Quantity)> = None;
    for volume in snapshot.persistent_volumes.iter().filter(|v| v.class_name() == class) {
        let reserved = is_reserved_for(volume, claim);
        let capacity = volume.spec.capacity.get("storage").copied().unwrap_or_default();
        let mode = |mode: &Option<String>| mode.as_deref().unwrap_or("Filesystem") == "Filesystem";
        let attributes = |name: &Option<String>| name.clone().unwrap_or_default();
        if chosen.contains(&volume.metadata.name.as_str())
            || (volume.spec.claim_ref.is_some() && !reserved)
            || capacity < size(claim)
            || mode(&volume.spec.volume_mode) != mode(&claim.spec.volume_mode)
            || attributes(&volume.spec.volume_attributes_class_name) != attributes(&claim.spec.volume_attributes_class_name)
            || volume.metadata.is_terminating()
        {
            continue;
        }
        if reserved {
            return volume.reaches(node).then_some(volume);
        }
        let fits = volume.status.phase == "Available"
            && claim.spec.selector.as_ref().is_none_or(|s| selects(s, &volume.metadata.labels))
            && volume.reaches(node)
            && claim.spec.access_modes.iter().all(|m| volume.spec.access_modes.contains(m));
        if fits && smallest.is_none_or(|(_, least)| capacity < least) {
            smallest = Some((volume, capacity));
        }
    }
    smallest.map(|(volume, _)| volume)
}

/// True if the volume names the claim as its own.
fn is_reserved_for(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> bool {
    volume.spec.claim_ref.as_ref().is_some_and(|r| {
        r.name == claim.metadata.name && r.namespace == claim.metadata.namespace && (r.uid.is_empty() || r.uid == claim.metadata.uid)
    })
}

/// Whether a volume could be made for the claim on this node.
fn check_provision(
    snapshot: &Snapshot,
    storage: &Storage,
    claim: &PersistentVolumeClaim,
    class: &StorageClass,
    node: &Node,
) -> Result<Option<Obstacle>, Verdict> {
    let (full, name) = (claim.metadata.full_name(), &class.metadata.name);
    let finding = |message: String, evidence: Vec<Evidence>| Finding { detail: full.clone(), message, evidence, fact: Fact::None };
    if class.provisioner.is_empty() || class.provisioner == NO_PROVISIONER {
        if let Some(unknown) = snapshot.persistent_volumes.unknown() {
            return Err(Verdict::Unknown(format!("no volume for claim {full} is among the {unknown}")));
        }
        let of_class = snapshot.persistent_volumes.iter().filter(|v| v.class_name() == name);
        let there = of_class.clone().count();
        let free = of_class.filter(|v| v.status.phase == "Available" && v.reaches(node)).count();
        let message = format!(
            "claim {full} asks for {} of storage class {name}, whose volumes are made by hand: of {there} volumes {free} are free and reach the node, none fits",
            size(claim)
        );
        let evidence = vec![
            Evidence::new(object(claim), "spec.resources.requests.storage", size(claim).to_string()),
            Evidence::new(object(claim), "spec.accessModes", claim.spec.access_modes.clone()),
            Evidence::new(format!("StorageClass/{name}"), "provisioner", class.provisioner.clone()),
            Evidence::new(format!("Node/{}", node.name()), "free volumes that reach the node", free),
        ];
        return Ok(Some(Obstacle { reason: BIND_CONFLICT, finding: finding(message, evidence) }));
    }
    if !matches_topology(&class.allowed_topologies, node) {
        let allowed = spell_topologies(&class.allowed_topologies);
        let message = format!("claim {full} has no volume, and storage class {name} makes them only where {allowed}");
        let evidence = vec![Evidence::new(format!("StorageClass/{name}"), "allowedTopologies", allowed)];
        return Ok(Some(Obstacle { reason: BIND_CONFLICT, finding: finding(message, evidence) }));
    }
    let Some(wanted) = claim.spec.resources.requests.get("storage") else { return Ok(None) };
    let driver = storage.csi_driver(&class.provisioner).map_err(Verdict::Unknown)?;
    if driver.is_none_or(|d| d.spec.storage_capacity != Some(true)) {
        return Ok(None);
    }
    let of_class = || snapshot.csi_storage_capacities.iter().filter(|c| c.storage_class_name == *name && reaches(c, node));
    if of_class().any(|c| limit(c).is_some_and(|limit| limit.value() >= wanted.value())) {
        return Ok(None);
    }
    if let Some(unknown) = snapshot.csi_storage_capacities.unknown() {
        return Err(Verdict::Unknown(format!("no capacity for claim {full} is among the {unknown}")));
    }
    let most = of_class().filter_map(limit).max();
    let message = match most {
        Some(most) => format!("claim {full} asks for {wanted} of storage class {name}; the node's storage gives {most} at most"),
        None => {
            format!("claim {full} asks for {wanted} of storage class {name}; driver {} reports no storage for the node", class.provisioner)
        }
    };
    let mut evidence = vec![
        Evidence::new(object(claim), "spec.resources.requests.storage", wanted.to_string()),
        Evidence::new(format!("CSIDriver/{}", class.provisioner), "spec.storageCapacity", true),
    ];
    evidence.extend(
        of_class()
            .map(|c| Evidence::new(format!("CSIStorageCapacity/{}", c.metadata.full_name()), "capacity", limit(c).map(|l| l.to_string()))),
    );
    Ok(Some(Obstacle { reason: NOT_ENOUGH_SPACE, finding: finding(message, evidence) }))
}

/// The largest volume that the storage gives.
fn limit(capacity: &CSIStorageCapacity) -> Option<Quantity> {
    capacity.maximum_volume_size.or(capacity.capacity)
}

fn reaches(capacity: &CSIStorageCapacity, node: &Node) -> bool {
    capacity.node_topology.as_ref().is_some_and(|s| selects(s, &node.metadata.labels))
}

/// True if one of the class's topologies matches the node's labels; none at all matches every node.
fn matches_topology(terms: &[TopologySelectorTerm], node: &Node) -> bool {
    let holds = |term: &TopologySelectorTerm| {
        !term.match_label_expressions.is_empty()
            && term.match_label_expressions.iter().all(|r| {
                is_qualified_name(&r.key)
                    && r.values.iter().all(|v| is_label_value(v))
                    && node.metadata.labels.get(&r.key).is_some_and(|have| r.values.contains(have))
            })
    };
    terms.is_empty() || terms.iter().any(holds)
}

fn spell_topologies(terms: &[TopologySelectorTerm]) -> String {
    let term = |t: &TopologySelectorTerm| {
        let all: Vec<String> = t.match_label_expressions.iter().map(|r| format!("{} in [{}]", r.key, r.values.join(" "))).collect();
        all.join(" and ")
    };
    terms.iter().map(term).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::diagnose::Subject;
    use crate::model::daemon_set::DaemonSet;
    use crate::model::snapshot::Gap;

    /// The four plugins' reasons for a pod with claim `c` on a node of zone a; a gap makes them say
    /// that they do not know.
    fn reasons(claim: Value, volumes: Value, classes: Value, gap: bool) -> Vec<String> {
        let ds: DaemonSet = serde_json::from_value(json!({"metadata": {"name": "d", "namespace": "x"}, "spec": {"template": {"spec": {
            "containers": [{}], "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}}}}))
        .unwrap();
        let mut snapshot = Snapshot::default();
        let objects = &mut snapshot.objects;
        objects.nodes.items =
            serde_json::from_value(json!([{"metadata": {"name": "n", "labels": {"topology.kubernetes.io/zone": "a"}}}])).unwrap();
        objects.persistent_volume_claims.items = serde_json::from_value(claim).unwrap();
        objects.persistent_volumes.items = serde_json::from_value(volumes).unwrap();
        objects.storage_classes.items = serde_json::from_value(classes).unwrap();
        if gap {
            let gap = |resource: &str| Some(Gap { verb: "list".into(), resource: resource.into(), namespace: None, reason: String::new() });
            objects.persistent_volume_claims.gap = gap("persistentvolumeclaims");
            objects.persistent_volumes.gap = gap("persistentvolumes");
            objects.storage_classes.gap = gap("storageclasses.storage.k8s.io");
        }
        let subject = Subject::new(&snapshot, &ds);
        let cycle = subject.fresh_cycle("d-xxxxx");
        let names = ["VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"];
        let plugins = super::super::PLUGINS.iter().filter(|p| names.contains(&p.name));
        plugins
            .filter_map(|p| match (p.prefilter)(&cycle)(&subject.nodes[0], crate::filter::Want::Findings) {
                Verdict::Pass => None,
                Verdict::Fail(f) => Some(format!("{}: {}", p.name, f.reasons.join("; "))),
                Verdict::Unknown(_) => Some(format!("{}: unknown", p.name)),
            })
            .collect()
    }

    fn claim(spec: Value, annotations: Value) -> Value {
        json!([{"metadata": {"name": "c", "namespace": "x", "uid": "u", "annotations": annotations}, "spec": spec}])
    }

    #[test]
    fn a_claim_in_every_state() {
        let bound = json!({"pv.kubernetes.io/bind-completed": "yes"});
        let pv = |zone: &str, more: Value| {
            let mut spec = json!({"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "late",
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                    {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}]}]}}});
            spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!([{"metadata": {"name": "pv"}, "spec": spec, "status": {"phase": "Available"}}])
        };
        let late = json!([{"metadata": {"name": "late"}, "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}]);
        let wants = |size: &str| json!({"storageClassName": "late", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}});
        let none = json!([]);
        for (what, claim, volumes, classes, want) in [
            ("bound here", claim(json!({"volumeName": "pv"}), bound.clone()), pv("a", json!({})), none.clone(), vec![]),
            (
                "bound elsewhere",
                claim(json!({"volumeName": "pv"}), bound.clone()),
                pv("b", json!({})),
                none.clone(),
                vec!["VolumeBinding: node(s) didn't match PersistentVolume's node affinity"],
            ),
            (
                "bound to nothing",
                claim(json!({"volumeName": "gone"}), bound.clone()),
                none.clone(),
                none.clone(),
                vec![
                    "VolumeBinding: node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
                    "VolumeZone: persistentvolume \"gone\" not found",
                ],
            ),
            (
                "missing",
                none.clone(),
                none.clone(),
                none.clone(),
                vec![
                    "VolumeRestrictions: persistentvolumeclaim \"c\" not found",
                    "NodeVolumeLimits: looking up PVC x/c: persistentvolumeclaim \"c\" not found",
                    "VolumeBinding: persistentvolumeclaim \"c\" not found",
                    "VolumeZone: persistentvolumeclaim \"c\" not found",
                ],
            ),
            ("waits, a volume fits", claim(wants("5Gi"), json!({})), pv("a", json!({})), late.clone(), vec![]),
            (
                "waits, the volume is too small",
                claim(wants("6Gi"), json!({})),
                pv("a", json!({})),
                late.clone(),
                vec!["VolumeBinding: node(s) didn't find available persistent volumes to bind"],
            ),
            (
                "waits, the volume is another claim's",
                claim(wants("1Gi"), json!({})),
                pv("a", json!({"claimRef": {"namespace": "x", "name": "other"}})),
                late.clone(),
                vec!["VolumeBinding: node(s) didn't find available persistent volumes to bind"],
            ),
            (
                "should be bound at once",
                claim(json!({"storageClassName": "now"}), json!({})),
                none.clone(),
                json!([{"metadata": {"name": "now"}, "provisioner": "p", "volumeBindingMode": "Immediate"}]),
                vec!["VolumeBinding: pod has unbound immediate PersistentVolumeClaims", "VolumeZone: PersistentVolume had no name"],
            ),
        ] {
            assert_eq!(reasons(claim, volumes, classes, false), want, "{what}");
        }
    }

    #[test]
    fn what_was_not_read_is_not_missing() {
        let unknown = |names: &[&str]| names.iter().map(|n| format!("{n}: unknown")).collect::<Vec<_>>();
        assert_eq!(
            reasons(json!([]), json!([]), json!([]), true),
            unknown(&["VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"])
        );
        let bound = claim(json!({"volumeName": "pv"}), json!({"pv.kubernetes.io/bind-completed": "yes"}));
        assert_eq!(reasons(bound, json!([]), json!([]), true), unknown(&["NodeVolumeLimits", "VolumeBinding", "VolumeZone"]));
    }
}
