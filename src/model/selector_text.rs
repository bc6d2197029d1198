//! Label selectors as `--selector` writes them: `a=b,c!=d,e in (f,g),h,!i`.
//!
//! Upstream: `Parse` of `k8s.io/apimachinery/pkg/labels` (v0.37.2).

use super::object::{LabelSelector, LabelSelectorRequirement};

/// Reads a selector.
///
/// # Errors
/// Which part cannot be read.
pub fn parse(text: &str) -> Result<LabelSelector, String> {
    let mut selector = LabelSelector::default();
    for part in split(text) {
        let part = part.trim();
        if part.is_empty() {
            return Err(format!("{text:?} is not a label selector: a requirement is empty"));
        }
        let requirement = requirement(part).ok_or_else(|| format!("{part:?} is not a label requirement (such as app=web)"))?;
        selector.match_expressions.push(requirement);
    }
    Ok(selector)
}

/// Splits at the commas outside parentheses.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn requirement(part: &str) -> Option<LabelSelectorRequirement> {
    let made = |key: &str, operator: &str, values: Vec<String>| {
        let key = key.trim();
        let fine = !key.is_empty() && !key.contains(|c: char| c.is_whitespace() || "!=(),".contains(c));
        fine.then(|| LabelSelectorRequirement { key: key.into(), operator: operator.into(), values })
    };
    if let Some(key) = part.strip_prefix('!') {
        return made(key, "DoesNotExist", vec![]);
    }
    if let Some((left, list)) = part.split_once('(') {
        let list = list.strip_suffix(')')?;
        let (key, word) = left.trim().rsplit_once(char::is_whitespace)?;
        let operator = match word {
            "in" => "In",
            "notin" => "NotIn",
            _ => return None,
        };
        return made(key, operator, list.split(',').map(|v| v.trim().to_string()).collect());
    }
    for (sign, operator) in [("!=", "NotIn"), ("==", "In"), ("=", "In")] {
        if let Some((key, value)) = part.split_once(sign) {
            let value = value.trim();
            return if value.contains(['=', '!']) { None } else { made(key, operator, vec![value.to_string()]) };
        }
    }
    made(part, "Exists", vec![])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_requirements() {
        for (text, want) in [
            ("a=b", Some("a In b")),
            ("a==b, c != d", Some("a In b; c NotIn d")),
            ("a in (x, y),b notin (z)", Some("a In x y; b NotIn z")),
            ("a,!b", Some("a Exists ; b DoesNotExist ")),
            ("a=", Some("a In ")),
            ("k8s.io/a=b", Some("k8s.io/a In b")),
            ("", None),
            ("a=b,", None),
            ("a within (b)", None),
            ("a in (b", None),
            ("=b", None),
            ("a b", None),
            ("a=b=c", None),
        ] {
            let got = parse(text).ok().map(|s| {
                let each = s.match_expressions.iter().map(|r| format!("{} {} {}", r.key, r.operator, r.values.join(" ")));
                each.collect::<Vec<_>>().join("; ")
            });
            assert_eq!(got.as_deref(), want, "{text}");
        }
    }
}
