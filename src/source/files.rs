//! Saved clusters: `kubectl get -o yaml|json` output and what resembles it.
//!
//! A file holds one or many JSON values or YAML documents; each is an object, a `List`, a typed
//! list (`PodList`, whose items name no kind) or an array of those. Directories are read with all
//! below them, `-` is standard input, gzip and zstd are unpacked. Kinds that no answer needs are
//! skipped, whatever they look like.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::ingest::{Ingest, Kind, Use, version_of};
use crate::model::snapshot::Snapshot;
use crate::model::time::Time;
use crate::model::version::{NEWEST, ServerVersion};

/// What the user may know better than the files.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The moment that ages are counted to; else the newest in the files, else the clock's.
    pub now: Option<Time>,
    /// The Kubernetes version whose rules apply; else what the files say, else a guess.
    pub version: Option<String>,
}

/// A snapshot cannot be read: what, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A path does not exist.
    #[error("{path}: no such file or directory")]
    Missing {
        /// The path as it was given.
        path: String,
    },
    /// The operating system refuses.
    #[error("{path}: cannot be read: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// The file has nothing in it.
    #[error("{path}: is empty; save a cluster with: kubectl get ds,pods,nodes,controllerrevisions,events -A -o yaml > cluster.yaml")]
    Empty {
        /// The file or directory.
        path: String,
    },
    /// The directory has no file that could be a snapshot.
    #[error("{path}: no JSON or YAML file in this directory")]
    EmptyDirectory {
        /// The directory.
        path: String,
    },
    /// The file is not text.
    #[error("{path}: is neither JSON nor YAML but binary data")]
    Binary {
        /// The file.
        path: String,
    },
    /// The text is not JSON or YAML.
    #[error("{path}: not valid {format}: {message}")]
    Syntax {
        /// The file.
        path: String,
        /// `JSON` or `YAML`.
        format: &'static str,
        /// What is wrong, and where.
        message: String,
    },
    /// The file is JSON or YAML, but holds no Kubernetes object.
    #[error("{path}: holds no Kubernetes object (nothing with apiVersion and kind)")]
    NoObjects {
        /// The file.
        path: String,
    },
    /// An object is not what its kind requires.
    #[error("{path}: {object}: {field}: {message}")]
    Object {
        /// The file.
        path: String,
        /// `Kind namespace/name`.
        object: String,
        /// The path of the field.
        field: String,
        /// What is wrong.
        message: String,
    },
    /// The version that was asked for is none.
    #[error(transparent)]
    Version(#[from] crate::model::version::InvalidVersion),
}

/// Reads a saved cluster.
///
/// - An object in several files counts once, as it was last changed (`resourceVersion`).
/// - `now` is the option, else the newest moment that the files speak of, else the clock's.
/// - The version is the option, else that of the saved API server (its pods' image), else the
///   newest kubelet's (a guess: `version_text` stays empty), else the newest that is known.
/// - Files without nodes, pods or events, and without an empty list of them, leave a gap for that
///   kind; other kinds that are absent count as none.
///
/// # Errors
/// [`ReadError`], in one line; nothing is skipped silently but kinds that are not needed.
pub fn read(paths: &[PathBuf], options: &ReadOptions) -> Result<Snapshot, ReadError> {
    let asked = options.version.as_ref().map(|text| text.parse::<ServerVersion>().map(|v| (v, Some(text.clone())))).transpose()?;
    let mut ingest = Ingest::default();
    for path in paths {
        if path.as_os_str() == "-" {
            read_stream("standard input", io::stdin().lock(), true, &mut ingest)?;
        } else {
            read_path(path, &mut ingest)?;
        }
    }
    let newest = ingest.newest();
    let objects = ingest.finish_files();
    let (version, version_text) = asked.or_else(|| version_of(&objects)).unwrap_or((NEWEST, None));
    let now = options.now.or(newest).unwrap_or_else(|| jiff::Timestamp::now().into());
    Ok(Snapshot { now, version, version_text, from_files: true, objects, ..Snapshot::default() })
}

fn read_path(path: &Path, ingest: &mut Ingest) -> Result<(), ReadError> {
    let name = path.display().to_string();
    let metadata = std::fs::metadata(path).map_err(|e| io_error(&name, e))?;
    if !metadata.is_dir() {
        return read_file(path, true, ingest);
    }
    let mut files = Vec::new();
    list(path, &mut files).map_err(|e| io_error(&name, e))?;
    files.sort();
    if files.is_empty() {
        return Err(ReadError::EmptyDirectory { path: name });
    }
    files.iter().try_for_each(|file| read_file(file, false, ingest))
}

/// Lists the files below a directory whose names say JSON or YAML; links to directories are not followed.
fn list(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let path = entry.path();
        if kind.is_dir() {
            list(&path, files)?;
        } else if is_text_name(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// True for `x.json`, `x.yaml`, `x.yml`, and these with `.gz` or `.zst` behind.
fn is_text_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let plain = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    [".json", ".yaml", ".yml", ".jsonl"].iter().any(|end| plain.ends_with(end))
}

fn read_file(path: &Path, named: bool, ingest: &mut Ingest) -> Result<(), ReadError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|e| io_error(&name, e))?;
    read_stream(&name, file, named, ingest)
}

/// Reads one stream. `named`: the user named this very file, so it must hold something.
fn read_stream(path: &str, mut input: impl Read, named: bool, ingest: &mut Ingest) -> Result<(), ReadError> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(|e| io_error(path, e))?;
    let bytes = match bytes.as_slice() {
        [0x1f, 0x8b, ..] => unpack(path, flate2::read::MultiGzDecoder::new(bytes.as_slice()))?,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let decoder = zstd::Decoder::new(bytes.as_slice()).map_err(|e| io_error(path, e))?;
            unpack(path, decoder)?
        }
        _ => bytes,
    };
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) if !text.contains('\0') => text.trim_start_matches('\u{feff}'),
        _ => return Err(ReadError::Binary { path: path.into() }),
    };
    if text.trim().is_empty() {
        return if named { Err(ReadError::Empty { path: path.into() }) } else { Ok(()) };
    }
    let found = if text.trim_start().starts_with(['{', '[']) { json(path, text, ingest)? } else { yaml(path, text, ingest)? };
    if named && found == 0 { Err(ReadError::NoObjects { path: path.into() }) } else { Ok(()) }
}

fn unpack(path: &str, mut decoder: impl Read) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    decoder.read_to_end(&mut bytes).map_err(|e| io_error(path, e))?;
    Ok(bytes)
}

fn io_error(path: &str, source: io::Error) -> ReadError {
    if source.kind() == io::ErrorKind::NotFound {
        return ReadError::Missing { path: path.into() };
    }
    ReadError::Io { path: path.into(), source }
}

/// What says how to read the rest of an object.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(default)]
    api_version: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default, borrow)]
    items: Option<Vec<&'a RawValue>>,
}

/// Reads JSON values one after the other; returns how many objects there were.
fn json(path: &str, text: &str, ingest: &mut Ingest) -> Result<usize, ReadError> {
    let syntax = |e: serde_json::Error| ReadError::Syntax { path: path.into(), format: "JSON", message: e.to_string() };
    let mut found = 0;
    for value in serde_json::Deserializer::from_str(text).into_iter::<&RawValue>() {
        found += json_value(path, value.map_err(syntax)?.get(), None, ingest)?;
    }
    Ok(found)
}

/// Reads an object, a list or an array. `of`: what the items of the list around it are.
fn json_value(path: &str, text: &str, of: Option<(&str, &str)>, ingest: &mut Ingest) -> Result<usize, ReadError> {
    let syntax = |e: serde_json::Error| ReadError::Syntax { path: path.into(), format: "JSON", message: e.to_string() };
    if text.starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(text).map_err(syntax)?;
        return items.iter().try_fold(0, |n, item| Ok(n + json_value(path, item.get(), of, ingest)?));
    }
    if !text.starts_with('{') {
        return Ok(0);
    }
    let head: Head = serde_json::from_str(text).map_err(syntax)?;
    let api_version = head.api_version.as_deref().or(of.map(|o| o.0)).unwrap_or_default();
    let kind = head.kind.as_deref().or(of.map(|o| o.1)).unwrap_or_default();
    if head.items.is_some() || kind.ends_with("List") {
        let items = head.items.unwrap_or_default();
        let of = kind.strip_suffix("List").filter(|k| !k.is_empty()).map(|k| (api_version, k));
        if let Some((version, kind)) = of
            && let Use::Read(kind) = Kind::of(version, kind)
        {
            ingest.listed(kind);
        }
        return items.iter().try_fold(1, |n, item| Ok(n + json_value(path, item.get(), of, ingest)?));
    }
    if kind.is_empty() {
        return Ok(0);
    }
    match Kind::of(api_version, kind) {
        Use::Skip => {}
        Use::OtherShape(kind) => ingest.unreadable(kind, other_shape(path, api_version, kind)),
        Use::Read(kind) => {
            let mut deserializer = serde_json::Deserializer::from_str(text);
            if ingest.read(kind, &mut deserializer).is_err() {
                return Err(object_error(path, kind, text));
            }
        }
    }
    Ok(1)
}

fn other_shape(path: &str, api_version: &str, kind: Kind) -> String {
    format!("{path} has objects {} of {api_version}, whose shape is not known here: save them again with a newer API version", kind.name())
}

/// Reads an object that was refused once more, to say where it is wrong.
fn object_error(path: &str, kind: Kind, text: &str) -> ReadError {
    let mut track = serde_path_to_error::Track::new();
    let mut json = serde_json::Deserializer::from_str(text);
    let result = Ingest::default().read(kind, serde_path_to_error::Deserializer::new(&mut json, &mut track));
    let message = result.err().map(|e| e.to_string()).unwrap_or_default();
    let message = message.split(" at line ").next().unwrap_or_default().to_string();
    ReadError::Object { path: path.into(), object: name_of(kind, text), field: track.path().to_string(), message }
}

fn name_of(kind: Kind, text: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let part = |key: &str| value.pointer(&format!("/metadata/{key}")).and_then(|v| v.as_str()).unwrap_or_default().to_string();
    match (part("namespace"), part("name")) {
        (_, name) if name.is_empty() => format!("a {} without name", kind.name()),
        (namespace, name) if namespace.is_empty() => format!("{} {name}", kind.name()),
        (namespace, name) => format!("{} {namespace}/{name}", kind.name()),
    }
}

/// Reads YAML documents; returns how many objects there were.
fn yaml(path: &str, text: &str, ingest: &mut Ingest) -> Result<usize, ReadError> {
    let mut found = 0;
    for document in yaml_serde::Deserializer::from_str(text) {
        let value = serde_json::Value::deserialize(document).map_err(|e| ReadError::Syntax {
            path: path.into(),
            format: "YAML",
            message: e.to_string(),
        })?;
        found += json_value(path, &value.to_string(), None, ingest)?;
    }
    Ok(found)
}
