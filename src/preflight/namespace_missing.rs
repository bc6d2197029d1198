//! NamespaceMissing: the namespace that a manifest names does not exist.
//!
//! Upstream: admission plugin NamespaceLifecycle of
//! `apiserver/pkg/admission/plugin/namespace/lifecycle` (v0.37.2).

use crate::cause::{Cause, Entry, Remedy, Stage, command::command};
use crate::model::daemon_set::DaemonSet;
use crate::model::snapshot::Snapshot;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "NamespaceMissing",
    stage: Stage::Creation,
    summary: "The namespace of the manifest does not exist",
    doc: "\
## What it means
The manifest is to be applied in a namespace that the cluster does not have, and does not bring it along. The API server refuses the
DaemonSet with `namespaces \"...\" not found`.

## How it is recognised
Only where a manifest (`-f`) is judged: the cluster's namespaces were read, this one is not among them, and no Namespace of that name stands
in the same files.

## How to check by hand
    kubectl get namespace NAMESPACE

## How to fix it
Create the namespace first, or put it in front of the DaemonSet in the same file.
",
};

/// The cause, if it is known that the namespace is not there.
pub fn cause(snapshot: &Snapshot, ds: &DaemonSet) -> Option<Cause> {
    let name = ds.metadata.namespace.as_str();
    // A saved cluster without any namespace has not saved them.
    let known = snapshot.namespaces.is_complete() && !(snapshot.from_files && snapshot.namespaces.is_empty());
    if !known || snapshot.namespace(name).is_some() {
        return None;
    }
    let create = command(["kubectl", "create", "namespace", name]);
    Some(
        Cause::new(&ENTRY, name, format!("namespace {name} does not exist, so the DaemonSet is refused"))
            .evidence(format!("Namespace/{name}"), "metadata.name", "not found")
            .remedy(Remedy {
                title: "create the namespace".into(),
                kind: crate::cause::RemedyKind::Node,
                command: Some(create),
                effect: None,
            }),
    )
}
