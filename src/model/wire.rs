//! One declaration for both encodings of the Kubernetes API.
//!
//! A type declared with [`wire!`] reads JSON and YAML (camel case, `null` as absent, unknown
//! fields skipped) and the API server's protobuf (the tags of upstream's `generated.proto`,
//! unknown fields skipped). Only the fields that an answer needs are declared: what is not
//! declared is never held, printed or saved.

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
        #[derive(Clone, PartialEq, ::prost::Message, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name {
            #[prost(message, required, tag = $itag)]
            #[serde(flatten)]
            pub $inline: $ity,
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
pub(crate) use {wire, wire_inline};
