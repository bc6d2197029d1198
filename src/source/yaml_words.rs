//! Plain words of YAML as kubectl reads them: `yes` and `on` are booleans, `0644` is octal.
//!
//! Upstream: `resolve` of `go.yaml.in/yaml/v2`, which `sigs.k8s.io/yaml` (v1.6.0) and so
//! `kubectl apply` use. It reads YAML 1.1 here, the parser of this program YAML 1.2, for which these
//! are strings. They are written anew in the text before it is parsed; lines stay where they are.

use std::borrow::Cow;

/// The text with such words as YAML 1.2 writes them.
pub fn as_kubectl_reads(text: &str) -> Cow<'_, str> {
    let found = Scanner::new(text).found();
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (start, end, value) in found {
        out.push_str(text.get(at..start).unwrap_or_default());
        out.push_str(&value);
        at = end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(out)
}

/// What the word means to kubectl, if that is not what YAML 1.2 takes it for.
fn meant(word: &str) -> Option<String> {
    match word {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Some("true".into()),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Some("false".into()),
        _ => {}
    }
    let (sign, digits) = word.strip_prefix('-').map_or(("", word), |digits| ("-", digits));
    let plain = digits.replace('_', "");
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || !plain.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number = match plain.strip_prefix('0') {
        Some(octal) if !octal.is_empty() => i64::from_str_radix(octal, 8).ok()?,
        _ if plain == digits => return None,
        _ => plain.parse().ok()?,
    };
    Some(format!("{sign}{number}"))
}

/// Goes along the text as far as is needed to tell plain words from quoted ones, keys, comments and
/// block scalars.
struct Scanner<'a> {
    text: &'a str,
    /// Open brackets of flow style.
    flow: usize,
    found: Vec<(usize, usize, String)>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        Scanner { text, flow: 0, found: Vec::new() }
    }

    fn found(mut self) -> Vec<(usize, usize, String)> {
        let (mut at, mut block) = (0, None::<usize>);
        while at < self.text.len() {
            let rest = self.text.get(at..).unwrap_or_default();
            let line = rest.split_inclusive('\n').next().unwrap_or(rest);
            let indent = line.len() - line.trim_start_matches(' ').len();
            let inside = |owner: usize| line.trim().is_empty() || indent > owner;
            if block.is_some_and(inside) {
                at += line.len();
                continue;
            }
            (at, block) = self.line(at, indent);
        }
        self.found
    }

    /// Reads from the line at `start` to its end, or that of a quoted text which goes beyond it.
    /// Returns where it ends, and the column of the node that owns a block scalar which begins there.
    fn line(&mut self, start: usize, indent: usize) -> (usize, Option<usize>) {
        let bytes = self.text.as_bytes();
        // In flow style a line goes on with values.
        let (mut at, mut owner, mut value) = (start + indent, indent, self.flow > 0);
        loop {
            let Some(&byte) = bytes.get(at) else { return (at, None) };
            let next = bytes.get(at + 1).copied().unwrap_or(b'\n');
            match byte {
                b'\n' => return (at + 1, None),
                b' ' | b'\t' | b'\r' => at += 1,
                b'#' => return (self.line_end(at), None),
                b'"' | b'\'' => {
                    at = self.quoted(at, byte);
                    value = false;
                }
                b'-' if self.flow == 0 && !value && next.is_ascii_whitespace() => {
                    owner = at - start;
                    at += 1;
                    value = true;
                    // A key behind the dash owns what follows it.
                    let blanks = bytes.iter().skip(at).take_while(|b| **b == b' ').count();
                    if bytes.get(at + blanks) == Some(&b'-') {
                        value = false;
                    }
                }
                b'[' | b'{' if self.flow > 0 || value => {
                    self.flow += 1;
                    at += 1;
                    value = true;
                }
                b']' | b'}' if self.flow > 0 => {
                    self.flow -= 1;
                    at += 1;
                    value = false;
                }
                b',' if self.flow > 0 => {
                    at += 1;
                    value = true;
                }
                b':' => {
                    at += 1;
                    value = true;
                }
                b'|' | b'>' if self.flow == 0 && value => return (self.line_end(at), Some(owner)),
                _ => {
                    let end = self.plain(at);
                    let key = bytes.get(end) == Some(&b':');
                    if key && self.flow == 0 {
                        owner = at - start;
                    }
                    let word = self.text.get(at..end).unwrap_or_default().trim_end();
                    if value
                        && !key
                        && let Some(meant) = meant(word)
                    {
                        self.found.push((at, at + word.len(), meant));
                    }
                    at = end.max(at + 1);
                    value = false;
                }
            }
        }
    }

    fn line_end(&self, at: usize) -> usize {
        self.text.get(at..).and_then(|rest| rest.find('\n')).map_or(self.text.len(), |len| at + len + 1)
    }

    /// Where the quoted text that begins here ends.
    fn quoted(&self, start: usize, quote: u8) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' if quote == b'"' => at += 1,
                b'\'' if quote == byte && bytes.get(at + 1) == Some(&quote) => at += 1,
                _ if byte == quote => return at + 1,
                _ => {}
            }
            at += 1;
        }
        self.text.len()
    }

    /// Where the plain text that begins here ends: before `: `, ` #`, the line's end, or what ends
    /// it in flow style.
    fn plain(&self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = start;
        while let Some(&byte) = bytes.get(at) {
            let next = bytes.get(at + 1).copied().unwrap_or(b'\n');
            match byte {
                b'\n' => break,
                b':' if next.is_ascii_whitespace() => break,
                b':' if self.flow > 0 && matches!(next, b',' | b']' | b'}') => break,
                b' ' if next == b'#' => break,
                b',' | b']' | b'}' | b'[' | b'{' if self.flow > 0 => break,
                _ => at += 1,
            }
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_mean_what_kubectl_takes_them_for() {
        for (word, want) in [
            ("yes", Some("true")),
            ("Off", Some("false")),
            ("y", Some("true")),
            ("true", None),
            ("yEs", None),
            ("0644", Some("420")),
            ("-010", Some("-8")),
            ("1_000", Some("1000")),
            ("0", None),
            ("420", None),
            ("0o644", None),
            ("0x1f", None),
            ("089", None),
            ("0.5", None),
            ("1e3", None),
            ("", None),
            ("-", None),
            ("_1", None),
        ] {
            assert_eq!(meant(word).as_deref(), want, "{word}");
        }
    }

    #[test]
    fn only_plain_values_are_read_so() {
        for (text, want) in [
            ("hostNetwork: yes", "hostNetwork: true"),
            ("hostNetwork: yes # really: no\nb: no\n", "hostNetwork: true # really: no\nb: false\n"),
            ("a: \"yes\"\nb: 'no'\nc: 'it''s'\nd: on", "a: \"yes\"\nb: 'no'\nc: 'it''s'\nd: true"),
            ("yes: a\non: b", "yes: a\non: b"),
            ("- yes\n- a: no\n  b: 0644\n- - off", "- true\n- a: false\n  b: 420\n- - false"),
            ("a: {b: yes, c: [no, 'on', on], d: x}", "a: {b: true, c: [false, 'on', true], d: x}"),
            ("a: [\n  yes,\n  no\n]\nb: yes", "a: [\n  true,\n  false\n]\nb: true"),
            ("a: |\n  b: yes\n\n  no\nc: yes", "a: |\n  b: yes\n\n  no\nc: true"),
            ("- a: |-\n    b: yes\n  c: yes", "- a: |-\n    b: yes\n  c: true"),
            ("- >\n  yes\n- yes", "- >\n  yes\n- true"),
            ("a: \"one\n  b: yes\n  \\\" no\"\nc: no", "a: \"one\n  b: yes\n  \\\" no\"\nc: false"),
            ("image: registry:5000/on:yes\nurl: http://on", "image: registry:5000/on:yes\nurl: http://on"),
            ("a: !!str yes\nb: yes please", "a: !!str yes\nb: yes please"),
            ("a: yes\r\nb: x\r\n", "a: true\r\nb: x\r\n"),
            ("---\na: no\n---\nb: no", "---\na: false\n---\nb: false"),
            ("{\"a\": yes}", "{\"a\": yes}"),
        ] {
            assert_eq!(as_kubectl_reads(text), want, "{text}");
        }
    }
}
