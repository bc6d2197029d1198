//! What every API object has: metadata, owners, labels.
//!
//! Upstream: `k8s.io/apimachinery/pkg/apis/meta/v1` (v0.37.2).

use std::collections::BTreeMap;

use super::shared::Shared;
use super::time::Time;
use super::wire::wire;

pub use super::labels::Labels;

/// Annotations, node selectors and the like.
pub type StringMap = BTreeMap<String, String>;

wire! {
    /// `ObjectMeta`, without managed fields. Annotations are held only of the kinds that need them
    /// (see `Snapshot`), for they may carry tokens.
    pub struct ObjectMeta {
        pub name: String = [string] 1,
        pub namespace: String = [string] 3,
        pub uid: String = [string] 5,
        /// Which of two copies of an object is the newer; emptied once that is known.
        pub resource_version: String = [string] 6,
        pub generation: i64 = [int64] 7,
        pub creation_timestamp: Option<Time> = [message, optional] 8,
        pub deletion_timestamp: Option<Time> = [message, optional] 9,
        pub deletion_grace_period_seconds: Option<i64> = [int64, optional] 10,
        pub labels: Shared<Labels> = [message, repeated] 11,
        pub annotations: StringMap = [btree_map = "string, string"] 12,
        pub owner_references: Shared<Vec<OwnerReference>> = [message, repeated] 13,
        pub finalizers: Vec<String> = [string, repeated] 14,
    }

    /// `OwnerReference`.
    pub struct OwnerReference {
        pub api_version: String = [string] 5,
        pub kind: String = [string] 1,
        pub name: String = [string] 3,
        pub uid: String = [string] 4,
        pub controller: Option<bool> = [bool, optional] 6,
    }

    /// `LabelSelector`: empty selects everything; absent selects nothing.
    pub struct LabelSelector {
        pub match_labels: StringMap = [btree_map = "string, string"] 1,
        pub match_expressions: Vec<LabelSelectorRequirement> = [message, repeated] 2,
    }

    /// `LabelSelectorRequirement`.
    pub struct LabelSelectorRequirement {
        pub key: String = [string] 1,
        pub operator: String = [string] 2,
        pub values: Vec<String> = [string, repeated] 3,
    }

    /// `LocalObjectReference`.
    pub struct LocalObjectReference {
        pub name: String = [string] 1,
    }

    /// `ObjectReference`.
    pub struct ObjectReference {
        pub kind: String = [string] 1,
        pub namespace: String = [string] 2,
        pub name: String = [string] 3,
        pub uid: String = [string] 4,
        pub api_version: String = [string] 5,
        pub field_path: String = [string] 7,
    }
}

impl ObjectMeta {
    /// The owner with `controller: true`, if there is one.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().find(|o| o.controller == Some(true))
    }

    /// `namespace/name`, or the name alone of a cluster-wide object.
    pub fn full_name(&self) -> String {
        if self.namespace.is_empty() { self.name.clone() } else { format!("{}/{}", self.namespace, self.name) }
    }

    /// True once the object is being deleted.
    pub fn is_terminating(&self) -> bool {
        self.deletion_timestamp.is_some()
    }
}

/// An API object with metadata.
pub trait Object {
    /// The kind's name, as `kind:` spells it.
    const KIND: &'static str;

    /// The object's metadata.
    fn meta(&self) -> &ObjectMeta;

    /// The object's metadata, to fill in.
    fn meta_mut(&mut self) -> &mut ObjectMeta;
}

/// Implements [`Object`] for types with a `metadata` field named as their kind.
macro_rules! objects {
    ($($name:ident),* $(,)?) => {$(
        impl crate::model::object::Object for $name {
            const KIND: &'static str = stringify!($name);
            fn meta(&self) -> &crate::model::object::ObjectMeta { &self.metadata }
            fn meta_mut(&mut self) -> &mut crate::model::object::ObjectMeta { &mut self.metadata }
        }
    )*};
}
pub(crate) use objects;
