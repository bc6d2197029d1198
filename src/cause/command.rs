//! Commands to copy, built so that a POSIX shell reads every argument as it is meant.

use std::borrow::Cow;

/// The argument as a POSIX shell takes it for one word.
pub fn quote(argument: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        return Cow::Borrowed(argument);
    }
    Cow::Owned(format!("'{}'", argument.replace('\'', r"'\''")))
}

/// A command line of quoted arguments.
pub fn command<'a>(arguments: impl IntoIterator<Item = &'a str>) -> String {
    arguments.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// The command line with these flags behind every `kubectl` that a shell would run: what was read
/// from one cluster is not to be done to another.
pub fn addressed(line: &str, flags: &str) -> String {
    const CALL: &str = "kubectl ";
    let mut out = String::new();
    let (mut quoted, mut escaped, mut after_a_blank) = (false, false, true);
    for (at, c) in line.char_indices() {
        if !quoted && after_a_blank && line.get(at..).is_some_and(|rest| rest.starts_with(CALL)) {
            out.push_str(CALL);
            out.push_str(flags);
            // The blank of the call stands behind the flags.
            out.push_str(" \u{0}");
        }
        after_a_blank = c == ' ';
        match c {
            '\'' if !escaped => quoted = !quoted,
            _ => {}
        }
        escaped = c == '\\' && !quoted && !escaped;
        out.push(c);
    }
    out.replace(&format!("\u{0}{CALL}"), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_go_to_every_call() {
        for (line, want) in [
            ("kubectl get ds", "kubectl --context=b get ds"),
            ("kubectl delete pod a && kubectl delete pod b", "kubectl --context=b delete pod a && kubectl --context=b delete pod b"),
            (r"kubectl get ds 'it'\''s kubectl x' kubectl y", r"kubectl --context=b get ds 'it'\''s kubectl x' kubectl --context=b y"),
            ("kubectl api-resources | xargs -n 1 kubectl get", "kubectl --context=b api-resources | xargs -n 1 kubectl --context=b get"),
            ("oc get scc", "oc get scc"),
        ] {
            assert_eq!(addressed(line, "--context=b"), want);
        }
    }

    #[test]
    fn arguments_are_one_word_each() {
        let cases = [
            ("node-exporter", "node-exporter"),
            ("--field-selector=spec.nodeName=a", "--field-selector=spec.nodeName=a"),
            ("", "''"),
            ("a b", "'a b'"),
            ("$(reboot)", "'$(reboot)'"),
            ("it's", r"'it'\''s'"),
            ("a;b", "'a;b'"),
            ("~root", "'~root'"),
            (r#"[{"op":"add"}]"#, r#"'[{"op":"add"}]'"#),
        ];
        for (given, want) in cases {
            assert_eq!(quote(given), want);
        }
        assert_eq!(command(["kubectl", "get", "ds", "a b"]), "kubectl get ds 'a b'");
    }
}
