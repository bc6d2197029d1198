//! One declaration for both encodings of the Kubernetes API.
//!
//! A type declared with [`wire!`] reads JSON and YAML (camel case, `null` as absent, unknown
//! fields skipped) and the API server's protobuf (the tags of upstream's `generated.proto`,
//! unknown fields skipped). Only the fields that an answer needs are declared: what is not
//! declared is never held, printed or saved.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads `null` as the type's default: Go writes nil slices, maps and times so.
pub fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// True for a field that need not be written: reading it back gives the same value.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Declares API types: each field as `name: Type = [prost kind] tag`.
macro_rules! wire {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$fmeta:meta])* pub $field:ident : $ty:ty = [$($kind:tt)*] $tag:tt ),* $(,)?
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, PartialEq, ::prost::Message, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name {
            $(
                $(#[$fmeta])*
                #[prost($($kind)*, tag = $tag)]
                #[serde(
                    deserialize_with = "crate::model::wire::null_as_default",
                    skip_serializing_if = "crate::model::wire::is_default"
                )]
                pub $field: $ty,
            )*
        }
    )*};
}

/// A type one of whose fields is inlined in JSON but nested in protobuf.
///
/// Serde's `flatten` would read the whole object into memory first; this hands each key to the
/// type that knows it while reading.
pub trait Inlining: Default {
    /// The inlined type.
    type Inner: DeserializeOwned;

    /// The place of the own, not inlined, field with this JSON name.
    fn own(key: &str) -> Option<usize>;

    /// Reads the value of the own field at this place.
    ///
    /// # Errors
    /// The value is not of the field's type.
    fn read_own<'de, A: MapAccess<'de>>(&mut self, place: usize, map: &mut A) -> Result<(), A::Error>;

    /// The inlined field.
    fn inner_mut(&mut self) -> &mut Self::Inner;
}

/// Reads a type with an inlined field.
///
/// # Errors
/// The deserializer's.
pub fn read_inlining<'de, T: Inlining, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Outer<T>(PhantomData<T>);

    impl<'de, T: Inlining> Visitor<'de> for Outer<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            let mut outer = T::default();
            let inner = T::Inner::deserialize(MapAccessDeserializer::new(Rest { map, outer: &mut outer }))?;
            *outer.inner_mut() = inner;
            Ok(outer)
        }
    }
    deserializer.deserialize_map(Outer(PhantomData))
}

/// A map without the fields of `outer`, which it reads on the way.
struct Rest<'a, A, T> {
    map: A,
    outer: &'a mut T,
}

impl<'de, A: MapAccess<'de>, T: Inlining> MapAccess<'de> for Rest<'_, A, T> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, mut seed: K) -> Result<Option<K::Value>, A::Error> {
        loop {
            match self.map.next_key_seed(Key::<K, T>(seed, PhantomData))? {
                None => return Ok(None),
                Some(Whose::Inner(key)) => return Ok(Some(key)),
                Some(Whose::Own(place, unused)) => {
                    self.outer.read_own(place, &mut self.map)?;
                    seed = unused;
                }
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

enum Whose<K, V> {
    Own(usize, K),
    Inner(V),
}

struct Key<K, T>(K, PhantomData<T>);

impl<'de, K: DeserializeSeed<'de>, T: Inlining> DeserializeSeed<'de> for Key<K, T> {
    type Value = Whose<K, K::Value>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de, K: DeserializeSeed<'de>, T: Inlining> Visitor<'de> for Key<K, T> {
    type Value = Whose<K, K::Value>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }
    fn visit_str<E: de::Error>(self, key: &str) -> Result<Self::Value, E> {
        match T::own(key) {
            Some(place) => Ok(Whose::Own(place, self.0)),
            None => self.0.deserialize(key.into_deserializer()).map(Whose::Inner),
        }
    }
}

/// A value of which `null` is the default.
pub struct Nullable<T>(pub T);

impl<'de, T: Default + Deserialize<'de>> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        null_as_default(deserializer).map(Nullable)
    }
}

/// True if `camel` is the JSON name of the Rust field `snake`.
pub fn is_json_name(snake: &str, camel: &str) -> bool {
    let mut camel = camel.chars();
    let mut upper = false;
    for c in snake.chars() {
        if c == '_' {
            upper = true;
        } else if camel.next() != Some(if std::mem::take(&mut upper) { c.to_ascii_uppercase() } else { c }) {
            return false;
        }
    }
    camel.next().is_none()
}

/// As [`wire!`], for a type one of whose fields is inlined in JSON but nested in protobuf.
macro_rules! wire_inline {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident {
            inline pub $inline:ident : $ity:ty = $itag:tt,
            $( $(#[$fmeta:meta])* pub $field:ident : $ty:ty = [$($kind:tt)*] $tag:tt ),* $(,)?
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, PartialEq, ::prost::Message, ::serde::Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            #[prost(message, required, tag = $itag)]
            #[serde(flatten)]
            pub $inline: $ity,
            $(
                $(#[$fmeta])*
                #[prost($($kind)*, tag = $tag)]
                #[serde(skip_serializing_if = "crate::model::wire::is_default")]
                pub $field: $ty,
            )*
        }

        impl crate::model::wire::Inlining for $name {
            type Inner = $ity;

            fn own(key: &str) -> Option<usize> {
                [$( stringify!($field) ),*].iter().position(|name| crate::model::wire::is_json_name(name, key))
            }

            fn read_own<'de, A: ::serde::de::MapAccess<'de>>(&mut self, place: usize, map: &mut A) -> Result<(), A::Error> {
                let mut i = 0;
                $(
                    if i == place {
                        self.$field = map.next_value::<crate::model::wire::Nullable<$ty>>()?.0;
                        return Ok(());
                    }
                    i += 1;
                )*
                let _ = i;
                Ok(())
            }

            fn inner_mut(&mut self) -> &mut $ity {
                &mut self.$inline
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::model::wire::read_inlining(deserializer)
            }
        }
    )*};
}
pub(crate) use {wire, wire_inline};

#[cfg(test)]
mod tests {
    use super::is_json_name;
    use crate::model::pod::Probe;
    use crate::model::volume::{PersistentVolumeSpec, Volume};

    #[test]
    fn names_are_camel_case() {
        for (snake, camel, want) in [
            ("name", "name", true),
            ("initial_delay_seconds", "initialDelaySeconds", true),
            ("initial_delay_seconds", "initialDelaySecond", false),
            ("initial_delay_seconds", "initial_delay_seconds", false),
            ("name", "names", false),
            ("name", "nam", false),
        ] {
            assert_eq!(is_json_name(snake, camel), want, "{snake} {camel}");
        }
    }

    #[test]
    fn inlined_fields_round_trip_in_any_order() {
        let text = r#"{"hostPath":{"path":"/a"},"x":{"y":[1]},"name":"v","secret":null}"#;
        let volume: Volume = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&volume).unwrap(), r#"{"hostPath":{"path":"/a"},"name":"v"}"#);
        let probe: Probe = serde_json::from_str(r#"{"periodSeconds":5,"tcpSocket":{"port":"web"},"failureThreshold":null}"#).unwrap();
        assert_eq!(serde_json::to_string(&probe).unwrap(), r#"{"tcpSocket":{"port":"web"},"periodSeconds":5}"#);
        let spec: PersistentVolumeSpec = serde_json::from_str(r#"{"storageClassName":"s","csi":{"driver":"d"}}"#).unwrap();
        assert_eq!((spec.storage_class_name.as_str(), spec.source.csi.map(|c| c.driver).as_deref()), ("s", Some("d")));
    }
}
