//! A JSON list taken apart while it arrives: for servers and proxies that do not speak protobuf.

use super::protobuf::{LARGEST, Malformed};

/// Takes a list apart as it arrives; only the item at hand is held.
#[derive(Debug, Default)]
pub struct Items {
    held: Vec<u8>,
    /// How far `held` has been looked at.
    seen: usize,
    /// Where in `held` the value at hand begins.
    start: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
    in_items: bool,
    key: Vec<u8>,
    expects_value: bool,
    envelope: Envelope,
    done: bool,
}

/// What a list says of itself, beside its items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Envelope {
    /// Such as `PodList`.
    pub kind: String,
    /// What to ask for the next page; empty at the end.
    pub r#continue: String,
}

/// Keys whose values are looked at, none longer than this.
const LONGEST_VALUE: usize = 1 << 20;

impl Items {
    /// Takes the next bytes; calls `item` with each whole item's text.
    ///
    /// # Errors
    /// If the bytes are not a JSON object, or as `item` says.
    pub fn feed<E: From<Malformed>>(&mut self, chunk: &[u8], item: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.held.extend_from_slice(chunk);
        while self.seen < self.held.len() {
            let byte = self.held[self.seen];
            self.seen += 1;
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 1 && !self.expects_value {
                            self.key = self.held[self.start..self.seen].to_vec();
                        }
                    }
                    _ => {}
                }
                continue;
            }
            self.structural(byte, item)?;
        }
        // What lies before the value at hand is done with.
        let keep_from = if self.depth == 0 || (self.depth == 2 && self.in_items) { self.seen } else { self.start };
        self.held.drain(..keep_from);
        self.seen -= keep_from;
        self.start = self.start.saturating_sub(keep_from);
        if self.held.len() as u64 > LARGEST {
            return Err(Malformed::Not("an item of more than 64 MiB".into()).into());
        }
        Ok(())
    }

    fn structural<E: From<Malformed>>(&mut self, byte: u8, item: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let not = |what: &str| E::from(Malformed::Not(what.into()));
        if byte.is_ascii_whitespace() {
            return Ok(());
        }
        if self.done || (self.depth == 0 && byte != b'{') {
            return Err(not("no JSON object"));
        }
        let item_depth = 2;
        match byte {
            b'"' => {
                self.in_string = true;
                if self.depth == 1 && !self.expects_value {
                    self.start = self.seen - 1;
                }
            }
            b'{' | b'[' => {
                if self.depth == 1 && self.expects_value && byte == b'[' && self.key == b"\"items\"" {
                    self.in_items = true;
                } else if self.depth == item_depth && self.in_items {
                    self.start = self.seen - 1;
                }
                self.depth += 1;
            }
            b'}' | b']' => {
                self.depth -= 1;
                if self.in_items && self.depth == item_depth {
                    item(&self.held[self.start..self.seen])?;
                } else if self.in_items && self.depth == 1 {
                    self.in_items = false;
                    self.expects_value = false;
                    self.start = self.seen;
                } else if self.depth == 0 {
                    self.value(self.seen - 1);
                    self.done = true;
                }
            }
            b':' if self.depth == 1 => {
                self.expects_value = true;
                self.start = self.seen;
            }
            b',' if self.depth == 1 => {
                self.value(self.seen - 1);
                self.expects_value = false;
                self.start = self.seen;
            }
            _ => {}
        }
        if !self.in_items && self.seen - self.start > LONGEST_VALUE {
            return Err(not("a value of more than 1 MiB that is no list"));
        }
        Ok(())
    }

    /// Looks at the value that ends here.
    fn value(&mut self, end: usize) {
        if !self.expects_value {
            return;
        }
        let Some(text) = self.held.get(self.start..end) else { return };
        match self.key.as_slice() {
            b"\"kind\"" => self.envelope.kind = serde_json::from_slice(text).unwrap_or_default(),
            b"\"metadata\"" => {
                let meta: serde_json::Value = serde_json::from_slice(text).unwrap_or_default();
                self.envelope.r#continue = meta["continue"].as_str().unwrap_or_default().to_string();
            }
            _ => {}
        }
    }

    /// What the list says of itself, at its end.
    ///
    /// # Errors
    /// If the list is not whole, or no list.
    pub fn finish(self) -> Result<Envelope, Malformed> {
        if !self.done {
            return Err(Malformed::EndedEarly);
        }
        if !self.envelope.kind.ends_with("List") {
            let kind: String = self.envelope.kind.chars().take(60).collect();
            return Err(Malformed::Not(format!("kind {kind:?} is no list")));
        }
        Ok(self.envelope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str, step: usize) -> Result<(Vec<String>, Envelope), Malformed> {
        let mut items = Items::default();
        let mut found = Vec::new();
        for chunk in body.as_bytes().chunks(step) {
            items.feed(chunk, &mut |text: &[u8]| {
                found.push(String::from_utf8_lossy(text).into_owned());
                Ok::<(), Malformed>(())
            })?;
        }
        Ok((found, items.finish()?))
    }

    #[test]
    fn a_list_is_the_same_in_pieces_of_any_size() {
        let first = r#"{"metadata":{"name":"a\"}]"},"x":[1,{"items":[{}]}],"kind":"No"}"#;
        let bodies = [
            format!(
                r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"7","continue":"next"}},"items":[{first},{{}}]}}"#
            ),
            format!(
                "{{ \"items\" : [ {first} ,\n {{}} ] ,\n \"metadata\": {{ \"continue\" : \"next\" }}, \"n\": null, \"kind\" : \"PodList\" }}\n"
            ),
        ];
        let want = (vec![first.to_string(), "{}".into()], Envelope { kind: "PodList".into(), r#continue: "next".into() });
        for body in &bodies {
            for step in 1..body.len() + 1 {
                assert_eq!(read(body, step).as_ref(), Ok(&want), "{step}");
            }
        }
    }

    #[test]
    fn lists_without_items() {
        for items in ["[]", "null"] {
            let body = format!(r#"{{"items":{items},"kind":"PodList"}}"#);
            assert_eq!(read(&body, 3), Ok((vec![], Envelope { kind: "PodList".into(), r#continue: String::new() })));
        }
    }

    #[test]
    fn a_list_that_breaks_off_is_no_list() {
        let body = r#"{"kind":"PodList","items":[{"a":1},{"b":2}]}"#;
        for end in 0..body.len() {
            assert_eq!(read(&body[..end], 7), Err(Malformed::EndedEarly), "{end}");
        }
    }

    #[test]
    fn an_item_that_does_not_end_is_not_held_for_ever() {
        let mut items = Items::default();
        let mut fed = 0;
        let mut feed = |chunk: &[u8]| {
            fed += chunk.len();
            items.feed(chunk, &mut |_: &[u8]| Ok::<(), Malformed>(()))
        };
        feed(br#"{"kind":"PodList","items":[{"a":""#).unwrap();
        let chunk = vec![b'x'; 1 << 20];
        let error = std::iter::repeat_with(|| feed(&chunk)).take(100).find_map(Result::err);
        assert_eq!(error, Some(Malformed::Not("an item of more than 64 MiB".into())));
        assert!(fed < 70 << 20, "{fed}");
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for body in ["<html>", "[1]", "nonsense", r#"{"kind":"Pod"}"#, "{} {}", "{}"] {
            assert!(read(body, 4).is_err(), "{body}");
        }
    }
}
