//! Saved clusters: `kubectl get -o yaml|json` output and what resembles it.
//!
//! A file holds one or many JSON values or YAML documents; each is an object, a `List`, a typed
//! list (`PodList`, whose items name no kind) or an array of those. Directories are read with all
//! below them, `-` is standard input, gzip, zstd and tar are unpacked. So the trees of `kubectl
//! cluster-info dump`, must-gather and support bundles are read, too. Kinds that no answer needs are
//! skipped, whatever they look like. Files are streamed: memory is bounded by what is kept of the
//! objects, not by the files.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::archive::{Bounded, is_tar, tar};
use super::cut::{BATCH, CutError, Cutter, LONGEST, Window};
use super::cut_json::JsonCutter;
use super::cut_yaml::YamlCutter;
use super::dumps::{is_beside, is_text_name};
use super::pipeline::{self, Readers};
pub use super::read_error::ReadError;
pub use super::slim::Focus;
use crate::model::snapshot::Snapshot;
use crate::model::time::Time;
use crate::model::version::ServerVersion;

/// What the user wants and may know better than the files.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The moment that ages are counted to; else the newest in the files, else the clock's.
    pub now: Option<Time>,
    /// The Kubernetes version whose rules apply; else what the files say, else a guess.
    pub version: Option<String>,
    /// The DaemonSets in question: of other pods only what bears on those is kept.
    pub focus: Focus,
}

/// Reads a saved cluster.
///
/// - An object in several files counts once, as it was last changed (`resourceVersion`).
/// - `now` is the option, else the newest moment that the files speak of, else the clock's.
/// - The version is the option, else that of the saved API server (a version file, its pods'
///   image), else the newest kubelet's (a guess: `version_text` stays empty), else the newest that
///   is known.
/// - Files without nodes, pods or events, and without an empty list of them, leave a gap for that
///   kind; other kinds that are absent count as none.
///
/// # Errors
/// [`ReadError`], in one line; nothing is skipped silently but kinds that are not needed.
pub fn read(paths: &[PathBuf], options: &ReadOptions) -> Result<Snapshot, ReadError> {
    let asked = options.version.as_ref().map(|text| text.parse::<ServerVersion>().map(|v| (v, text.clone()))).transpose()?;
    let everything = pipeline::run(&options.focus, |readers| paths.iter().try_for_each(|path| one(path, readers)))?;
    for path in paths {
        let name = if path.as_os_str() == "-" { STDIN.to_string() } else { shown(path) };
        let within = |file: &str| file.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/', '\\']));
        if !everything.found.iter().any(|(file, objects)| *objects > 0 && (within(file) || name.ends_with(['/', '\\']))) {
            return Err(ReadError::NoObjects { path: name });
        }
    }
    Ok(everything.ingest.finish_files(asked, options.now))
}

/// How messages name standard input.
const STDIN: &str = "standard input";

fn one(path: &Path, readers: &mut Readers) -> Result<(), ReadError> {
    if path.as_os_str() == "-" {
        return stream(&STDIN.into(), io::stdin().lock(), true, readers);
    }
    let name = shown(path);
    if std::fs::metadata(path).map_err(|e| ReadError::io(&name, e))?.is_dir() {
        return directory(path, readers);
    }
    file(path, &name.into(), true, readers)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn directory(path: &Path, readers: &mut Readers) -> Result<(), ReadError> {
    let mut files = Vec::new();
    list(path, &mut files).map_err(|e| ReadError::io(&shown(path), e))?;
    files.sort();
    if files.is_empty() {
        return Err(ReadError::EmptyDirectory { path: shown(path) });
    }
    files.iter().try_for_each(|f| file(f, &shown(f).into(), false, readers))
}

/// Lists the regular files below a directory whose names say JSON or YAML; links to directories are not followed.
fn list(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let path = entry.path();
        if kind.is_dir() {
            list(&path, files)?;
        } else if is_text_name(&path) && std::fs::metadata(&path).is_ok_and(|m| m.is_file()) {
            // Pipes and devices may never end.
            files.push(path);
        }
    }
    Ok(())
}

fn file(path: &Path, name: &Arc<str>, named: bool, readers: &mut Readers) -> Result<(), ReadError> {
    stream(name, File::open(path).map_err(|e| ReadError::io(name, e))?, named, readers)
}

/// Reads one stream. `named`: the user named this very file, so it must hold something; a file of
/// a tree that is nothing of Kubernetes is left out.
fn stream(path: &Arc<str>, mut input: impl Read, named: bool, readers: &mut Readers) -> Result<(), ReadError> {
    let start = read_start(path, &mut input)?;
    let fail = |e| ReadError::io(path, e);
    match start.as_slice() {
        [0x1f, 0x8b, ..] => {
            let packed = io::Cursor::new(start).chain(input);
            unpacked(path, Bounded::new(packed, |i| Ok(flate2::read::MultiGzDecoder::new(i))).map_err(fail)?, named, readers)
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let packed = io::Cursor::new(start).chain(input);
            unpacked(path, Bounded::new(packed, zstd::Decoder::new).map_err(fail)?, named, readers)
        }
        _ => text_or_tar(path, start, input, named, readers),
    }
}

fn unpacked(path: &Arc<str>, mut input: impl Read, named: bool, readers: &mut Readers) -> Result<(), ReadError> {
    let start = read_start(path, &mut input)?;
    text_or_tar(path, start, input, named, readers)
}

fn text_or_tar(path: &Arc<str>, start: Vec<u8>, input: impl Read, named: bool, readers: &mut Readers) -> Result<(), ReadError> {
    if !is_tar(&start) {
        return text(path, start, input, named, readers);
    }
    let whole = io::Cursor::new(start).chain(input);
    tar(whole, |name, mut content| {
        if !is_text_name(&name) {
            return Ok(());
        }
        // Shown to the user: what is in a file's name must not reach the terminal as it is.
        let inner: Arc<str> = format!("{path}:{}", shown(&name).escape_debug()).into();
        packed_text(&inner, &mut content, readers)
    })
    .map_err(|e: ReadError| match e {
        ReadError::Io { path: inner, source } if inner.is_empty() => ReadError::io(path, source),
        e => e,
    })
}

/// Reads a file in an archive; archives in archives are not read.
fn packed_text(path: &Arc<str>, input: &mut dyn Read, readers: &mut Readers) -> Result<(), ReadError> {
    let start = read_start(path, input)?;
    let fail = |e| ReadError::io(path, e);
    match start.as_slice() {
        [0x1f, 0x8b, ..] => {
            let packed = io::Cursor::new(start).chain(input);
            let mut input = Bounded::new(packed, |i| Ok(flate2::read::MultiGzDecoder::new(i))).map_err(fail)?;
            text(path, read_start(path, &mut input)?, input, false, readers)
        }
        _ => text(path, start, input, false, readers),
    }
}

fn text(path: &Arc<str>, start: Vec<u8>, input: impl Read, named: bool, readers: &mut Readers) -> Result<(), ReadError> {
    let head = start.get(..start.len().min(4096)).unwrap_or_default().to_vec();
    match plain(path, start, input, named, readers) {
        Err(e) if !named && is_beside(path, &head, &e) => Ok(()),
        result => result,
    }
}

fn read_start(path: &str, input: &mut (impl Read + ?Sized)) -> Result<Vec<u8>, ReadError> {
    let mut start = Vec::with_capacity(BATCH);
    Read::take(&mut *input, BATCH as u64).read_to_end(&mut start).map_err(|e| ReadError::io(path, e))?;
    Ok(start)
}

/// Reads text that is not packed. `start` is the first of it.
fn plain(path: &Arc<str>, mut start: Vec<u8>, input: impl Read, named: bool, readers: &mut Readers) -> Result<(), ReadError> {
    if let Some(encoding) = Utf16::of(&start) {
        // PowerShell's `>` writes this.
        input.take(LONGEST as u64).read_to_end(&mut start).map_err(|e| ReadError::io(path, e))?;
        return utf8(path, encoding.decode(&start), io::empty(), named, readers);
    }
    utf8(path, start, input, named, readers)
}

fn utf8(path: &Arc<str>, mut start: Vec<u8>, input: impl Read, named: bool, readers: &mut Readers) -> Result<(), ReadError> {
    if start.starts_with(b"\xef\xbb\xbf") {
        start.drain(..3);
    }
    if start.starts_with(b"PK\x03\x04") {
        return Err(ReadError::Zip { path: path.to_string() });
    }
    if is_binary(&start) {
        return Err(ReadError::Binary { path: path.to_string() });
    }
    let Some(first) = start.iter().find(|b| !b.is_ascii_whitespace()) else {
        return if named { Err(ReadError::Empty { path: path.to_string() }) } else { Ok(()) };
    };
    // A log that `kubectl cluster-info dump` printed may stand before the first list.
    let json = matches!(first, b'{' | b'[') || start.trim_ascii_start().starts_with(b"==== START logs");
    let window = Window::new(start, input);
    if json { cut(path, true, named, JsonCutter::new(window), readers) } else { cut(path, false, named, YamlCutter::new(window), readers) }
}

fn cut(path: &Arc<str>, json: bool, named: bool, mut cutter: impl Cutter, readers: &mut Readers) -> Result<(), ReadError> {
    let format = if json { "JSON" } else { "YAML" };
    let fail = |e| match e {
        CutError::Io(e) => ReadError::io(path, e),
        CutError::Syntax(line, column, message) => ReadError::Syntax { path: path.to_string(), line, column, format, message },
        CutError::TooLong(line) => {
            let what = format!("the object that begins on line {line} is longer than {} MB; is this a saved cluster?", LONGEST >> 20);
            ReadError::TooLarge { path: path.to_string(), what }
        }
    };
    while let Some(batch) = cutter.next_batch().map_err(fail)? {
        if !readers.send(path, json, named, batch) {
            break;
        }
    }
    Ok(())
}

/// True for what is not text: a zero byte, or not UTF-8 (a character may be cut off at the end).
fn is_binary(start: &[u8]) -> bool {
    start.contains(&0) || std::str::from_utf8(start).is_err_and(|e| e.error_len().is_some())
}

/// Text in units of 16 bits, by the mark it begins with.
#[derive(Clone, Copy)]
enum Utf16 {
    Little,
    Big,
}

impl Utf16 {
    fn of(start: &[u8]) -> Option<Self> {
        match start {
            [0xff, 0xfe, ..] => Some(Utf16::Little),
            [0xfe, 0xff, ..] => Some(Utf16::Big),
            _ => None,
        }
    }

    fn decode(self, bytes: &[u8]) -> Vec<u8> {
        let units = bytes.get(2..).unwrap_or_default().chunks_exact(2).map(|pair| match (self, pair) {
            (Utf16::Little, [a, b]) => u16::from_le_bytes([*a, *b]),
            (Utf16::Big, [a, b]) => u16::from_be_bytes([*a, *b]),
            _ => 0,
        });
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>().into_bytes()
    }
}
