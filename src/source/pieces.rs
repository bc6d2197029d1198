//! From the text of an object to the object.
//!
//! The fast way reads the text straight into the model's type. Only where that fails is it read
//! again, to say which field of which object is wrong.

use serde::Deserialize;
use serde::de::Error;
use serde_json::Value;

use super::cut::{Of, place};
use super::cut_json::{elements, has_metadata, head};
use super::dumps::kind_of_path;
use super::ingest::{Ingest, Kind, Use};
use super::read_error::ReadError;
use crate::model::untrusted;

/// Lists within lists within lists: nobody saves a cluster so.
const DEEPEST: usize = 16;

/// Reads the pieces of one file.
pub struct Pieces<'a> {
    /// The file, for messages.
    pub path: &'a str,
    /// Where the objects go.
    pub ingest: &'a mut Ingest,
}

impl Pieces<'_> {
    /// Reads a JSON value whose first line is `line`; returns how many objects it holds.
    ///
    /// # Errors
    /// It is not JSON, or an object in it is not what its kind requires.
    pub fn json(&mut self, text: &[u8], of: Option<&Of>, line: &dyn Fn() -> usize) -> Result<usize, ReadError> {
        self.json_at(text, of, line, 0)
    }

    fn json_at(&mut self, text: &[u8], of: Option<&Of>, line: &dyn Fn() -> usize, depth: usize) -> Result<usize, ReadError> {
        if depth > DEEPEST {
            return Err(ReadError::TooLarge { path: self.path.into(), what: format!("lists are nested more than {DEEPEST} deep") });
        }
        if text.starts_with(b"[") {
            return elements(text).try_fold(0, |n, item| Ok(n + self.json_at(item, of, line, depth + 1)?));
        }
        if !text.starts_with(b"{") {
            return Ok(0);
        }
        let (api_version, kind) = match of {
            Some(of) => (of.api_version.as_str(), of.kind.as_str()),
            None => {
                let head = head(text);
                let (api_version, kind) = (head.api_version.unwrap_or_default(), head.kind.unwrap_or_default());
                if kind.ends_with("List") || (kind.is_empty() && head.items.is_some()) {
                    let of = Of::list(api_version, kind);
                    self.ingest.listed(of.as_ref());
                    return elements(head.items.unwrap_or(b"[]"))
                        .try_fold(1, |n, item| Ok(n + self.json_at(item, of.as_ref(), line, depth + 1)?));
                }
                (api_version, kind)
            }
        };
        let hinted = if kind.is_empty() { kind_of_path(self.path).filter(|_| has_metadata(text)) } else { None };
        if kind.is_empty() && hinted.is_none() {
            return Ok(usize::from(text.len() < 1 << 16 && self.version(text)));
        }
        let (api_version, kind) = hinted.map_or((api_version, kind), |k| (k.api_version(), k.name()));
        let Some(kind) = self.wanted(api_version, kind, || serde_json::from_slice(text).unwrap_or_default()) else { return Ok(1) };
        // Text that is known to be UTF-8 as a whole need not be looked at string by string.
        let read = match std::str::from_utf8(text) {
            Ok(text) => self.ingest.read(kind, &mut serde_json::Deserializer::from_str(text)),
            Err(_) => self.ingest.read(kind, &mut serde_json::Deserializer::from_slice(text)),
        };
        match read {
            Ok(()) => Ok(1),
            Err(e) => {
                let e = match serde_json::from_slice(text) {
                    Ok(value) if e.is_data() => return Err(self.refused(kind, &value, &e)),
                    Err(whole) if e.is_data() => whole,
                    _ => e,
                };
                let column = if e.line() == 1 { 1 } else { e.column() };
                Err(self.syntax("JSON", line() + e.line().saturating_sub(1), column, plain(&e)))
            }
        }
    }

    /// Reads YAML whose first line is `line`; returns how many objects it holds.
    ///
    /// # Errors
    /// It is not YAML, or an object in it is not what its kind requires.
    pub fn yaml(&mut self, text: &[u8], of: Option<&Of>, line: &dyn Fn() -> usize) -> Result<usize, ReadError> {
        let text = std::str::from_utf8(text).map_err(|e| {
            let (down, column) = place(text, e.valid_up_to());
            self.syntax("YAML", line() + down - 1, column, "not UTF-8 text".into())
        })?;
        let own = yaml_head(text);
        let named = match of {
            Some(of) => Some((of.api_version.as_str(), of.kind.as_str())),
            None => own.filter(|(_, kind)| !kind.ends_with("List")),
        };
        // Most of a dump may be of kinds that are not needed: those are not even parsed.
        if let Some((api_version, kind)) = named
            && Kind::of(api_version, kind) == Use::Skip
            && !Ingest::looks_at(api_version, kind)
        {
            return Ok(1);
        }
        if untrusted::is_too_deep(text) {
            return Err(ReadError::TooLarge { path: self.path.into(), what: "brackets are nested more than 10,000 deep".into() });
        }
        let value = yaml_value(text).map_err(|e| self.yaml_syntax(text, line(), &e))?;
        self.value(&value, of, 0)
    }

    fn value(&mut self, value: &Value, of: Option<&Of>, depth: usize) -> Result<usize, ReadError> {
        if depth > DEEPEST {
            return Err(ReadError::TooLarge { path: self.path.into(), what: format!("lists are nested more than {DEEPEST} deep") });
        }
        if let Value::Array(items) = value {
            return items.iter().try_fold(0, |n, item| Ok(n + self.value(item, of, depth + 1)?));
        }
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
        let (api_version, kind) = of.map_or((text("apiVersion"), text("kind")), |of| (&of.api_version, &of.kind));
        let items = value.get("items");
        if kind.ends_with("List") || (kind.is_empty() && items.is_some()) {
            let of = Of::list(api_version, kind);
            self.ingest.listed(of.as_ref());
            let items = items.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            return items.iter().try_fold(1, |n, item| Ok(n + self.value(item, of.as_ref(), depth + 1)?));
        }
        if kind.is_empty() {
            return Ok(0);
        }
        let Some(kind) = self.wanted(api_version, kind, || value.clone()) else { return Ok(1) };
        match self.ingest.read(kind, value) {
            Ok(()) => Ok(1),
            Err(e) => Err(self.refused(kind, value, &e)),
        }
    }

    /// The kind, if objects of it are to be read. `whole` reads the object in any shape.
    fn wanted(&mut self, api_version: &str, kind: &str, whole: impl FnOnce() -> Value) -> Option<Kind> {
        match Kind::of(api_version, kind) {
            Use::Read(kind) => Some(kind),
            Use::Skip => {
                self.ingest.other(api_version, kind, whole);
                None
            }
            Use::OtherShape(kind) => {
                let path = self.path;
                self.ingest.unreadable(
                    kind,
                    format!(
                        "{path} has a {} of {api_version}, whose shape is not known here: save it with a newer API version",
                        kind.name()
                    ),
                );
                None
            }
        }
    }

    /// Takes the server's version from what `kubectl version -o json` or a support bundle says.
    fn version(&mut self, text: &[u8]) -> bool {
        let value: Value = serde_json::from_slice(text).unwrap_or_default();
        let version = ["/serverVersion/gitVersion", "/info/gitVersion", "/gitVersion"].iter().find_map(|p| value.pointer(p)?.as_str());
        version.inspect(|v| self.ingest.server_version(v)).is_some()
    }

    /// Reads an object that was refused once more, to say which field is wrong.
    fn refused(&self, kind: Kind, value: &Value, first: &serde_json::Error) -> ReadError {
        let mut track = serde_path_to_error::Track::new();
        let again = Ingest::default().read(kind, serde_path_to_error::Deserializer::new(value, &mut track));
        let message = plain(&again.err().unwrap_or_else(|| serde_json::Error::custom(plain(first))));
        let field = track.path().to_string();
        let message = untrusted::message(&field, &message);
        let (field, message) = match (field, message.split_once(": ")) {
            // Found by a look at the whole object, which names the field itself.
            (field, Some((own, message))) if field == "." => (own.to_string(), message.to_string()),
            (field, _) => (field, message),
        };
        ReadError::Object { path: self.path.into(), object: name_of(kind, value), field, message }
    }

    fn syntax(&self, format: &'static str, line: usize, column: usize, message: String) -> ReadError {
        ReadError::Syntax { path: self.path.into(), line, column, format, message }
    }

    fn yaml_syntax(&self, text: &str, line: usize, error: &yaml_serde::Error) -> ReadError {
        let (down, column) = error.location().map_or((1, 1), |l| (l.line(), l.column()));
        let tab = text.lines().nth(down.saturating_sub(1)).is_some_and(|l| l.trim_start_matches(' ').starts_with('\t'));
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let message = match message {
            _ if tab => "the line is indented with a tab; YAML takes spaces only".into(),
            "unknown anchor" => "unknown anchor; far into a long list, items cannot use anchors of one another".into(),
            message => message.to_string(),
        };
        self.syntax("YAML", line + down.saturating_sub(1), column, message)
    }
}

fn yaml_value(text: &str) -> Result<Value, yaml_serde::Error> {
    if text.contains("<<:") {
        let mut value = yaml_serde::Value::deserialize(yaml_serde::Deserializer::from_str(text))?;
        value.apply_merge()?;
        return yaml_serde::from_value(value);
    }
    Value::deserialize(yaml_serde::Deserializer::from_str(text))
}

/// API version and kind of an object in block style, without reading the rest.
fn yaml_head(text: &str) -> Option<(&str, &str)> {
    let (mut api_version, mut kind) = (None, None);
    let mut depth = None;
    for line in text.lines() {
        let inner = line.trim_start_matches(' ');
        if inner.is_empty() || inner.starts_with('#') || inner.starts_with("---") {
            continue;
        }
        let indent = line.len() - inner.len();
        if *depth.get_or_insert(indent) != indent {
            continue;
        }
        let value = |key| inner.strip_prefix(key).map(|v: &str| v.trim().trim_matches('"').trim_matches('\'')).filter(|v| is_word(v));
        kind = kind.or_else(|| value("kind: "));
        api_version = api_version.or_else(|| value("apiVersion: "));
        if let (Some(api_version), Some(kind)) = (api_version, kind) {
            return Some((api_version, kind));
        }
    }
    None
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'-'))
}

/// The message without the place in the text, which says nothing of the file.
fn plain(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or_default().to_string()
}

/// `Kind namespace/name`.
fn name_of(kind: Kind, value: &Value) -> String {
    let part = |key: &str| value.pointer(key).and_then(Value::as_str).unwrap_or_default();
    match (part("/metadata/namespace"), part("/metadata/name")) {
        (_, "") => format!("a {} without name", kind.name()),
        ("", name) => format!("{} {name}", kind.name()),
        (namespace, name) => format!("{} {namespace}/{name}", kind.name()),
    }
}
