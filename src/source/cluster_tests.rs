//! Tests of reading a live cluster: paths, selectors, gaps.

use super::*;
use crate::model::object::LabelSelector;

#[test]
fn paths() {
    for (resource, namespace, want) in [
        ("nodes", None, "/api/v1/nodes"),
        ("pods", Some("kube-system"), "/api/v1/namespaces/kube-system/pods"),
        ("daemonsets.apps", Some("a"), "/apis/apps/v1/namespaces/a/daemonsets"),
        ("csinodes.storage.k8s.io", None, "/apis/storage.k8s.io/v1/csinodes"),
    ] {
        assert_eq!(path(resource, namespace), want);
    }
}

#[test]
fn selectors() {
    let selector: LabelSelector = serde_json::from_value(serde_json::json!({"matchLabels": {"a": "b"}, "matchExpressions": [
        {"key": "c", "operator": "In", "values": ["d", "e"]}, {"key": "f", "operator": "NotIn", "values": ["g"]},
        {"key": "h", "operator": "Exists"}, {"key": "i", "operator": "DoesNotExist"}]}))
    .unwrap();
    let text = selector_text(Some(&selector));
    assert_eq!(text, "a=b,c in (d,e),f notin (g),h,!i");
    assert_eq!(crate::model::selector_text::parse(&text).unwrap().match_expressions.len(), 5);
}

#[test]
fn nothing_is_known_at_first() {
    let objects = nothing_yet();
    assert!(!objects.nodes.is_complete() && !objects.endpoint_slices.is_complete());
    assert_eq!(objects.gaps().count(), 0, "and yet nothing is amiss");
}
