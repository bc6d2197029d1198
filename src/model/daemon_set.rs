//! DaemonSets and their revisions. Upstream: `k8s.io/api/apps/v1` (v0.37.2).

use super::int_or_string::IntOrString;
use super::object::{LabelSelector, ObjectMeta, objects};
use super::pod::PodTemplateSpec;
use super::time::Time;
use super::wire::wire;

wire! {
    /// `DaemonSet`.
    pub struct DaemonSet {
        pub metadata: ObjectMeta = [message, required] 1,
        pub spec: DaemonSetSpec = [message, required] 2,
        pub status: DaemonSetStatus = [message, required] 3,
    }

    /// `DaemonSetSpec`.
    pub struct DaemonSetSpec {
        pub selector: Option<LabelSelector> = [message, optional] 1,
        pub template: PodTemplateSpec = [message, required] 2,
        pub update_strategy: DaemonSetUpdateStrategy = [message, required] 3,
        pub min_ready_seconds: i32 = [int32] 4,
        pub revision_history_limit: Option<i32> = [int32, optional] 6,
    }

    /// `DaemonSetUpdateStrategy`.
    pub struct DaemonSetUpdateStrategy {
        pub r#type: String = [string] 1,
        pub rolling_update: Option<RollingUpdateDaemonSet> = [message, optional] 2,
    }

    /// `RollingUpdateDaemonSet`.
    pub struct RollingUpdateDaemonSet {
        pub max_unavailable: Option<IntOrString> = [message, optional] 1,
        pub max_surge: Option<IntOrString> = [message, optional] 2,
    }

    /// `DaemonSetStatus`: the counters as the controller last wrote them.
    pub struct DaemonSetStatus {
        pub current_number_scheduled: i32 = [int32] 1,
        pub number_misscheduled: i32 = [int32] 2,
        pub desired_number_scheduled: i32 = [int32] 3,
        pub number_ready: i32 = [int32] 4,
        pub observed_generation: i64 = [int64] 5,
        pub updated_number_scheduled: i32 = [int32] 6,
        pub number_available: i32 = [int32] 7,
        pub number_unavailable: i32 = [int32] 8,
        pub collision_count: Option<i32> = [int32, optional] 9,
        pub conditions: Vec<DaemonSetCondition> = [message, repeated] 10,
    }

    /// `DaemonSetCondition`.
    pub struct DaemonSetCondition {
        pub r#type: String = [string] 1,
        pub status: String = [string] 2,
        pub last_transition_time: Option<Time> = [message, optional] 3,
        pub reason: String = [string] 4,
        pub message: String = [string] 5,
    }

    /// `ControllerRevision`: a template that the DaemonSet had. Its `data` is read apart (see
    /// `rollout::revision`), reduced to what may be shown.
    pub struct ControllerRevision {
        pub metadata: ObjectMeta = [message, required] 1,
        pub data: RevisionData = [message, required] 2,
        pub revision: i64 = [int64] 3,
    }
}

objects!(DaemonSet, ControllerRevision);

/// The data of a [`ControllerRevision`]: the patch with the pod template.
///
/// Values of environment variables, commands, annotations and of what drivers of volumes are told are blotted out while it is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RevisionData(pub serde_json::Value);

/// Keys whose values may be secret.
const SECRET_KEYS: [&str; 6] = ["command", "args", "annotations", "httpHeaders", "volumeAttributes", "options"];

impl RevisionData {
    /// Takes a raw patch, blotting out what may be secret; equal secrets stay equal, different
    /// ones stay different, by a digest that cannot be turned back for want of its key.
    pub fn from_raw(mut value: serde_json::Value) -> Self {
        blot(&mut value, false);
        RevisionData(value)
    }
}

fn blot(value: &mut serde_json::Value, secret: bool) {
    use serde_json::Value;
    match value {
        Value::Object(map) => {
            let is_env = map.contains_key("name") && map.contains_key("value") && map.len() == 2;
            for (key, inner) in map.iter_mut() {
                blot(inner, secret || SECRET_KEYS.contains(&key.as_str()) || (is_env && key == "value"));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|i| blot(i, secret)),
        Value::String(text) if secret => *text = fingerprint(text),
        _ => {}
    }
}

/// A text that says only whether two hidden values are equal within this process.
fn fingerprint(text: &str) -> String {
    use std::hash::{BuildHasher, RandomState};
    static KEY: std::sync::OnceLock<RandomState> = std::sync::OnceLock::new();
    if text.starts_with("<hidden ") {
        return text.to_string();
    }
    format!("<hidden {:016x}>", KEY.get_or_init(RandomState::new).hash_one(text))
}

impl serde::Serialize for RevisionData {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> serde::Deserialize<'de> for RevisionData {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_json::Value::deserialize(deserializer).map(RevisionData::from_raw)
    }
}

/// Protobuf form: `message RawExtension { optional bytes raw = 1; }` with JSON inside.
impl prost::Message for RevisionData {
    fn encode_raw(&self, buf: &mut impl prost::bytes::BufMut) {
        prost::encoding::bytes::encode(1, &self.0.to_string().into_bytes(), buf);
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: prost::encoding::WireType,
        buf: &mut impl prost::bytes::Buf,
        ctx: prost::encoding::DecodeContext,
    ) -> Result<(), prost::DecodeError> {
        if tag != 1 {
            return prost::encoding::skip_field(wire_type, tag, buf, ctx);
        }
        let mut raw = Vec::new();
        prost::encoding::bytes::merge(wire_type, &mut raw, buf, ctx)?;
        // A revision of a foreign encoding has no readable data; what needs it says so.
        *self = RevisionData::from_raw(serde_json::from_slice(&raw).unwrap_or_default());
        Ok(())
    }

    fn encoded_len(&self) -> usize {
        prost::encoding::bytes::encoded_len(1, &self.0.to_string().into_bytes())
    }

    fn clear(&mut self) {
        *self = RevisionData::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_of_a_revision_are_blotted_out() {
        let container =
            |env: serde_json::Value, args: serde_json::Value| json!({"spec": {"containers": [{"image": "i", "env": [env], "args": args}]}});
        let data = |env: serde_json::Value, args: serde_json::Value| RevisionData::from_raw(container(env, args));
        let secret = || json!({"name": "A", "value": "hunter2"});
        let shown = data(secret(), json!(["--token=hunter2"]));
        let text = serde_json::to_string(&shown).unwrap();
        assert!(!text.contains("hunter2") && text.contains("\"image\":\"i\"") && text.contains("\"name\":\"A\""), "{text}");
        assert_eq!(shown, data(secret(), json!(["--token=hunter2"])));
        assert_ne!(shown, data(json!({"name": "A", "value": "other"}), json!(["--token=hunter2"])));
        assert_ne!(shown, data(secret(), json!(["--token=other"])));
        // What is blotted out is not again.
        assert_eq!(RevisionData::from_raw(shown.0.clone()), shown);
        // An env entry that is taken from elsewhere has nothing to hide; another object's `value` has not, either.
        for (raw, hidden) in [
            (json!({"name": "A", "valueFrom": {"secretKeyRef": {"key": "k"}}}), false),
            (json!({"key": "k", "value": "v", "effect": "e"}), false),
            (json!({"annotations": {"a": "v"}}), true),
            (json!({"httpHeaders": [{"name": "h", "value": "v"}]}), true),
            (json!({"csi": {"volumeAttributes": {"a": "v"}}}), true),
            (json!({"command": ["v"]}), true),
        ] {
            assert_eq!(RevisionData::from_raw(raw.clone()).0 != raw, hidden, "{raw}");
        }
    }

    #[test]
    fn a_revision_is_read_from_protobuf() {
        use prost::Message;
        let data = RevisionData::from_raw(json!({"spec": {"a": 1}}));
        let bytes = data.encode_to_vec();
        assert_eq!(bytes.len(), data.encoded_len());
        assert_eq!(RevisionData::decode(bytes.as_slice()).unwrap(), data);
        // A field that is not known, and what is no JSON.
        for (bytes, want) in [(&b"\x12\x01x"[..], json!(null)), (b"\x0a\x02{x", json!(null)), (b"\x0a\x02{}\x12\x01x", json!({}))] {
            assert_eq!(RevisionData::decode(bytes).unwrap().0, want);
        }
        let mut cleared = data;
        cleared.clear();
        assert_eq!(cleared, RevisionData::default());
    }
}
