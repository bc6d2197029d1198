//! Lists and objects in the API server's protobuf, taken apart while they arrive.
//!
//! Upstream: `pkg/runtime/serializer/protobuf` of `k8s.io/apimachinery` (v0.37.2): the four bytes
//! `k8s\0`, then a `runtime.Unknown` whose field 2 holds the object. A list has its metadata in
//! field 1 and its items in field 2. Only the item at hand is held.

use std::ops::ControlFlow;

use prost::Message;
use prost::encoding::{WireType, decode_key, decode_varint};

/// The media type.
pub const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

const MAGIC: &[u8] = b"k8s\0";

/// No object of the API is larger: etcd takes 1.5 MiB, a protobuf list item the same.
pub const LARGEST: u64 = 64 << 20;

/// `ListMeta`: where a list goes on.
#[derive(Clone, PartialEq, Message)]
pub struct ListMeta {
    /// The version of the cluster's data that the list shows.
    #[prost(string, tag = 2)]
    pub resource_version: String,
    /// What to ask for the next page; empty at the end.
    #[prost(string, tag = 3)]
    pub r#continue: String,
    /// How many objects there are beyond the page; what a server does not say is absent.
    #[prost(int64, optional, tag = 4)]
    pub remaining_item_count: Option<i64>,
}

/// `Status`: how the server says no.
#[derive(Clone, PartialEq, Message)]
pub struct Status {
    /// `ListMeta`.
    #[prost(message, required, tag = 1)]
    pub metadata: ListMeta,
    /// The sentence.
    #[prost(string, tag = 3)]
    pub message: String,
    /// The machine's word, such as `Forbidden`.
    #[prost(string, tag = 4)]
    pub reason: String,
}

#[derive(Clone, PartialEq, Message)]
struct Unknown {
    #[prost(bytes = "vec", tag = 2)]
    raw: Vec<u8>,
}

/// What is wrong with bytes that should be protobuf.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The answer broke off.
    #[error("the answer ended early")]
    EndedEarly,
    /// It is something else.
    #[error("the answer is not what it says it is: {0}")]
    Not(String),
}

impl From<prost::DecodeError> for Malformed {
    fn from(error: prost::DecodeError) -> Self {
        Malformed::not(error)
    }
}

impl Malformed {
    fn not(what: impl std::fmt::Display) -> Self {
        Malformed::Not(what.to_string())
    }
}

/// Reads one whole object.
///
/// # Errors
/// If the bytes are not one.
pub fn object<T: Message + Default>(body: &[u8]) -> Result<T, Malformed> {
    let envelope = body.strip_prefix(MAGIC).ok_or_else(|| Malformed::not("no k8s prefix"))?;
    let unknown = Unknown::decode(envelope).map_err(Malformed::not)?;
    T::decode(unknown.raw.as_slice()).map_err(Malformed::not)
}

/// How many objects a list has of which `body` is the first page; `None` if it does not say.
///
/// # Errors
/// If the bytes are not a list.
pub fn count(body: &[u8]) -> Result<Option<usize>, Malformed> {
    let (mut items, mut here) = (Items::default(), 0);
    items.feed(body, &mut |_: &[u8]| {
        here += 1;
        Ok::<(), Malformed>(())
    })?;
    let meta = items.finish()?;
    let beyond = if meta.r#continue.is_empty() { Some(0) } else { meta.remaining_item_count.and_then(|n| usize::try_from(n).ok()) };
    Ok(beyond.map(|beyond| beyond + here))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before the prefix.
    Start,
    /// Between the fields of the envelope.
    Envelope,
    /// Between the fields of the list, which has so many bytes left.
    List(u64),
    /// In a field that is not needed, with so many bytes left; then as the second says.
    Skip(u64, Option<u64>),
}

/// Takes a list apart as it arrives.
#[derive(Debug)]
pub struct Items {
    place: Place,
    held: Vec<u8>,
    meta: ListMeta,
    complete: bool,
}

impl Default for Items {
    fn default() -> Self {
        Items { place: Place::Start, held: Vec::new(), meta: ListMeta::default(), complete: false }
    }
}

impl Items {
    /// Takes the next bytes; calls `item` with each whole item's bytes.
    ///
    /// # Errors
    /// If the bytes are not a list, or as `item` says.
    pub fn feed<E: From<Malformed>>(&mut self, chunk: &[u8], item: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        if self.held.is_empty() {
            let used = self.take(chunk, item)?;
            self.held.extend_from_slice(&chunk[used..]);
        } else {
            let mut held = std::mem::take(&mut self.held);
            held.extend_from_slice(chunk);
            let used = self.take(&held, item)?;
            held.drain(..used);
            self.held = held;
        }
        Ok(())
    }

    /// The list's metadata, at its end.
    ///
    /// # Errors
    /// If the list is not whole.
    pub fn finish(self) -> Result<ListMeta, Malformed> {
        if self.complete && self.held.is_empty() && self.place == Place::Envelope { Ok(self.meta) } else { Err(Malformed::EndedEarly) }
    }

    /// Takes what is whole; returns how many bytes that was.
    fn take<E: From<Malformed>>(&mut self, bytes: &[u8], item: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<usize, E> {
        let mut at = 0;
        loop {
            let rest = &bytes[at..];
            match self.step(rest, item)? {
                ControlFlow::Continue(used) => at += used,
                ControlFlow::Break(()) => return Ok(at),
            }
        }
    }

    /// Takes one field; `Break` if more bytes are needed for it.
    fn step<E: From<Malformed>>(
        &mut self,
        bytes: &[u8],
        item: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<ControlFlow<(), usize>, E> {
        let list_left = match self.place {
            Place::Start => {
                if bytes.len() < MAGIC.len() {
                    return Ok(ControlFlow::Break(()));
                }
                if !bytes.starts_with(MAGIC) {
                    return Err(Malformed::not("no k8s prefix").into());
                }
                self.place = Place::Envelope;
                return Ok(ControlFlow::Continue(MAGIC.len()));
            }
            Place::Skip(left, then) => {
                let used = left.min(bytes.len() as u64);
                self.place = match (left - used, then) {
                    (0, None | Some(0)) => Place::Envelope,
                    (0, Some(list)) => Place::List(list),
                    (left, then) => Place::Skip(left, then),
                };
                // Nothing left to skip is a step as well; nothing to skip it with is none.
                let stuck = used == 0 && left > 0;
                return Ok(if stuck { ControlFlow::Break(()) } else { ControlFlow::Continue(used as usize) });
            }
            Place::Envelope => None,
            Place::List(left) => Some(left),
        };
        let Some(field) = Field::read(bytes)? else { return Ok(ControlFlow::Break(())) };
        let left_after = match list_left {
            None => None,
            Some(left) => {
                let after = left.checked_sub(field.length).and_then(|left| left.checked_sub(field.header as u64));
                Some(after.ok_or_else(|| Malformed::not("a field is too long"))?)
            }
        };
        match (list_left, field.tag) {
            (None, 2) if field.delimited => {
                self.complete = true;
                self.place = if field.length == 0 { Place::Envelope } else { Place::List(field.length) };
                Ok(ControlFlow::Continue(field.header))
            }
            (Some(_), tag @ (1 | 2)) if field.delimited => {
                if field.length > LARGEST {
                    return Err(Malformed::not("an item of more than 64 MiB").into());
                }
                let end = field.header + field.length as usize;
                let Some(payload) = bytes.get(field.header..end) else { return Ok(ControlFlow::Break(())) };
                if tag == 1 {
                    self.meta = ListMeta::decode(payload).map_err(Malformed::not)?;
                } else {
                    item(payload)?;
                }
                self.place = match left_after {
                    Some(0) | None => Place::Envelope,
                    Some(left) => Place::List(left),
                };
                Ok(ControlFlow::Continue(end))
            }
            _ => {
                self.place = Place::Skip(field.length, left_after);
                Ok(ControlFlow::Continue(field.header))
            }
        }
    }
}

/// A field's header.
struct Field {
    tag: u32,
    /// Bytes of key and length.
    header: usize,
    /// Bytes of the value after it.
    length: u64,
    delimited: bool,
}

impl Field {
    /// Reads a header; `None` if it is not all there yet.
    fn read(bytes: &[u8]) -> Result<Option<Field>, Malformed> {
        // A key has at most 5 bytes, a varint 10: with fewer at hand, running out means "wait".
        let short = bytes.len() < 15;
        let mut rest = bytes;
        let (tag, wire_type) = match decode_key(&mut rest) {
            Ok(key) => key,
            Err(_) if short => return Ok(None),
            Err(e) => return Err(Malformed::not(e)),
        };
        let key = bytes.len() - rest.len();
        let mut varint = || match decode_varint(&mut rest) {
            Ok(value) => Ok(Some(value)),
            Err(_) if short => Ok(None),
            Err(e) => Err(Malformed::not(e)),
        };
        let (length, delimited) = match wire_type {
            WireType::LengthDelimited => match varint()? {
                Some(length) => (length, true),
                None => return Ok(None),
            },
            WireType::Varint => match varint()? {
                Some(_) => (0, false),
                None => return Ok(None),
            },
            WireType::SixtyFourBit => (8, false),
            WireType::ThirtyTwoBit => (4, false),
            _ => return Err(Malformed::not("a group")),
        };
        let header = if matches!(wire_type, WireType::SixtyFourBit | WireType::ThirtyTwoBit) { key } else { bytes.len() - rest.len() };
        Ok(Some(Field { tag, header, length, delimited }))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::model::object::ObjectMeta;
    use crate::model::pod::Pod;

    #[derive(Clone, PartialEq, Message)]
    struct PodList {
        #[prost(message, required, tag = "1")]
        metadata: ListMeta,
        #[prost(message, repeated, tag = "2")]
        items: Vec<Pod>,
    }

    #[derive(Clone, PartialEq, Message)]
    struct TypeMeta {
        #[prost(string, tag = "1")]
        api_version: String,
        #[prost(string, tag = "2")]
        kind: String,
    }

    #[derive(Clone, PartialEq, Message)]
    struct Envelope {
        #[prost(message, required, tag = "1")]
        type_meta: TypeMeta,
        #[prost(bytes = "vec", tag = "2")]
        raw: Vec<u8>,
        #[prost(string, tag = "3")]
        content_encoding: String,
        #[prost(string, tag = "4")]
        content_type: String,
    }

    fn envelope(raw: Vec<u8>) -> Vec<u8> {
        let type_meta = TypeMeta { api_version: "v1".into(), kind: "PodList".into() };
        let unknown = Envelope { type_meta, raw, content_encoding: String::new(), content_type: "x".into() };
        [MAGIC, &unknown.encode_to_vec()].concat()
    }

    fn pod(name: &str) -> Pod {
        Pod { metadata: ObjectMeta { name: name.into(), ..ObjectMeta::default() }, ..Pod::default() }
    }

    fn read(body: &[u8], step: usize) -> Result<(Vec<Pod>, ListMeta), Malformed> {
        let mut items = Items::default();
        let mut pods = Vec::new();
        for chunk in body.chunks(step) {
            items.feed(chunk, &mut |bytes: &[u8]| {
                pods.push(Pod::decode(bytes).map_err(Malformed::not)?);
                Ok::<(), Malformed>(())
            })?;
        }
        Ok((pods, items.finish()?))
    }

    #[test]
    fn a_list_is_the_same_in_pieces_of_any_size() {
        let metadata = ListMeta { resource_version: "7".into(), r#continue: "next".into(), remaining_item_count: Some(3) };
        let list = PodList { metadata: metadata.clone(), items: vec![pod("a"), pod(&"b".repeat(300)), pod("c")] };
        // Unknown fields of every wire type, before and after the items.
        let mut raw = vec![0x78, 0x96, 0x01, 0x79, 1, 2, 3, 4, 5, 6, 7, 8, 0x7d, 1, 2, 3, 4];
        raw.extend(list.encode_to_vec());
        raw.extend([0x7a, 3, 1, 2, 3]);
        let body = envelope(raw);
        for step in 1..body.len() + 1 {
            assert_eq!(read(&body, step), Ok((list.items.clone(), metadata.clone())), "{step}");
        }
    }

    #[test]
    fn an_empty_list() {
        assert_eq!(read(&envelope(PodList::default().encode_to_vec()), 3), Ok((vec![], ListMeta::default())));
    }

    #[test]
    fn a_list_that_breaks_off_is_no_list() {
        let body = envelope(PodList { metadata: ListMeta::default(), items: vec![pod("a"), pod("b")] }.encode_to_vec());
        // The envelope's own trailing fields carry nothing: without them the list is whole.
        let trailer = "x".len() + 2 + 2;
        for end in 0..body.len() - trailer {
            assert!(read(&body[..end], 7).is_err(), "{end}");
        }
    }

    #[test]
    fn what_is_no_list_is_refused() {
        // Among them a length of 2^64 - 1, and a list that is a number.
        let longest = b"k8s\0\x12\x08\xfa\xff\x52\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x08\x1f\x83\x08";
        let bodies = [
            &b"<html>"[..],
            b"{\"kind\":\"PodList\"}",
            b"k8s\0\x12\x03\x12\xff\xff\xff\xff\xff",
            b"k8s\0\x13\x14",
            longest,
            b"k8s\0\x10\x01",
        ];
        for body in bodies {
            assert!(read(body, 4).is_err(), "{body:?}");
        }
    }

    #[test]
    fn an_object() {
        assert_eq!(object::<Pod>(&envelope(pod("a").encode_to_vec())), Ok(pod("a")));
        assert!(object::<Pod>(b"<html>").is_err());
    }
}
