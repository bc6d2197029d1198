//! CreateRuntimeClassMissing: the RuntimeClass does not exist, or the pod contradicts it.
//!
//! Upstream: `plugin/pkg/admission/runtimeclass/admission.go` (v1.37.2).

use super::refusal;
use crate::cause::{Cause, Entry, Stage};
use crate::diagnose::Subject;
use crate::model::node::ResourceList;
use crate::model::quantity::Quantity;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "CreateRuntimeClassMissing",
    stage: Stage::Creation,
    summary: "The pod's RuntimeClass does not exist or contradicts the pod",
    doc: "\
## What it means
The template names a RuntimeClass that the cluster does not have, or sets an overhead or node selector that contradicts the class. The
API server refuses every pod.

## How it is recognised
A FailedCreate event says `pod rejected: RuntimeClass`, `Overhead` or `runtimeClass.scheduling`; or the RuntimeClasses were read and the
named one is not among them.

## How to check by hand
    kubectl get runtimeclasses
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.template.spec.runtimeClassName} {.spec.template.spec.overhead}'

## How to fix it
Install the runtime with its RuntimeClass, or correct the name. Leave `overhead` out of the template: admission fills it in.
",
};

/// Reads upstream's texts.
pub fn from_event(subject: &Subject, text: &str) -> Option<Vec<Cause>> {
    if let Some(name) = super::between(text, "pod rejected: RuntimeClass \"", "\" not found") {
        return Some(vec![missing(subject, name)]);
    }
    let contradicts = text.contains("runtimeClass.scheduling.nodeSelector") || text.contains("Overhead");
    (contradicts && text.contains("pod rejected") || text.contains("conflict: runtimeClass")).then(|| vec![contradiction(subject, text)])
}

/// The class is not among those that were read, or the template contradicts it.
pub fn foreseen(subject: &Subject) -> Vec<Cause> {
    let spec = &subject.ds.spec.template.spec;
    let classes = &subject.snapshot.runtime_classes;
    let Some(name) = &spec.runtime_class_name else {
        if spec.overhead.is_empty() {
            return Vec::new();
        }
        return vec![contradiction(subject, "the template sets an overhead without a RuntimeClass")];
    };
    match classes.iter().find(|c| c.metadata.name == *name) {
        None if classes.is_complete() && (!subject.snapshot.from_files || !classes.is_empty()) => vec![missing(subject, name)],
        None => Vec::new(),
        Some(class) => {
            let fixed = class.overhead.as_ref().map(|o| &o.pod_fixed);
            if !spec.overhead.is_empty() && !fixed.is_some_and(|f| same(f, &spec.overhead, subject.features.exact_overhead)) {
                return vec![contradiction(subject, "the template's overhead is not that of the RuntimeClass")];
            }
            let selector = class.scheduling.as_ref().map(|s| &s.node_selector);
            let clash = selector.into_iter().flatten().find(|(k, v)| spec.node_selector.get(*k).is_some_and(|own| own != *v));
            clash
                .map(|(k, _)| contradiction(subject, &format!("the template's node selector contradicts that of the RuntimeClass on {k}")))
                .into_iter()
                .collect()
        }
    }
}

/// Older servers compare amounts rounded up to thousandths.
fn same(a: &ResourceList, b: &ResourceList, exact: bool) -> bool {
    let equal = |x: &Quantity, y: &Quantity| if exact { x == y } else { x.rounded_to_milli() == y.rounded_to_milli() };
    a.len() == b.len() && a.iter().all(|(name, x)| b.get(name).is_some_and(|y| equal(x, y)))
}

fn missing(subject: &Subject, name: &str) -> Cause {
    refusal(&ENTRY, name, format!("RuntimeClass {name} does not exist, so every pod is refused")).evidence(
        subject.object(),
        "spec.template.spec.runtimeClassName",
        name,
    )
}

fn contradiction(subject: &Subject, text: &str) -> Cause {
    let name = subject.ds.spec.template.spec.runtime_class_name.clone().unwrap_or_default();
    refusal(&ENTRY, name.as_str(), format!("the pod contradicts its RuntimeClass: {text}")).evidence(
        subject.object(),
        "spec.template.spec.runtimeClassName",
        name,
    )
}
