//! Texts that may have been written to do harm: how deep they go, and what an error may say of them.

use serde_json::Value;

/// True if so many brackets are open that the YAML parser, whose time grows with their square, would take minutes.
pub fn is_too_deep(text: &str) -> bool {
    let mut open = 0_usize;
    text.bytes().any(|b| {
        match b {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        open > 10_000
    })
}

/// How many levels a value has, and how many values are in it; both 1 for a number.
pub fn measure(value: &Value) -> (usize, usize) {
    let (mut deepest, mut count) = (0, 0);
    // Not by recursion: the value may be deeper than the stack.
    let mut open = vec![(value, 1)];
    while let Some((value, depth)) = open.pop() {
        (deepest, count) = (deepest.max(depth), count + 1);
        match value {
            Value::Array(list) => open.extend(list.iter().map(|v| (v, depth + 1))),
            Value::Object(map) => open.extend(map.values().map(|v| (v, depth + 1))),
            _ => {}
        }
    }
    (deepest, count)
}

/// serde's message on a field, such as `invalid type: integer `7`, expected a string`; without the value if
/// it is of a field that may hold a secret, or a text, which in the wrong place may be anything.
pub fn message(field: &str, message: &str) -> String {
    let may_be_secret = field.split(['.', '[']).any(|part| SECRET.contains(&part));
    if !may_be_secret && !message.starts_with("invalid type: string") {
        return message.to_string();
    }
    let (what, rest) = message.split_once(": ").unwrap_or((message, ""));
    let sort = rest.split(' ').next().unwrap_or_default();
    match message.rsplit_once(", expected ") {
        Some((_, expected)) => format!("{what}: {sort}, expected {expected}"),
        None => what.to_string(),
    }
}

/// Fields whose values are never to be shown.
const SECRET: &[&str] = &["annotations", "args", "command", "data", "env", "httpGet", "httpHeaders", "stringData"];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn depth() {
        for (text, want) in [("", false), ("[".repeat(10_000).as_str(), false), ("{".repeat(10_001).as_str(), true)] {
            assert_eq!(is_too_deep(text), want);
        }
        assert!(!is_too_deep(&"[]".repeat(20_000)));
        for (value, want) in [(json!(1), (1, 1)), (json!({}), (1, 1)), (json!([1, [2]]), (3, 4)), (json!({"a": {"b": {}}}), (3, 3))] {
            assert_eq!(measure(&value), want, "{value}");
        }
    }

    #[test]
    fn no_message_has_a_secret() {
        for (field, given, want) in [
            ("spec.a", "invalid type: integer `7`, expected a map", "invalid type: integer `7`, expected a map"),
            ("spec.a", r#"invalid type: string "x", expected i32"#, "invalid type: string, expected i32"),
            ("spec.containers[0].env[1].value", "invalid type: integer `7`, expected a string", "invalid type: integer, expected a string"),
            ("metadata.annotations.x", "invalid type: boolean `true`, expected a string", "invalid type: boolean, expected a string"),
            ("spec.args", r#"invalid value: string ", expected ", expected x"#, "invalid value: string, expected x"),
            ("spec.env", "missing field `name`", "missing field `name`"),
        ] {
            assert_eq!(message(field, given), want);
        }
    }
}
