//! `--save-snapshot`: one small file with what was read, to attach to a report or to replay.
//!
//! The file is a JSON `List` with an object a line, in a fixed order. It has the fields that the
//! model has and no others: no environment values, no commands, no annotations but those a check
//! needs. Its first item says what is not an object: the time, the version, what could not be read.
//! Replaying it gives the same report.

use std::collections::{BTreeSet, HashMap};
use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::model::daemon_set::ControllerRevision;
use crate::model::object::Object;
use crate::model::pod::Pod;
use crate::model::snapshot::{Gap, Snapshot, for_each_kind};
use crate::model::time::Time;

/// The API version of the file's first item.
pub const API_VERSION: &str = "ds-doctor/v1";
/// The kind of the file's first item.
pub const KIND: &str = "Snapshot";

/// What a snapshot is beside its objects.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    api_version: String,
    kind: String,
    /// The moment that ages are counted to.
    pub now: Time,
    /// See [`Snapshot::now_is_guessed`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub now_is_guessed: bool,
    /// The version whose rules apply.
    rules: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_version: Option<String>,
    from_files: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    gaps: Vec<SavedGap>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    other_gaps: Vec<SavedGap>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pods_known_on: Option<BTreeSet<String>>,
}

/// A [`Gap`] in the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SavedGap {
    verb: String,
    resource: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    reason: String,
}

impl From<&Gap> for SavedGap {
    fn from(g: &Gap) -> Self {
        SavedGap { verb: g.verb.clone(), resource: g.resource.clone(), namespace: g.namespace.clone(), reason: g.reason.clone() }
    }
}

impl From<SavedGap> for Gap {
    fn from(g: SavedGap) -> Self {
        Gap { verb: g.verb, resource: g.resource, namespace: g.namespace, reason: g.reason }
    }
}

impl Header {
    fn of(snapshot: &Snapshot) -> Self {
        Header {
            api_version: API_VERSION.into(),
            kind: KIND.into(),
            now: snapshot.now,
            now_is_guessed: snapshot.now_is_guessed,
            rules: snapshot.version.to_string(),
            server_version: snapshot.version_text.clone(),
            from_files: snapshot.from_files,
            // Also of what was not asked for: it is not known to be absent.
            gaps: snapshot.objects.every_gap().map(SavedGap::from).collect(),
            other_gaps: snapshot.other_gaps.iter().map(SavedGap::from).collect(),
            pods_known_on: snapshot.pods_known_on.clone(),
        }
    }

    /// Puts what the file says into a snapshot, unless the user knows better.
    pub fn restore(self, snapshot: &mut Snapshot, version_asked: bool) {
        if !version_asked {
            snapshot.version = self.rules.parse().unwrap_or(snapshot.version);
            snapshot.version_text = self.server_version;
        }
        snapshot.from_files = self.from_files;
        snapshot.pods_known_on = self.pods_known_on;
        snapshot.other_gaps = self.other_gaps.into_iter().map(Gap::from).collect();
        for gap in self.gaps {
            macro_rules! restore {
                ($field:ident, $ty:ty, $resource:literal) => {
                    if gap.resource == $resource {
                        snapshot.objects.$field.gap = Some(gap.clone().into());
                    }
                };
            }
            for_each_kind!(restore);
        }
    }
}

/// How an object goes into the file: most as they are.
macro_rules! prepared {
    (pods, $pod:expr, $secrets:expr) => {
        &whole(&$pod)
    };
    (controller_revisions, $revision:expr, $secrets:expr) => {
        &$secrets.numbered(&$revision)
    };
    ($other:ident, $object:expr, $secrets:expr) => {
        $object
    };
}
/// Writes the snapshot to a file that only its owner can read; `.gz` and `.zst` are packed.
///
/// # Errors
/// The system's, if the file cannot be written.
pub fn save(snapshot: &Snapshot, path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        options.mode(0o600);
        if let Ok(metadata) = std::fs::metadata(path)
            && metadata.is_file()
        {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        }
    }
    let file = BufWriter::new(options.open(path)?);
    match path.extension().and_then(|e| e.to_str()) {
        Some("gz") => {
            let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::default());
            write(snapshot, &mut packed)?;
            packed.finish()?.flush()
        }
        Some("zst") => {
            let mut packed = zstd::Encoder::new(file, 0)?;
            write(snapshot, &mut packed)?;
            packed.finish()?.flush()
        }
        _ => {
            let mut file = file;
            write(snapshot, &mut file)?;
            file.flush()
        }
    }
}

/// Writes the snapshot.
///
/// # Errors
/// The writer's.
pub fn write(snapshot: &Snapshot, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n")?;
    serde_json::to_writer(&mut *out, &Header::of(snapshot))?;
    let mut secrets = Secrets::default();
    macro_rules! write {
        ($field:ident, $ty:ty, $resource:literal) => {
            let items = sorted(&snapshot.objects.$field);
            let group = $resource.split_once('.').map_or("", |(_, group)| group);
            let api_version = if group.is_empty() { "v1".to_string() } else { format!("{group}/v1") };
            for item in items {
                out.write_all(b",\n")?;
                save_one(out, &api_version, prepared!($field, item, secrets))?;
            }
        };
    }
    for_each_kind!(write);
    out.write_all(b"\n]}\n")
}

fn sorted<T: Object>(items: &[T]) -> Vec<&T> {
    let mut items: Vec<&T> = items.iter().collect();
    items.sort_by_key(|i| (&i.meta().namespace, &i.meta().name));
    items
}

fn save_one<T: Object + Serialize>(out: &mut impl Write, api_version: &str, object: &T) -> io::Result<()> {
    serde_json::to_writer(out, &Saved { api_version, kind: T::KIND, object })?;
    Ok(())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Saved<'a, T> {
    api_version: &'a str,
    kind: &'a str,
    #[serde(flatten)]
    object: T,
}

/// The pod with what was moved out of its spec and status back in its place.
fn whole(pod: &Pod) -> Pod {
    let mut pod = pod.clone();
    if !pod.moved_node_name.is_empty() {
        pod.spec.node_name = std::mem::take(&mut pod.moved_node_name);
    }
    if pod.moved_start_time.is_some() {
        pod.status.start_time = pod.moved_start_time.take();
    }
    pod
}

/// Numbers for the hidden values of revisions: which are equal stays visible, and the file is the
/// same each time.
#[derive(Default)]
struct Secrets(HashMap<String, usize>);

impl Secrets {
    fn numbered(&mut self, revision: &ControllerRevision) -> ControllerRevision {
        let mut revision = revision.clone();
        self.number(&mut revision.data.0);
        revision
    }

    fn number(&mut self, value: &mut serde_json::Value) {
        use serde_json::Value;
        match value {
            Value::Object(map) => map.values_mut().for_each(|v| self.number(v)),
            Value::Array(items) => items.iter_mut().for_each(|v| self.number(v)),
            Value::String(text) if text.starts_with("<hidden ") => {
                let next = self.0.len() + 1;
                let number = *self.0.entry(std::mem::take(text)).or_insert(next);
                *text = format!("<hidden {number}>");
            }
            _ => {}
        }
    }
}
