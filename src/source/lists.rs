//! Lists of a live cluster put together, and what they are asked for by.

use super::api::escape;
use super::api_error::ApiError;
use crate::model::object::{LabelSelector, Object};
use crate::model::snapshot::{Gap, Listed};

/// `/apis/GROUP/v1[/namespaces/NS]/PLURAL` of a resource as RBAC names it.
pub fn path(resource: &str, namespace: Option<&str>) -> String {
    let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
    let mut path = if group.is_empty() { "/api/v1".to_string() } else { format!("/apis/{group}/v1") };
    if let Some(namespace) = namespace {
        path.push_str("/namespaces/");
        escape(namespace, &mut path);
    }
    path.push('/');
    path.push_str(plural);
    path
}

/// The same of one object.
pub fn object_path(resource: &str, namespace: Option<&str>, name: &str) -> String {
    let mut path = path(resource, namespace);
    path.push('/');
    escape(name, &mut path);
    path
}

/// Why a list or object is not known whole.
pub fn gap(verb: &str, resource: &str, namespace: Option<&str>, error: &ApiError) -> Gap {
    let reason = match error {
        ApiError::Refused { code: 403, .. } => "forbidden".to_string(),
        ApiError::Refused { code: 404, .. } => "the server does not serve it".to_string(),
        other => other.to_string(),
    };
    Gap { verb: verb.into(), resource: resource.into(), namespace: namespace.map(str::to_string), reason }
}

/// A kind that has not been asked for: nothing is known of it, and nothing is amiss.
pub fn unread<T>(resource: &str) -> Listed<T> {
    Listed {
        items: Vec::new(),
        gap: Some(Gap { verb: String::new(), resource: resource.into(), namespace: None, reason: "not read".into() }),
    }
}

/// A list that only adds to an answer: one that may not be read is no gap in it.
pub fn welcome<T>(mut list: Listed<T>) -> Listed<T> {
    if let Some(gap) = &mut list.gap {
        gap.verb = String::new();
    }
    list
}

/// All of them; a gap in one is a gap.
pub fn merged<T>(lists: Vec<Listed<T>>) -> Listed<T> {
    let mut all = Listed::default();
    for list in lists {
        all.items.extend(list.items);
        all.gap = all.gap.or(list.gap);
    }
    all
}

/// Of objects that were read twice the first.
pub fn each_once<T: Object>(mut list: Listed<T>) -> Listed<T> {
    let mut seen = std::collections::HashSet::with_capacity(list.items.len());
    let mut twice = Vec::new();
    for (i, item) in list.items.iter().enumerate() {
        if !seen.insert((item.meta().namespace.as_str(), item.meta().name.as_str())) {
            twice.push(i);
        }
    }
    let mut twice = twice.into_iter().peekable();
    let mut i = 0;
    list.items.retain(|_| {
        i += 1;
        twice.next_if_eq(&(i - 1)).is_none()
    });
    list
}

/// A selector as the API's `labelSelector` takes it; one that selects everything is empty.
pub fn selector_text(selector: Option<&LabelSelector>) -> String {
    let Some(selector) = selector else { return String::new() };
    let labels = selector.match_labels.iter().map(|(key, value)| format!("{key}={value}"));
    let expressions = selector.match_expressions.iter().map(|r| match r.operator.as_str() {
        "In" => format!("{} in ({})", r.key, r.values.join(",")),
        "NotIn" => format!("{} notin ({})", r.key, r.values.join(",")),
        "DoesNotExist" => format!("!{}", r.key),
        _ => r.key.clone(),
    });
    labels.chain(expressions).collect::<Vec<_>>().join(",")
}
