//! InvalidDaemonSet: the API server would refuse the DaemonSet itself.
//!
//! Upstream: `SetDefaults_DaemonSet` of `pkg/apis/apps/v1/defaults.go`, `ValidateDaemonSetSpec`,
//! `ValidateDaemonSetUpdateStrategy` and `ValidateDaemonSetSpecUpdate` of
//! `pkg/apis/apps/validation/validation.go` (v1.37.2).

use crate::cause::{Cause, Entry, Severity, Stage};
use crate::model::daemon_set::DaemonSet;
use crate::model::int_or_string::IntOrString;
use crate::model::pod::Container;
use crate::model::selector::{is_empty, selects};

/// The page.
pub static ENTRY: Entry = Entry {
    code: "InvalidDaemonSet",
    stage: Stage::Creation,
    summary: "The API server would refuse the DaemonSet itself",
    doc: "\
## What it means
The manifest or patch that is to be judged cannot be applied: a field is not known or not allowed, something required is missing, or an
existing DaemonSet's selector would change, which the API never allows. No pod would come of it.

## How it is recognised
Only where a manifest (`-f`) or patch (`--what-if`) is judged: the fields are held against the API's types, and the rules on selector,
template and update strategy are run. `--dry-run=server` asks the API server itself, whose answer counts.

## How to check by hand
    kubectl apply --dry-run=server -f FILE

## How to fix it
Correct the named field. A selector cannot be changed: delete the DaemonSet (`--cascade=orphan` keeps its pods until the new one replaces
them) and create it again. With maxSurge, set maxUnavailable to 0: left out it is 1, and one of the two must be 0.
",
};

/// What is wrong, each as a cause of the DaemonSet as a whole. `faults` were found while the
/// manifest was read: field and words.
pub fn causes(ds: &DaemonSet, before: Option<&DaemonSet>, faults: &[(String, String)]) -> Vec<Cause> {
    let mut found: Vec<(String, String)> = faults.to_vec();
    let mut add = |field: &str, words: String| found.push((field.to_string(), words));
    if !is_subdomain(&ds.metadata.name) {
        add("metadata.name", format!("{:?} is no name: lower case letters, digits, - and . only", ds.metadata.name));
    }
    let labels = &ds.spec.template.metadata.labels;
    match &ds.spec.selector {
        None => add("spec.selector", "is required".into()),
        Some(selector) if is_empty(selector) => add("spec.selector", "may not be empty".into()),
        Some(selector) if !selects(selector, labels) => {
            add("spec.template.metadata.labels", "the selector does not match the template's labels".into());
        }
        Some(_) => {}
    }
    if let Some(before) = before.filter(|b| b.spec.selector != ds.spec.selector && ds.spec.selector.is_some()) {
        let labels = before.spec.selector.as_ref().map(|s| &s.match_labels);
        let labels: Vec<String> = labels.into_iter().flatten().map(|(k, v)| format!("{k}={v}")).collect();
        add("spec.selector", format!("cannot be changed; that of the DaemonSet there is {}", labels.join(",")));
    }
    let spec = &ds.spec.template.spec;
    if !matches!(spec.restart_policy.as_str(), "" | "Always") {
        add("spec.template.spec.restartPolicy", format!("is {}, a DaemonSet's can only be Always", spec.restart_policy));
    }
    if spec.active_deadline_seconds.is_some() {
        add("spec.template.spec.activeDeadlineSeconds", "may not be set in a DaemonSet".into());
    }
    if spec.containers.is_empty() {
        add("spec.template.spec.containers", "is required".into());
    }
    containers("containers", &spec.containers, &mut add);
    containers("initContainers", &spec.init_containers, &mut add);
    strategy(ds, &mut add);
    found.into_iter().map(|(field, words)| cause(ds, &field, &words)).collect()
}

/// What the API server itself has said to a dry run of the DaemonSet, if it is about its fields.
pub fn from_server(ds: &DaemonSet, text: &str) -> Option<Cause> {
    let (_, faults) = text.strip_prefix("DaemonSet")?.split_once("\" is invalid: ")?;
    let (field, words) = faults.trim_start_matches('[').split_once(": ")?;
    Some(cause(ds, field, words.trim_end_matches(']')))
}

fn cause(ds: &DaemonSet, field: &str, words: &str) -> Cause {
    let message = format!("the API server would refuse the DaemonSet: {field}: {words}");
    Cause::new(&ENTRY, field, message).severity(Severity::Error).evidence(format!("DaemonSet/{}", ds.metadata.full_name()), field, words)
}

fn containers(list: &str, containers: &[Container], add: &mut impl FnMut(&str, String)) {
    for (i, container) in containers.iter().enumerate() {
        let at = |field: &str| format!("spec.template.spec.{list}[{i}].{field}");
        if container.name.is_empty() {
            add(&at("name"), "is required".into());
        } else if containers.iter().take(i).any(|c| c.name == container.name) {
            add(&at("name"), format!("{:?} is the name of another container, too", container.name));
        }
        if container.image.is_empty() {
            add(&at("image"), "is required".into());
        }
    }
}

/// Left out, maxUnavailable is 1 and maxSurge 0; exactly one of them may be other than 0.
fn strategy(ds: &DaemonSet, add: &mut impl FnMut(&str, String)) {
    let strategy = &ds.spec.update_strategy;
    match strategy.r#type.as_str() {
        "" | "RollingUpdate" => {}
        "OnDelete" => return,
        other => return add("spec.updateStrategy.type", format!("is {other:?}, not RollingUpdate or OnDelete")),
    }
    let rolling = strategy.rolling_update.as_ref();
    let is_set = |value: Option<&IntOrString>, default: bool| value.map_or(default, |v| v.scaled(100, true).is_none_or(|n| n != 0));
    let unavailable = rolling.and_then(|r| r.max_unavailable.as_ref());
    let surge = is_set(rolling.and_then(|r| r.max_surge.as_ref()), false);
    match (is_set(unavailable, true), surge) {
        (true, true) => {
            let why = if unavailable.is_none() { " (left out, it is 1: set it to 0)" } else { "" };
            add("spec.updateStrategy.rollingUpdate.maxSurge", format!("may not be set while maxUnavailable is not 0{why}"));
        }
        (false, false) => add("spec.updateStrategy.rollingUpdate.maxUnavailable", "cannot be 0 when maxSurge is 0".into()),
        _ => {}
    }
}

/// RFC 1123.
fn is_subdomain(name: &str) -> bool {
    let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let part = |p: &str| p.chars().all(|c| fine(c) || c == '-') && p.starts_with(fine) && p.ends_with(fine);
    name.len() <= 253 && name.split('.').all(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn ds(change: impl Fn(&mut Value)) -> DaemonSet {
        let mut value = json!({"metadata": {"name": "a"}, "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": {
            "metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "c:1"}]}}}});
        change(&mut value);
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn each_rule_of_upstreams_validation() {
        let rolling = |rolling: Value| ds(move |v| v["spec"]["updateStrategy"]["rollingUpdate"] = rolling.clone());
        let spec = |key: &'static str, value: Value| ds(move |v| v["spec"]["template"]["spec"][key] = value.clone());
        for (ds, want) in [
            (ds(|_| ()), ""),
            (ds(|v| v["metadata"]["name"] = json!("A_b")), "metadata.name"),
            (ds(|v| v["spec"]["selector"] = Value::Null), "spec.selector"),
            (ds(|v| v["spec"]["selector"] = json!({})), "spec.selector"),
            (ds(|v| v["spec"]["selector"]["matchLabels"]["x"] = json!("y")), "spec.template.metadata.labels"),
            (spec("restartPolicy", json!("Never")), "spec.template.spec.restartPolicy"),
            (spec("activeDeadlineSeconds", json!(5)), "spec.template.spec.activeDeadlineSeconds"),
            (spec("containers", json!([])), "spec.template.spec.containers"),
            (
                spec("containers", json!([{"name": "c", "image": "i"}, {"name": "c"}])),
                "spec.template.spec.containers[1].name spec.template.spec.containers[1].image",
            ),
            (rolling(json!({"maxSurge": 1})), "spec.updateStrategy.rollingUpdate.maxSurge"),
            (rolling(json!({"maxSurge": "10%", "maxUnavailable": 0})), ""),
            (rolling(json!({"maxUnavailable": "0%"})), "spec.updateStrategy.rollingUpdate.maxUnavailable"),
            (ds(|v| v["spec"]["updateStrategy"]["type"] = json!("Recreate")), "spec.updateStrategy.type"),
        ] {
            let found: Vec<String> = causes(&ds, None, &[]).into_iter().map(|c| c.detail).collect();
            assert_eq!(found.join(" "), want);
        }
        let other = ds(|v| {
            v["spec"]["selector"]["matchLabels"] = json!({"k8s-app": "a"});
            v["spec"]["template"]["metadata"]["labels"] = json!({"k8s-app": "a", "app": "a"});
        });
        let found = causes(&other, Some(&ds(|_| ())), &[]);
        assert!(found[0].message.contains("cannot be changed; that of the DaemonSet there is app=a"), "{found:?}");
    }

    #[test]
    fn the_servers_own_words() {
        let ds = ds(|_| ());
        for (text, want) in [
            (
                "DaemonSet.apps \"a\" is invalid: [spec.selector: Required value, spec.template.metadata.labels: Invalid value: {}: x]",
                Some(("spec.selector", "Required value, spec.template.metadata.labels: Invalid value: {}: x")),
            ),
            (
                "DaemonSet.apps \"a\" is invalid: spec.template.spec.containers[0].name: Invalid value: \"B\"",
                Some(("spec.template.spec.containers[0].name", "Invalid value: \"B\"")),
            ),
            ("Pod \"a\" is invalid: spec.x: y", None),
            ("admission webhook \"w\" denied the request: no", None),
        ] {
            let found = from_server(&ds, text);
            let seen = found.as_ref().map(|c| (c.detail.as_str(), c.message.rsplit_once(&format!("{}: ", c.detail)).unwrap().1));
            assert_eq!(seen, want, "{text}");
        }
    }
}
