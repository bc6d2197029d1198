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
        Ok(claims) => Box::new(move |info, _| judge(cycle, &claims, info)),
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
        if claim.spec.access_modes.iter().any(|m| m == "ReadWriteOncePod") && !claims.contains(&name) {
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

fn judge<'a>(cycle: &'a Cycle<'a>, claims: &[&str], info: &NodeInfo<'a>) -> Verdict {
    let exclusive = || cycle.spec.volumes.iter().filter(|v| is_exclusive(&v.source));
    let uses = Uses::new(cycle, claims, info);
    if uses.before == 0 && exclusive().next().is_none() {
        // Upstream's PreFilter skips the plugin for the whole cycle, whatever nominated pods bring.
        return if claims.is_empty() || cycle.snapshot.knows_all_pods() {
            Verdict::Pass
        } else {
            Verdict::Unknown("not all pods were read, and another one may use the ReadWriteOncePod claim".into())
        };
    }
    let disks: Vec<Finding> = exclusive().flat_map(|v| holders(v, info)).collect();
    if !disks.is_empty() {
        return Verdict::Fail(Failure { reasons: vec![DISK_CONFLICT.into()], unresolvable: false, findings: dedup(disks) });
    }
    if uses.now > 0 {
        let now = |pods: &[&'a Pod]| claims.iter().flat_map(|claim| users(cycle, claim, info, pods)).collect::<Vec<_>>();
        let used = Some(now(&info.pods)).filter(|u| !u.is_empty()).unwrap_or_else(|| now(&uses.pods_before));
        return Verdict::Fail(Failure { reasons: vec![ONE_POD_CONFLICT.into()], unresolvable: false, findings: dedup(used) });
    }
    if !claims.is_empty() && !cycle.snapshot.knows_all_pods() {
        return Verdict::Unknown("not all pods were read, and another one may use the ReadWriteOncePod claim".into());
    }
    if exclusive().next().is_some() { Verdict::pass_if_pods_known(info) } else { Verdict::Pass }
}

/// How often the pod's ReadWriteOncePod claims are in use, as upstream counts: first each used claim
/// once, however many pods use it; then, as preemption's dry run takes pods off the node and puts
/// others there, one by each volume that names such a claim, be it another namespace's.
struct Uses<'a> {
    before: i64,
    now: i64,
    /// The pods on the node before the dry run changed them.
    pods_before: Vec<&'a Pod>,
}

impl<'a> Uses<'a> {
    fn new(cycle: &'a Cycle<'a>, claims: &[&str], info: &NodeInfo<'a>) -> Self {
        if claims.is_empty() {
            return Uses { before: 0, now: 0, pods_before: Vec::new() };
        }
        let (mut gone, come) = cycle.as_is(info.node.name()).map(|before| info.changes_since(before)).unwrap_or_default();
        gone.retain(|pod| cycle.pod.is_some() || !cycle.owns(pod)); // a pod to be never finds the DaemonSet's own there
        let is_new = |pod: &Pod| come.iter().any(|c| std::ptr::eq(*c, pod));
        let pods_before: Vec<&Pod> = info.pods.iter().copied().filter(|p| !is_new(p)).chain(gone.iter().copied()).collect();
        let before = claims.iter().filter(|claim| !users(cycle, claim, info, &pods_before).is_empty()).count() as i64;
        let named = |pods: &[&Pod]| pods.iter().map(|p| claim_names(p).filter(|name| claims.contains(name)).count() as i64).sum::<i64>();
        let now = before + named(&come) - named(&gone);
        Uses { before, now, pods_before }
    }
}

fn claim_names(pod: &Pod) -> impl Iterator<Item = &str> {
    pod.spec.volumes.iter().filter_map(|v| v.source.persistent_volume_claim.as_ref()).map(|c| c.claim_name.as_str())
}

fn dedup(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| (&a.detail, &a.message).cmp(&(&b.detail, &b.message)));
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

/// The pods of the cluster that use a claim, if `here` are those of the judged node.
fn users<'a>(cycle: &'a Cycle<'a>, claim: &str, info: &NodeInfo<'a>, here: &[&'a Pod]) -> Vec<Finding> {
    let others = cycle.nodes.iter().filter(|n| n.node.name() != info.node.name());
    let elsewhere = others.flat_map(|n| n.pods.iter().map(|p| (n.node.name(), *p)));
    let here = here.iter().map(|p| (info.node.name(), *p));
    let uses = |pod: &Pod| pod.metadata.namespace == cycle.namespace && claim_names(pod).any(|name| name == claim);
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
    fn a_claim_counts_once_and_a_victim_takes_its_uses_away() {
        use crate::filter::world::{report, world};
        use serde_json::json;

        let volume = |claim: &str| json!([{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]);
        for (what, pods, want) in [
            ("used here by a lower pod", vec!["default/a app=a n1 5"], (true, vec!["default/a"])),
            ("used there alone", vec!["default/a app=a n2 5"], (false, vec![])),
            ("used here and there", vec!["default/a app=a n1 5", "default/b app=b n2 5"], (true, vec!["default/a"])),
            ("used here twice", vec!["default/a app=a n1 5", "default/b app=b n1 20"], (true, vec!["default/a"])),
            ("a claim of that name elsewhere", vec!["default/a app=a n2 5", "x/b app=b n1 5"], (true, vec!["x/b"])),
        ] {
            let spec = json!({"containers": [{"name": "c"}], "priorityClassName": "c", "volumes": volume("data")});
            let mut snapshot = world(spec, &["n1", "n2"], &pods);
            let class = json!({"metadata": {"name": "c"}, "value": 10});
            snapshot.objects.priority_classes.items.push(serde_json::from_value(class).unwrap());
            let claim = json!({"metadata": {"name": "data", "namespace": "default", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
                "spec": {"accessModes": ["ReadWriteOncePod"], "volumeName": "pv"}, "status": {"phase": "Bound"}});
            snapshot.objects.persistent_volume_claims.items.push(serde_json::from_value(claim).unwrap());
            let pv = json!({"metadata": {"name": "pv"}, "spec": {"accessModes": ["ReadWriteOncePod"]}});
            snapshot.objects.persistent_volumes.items.push(serde_json::from_value(pv).unwrap());
            for pod in &mut snapshot.objects.pods.items {
                pod.spec.volumes = serde_json::from_value(volume("data")).unwrap();
            }
            let report = report(&snapshot);
            let refused = report.nodes[0].checks.iter().any(|c| c.reasons == [ONE_POD_CONFLICT]);
            let preemption = report.nodes[0].preemption.clone().unwrap_or_default();
            assert!(refused, "{what}");
            assert_eq!((preemption.possible, preemption.victims), (want.0, want.1.iter().map(|v| v.to_string()).collect()), "{what}");
        }
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
