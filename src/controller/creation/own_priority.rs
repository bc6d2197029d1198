//! CreatePriorityConflict: the template gives a priority that is not its PriorityClass's.
//!
//! Upstream: `admitPod` of `plugin/pkg/admission/priority/admission.go` (v1.37.2).

use super::refusal;
use crate::cause::{Cause, Entry, Stage};
use crate::diagnose::Subject;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "CreatePriorityConflict",
    stage: Stage::Creation,
    summary: "The template gives a priority or preemption policy of its own that its PriorityClass contradicts",
    doc: "\
## What it means
The API server computes a pod's priority and preemption policy from its PriorityClass (or the cluster's default class, or zero). A template
that gives other values itself is refused, pod by pod; the DaemonSet itself is accepted.

## How it is recognised
A FailedCreate event says that the value `must not be provided in pod spec`; or `priority` or `preemptionPolicy` of the template differs from
what the PriorityClasses give.

## How to check by hand
    kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.template.spec.priority} {.spec.template.spec.preemptionPolicy}'
    kubectl get priorityclasses

## How to fix it
Take `priority` and `preemptionPolicy` out of the template and name a PriorityClass that has them.
",
};

const LOWER: &str = "PreemptLowerPriority";

/// Reads upstream's texts.
pub fn from_event(subject: &Subject, text: &str) -> Option<Vec<Cause>> {
    let field = [("priority", "the integer value of priority ("), ("preemptionPolicy", "the string value of PreemptionPolicy (")];
    let (field, start) = field.into_iter().find(|(_, start)| text.contains(start))?;
    let given = super::between(text, start, ") must not be provided in pod spec")?;
    let computed = super::between(text, "priority admission controller computed ", " from the given PriorityClass")?;
    Some(vec![cause(subject, field, given, computed)])
}

/// The values of the template against those of its class.
pub fn foreseen(subject: &Subject) -> Vec<Cause> {
    let (classes, own) = (&subject.snapshot.priority_classes, &subject.ds.spec.template.spec);
    // A dump without any class has not dumped them.
    if !classes.is_complete() || classes.is_empty() {
        return Vec::new();
    }
    let fresh = &subject.fresh.spec;
    let name = &fresh.priority_class_name;
    let class = classes.iter().find(|c| c.metadata.name == *name);
    if class.is_none() && !name.is_empty() && !name.starts_with("system-") {
        return Vec::new();
    }
    if let (Some(given), Some(computed)) = (own.priority, fresh.priority)
        && given != computed
    {
        return vec![cause(subject, "priority", &given.to_string(), &computed.to_string())];
    }
    let computed = class.and_then(|c| c.preemption_policy.as_deref()).unwrap_or(LOWER);
    match own.preemption_policy.as_deref() {
        Some(given) if given != computed => vec![cause(subject, "preemptionPolicy", given, computed)],
        _ => Vec::new(),
    }
}

fn cause(subject: &Subject, field: &str, given: &str, computed: &str) -> Cause {
    let message = format!("the template gives {field} {given}, its PriorityClass {computed}, so every pod is refused");
    refusal(&ENTRY, field, message).evidence(subject.object(), format!("spec.template.spec.{field}"), given)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::controller::creation::foreseen;
    use crate::diagnose::Subject;
    use crate::filter::world::world;

    #[test]
    fn a_template_may_say_only_what_its_class_says() {
        for (own, class, want) in [
            (json!({"priority": 10, "priorityClassName": "c"}), Some("Never"), vec![]),
            (json!({"priority": 5, "priorityClassName": "c"}), None, vec!["CreatePriorityConflict priority"]),
            (json!({"priority": 5}), None, vec!["CreatePriorityConflict priority"]),
            (json!({"priority": 0, "preemptionPolicy": "PreemptLowerPriority"}), None, vec![]),
            (json!({"preemptionPolicy": "Never", "priorityClassName": "c"}), Some("Never"), vec![]),
            (json!({"preemptionPolicy": "Never", "priorityClassName": "c"}), None, vec!["CreatePriorityConflict preemptionPolicy"]),
            (
                json!({"preemptionPolicy": "PreemptLowerPriority", "priorityClassName": "c"}),
                Some("Never"),
                vec!["CreatePriorityConflict preemptionPolicy"],
            ),
            (json!({"priority": 5, "priorityClassName": "gone"}), None, vec!["CreatePriorityClassMissing gone"]),
        ] {
            let mut spec = own.clone();
            spec["containers"] = json!([{"name": "c"}]);
            let mut snapshot = world(spec, &["n1"], &[]);
            let class = json!({"metadata": {"name": "c"}, "value": 10, "preemptionPolicy": class});
            snapshot.objects.priority_classes.items.push(serde_json::from_value(class).unwrap());
            let got: Vec<String> = foreseen(&Subject::new(&snapshot, &snapshot.daemon_sets[0]))
                .iter()
                .filter(|c| c.code.starts_with("CreatePriority"))
                .map(|c| format!("{} {}", c.code, c.detail))
                .collect();
            assert_eq!(got, want, "{own}");
        }
        let mut snapshot = world(json!({"priority": 5, "containers": [{"name": "c"}]}), &["n1"], &[]);
        snapshot.objects.priority_classes.items.clear();
        assert!(foreseen(&Subject::new(&snapshot, &snapshot.daemon_sets[0])).iter().all(|c| c.code != "CreatePriorityConflict"));
    }
}
