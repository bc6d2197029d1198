//! Several proposals, one after the other: what the first ones place is there for the next.

use super::{Action, Answers, Change, Preflight, Proposed, changes, foresee, invalid_daemon_set, overlay, placed};
use crate::controller::creation::quota;
use crate::controller::ownership;
use crate::diagnose::{self, Options, diagnose};
use crate::model::daemon_set::DaemonSet;
use crate::model::pod::Pod;
use crate::model::snapshot::{Gap, Objects, Snapshot};
use crate::report::{Missing, Report};

/// A DaemonSet that is not applied, with where it comes from.
#[derive(Clone, Debug, Default)]
pub struct Item {
    /// The DaemonSet.
    pub ds: DaemonSet,
    /// What the report calls its origin.
    pub source: String,
    /// The file, if it holds nothing else.
    pub file: Option<String>,
    /// What was wrong with it when it was read: field and words.
    pub faults: Vec<(String, String)>,
    /// Set for a patch of a DaemonSet that is there: whether its pods are replaced.
    pub patch: Option<bool>,
    /// Operations of the patch that the server may refuse, for they go by what is not held.
    pub unsure: Vec<String>,
    /// What the API server said to a dry run.
    pub server: Option<Answers>,
}

/// Judges each in turn. `others` are further objects of the manifest's files, which count as there.
pub fn each(mut snapshot: Snapshot, items: Vec<Item>, others: &Objects, options: &Options) -> Vec<Report> {
    let before = Options { without_remedies: true, ..Options::default() };
    let there: Vec<Option<(DaemonSet, Report)>> = items
        .iter()
        .map(|item| snapshot.daemon_set(&item.ds.metadata.namespace, &item.ds.metadata.name))
        .map(|ds| ds.map(|ds| (ds.clone(), diagnose(&snapshot, ds, &before))))
        .collect();
    overlay::apply(&mut snapshot, others);
    let mut judged = Vec::new();
    for (mut item, there) in items.into_iter().zip(there) {
        let unsure = std::mem::take(&mut item.unsure);
        let mut report = one(&mut snapshot, item, there, options);
        say(&mut report, &unsure);
        judged.push(report);
    }
    judged
}

/// Puts operations that the server may refuse under what is missing; the rest of the report is what
/// comes of the patch if it takes them.
fn say(report: &mut Report, unsure: &[String]) {
    let [first, rest @ ..] = unsure else { return };
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let namespace = Some(report.daemon_set.namespace.clone());
    let reason = format!("{first}{more}: the field is never read");
    let gap = Gap { verb: "patch".into(), resource: "daemonsets.apps".into(), namespace, reason };
    report.missing.push(Missing::new(&gap, "whether the API server would take the patch cannot be known"));
    report.missing.sort();
    report.summary = diagnose::summarize(&report.nodes, &report.causes, &report.missing);
}

fn one(snapshot: &mut Snapshot, item: Item, there: Option<(DaemonSet, Report)>, options: &Options) -> Report {
    let mut ds = item.ds;
    match &there {
        Some((known, _)) => {
            // What the API server keeps of the one that is there.
            let (old, new) = (&known.metadata, &mut ds.metadata);
            (new.uid, new.generation, new.creation_timestamp) = (old.uid.clone(), old.generation, old.creation_timestamp);
            new.deletion_timestamp = old.deletion_timestamp;
            ds.status = known.status.clone();
        }
        // None is given yet; a name of its own keeps its pods from those of another.
        None => ds.metadata.uid = format!("not-applied/{}", ds.metadata.full_name()),
    }
    if item.patch != Some(false) {
        // The count of the old template is not that of the new one.
        ds.metadata.annotations.clear();
    }
    put(snapshot, &ds);
    let (before, now) = (there.as_ref().map(|t| &t.0), there.as_ref().map(|t| &t.1));
    let action = match (item.patch, before) {
        (Some(_), _) => Action::Patch,
        (None, Some(_)) => Action::Update,
        (None, None) => Action::Create,
    };
    if item.patch == Some(false) {
        return as_it_is(snapshot, &ds, before, now, &item.source, options);
    }
    let features = snapshot.version.features();
    let own: Vec<Pod> = snapshot.pods.iter().filter(|p| ownership::owns(&ds, p)).cloned().collect();
    quota::release(&mut snapshot.objects.resource_quotas.items, &own.iter().collect::<Vec<_>>(), &features);
    let proposed = Proposed {
        action,
        ds: &ds,
        before,
        source: &item.source,
        file: item.file.as_deref(),
        faults: &item.faults,
        replaces_pods: true,
        server: item.server,
    };
    let report = foresee(snapshot, &proposed, now, options);
    let fresh = placed(snapshot, &ds, &report);
    snapshot.objects.pods.items.retain(|p| !ownership::owns(&ds, p));
    quota::take(&mut snapshot.objects.resource_quotas.items, &fresh.iter().collect::<Vec<_>>(), &features);
    snapshot.objects.pods.items.extend(fresh);
    report
}

/// A patch that leaves the template alone: the pods stay, and are judged as they are.
fn as_it_is(
    snapshot: &Snapshot,
    ds: &DaemonSet,
    before: Option<&DaemonSet>,
    now: Option<&Report>,
    source: &str,
    options: &Options,
) -> Report {
    let mut report = diagnose(snapshot, ds, options);
    let invalid = invalid_daemon_set::causes(ds, before, &[]);
    if !invalid.is_empty() {
        report.causes.extend(invalid);
        report.causes.sort_by(|a, b| a.order().cmp(&b.order()));
        report.summary = diagnose::summarize(&report.nodes, &report.causes, &report.missing);
    }
    let changes: Vec<Change> = changes(now, &report.nodes);
    report.preflight = Some(Preflight { action: Action::Patch, source: source.into(), replaces_pods: false, changes, server: None });
    report
}

fn put(snapshot: &mut Snapshot, ds: &DaemonSet) {
    let list = &mut snapshot.objects.daemon_sets.items;
    match list.iter_mut().find(|d| d.metadata.full_name() == ds.metadata.full_name()) {
        Some(known) => *known = ds.clone(),
        None => list.push(ds.clone()),
    }
}
