//! CreateWebhook: an admission webhook denies the pod or cannot be reached.
//!
//! Upstream: `apiserver/pkg/admission/plugin/webhook` `generic/webhook.go`, `errors/statuserror.go`
//! (v0.37.2).

use super::{between, refusal};
use crate::cause::{Cause, Entry, Stage};
use crate::diagnose::Subject;
use crate::model::object::LabelSelector;
use crate::model::policy::ServiceReference;
use crate::model::selector::selects;

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
and the service's endpoints are looked up where they could be read.

## How to check by hand
    kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations
    kubectl -n SERVICENAMESPACE get endpointslices -l kubernetes.io/service-name=SERVICE

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
        return Some(vec![with_configuration(
            subject,
            refusal(&ENTRY, name, format!("webhook {name} denies the pod: {words}")),
            name,
            false,
        )]);
    }
    let name = between(text, "failed calling webhook \"", "\"")?;
    let words = text.split_once("failed to call webhook: ").map_or(text, |(_, w)| w);
    let message = format!("webhook {name} cannot be called and fails closed, so every pod is refused: {words}");
    Some(vec![with_configuration(subject, refusal(&ENTRY, name, message), name, true)])
}

/// One webhook of either kind of configuration.
struct Found<'a> {
    object: String,
    field: String,
    failure_policy: Option<&'a str>,
    service: Option<&'a ServiceReference>,
}

fn find<'a>(subject: &'a Subject, name: &str) -> Option<Found<'a>> {
    let snapshot = subject.snapshot;
    for c in snapshot.mutating_webhooks.iter() {
        if let Some((i, w)) = c.webhooks.iter().enumerate().find(|(_, w)| w.name == name) {
            return Some(Found {
                object: format!("MutatingWebhookConfiguration/{}", c.metadata.name),
                field: format!("webhooks[{i}].failurePolicy"),
                failure_policy: w.failure_policy.as_deref(),
                service: w.client_config.service.as_ref(),
            });
        }
    }
    for c in snapshot.validating_webhooks.iter() {
        if let Some((i, w)) = c.webhooks.iter().enumerate().find(|(_, w)| w.name == name) {
            return Some(Found {
                object: format!("ValidatingWebhookConfiguration/{}", c.metadata.name),
                field: format!("webhooks[{i}].failurePolicy"),
                failure_policy: w.failure_policy.as_deref(),
                service: w.client_config.service.as_ref(),
            });
        }
    }
    None
}

fn with_configuration(subject: &Subject, mut cause: Cause, name: &str, unreachable: bool) -> Cause {
    let Some(found) = find(subject, name) else { return cause };
    cause = cause.evidence(found.object, found.field, found.failure_policy.unwrap_or("Fail"));
    let Some(service) = found.service.filter(|_| unreachable) else { return cause };
    let snapshot = subject.snapshot;
    let object = format!("Service/{}/{}", service.namespace, service.name);
    let Some(known) = snapshot.services.iter().find(|s| s.metadata.name == service.name && s.metadata.namespace == service.namespace)
    else {
        if snapshot.services.is_complete() && !snapshot.services.is_empty() {
            cause.message.push_str("; its service does not exist");
        }
        return cause.evidence(object, "metadata.name", if snapshot.services.is_complete() { "not found" } else { "not read" });
    };
    let selector = LabelSelector { match_labels: known.spec.selector.clone(), ..LabelSelector::default() };
    let backends = snapshot.pods.iter().filter(|p| {
        p.metadata.namespace == service.namespace && !selector.match_labels.is_empty() && selects(&selector, &p.metadata.labels)
    });
    let (mut ready, mut all, mut own) = (0, 0, false);
    for pod in backends {
        all += 1;
        ready += usize::from(pod.is_ready());
        own |= crate::controller::ownership::owns(subject.ds, pod);
    }
    own |= known.metadata.namespace == subject.ds.metadata.namespace
        && !selector.match_labels.is_empty()
        && selects(&selector, &subject.fresh.labels);
    if snapshot.pods.is_complete() {
        cause = cause.evidence(&object, "ready pods behind it", format!("{ready} of {all}"));
        if ready == 0 {
            cause.message.push_str(&format!("; none of the {all} pods behind service {}/{} is ready", service.namespace, service.name));
        }
    }
    if own {
        cause.message.push_str("; its backend is this DaemonSet itself, so it blocks its own pods");
    }
    cause
}
