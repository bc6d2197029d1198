//! Packed snapshots: what is unpacked is bounded, and nothing is ever written to disk.
//!
//! Names in an archive are only shown and looked at, so `../../etc/passwd` does no harm.

use std::cell::RefCell;
use std::io::{self, Read};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// No saved cluster is packed tighter: JSON of like pods gives 50.
const MOST_TIMES: u64 = 500;
/// Up to this size the ratio says nothing.
const SMALL: u64 = 1 << 28;
/// The longest name that an entry may have.
const LONGEST_NAME: u64 = 1 << 16;

/// Counts what is read of the packed form.
pub struct Packed<R> {
    input: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Packed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.input.read(buffer)?;
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// Unpacked text that ends in an error once it is out of all proportion to the packed form.
pub struct Bounded<R> {
    unpacked: R,
    packed: Arc<AtomicU64>,
    count: u64,
}

impl<R: Read> Bounded<R> {
    /// Unpacks `input` by `decoder`.
    ///
    /// # Errors
    /// The decoder's.
    pub fn new<I: Read>(input: I, decoder: impl FnOnce(Packed<I>) -> io::Result<R>) -> io::Result<Self> {
        let packed = Arc::new(AtomicU64::new(0));
        let unpacked = decoder(Packed { input, count: packed.clone() })?;
        Ok(Bounded { unpacked, packed, count: 0 })
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.unpacked.read(buffer)?;
        self.count += n as u64;
        if self.count > SMALL && self.count / MOST_TIMES > self.packed.load(Ordering::Relaxed) {
            return Err(io::Error::other(format!("it unpacks to more than {MOST_TIMES} times its size, so it is not a saved cluster")));
        }
        Ok(n)
    }
}

/// True if this is the beginning of a tar archive.
pub fn is_tar(start: &[u8]) -> bool {
    start.get(257..262) == Some(b"ustar")
}

/// Keeps what went wrong with a stream, for who reads it through others.
struct Noted<R> {
    input: R,
    error: Rc<RefCell<Option<(io::ErrorKind, String)>>>,
}

impl<R: Read> Read for Noted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.input.read(buffer).inspect_err(|e| *self.error.borrow_mut() = Some((e.kind(), e.to_string())))
    }
}

/// Calls `each` with the name and the content of every regular file in a tar archive.
///
/// # Errors
/// The stream's, that the archive is damaged (in no other words: the crate's quote what is in it),
/// or what `each` returns.
pub fn tar<E: From<io::Error>>(input: impl Read, mut each: impl FnMut(PathBuf, &mut dyn Read) -> Result<(), E>) -> Result<(), E> {
    let error = Rc::new(RefCell::new(None));
    let mut archive = tar::Archive::new(Noted { input, error: error.clone() });
    let damaged = |_: io::Error| match error.take() {
        Some((kind, text)) => io::Error::new(kind, text),
        None => io::Error::new(io::ErrorKind::InvalidData, "the archive is damaged"),
    };
    let mut long_name = None;
    // Raw: the crate would read long names of any length into memory.
    for entry in archive.entries().map_err(damaged)?.raw(true) {
        let mut entry = entry.map_err(damaged)?;
        let kind = entry.header().entry_type();
        if kind.is_gnu_longname() || kind.is_pax_local_extensions() {
            let mut text = Vec::new();
            (&mut entry).take(LONGEST_NAME).read_to_end(&mut text).map_err(damaged)?;
            let name = if kind.is_gnu_longname() { Some(text) } else { pax_path(&text) };
            long_name = name.map(|n| String::from_utf8_lossy(&n).trim_end_matches('\0').to_string()).or(long_name);
            continue;
        }
        let short = String::from_utf8_lossy(&entry.header().path_bytes()).into_owned();
        let name = long_name.take().unwrap_or(short);
        if kind.is_file() {
            each(PathBuf::from(name), &mut entry)?;
        }
    }
    Ok(())
}

/// The `path` record of a pax header: `27 path=a/long/name`, a line each.
fn pax_path(text: &[u8]) -> Option<Vec<u8>> {
    let record = text.split(|b| *b == b'\n').find_map(|line| line.splitn(2, |b| *b == b' ').nth(1)?.strip_prefix(b"path="))?;
    Some(record.to_vec())
}
