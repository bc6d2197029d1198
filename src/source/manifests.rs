//! `-f`: manifests that are not applied. Their DaemonSets are judged; what else the same files hold
//! (a ServiceAccount, a PriorityClass) counts as there.
//!
//! The text itself is kept for a dry run only, which sends it as it is; nothing of it that a
//! snapshot does not hold is printed or saved.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::ingest::{Ingest, Ingested, Kind, Use};
use super::read_error::ReadError;
use super::slim::{Focus, Slimmer};
use super::yaml_words::as_kubectl_reads;
use crate::model::daemon_set::DaemonSet;
use crate::model::object::Object;
use crate::model::snapshot::Objects;
use crate::model::{strict, untrusted};

/// A manifest is not longer.
const LONGEST: u64 = 64 << 20;

/// A DaemonSet of a file.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The file's name; `standard input` for that.
    pub source: String,
    /// The file, if it holds nothing else.
    pub file: Option<String>,
    /// As it was written.
    pub raw: Value,
    /// As far as it is held.
    pub ds: DaemonSet,
    /// What is wrong with it: field and words.
    pub faults: Vec<(String, String)>,
}

/// What the files hold.
#[derive(Debug, Default)]
pub struct Manifests {
    /// The DaemonSets, in the files' order.
    pub items: Vec<Manifest>,
    /// What else of use.
    pub others: Objects,
}

/// Reads files, directories (their `.yaml`, `.yml` and `.json` files) and `-`, standard input.
///
/// # Errors
/// In one line, if they cannot be read or hold no DaemonSet.
pub fn read(paths: &[PathBuf]) -> Result<Manifests, ReadError> {
    let mut found = Manifests::default();
    let mut ingest = Ingest::new(Focus::default());
    for path in paths {
        let text = |input: Box<dyn Read>, name: &str| {
            let text = whole_text(input, LONGEST).map_err(|e| ReadError::io(name, e))?;
            text.ok_or_else(|| ReadError::TooLarge { path: name.into(), what: "is larger than 64 MiB, as no manifest is".into() })
        };
        if path.as_os_str() == "-" {
            one("standard input", None, &text(Box::new(std::io::stdin().lock()), "standard input")?, &mut found, &mut ingest)?;
            continue;
        }
        for file in files(path)? {
            let name = file.display().to_string();
            let input = std::fs::File::open(&file).map_err(|e| ReadError::io(&name, e))?;
            one(&name, Some(&name), &text(Box::new(input), &name)?, &mut found, &mut ingest)?;
        }
    }
    found.others = ingest.finish();
    if found.items.is_empty() {
        let name = |p: &PathBuf| if p.as_os_str() == "-" { "standard input".into() } else { p.display().to_string() };
        let names: Vec<String> = paths.iter().map(name).collect();
        return Err(ReadError::NoDaemonSet { path: names.join(", ") });
    }
    Ok(found)
}

/// The whole text, if it is no longer than so many bytes: half of one may look like another.
pub fn whole_text(input: impl Read, longest: u64) -> std::io::Result<Option<String>> {
    let mut text = String::new();
    input.take(longest + 1).read_to_string(&mut text)?;
    Ok((text.len() as u64 <= longest).then_some(text))
}

/// The file, or those of a directory by name.
fn files(path: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let name = path.display().to_string();
    let fail = |e| ReadError::io(&name, e);
    if !std::fs::metadata(path).map_err(fail)?.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.is_file() && path.extension().is_some_and(|e| e == "yaml" || e == "yml" || e == "json") {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() { Err(ReadError::EmptyDirectory { path: name }) } else { Ok(files) }
}

fn one(name: &str, file: Option<&str>, text: &str, found: &mut Manifests, ingest: &mut Ingest) -> Result<(), ReadError> {
    let objects = objects(name, text)?;
    let alone = objects.len() == 1;
    for object in objects {
        let text = |key: &str| object[key].as_str().unwrap_or_default().to_string();
        let (version, kind) = (text("apiVersion"), text("kind"));
        if kind == DaemonSet::KIND && (version.starts_with("apps/") || version.starts_with("extensions/") || version.is_empty()) {
            found.items.push(manifest(name, file.filter(|_| alone), &version, object)?);
        } else if let Use::Read(kind) = Kind::of(&version, &kind)
            && WITH_A_MANIFEST.contains(&kind.name())
        {
            let fail = |field: &str, e: &dyn std::fmt::Display| ReadError::Object {
                path: name.into(),
                object: format!("{} {}", kind.name(), text_at(&object, "/metadata/name")),
                field: field.into(),
                message: e.to_string(),
            };
            ingest.read(kind, &object).map_err(|e| fail("is not what its kind requires", &e))?;
        }
    }
    Ok(())
}

/// Kinds of which a manifest brings objects that bear on its DaemonSets.
const WITH_A_MANIFEST: &[&str] = &[
    "Namespace",
    "ServiceAccount",
    "PriorityClass",
    "RuntimeClass",
    "LimitRange",
    "ResourceQuota",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "StorageClass",
    "ResourceClaimTemplate",
    "DeviceClass",
];

fn text_at<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn manifest(name: &str, file: Option<&str>, version: &str, raw: Value) -> Result<Manifest, ReadError> {
    let fail = |field: &str, message: String| ReadError::Object {
        path: name.into(),
        object: format!("DaemonSet {}", text_at(&raw, "/metadata/name")),
        field: field.into(),
        message,
    };
    let mut served = raw.clone();
    served["apiVersion"] = Value::from("apps/v1");
    let mut faults: Vec<(String, String)> =
        strict::unknown_fields(&served).into_iter().map(|field| (field, "is no field that the API knows".to_string())).collect();
    if version != "apps/v1" {
        faults.push(("apiVersion".into(), format!("{version:?} is not served for DaemonSets, apps/v1 is")));
    }
    let mut ds = strict::daemon_set(served).map_err(|e| match e.split_once(": ") {
        Some((field, words)) => fail(field, words.to_string()),
        None => fail("is not what its kind requires", e),
    })?;
    if ds.metadata.name.is_empty() {
        return Err(fail("metadata.name", "is required".into()));
    }
    if let Err(words) = ds.check() {
        let (field, words) = words.split_once(": ").unwrap_or(("metadata", &words));
        faults.push((field.to_string(), words.to_string()));
    }
    ds.slim(&mut Slimmer::new(Focus::default()));
    // The server's part of an object that was exported from a cluster.
    ds.status = Default::default();
    ds.metadata.uid.clear();
    ds.metadata.generation = 0;
    Ok(Manifest { source: name.into(), file: file.map(str::to_string), raw, ds, faults })
}

/// The objects of a text: documents, lists taken apart.
fn objects(name: &str, text: &str) -> Result<Vec<Value>, ReadError> {
    let mut found = Vec::new();
    if text.trim_start().starts_with('{') {
        for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
            let value = value.map_err(|e| syntax(name, "JSON", e.line(), e.column(), &e.to_string()))?;
            flatten(value, &mut found);
        }
        return Ok(found);
    }
    if untrusted::is_too_deep(text) {
        return Err(syntax(name, "YAML", 1, 1, "more than 10000 brackets are open"));
    }
    let text = as_kubectl_reads(text);
    for document in yaml_serde::Deserializer::from_str(&text) {
        let wrong = |e: yaml_serde::Error| {
            let at = e.location().map_or((1, 1), |l| (l.line(), l.column()));
            syntax(name, "YAML", at.0, at.1, &e.to_string())
        };
        let mut value = yaml_serde::Value::deserialize(document).map_err(wrong)?;
        value.apply_merge().map_err(wrong)?;
        let value = serde_json::to_value(value).map_err(|e| syntax(name, "YAML", 1, 1, &e.to_string()))?;
        flatten(value, &mut found);
    }
    Ok(found)
}

fn syntax(name: &str, format: &'static str, line: usize, column: usize, message: &str) -> ReadError {
    ReadError::Syntax { path: name.into(), line, column, format, message: message.lines().next().unwrap_or_default().to_string() }
}

fn flatten(value: Value, found: &mut Vec<Value>) {
    match value {
        Value::Null => {}
        Value::Array(items) => items.into_iter().for_each(|v| flatten(v, found)),
        Value::Object(mut list) if list.get("kind").and_then(Value::as_str).is_some_and(|k| k.ends_with("List")) => {
            if let Some(items) = list.remove("items") {
                flatten(items, found);
            }
        }
        object => found.push(object),
    }
}

impl Manifests {
    /// Gives every object that names no namespace this one. `given` was asked for by the user and
    /// must be that of the others, as with `kubectl apply -n`.
    ///
    /// # Errors
    /// If it is not, or a DaemonSet is there twice.
    pub fn settle(&mut self, given: Option<&str>, default: &str) -> Result<(), String> {
        for item in &mut self.items {
            let own = &mut item.ds.metadata.namespace;
            match given.filter(|g| !own.is_empty() && own != g) {
                Some(given) => {
                    return Err(format!(
                        "{}: DaemonSet {} is of namespace {own:?}, not of {given:?} (-n)",
                        item.source, item.ds.metadata.name
                    ));
                }
                None if own.is_empty() => *own = given.unwrap_or(default).to_string(),
                None => {}
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        if let Some(twice) = self.items.iter().find(|i| !seen.insert(i.ds.metadata.full_name())) {
            return Err(format!("{}: DaemonSet {} is there twice", twice.source, twice.ds.metadata.full_name()));
        }
        let namespace = given.unwrap_or(default);
        macro_rules! settle {
            ($($field:ident),*) => { $(
                for object in &mut self.others.$field.items {
                    if object.metadata.namespace.is_empty() {
                        object.metadata.namespace = namespace.to_string();
                    }
                }
            )* };
        }
        settle!(service_accounts, limit_ranges, resource_quotas, persistent_volume_claims, resource_claim_templates);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Manifests, String> {
        let mut found = Manifests::default();
        let mut ingest = Ingest::new(Focus::default());
        one("x.yaml", Some("x.yaml"), text, &mut found, &mut ingest).map_err(|e| e.to_string())?;
        found.others = ingest.finish();
        Ok(found)
    }

    const DS: &str = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}\n";

    #[test]
    fn documents_lists_and_what_comes_with_them() {
        let account = "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: s}\n";
        let config = "---\n# only a comment\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}\n";
        let mut found = parse(&format!("{DS}{account}{config}")).unwrap();
        assert_eq!((found.items.len(), found.others.service_accounts.items.len()), (1, 1));
        assert_eq!(found.items[0].file, None, "the file holds more than the DaemonSet");
        found.settle(None, "x").unwrap();
        assert_eq!(found.items[0].ds.metadata.namespace, "x");
        assert_eq!(found.others.service_accounts.items[0].metadata.namespace, "x");
        assert_eq!(parse(DS).unwrap().items[0].file.as_deref(), Some("x.yaml"));
        let merged = "base: &base {cpu: 1}\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a}\nspec: {selector: {}, template: {spec: {containers: [{name: c, resources: {requests: {<<: *base}}}]}}}\n";
        let item = &parse(merged).unwrap().items[0];
        assert_eq!(item.ds.spec.template.spec.containers[0].resources.requests["cpu"].to_string(), "1");
        assert_eq!(item.faults[0].0, "base");
        let json =
            r#"{"kind": "List", "apiVersion": "v1", "items": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "j"}}]}"#;
        assert_eq!(parse(json).unwrap().items[0].ds.metadata.name, "j");
    }

    #[test]
    fn what_is_wrong_is_told_in_one_line() {
        for (text, want) in [
            ("a: [", "x.yaml:"),
            ("{\"a\": ", "not valid JSON"),
            ("apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {}", "metadata.name: is required"),
            (
                "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a}\nspec: {minReadySeconds: soon}",
                "DaemonSet a: spec.minReadySeconds: ",
            ),
        ] {
            let said = parse(text).unwrap_err();
            assert!(said.contains(want) && !said.contains('\n'), "{said}");
        }
        let mut other = parse(&DS.replace("{name: a}", "{name: a, namespace: ours}")).unwrap();
        assert!(other.settle(Some("x"), "default").unwrap_err().contains("of namespace \"ours\", not of \"x\""));
        let mut twice = parse(&format!("{DS}---\n{DS}")).unwrap();
        assert!(twice.settle(None, "x").unwrap_err().contains("twice"));
        let old = parse(&DS.replace("apps/v1", "extensions/v1beta1")).unwrap();
        assert_eq!(old.items[0].faults[0].0, "apiVersion");
    }
}
