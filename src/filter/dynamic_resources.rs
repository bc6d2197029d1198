//! DynamicResources: the devices that the pod's resource claims ask for are on the node, free.
//!
//! Upstream: `pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go` `PreFilter`,
//! `Filter`, and `extendeddynamicresources.go` (v1.34.3, v1.37.2). What is not judged (see
//! [`crate::model::device_allocation`]) is unknown, never a guess.

use std::collections::HashMap;

use super::{Cycle, Failure, Filter, Finding, Plugin, Verdict};
use crate::cause::{ClaimProblem, Entry, Evidence, Fact, Stage};
use crate::model::device_allocation::{Allocator, Outcome, Wanted};
use crate::model::device_pool::{DeviceId, Pool, gather};
use crate::model::extended_devices::{ExtendedResources, class_of};
use crate::model::node_info::NodeInfo;
use crate::model::pod::PodResourceClaim;
use crate::model::resource_claim::{DeviceRequest, ResourceClaim};
use crate::model::selector::matches_node;

/// The plugin.
pub const PLUGIN: Plugin = Plugin { name: "DynamicResources", entry: &ENTRY, prefilter };

const NOT_AVAILABLE: &str = "resourceclaim not available on the node";
const CANNOT_ALLOCATE: &str = "cannot allocate all claims";
const INVALID_POOLS: &str = "invalid resource pools were encountered";

static ENTRY: Entry = Entry {
    code: "DynamicResources",
    stage: Stage::Scheduling,
    summary: "The node has not the free devices that the pod's resource claims ask for",
    doc: "\
## What it means
The pod asks for devices by resource claims (`spec.resourceClaims`), or for an extended resource that a device class provides. The node's
drivers publish no such device, others hold them, they are tainted, or the claim is allocated to another node, missing or not made yet.
A claim that a DaemonSet's pods share by name is allocated once: pods on nodes that do not reach its devices stay Pending for ever.

## How it is recognised
Allocated claims: the node selector of the allocation against the node. Others: the ResourceSlices for the node, less the devices that other
claims hold, through the selectors of class and request, the claim's constraints, device taints and shared counters. The detail names the
claim and the device class. Expressions and features that are not judged here give no verdict instead of a guess.

## How to check by hand
    kubectl -n NAMESPACE get resourceclaims
    kubectl get resourceslices -o wide | grep NODE
    kubectl get deviceclass CLASS -o yaml

## How to fix it
Use a claim template in the pod's template instead of one shared claim, install or repair the DRA driver on the node, free devices that other
pods hold, or restrict the DaemonSet to nodes that have the devices. Create the claim, its template or the device class if it is missing.
",
};

fn prefilter<'a>(cycle: &'a Cycle<'a>) -> Filter<'a> {
    match Demand::new(cycle) {
        Ok(demand) if demand.claims.is_empty() && demand.extended.is_none() => Verdict::Pass.into(),
        Ok(demand) => Box::new(move |info, _| demand.judge(info).unwrap_or_else(|verdict| verdict)),
        Err(verdict) => verdict.into(),
    }
}

/// What the pod asks for, and what is there for all nodes.
struct Demand<'a> {
    cycle: &'a Cycle<'a>,
    claims: Vec<&'a ResourceClaim>,
    extended: Option<ExtendedResources<'a>>,
    allocator: Allocator<'a>,
    holders: HashMap<DeviceId<'a>, &'a ResourceClaim>,
}

impl<'a> Demand<'a> {
    fn new(cycle: &'a Cycle<'a>) -> Result<Self, Verdict> {
        let snapshot = cycle.snapshot;
        if !cycle.spec.resource_claims.is_empty() && !cycle.features.dynamic_resources {
            return Err(Verdict::Unknown(format!("resource claims are not judged by the rules of {}", snapshot.version)));
        }
        let mut claims = Vec::new();
        for wanted in &cycle.spec.resource_claims {
            claims.extend(user_claim(cycle, wanted)?);
        }
        let extended = ExtendedResources::of(cycle.spec, cycle.pod_uid, snapshot, &cycle.features).map_err(Verdict::Unknown)?;
        for claim in &claims {
            check_claim(cycle, claim)?;
        }
        let mut allocator = Allocator {
            version: snapshot.version,
            features: cycle.features,
            classes: snapshot.device_classes.iter().map(|c| (c.metadata.name.as_str(), c)).collect(),
            allocated: Default::default(),
            shared: Default::default(),
            taint_rules: if cycle.features.dra_device_taint_rules { &snapshot.device_taint_rules } else { &[] },
        };
        let mut holders = HashMap::new();
        for claim in snapshot.resource_claims.iter() {
            for device in claim.held() {
                let id = (device.driver.as_str(), device.pool.as_str(), device.device.as_str());
                let shared = cycle.features.dra_consumable_capacity && device.share_id.is_some();
                if shared {
                    allocator.shared.entry(id).or_default().push(&device.consumed_capacity);
                } else {
                    allocator.allocated.insert(id);
                }
                holders.insert(id, claim);
            }
        }
        Ok(Demand { cycle, claims, extended, allocator, holders })
    }

    fn judge(&self, info: &NodeInfo) -> Result<Verdict, Verdict> {
        let extended = match &self.extended {
            Some(extended) if extended.stale.is_some() => {
                let claim = extended.stale.map(|c| c.metadata.full_name()).unwrap_or_default();
                let message = format!(
                    "claim {claim} is left over from an earlier attempt to schedule the pod; the scheduler deletes it and tries again"
                );
                return Err(refuse("cannot schedule extended resource claim".into(), finding(&claim, message, vec![])));
            }
            Some(extended) => match extended.for_node(info) {
                Ok(requests) => requests,
                Err(resource) => {
                    let message = format!("neither the node nor a device class provides {resource}");
                    let evidence =
                        vec![Evidence::new(format!("Node/{}", info.node.name()), format!("status.allocatable[{resource}]"), "0")];
                    return Err(refuse("cannot fit resource".into(), finding(&resource, message, evidence)));
                }
            },
            None => Vec::new(),
        };
        let mut wanted: Vec<Wanted> = Vec::new();
        for claim in self.claims.iter().filter(|c| c.status.allocation.is_none()) {
            let devices = &claim.spec.devices;
            wanted.push(Wanted { name: claim.metadata.full_name(), requests: &devices.requests, constraints: &devices.constraints });
        }
        if !extended.is_empty() {
            let name = format!("{}/<extended-resources>", self.cycle.namespace);
            wanted.push(Wanted { name, requests: &extended, constraints: &[] });
        }
        if !wanted.is_empty() {
            self.allocate(info, &wanted)?;
        }
        Ok(self.check_allocated(info))
    }

    /// Whether the node has the devices for the claims that are not allocated.
    fn allocate<'r>(&'r self, info: &NodeInfo, wanted: &[Wanted<'r>]) -> Result<(), Verdict> {
        let snapshot = self.cycle.snapshot;
        let pools = gather(&snapshot.resource_slices, info.node, &self.cycle.features);
        let outcome = self.allocator.allocate(&pools, wanted);
        let unread = snapshot.resource_slices.unknown().or_else(|| snapshot.resource_claims.unknown());
        let rules = snapshot.device_taint_rules.unknown().filter(|_| self.cycle.features.dra_device_taint_rules);
        match (outcome, unread, rules) {
            (Outcome::Unknown(why), ..) => Err(Verdict::Unknown(why)),
            // More slices may bring devices, more claims may hold them.
            (_, Some(unread), _) => Err(Verdict::Unknown(format!("which devices are free is not among the {unread}"))),
            (Outcome::Fits, None, Some(rules)) => {
                Err(Verdict::Unknown(format!("whether the devices are tainted is not among the {rules}")))
            }
            (Outcome::Fits, None, None) => Ok(()),
            (Outcome::Error(reason), None, _) => {
                let findings = wanted.iter().map(|w| finding(&w.name, reason.clone(), vec![])).collect();
                Err(Verdict::Fail(Failure { reasons: vec![reason.into()], unresolvable: true, findings }))
            }
            (outcome, None, _) => {
                let mut findings: Vec<Finding> = wanted.iter().flat_map(|w| self.lacks(w, &pools, info)).collect();
                let reason = match outcome {
                    Outcome::InvalidPool(why) if self.cycle.features.dra_partitionable_devices => {
                        for finding in &mut findings {
                            finding.evidence.push(Evidence::new("ResourceSlice", "pool is not valid", why.clone()));
                        }
                        INVALID_POOLS
                    }
                    _ => CANNOT_ALLOCATE,
                };
                Err(Verdict::Fail(Failure { reasons: vec![reason.into()], unresolvable: true, findings }))
            }
        }
    }

    /// What a claim lacks on the node: of which class there are how many, and who holds them.
    fn lacks<'r>(&'r self, wanted: &Wanted<'r>, pools: &[Pool<'r>], info: &NodeInfo) -> Vec<Finding> {
        let short: Vec<Finding> = wanted.requests.iter().filter_map(|r| self.lacks_request(wanted, r, pools, info)).collect();
        if short.is_empty() {
            let message = format!("claim {}: the node has devices for each request, but not for all of them at once", wanted.name);
            return vec![finding(&wanted.name, message, vec![])];
        }
        short
    }

    fn lacks_request<'r>(
        &'r self,
        wanted: &Wanted<'r>,
        request: &'r DeviceRequest,
        pools: &[Pool<'r>],
        info: &NodeInfo,
    ) -> Option<Finding> {
        let (class, count) = match &request.exactly {
            Some(exactly) => (exactly.device_class_name.clone(), if exactly.allocation_mode == "All" { 1 } else { exactly.count.max(1) }),
            None => {
                let classes: Vec<&str> = request.first_available.iter().map(|s| s.device_class_name.as_str()).collect();
                (classes.join(" or "), request.first_available.iter().map(|s| s.count.max(1)).min().unwrap_or(1))
            }
        };
        let matching = self.allocator.matching(pools, &wanted.name, request);
        let held: Vec<_> = matching.iter().filter_map(|(id, _)| Some((id, self.holders.get(id)?))).collect();
        let tainted: Vec<_> = matching
            .iter()
            .filter(|(id, _)| !self.holders.contains_key(id))
            .filter_map(|(id, device)| Some((id, self.allocator.taints(*id, device).first().copied()?)))
            .collect();
        let free = matching.len() - held.len() - tainted.len();
        if free as i64 >= count {
            return None;
        }
        let node = info.node.name();
        let mut evidence = vec![
            Evidence::new(format!("ResourceClaim/{}", wanted.name), format!("spec.devices.requests[{}]", request.name), count),
            Evidence::new(format!("Node/{node}"), format!("devices of class {class}"), matching.len()),
        ];
        let mut parts = vec![match matching.len() {
            0 if pools.is_empty() => "no driver publishes devices for the node".to_string(),
            0 => "the node has none".to_string(),
            n => format!("the node has {n}"),
        }];
        if !held.is_empty() {
            let names: Vec<String> = held.iter().map(|(_, claim)| holder(claim)).collect();
            parts.push(format!("{} in use by {}", held.len(), names.join(", ")));
            evidence.extend(held.iter().map(|(id, claim)| {
                Evidence::new(
                    format!("ResourceClaim/{}", claim.metadata.full_name()),
                    "status.allocation",
                    format!("{}/{}/{}", id.0, id.1, id.2),
                )
            }));
        }
        if let Some((id, taint)) = tainted.first() {
            parts.push(format!("{} tainted", tainted.len()));
            let taint = format!("{}={}:{}", taint.key, taint.value, taint.effect);
            evidence.push(Evidence::new(format!("ResourceSlice device {}/{}/{}", id.0, id.1, id.2), "taints", taint));
        }
        Some(Finding {
            detail: format!("{} {class}", wanted.name),
            message: format!(
                "request {} of claim {} wants {count} of device class {class}: {}",
                request.name,
                wanted.name,
                parts.join(", ")
            ),
            evidence,
            fact: Fact::Devices { class, wanted: count, there: matching.len() as i64, held: held.len() as i64 },
        })
    }

    /// Claims that are allocated already have to be so for this node.
    fn check_allocated(&self, info: &NodeInfo) -> Verdict {
        let mut findings = Vec::new();
        for claim in &self.claims {
            let Some(allocation) = &claim.status.allocation else { continue };
            let name = claim.metadata.full_name();
            match &allocation.node_selector {
                Some(selector) if !matches_node(selector, info.node) => {
                    let requirements = selector.node_selector_terms.iter().flat_map(|t| t.match_fields.iter().chain(&t.match_expressions));
                    let wants: Vec<String> = requirements.map(ToString::to_string).collect();
                    let devices: Vec<String> =
                        allocation.devices.results.iter().map(|r| format!("{}/{}/{}", r.driver, r.pool, r.device)).collect();
                    let message =
                        format!("claim {name} is allocated ({}) and can be used only where {}", devices.join(", "), wants.join(" and "));
                    let object = format!("ResourceClaim/{name}");
                    let evidence = vec![
                        Evidence::new(object.clone(), "status.allocation.nodeSelector", wants),
                        Evidence::new(object, "status.allocation.devices.results", devices),
                    ];
                    findings.push(finding(&name, message, evidence));
                }
                _ if self.cycle.features.dra_binding_conditions => {
                    if let Some(why) = claim.given_up(self.cycle.snapshot.now) {
                        let evidence = vec![Evidence::new(format!("ResourceClaim/{name}"), "status.devices", why.clone())];
                        findings.push(finding(&name, format!("claim {name} is allocated, but {why}"), evidence));
                    }
                }
                _ => {}
            }
        }
        if findings.is_empty() {
            return Verdict::Pass;
        }
        Verdict::Fail(Failure { reasons: vec![NOT_AVAILABLE.into()], unresolvable: true, findings })
    }
}

/// Who holds a claim's devices: its pods, or the claim itself.
fn holder(claim: &ResourceClaim) -> String {
    let pods: Vec<&str> = claim.status.reserved_for.iter().filter(|r| r.resource == "pods").map(|r| r.name.as_str()).collect();
    if pods.is_empty() {
        return format!("claim {}", claim.metadata.full_name());
    }
    format!("pod {}/{}", claim.metadata.namespace, pods.join(" and "))
}

fn finding(claim: &str, message: String, evidence: Vec<Evidence>) -> Finding {
    let evidence = if evidence.is_empty() { vec![Evidence::new(format!("ResourceClaim/{claim}"), "", message.clone())] } else { evidence };
    Finding { detail: claim.to_string(), message, evidence, fact: Fact::None }
}

fn refuse(reason: String, finding: Finding) -> Verdict {
    Verdict::Fail(Failure { reasons: vec![reason.into()], unresolvable: true, findings: vec![finding] })
}

/// The claim behind an entry of the pod's spec; `None` if the entry needs none.
fn user_claim<'a>(cycle: &Cycle<'a>, wanted: &'a PodResourceClaim) -> Result<Option<&'a ResourceClaim>, Verdict> {
    let (namespace, pod) = (cycle.namespace, format!("{}/{}", cycle.namespace, cycle.pod_name));
    let (name, must_own) = match (&wanted.resource_claim_name, &wanted.resource_claim_template_name) {
        (Some(name), _) => (name.as_str(), false),
        (None, Some(template)) => match cycle.claim_statuses.iter().find(|s| s.name == wanted.name) {
            Some(status) => match status.resource_claim_name.as_deref() {
                Some(name) => (name, true),
                None => return Ok(None),
            },
            None => return Err(not_made(cycle, template, &pod)),
        },
        (None, None) => {
            let reason = format!("pod \"{pod}\", spec.resourceClaim \"{}\": none of the supported fields are set", wanted.name);
            return Err(refuse(reason.clone(), finding(&wanted.name, reason, vec![])));
        }
    };
    let claims = &cycle.snapshot.resource_claims;
    let full = format!("{namespace}/{name}");
    let Some(claim) = claims.iter().find(|c| c.metadata.name == name && c.metadata.namespace == namespace) else {
        if let Some(unread) = claims.unknown_in(namespace) {
            return Err(Verdict::Unknown(format!("claim {full} is not among the {unread}")));
        }
        let mut finding = finding(&full, format!("resource claim {full} does not exist"), vec![]);
        finding.fact = Fact::Claim { namespace: namespace.into(), name: name.into(), problem: ClaimProblem::Missing };
        return Err(refuse(format!("could not find ResourceClaim \"{full}\""), finding));
    };
    let problem = |reason: String, message: String, problem: ClaimProblem| {
        let mut finding = finding(&full, message, vec![]);
        finding.fact = Fact::Claim { namespace: namespace.into(), name: name.into(), problem };
        Err(refuse(reason, finding))
    };
    if claim.metadata.is_terminating() {
        let message = format!("resource claim {full} is being deleted");
        return problem(format!("resourceclaim \"{name}\" is being deleted"), message, ClaimProblem::Deleting);
    }
    if must_own && claim.metadata.controller().is_none_or(|o| o.uid != cycle.pod_uid) {
        let word = if cycle.snapshot.version.minor < 36 { "pod" } else { "Pod" };
        let reason = format!("ResourceClaim {full} was not created for {word} {pod} ({word} is not owner)");
        let message = format!("resource claim {full} was made for another pod");
        return problem(reason, message, ClaimProblem::NotOwned);
    }
    Ok(Some(claim))
}

/// A claim that is to be made from a template and is not there yet.
fn not_made(cycle: &Cycle, template: &str, pod: &str) -> Verdict {
    let full = format!("{}/{template}", cycle.namespace);
    let templates = &cycle.snapshot.resource_claim_templates;
    let there = templates.iter().any(|t| t.metadata.name == template && t.metadata.namespace == cycle.namespace);
    let missing = !there && templates.unknown_in(cycle.namespace).is_none();
    let (message, problem) = if missing {
        (format!("resource claim template {full} does not exist, so no claim can be made for the pod"), ClaimProblem::Missing)
    } else {
        (format!("no resource claim has been made for the pod from template {full} yet"), ClaimProblem::NotMade)
    };
    let mut finding = finding(&full, message, vec![Evidence::new(format!("ResourceClaimTemplate/{full}"), "exists", there)]);
    finding.fact = Fact::Claim { namespace: cycle.namespace.into(), name: template.into(), problem };
    refuse(format!("pod \"{pod}\": ResourceClaim not created yet"), finding)
}

/// A claim that is not allocated needs its device classes.
fn check_claim(cycle: &Cycle, claim: &ResourceClaim) -> Result<(), Verdict> {
    let full = claim.metadata.full_name();
    // A claim may be shared by any number of pods as far as the scheduler goes.
    if claim.status.allocation.is_some() {
        return Ok(());
    }
    for request in &claim.spec.devices.requests {
        let classes: Vec<(String, &str)> = match &request.exactly {
            Some(exactly) => vec![(request.name.clone(), exactly.device_class_name.as_str())],
            None if request.first_available.is_empty() => {
                let reason = format!("resource claim {full}, request {}: unknown request type", request.name);
                return Err(refuse(reason.clone(), finding(&full, reason, vec![])));
            }
            None => {
                let sub = request.first_available.iter();
                sub.map(|s| (format!("{}/{}", request.name, s.name), s.device_class_name.as_str())).collect()
            }
        };
        for (request, class) in classes {
            if class_of(cycle.snapshot, class).is_some() {
                continue;
            }
            if let Some(unread) = cycle.snapshot.device_classes.unknown() {
                return Err(Verdict::Unknown(format!("device class {class} is not among the {unread}")));
            }
            let evidence =
                vec![Evidence::new(format!("ResourceClaim/{full}"), format!("spec.devices.requests[{request}].deviceClassName"), class)];
            let finding =
                finding(&format!("{full} {class}"), format!("claim {full} asks for device class {class}, which does not exist"), evidence);
            return Err(refuse(format!("request {request}: device class {class} does not exist"), finding));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::diagnose::Subject;
    use crate::filter::Want;
    use crate::model::daemon_set::DaemonSet;
    use crate::model::snapshot::{Gap, Snapshot};

    #[test]
    fn devices_are_there_taken_or_not_known() {
        let device = json!({"name": "g0", "attributes": {"model": {"string": "A"}}});
        let held = json!({"metadata": {"name": "other", "namespace": "y"}, "status": {"allocation": {"devices": {"results": [
            {"request": "r", "driver": "gpu", "pool": "n", "device": "g0"}]}}}});
        for (what, selector, tainted, holder, gap, want) in [
            ("there", "true", false, false, false, "pass"),
            ("of another model", "device.attributes['gpu'].model == 'B'", false, false, false, CANNOT_ALLOCATE),
            ("held by another claim", "true", false, true, false, CANNOT_ALLOCATE),
            ("tainted", "true", true, false, false, CANNOT_ALLOCATE),
            ("slices not read", "true", false, false, true, "unknown"),
            ("a selector that is not judged", "device.attributes['gpu'].model.matches('A')", false, false, false, "unknown"),
            // Whatever the selector says, there is no device left.
            ("not judged, but held", "device.attributes['gpu'].model.matches('A')", false, true, false, CANNOT_ALLOCATE),
        ] {
            let ds: DaemonSet = serde_json::from_value(json!({"metadata": {"name": "d", "namespace": "x"}, "spec": {"template": {"spec": {
                "containers": [{}], "resourceClaims": [{"name": "g", "resourceClaimName": "c"}]}}}}))
            .unwrap();
            let mut device = device.clone();
            if tainted {
                device["taints"] = json!([{"key": "broken", "effect": "NoSchedule"}]);
            }
            let mut snapshot = Snapshot::default();
            let objects = &mut snapshot.objects;
            objects.nodes.items = serde_json::from_value(json!([{"metadata": {"name": "n"}}])).unwrap();
            objects.device_classes.items =
                serde_json::from_value(json!([{"metadata": {"name": "gpu"}, "spec": {"selectors": [{"cel": {"expression": selector}}]}}]))
                    .unwrap();
            objects.resource_slices.items = serde_json::from_value(json!([{"metadata": {"name": "s"}, "spec": {
                "driver": "gpu", "nodeName": "n", "pool": {"name": "n", "resourceSliceCount": 1}, "devices": [device]}}]))
            .unwrap();
            objects.resource_claims.items = serde_json::from_value(json!([{"metadata": {"name": "c", "namespace": "x"}, "spec": {
                "devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "count": 1}}]}}}]))
            .unwrap();
            if holder {
                objects.resource_claims.items.push(serde_json::from_value(held.clone()).unwrap());
            }
            if gap {
                let resource = "resourceslices.resource.k8s.io".to_string();
                objects.resource_slices.gap = Some(Gap { verb: "list".into(), resource, namespace: None, reason: "forbidden".into() });
            }
            let subject = Subject::new(&snapshot, &ds);
            let cycle = subject.fresh_cycle("d-xxxxx");
            let verdict = match prefilter(&cycle)(&subject.nodes[0], Want::Findings) {
                Verdict::Pass => "pass".to_string(),
                Verdict::Fail(failure) => failure.reasons.join("; "),
                Verdict::Unknown(_) => "unknown".to_string(),
            };
            assert_eq!(verdict, want, "{what}");
        }
    }
}
