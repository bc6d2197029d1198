//! The labels of an object.
//!
//! Upstream: `labels.Set` of `k8s.io/apimachinery/pkg/labels` (v0.37.2).

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use prost::DecodeError;
use prost::bytes::{Buf, BufMut};
use prost::encoding::{DecodeContext, WireType, skip_field, string};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A key and its value. Most nodes have most keys and many values in common: those are held once (see
/// `Slimmer`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The key.
    pub key: Arc<String>,
    /// Its value.
    pub value: Arc<String>,
}

/// Labels by key. A tree of them takes five times the memory, which counts with 5,000 nodes.
#[derive(Clone, Default)]
pub struct Labels(Vec<Label>);

impl Labels {
    /// No labels.
    pub fn new() -> Self {
        Labels::default()
    }

    /// The value of a key. Of a key that was sent twice the last value counts.
    pub fn get(&self, key: &str) -> Option<&String> {
        self.get_key_value(key).map(|(_, value)| value)
    }

    /// The same with the key.
    pub fn get_key_value(&self, key: &str) -> Option<(&String, &String)> {
        self.0.iter().rev().find(|l| *l.key == *key).map(|l| (&*l.key, &*l.value))
    }

    /// True if there is a value.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Every key with its value, in the order of the keys.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&String, &String)> {
        self.0.iter().map(|l| (&*l.key, &*l.value))
    }

    /// Gives a key this value.
    pub fn insert(&mut self, key: String, value: String) {
        self.extend([(key, value)]);
    }

    /// Takes a key away.
    pub fn remove(&mut self, key: &str) {
        self.0.retain(|l| *l.key != *key);
    }

    /// Puts what was read in order: by key, each once, in no more memory than it needs.
    pub fn settle(&mut self) {
        if !self.0.is_sorted_by(|a, b| a.key < b.key) {
            // Of equal keys the last one stays.
            self.0.reverse();
            self.0.sort_by(|a, b| a.key.cmp(&b.key));
            self.0.dedup_by(|a, b| a.key == b.key);
        }
        self.0.shrink_to_fit();
    }
}

/// For what reads and shares them one by one; the rest sees keys and values.
impl Deref for Labels {
    type Target = Vec<Label>;
    fn deref(&self) -> &Vec<Label> {
        &self.0
    }
}

impl DerefMut for Labels {
    fn deref_mut(&mut self) -> &mut Vec<Label> {
        &mut self.0
    }
}

impl<'a> IntoIterator for &'a Labels {
    type Item = &'a Label;
    type IntoIter = std::slice::Iter<'a, Label>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl From<(String, String)> for Label {
    fn from((key, value): (String, String)) -> Self {
        Label { key: Arc::new(key), value: Arc::new(value) }
    }
}

impl<L: Into<Label>> Extend<L> for Labels {
    fn extend<I: IntoIterator<Item = L>>(&mut self, labels: I) {
        self.0.extend(labels.into_iter().map(Into::into));
        self.settle();
    }
}

impl<L: Into<Label>> FromIterator<L> for Labels {
    fn from_iter<I: IntoIterator<Item = L>>(labels: I) -> Self {
        let mut all = Labels::new();
        all.extend(labels);
        all
    }
}

impl<const N: usize> From<[(String, String); N]> for Labels {
    fn from(labels: [(String, String); N]) -> Self {
        labels.into_iter().collect()
    }
}

impl PartialEq for Labels {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Hash for Labels {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.iter().for_each(|label| label.hash(state));
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for Labels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Labels;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Labels, A::Error> {
                let mut labels = Labels::new();
                while let Some(label) = map.next_entry::<String, String>()? {
                    labels.0.push(label.into());
                }
                labels.settle();
                Ok(labels)
            }
        }
        deserializer.deserialize_map(Map)
    }
}

/// An entry of a map is a message with key and value.
impl prost::Message for Label {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        string::encode(1, &self.key, buf);
        string::encode(2, &self.value, buf);
    }
    fn merge_field(&mut self, tag: u32, wire_type: WireType, buf: &mut impl Buf, ctx: DecodeContext) -> Result<(), DecodeError> {
        match tag {
            1 => string::merge(wire_type, Arc::make_mut(&mut self.key), buf, ctx),
            2 => string::merge(wire_type, Arc::make_mut(&mut self.value), buf, ctx),
            _ => skip_field(wire_type, tag, buf, ctx),
        }
    }
    fn encoded_len(&self) -> usize {
        string::encoded_len(1, &self.key) + string::encoded_len(2, &self.value)
    }
    fn clear(&mut self) {
        *self = Label::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::object::ObjectMeta;
    use prost::Message;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    }

    #[test]
    fn they_are_a_map_in_the_order_of_the_keys() {
        let mut all = labels(&[("b", "2"), ("a", "1"), ("b", "3")]);
        assert_eq!(format!("{all:?}"), r#"{"a": "1", "b": "3"}"#);
        assert_eq!((all.get("b").map(String::as_str), all.contains_key("c")), (Some("3"), false));
        all.insert("a".into(), "4".into());
        all.remove("b");
        assert_eq!(all, labels(&[("a", "4")]));
        let text = r#"{"b":"1","a":"2","b":"3"}"#;
        let read: Labels = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), r#"{"a":"2","b":"3"}"#);
    }

    #[test]
    fn protobuf_reads_what_it_writes_and_the_last_of_equal_keys_counts() {
        let meta = |pairs: &[(&str, &str)]| ObjectMeta { labels: labels(pairs).into(), ..ObjectMeta::default() };
        let mut bytes = meta(&[("zone", "a"), ("host", "n")]).encode_to_vec();
        bytes.extend(meta(&[("zone", "b")]).encode_to_vec());
        let mut read = ObjectMeta::decode(bytes.as_slice()).unwrap();
        assert_eq!(read.labels.get("zone").map(String::as_str), Some("b"));
        read.labels.settle();
        assert_eq!(read, meta(&[("host", "n"), ("zone", "b")]));
    }
}
