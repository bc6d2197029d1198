//! From API objects to a [`Snapshot`]'s objects: what every source does with an object it read.
//!
//! Which kinds are kept, which annotations stay, what the newest time is, and which of two copies
//! of one object counts.

use std::collections::{BTreeSet, HashMap};

use prost::Message;

use super::capture::{self, Header};
use super::cut::Of;
use super::dumps::openshift_version;
use super::protobuf::Malformed;
use super::server_version::{self, Told};
use super::sift;
use super::sift_node;
use super::slim::{Focus, Slimmer};
use super::unsaved;
use crate::model::daemon_set::{ControllerRevision, DaemonSet};
use crate::model::event::Event;
use crate::model::node::Node;
use crate::model::object::{Object, ObjectMeta, StringMap};
use crate::model::pod::Pod;
use crate::model::policy::*;
use crate::model::resource_claim::{DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice};
use crate::model::selector::{is_label_value, is_qualified_name};
use crate::model::snapshot::{Gap, Listed, Objects, Snapshot, for_each_kind};
use crate::model::time::Time;
use crate::model::version::{NEWEST, ServerVersion};
use crate::model::volume::*;

/// What is to be done with an object of some kind and API version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It is read, as the kind of this number.
    Read(Kind),
    /// No answer needs this kind.
    Skip,
    /// The kind is needed, but this API version has another shape.
    OtherShape(Kind),
}

/// A kind of the snapshot, by its place in [`Objects`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind(usize);

const KINDS: &[(&str, &str)] = Objects::KINDS;

/// The object that tells an OpenShift cluster's release.
const OPENSHIFT: (&str, &str) = ("config.openshift.io/v1", "ClusterVersion");

/// API versions of needed kinds whose objects look different from the newest.
const OTHER_SHAPES: &[(&str, &str)] = &[
    ("node.k8s.io/v1alpha1", "RuntimeClass"),
    ("resource.k8s.io/v1alpha1", ""),
    ("resource.k8s.io/v1alpha2", ""),
    ("resource.k8s.io/v1alpha3", ""),
    ("resource.k8s.io/v1beta1", ""),
];

impl Kind {
    /// The kind of this name in this API version (`v1`, `apps/v1`); its group decides, so that
    /// another project's `DaemonSet` is not taken for Kubernetes' own.
    pub fn of(api_version: &str, kind: &str) -> Use {
        let Some(i) = KINDS.iter().position(|(name, _)| *name == kind) else { return Use::Skip };
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let own = KINDS[i].1.split_once('.').map_or("", |(_, group)| group);
        let former = matches!((kind, group), ("DaemonSet", "extensions") | ("Event", "events.k8s.io"));
        if group != own && !former {
            return Use::Skip;
        }
        if OTHER_SHAPES.iter().any(|(version, only)| *version == api_version && (only.is_empty() || *only == kind)) {
            return Use::OtherShape(Kind(i));
        }
        Use::Read(Kind(i))
    }

    /// The kind of a resource's short plural name, as file names and URLs have it (`pods`).
    pub fn of_resource(plural: &str) -> Option<Kind> {
        KINDS.iter().position(|(_, resource)| resource.split('.').next() == Some(plural)).map(Kind)
    }

    /// The kind's name (`Pod`).
    pub fn name(self) -> &'static str {
        KINDS.get(self.0).map_or("", |k| k.0)
    }

    /// The newest API version of the kind: all of them have come to `v1`.
    pub fn api_version(self) -> &'static str {
        match self.resource().split_once('.').map_or("", |(_, group)| group) {
            "" => "v1",
            "apps" => "apps/v1",
            "scheduling.k8s.io" => "scheduling.k8s.io/v1",
            "node.k8s.io" => "node.k8s.io/v1",
            "policy" => "policy/v1",
            "autoscaling" => "autoscaling/v1",
            "storage.k8s.io" => "storage.k8s.io/v1",
            "resource.k8s.io" => "resource.k8s.io/v1",
            "coordination.k8s.io" => "coordination.k8s.io/v1",
            "admissionregistration.k8s.io" => "admissionregistration.k8s.io/v1",
            _ => "discovery.k8s.io/v1",
        }
    }

    /// The resource, as RBAC names it (`daemonsets.apps`).
    pub fn resource(self) -> &'static str {
        KINDS.get(self.0).map_or("", |k| k.1)
    }
}

/// What a source does with an object of one kind beside holding it.
pub trait Ingested: Object {
    /// Annotations that a check needs; all others are dropped, for they may carry tokens.
    /// A name that ends in `/` keeps what begins with it.
    const ANNOTATIONS: &'static [&'static str] = &[];

    /// Calls `see` with each moment at which something happened to the object.
    fn moments(&self, see: &mut dyn FnMut(Time)) {
        self.meta().creation_timestamp.into_iter().for_each(see);
    }

    /// The API server's version, with the text that says so, if the object is a pod of it.
    fn server_version(&self) -> Option<Told> {
        None
    }

    /// Refuses what the API server would refuse and no check could judge: `field: what is wrong`.
    fn check(&self) -> Result<(), String> {
        check_labels("metadata.labels", self.meta().labels.iter())
    }

    /// Drops what is not needed of the object; false if nothing is.
    fn slim(&mut self, _slimmer: &mut Slimmer) -> bool {
        keep(&mut self.meta_mut().annotations, Self::ANNOTATIONS);
        true
    }

    /// Reads an object of a live cluster from protobuf, without what is not to be held; `None` if
    /// nothing of it is.
    ///
    /// # Errors
    /// If the bytes are not such an object.
    fn sifted(bytes: &[u8], slimmer: &mut Slimmer) -> Result<Option<Self>, Malformed>
    where
        Self: Message + Default,
    {
        let mut object = Self::decode(bytes)?;
        Ok(accept(&mut object, slimmer).then_some(object))
    }
}

/// Annotations of a pod template: what Pod Security looks at, and what `rollout restart` writes.
const TEMPLATE_ANNOTATIONS: &[&str] = &["container.apparmor.security.beta.kubernetes.io/", "kubectl.kubernetes.io/restartedAt"];

impl Ingested for Node {
    fn slim(&mut self, slimmer: &mut Slimmer) -> bool {
        keep(&mut self.metadata.annotations, Self::ANNOTATIONS);
        slimmer.node(self);
        true
    }

    fn sifted(bytes: &[u8], slimmer: &mut Slimmer) -> Result<Option<Self>, Malformed> {
        sift_node::node(bytes, slimmer).map(Some)
    }

    fn moments(&self, see: &mut dyn FnMut(Time)) {
        self.metadata.creation_timestamp.into_iter().for_each(&mut *see);
        let conditions = self.status.conditions.iter();
        conditions.flat_map(|c| [c.last_heartbeat_time, c.last_transition_time]).flatten().for_each(see);
    }
}

impl Ingested for Pod {
    const ANNOTATIONS: &'static [&'static str] =
        &["kubernetes.io/config.mirror", "kubernetes.io/config.source", "container.apparmor.security.beta.kubernetes.io/"];

    fn moments(&self, see: &mut dyn FnMut(Time)) {
        let status = &self.status;
        [self.metadata.creation_timestamp, status.start_time].into_iter().flatten().for_each(&mut *see);
        status.conditions.iter().filter_map(|c| c.last_transition_time).for_each(&mut *see);
        for state in status.container_statuses.iter().chain(&status.init_container_statuses).map(|s| &s.state) {
            let running = state.running.as_ref().and_then(|r| r.started_at);
            let ended = state.terminated.as_ref().and_then(|t| t.finished_at);
            [running, ended].into_iter().flatten().for_each(&mut *see);
        }
    }

    fn server_version(&self) -> Option<Told> {
        server_version::of_pod(self)
    }

    fn slim(&mut self, slimmer: &mut Slimmer) -> bool {
        keep(&mut self.metadata.annotations, Self::ANNOTATIONS);
        slimmer.pod(self);
        true
    }

    fn sifted(bytes: &[u8], slimmer: &mut Slimmer) -> Result<Option<Self>, Malformed> {
        sift::pod(bytes, slimmer).map(Some)
    }
}

impl Ingested for DaemonSet {
    // The last two say who keeps the DaemonSet as it is.
    const ANNOTATIONS: &'static [&'static str] =
        &["deprecated.daemonset.template.generation", "meta.helm.sh/release-name", "argocd.argoproj.io/tracking-id"];

    fn moments(&self, see: &mut dyn FnMut(Time)) {
        self.metadata.creation_timestamp.into_iter().for_each(&mut *see);
        self.status.conditions.iter().filter_map(|c| c.last_transition_time).for_each(see);
    }

    fn check(&self) -> Result<(), String> {
        check_labels("metadata.labels", self.metadata.labels.iter())?;
        check_labels("spec.template.metadata.labels", self.spec.template.metadata.labels.iter())?;
        self.spec.selector.iter().try_for_each(|s| check_labels("spec.selector.matchLabels", &s.match_labels))
    }

    fn slim(&mut self, _slimmer: &mut Slimmer) -> bool {
        keep(&mut self.metadata.annotations, Self::ANNOTATIONS);
        keep(&mut self.spec.template.metadata.annotations, TEMPLATE_ANNOTATIONS);
        true
    }
}

impl Ingested for ControllerRevision {
    const ANNOTATIONS: &'static [&'static str] = &["deprecated.daemonset.template.generation"];
}

impl Ingested for Event {
    fn moments(&self, see: &mut dyn FnMut(Time)) {
        self.last_seen().into_iter().for_each(see);
    }

    fn slim(&mut self, slimmer: &mut Slimmer) -> bool {
        keep(&mut self.metadata.annotations, Self::ANNOTATIONS);
        slimmer.focus.has_event(self)
    }
}

impl Ingested for Namespace {
    const ANNOTATIONS: &'static [&'static str] = &[
        "scheduler.alpha.kubernetes.io/node-selector",
        "scheduler.alpha.kubernetes.io/defaultTolerations",
        "scheduler.alpha.kubernetes.io/tolerationsWhitelist",
        "openshift.io/node-selector",
    ];
}

impl Ingested for PersistentVolumeClaim {
    const ANNOTATIONS: &'static [&'static str] = &[
        "pv.kubernetes.io/bind-completed",
        "pv.kubernetes.io/bound-by-controller",
        "volume.kubernetes.io/selected-node",
        "volume.beta.kubernetes.io/storage-class",
        "volume.kubernetes.io/storage-provisioner",
        "volume.beta.kubernetes.io/storage-provisioner",
    ];
}

impl Ingested for PersistentVolume {
    const ANNOTATIONS: &'static [&'static str] = &[
        "pv.kubernetes.io/bound-by-controller",
        "pv.kubernetes.io/provisioned-by",
        "pv.kubernetes.io/migrated-to",
        "volume.beta.kubernetes.io/storage-class",
    ];
}

impl Ingested for StorageClass {
    const ANNOTATIONS: &'static [&'static str] =
        &["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
}

impl Ingested for CSINode {
    const ANNOTATIONS: &'static [&'static str] = &["storage.alpha.kubernetes.io/migrated-plugins"];
}

impl Ingested for ResourceClaim {
    const ANNOTATIONS: &'static [&'static str] =
        &["resource.kubernetes.io/pod-claim-name", "resource.kubernetes.io/extended-resource-claim"];
}

impl Ingested for Lease {
    fn moments(&self, see: &mut dyn FnMut(Time)) {
        [self.metadata.creation_timestamp, self.spec.renew_time].into_iter().flatten().for_each(see);
    }
}

/// The URL of a webhook without user, password and query.
fn bare(url: &mut Option<String>) {
    if let Some(url) = url {
        let plain = url.split(['?', '#']).next().unwrap_or_default();
        *url = match plain.split_once("://").map(|(scheme, rest)| (scheme, rest.split_once('/').unwrap_or((rest, "")))) {
            Some((scheme, (host, path))) => format!("{scheme}://{}/{path}", host.rsplit('@').next().unwrap_or_default()),
            None => String::new(),
        };
    }
}

macro_rules! webhooks {
    ($($ty:ty),*) => { $( impl Ingested for $ty {
        fn slim(&mut self, _slimmer: &mut Slimmer) -> bool {
            keep(&mut self.metadata.annotations, Self::ANNOTATIONS);
            self.webhooks.iter_mut().for_each(|w| bare(&mut w.client_config.url));
            true
        }
    } )* };
}

webhooks!(ValidatingWebhookConfiguration, MutatingWebhookConfiguration);

macro_rules! as_they_are {
    ($($ty:ty),* $(,)?) => { $( impl Ingested for $ty {} )* };
}

as_they_are!(
    ServiceAccount,
    PriorityClass,
    RuntimeClass,
    LimitRange,
    ResourceQuota,
    PodDisruptionBudget,
    CSIDriver,
    CSIStorageCapacity,
    VolumeAttachment,
    ResourceClaimTemplate,
    DeviceClass,
    ResourceSlice,
    DeviceTaintRule,
    Service,
    EndpointSlice,
    HorizontalPodAutoscaler,
);

/// Refuses what a suggested command would take for a flag; no API server has such a name.
fn check_name(meta: &ObjectMeta) -> Result<(), String> {
    for (field, name) in [("metadata.name", &meta.name), ("metadata.namespace", &meta.namespace)] {
        if name.starts_with('-') {
            return Err(format!("{field}: {:?} is not a name", name.chars().take(80).collect::<String>()));
        }
    }
    Ok(())
}

fn check_labels<'a>(field: &str, labels: impl IntoIterator<Item = (&'a String, &'a String)>) -> Result<(), String> {
    let shown = |text: &str| text.chars().take(80).collect::<String>();
    for (key, value) in labels {
        if !is_qualified_name(key) {
            return Err(format!("{field}: {:?} is not a label key (such as app or example.com/app)", shown(key)));
        }
        if !is_label_value(value) {
            return Err(format!("{field}.{key}: {:?} is not a label value (at most 63 letters, digits, -, _ and .)", shown(value)));
        }
    }
    Ok(())
}

fn is_among(key: &str, names: &[&str]) -> bool {
    names.iter().any(|n| if n.ends_with('/') { key.starts_with(n) } else { key == *n })
}

/// True if an annotation of this kind's objects is needed.
pub fn keeps_annotation<T: Ingested>(key: &str) -> bool {
    is_among(key, T::ANNOTATIONS)
}

fn keep(annotations: &mut StringMap, names: &[&str]) {
    if !annotations.is_empty() {
        annotations.retain(|key, _| is_among(key, names));
    }
    // A map that was emptied keeps half a kilobyte.
    if annotations.is_empty() {
        *annotations = StringMap::new();
    }
}

/// Objects as they come in.
#[derive(Debug, Default)]
pub struct Ingest {
    objects: Objects,
    /// The kinds of which something was read, be it an empty list.
    known: BTreeSet<Kind>,
    newest: Option<Time>,
    server_version: Option<String>,
    /// The oldest API server's version by its pod's image, with the tag.
    server: Option<Told>,
    header: Option<Header>,
    slimmer: Slimmer,
}

impl Ingest {
    /// Takes objects in; the pods of these DaemonSets are kept in full.
    pub fn new(focus: Focus) -> Self {
        Ingest { slimmer: Slimmer::new(focus), ..Ingest::default() }
    }

    /// What was taken in so far; the next objects share what they can with these.
    pub fn take(&mut self) -> Ingest {
        let slimmer = std::mem::take(&mut self.slimmer);
        std::mem::replace(self, Ingest { slimmer, ..Ingest::default() })
    }

    /// Adds what another took in after this one.
    pub fn append(&mut self, other: Ingest) {
        let mut theirs = other.objects;
        macro_rules! append {
            ($field:ident, $ty:ty, $resource:literal) => {
                let (ours, theirs) = (&mut self.objects.$field, &mut theirs.$field);
                grow(&mut ours.items, theirs.items.len());
                ours.items.append(&mut theirs.items);
                if ours.gap.is_none() {
                    ours.gap = theirs.gap.take();
                }
            };
        }
        for_each_kind!(append);
        self.known.extend(other.known);
        self.newest = self.newest.max(other.newest);
        self.server_version = self.server_version.take().or(other.server_version);
        self.header = self.header.take().or(other.header);
        self.server = server_version::oldest(self.server.take(), other.server);
    }

    /// Notes that a typed list was read, be it empty: none of its kind is then a fact.
    pub fn listed(&mut self, of: Option<&Of>) {
        if let Some(Use::Read(kind)) = of.map(|of| Kind::of(&of.api_version, &of.kind)) {
            self.known.insert(kind);
        }
    }

    /// Notes what the files say of the server's version.
    pub fn server_version(&mut self, text: &str) {
        if text.parse::<ServerVersion>().is_ok() {
            self.server_version.get_or_insert_with(|| text.into());
        }
    }

    /// True if [`Ingest::other`] takes something from objects of this kind.
    pub fn looks_at(api_version: &str, kind: &str) -> bool {
        [(capture::API_VERSION, capture::KIND), OPENSHIFT].contains(&(api_version, kind))
    }

    /// Takes what it can from an object of a kind that is not in a snapshot.
    pub fn other(&mut self, api_version: &str, kind: &str, whole: impl FnOnce() -> serde_json::Value) {
        if (api_version, kind) == (capture::API_VERSION, capture::KIND) {
            self.header = serde_json::from_value(whole()).ok();
        } else if (api_version, kind) == OPENSHIFT {
            let object = whole();
            let release = object.pointer("/status/desired/version").and_then(serde_json::Value::as_str);
            if let Some(version) = release.and_then(openshift_version) {
                self.server_version(&version);
            }
        }
    }

    /// Notes that the cluster has objects of this kind that cannot be read.
    pub fn unreadable(&mut self, kind: Kind, reason: String) {
        let gap = gap(kind, reason);
        let mut i = 0;
        macro_rules! set {
            ($field:ident, $ty:ty, $resource:literal) => {
                if i == kind.0 {
                    self.objects.$field.gap.get_or_insert(gap);
                    return;
                }
                i += 1;
            };
        }
        for_each_kind!(set);
        let _ = (i, gap);
    }

    /// Reads one object of this kind.
    ///
    /// # Errors
    /// The deserializer's, if the object is not what the kind requires.
    pub fn read<'de, D: serde::Deserializer<'de>>(&mut self, kind: Kind, deserializer: D) -> Result<(), D::Error> {
        self.known.insert(kind);
        let mut i = 0;
        macro_rules! read {
            ($field:ident, $ty:ty, $resource:literal) => {
                if i == kind.0 {
                    let object = <$ty as serde::Deserialize>::deserialize(deserializer)?;
                    check_name(object.meta()).and_then(|()| object.check()).map_err(serde::de::Error::custom)?;
                    self.server = server_version::oldest(self.server.take(), object.server_version());
                    add(&mut self.objects.$field, object, &mut self.newest, &mut self.slimmer);
                    return Ok(());
                }
                i += 1;
            };
        }
        for_each_kind!(read);
        let _ = (i, deserializer);
        Ok(())
    }

    /// The snapshot of files. An object that was read several times counts once, as it was last
    /// changed. Without any node, pod or event, and no (empty) typed list of them either, that kind
    /// has a gap: it was not saved, which says nothing about the cluster. Other kinds that are
    /// absent count as none.
    pub fn finish_files(mut self, asked: Option<(ServerVersion, String)>, now: Option<Time>) -> Snapshot {
        if self.header.is_none() {
            for (plural, reason) in [
                ("nodes", "the snapshot has no nodes"),
                ("pods", "the snapshot has no pods"),
                ("events", "the snapshot has no events: they may have expired or were not saved"),
            ] {
                if let Some(kind) = Kind::of_resource(plural)
                    && !self.known.contains(&kind)
                {
                    self.unreadable(kind, reason.into());
                }
            }
        }
        let version_asked = asked.is_some();
        let (newest, said, header, server) = (self.newest, self.server_version.take(), self.header.take(), self.server.take());
        let objects = self.finish();
        let said = said.and_then(|text| Some((text.parse::<ServerVersion>().ok()?, Some(text))));
        let (version, version_text) = asked
            .map(|(version, text)| (version, Some(text)))
            .or(said)
            .or(server.map(|(version, tag)| (version, Some(tag))))
            .or_else(|| Some((server_version::of_kubelets(&objects.nodes)?, None)))
            .unwrap_or((NEWEST, None));
        let clock = || jiff::Timestamp::now().into();
        let told = now.or(header.as_ref().map(|h| h.now));
        // What was a guess when it was saved is one still.
        let guessed = now.is_none() && header.as_ref().map_or(newest.is_some(), |h| h.now_is_guessed);
        let mut snapshot = Snapshot {
            now: told.or(newest).unwrap_or_else(clock),
            now_is_guessed: guessed,
            version,
            version_text,
            objects,
            ..Snapshot::default()
        };
        match header {
            Some(header) => header.restore(&mut snapshot, version_asked),
            None => unsaved::note(&mut snapshot),
        }
        snapshot
    }

    /// The objects, each once, by namespace and name.
    pub fn finish(mut self) -> Objects {
        macro_rules! once {
            ($field:ident, $ty:ty, $resource:literal) => {
                once(&mut self.objects.$field.items);
            };
        }
        for_each_kind!(once);
        self.objects
    }
}

/// Makes room without doubling: a long list is most of the memory.
fn grow<T>(items: &mut Vec<T>, more: usize) {
    if items.capacity() - items.len() < more {
        items.reserve_exact(more.max(items.len() / 8));
    }
}

fn gap(kind: Kind, reason: String) -> Gap {
    Gap { verb: "list".into(), resource: kind.resource().into(), namespace: None, reason }
}

/// Drops what is not to be held of an object of a live cluster; false if nothing is.
pub fn accept<T: Ingested>(object: &mut T, slimmer: &mut Slimmer) -> bool {
    object.meta_mut().resource_version = String::new();
    object.slim(slimmer)
}

fn add<T: Ingested>(list: &mut Listed<T>, mut object: T, newest: &mut Option<Time>, slimmer: &mut Slimmer) {
    object.moments(&mut |moment| *newest = (*newest).max(Some(moment)));
    if object.slim(slimmer) {
        list.items.push(object);
    }
}

/// Of several copies of one object leaves the newest, at the place of the first.
fn once<T: Object>(items: &mut Vec<T>) {
    let mut copies = Vec::new();
    {
        let mut first_at: HashMap<(&str, &str), usize> = HashMap::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            let meta = item.meta();
            let first = *first_at.entry((&meta.namespace, &meta.name)).or_insert(i);
            if first != i {
                copies.push((first, i));
            }
        }
    }
    for &(first, i) in &copies {
        if age(&items[i]) >= age(&items[first]) {
            items.swap(first, i);
        }
    }
    let mut copies = copies.iter().map(|(_, i)| *i).peekable();
    let mut i = 0;
    items.retain(|_| {
        i += 1;
        copies.next_if_eq(&(i - 1)).is_none()
    });
    for item in items.iter_mut() {
        item.meta_mut().resource_version = String::new();
    }
    // As the API server lists them: what is read does not depend on the order of files.
    let order = |a: &T, b: &T| (&a.meta().namespace, &a.meta().name).cmp(&(&b.meta().namespace, &b.meta().name));
    if !items.is_sorted_by(|a, b| order(a, b).is_le()) {
        items.sort_by(order);
    }
}

/// Orders copies of one object by their last change.
fn age<T: Object>(item: &T) -> (u64, i64) {
    let meta = item.meta();
    (meta.resource_version.parse().unwrap_or(0), meta.generation)
}
