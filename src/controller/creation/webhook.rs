//! CreateWebhook: an admission webhook denies the pod or cannot be reached.
//!
//! Upstream: `apiserver/pkg/admission/plugin/webhook` `generic/webhook.go`, `errors/statuserror.go`
//! (v0.37.2); whom it asks: `ShouldCallHook` there, `predicates/rules`, `predicates/namespace`,
//! `predicates/object` and `matchconditions`. Pods are served in one version, so matchPolicy makes
//! no difference for them.

use super::{between, refusal};
use crate::cause::command::command;
use crate::cause::{Cause, Entry, Remedy, Severity, Stage};
use crate::controller::ownership::owns;
use crate::diagnose::Subject;
use crate::model::object::{LabelSelector, Labels, ObjectMeta};
use crate::model::policy::{EndpointSlice, RuleWithOperations, ServiceReference};
use crate::model::selector::{is_empty, selects};

/// The label by which a slice says whose endpoints it holds.
const SERVICE_LABEL: &str = "kubernetes.io/service-name";

/// The page.
pub static ENTRY: Entry = Entry {
    code: "CreateWebhook",
    stage: Stage::Creation,
    summary: "An admission webhook denies the pod, or fails closed",
    doc: "\
## What it means
The API server asks a webhook before it creates a pod. Either the webhook said no, or it could not be reached and its failurePolicy is Fail.
A webhook whose backend runs as pods that wait for this very DaemonSet (a CNI, say) blocks itself.

## How it is recognised
A FailedCreate event says `failed calling webhook` or `admission webhook ... denied the request`. The webhook's configuration, its service
and the service's endpoints are looked up where they could be read. Where no event is left and nothing else explains the missing pods, a
webhook that is asked about pods of this namespace (rules, namespaceSelector, objectSelector), fails closed and has no ready endpoint is
named. Its matchConditions are CEL and are not judged: where it has some, or where the namespace's labels were not read, it is named as a
possibility only (a warning), and the search goes on.

## How to check by hand
    kubectl -n SERVICENAMESPACE get endpointslices -l kubernetes.io/service-name=SERVICE
    kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations

## How to fix it
Bring the backend up again; or except this namespace with the webhook's namespaceSelector; in an emergency set its failurePolicy to Ignore
or delete the configuration, and restore it afterwards. For a denial, follow the webhook's own words.
",
};

/// Reads upstream's texts.
pub fn from_event(subject: &Subject, text: &str) -> Option<Vec<Cause>> {
    if let Some(name) = between(text, "admission webhook \"", "\" denied the request") {
        let words = text.split_once("denied the request").map_or("", |(_, w)| w.trim_start_matches([':', ' ']));
        let words = if words.is_empty() { "without a reason" } else { words };
        let cause = refusal(&ENTRY, name, format!("webhook {name} denies the pod: {words}"));
        return Some(vec![with_configuration(subject, cause, name, None)]);
    }
    let name = between(text, "failed calling webhook \"", "\"")?;
    let words = text.split_once("failed to call webhook: ").map_or(text, |(_, w)| w);
    let message = format!("webhook {name} cannot be called and fails closed, so every pod is refused: {words}");
    Some(vec![with_configuration(subject, refusal(&ENTRY, name, message), name, Some(words))])
}

/// One webhook of either kind of configuration.
struct Webhook<'a> {
    name: &'a str,
    object: String,
    field: String,
    failure_policy: Option<&'a str>,
    service: Option<&'a ServiceReference>,
    rules: &'a [RuleWithOperations],
    namespaces: Option<&'a LabelSelector>,
    objects: Option<&'a LabelSelector>,
    conditions: Vec<&'a str>,
}

/// Whether a webhook is asked about the DaemonSet's pods.
enum Asked {
    No,
    Yes,
    /// Only if this holds, which is not known.
    If(String),
}

fn webhooks<'a>(subject: &Subject<'a>) -> Vec<Webhook<'a>> {
    macro_rules! of {
        ($configurations:expr, $kind:literal) => {
            $configurations.iter().flat_map(|c| c.webhooks.iter().enumerate().map(move |(i, w)| (c, i, w))).map(|(c, i, w)| Webhook {
                name: &w.name,
                object: format!("{}/{}", $kind, c.metadata.name),
                field: format!("webhooks[{i}].failurePolicy"),
                failure_policy: w.failure_policy.as_deref(),
                service: w.client_config.service.as_ref(),
                rules: &w.rules,
                namespaces: w.namespace_selector.as_ref(),
                objects: w.object_selector.as_ref(),
                conditions: w.match_conditions.iter().map(|c| c.name.as_str()).collect(),
            })
        };
    }
    let snapshot = subject.snapshot;
    let mutating = of!(snapshot.mutating_webhooks, "MutatingWebhookConfiguration");
    mutating.chain(of!(snapshot.validating_webhooks, "ValidatingWebhookConfiguration")).collect()
}

impl Webhook<'_> {
    /// Whether its rules, selectors and conditions have the API server ask it about the DaemonSet's pods.
    fn asks_about_pods_of(&self, subject: &Subject) -> Asked {
        let any = |list: &[String], wanted: &[&str]| list.iter().any(|v| wanted.contains(&v.as_str()));
        let rule = self.rules.iter().any(|r| {
            any(&r.operations, &["*", "CREATE"])
                && any(&r.rule.api_groups, &["*", ""])
                && any(&r.rule.api_versions, &["*", "v1"])
                && any(&r.rule.resources, &["*", "*/*", "pods", "pods/*"])
                && r.rule.scope.as_deref() != Some("Cluster")
        });
        if !rule || self.objects.is_some_and(|s| !selects(s, &subject.fresh.labels)) {
            return Asked::No;
        }
        let mut unknown = Vec::new();
        if let Some(selector) = self.namespaces.filter(|s| !is_empty(s)) {
            match subject.snapshot.namespace(&subject.ds.metadata.namespace) {
                Some(namespace) if !selects(selector, &namespace.metadata.labels) => return Asked::No,
                Some(_) => {}
                None => unknown.push("its namespaceSelector selects the namespace, whose labels were not read".to_string()),
            }
        }
        if !self.conditions.is_empty() {
            unknown.push(format!("its matchConditions ({}) hold, which are not judged here", self.conditions.join(", ")));
        }
        if unknown.is_empty() { Asked::Yes } else { Asked::If(unknown.join(" and ")) }
    }
}

/// What stands behind a webhook's service.
struct Backend {
    /// How many endpoints there are, and how many of them are ready; `None` if that is not known.
    ready: Option<(usize, usize)>,
    /// `ready endpoints` or `ready pods behind it`.
    counted: &'static str,
    /// The DaemonSet's own pods are among them.
    own: bool,
}

/// True if all services are known and this one is not among them; a dump without any has not dumped them.
fn is_absent(subject: &Subject, service: &ServiceReference) -> bool {
    let services = &subject.snapshot.services;
    let known = services.is_complete() && !(services.is_empty() && subject.snapshot.from_files);
    known && !services.iter().any(|s| s.metadata.namespace == service.namespace && s.metadata.name == service.name)
}

/// Counts the endpoints, or else the pods that the service selects; `None` if the service is not known.
fn backend(subject: &Subject, service: &ServiceReference) -> Option<Backend> {
    let snapshot = subject.snapshot;
    let here = |meta: &ObjectMeta| meta.namespace == service.namespace;
    let known = snapshot.services.iter().find(|s| here(&s.metadata) && s.metadata.name == service.name)?;
    let selector = LabelSelector { match_labels: known.spec.selector.clone(), ..LabelSelector::default() };
    let selected = |labels: &Labels| !selector.match_labels.is_empty() && selects(&selector, labels);
    let pods: Vec<_> = subject.neighbours.of(&service.namespace).iter().filter(|p| selected(&p.metadata.labels)).collect();
    let of_service = |s: &&EndpointSlice| here(&s.metadata) && s.metadata.labels.get(SERVICE_LABEL).is_some_and(|n| *n == service.name);
    let slices: Vec<_> = snapshot.endpoint_slices.iter().filter(of_service).collect();
    // A dump without any slice has not dumped them; a service without a selector has what others gave it.
    let by_slices = snapshot.endpoint_slices.is_complete() && (!slices.is_empty() || !snapshot.from_files);
    let (ready, counted) = if by_slices {
        let endpoints: Vec<_> = slices.iter().flat_map(|s| &s.endpoints).collect();
        (Some((endpoints.iter().filter(|e| e.conditions.ready != Some(false)).count(), endpoints.len())), "ready endpoints")
    } else {
        let all = snapshot.knows_all_pods() && !selector.match_labels.is_empty();
        (all.then(|| (pods.iter().filter(|p| p.is_ready()).count(), pods.len())), "ready pods behind it")
    };
    let own = pods.iter().any(|p| owns(subject.ds, p))
        || (known.metadata.namespace == subject.ds.metadata.namespace && selected(&subject.fresh.labels));
    Some(Backend { ready, counted, own })
}

/// Webhooks that fail closed, are or may be asked about the pods, and have nobody behind them.
pub fn foreseen(subject: &Subject) -> Vec<Cause> {
    let mut causes = Vec::new();
    for webhook in webhooks(subject).iter().filter(|w| w.failure_policy != Some("Ignore")) {
        let (name, asked) = (webhook.name, webhook.asks_about_pods_of(subject));
        let nobody = || match webhook.service.map(|s| (is_absent(subject, s), backend(subject, s))) {
            Some((absent, backend)) => absent || backend.is_some_and(|b| b.ready.is_some_and(|(ready, _)| ready == 0)),
            None => false,
        };
        let cause = match asked {
            Asked::Yes if nobody() => {
                refusal(&ENTRY, name, format!("webhook {name} fails closed and nobody can answer it, so every pod is refused"))
            }
            Asked::If(what) if nobody() => {
                let message = format!("webhook {name} fails closed and nobody can answer it: every pod is refused if {what}");
                refusal(&ENTRY, name, message).severity(Severity::Warning)
            }
            _ => continue,
        };
        causes.push(explained(subject, cause, webhook, true));
    }
    // What is sure needs no guess beside it.
    if causes.iter().any(|c| c.severity == Severity::Error) {
        causes.retain(|c| c.severity == Severity::Error);
    }
    causes
}

/// Adds what is known of a webhook of this name; `unreachable` are the words of one that could not be called.
fn with_configuration(subject: &Subject, cause: Cause, name: &str, unreachable: Option<&str>) -> Cause {
    match (webhooks(subject).iter().find(|w| w.name == name), unreachable.and_then(called)) {
        (Some(webhook), _) => explained(subject, cause, webhook, unreachable.is_some()),
        (None, Some(service)) => behind(subject, cause, &service),
        (None, None) => cause,
    }
}

/// The service at whose address a webhook was called: `Post "https://NAME.NAMESPACE.svc:443/path"`.
fn called(words: &str) -> Option<ServiceReference> {
    let (_, url) = words.split_once("https://")?;
    let host = url.split(['/', ':', '"', '?', ' ']).next()?;
    let mut parts = host.split('.');
    let (name, namespace) = (parts.next()?, parts.next()?);
    let is_service = parts.next() == Some("svc") && !name.is_empty() && !namespace.is_empty();
    is_service.then(|| ServiceReference { namespace: namespace.into(), name: name.into() })
}

fn explained(subject: &Subject, mut cause: Cause, webhook: &Webhook, unreachable: bool) -> Cause {
    cause = cause.evidence(&webhook.object, &webhook.field, webhook.failure_policy.unwrap_or("Fail"));
    cause = match webhook.service.filter(|_| unreachable) {
        Some(service) => behind(subject, cause, service),
        None => cause,
    };
    let Some((kind, configuration)) = webhook.object.split_once('/') else { return cause };
    let see = command(["kubectl", "get", &kind.to_ascii_lowercase(), configuration, "-o", "yaml"]);
    cause.remedy(Remedy::inspect("see what it is asked about", see))
}

/// Adds what stands behind the service that the API server calls.
fn behind(subject: &Subject, mut cause: Cause, service: &ServiceReference) -> Cause {
    let (object, name) = (format!("Service/{}/{}", service.namespace, service.name), format!("{}/{}", service.namespace, service.name));
    let of_service = format!("--selector={SERVICE_LABEL}={}", service.name);
    let see = command(["kubectl", "-n", &service.namespace, "get", "endpointslices", &of_service]);
    cause = cause.remedy(Remedy::inspect(format!("see what stands behind its service {name}"), see));
    let Some(backend) = backend(subject, service) else {
        if is_absent(subject, service) {
            cause.message.push_str(&format!("; its service {name} does not exist"));
            return cause.evidence(object, "metadata.name", "not found");
        }
        return cause.evidence(object, "metadata.name", "not read");
    };
    if let Some((ready, all)) = backend.ready {
        cause = cause.evidence(&object, backend.counted, format!("{ready} of {all}"));
        if ready == 0 {
            let none = if all == 0 { "nothing is".to_string() } else { format!("none of the {all} is ready") };
            cause.message.push_str(&format!("; {none} behind its service {name}"));
        }
    }
    if backend.own {
        cause.message.push_str("; its backend is this DaemonSet itself, so it blocks its own pods");
    }
    cause
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::snapshot::Snapshot;
    use serde_json::{Value, json};

    /// A cluster with a webhook on pods, changed, its service, and these pods and endpoints behind it.
    fn messages(change: Value, pods: &[bool], endpoints: Option<&[bool]>) -> Vec<String> {
        let mut webhook = json!({"name": "w.example", "clientConfig": {"service": {"namespace": "hooks", "name": "svc"}},
            "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]});
        webhook.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let mut snapshot = Snapshot { from_files: true, ..Snapshot::default() };
        let objects = &mut snapshot.objects;
        let configuration = json!({"metadata": {"name": "c"}, "webhooks": [webhook]});
        objects.validating_webhooks.items.push(serde_json::from_value(configuration).unwrap());
        let service = json!({"metadata": {"name": "svc", "namespace": "hooks"}, "spec": {"selector": {"app": "hook"}}});
        objects.services.items.push(serde_json::from_value(service).unwrap());
        let namespace = json!({"metadata": {"name": "ns", "labels": {"team": "a"}}});
        objects.namespaces.items.push(serde_json::from_value(namespace).unwrap());
        for (i, ready) in pods.iter().enumerate() {
            let pod = json!({"metadata": {"name": format!("p{i}"), "namespace": "hooks", "labels": {"app": "hook"}},
                "status": {"conditions": [{"type": "Ready", "status": if *ready { "True" } else { "False" }}]}});
            objects.pods.items.push(serde_json::from_value(pod).unwrap());
        }
        if let Some(endpoints) = endpoints {
            let endpoints: Vec<Value> = endpoints.iter().map(|r| json!({"conditions": {"ready": r}})).collect();
            let slice = json!({"metadata": {"name": "s", "namespace": "hooks", "labels": {"kubernetes.io/service-name": "svc"}}, "endpoints": endpoints});
            objects.endpoint_slices.items.push(serde_json::from_value(slice).unwrap());
        }
        let ds = serde_json::from_value(
            json!({"metadata": {"name": "ds", "namespace": "ns"}, "spec": {"template": {"metadata": {"labels": {"app": "agent"}}}}}),
        )
        .unwrap();
        let found = foreseen(&Subject::new(&snapshot, &ds));
        // What is not sure is a warning, and says on what it depends.
        assert!(found.iter().all(|c| (c.severity == Severity::Warning) == c.message.contains(" is refused if ")));
        found.into_iter().map(|c| format!("{}: {}", c.detail, c.message)).collect()
    }

    #[test]
    fn the_service_is_read_from_the_address() {
        for (words, want) in [
            (
                r#"Post "https://hook.kube.svc:443/mutate?timeout=10s": dial tcp 10.0.0.1:443: connect: connection refused"#,
                Some("kube/hook"),
            ),
            ("Post https://hook.kube.svc:443/mutate?timeout=30s: context deadline exceeded", Some("kube/hook")),
            (r#"Post "https://hook.kube.svc/?timeout=5s": EOF"#, Some("kube/hook")),
            (r#"Post "https://hooks.example.com/x": EOF"#, None),
            (r#"Post "https://..svc/x": EOF"#, None),
            ("unexpected response", None),
        ] {
            assert_eq!(called(words).map(|s| format!("{}/{}", s.namespace, s.name)).as_deref(), want, "{words}");
        }
    }

    #[test]
    fn a_webhook_without_backend_is_foreseen() {
        let refuses = "w.example: webhook w.example fails closed and nobody can answer it, so every pod is refused; ";
        let nothing = format!("{refuses}nothing is behind its service hooks/svc");
        let of_two = format!("{refuses}none of the 2 is ready behind its service hooks/svc");
        let gone = format!("{refuses}its service hooks/gone does not exist");
        let none = String::new();
        let perhaps = "w.example: webhook w.example fails closed and nobody can answer it: every pod is refused if its matchConditions \
                       (not-system) hold, which are not judged here; nothing is behind its service hooks/svc"
            .to_string();
        for (change, pods, endpoints, want) in [
            (json!({}), vec![], None, &nothing),
            (json!({}), vec![false, false], None, &of_two),
            (json!({}), vec![true], None, &none),
            (json!({}), vec![], Some(&[true][..]), &none),
            (json!({}), vec![true], Some(&[false, false]), &of_two),
            (json!({"failurePolicy": "Ignore"}), vec![], None, &none),
            (
                json!({"rules": [{"operations": ["CREATE"], "apiGroups": ["apps"], "apiVersions": ["*"], "resources": ["*"]}]}),
                vec![],
                None,
                &none,
            ),
            (
                json!({"rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}]}),
                vec![],
                None,
                &nothing,
            ),
            (
                json!({"rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1beta1"], "resources": ["pods"]}]}),
                vec![],
                None,
                &none,
            ),
            (
                json!({"rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["*"], "resources": ["pods"], "scope": "Cluster"}]}),
                vec![],
                None,
                &none,
            ),
            (
                json!({"rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["*"], "resources": ["pods/*"], "scope": "Namespaced"}]}),
                vec![],
                None,
                &nothing,
            ),
            (
                json!({"rules": [{"operations": ["UPDATE"], "apiGroups": [""], "apiVersions": ["*"], "resources": ["pods"]}]}),
                vec![],
                None,
                &none,
            ),
            (json!({"matchPolicy": "Exact"}), vec![], None, &nothing),
            (json!({"matchConditions": [{"name": "not-system", "expression": "true"}]}), vec![], None, &perhaps),
            (
                json!({"matchConditions": [{"name": "a", "expression": "true"}], "objectSelector": {"matchLabels": {"app": "x"}}}),
                vec![],
                None,
                &none,
            ),
            (json!({"matchConditions": [{"name": "a", "expression": "true"}], "failurePolicy": "Ignore"}), vec![], None, &none),
            (json!({"namespaceSelector": {"matchLabels": {"team": "b"}}}), vec![], None, &none),
            (json!({"namespaceSelector": {"matchLabels": {"team": "a"}}}), vec![], None, &nothing),
            (json!({"objectSelector": {"matchLabels": {"app": "agent"}}}), vec![], None, &nothing),
            (json!({"objectSelector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}}), vec![], None, &none),
            (json!({"clientConfig": {"url": "https://x"}}), vec![], None, &none),
            (json!({"clientConfig": {"service": {"namespace": "hooks", "name": "gone"}}}), vec![], None, &gone),
        ] {
            assert_eq!(messages(change.clone(), &pods, endpoints).concat(), *want, "{change}");
        }
    }
}
