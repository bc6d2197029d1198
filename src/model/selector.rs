//! Label selectors and node selectors.
//!
//! Upstream: `k8s.io/apimachinery/pkg/labels`, `LabelSelectorAsSelector` of `meta/v1`, and
//! `k8s.io/component-helpers/scheduling/corev1/nodeaffinity` (v0.37.2).

use super::affinity::{NodeSelector, NodeSelectorRequirement, NodeSelectorTerm};
use super::node::Node;
use super::object::{LabelSelector, Labels};

/// True if the selector selects these labels. An invalid operator selects nothing.
pub fn selects(selector: &LabelSelector, labels: &Labels) -> bool {
    selector.match_labels.iter().all(|(k, v)| labels.get(k) == Some(v))
        && selector.match_expressions.iter().all(|r| {
            let value = labels.get(&r.key);
            match r.operator.as_str() {
                "In" => value.is_some_and(|v| r.values.contains(v)),
                "NotIn" => value.is_none_or(|v| !r.values.contains(v)),
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => false,
            }
        })
}

/// True for a selector without requirements.
pub fn is_empty(selector: &LabelSelector) -> bool {
    selector.match_labels.is_empty() && selector.match_expressions.is_empty()
}

impl std::fmt::Display for LabelSelector {
    /// As `kubectl -l` takes it: `app=web,tier in (a,b),!old`; `everything` without requirements.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let labels = self.match_labels.iter().map(|(k, v)| format!("{k}={v}"));
        let expressions = self.match_expressions.iter().map(|r| match r.operator.as_str() {
            "Exists" => r.key.clone(),
            "DoesNotExist" => format!("!{}", r.key),
            operator => format!("{} {} ({})", r.key, operator.to_ascii_lowercase(), r.values.join(",")),
        });
        let all: Vec<String> = labels.chain(expressions).collect();
        f.write_str(if all.is_empty() { "everything" } else { "" })?;
        f.write_str(&all.join(","))
    }
}

/// True if one of the terms matches the node. A term that cannot be parsed is skipped.
pub fn matches_node(selector: &NodeSelector, node: &Node) -> bool {
    selector.node_selector_terms.iter().any(|term| term_matches(term, node))
}

/// True if the term is not empty, can be parsed and all its requirements hold.
pub fn term_matches(term: &NodeSelectorTerm, node: &Node) -> bool {
    !(term.match_expressions.is_empty() && term.match_fields.is_empty())
        && term_is_valid(term)
        && term.match_expressions.iter().all(|r| label_holds(r, &node.metadata.labels))
        && term.match_fields.iter().all(|r| field_holds(r, node))
}

/// True if upstream can parse every requirement of the term; otherwise it skips the term.
pub fn term_is_valid(term: &NodeSelectorTerm) -> bool {
    term.match_expressions.iter().all(label_requirement_is_valid)
        && term.match_fields.iter().all(|r| matches!(r.operator.as_str(), "In" | "NotIn") && r.values.len() == 1)
}

/// True if the requirement holds for the node's labels (it is taken as valid).
pub fn label_holds(r: &NodeSelectorRequirement, labels: &Labels) -> bool {
    let value = labels.get(&r.key);
    match r.operator.as_str() {
        "In" => value.is_some_and(|v| r.values.contains(v)),
        "NotIn" => value.is_none_or(|v| !r.values.contains(v)),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" | "Lt" => {
            let (Some(have), Some(want)) =
                (value.and_then(|v| v.parse::<i64>().ok()), r.values.first().and_then(|v| v.parse::<i64>().ok()))
            else {
                return false;
            };
            if r.operator == "Gt" { have > want } else { have < want }
        }
        _ => false,
    }
}

/// True if the field requirement holds for the node; a field other than `metadata.name` is empty.
pub fn field_holds(r: &NodeSelectorRequirement, node: &Node) -> bool {
    let value = if r.key == "metadata.name" { node.name() } else { "" };
    let equal = r.values.first().is_some_and(|v| v == value);
    match r.operator.as_str() {
        "In" => equal,
        "NotIn" => !equal,
        _ => false,
    }
}

/// What `labels.NewRequirement` accepts.
fn label_requirement_is_valid(r: &NodeSelectorRequirement) -> bool {
    let count = match r.operator.as_str() {
        "In" | "NotIn" => !r.values.is_empty(),
        "Exists" | "DoesNotExist" => r.values.is_empty(),
        "Gt" | "Lt" => r.values.len() == 1 && r.values[0].parse::<i64>().is_ok(),
        _ => false,
    };
    count && is_qualified_name(&r.key) && r.values.iter().all(|v| is_label_value(v))
}

/// True for a label key: an optional DNS prefix with `/`, and a name of at most 63 characters.
pub fn is_qualified_name(key: &str) -> bool {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    prefix.is_none_or(is_dns_subdomain) && !name.is_empty() && is_label_value(name)
}

fn is_dns_subdomain(text: &str) -> bool {
    text.len() <= 253
        && text.split('.').all(|part| {
            !part.is_empty()
                && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
                && !part.starts_with('-')
                && !part.ends_with('-')
        })
}

/// True for a label value: at most 63 of `[A-Za-z0-9._-]`, alphanumeric at both ends, or empty.
pub fn is_label_value(text: &str) -> bool {
    let bytes = text.as_bytes();
    let end_ok = |b: Option<&u8>| b.is_none_or(u8::is_ascii_alphanumeric);
    bytes.len() <= 63
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        && end_ok(bytes.first())
        && end_ok(bytes.last())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(labels: &[(&str, &str)]) -> Node {
        let mut node = Node::default();
        node.metadata.name = "n1".into();
        node.metadata.labels = labels.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        node
    }

    fn requirement(key: &str, operator: &str, values: &[&str]) -> NodeSelectorRequirement {
        NodeSelectorRequirement { key: key.into(), operator: operator.into(), values: values.iter().map(|v| v.to_string()).collect() }
    }

    #[test]
    fn every_operator_as_upstream() {
        let node = node(&[("gen", "007"), ("zone", "a"), ("empty", ""), ("float", "4.0"), ("big", "9223372036854775808")]);
        for (key, operator, values, want) in [
            ("zone", "In", &["a", "b"][..], true),
            ("zone", "In", &["b"], false),
            ("none", "In", &["a"], false),
            ("zone", "NotIn", &["b"], true),
            ("none", "NotIn", &["b"], true),
            ("zone", "Exists", &[], true),
            ("none", "DoesNotExist", &[], true),
            ("gen", "Gt", &["6"], true),
            ("gen", "Lt", &["7"], false),
            ("float", "Gt", &["1"], false),
            ("empty", "Lt", &["1"], false),
            ("big", "Gt", &["1"], false),
            ("none", "Lt", &["1"], false),
            // What upstream cannot parse makes the term match nothing.
            ("zone", "In", &[], false),
            ("zone", "Exists", &["a"], false),
            ("gen", "Gt", &["x"], false),
            ("gen", "Gt", &["1", "2"], false),
            ("zone", "Near", &["a"], false),
            ("-bad-", "DoesNotExist", &[], false),
            ("zone", "NotIn", &["not a label"], false),
        ] {
            let term = NodeSelectorTerm { match_expressions: vec![requirement(key, operator, values)], match_fields: vec![] };
            assert_eq!(term_matches(&term, &node), want, "{key} {operator} {values:?}");
        }
    }

    #[test]
    fn fields_match_the_name_alone() {
        for (key, operator, values, want) in [
            ("metadata.name", "In", &["n1"][..], true),
            ("metadata.name", "In", &["n1", "n2"], false),
            ("metadata.name", "NotIn", &["n2"], true),
            ("metadata.name", "Exists", &[], false),
            ("metadata.uid", "NotIn", &["x"], true),
        ] {
            let term = NodeSelectorTerm { match_expressions: vec![], match_fields: vec![requirement(key, operator, values)] };
            assert_eq!(term_matches(&term, &node(&[])), want, "{key} {operator} {values:?}");
        }
    }

    #[test]
    fn an_empty_term_matches_nothing_and_a_bad_one_is_skipped() {
        let good = NodeSelectorTerm { match_expressions: vec![requirement("zone", "Exists", &[])], match_fields: vec![] };
        let bad = NodeSelectorTerm { match_expressions: vec![requirement("zone", "Gt", &["x"])], match_fields: vec![] };
        let node = node(&[("zone", "a")]);
        for (terms, want) in
            [(vec![], false), (vec![NodeSelectorTerm::default()], false), (vec![bad.clone(), good], true), (vec![bad], false)]
        {
            assert_eq!(matches_node(&NodeSelector { node_selector_terms: terms }, &node), want);
        }
    }

    #[test]
    fn label_keys_and_values() {
        for (key, want) in [("a", true), ("a.b/c_d", true), ("A/c", false), ("/c", false), ("a/", false), ("a/b/c", false), ("", false)] {
            assert_eq!(is_qualified_name(key), want, "{key}");
        }
        let long = "x".repeat(64);
        for (value, want) in [("", true), ("a", true), ("-a", false), ("a b", false), (long.as_str(), false)] {
            assert_eq!(is_label_value(value), want, "{value}");
        }
    }
}
