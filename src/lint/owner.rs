//! Rules on who keeps the DaemonSet as it is.

use super::Found;
use crate::cause::command::command;
use crate::cause::{Evidence, Remedy};
use crate::controller::ownership::owns_revision;
use crate::diagnose::Subject;
use crate::model::policy::HorizontalPodAutoscaler;

/// Labels and annotations by which tools know what they keep: whether it is a label, key, who keeps it.
const MARKS: [(bool, &str, &str); 7] = [
    (false, "meta.helm.sh/release-name", "Helm release"),
    (false, "argocd.argoproj.io/tracking-id", "Argo CD application"),
    (true, "argocd.argoproj.io/instance", "Argo CD application"),
    (true, "kustomize.toolkit.fluxcd.io/name", "Flux kustomization"),
    (true, "helm.toolkit.fluxcd.io/name", "Flux Helm release"),
    (true, "olm.owner", "operator (OLM)"),
    (true, "addonmanager.kubernetes.io/mode", "the addon manager, in mode"),
];

/// Something puts the DaemonSet back when it is changed by hand, or overwrites it with the next release.
///
/// Who changed it last would be in `managedFields`, which are not read: `kubectl get` leaves them out, too.
pub fn kept_by_another(subject: &Subject) -> Option<Found> {
    let meta = &subject.ds.metadata;
    if let Some(owner) = meta.controller() {
        let message =
            format!("{} {} owns the DaemonSet and may take back what is changed by hand: change it there", owner.kind, owner.name);
        return Some(Found::new(message).evidence(subject, "metadata.ownerReferences", format!("{}/{}", owner.kind, owner.name)));
    }
    let marked = MARKS.iter().find_map(|(is_label, key, who)| {
        let (field, value) = if *is_label { ("labels", meta.labels.get(key)) } else { ("annotations", meta.annotations.get(*key)) };
        Some((format!("metadata.{field}[{key}]"), *who, value?))
    });
    let (field, who, value) = marked?;
    // An identifier of Argo CD begins with the application's name.
    let name = value.split(':').next().unwrap_or_default();
    let message = format!("the DaemonSet is kept by {who} {name}: what is changed by hand is taken back or overwritten, change it there");
    Some(Found::new(message).evidence(subject, field, name))
}

/// A HorizontalPodAutoscaler that means the DaemonSet.
///
/// Upstream: a DaemonSet has no `scale` subresource (`pkg/registry/apps/daemonset/storage`, v1.37.2), so the autoscaler ends
/// with FailedGetScale.
pub fn autoscaled(subject: &Subject) -> Option<Found> {
    let meta = &subject.ds.metadata;
    let autoscalers = subject.snapshot.horizontal_pod_autoscalers.iter().filter(|a| a.metadata.namespace == meta.namespace);
    let target = |a: &HorizontalPodAutoscaler| {
        let target = &a.spec.scale_target_ref;
        target.kind == "DaemonSet" && target.name == meta.name
    };
    let name = autoscalers.into_iter().filter(|a| target(a)).map(|a| a.metadata.name.as_str()).min()?;
    let message = format!(
        "HorizontalPodAutoscaler {name} is to scale the DaemonSet, which cannot be scaled: it has one pod for each node that is wanted; \
         delete it, or have a Deployment instead"
    );
    let mut found = Found::new(message);
    let object = format!("HorizontalPodAutoscaler/{}/{name}", meta.namespace);
    found.evidence = vec![Evidence::new(object, "spec.scaleTargetRef", format!("DaemonSet/{}", meta.name))];
    let see = command(["kubectl", "-n", &meta.namespace, "describe", "horizontalpodautoscaler", name]);
    found.remedies.push(Remedy::inspect("see what the autoscaler says", see));
    Some(found)
}

/// Returns to an earlier template from which on it is told.
const RETURNS: i64 = 5;

/// The template keeps going back to what it was.
///
/// Upstream: `constructHistory` and `cleanupHistory` of `pkg/controller/daemon/update.go` (v1.37.2): each template has one
/// revision, which gets the next number whenever the template is current again; old ones go beyond the history limit only. So
/// numbers that run ahead of the revisions there are count the returns.
pub fn template_goes_back_and_forth(subject: &Subject) -> Option<Found> {
    let own: Vec<_> = subject.snapshot.controller_revisions.iter().filter(|r| owns_revision(subject.ds, r)).collect();
    let there = i64::try_from(own.len()).unwrap_or(i64::MAX);
    let highest = own.iter().map(|r| r.revision).max()?;
    let limit = i64::from(subject.ds.spec.revision_history_limit.unwrap_or(10));
    let complete = subject.snapshot.controller_revisions.is_complete();
    // At the limit some may have been cleaned up.
    if !complete || there > limit || there < 2 || highest - there < RETURNS {
        return None;
    }
    let message = format!(
        "the template is at revision {highest}, and there are {there} different ones: it has gone back to an earlier one {} times; if nobody \
         rolls back by hand, two parties (a GitOps tool and an operator, say) are changing it against each other",
        highest - there
    );
    let mut found = Found::new(message);
    let mut named: Vec<(i64, &str)> = own.iter().map(|r| (r.revision, r.metadata.name.as_str())).collect();
    named.sort_unstable();
    found.evidence = named
        .iter()
        .map(|(number, name)| Evidence::new(format!("ControllerRevision/{}/{name}", subject.ds.metadata.namespace), "revision", *number))
        .collect();
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::snapshot::Snapshot;
    use serde_json::{Value, json};

    fn message(meta: Value, spec: Value, revisions: &[i64], rule: fn(&Subject) -> Option<Found>) -> String {
        let mut snapshot = Snapshot::default();
        for number in revisions {
            let owner = json!([{"kind": "DaemonSet", "name": "ds", "uid": "u", "controller": true}]);
            let revision =
                json!({"metadata": {"name": format!("r{number}"), "namespace": "ns", "ownerReferences": owner}, "revision": number});
            snapshot.objects.controller_revisions.items.push(serde_json::from_value(revision).unwrap());
        }
        let mut all = json!({"name": "ds", "namespace": "ns", "uid": "u"});
        all.as_object_mut().unwrap().extend(meta.as_object().unwrap().clone());
        let ds = serde_json::from_value(json!({"metadata": all, "spec": spec})).unwrap();
        rule(&Subject::new(&snapshot, &ds)).map(|f| f.message).unwrap_or_default()
    }

    #[test]
    fn who_keeps_it() {
        for (meta, want) in [
            (json!({}), ""),
            (json!({"labels": {"app.kubernetes.io/managed-by": "me"}}), ""),
            (json!({"annotations": {"meta.helm.sh/release-name": "agents"}}), "kept by Helm release agents:"),
            (
                json!({"annotations": {"argocd.argoproj.io/tracking-id": "infra:apps/DaemonSet:ns/ds"}}),
                "kept by Argo CD application infra:",
            ),
            (json!({"labels": {"kustomize.toolkit.fluxcd.io/name": "infra"}}), "kept by Flux kustomization infra:"),
            (json!({"labels": {"addonmanager.kubernetes.io/mode": "Reconcile"}}), "kept by the addon manager, in mode Reconcile:"),
            (
                json!({"ownerReferences": [{"kind": "FluentBit", "name": "fb", "uid": "x", "controller": true}]}),
                "FluentBit fb owns the DaemonSet",
            ),
        ] {
            let got = message(meta.clone(), json!({}), &[], kept_by_another);
            assert!(got.contains(want) && got.is_empty() == want.is_empty(), "{meta}: {got}");
        }
    }

    #[test]
    fn an_autoscaler_that_means_it() {
        for (namespace, kind, name, want) in [
            ("ns", "DaemonSet", "ds", true),
            ("ns", "Deployment", "ds", false),
            ("ns", "DaemonSet", "other", false),
            ("other", "DaemonSet", "ds", false),
        ] {
            let mut snapshot = Snapshot::default();
            let spec = json!({"scaleTargetRef": {"apiVersion": "apps/v1", "kind": kind, "name": name}});
            let autoscaler = json!({"metadata": {"name": "hpa", "namespace": namespace}, "spec": spec});
            snapshot.objects.horizontal_pod_autoscalers.items.push(serde_json::from_value(autoscaler).unwrap());
            let ds = serde_json::from_value(json!({"metadata": {"name": "ds", "namespace": "ns"}})).unwrap();
            assert_eq!(autoscaled(&Subject::new(&snapshot, &ds)).is_some(), want, "{namespace} {kind} {name}");
        }
    }

    #[test]
    fn how_often_the_template_returned() {
        for (revisions, limit, want) in [
            (&[41, 42][..], json!(null), "gone back to an earlier one 40 times"),
            (&[6, 7], json!(null), "gone back to an earlier one 5 times"),
            // Some rollbacks by hand.
            (&[4, 5], json!(null), ""),
            (&[1, 2, 3], json!(null), ""),
            // Old ones may have been cleaned up.
            (&[41, 42], json!(1), ""),
            (&[42], json!(0), ""),
            (&[], json!(null), ""),
        ] {
            let got = message(json!({}), json!({"revisionHistoryLimit": limit}), revisions, template_goes_back_and_forth);
            assert!(got.contains(want) && got.is_empty() == want.is_empty(), "{revisions:?}: {got}");
        }
    }
}
