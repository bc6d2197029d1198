//! Cuts YAML: documents, and the items of lists that are written as kubectl writes them.
//!
//! A list in block style names its items on lines that begin with `- ` at one depth; each is a
//! document of its own when that dash is blanked out. Lists in any other style are read whole, and
//! so are those whose first items use anchors (`&a`) of one another, which no tool writes. The logs
//! that `kubectl cluster-info dump` prints between the lists are passed over.

use std::collections::BTreeSet;
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use super::cut::{BATCH, Batch, CutError, Cutter, LOG_STARTS, Of, Piece, Window, log_end};

/// Cuts a stream of YAML.
pub struct YamlCutter<R> {
    window: Window<R>,
    /// The list that the text is in the midst of.
    list: Option<List>,
}

/// A list whose items are cut one by one.
struct List {
    of: Option<Arc<Of>>,
    /// How far its dashes are indented.
    indent: usize,
}

impl<R: Read> YamlCutter<R> {
    /// A cutter for a stream.
    pub fn new(window: Window<R>) -> Self {
        YamlCutter { window, list: None }
    }
}

impl<R: Read> Cutter for YamlCutter<R> {
    fn next_batch(&mut self) -> Result<Option<Batch>, CutError> {
        let mut batch = Batch::default();
        let mut at = 0;
        loop {
            let next = match &self.list {
                None => self.document(at, &mut batch),
                Some(_) => self.item(at, &mut batch),
            };
            match next {
                Some(next) if next >= self.window.bytes.len() && self.window.ended() => return Ok(self.emit(batch, next)),
                Some(next) => at = next,
                None if self.window.ended() => {
                    // All but a log ends where the text does.
                    let (line, column) = self.window.place(at);
                    return Err(CutError::Syntax(line, column, "the log that begins here does not end".into()));
                }
                None => {
                    if !batch.pieces.is_empty() && at >= BATCH / 2 {
                        return Ok(self.emit(batch, at));
                    }
                    if batch.pieces.is_empty() {
                        self.window.take(at);
                        at = 0;
                    }
                    self.window.grow()?;
                }
            }
        }
    }
}

impl<R: Read> YamlCutter<R> {
    fn emit(&mut self, mut batch: Batch, end: usize) -> Option<Batch> {
        batch.first_line = self.window.first_line;
        batch.bytes = self.window.take(end);
        for piece in &batch.pieces {
            if let Some(dash) = piece.dash.and_then(|i| batch.bytes.get_mut(i)) {
                *dash = b' ';
            }
        }
        (!batch.pieces.is_empty() || !batch.lists.is_empty()).then_some(batch)
    }

    /// Cuts the document at `at`, or the head of a list; `None` if its end is not in sight.
    fn document(&mut self, at: usize, batch: &mut Batch) -> Option<usize> {
        let bytes = self.window.bytes.as_slice();
        if let Some(log) = bytes.get(at..).filter(|rest| rest.starts_with(LOG_STARTS)) {
            return log_end(log, self.window.ended()).map(|len| at + len);
        }
        let (mut api_version, mut kind) = (None, None);
        let mut plain_head = true;
        for line in Lines::new(bytes, at, self.window.ended()) {
            let line = line?;
            let text = trimmed(bytes, &line);
            let boundary = is_boundary(text);
            if boundary && (line.start > at || text.len() == 3) {
                push(batch, bytes, at..line.start);
                // What stands behind the dashes is of the next document.
                return Some(if text.len() == 3 { line.end } else { line.start });
            }
            if boundary || !plain_head || text.is_empty() || text.starts_with(b"#") {
                continue;
            }
            match pair(text) {
                Some((b"apiVersion", value)) => api_version = Some(value),
                Some((b"kind", value)) => kind = Some(value),
                Some((b"items", b"")) => match self.list_at(line.end, api_version, kind) {
                    Begin::List(_) if uses_anchors(bytes.get(at..).unwrap_or_default()) => plain_head = false,
                    Begin::List(list) => {
                        batch.lists.extend(list.of.clone());
                        self.list = Some(list);
                        return Some(line.end);
                    }
                    Begin::Other => plain_head = false,
                    Begin::Unknown => return None,
                },
                _ => plain_head = false,
            }
        }
        if !self.window.ended() {
            return None;
        }
        push(batch, bytes, at..bytes.len());
        Some(bytes.len())
    }

    /// Whether the lines after `items:` are items that can be cut.
    fn list_at(&self, at: usize, api_version: Option<&[u8]>, kind: Option<&[u8]>) -> Begin {
        let bytes = self.window.bytes.as_slice();
        let of = match kind {
            Some(kind) if !kind.ends_with(b"List") => return Begin::Other,
            Some(kind) => Of::list(&String::from_utf8_lossy(api_version.unwrap_or_default()), &String::from_utf8_lossy(kind)),
            None => None,
        };
        let mut indent = None;
        for line in Lines::new(bytes, at, self.window.ended()) {
            let Some(line) = line else { return Begin::Unknown };
            let text = trimmed(bytes, &line);
            let depth = text.iter().take_while(|b| **b == b' ').count();
            match indent {
                None if text.is_empty() || text.starts_with(b"#") => {}
                None if text[depth..].starts_with(b"- ") => {
                    if kind.is_some() {
                        return Begin::List(List { of: of.map(Arc::new), indent: depth });
                    }
                    indent = Some(depth);
                    if text[depth + 2..].starts_with(b"kind:") {
                        return Begin::List(List { of: None, indent: depth });
                    }
                }
                None => return Begin::Other,
                // The kind of the list stands behind its items: each item must name its own.
                Some(indent) if depth == indent + 2 && text[depth..].starts_with(b"kind:") => {
                    return Begin::List(List { of: None, indent });
                }
                Some(indent) if depth <= indent && !text.is_empty() => return Begin::Other,
                Some(_) => {}
            }
        }
        if self.window.ended() { Begin::Other } else { Begin::Unknown }
    }

    /// Cuts the item at `at`, or goes over what follows the last one.
    fn item(&mut self, at: usize, batch: &mut Batch) -> Option<usize> {
        let list = self.list.as_ref()?;
        let bytes = self.window.bytes.as_slice();
        let mut started = false;
        for line in Lines::new(bytes, at, self.window.ended()) {
            let line = line?;
            let text = trimmed(bytes, &line);
            let depth = text.iter().take_while(|b| **b == b' ').count();
            let dash = depth == list.indent && text[depth..].starts_with(b"- ");
            if started && !text.is_empty() && (dash || (depth <= list.indent && text[depth] != b'#')) {
                batch.pieces.push(Piece { range: at..line.start, of: list.of.clone(), dash: Some(at + list.indent) });
                return Some(line.start);
            }
            if is_boundary(text) {
                self.list = None;
                return Some(if text.len() == 3 { line.end } else { line.start });
            }
            started |= dash;
            if !started {
                return Some(line.end);
            }
        }
        if !self.window.ended() {
            return None;
        }
        if started {
            batch.pieces.push(Piece { range: at..bytes.len(), of: list.of.clone(), dash: Some(at + list.indent) });
        }
        Some(bytes.len())
    }
}

/// What follows `items:`.
enum Begin {
    /// Items that can be cut one by one.
    List(List),
    /// Something else.
    Other,
    /// The text ends before it shows.
    Unknown,
}

/// True if a value of the text is named (`&name`) and used (`*name`): then it means nothing in parts.
fn uses_anchors(bytes: &[u8]) -> bool {
    let names = |sign: u8| {
        bytes.split(|b| b.is_ascii_whitespace() || b"[]{},".contains(b)).filter_map(move |word| {
            let name = word.strip_prefix(&[sign])?;
            (!name.is_empty() && name.iter().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(b))).then_some(name)
        })
    };
    let named: BTreeSet<&[u8]> = names(b'&').collect();
    !named.is_empty() && names(b'*').any(|name| named.contains(name))
}

/// Lines of a text from some place on; `None` for a last one whose end is not there yet.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    ended: bool,
}

impl<'a> Lines<'a> {
    fn new(bytes: &'a [u8], at: usize, ended: bool) -> Self {
        Lines { bytes, at, ended }
    }
}

impl Iterator for Lines<'_> {
    type Item = Option<Range<usize>>;
    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.at..).filter(|r| !r.is_empty())?;
        let start = self.at;
        match rest.iter().position(|b| *b == b'\n') {
            Some(len) => {
                self.at += len + 1;
                Some(Some(start..self.at))
            }
            None if self.ended => {
                self.at = self.bytes.len();
                Some(Some(start..self.at))
            }
            None => {
                self.at = self.bytes.len();
                Some(None)
            }
        }
    }
}

fn trimmed<'a>(bytes: &'a [u8], line: &Range<usize>) -> &'a [u8] {
    bytes.get(line.clone()).unwrap_or_default().trim_ascii_end()
}

/// True for a line that ends a document.
fn is_boundary(text: &[u8]) -> bool {
    text == b"---" || text.starts_with(b"--- ") || text == b"..." || text.starts_with(LOG_STARTS)
}

/// Key and value of a line at depth 0.
fn pair(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = text.iter().position(|b| *b == b':')?;
    let value = text[colon + 1..].trim_ascii();
    let value = value.strip_prefix(b"\"").and_then(|v| v.strip_suffix(b"\"")).unwrap_or(value);
    Some((&text[..colon], value)).filter(|_| !text.starts_with(b" "))
}

/// Adds a document, unless there is nothing in it.
fn push(batch: &mut Batch, bytes: &[u8], range: Range<usize>) {
    let text = bytes.get(range.clone()).unwrap_or_default();
    let lines = text.split(|b| *b == b'\n');
    if lines.map(<[u8]>::trim_ascii).any(|l| !l.is_empty() && !l.starts_with(b"#")) {
        batch.pieces.push(Piece { range, of: None, dash: None });
    }
}
