//! A live cluster, read as far as the answer needs it.
//!
//! First the DaemonSets; then at once the nodes, their own pods, revisions and events; then, round
//! by round, what [`plan`](crate::plan) says is in doubt: the pods of single nodes or of all, and
//! the kinds that a check asks for. What may not be read becomes a gap, never a failure, unless it
//! is the DaemonSet itself.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;
use futures::stream::{self, StreamExt};
use prost::Message;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::join;

use super::access::{Access, Connection, connect};
use super::api::{Api, Ask, Raw};
use super::api_error::{ApiError, Transport, not_json};
use super::failure::Failure;
use super::ingest::{Ingested, accept};
use super::lists::{each_once, gap, merged, object_path, path, selector_text, unread, welcome};
use super::progress::Progress;
use super::protobuf::Malformed;
use super::request::{Proposed, Request};
use super::slim::{Focus, Slimmer};
use crate::model::daemon_set::DaemonSet;
use crate::model::event::Event;
use crate::model::node::Node;
use crate::model::pod::Pod;
use crate::model::policy::*;
use crate::model::snapshot::{Listed, Objects, Snapshot};
use crate::model::version::NEWEST;
use crate::plan::{Group, Needs, Settled, plan, plan_for_all, wants_all_pods};

#[path = "cluster_late.rs"]
mod late;

/// Nodes whose pods are asked for at once.
const NODES_AT_ONCE: usize = 16;

/// Events that are read of one namespace's pods; more say nothing new.
const EVENTS: usize = 20_000;

/// With so many pods in doubt, the namespace's events are read together.
const PODS_ONE_BY_ONE: usize = 16;

/// From so many nodes or pods in question on it is asked how many there are in all.
const MANY_NODES: usize = 500;
const MANY_PODS: usize = 2_000;

/// Rounds of reading: each may show that more is needed.
const ROUNDS: usize = 5;

/// What was read.
#[derive(Debug)]
pub struct Reading {
    /// The cluster.
    pub snapshot: Snapshot,
    /// The namespace that was looked in; `None` is all.
    pub namespace: Option<String>,
}

/// A connection that can be read through again and again.
pub struct Session {
    connection: Connection,
    request_timeout: Option<Duration>,
    deadline: Duration,
}

impl Session {
    /// Finds the cluster and the credentials for it.
    ///
    /// # Errors
    /// If there is no cluster to ask, or the credentials cannot be had.
    pub async fn open(access: &Access) -> Result<Session, Failure> {
        let connection = connect(access).await?;
        Ok(Session { connection, request_timeout: access.request_timeout, deadline: access.deadline })
    }

    /// The namespace of the context.
    pub fn namespace(&self) -> &str {
        &self.connection.namespace
    }

    /// A connection for other requests than reading.
    pub fn api(&self) -> Api {
        Api::new(self.connection.client.clone(), self.request_timeout, self.deadline, Progress::new(false))
    }

    /// Reads what the request needs.
    ///
    /// # Errors
    /// If the cluster does not give the DaemonSets.
    pub async fn read(&self, request: &Request, progress: Progress) -> Result<Reading, Failure> {
        let namespace = request.namespace.clone().unwrap_or_else(|| self.connection.namespace.clone());
        let api = Api::new(self.connection.client.clone(), self.request_timeout, self.deadline, progress);
        let focus = Focus { namespace: (!request.all_namespaces).then(|| namespace.clone()), names: request.names.clone() };
        let reader = Reader { api, slimmer: RefCell::new(Slimmer::new(focus)), connection: &self.connection, namespace };
        let result = reader.read(request).await;
        reader.api.quiet();
        result
    }
}

#[derive(Deserialize)]
struct VersionInfo {
    #[serde(rename = "gitVersion", default)]
    git_version: String,
}

struct Reader<'a> {
    api: Api,
    slimmer: RefCell<Slimmer>,
    connection: &'a Connection,
    namespace: String,
}

/// An API type that can be read.
trait Kind: Message + Default + DeserializeOwned + Ingested {}
impl<T: Message + Default + DeserializeOwned + Ingested> Kind for T {}

impl Reader<'_> {
    async fn ask<T: Kind>(&self, resource: &'static str, namespace: Option<&str>, ask: Ask) -> Result<Vec<T>, ApiError> {
        let ask = Ask { path: path(resource, namespace), resource, ..ask };
        let read = |raw: Raw| {
            let slimmer = &mut *self.slimmer.borrow_mut();
            match raw {
                Raw::Protobuf(bytes) => Ok(T::sifted(bytes, slimmer)?),
                Raw::Json(text) => {
                    let mut object: T = serde_json::from_slice(text).map_err(not_json)?;
                    Ok(accept(&mut object, slimmer).then_some(object))
                }
            }
        };
        self.api.list(&ask, &read).await.map(|page| page.items)
    }

    /// A list; what cannot be read is a gap.
    async fn list<T: Kind>(&self, resource: &'static str, namespace: Option<&str>, ask: Ask) -> Listed<T> {
        match self.ask(resource, namespace, ask).await {
            Ok(items) => Listed { items, gap: None },
            Err(error) => Listed { items: Vec::new(), gap: Some(gap("list", resource, namespace, &error)) },
        }
    }

    /// A list of all namespaces; where that is forbidden, of those that matter.
    async fn list_wide<T: Kind>(&self, resource: &'static str, namespaces: &BTreeSet<String>) -> Listed<T> {
        let mut wide = self.list(resource, None, Ask::default()).await;
        if wide.gap.as_ref().is_some_and(|g| g.reason == "forbidden") {
            wide.items = self.list_each(resource, namespaces).await.items;
        }
        wide
    }

    /// A list of these namespaces; a gap in one is a gap.
    async fn list_each<T: Kind>(&self, resource: &'static str, namespaces: &BTreeSet<String>) -> Listed<T> {
        let lists = join_all(namespaces.iter().map(|n| self.list::<T>(resource, Some(n), Ask::default()))).await;
        merged(lists)
    }

    /// Objects by name; one that is not there is none.
    async fn get_each<T: Kind>(&self, resource: &'static str, names: &[(Option<&str>, &str)]) -> Listed<T> {
        let gets = names.iter().map(|(namespace, name)| async move {
            match self.get(resource, *namespace, name).await {
                Ok(object) => Listed { items: vec![object], gap: None },
                Err(error) if error.is_not_found() => Listed::default(),
                Err(error) => Listed { items: Vec::new(), gap: Some(gap("get", resource, *namespace, &error)) },
            }
        });
        merged(join_all(gets).await)
    }

    async fn get<T: Kind>(&self, resource: &'static str, namespace: Option<&str>, name: &str) -> Result<T, ApiError> {
        let mut object: T = self.api.get(&object_path(resource, namespace, name), resource).await?;
        // Some object is not the one that was asked for: nothing of it may be judged.
        if (object.meta().name.as_str(), object.meta().namespace.as_str()) != (name, namespace.unwrap_or_default()) {
            return Err(Malformed::Not("it is another object than the one that was asked for".into()).into());
        }
        accept(&mut object, &mut self.slimmer.borrow_mut());
        Ok(object)
    }

    async fn read(&self, request: &Request) -> Result<Reading, Failure> {
        let (version, targets) = join!(self.api.get_json::<VersionInfo>("/version"), self.targets(request));
        let targets = targets?;
        let text = request.server_version.clone().or_else(|| version.ok().map(|v| v.git_version).filter(|v| !v.is_empty()));
        let version = text.as_deref().and_then(|t| t.parse().ok());
        // Servers before 1.33 build a list in memory before they send it.
        if version.is_some_and(|v: crate::model::version::ServerVersion| (v.major, v.minor) < (1, 33)) {
            self.api.in_pages();
        }
        let mut snapshot = Snapshot {
            now: request.now.unwrap_or_else(|| self.api.now().into()),
            now_is_guessed: false,
            version: version.unwrap_or(NEWEST),
            version_text: text.filter(|_| version.is_some()),
            from_files: false,
            objects: nothing_yet(),
            pods_known_on: Some(BTreeSet::new()),
            other_gaps: Vec::new(),
        };
        let mut done = Needs { all_pods: self.first_round(&targets, request, &mut snapshot).await, ..Needs::default() };
        self.late_nodes(&mut snapshot.objects).await;
        let mut settled = Settled::default();
        for _ in 0..ROUNDS {
            let chosen = self.chosen(&snapshot, &targets);
            let mut needs = plan(&snapshot, &chosen, &request.nodes, &mut settled);
            if request.advice {
                needs.groups.insert(Group::Autoscalers);
            }
            match &request.proposed {
                Proposed::Nothing => {}
                Proposed::DaemonSets(proposed) => needs.extend(plan_for_all(&snapshot, proposed.iter())),
                Proposed::Patch(patch) => {
                    let patched: Vec<DaemonSet> = chosen.iter().filter_map(|ds| Some(patch.apply(ds).ok()?.daemon_set)).collect();
                    needs.extend(plan_for_all(&snapshot, patched.iter()));
                }
            }
            let needs = needs.beyond(&done);
            if needs.is_empty() {
                break;
            }
            self.round(&needs, &targets, &mut snapshot).await;
            done.extend(needs);
        }
        Ok(Reading { snapshot, namespace: (!request.all_namespaces).then(|| self.namespace.clone()) })
    }

    /// The DaemonSets in question, as they were read last.
    fn chosen<'s>(&self, snapshot: &'s Snapshot, targets: &[DaemonSet]) -> Vec<&'s DaemonSet> {
        let names: BTreeSet<(&str, &str)> = targets.iter().map(key).collect();
        snapshot.daemon_sets.iter().filter(|d| names.contains(&key(d))).collect()
    }

    /// The DaemonSets in question.
    async fn targets(&self, request: &Request) -> Result<Vec<DaemonSet>, Failure> {
        const RESOURCE: &str = "daemonsets.apps";
        if let Proposed::DaemonSets(proposed) = &request.proposed {
            let gets = proposed.iter().map(|ds| async move {
                let namespace = Some(ds.metadata.namespace.as_str()).filter(|n| !n.is_empty()).unwrap_or(&self.namespace);
                match self.get::<DaemonSet>(RESOURCE, Some(namespace), &ds.metadata.name).await {
                    Err(error) if error.is_not_found() => {
                        let mut absent = ds.clone();
                        absent.metadata.namespace = namespace.to_string();
                        Ok(absent)
                    }
                    other => other.map_err(|e| self.failure("get", &e)),
                }
            });
            return join_all(gets).await.into_iter().collect();
        }
        let namespace = (!request.all_namespaces).then_some(self.namespace.as_str());
        if !request.names.is_empty() && !request.all_namespaces {
            let gets = request.names.iter().map(|name| async move {
                match self.get::<DaemonSet>(RESOURCE, namespace, name).await {
                    Err(error) if error.is_not_found() => Err(self.not_found(name).await),
                    other => other.map_err(|e| self.failure("get", &e)),
                }
            });
            return join_all(gets).await.into_iter().collect();
        }
        let ask = Ask { label_selector: request.selector.clone(), ..Ask::default() };
        let mut found: Vec<DaemonSet> = self.ask(RESOURCE, namespace, ask).await.map_err(|e| self.failure("list", &e))?;
        if let Some(name) = request.names.iter().find(|n| !found.iter().any(|d| d.metadata.name == **n)) {
            return Err(Failure::new(format!("DaemonSet {name:?} not found in any namespace of {}", self.connection.place())).gone());
        }
        found.retain(|d| request.names.is_empty() || request.names.contains(&d.metadata.name));
        Ok(found)
    }

    /// Why the DaemonSet could not be read, in one line.
    fn failure(&self, verb: &str, error: &ApiError) -> Failure {
        let place = self.connection.place();
        match error {
            ApiError::Refused { code: 401, .. } => Failure::new(format!("{place} does not accept the credentials (401 Unauthorized)"))
                .hint("log in again, or choose another --context or --user")
                .unauthorized(),
            ApiError::Refused { code: 403, message, .. } => Failure::new(format!("{place} does not let you {verb} DaemonSets: {message}"))
                .hint("see the README for the permissions that are needed"),
            ApiError::Refused { code: 404, .. } => {
                Failure::new(format!("{place} has no DaemonSets: it does not serve apps/v1")).hint("is this the API server's address?")
            }
            ApiError::Transport(Transport::Tls(_)) => Failure::new(format!("cannot trust {place}: {error}"))
                .hint("check --certificate-authority and --tls-server-name, or the clock"),
            ApiError::Transport(Transport::Credentials(why)) => Failure::new(format!("cannot get credentials for {place}: {why}")),
            ApiError::Transport(Transport::Proxy(_)) => {
                Failure::new(format!("cannot reach {}: {error}", self.connection.way())).hint("check HTTPS_PROXY and NO_PROXY")
            }
            ApiError::Transport(_) | ApiError::Timeout(_) => {
                let way = self.connection.way();
                Failure::new(format!("cannot reach {way}: {error}")).hint("is the cluster up, and this the right --context?")
            }
            _ => Failure::new(format!("cannot {verb} DaemonSets at {place}: {error}")),
        }
    }

    /// Says that a DaemonSet is not there, and which ones may have been meant.
    async fn not_found(&self, name: &str) -> Failure {
        let namespace = self.namespace.as_str();
        let (wide, here, namespaces) = join!(
            self.ask::<DaemonSet>("daemonsets.apps", None, Ask::default()),
            self.ask::<DaemonSet>("daemonsets.apps", Some(namespace), Ask::default()),
            self.get::<Namespace>("namespaces", None, namespace),
        );
        let there = wide.or(here).unwrap_or_default();
        let close = crate::run::close_names(name, there.iter().map(key), Some(namespace));
        let what = match namespaces {
            Err(e) if e.is_not_found() => format!("there is no namespace {namespace:?} at {}", self.connection.place()),
            _ => format!("DaemonSet {name:?} not found in namespace {namespace:?} at {}", self.connection.place()),
        };
        let failure = Failure::new(what).gone();
        if close.is_empty() { failure } else { failure.hint(format!("did you mean {}?", close.join(" or "))) }
    }

    /// True if the DaemonSets' statuses tell that the whole list of pods is read at last.
    async fn all_pods_count(&self, targets: &[DaemonSet]) -> bool {
        // Only of a cluster of some size is that worth asking.
        if !wants_all_pods(targets, MANY_NODES, MANY_PODS) {
            return false;
        }
        match join!(self.api.count("/api/v1/nodes"), self.api.count("/api/v1/pods")) {
            (Ok(Some(nodes)), Ok(Some(pods))) => wants_all_pods(targets, nodes, pods),
            _ => false,
        }
    }

    /// Nodes, and what belongs to the DaemonSets themselves; true if that is all pods.
    async fn first_round(&self, targets: &[DaemonSet], request: &Request, snapshot: &mut Snapshot) -> bool {
        let namespaces: BTreeSet<String> = targets.iter().map(|d| d.metadata.namespace.clone()).collect();
        let names: Vec<(Option<&str>, &str)> = namespaces.iter().map(|n| (None, n.as_str())).collect();
        let all = self.all_pods_count(targets).await;
        let own_pods = stream::iter(targets.iter().map(|ds| {
            let ask = Ask { label_selector: selector_text(ds.spec.selector.as_ref()), ..Ask::default() };
            self.list::<Pod>("pods", Some(&ds.metadata.namespace), ask)
        }));
        let wide = request.all_namespaces && request.names.is_empty() && request.selector.is_empty();
        let (nodes, pods, revisions, events, namespace_objects, daemon_sets) = join!(
            self.list::<Node>("nodes", None, Ask::default()),
            async {
                let whole = if all { self.ask::<Pod>("pods", None, Ask::default()).await.ok() } else { None };
                match whole {
                    Some(items) => (true, Listed { items, gap: None }),
                    None => (false, each_once(merged(own_pods.buffered(8).collect::<Vec<_>>().await))),
                }
            },
            self.list_each("controllerrevisions.apps", &namespaces),
            join_all(targets.iter().map(|ds| self.events("DaemonSet", &ds.metadata.namespace, Some(&ds.metadata.name)))),
            self.get_each("namespaces", &names),
            async {
                // All of them are known already, or their neighbours may be: other DaemonSets may select the same pods.
                if wide { Listed::default() } else { self.list_each::<DaemonSet>("daemonsets.apps", &namespaces).await }
            },
        );
        let objects = &mut snapshot.objects;
        objects.nodes = nodes;
        let (all, pods) = pods;
        objects.pods = pods;
        if all {
            snapshot.pods_known_on = None;
        }
        objects.controller_revisions = revisions;
        objects.events = merged(events);
        objects.namespaces = namespace_objects;
        objects.daemon_sets = daemon_sets;
        // Neighbours are welcome, not needed.
        objects.daemon_sets.gap = None;
        for ds in targets {
            // One without a uid is only proposed.
            if !ds.metadata.uid.is_empty() && !objects.daemon_sets.iter().any(|d| key(d) == key(ds)) {
                objects.daemon_sets.items.push(ds.clone());
            }
        }
        all
    }

    /// The events about one object, or about all of a kind in the namespace.
    async fn events(&self, kind: &str, namespace: &str, name: Option<&str>) -> Listed<Event> {
        let mut fields = format!("involvedObject.kind={kind}");
        if let Some(name) = name {
            fields.push_str(",involvedObject.name=");
            fields.push_str(name);
        }
        self.list("events", Some(namespace), Ask { field_selector: fields, at_most: EVENTS, ..Ask::default() }).await
    }

    /// Reads what the plan says is needed, at once.
    async fn round(&self, needs: &Needs, targets: &[DaemonSet], snapshot: &mut Snapshot) {
        let namespaces: BTreeSet<String> = targets.iter().map(|d| d.metadata.namespace.clone()).collect();
        let mut further = Objects::default();
        let (pods, events, leases, ()) = join!(
            self.pods_of(needs),
            self.pod_events(&needs.pod_events),
            self.leases(needs),
            self.groups(&needs.groups, &namespaces, snapshot, &mut further),
        );
        put(snapshot, &needs.groups, further);
        snapshot.objects.events.items.extend(events.items);
        if snapshot.objects.events.gap.is_none() {
            snapshot.objects.events.gap = events.gap;
        }
        if needs.groups.contains(&Group::ControlPlane) || !needs.leases.is_empty() {
            let known = &mut snapshot.objects.leases;
            let items = std::mem::take(&mut known.items);
            *known = each_once(merged(vec![Listed { items, gap: None }, leases]));
        }
        self.add_pods(pods, targets, needs, snapshot);
    }

    /// The pods of each node in doubt, by node; or of all under the name "".
    async fn pods_of(&self, needs: &Needs) -> Vec<(String, Result<Vec<Pod>, ApiError>)> {
        if needs.all_pods {
            return vec![(String::new(), self.ask("pods", None, Ask::default()).await)];
        }
        let of_node = |node: String| async move {
            let ask = Ask { field_selector: format!("spec.nodeName={node}"), ..Ask::default() };
            let pods = self.ask("pods", None, ask).await;
            (node, pods)
        };
        let mut answers = Vec::new();
        let mut stream = stream::iter(needs.nodes.iter().cloned().map(of_node)).buffer_unordered(NODES_AT_ONCE);
        while let Some(answer) = stream.next().await {
            let forbidden = answer.1.as_ref().is_err_and(ApiError::is_forbidden);
            answers.push(answer);
            if forbidden {
                break;
            }
        }
        answers
    }

    /// Adds other workloads' pods. The DaemonSets' own stay as they were first read, all of one
    /// moment: a pod that was replaced in between is neither missing nor there twice.
    fn add_pods(&self, answers: Vec<(String, Result<Vec<Pod>, ApiError>)>, targets: &[DaemonSet], needs: &Needs, snapshot: &mut Snapshot) {
        let own: BTreeSet<&str> = targets.iter().map(|d| d.metadata.uid.as_str()).collect();
        let own_known = snapshot.objects.pods.is_complete();
        let mut refused = None;
        for (node, answer) in answers {
            match answer {
                Ok(pods) => {
                    let is_own = |p: &Pod| own_known && p.metadata.controller().is_some_and(|o| own.contains(o.uid.as_str()));
                    let all = node.is_empty();
                    let known_pods = &mut snapshot.objects.pods.items;
                    if all {
                        // Those of single nodes, read before, come again. The long list stays where it is.
                        let own = std::mem::replace(known_pods, pods).into_iter().filter(is_own);
                        known_pods.retain(|p| !is_own(p));
                        known_pods.extend(own);
                        snapshot.pods_known_on = None;
                    } else {
                        known_pods.extend(pods.into_iter().filter(|p| !is_own(p)));
                        if let Some(known) = &mut snapshot.pods_known_on {
                            known.insert(node);
                        }
                    }
                }
                Err(error) => refused = refused.or(Some(gap("list", "pods", None, &error))),
            }
        }
        if needs.all_pods || !needs.nodes.is_empty() {
            snapshot.objects.pods = each_once(std::mem::take(&mut snapshot.objects.pods));
        }
        if let Some(gap) = refused.filter(|g| !snapshot.other_gaps.contains(g)) {
            snapshot.other_gaps.push(gap);
        }
    }

    async fn leases(&self, needs: &Needs) -> Listed<Lease> {
        let mut names: Vec<(Option<&str>, &str)> = Vec::new();
        if needs.groups.contains(&Group::ControlPlane) {
            names.extend([(Some("kube-system"), "kube-controller-manager"), (Some("kube-system"), "kube-scheduler")]);
        }
        if needs.leases.len() > 4 * PODS_ONE_BY_ONE {
            let (some, all) = join!(
                self.get_each("leases.coordination.k8s.io", &names),
                self.list("leases.coordination.k8s.io", Some("kube-node-lease"), Ask::default()),
            );
            return welcome(merged(vec![some, all]));
        }
        names.extend(needs.leases.iter().map(|n| (Some("kube-node-lease"), n.as_str())));
        welcome(self.get_each("leases.coordination.k8s.io", &names).await)
    }

    async fn groups(&self, groups: &BTreeSet<Group>, namespaces: &BTreeSet<String>, snapshot: &Snapshot, o: &mut Objects) {
        let Objects { service_accounts, priority_classes, runtime_classes, limit_ranges, resource_quotas, pod_disruption_budgets, .. } = o;
        let wants = |group| groups.contains(&group);
        let policy = async {
            if wants(Group::Creation) {
                (*service_accounts, *limit_ranges, *resource_quotas, *priority_classes, *runtime_classes) = join!(
                    self.list_each("serviceaccounts", namespaces),
                    self.list_each("limitranges", namespaces),
                    self.list_each("resourcequotas", namespaces),
                    self.list("priorityclasses.scheduling.k8s.io", None, Ask::default()),
                    self.list("runtimeclasses.node.k8s.io", None, Ask::default()),
                );
            }
        };
        let budgets = async {
            if wants(Group::Preemption) {
                *pod_disruption_budgets = welcome(self.list_wide("poddisruptionbudgets.policy", namespaces).await);
            }
        };
        let webhooks = async {
            if !wants(Group::Webhooks) {
                return Default::default();
            }
            let (validating, mutating) = join!(
                self.list("validatingwebhookconfigurations.admissionregistration.k8s.io", None, Ask::default()),
                self.list("mutatingwebhookconfigurations.admissionregistration.k8s.io", None, Ask::default()),
            );
            (welcome(validating), welcome(mutating))
        };
        let services = async {
            if !wants(Group::WebhookServices) {
                return Default::default();
            }
            let of = webhook_namespaces(snapshot);
            let (services, slices) = join!(self.list_each("services", &of), self.list_each("endpointslices.discovery.k8s.io", &of));
            (welcome(services), welcome(slices))
        };
        let volumes = async {
            if !wants(Group::Volumes) {
                return Default::default();
            }
            join!(
                self.list_wide("persistentvolumeclaims", namespaces),
                self.list("persistentvolumes", None, Ask::default()),
                self.list("storageclasses.storage.k8s.io", None, Ask::default()),
                self.list("csinodes.storage.k8s.io", None, Ask::default()),
                self.list("csidrivers.storage.k8s.io", None, Ask::default()),
                self.list("csistoragecapacities.storage.k8s.io", None, Ask::default()),
                self.list("volumeattachments.storage.k8s.io", None, Ask::default()),
            )
        };
        let devices = async {
            if !wants(Group::Devices) {
                return Default::default();
            }
            join!(
                self.list_wide("resourceclaims.resource.k8s.io", namespaces),
                self.list_each("resourceclaimtemplates.resource.k8s.io", namespaces),
                self.list("deviceclasses.resource.k8s.io", None, Ask::default()),
                self.list("resourceslices.resource.k8s.io", None, Ask::default()),
                async {
                    // Served in this form since the rules count.
                    if snapshot.version.features().dra_device_taint_rules {
                        self.list("devicetaintrules.resource.k8s.io", None, Ask::default()).await
                    } else {
                        Listed::default()
                    }
                },
            )
        };
        let autoscalers = async {
            if !wants(Group::Autoscalers) {
                return Listed::default();
            }
            self.list_each("horizontalpodautoscalers.autoscaling", namespaces).await
        };
        let all_namespaces =
            async { if wants(Group::Namespaces) { self.list("namespaces", None, Ask::default()).await } else { Listed::default() } };
        let ((), (), webhooks, services, volumes, devices, autoscalers, namespaces) =
            join!(policy, budgets, webhooks, services, volumes, devices, autoscalers, all_namespaces);
        o.horizontal_pod_autoscalers = autoscalers;
        (o.validating_webhooks, o.mutating_webhooks) = webhooks;
        (o.services, o.endpoint_slices) = services;
        (
            o.persistent_volume_claims,
            o.persistent_volumes,
            o.storage_classes,
            o.csi_nodes,
            o.csi_drivers,
            o.csi_storage_capacities,
            o.volume_attachments,
        ) = volumes;
        (o.resource_claims, o.resource_claim_templates, o.device_classes, o.resource_slices, o.device_taint_rules) = devices;
        o.namespaces = namespaces;
    }
}

/// The namespaces of the services that webhooks are called at.
fn webhook_namespaces(snapshot: &Snapshot) -> BTreeSet<String> {
    let validating = snapshot.validating_webhooks.iter().flat_map(|c| &c.webhooks).map(|w| &w.client_config);
    let mutating = snapshot.mutating_webhooks.iter().flat_map(|c| &c.webhooks).map(|w| &w.client_config);
    validating.chain(mutating).filter_map(|c| c.service.as_ref()).map(|s| s.namespace.clone()).collect()
}

/// Moves what was read for these groups into the snapshot.
fn put(snapshot: &mut Snapshot, groups: &BTreeSet<Group>, further: Objects) {
    let o = &mut snapshot.objects;
    macro_rules! take { ($group:ident: $($field:ident),*) => { if groups.contains(&Group::$group) { $( o.$field = further.$field; )* } } }
    take!(Creation: service_accounts, priority_classes, runtime_classes, limit_ranges, resource_quotas);
    take!(Preemption: pod_disruption_budgets);
    take!(Webhooks: validating_webhooks, mutating_webhooks);
    take!(Autoscalers: horizontal_pod_autoscalers);
    take!(WebhookServices: services, endpoint_slices);
    take!(Volumes: persistent_volume_claims, persistent_volumes, storage_classes, csi_nodes, csi_drivers, csi_storage_capacities, volume_attachments);
    take!(Devices: resource_claims, resource_claim_templates, device_classes, resource_slices, device_taint_rules);
    if groups.contains(&Group::Namespaces) {
        let known = std::mem::take(&mut o.namespaces);
        o.namespaces = each_once(merged(vec![known, further.namespaces]));
    }
}

/// Every kind not asked for yet.
fn nothing_yet() -> Objects {
    let mut objects = Objects::default();
    macro_rules! unread {
        ($field:ident, $ty:ty, $resource:literal) => {
            objects.$field = unread($resource);
        };
    }
    crate::model::snapshot::for_each_kind!(unread);
    objects
}

fn key(ds: &DaemonSet) -> (&str, &str) {
    (&ds.metadata.namespace, &ds.metadata.name)
}

#[cfg(test)]
#[path = "cluster_tests.rs"]
mod tests;
