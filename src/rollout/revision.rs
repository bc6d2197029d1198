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
use crate::model::selector::selects;
use crate::report::RevisionCount;

/// The current revision; `None` if there is none, or none yet for a template that the controller
/// has not acted on.
///
/// The controller lets go of a revision whose labels are not the selector's, and takes over one that is
/// nobody's: where there is such a one, it has not acted yet.
pub fn current<'a>(ds: &DaemonSet, revisions: &'a [ControllerRevision]) -> Option<&'a ControllerRevision> {
    let selected = |r: &&ControllerRevision| ds.spec.selector.as_ref().is_none_or(|s| selects(s, &r.metadata.labels));
    let free = |r: &ControllerRevision| {
        r.metadata.namespace == ds.metadata.namespace && r.metadata.controller().is_none() && !r.metadata.is_terminating()
    };
    let highest = |all: &mut dyn Iterator<Item = &'a ControllerRevision>| all.max_by_key(|r| (r.revision, &r.metadata.name));
    let own = || revisions.iter().filter(|r| owns_revision(ds, r)).filter(selected);
    let orphans = || revisions.iter().filter(|r| ds.spec.selector.is_some() && free(r)).filter(selected);
    let has_acted = ds.status.observed_generation >= ds.metadata.generation;
    if has_acted && orphans().next().is_none() {
        return highest(&mut own());
    }
    let mut readable = own().chain(orphans()).filter_map(|r| Some((r, template(r)?))).peekable();
    if readable.peek().is_none() {
        return highest(&mut own());
    }
    let wanted = comparable(ds.spec.template.clone());
    let found = highest(&mut readable.filter(|(_, t)| *t == wanted).map(|(r, _)| r));
    found.or_else(|| highest(&mut own()).filter(|_| has_acted))
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

    #[test]
    fn revisions_that_the_controller_lets_go_of_or_takes_over() {
        let revision = |number: i64, image: &str, app: &str, owner: Option<&str>| -> ControllerRevision {
            let owners: Vec<_> =
                owner.iter().map(|uid| json!({"kind": "DaemonSet", "name": "ds", "uid": uid, "controller": true})).collect();
            serde_json::from_value(json!({"metadata": {"name": format!("ds-{number}"), "namespace": "ns", "ownerReferences": owners,
                "labels": {"app": app, "controller-revision-hash": format!("h{number}")}}, "revision": number,
                "data": {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}}}))
            .unwrap()
        };
        let ds: DaemonSet = serde_json::from_value(json!({"metadata": {"name": "ds", "namespace": "ns", "uid": "u", "generation": 1},
            "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": {"spec": {"containers": [{"name": "c", "image": "new"}]}}},
            "status": {"observedGeneration": 1}}))
        .unwrap();
        let old = || revision(1, "old", "a", Some("u"));
        for (what, revisions, want) in [
            ("another's", vec![old(), revision(2, "new", "a", Some("other"))], Some("h1")),
            ("let go of", vec![old(), revision(2, "new", "b", Some("u"))], Some("h1")),
            ("taken over, of this template", vec![old(), revision(2, "new", "a", None)], Some("h2")),
            ("taken over, of another template", vec![revision(1, "new", "a", Some("u")), revision(2, "old", "a", None)], Some("h1")),
            ("nobody's, with other labels", vec![old(), revision(2, "new", "b", None)], Some("h1")),
            ("two of one number", vec![revision(2, "new", "a", Some("u")), old(), revision(2, "new", "a", Some("u"))], Some("h2")),
        ] {
            assert_eq!(current(&ds, &revisions).map(hash), want, "{what}");
        }
    }
}
