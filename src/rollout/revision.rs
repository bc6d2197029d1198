//! Which revision is current, and of which the pods are.
//!
//! Upstream: `constructHistory`, `Match` and `getPatch` of `pkg/controller/daemon/update.go`
//! (v1.37.2): the revision whose data is the template is current and gets the highest number. So
//! the highest is current once the controller has acted on the spec; before, only the data tell.

use std::collections::BTreeMap;

use crate::controller::ownership::{HASH_LABEL, owns_revision};
use crate::diagnose::Subject;
use crate::model::daemon_set::{ControllerRevision, DaemonSet};
use crate::model::pod::PodTemplateSpec;
use crate::report::RevisionCount;

/// The current revision; `None` if there is none, or none yet for a template that the controller
/// has not acted on.
pub fn current<'a>(ds: &DaemonSet, revisions: &'a [ControllerRevision]) -> Option<&'a ControllerRevision> {
    let own = || revisions.iter().filter(|r| owns_revision(ds, r));
    let highest = own().max_by_key(|r| r.revision);
    if ds.status.observed_generation >= ds.metadata.generation {
        return highest;
    }
    let mut readable = own().filter_map(|r| Some((r, template(r)?))).peekable();
    if readable.peek().is_none() {
        return highest;
    }
    let wanted = comparable(ds.spec.template.clone());
    readable.filter(|(_, t)| *t == wanted).map(|(r, _)| r).max_by_key(|r| r.revision)
}

/// The hash that the pods of a revision carry; without the label, the controller sets its name.
pub fn hash(revision: &ControllerRevision) -> &str {
    revision.metadata.labels.get(HASH_LABEL).unwrap_or(&revision.metadata.name)
}

fn template(revision: &ControllerRevision) -> Option<PodTemplateSpec> {
    let data = revision.data.0.get("spec")?.get("template")?;
    serde_json::from_value(data.clone()).ok().map(comparable)
}

/// A template without what is blotted out in revisions.
fn comparable(mut template: PodTemplateSpec) -> PodTemplateSpec {
    template.metadata.annotations.clear();
    template
}

/// How many pods are of which revision, oldest revision first; pods without the label are left out.
pub fn counts(subject: &Subject) -> Vec<RevisionCount> {
    let mut pods: BTreeMap<&str, usize> = BTreeMap::new();
    for pod in subject.pods.values().flatten() {
        if let Some(hash) = pod.metadata.labels.get(HASH_LABEL) {
            *pods.entry(hash).or_default() += 1;
        }
    }
    let mut counts: Vec<RevisionCount> =
        pods.into_iter().map(|(hash, pods)| RevisionCount { revision: number(subject, hash), hash: hash.to_string(), pods }).collect();
    counts.sort_by(|a, b| (a.revision, &a.hash).cmp(&(b.revision, &b.hash)));
    counts
}

/// The number of the DaemonSet's revision with this hash.
pub fn number(subject: &Subject, of: &str) -> Option<i64> {
    find(subject, of).map(|r| r.revision)
}

/// The DaemonSet's revision with this hash.
pub fn find<'a>(subject: &Subject<'a>, of: &str) -> Option<&'a ControllerRevision> {
    subject.snapshot.controller_revisions.iter().find(|r| owns_revision(subject.ds, r) && hash(r) == of)
}

/// The revision that the rollout comes from: that of most old pods, or else the one before the
/// current one.
pub fn previous<'a>(subject: &Subject<'a>) -> Option<&'a ControllerRevision> {
    let current = subject.hash?;
    let old = counts(subject).into_iter().filter(|c| c.hash != current).max_by_key(|c| (c.pods, c.revision));
    if let Some(revision) = old.and_then(|c| find(subject, &c.hash)) {
        return Some(revision);
    }
    let number = number(subject, current)?;
    let own = subject.snapshot.controller_revisions.iter().filter(|r| owns_revision(subject.ds, r));
    own.filter(|r| r.revision < number).max_by_key(|r| r.revision)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_highest_is_current_unless_the_controller_is_behind() {
        let revision = |number: i64, image: &str| -> ControllerRevision {
            serde_json::from_value(json!({"metadata": {"name": format!("ds-{number}"), "namespace": "ns",
                "labels": {"controller-revision-hash": format!("h{number}")},
                "ownerReferences": [{"kind": "DaemonSet", "name": "ds", "uid": "u", "controller": true}]},
                "revision": number,
                "data": {"spec": {"template": {"$patch": "replace", "metadata": {"creationTimestamp": null, "annotations": {"a": "b"}},
                    "spec": {"containers": [{"name": "c", "image": image}]}}}}}))
            .unwrap()
        };
        let ds = |image: &str, observed: i64| -> DaemonSet {
            serde_json::from_value(json!({"metadata": {"name": "ds", "namespace": "ns", "uid": "u", "generation": 3},
                "spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}},
                "status": {"observedGeneration": observed}}))
            .unwrap()
        };
        let revisions = [revision(1, "a"), revision(2, "b")];
        for (image, observed, want) in
            [("b", 3, Some("h2")), ("x", 3, Some("h2")), ("a", 2, Some("h1")), ("b", 2, Some("h2")), ("c", 2, None)]
        {
            assert_eq!(current(&ds(image, observed), &revisions).map(hash), want, "{image} {observed}");
        }
        assert_eq!(current(&ds("a", 3), &[]), None);
    }
}
