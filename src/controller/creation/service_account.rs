//! CreateServiceAccountMissing: the template names a ServiceAccount that does not exist.
//!
//! Upstream: `plugin/pkg/admission/serviceaccount/admission.go` (v1.37.2).

use super::refusal;
use crate::cause::command::command;
use crate::cause::{Cause, Entry, Remedy, RemedyKind, Stage};
use crate::diagnose::Subject;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "CreateServiceAccountMissing",
    stage: Stage::Creation,
    summary: "The pod's ServiceAccount does not exist, so no pod can be created",
    doc: "\
## What it means
The template names a ServiceAccount that the namespace does not have. The API server refuses every pod; no pod object exists anywhere.

## How it is recognised
A FailedCreate event says `error looking up service account`; or the namespace's ServiceAccounts were read and the named one is not among
them.

## How to check by hand
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.template.spec.serviceAccountName}'
    kubectl -n NAMESPACE get serviceaccounts

## How to fix it
Create the ServiceAccount (`kubectl -n NAMESPACE create serviceaccount SA`) with the roles that it needs, most likely from the chart or
manifest it came with, or correct the name. The controller tries again by itself, after up to 15 minutes of back-off.
",
};

/// Reads upstream's text.
pub fn from_event(subject: &Subject, text: &str) -> Option<Vec<Cause>> {
    let (_, rest) = text.split_once("error looking up service account ")?;
    let (name, _) = rest.split_once(':')?;
    let mut message = format!("ServiceAccount {name} does not exist, so every pod is refused");
    let (namespace, short) = name.split_once('/').unwrap_or((&subject.ds.metadata.namespace, name));
    if exists(subject, namespace, short) {
        message = format!("ServiceAccount {name} did not exist when the controller last tried; it does now, the next try will find it");
    }
    Some(vec![cause(subject, name, message)])
}

/// The account is not among those that were read.
pub fn foreseen(subject: &Subject) -> Vec<Cause> {
    let (snapshot, namespace) = (subject.snapshot, &subject.ds.metadata.namespace);
    let name = account(subject);
    // Every living namespace has the account `default`; a dump without any has not dumped them.
    let known = snapshot.service_accounts.is_complete() && snapshot.service_accounts.iter().any(|s| s.metadata.namespace == *namespace);
    if !known || exists(subject, namespace, name) {
        return Vec::new();
    }
    let full = format!("{namespace}/{name}");
    let message = format!("ServiceAccount {full} does not exist, so every pod is refused");
    vec![cause(subject, &full, message)]
}

fn exists(subject: &Subject, namespace: &str, name: &str) -> bool {
    subject.snapshot.service_accounts.iter().any(|s| s.metadata.namespace == namespace && s.metadata.name == name)
}

fn account<'a>(subject: &'a Subject) -> &'a str {
    let spec = &subject.ds.spec.template.spec;
    [&spec.service_account_name, &spec.service_account].into_iter().find(|n| !n.is_empty()).map_or("default", String::as_str)
}

fn cause(subject: &Subject, name: &str, message: String) -> Cause {
    let (namespace, short) = name.split_once('/').unwrap_or((&subject.ds.metadata.namespace, name));
    let cause = refusal(&ENTRY, name, message).evidence(subject.object(), "spec.template.spec.serviceAccountName", account(subject));
    if exists(subject, namespace, short) {
        return cause;
    }
    cause.remedy(Remedy {
        title: "create it, with the roles that it needs".into(),
        kind: RemedyKind::Node,
        command: Some(command(["kubectl", "-n", namespace, "create", "serviceaccount", short])),
        effect: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::snapshot::Snapshot;
    use serde_json::json;

    #[test]
    fn only_accounts_that_were_read_can_be_missing() {
        for (spec, read, want) in [
            (json!({"serviceAccountName": "sa"}), vec!["ns/default"], "ns/sa"),
            (json!({"serviceAccount": "sa"}), vec!["ns/default"], "ns/sa"),
            (json!({"serviceAccountName": "sa"}), vec!["ns/default", "ns/sa"], ""),
            (json!({"serviceAccountName": "sa"}), vec!["other/sa"], ""),
            (json!({}), vec!["ns/sa"], "ns/default"),
            (json!({}), vec![], ""),
        ] {
            let mut snapshot = Snapshot::default();
            let of = |name: &&str| {
                let (namespace, name) = name.split_once('/').unwrap();
                serde_json::from_value(json!({"metadata": {"name": name, "namespace": namespace}})).unwrap()
            };
            snapshot.objects.service_accounts.items = read.iter().map(of).collect();
            let ds = json!({"metadata": {"name": "ds", "namespace": "ns"}, "spec": {"template": {"spec": spec}}});
            let ds = serde_json::from_value(ds).unwrap();
            let found: Vec<String> = foreseen(&Subject::new(&snapshot, &ds)).into_iter().map(|c| c.detail).collect();
            assert_eq!(found.concat(), want, "{spec} {read:?}");
        }
    }
}
