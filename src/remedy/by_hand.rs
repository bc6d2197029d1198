//! What to look at where no remedy is known: a command of the cause's page, with the names filled in.

use std::collections::BTreeMap;

use crate::cause::command::quote;
use crate::cause::{Cause, Remedy, Severity, registry};
use crate::model::daemon_set::DaemonSet;
use crate::report::NodeReport;

/// The heading of a page whose commands these are.
const HEADING: &str = "## How to check by hand";

/// Gives every cause that matters and has no remedy the first command of its page that can be
/// filled in. `there`: the DaemonSet exists, so that commands may name it.
pub fn add(ds: &DaemonSet, there: bool, causes: &mut [Cause], nodes: &mut [NodeReport]) {
    let pages: BTreeMap<&str, Vec<&str>> = registry::entries().into_iter().map(|e| (e.code, commands(e.doc))).collect();
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    names.insert("NAMESPACE", ds.metadata.namespace.clone());
    if there {
        names.insert("NAME", ds.metadata.name.clone());
        if let Some(selector) = ds.spec.selector.as_ref().filter(|s| s.match_expressions.is_empty() && !s.match_labels.is_empty()) {
            let labels: Vec<String> = selector.match_labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
            names.insert("SELECTOR", labels.join(","));
        }
    }
    causes.iter_mut().for_each(|cause| one(cause, &pages, &names));
    for node in nodes.iter_mut().filter(|n| n.causes.iter().any(lacks_a_step)) {
        let mut names = names.clone();
        names.insert("NODE", node.name.clone());
        names.extend(node.pods.first().map(|pod| ("POD", pod.name.clone())));
        node.causes.iter_mut().for_each(|cause| one(cause, &pages, &names));
    }
}

/// True for a cause that matters and has no remedy; what follows from another cause is seen to with that one.
fn lacks_a_step(cause: &Cause) -> bool {
    cause.remedies.is_empty() && cause.severity >= Severity::Warning && cause.code != "OldRevision"
}

fn one(cause: &mut Cause, pages: &BTreeMap<&str, Vec<&str>>, names: &BTreeMap<&str, String>) {
    if !lacks_a_step(cause) {
        return;
    }
    let mut names = names.clone();
    if let Some(policy) = cause.detail.split(' ').next().filter(|_| cause.code == "CreateAdmissionPolicy") {
        names.insert("POLICY", policy.to_string());
    }
    for evidence in &cause.evidence {
        names.extend(named(&evidence.object));
    }
    let filled = pages.get(cause.code).into_iter().flatten().find_map(|command| fill(command, &names));
    cause.remedies.extend(filled.map(|command| Remedy::inspect("check by hand", command)));
}

/// The commands that a page has for a look by hand, without their remarks.
fn commands(doc: &str) -> Vec<&str> {
    let part = doc.split(HEADING).nth(1).unwrap_or_default();
    let part = part.split("\n## ").next().unwrap_or_default();
    let lines = part.lines().filter_map(|line| line.strip_prefix("    "));
    lines.map(|line| line.split("   #").next().unwrap_or(line).trim()).collect()
}

/// What a page calls the object that evidence names.
fn named(object: &str) -> Vec<(&'static str, String)> {
    let parts: Vec<&str> = object.split('/').collect();
    match parts.as_slice() {
        ["PersistentVolumeClaim", _, name] => vec![("CLAIM", name.to_string())],
        ["PersistentVolume", name] => vec![("VOLUME", name.to_string())],
        ["ValidatingAdmissionPolicy", name] => vec![("POLICY", name.to_string())],
        ["Service", namespace, name] => vec![("SERVICENAMESPACE", namespace.to_string()), ("SERVICE", name.to_string())],
        _ => Vec::new(),
    }
}

/// The command with its words in capitals replaced; `None` if one of them has no name, or one that
/// a shell would not take as it is.
fn fill(command: &str, names: &BTreeMap<&str, String>) -> Option<String> {
    let mut filled = String::new();
    for (i, part) in command.split('\'').enumerate() {
        let quoted = i % 2 == 1;
        if i > 0 {
            filled.push('\'');
        }
        let mut rest = part;
        while let Some(start) = rest.find(|c: char| c.is_ascii_uppercase()) {
            let (before, tail) = rest.split_at(start);
            filled.push_str(before);
            let end = tail.find(|c: char| !c.is_ascii_uppercase() && c != '_').unwrap_or(tail.len());
            let (word, after) = tail.split_at(end);
            rest = after;
            let opens = filled.chars().last().is_none_or(|c| " =/,\"".contains(c));
            let closes = after.chars().next().is_none_or(|c| " /,\"".contains(c));
            if !(opens && closes && word.len() > 2) {
                filled.push_str(word);
                continue;
            }
            let name = names.get(word)?;
            if quoted || quote(name) != name.as_str() {
                return None;
            }
            filled.push_str(name);
        }
        filled.push_str(rest);
    }
    Some(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_filled_in_where_all_are_known() {
        let names: BTreeMap<&str, String> =
            [("NAMESPACE", "mon"), ("NAME", "exporter"), ("NODE", "w-1"), ("CLAIM", "a b")].map(|(k, v)| (k, v.to_string())).into();
        for (command, want) in [
            ("kubectl -n NAMESPACE get ds NAME -o jsonpath='{.spec.x}'", Some("kubectl -n mon get ds exporter -o jsonpath='{.spec.x}'")),
            ("kubectl get pods -A --field-selector spec.nodeName=NODE", Some("kubectl get pods -A --field-selector spec.nodeName=w-1")),
            (
                "kubectl -n NAMESPACE get ds -o custom-columns=NAME:.metadata.name",
                Some("kubectl -n mon get ds -o custom-columns=NAME:.metadata.name"),
            ),
            ("kubectl -n NAMESPACE rollout history ds/NAME", Some("kubectl -n mon rollout history ds/exporter")),
            ("kubectl get pod POD", None),
            ("kubectl get pvc CLAIM", None),
            ("kubectl get pods -o jsonpath='{@.nodeName==\"NODE\"}'", None),
        ] {
            assert_eq!(fill(command, &names).as_deref(), want, "{command}");
        }
    }

    #[test]
    fn every_page_has_commands() {
        for entry in registry::entries() {
            let commands = commands(entry.doc);
            assert!(commands.iter().all(|c| c.starts_with("kubectl ") || c.starts_with("oc ")), "{}: {commands:?}", entry.code);
            assert!(!commands.is_empty(), "{}", entry.code);
        }
    }
}
