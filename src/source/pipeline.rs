//! Cutting and reading at once: one thread cuts the files into batches, the others read those.
//!
//! Results are put together in the order of the files, so nothing depends on which thread was
//! faster. Batches in flight are bounded, hence memory is too.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};

use super::cut::{Batch, lines};
use super::dumps::is_beside;
use super::ingest::Ingest;
use super::pieces::Pieces;
use super::read_error::ReadError;
use super::slim::Focus;

/// More threads gain nothing: cutting cannot keep up with them.
const MOST_READERS: usize = 4;

/// A batch on its way to a reader.
struct Job {
    number: usize,
    path: Arc<str>,
    json: bool,
    /// The user named the file: it must be readable.
    named: bool,
    batch: Batch,
}

/// What a reader made of a batch: the objects and how many there were.
struct Done {
    number: usize,
    path: Arc<str>,
    result: Result<(Ingest, usize), ReadError>,
}

/// Where batches are sent to be read.
pub struct Readers<'a> {
    jobs: SyncSender<Job>,
    failed: &'a AtomicBool,
    sent: usize,
}

impl Readers<'_> {
    /// Sends a batch of a file; false if nothing more is wanted, for there was an error.
    pub fn send(&mut self, path: &Arc<str>, json: bool, named: bool, batch: Batch) -> bool {
        let job = Job { number: self.sent, path: path.clone(), json, named, batch };
        self.sent += 1;
        !self.failed.load(Ordering::Relaxed) && self.jobs.send(job).is_ok()
    }
}

/// What all files together gave.
pub struct Everything {
    /// The objects.
    pub ingest: Ingest,
    /// How many objects of any kind each file had.
    pub found: BTreeMap<Arc<str>, usize>,
}

/// Runs `cut`, which sends batches, and reads them meanwhile.
///
/// # Errors
/// The first error in the order of the files.
pub fn run(focus: &Focus, cut: impl FnOnce(&mut Readers) -> Result<(), ReadError>) -> Result<Everything, ReadError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, MOST_READERS);
    let failed = AtomicBool::new(false);
    let (jobs, queue) = sync_channel(threads * 2);
    let queue = Mutex::new(queue);
    let (results, done) = channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (results, queue, failed) = (results.clone(), &queue, &failed);
            scope.spawn(move || {
                let mut ingest = Ingest::new(focus.clone());
                while let Some(job) = next(queue) {
                    let (number, path) = (job.number, job.path.clone());
                    let result = read_batch(&job, &mut ingest).map(|found| (ingest.take(), found));
                    if result.is_err() {
                        failed.store(true, Ordering::Relaxed);
                    }
                    if results.send(Done { number, path, result }).is_err() {
                        return;
                    }
                }
            });
        }
        drop(results);
        let collector = scope.spawn(move || collect(&done));
        let mut readers = Readers { jobs, failed: &failed, sent: 0 };
        let cut = cut(&mut readers);
        drop(readers);
        let everything = collector.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        // An error of the cutting lies behind everything that was cut before it.
        cut.map(|()| everything)
    })
}

fn next(queue: &Mutex<Receiver<Job>>) -> Option<Job> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

fn read_batch(job: &Job, ingest: &mut Ingest) -> Result<usize, ReadError> {
    let Batch { bytes, pieces, lists, first_line } = &job.batch;
    lists.iter().for_each(|of| ingest.listed(Some(of)));
    let mut found = lists.len();
    let mut pieces_of = Pieces { path: &job.path, ingest };
    for piece in pieces {
        let text = bytes.get(piece.range.clone()).unwrap_or_default();
        let line = || first_line + lines(bytes.get(..piece.range.start).unwrap_or_default());
        let of = piece.of.as_deref();
        let read = if job.json { pieces_of.json(text, of, &line) } else { pieces_of.yaml(text, of, &line) };
        found += match read {
            Err(e) if !job.named && is_beside(&job.path, text, &e) => 0,
            read => read?,
        };
    }
    Ok(found)
}

/// Puts the results together in the order of the files.
fn collect(done: &Receiver<Done>) -> Result<Everything, ReadError> {
    let mut everything = Everything { ingest: Ingest::default(), found: BTreeMap::new() };
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    let mut error = None;
    for result in done {
        waiting.insert(result.number, result);
        while let Some(Done { path, result, .. }) = waiting.remove(&next) {
            next += 1;
            match result {
                Ok((ingest, found)) => {
                    everything.ingest.append(ingest);
                    *everything.found.entry(path).or_default() += found;
                }
                Err(e) => error = error.or(Some(e)),
            }
        }
    }
    error.map_or(Ok(everything), Err)
}
