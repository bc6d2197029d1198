//! Cuts a stream into the texts of single objects, without holding more than a batch of them.
//!
//! [`cut_json`](super::cut_json) and [`cut_yaml`](super::cut_yaml) know the two syntaxes; both look
//! only for where an object ends. Whether the object is well formed shows when it is read.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

/// How much text a batch has, at least, if the stream does not end before. Little of it for a
/// fuzzer, whose inputs are small and should have a batch's end in them.
pub const BATCH: usize = if cfg!(fuzzing) { 1 << 9 } else { 1 << 20 };

/// No object of a cluster comes near this (etcd takes 1.5 MB); a text that is longer is refused.
pub const LONGEST: usize = 256 << 20;

/// Texts of objects, cut out of one stream.
#[derive(Debug, Default)]
pub struct Batch {
    /// The text that the pieces lie in.
    pub bytes: Vec<u8>,
    /// The objects.
    pub pieces: Vec<Piece>,
    /// Typed lists that begin here, be they empty: API version and kind of the items.
    pub lists: Vec<Arc<Of>>,
    /// The line in the stream that the text begins on, from 1.
    pub first_line: usize,
}

/// The text of one object.
#[derive(Debug)]
pub struct Piece {
    /// Where it is in the batch.
    pub range: Range<usize>,
    /// What the list around it says its items are.
    pub of: Option<Arc<Of>>,
    /// Where the dash was that made it an item of a YAML list.
    pub dash: Option<usize>,
}

/// What the items of a typed list are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Of {
    /// The API version (`v1`).
    pub api_version: String,
    /// The kind of one item (`Pod`).
    pub kind: String,
}

impl Of {
    /// The items of a list of this kind (`PodList`); `None` for a plain `List`.
    pub fn list(api_version: &str, kind: &str) -> Option<Of> {
        let kind = kind.strip_suffix("List").filter(|k| !k.is_empty())?;
        Some(Of { api_version: api_version.into(), kind: kind.into() })
    }
}

/// Why a stream cannot be cut further.
#[derive(Debug)]
pub enum CutError {
    /// The stream cannot be read.
    Io(io::Error),
    /// The text is malformed: the line and column, from 1, and what is wrong.
    Syntax(usize, usize, String),
    /// An object is longer than [`LONGEST`]: the line on which it begins.
    TooLong(usize),
}

impl From<io::Error> for CutError {
    fn from(e: io::Error) -> Self {
        CutError::Io(e)
    }
}

/// Something that cuts a stream.
pub trait Cutter {
    /// The next batch; `None` at the end.
    ///
    /// # Errors
    /// [`CutError`]; nothing can be cut after it.
    fn next_batch(&mut self) -> Result<Option<Batch>, CutError>;
}

/// A stream with the part of it in memory that is not yet cut.
pub struct Window<R> {
    input: R,
    /// The text in memory.
    pub bytes: Vec<u8>,
    /// The line in the stream that `bytes` begins on, from 1.
    pub first_line: usize,
    /// How much of that line came before.
    before: usize,
    ended: bool,
}

impl<R: Read> Window<R> {
    /// A window on a stream of which `bytes` have been read already.
    pub fn new(bytes: Vec<u8>, input: R) -> Self {
        Window { input, bytes, first_line: 1, before: 0, ended: false }
    }

    /// True if the stream has no more than what is in memory.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Reads on: another batch's worth, or as much again if that is more.
    ///
    /// # Errors
    /// The stream's, or the text in memory is too long already.
    pub fn grow(&mut self) -> Result<(), CutError> {
        if self.bytes.len() > LONGEST {
            return Err(CutError::TooLong(self.first_line));
        }
        let more = BATCH.max(self.bytes.len());
        self.bytes.reserve(more);
        let read = (&mut self.input).take(more as u64).read_to_end(&mut self.bytes)?;
        self.ended = read < more;
        Ok(())
    }

    /// Takes the text up to `end` out.
    pub fn take(&mut self, end: usize) -> Vec<u8> {
        let rest = self.bytes.split_off(end.min(self.bytes.len()));
        let taken = std::mem::replace(&mut self.bytes, rest);
        let (down, column) = place(&taken, taken.len());
        self.before = if down == 1 { self.before + column - 1 } else { column - 1 };
        self.first_line += down - 1;
        taken
    }

    /// The line and column of a place in the text.
    pub fn place(&self, at: usize) -> (usize, usize) {
        let (line, column) = place(&self.bytes, at);
        (self.first_line + line - 1, if line == 1 { column + self.before } else { column })
    }
}

/// The beginning of the line that `kubectl cluster-info dump` puts before the log of a container.
pub const LOG_STARTS: &[u8] = b"==== START logs";

/// How long the log is that a text begins with, up to the end of the line that closes it; `None` if
/// that is not there yet. What a container writes may lack a line feed at its end.
pub fn log_end(text: &[u8], ended: bool) -> Option<usize> {
    let close = memchr::memmem::find(text, b"==== END logs")?;
    let line = memchr::memchr(b'\n', text.get(close..)?);
    line.map(|line| close + line + 1).or(ended.then_some(text.len()))
}

/// How many lines end in a text.
pub fn lines(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

/// The line and column of a place in a text, both from 1.
pub fn place(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = bytes.get(..at).unwrap_or(bytes);
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |i| i + 1);
    (lines(before) + 1, before.len() - line_start + 1)
}
