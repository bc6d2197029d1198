//! Cuts JSON: values in a row, the `items` of lists, the elements of arrays.

use std::io::Read;
use std::sync::Arc;

use super::cut::{Batch, CutError, Cutter, LOG_STARTS, Of, Piece, Window, log_end};

/// Where in the text the next piece is to be found.
enum State {
    /// Between values.
    Top,
    /// In an array that is not in an object.
    Array,
    /// In the `items` of a list.
    Items(Option<Arc<Of>>),
    /// Behind the `items` of a list, before the list ends.
    Rest,
}

/// Cuts a stream of JSON.
pub struct JsonCutter<R> {
    window: Window<R>,
    state: State,
}

impl<R: Read> JsonCutter<R> {
    /// A cutter for a stream.
    pub fn new(window: Window<R>) -> Self {
        JsonCutter { window, state: State::Top }
    }

    fn syntax(&self, at: usize, message: &str) -> CutError {
        let (line, column) = self.window.place(at);
        CutError::Syntax(line, column, message.into())
    }
}

/// What one step along the text found.
enum Step {
    /// Go on from here.
    At(usize),
    /// The text ends in the midst of something that begins here.
    More(usize),
    /// The text ends here, between things.
    Empty(usize),
}

impl<R: Read> Cutter for JsonCutter<R> {
    fn next_batch(&mut self) -> Result<Option<Batch>, CutError> {
        let mut batch = Batch::default();
        let mut at = 0;
        loop {
            match self.step(at, &mut batch)? {
                Step::At(next) => at = next,
                Step::Empty(end) if self.window.ended() => {
                    return match self.state {
                        State::Top => self.emit(batch, end),
                        _ => Err(self.syntax(end, "the text ends in the midst of a list: the file is cut off")),
                    };
                }
                Step::More(_) if self.window.ended() => {
                    let end = self.window.bytes.len();
                    return Err(self.syntax(end, "the text ends in the midst of an object: the file is cut off"));
                }
                Step::More(start) | Step::Empty(start) => {
                    if !batch.pieces.is_empty() {
                        return self.emit(batch, start);
                    }
                    self.window.take(start);
                    at = 0;
                    self.window.grow()?;
                }
            }
        }
    }
}

impl<R: Read> JsonCutter<R> {
    fn emit(&mut self, mut batch: Batch, end: usize) -> Result<Option<Batch>, CutError> {
        batch.first_line = self.window.first_line;
        batch.bytes = self.window.take(end);
        Ok((!batch.pieces.is_empty() || !batch.lists.is_empty()).then_some(batch))
    }

    fn step(&mut self, at: usize, batch: &mut Batch) -> Result<Step, CutError> {
        let bytes = self.window.bytes.as_slice();
        let commas = !matches!(self.state, State::Top);
        let start = skip_blank(bytes, at, commas);
        let Some(&first) = bytes.get(start) else { return Ok(Step::Empty(start)) };
        let of = match &self.state {
            State::Top => return self.step_top(start, first, batch),
            State::Rest => return self.step_rest(start, first),
            State::Array | State::Items(_) if first == b']' => {
                self.state = if matches!(self.state, State::Array) { State::Top } else { State::Rest };
                return Ok(Step::At(start + 1));
            }
            State::Array => None,
            State::Items(of) => of.clone(),
        };
        match value_end(bytes, start) {
            Ok(end) => {
                batch.pieces.push(Piece { range: start..end, of, dash: None });
                Ok(Step::At(end))
            }
            Err(End::Missing) => Ok(Step::More(start)),
            Err(End::Wrong(place)) => Err(self.syntax(place, "expected an object")),
        }
    }

    fn step_top(&mut self, start: usize, first: u8, batch: &mut Batch) -> Result<Step, CutError> {
        let bytes = self.window.bytes.as_slice();
        match first {
            b'[' => {
                self.state = State::Array;
                Ok(Step::At(start + 1))
            }
            b'{' => match open(bytes, start) {
                Ok(Opened::Object(end)) => {
                    batch.pieces.push(Piece { range: start..end, of: None, dash: None });
                    Ok(Step::At(end))
                }
                Ok(Opened::List(of, items)) => {
                    let of = of.map(Arc::new);
                    batch.lists.extend(of.clone());
                    self.state = State::Items(of);
                    Ok(Step::At(items))
                }
                Err(End::Missing) => Ok(Step::More(start)),
                Err(End::Wrong(place)) => Err(self.syntax(place, "not JSON here")),
            },
            b'=' => {
                let rest = &bytes[start..];
                if !rest.starts_with(LOG_STARTS) && !LOG_STARTS.starts_with(rest) {
                    return Err(self.syntax(start, "expected an object or a list"));
                }
                Ok(log_end(rest, self.window.ended()).map_or(Step::More(start), |len| Step::At(start + len)))
            }
            _ => Err(self.syntax(start, "expected an object or a list")),
        }
    }

    fn step_rest(&mut self, start: usize, first: u8) -> Result<Step, CutError> {
        if first == b'}' {
            self.state = State::Top;
            return Ok(Step::At(start + 1));
        }
        match member(self.window.bytes.as_slice(), start) {
            Ok(member) => Ok(Step::At(member.end)),
            Err(End::Missing) => Ok(Step::More(start)),
            Err(End::Wrong(place)) => Err(self.syntax(place, "not JSON here")),
        }
    }
}

/// What an object at the top is.
enum Opened {
    /// A whole object, up to here.
    Object(usize),
    /// A list, whose items begin here.
    List(Option<Of>, usize),
}

/// Why the end of a value is not found.
pub enum End {
    /// The text ends before.
    Missing,
    /// What is here cannot be.
    Wrong(usize),
}

/// Finds out whether the object at `start` is a list, or where it ends.
///
/// A list that names its kind behind its items, which name none either, counts as one object.
fn open(bytes: &[u8], start: usize) -> Result<Opened, End> {
    let (mut api_version, mut kind) = (None, None);
    let mut at = start + 1;
    loop {
        at = skip_blank(bytes, at, true);
        match bytes.get(at) {
            None => return Err(End::Missing),
            Some(b'}') => return Ok(Opened::Object(at + 1)),
            Some(_) => {}
        }
        let key_end = value_end(bytes, at)?;
        let value = value_start(bytes, key_end)?;
        match &bytes[at..key_end] {
            b"\"items\"" if bytes[value] == b'[' => {
                let list = match kind {
                    Some(kind) => str_of(kind).ends_with("List"),
                    None => first_names_kind(bytes, value + 1)?,
                };
                if list {
                    let of = kind.and_then(|kind| Of::list(str_of(api_version.unwrap_or_default()), str_of(kind)));
                    return Ok(Opened::List(of, value + 1));
                }
                at = value_end(bytes, value)?;
            }
            key => {
                let key = key.to_vec();
                at = value_end(bytes, value)?;
                match key.as_slice() {
                    b"\"kind\"" => kind = Some(&bytes[value..at]),
                    b"\"apiVersion\"" => api_version = Some(&bytes[value..at]),
                    _ => {}
                }
            }
        }
    }
}

/// True if the first element of the array that begins here says what kind it is.
fn first_names_kind(bytes: &[u8], start: usize) -> Result<bool, End> {
    let at = skip_blank(bytes, start, false);
    match bytes.get(at) {
        None => Err(End::Missing),
        Some(b'{') => {
            let end = value_end(bytes, at)?;
            Ok(head(&bytes[at..end]).kind.is_some())
        }
        Some(_) => Ok(false),
    }
}

/// What an object says of itself.
#[derive(Default)]
pub struct Head<'a> {
    /// `apiVersion`.
    pub api_version: Option<&'a str>,
    /// `kind`.
    pub kind: Option<&'a str>,
    /// The text of `items`.
    pub items: Option<&'a [u8]>,
}

/// Looks for what an object says of itself; goes no further than it must.
pub fn head(object: &[u8]) -> Head<'_> {
    let mut head = Head::default();
    let mut at = 1;
    loop {
        at = skip_blank(object, at, true);
        let Ok(member) = member(object, at) else { return head };
        let value = &object[member.value..member.end];
        match &object[at..member.key_end] {
            b"\"kind\"" => head.kind = Some(str_of(value)),
            b"\"apiVersion\"" => head.api_version = Some(str_of(value)),
            b"\"items\"" => head.items = Some(value),
            _ => {}
        }
        if head.api_version.is_some() && head.kind.is_some_and(|k| !k.ends_with("List")) {
            return head;
        }
        at = member.end;
    }
}

/// True if the object has metadata, as all that the API serves.
pub fn has_metadata(object: &[u8]) -> bool {
    let mut at = 1;
    while let Ok(member) = member(object, skip_blank(object, at, true)) {
        if object.get(..member.key_end).is_some_and(|o| o.ends_with(b"\"metadata\"")) {
            return object.get(member.value) == Some(&b'{');
        }
        at = member.end;
    }
    false
}

/// The elements of an array's text.
pub fn elements(array: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 1;
    std::iter::from_fn(move || {
        let start = skip_blank(array, at, true);
        let end = value_end(array, start).ok()?;
        at = end;
        Some(&array[start..end])
    })
}

/// One key with its value: where they are.
struct Member {
    key_end: usize,
    value: usize,
    end: usize,
}

fn member(bytes: &[u8], start: usize) -> Result<Member, End> {
    if bytes.get(start) != Some(&b'"') {
        return Err(if start < bytes.len() { End::Wrong(start) } else { End::Missing });
    }
    let key_end = value_end(bytes, start)?;
    let value = value_start(bytes, key_end)?;
    Ok(Member { key_end, value, end: value_end(bytes, value)? })
}

/// Where the value behind a key begins.
fn value_start(bytes: &[u8], key_end: usize) -> Result<usize, End> {
    let colon = skip_blank(bytes, key_end, false);
    match bytes.get(colon) {
        None => Err(End::Missing),
        Some(b':') => {
            let value = skip_blank(bytes, colon + 1, false);
            if value < bytes.len() { Ok(value) } else { Err(End::Missing) }
        }
        Some(_) => Err(End::Wrong(colon)),
    }
}

/// Where the value that begins at `start` ends.
fn value_end(bytes: &[u8], start: usize) -> Result<usize, End> {
    match bytes.get(start) {
        None => Err(End::Missing),
        Some(b'"') => string_end(bytes, start + 1),
        Some(b'{' | b'[') => nested_end(bytes, start),
        Some(b'}' | b']' | b',' | b':') => Err(End::Wrong(start)),
        Some(_) => {
            let len = bytes[start..].iter().position(|b| matches!(b, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t'));
            len.map(|len| start + len).ok_or(End::Missing)
        }
    }
}

/// Where the object or array that begins at `start` ends.
fn nested_end(bytes: &[u8], start: usize) -> Result<usize, End> {
    let mut depth = 0usize;
    let mut at = start;
    while let Some(&b) = bytes.get(at) {
        at += 1;
        match b {
            b'"' => at = string_end(bytes, at)?,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Ok(at);
                }
            }
            // Half of what kubectl prints is indentation.
            b'\n' => at = skip_dull(bytes, at),
            _ => {}
        }
    }
    Err(End::Missing)
}

/// Skips what neither begins nor ends anything, by whole chunks, which the compiler makes vectors of.
fn skip_dull(bytes: &[u8], mut at: usize) -> usize {
    const CHUNK: usize = 16;
    // Brackets of all four kinds have these bits; that some letters do, too, costs nothing.
    let stands_out = |b: u8| (b == b'"') | (b & 0xd9 == 0x59);
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<CHUNK>()) {
        if chunk.iter().fold(false, |found, b| found | stands_out(*b)) {
            break;
        }
        at += CHUNK;
    }
    at
}

/// Where the string ends whose first character is at `at`.
fn string_end(bytes: &[u8], mut at: usize) -> Result<usize, End> {
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        at += memchr::memchr2(b'"', b'\\', rest).ok_or(End::Missing)?;
        match bytes[at] {
            b'"' => return Ok(at + 1),
            _ => at += 2,
        }
    }
}

fn skip_blank(bytes: &[u8], at: usize, commas: bool) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let blank = rest.iter().position(|b| !(matches!(b, b' ' | b'\n' | b'\r' | b'\t') || (commas && *b == b',')));
    at + blank.unwrap_or(rest.len())
}

/// The text of a string without escapes; empty for anything else.
fn str_of(value: &[u8]) -> &str {
    let inner = value.strip_prefix(b"\"").and_then(|v| v.strip_suffix(b"\"")).unwrap_or_default();
    std::str::from_utf8(inner).ok().filter(|s| !s.contains('\\')).unwrap_or_default()
}
