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

#[cfg(test)]
mod tests {
    use super::*;

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
