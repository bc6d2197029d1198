//! Pods from the API server's protobuf, without reading what [`slim`](super::slim) would drop.
//!
//! Most of a large cluster's pods are not in question and alike. Of each, the bytes that count are
//! picked out; they are decoded only if no pod before had the same. What comes out is what decoding
//! the whole pod and making it small gives.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use prost::Message;
use prost::encoding::{WireType, decode_key, decode_varint, encode_key};
use rustc_hash::FxHasher;

use super::ingest::{Ingested, keeps_annotation};
use super::protobuf::Malformed;
use super::slim::{Slimmer, is_token, is_well, reduce, reduce_meta, settle_spec, settle_status};
use crate::model::object::{Labels, ObjectMeta, OwnerReference};
use crate::model::pod::{Pod, PodSpec, PodStatus};
use crate::model::shared::Shared;
use crate::model::time::Time;

/// Beyond so many different values of a kind, no more are remembered.
const REMEMBERED: usize = 20_000;

/// What was decoded, by the bytes that it was decoded from.
#[derive(Debug)]
pub(super) struct Known<T>(HashMap<Box<[u8]>, T, BuildHasherDefault<FxHasher>>);

impl<T> Default for Known<T> {
    fn default() -> Self {
        Known(HashMap::default())
    }
}

impl<T: Clone> Known<T> {
    pub(super) fn get(&mut self, bytes: &[u8], decode: impl FnOnce() -> Result<T, Malformed>) -> Result<T, Malformed> {
        if let Some(value) = self.0.get(bytes) {
            return Ok(value.clone());
        }
        let value = decode()?;
        if self.0.len() < REMEMBERED {
            self.0.insert(bytes.into(), value.clone());
        }
        Ok(value)
    }
}

/// What is remembered from pod to pod.
#[derive(Debug, Default)]
pub struct Sieve {
    labels: Known<Shared<Labels>>,
    owners: Known<Shared<Vec<OwnerReference>>>,
    others: Known<(Shared<PodSpec>, Shared<PodStatus>)>,
    own_specs: Known<Shared<PodSpec>>,
    /// Fields of the metadata; labels; owners; what the pod is known by.
    rest: Vec<u8>,
    labels_bytes: Vec<u8>,
    owners_bytes: Vec<u8>,
    key: Vec<u8>,
}

/// One field of a message: its number, where its value lies, and the whole of it.
pub(super) struct Field<'a> {
    pub(super) tag: u32,
    pub(super) value: &'a [u8],
    pub(super) whole: &'a [u8],
}

/// The fields of a message one by one.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn next(&mut self) -> Result<Option<Field<'a>>, Malformed> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let start = self.0;
        let mut rest = start;
        let (tag, wire_type) = decode_key(&mut rest)?;
        let length = match wire_type {
            WireType::LengthDelimited => decode_varint(&mut rest)?,
            WireType::Varint => {
                let before = rest;
                decode_varint(&mut rest)?;
                let length = before.len() - rest.len();
                rest = before;
                length as u64
            }
            WireType::SixtyFourBit => 8,
            WireType::ThirtyTwoBit => 4,
            _ => return Err(malformed()),
        };
        let value = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
        let Some((value, after)) = value else { return Err(malformed()) };
        self.0 = after;
        let whole = start.get(..start.len() - after.len()).unwrap_or_default();
        Ok(Some(Field { tag, value, whole }))
    }
}

fn malformed() -> Malformed {
    Malformed::Not("a message that is cut off".into())
}

/// Which field of a message is picked, and what of it.
enum Pick {
    /// All of it.
    Whole(u32),
    /// Of the message in it these.
    Of(u32, &'static [Pick]),
}
use Pick::{Of, Whole};

const CONTAINER: &[Pick] = &[Whole(1), Whole(6), Whole(8), Whole(24)];

/// What counts of a pod that is not in question; volumes are looked at, nodeName goes elsewhere.
const BOUND_SPEC: &[Pick] =
    &[Of(2, CONTAINER), Whole(11), Of(18, &[Whole(3)]), Of(20, CONTAINER), Whole(24), Whole(25), Whole(32), Whole(39), Whole(40)];
const PENDING_SPEC: &[Pick] = &[
    Of(2, CONTAINER),
    Whole(11),
    Whole(18),
    Whole(19),
    Of(20, CONTAINER),
    Whole(24),
    Whole(25),
    Whole(32),
    Whole(38),
    Whole(39),
    Whole(40),
];

const CONTAINER_STATUS: &[Pick] = &[Whole(1), Whole(10), Whole(11)];
const CONDITION: &[Pick] = &[Whole(1), Whole(2), Whole(5)];

/// The same of its status; conditions are looked at, startTime goes elsewhere.
const STATUS: &[Pick] =
    &[Whole(1), Of(8, CONTAINER_STATUS), Of(10, CONTAINER_STATUS), Whole(11), Whole(15), Whole(18), Whole(19), Whole(20)];

/// Sources of volumes that keep no other pod off a node.
const HARMLESS_SOURCES: &[u32] = &[1, 2, 6, 16, 19, 26];

impl Pick {
    fn tag(&self) -> u32 {
        match self {
            Whole(tag) | Of(tag, _) => *tag,
        }
    }
}

/// Looks at a field and copies what counts of it.
type Look<'a> = dyn FnMut(&Field, &mut Vec<u8>) -> Result<(), Malformed> + 'a;

/// Copies what is picked of a message; `look` decides of fields that nothing picks.
fn pick(message: &[u8], picks: &[Pick], out: &mut Vec<u8>, look: &mut Look) -> Result<(), Malformed> {
    let mut fields = Fields(message);
    while let Some(field) = fields.next()? {
        match picks.iter().find(|p| p.tag() == field.tag) {
            Some(Whole(_)) => out.extend_from_slice(field.whole),
            Some(Of(tag, picks)) => nested(*tag, out, |out| pick(field.value, picks, out, &mut |_, _| Ok(())))?,
            None => look(&field, out)?,
        }
    }
    Ok(())
}

/// Writes a field whose length shows only afterwards: a varint may be longer than it has to be.
fn nested(tag: u32, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> Result<(), Malformed>) -> Result<(), Malformed> {
    encode_key(tag, WireType::LengthDelimited, out);
    let at = out.len();
    out.extend_from_slice(&[0x80, 0x80, 0x80, 0x80, 0]);
    write(out)?;
    let mut length = out.len() - at - 5;
    for byte in out.iter_mut().skip(at).take(4) {
        *byte |= (length & 0x7f) as u8;
        length >>= 7;
    }
    if let Some(last) = out.get_mut(at + 4) {
        *last = length as u8;
    }
    Ok(())
}

/// The value of the last field of this number.
pub(super) fn value_of(message: &[u8], tag: u32) -> Result<&[u8], Malformed> {
    let (mut fields, mut found) = (Fields(message), &[][..]);
    while let Some(field) = fields.next()? {
        if field.tag == tag {
            found = field.value;
        }
    }
    Ok(found)
}

pub(super) fn text(bytes: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(bytes).map_err(|_| malformed())
}

/// An object's metadata, spec and status; `None` if one of them is said twice, to be merged: nobody
/// writes so, and decoding knows how.
pub(super) fn parts(object: &[u8]) -> Result<Option<[&[u8]; 3]>, Malformed> {
    let mut parts: [Option<&[u8]>; 3] = [None; 3];
    let mut fields = Fields(object);
    while let Some(field) = fields.next()? {
        let part = (field.tag as usize).checked_sub(1).and_then(|i| parts.get_mut(i));
        if part.is_some_and(|part| part.replace(field.value).is_some()) {
            return Ok(None);
        }
    }
    Ok(Some(parts.map(Option::unwrap_or_default)))
}

/// Reads a pod, as decoding and [`Slimmer::pod`] leave it.
///
/// # Errors
/// If the bytes are not a pod's.
pub fn pod(bytes: &[u8], slimmer: &mut Slimmer) -> Result<Pod, Malformed> {
    let Some([metadata, spec, status]) = parts(bytes)? else { return whole(bytes, slimmer) };
    let sieve = &mut slimmer.sieve;
    let mut pod = Pod { metadata: meta(metadata, sieve)?, ..Pod::default() };
    pod.moved_node_name = text(value_of(spec, 10)?)?.to_string();
    let start = value_of(status, 7)?;
    pod.moved_start_time = if start.is_empty() { None } else { Some(Time::decode(start)?) };
    if slimmer.focus.has_pod(&pod) {
        pod.status = PodStatus::decode(status)?.into();
        if !is_well(&pod) {
            return whole(bytes, slimmer);
        }
        pod.spec = own_spec(spec, &mut slimmer.sieve)?;
        pod.status.start_time = None;
        settle_status(&mut pod.status, &pod.spec);
        slimmer.share_status(&mut pod);
        return Ok(pod);
    }
    let bound = !pod.moved_node_name.is_empty();
    let mut key = std::mem::take(&mut slimmer.sieve.key);
    key.clear();
    pick(spec, if bound { BOUND_SPEC } else { PENDING_SPEC }, &mut key, &mut counting_volume)?;
    let spec_ends = key.len();
    pick(status, STATUS, &mut key, &mut counting_condition)?;
    let picked = key.len();
    // So that no bytes of the one can pass for bytes of the other.
    key.extend_from_slice(&(spec_ends as u64).to_le_bytes());
    key.push(u8::from(bound));
    let decode = || {
        let (spec, status) = key[..picked].split_at(spec_ends);
        let (spec, status) = (PodSpec::decode(spec)?, PodStatus::decode(status)?);
        let mut read = Pod { spec: spec.into(), status: status.into(), moved_node_name: pod.moved_node_name.clone(), ..Pod::default() };
        reduce(&mut read);
        Ok(((*read.spec).clone().into(), (*read.status).clone().into()))
    };
    (pod.spec, pod.status) = slimmer.sieve.others.get(&key, decode)?;
    slimmer.sieve.key = key;
    reduce_meta(&mut pod);
    Ok(pod)
}

/// Reads an object whole.
pub(super) fn whole<T: Ingested + Message + Default>(bytes: &[u8], slimmer: &mut Slimmer) -> Result<T, Malformed> {
    let mut object = T::decode(bytes)?;
    object.meta_mut().resource_version = String::new();
    object.slim(slimmer);
    Ok(object)
}

/// The metadata, with what it shares with other pods'.
fn meta(bytes: &[u8], sieve: &mut Sieve) -> Result<ObjectMeta, Malformed> {
    let (rest, labels, owners) = (&mut sieve.rest, &mut sieve.labels_bytes, &mut sieve.owners_bytes);
    for buffer in [&mut *rest, labels, owners] {
        buffer.clear();
    }
    let mut fields = Fields(bytes);
    while let Some(field) = fields.next()? {
        match field.tag {
            11 => labels.extend_from_slice(field.whole),
            13 => owners.extend_from_slice(field.whole),
            // The version of the object.
            6 => {}
            12 if !std::str::from_utf8(value_of(field.value, 1)?).is_ok_and(keeps_annotation::<Pod>) => {}
            _ => rest.extend_from_slice(field.whole),
        }
    }
    let mut meta = ObjectMeta::decode(rest.as_slice())?;
    meta.labels = sieve.labels.get(labels, || Ok(ObjectMeta::decode(labels.as_slice())?.labels))?;
    meta.owner_references = sieve.owners.get(owners, || Ok(ObjectMeta::decode(owners.as_slice())?.owner_references))?;
    Ok(meta)
}

/// The spec of a pod in question that is well.
fn own_spec(spec: &[u8], sieve: &mut Sieve) -> Result<Shared<PodSpec>, Malformed> {
    let mut key = std::mem::take(&mut sieve.key);
    key.clear();
    pick(spec, &[], &mut key, &mut |field, out| {
        match field.tag {
            1 if is_token_volume(field.value)? => {}
            2 | 20 => nested(field.tag, out, |out| {
                pick(field.value, &[], out, &mut |field, out| {
                    let token = field.tag == 9 && std::str::from_utf8(value_of(field.value, 1)?).is_ok_and(is_token);
                    if !token {
                        out.extend_from_slice(field.whole);
                    }
                    Ok(())
                })
            })?,
            10 => {}
            // The node that it is bound to anyway.
            18 => nested(18, out, |out| pick(field.value, &[Whole(2), Whole(3)], out, &mut |_, _| Ok(())))?,
            _ => out.extend_from_slice(field.whole),
        }
        Ok(())
    })?;
    let known = sieve.own_specs.get(&key, || {
        let mut read = PodSpec::decode(key.as_slice())?;
        settle_spec(&mut read);
        Ok(read.clone().into())
    });
    sieve.key = key;
    known
}

fn is_token_volume(volume: &[u8]) -> Result<bool, Malformed> {
    let named = std::str::from_utf8(value_of(volume, 1)?).is_ok_and(is_token);
    Ok(named && Fields(value_of(volume, 2)?).next()?.is_some_and(|source| source.tag == 26))
}

/// Picks a volume that may keep another pod off a node.
fn counting_volume(field: &Field, out: &mut Vec<u8>) -> Result<(), Malformed> {
    if field.tag != 1 {
        return Ok(());
    }
    let mut sources = Fields(value_of(field.value, 2)?);
    while let Some(source) = sources.next()? {
        if !HARMLESS_SOURCES.contains(&source.tag) {
            out.extend_from_slice(field.whole);
            break;
        }
    }
    Ok(())
}

/// Picks a condition that bears on what the pod takes up.
fn counting_condition(field: &Field, out: &mut Vec<u8>) -> Result<(), Malformed> {
    if field.tag == 2 && matches!(value_of(field.value, 1)?, b"Ready" | b"PodResizePending" | b"DisruptionTarget") {
        nested(2, out, |out| pick(field.value, CONDITION, out, &mut |_, _| Ok(())))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::slim::Focus;
    use serde_json::{Value, json};

    fn slimmer() -> Slimmer {
        Slimmer::new(Focus { namespace: Some("x".into()), names: vec!["agent".into()] })
    }

    /// A pod with everything that real ones have, changed by `change`.
    fn made(change: &dyn Fn(&mut Value)) -> Pod {
        let mut pod = json!({
            "metadata": {"name": "a-b", "namespace": "x", "uid": "u", "resourceVersion": "7", "creationTimestamp": "2026-01-01T00:00:00Z",
                "labels": {"app": "a"}, "annotations": {"secret": "token", "kubernetes.io/config.source": "api"}, "finalizers": ["f/g"],
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "a", "uid": "o", "controller": true}]},
            "spec": {"nodeName": "n", "hostNetwork": true, "priority": 5, "priorityClassName": "high", "tolerations": [{"operator": "Exists"}],
                "overhead": {"cpu": "10m"},
                "affinity": {
                    "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}},
                    "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}], "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": {"topologyKey": "rack"}}]},
                    "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "host"}], "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": {"topologyKey": "rack"}}]}},
                "volumes": [{"name": "kube-api-access-x", "projected": {}}, {"name": "c", "configMap": {"name": "m"}}, {"name": "p", "persistentVolumeClaim": {"claimName": "q"}}],
                "initContainers": [{"name": "i", "restartPolicy": "Always", "resources": {"limits": {"memory": "1Gi"}}}],
                "containers": [{"name": "c", "image": "i:1", "env": [{"name": "E"}], "resources": {"requests": {"cpu": "100m"}, "limits": {"cpu": "1", "memory": "2Gi"}},
                    "ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 81}], "volumeMounts": [{"name": "kube-api-access-x", "mountPath": "/t"}, {"name": "p", "mountPath": "/p"}]}]},
            "status": {"phase": "Running", "startTime": "2026-01-01T00:00:01Z", "podIP": "10.0.0.1",
                "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Initialized", "status": "True", "lastTransitionTime": "2026-01-01T00:00:02Z"},
                    {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:03Z", "message": "m"}],
                "containerStatuses": [{"name": "c", "ready": true, "restartCount": 3, "image": "i:1", "imageID": "d", "started": true,
                    "allocatedResources": {"cpu": "100m"}, "resources": {"requests": {"cpu": "100m"}}, "state": {"running": {"startedAt": "2026-01-01T00:00:02Z"}}}]}});
        change(&mut pod);
        serde_json::from_value(pod).unwrap()
    }

    #[test]
    fn what_is_picked_is_what_slimming_leaves() {
        type Change = &'static dyn Fn(&mut Value);
        let own = |pod: &mut Value| {
            pod["metadata"]["ownerReferences"][0] =
                json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "d", "controller": true})
        };
        let changes: &[(&str, Change)] = &[
            ("as it is", &|_| {}),
            ("in another namespace", &|p| p["metadata"]["namespace"] = json!("y")),
            ("without labels", &|p| p["metadata"]["labels"] = json!({})),
            ("not bound", &|p| p["spec"]["nodeName"] = json!("")),
            ("not ready", &|p| p["status"]["conditions"][2]["status"] = json!("False")),
            ("succeeded", &|p| p["status"]["phase"] = json!("Succeeded")),
            ("terminating", &|p| p["metadata"]["deletionTimestamp"] = json!("2026-01-02T00:00:00Z")),
            ("no host network", &|p| p["spec"]["hostNetwork"] = json!(false)),
            ("resized", &|p| p["status"]["containerStatuses"][0]["allocatedResources"]["cpu"] = json!("200m")),
            ("resize is infeasible", &|p| {
                p["status"]["conditions"][0] =
                    json!({"type": "PodResizePending", "status": "True", "reason": "Infeasible", "message": "m"});
            }),
            ("pod-level resources", &|p| p["spec"]["resources"] = json!({"requests": {"cpu": "3"}})),
            ("a claim", &|p| p["spec"]["resourceClaims"] = json!([{"name": "r", "resourceClaimName": "s"}])),
            ("an ephemeral volume", &|p| p["spec"]["volumes"][1] = json!({"name": "e", "ephemeral": {}})),
            ("a disk", &|p| p["spec"]["volumes"][1] = json!({"name": "e", "gcePersistentDisk": {"pdName": "d"}})),
            ("no volumes", &|p| p["spec"]["volumes"] = json!([])),
            ("a volume without source", &|p| p["spec"]["volumes"] = json!([{"name": "v"}])),
            ("no affinity", &|p| p["spec"]["affinity"] = json!(null)),
            ("only preferences", &|p| {
                for (_, rule) in p["spec"]["affinity"].as_object_mut().unwrap() {
                    rule.as_object_mut().unwrap().remove("requiredDuringSchedulingIgnoredDuringExecution");
                }
            }),
            ("only its node", &|p| {
                p["spec"]["affinity"].as_object_mut().unwrap().retain(|k, _| k == "nodeAffinity");
            }),
            ("nominated", &|p| p["status"]["nominatedNodeName"] = json!("m")),
            ("in another scheduler's queue", &|p| {
                p["spec"]["nodeName"] = json!("");
                p["spec"]["schedulerName"] = json!("batch");
                p["spec"]["schedulingGates"] = json!([{"name": "g"}]);
            }),
            ("preempted", &|p| {
                p["metadata"]["deletionTimestamp"] = json!("2026-01-02T00:00:00Z");
                p["status"]["conditions"][0] =
                    json!({"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "m"});
            }),
            ("a failed condition", &|p| p["status"]["conditions"][1]["status"] = json!("False")),
        ];
        // One slimmer for all: what is remembered of one pod must not pass for another's.
        let (mut picking, mut wholly) = (slimmer(), slimmer());
        for owned in [false, true] {
            for (what, change) in changes {
                let pod = made(&|p| {
                    if owned {
                        own(p);
                    }
                    change(p);
                });
                let bytes = pod.encode_to_vec();
                let picked = super::pod(&bytes, &mut picking).unwrap();
                assert_eq!(picked, whole(&bytes, &mut wholly).unwrap(), "{what}, owned: {owned}");
                assert_eq!(picked, super::pod(&bytes, &mut picking).unwrap(), "{what} again, owned: {owned}");
            }
        }
    }

    #[test]
    fn pods_that_are_alike_share() {
        for kind in ["ReplicaSet", "DaemonSet"] {
            let on = |node: &str| {
                made(&|p| {
                    p["metadata"]["ownerReferences"][0]["kind"] = json!(kind);
                    p["metadata"]["ownerReferences"][0]["name"] = json!("agent");
                    p["metadata"]["name"] = json!(format!("agent-{node}"));
                    p["spec"]["nodeName"] = json!(node);
                    p["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"][0]["matchFields"]
                        [0]["values"][0] = json!(node);
                    p["spec"]["volumes"][0]["name"] = json!(format!("kube-api-access-{node}"));
                    p["spec"]["containers"][0]["volumeMounts"][0]["name"] = json!(format!("kube-api-access-{node}"));
                })
                .encode_to_vec()
            };
            let mut slimmer = slimmer();
            let (a, b) = (super::pod(&on("m"), &mut slimmer).unwrap(), super::pod(&on("n"), &mut slimmer).unwrap());
            assert!(a.spec.same(&b.spec), "{kind}: spec");
            assert!(a.status.same(&b.status), "{kind}: status");
            assert!(a.metadata.labels.same(&b.metadata.labels), "{kind}: labels");
            assert!(a.metadata.owner_references.same(&b.metadata.owner_references), "{kind}: owners");
        }
    }

    #[test]
    fn bytes_that_are_no_pod_are_an_error() {
        let bytes = made(&|_| {}).encode_to_vec();
        for end in 0..bytes.len() {
            // Whatever is cut off, nothing panics; and a field that is cut is told.
            let _ = super::pod(&bytes[..end], &mut slimmer());
        }
        for bad in [&b"\x0a\xff"[..], b"\x0a\x05a", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", b"\x0b", b"\x12\x03\x0a\x05a"] {
            assert!(super::pod(bad, &mut slimmer()).is_err(), "{bad:?}");
        }
    }
}
