//! A number or a percentage, as in `maxUnavailable`.

use serde::{Deserialize, Serialize};

/// `intstr.IntOrString` of `k8s.io/apimachinery/pkg/util/intstr`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum IntOrString {
    /// A plain number.
    Int(i32),
    /// Text, usually a percentage.
    String(String),
}

impl Default for IntOrString {
    fn default() -> Self {
        IntOrString::Int(0)
    }
}

impl IntOrString {
    /// The number, or the percentage of `total` (rounded up or down).
    ///
    /// Upstream: `GetScaledValueFromIntOrPercent`.
    ///
    /// # Errors
    /// `None` if the text is not a whole percentage.
    pub fn scaled(&self, total: i64, round_up: bool) -> Option<i64> {
        match self {
            IntOrString::Int(n) => Some(i64::from(*n)),
            IntOrString::String(text) => {
                let percent: i64 = text.strip_suffix('%')?.parse().ok()?;
                let hundredths = percent.saturating_mul(total);
                Some(if round_up {
                    hundredths.div_euclid(100) + i64::from(hundredths.rem_euclid(100) != 0)
                } else {
                    hundredths.div_euclid(100)
                })
            }
        }
    }
}

impl std::fmt::Display for IntOrString {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            IntOrString::Int(n) => write!(f, "{n}"),
            IntOrString::String(s) => f.write_str(s),
        }
    }
}

#[derive(Clone, PartialEq, prost::Message)]
struct Wire {
    #[prost(int64, tag = 1)]
    kind: i64,
    #[prost(int32, tag = 2)]
    int: i32,
    #[prost(string, tag = 3)]
    text: String,
}

impl From<&IntOrString> for Wire {
    fn from(value: &IntOrString) -> Self {
        match value {
            IntOrString::Int(int) => Wire { kind: 0, int: *int, text: String::new() },
            IntOrString::String(text) => Wire { kind: 1, int: 0, text: text.clone() },
        }
    }
}

/// Protobuf form: `message IntOrString { int64 type = 1; int32 intVal = 2; string strVal = 3; }`.
impl prost::Message for IntOrString {
    fn encode_raw(&self, buf: &mut impl prost::bytes::BufMut) {
        Wire::from(self).encode_raw(buf);
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: prost::encoding::WireType,
        buf: &mut impl prost::bytes::Buf,
        ctx: prost::encoding::DecodeContext,
    ) -> Result<(), prost::DecodeError> {
        let mut wire = Wire::from(&*self);
        wire.merge_field(tag, wire_type, buf, ctx)?;
        // The text comes last on the wire, so a number is only replaced by a text that is there.
        *self = if wire.kind == 1 || !wire.text.is_empty() { IntOrString::String(wire.text) } else { IntOrString::Int(wire.int) };
        Ok(())
    }

    fn encoded_len(&self) -> usize {
        Wire::from(self).encoded_len()
    }

    fn clear(&mut self) {
        *self = IntOrString::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_as_upstream() {
        for (text, total, up, want) in [
            ("10%", 15, true, Some(2)),
            ("10%", 15, false, Some(1)),
            ("0%", 9, true, Some(0)),
            ("100%", 3, true, Some(3)),
            ("x", 3, true, None),
            ("1.5%", 3, true, None),
        ] {
            assert_eq!(IntOrString::String(text.into()).scaled(total, up), want, "{text}");
        }
        assert_eq!(IntOrString::Int(3).scaled(100, true), Some(3));
    }

    #[test]
    fn both_forms_are_read_from_protobuf() {
        use prost::Message;
        for value in [IntOrString::Int(0), IntOrString::Int(-7), IntOrString::String("30%".into()), IntOrString::String(String::new())] {
            let bytes = value.encode_to_vec();
            assert_eq!(bytes.len(), value.encoded_len());
            assert_eq!(IntOrString::decode(bytes.as_slice()).unwrap(), value);
        }
        // Field by field as the API server writes them: type, number, text.
        for (bytes, want) in [
            (&b"\x08\x00\x10\x05\x1a\x00"[..], IntOrString::Int(5)),
            (b"\x08\x01\x10\x00\x1a\x0225", IntOrString::String("25".into())),
            (b"", IntOrString::Int(0)),
        ] {
            assert_eq!(IntOrString::decode(bytes).unwrap(), want);
        }
        let mut cleared = IntOrString::Int(5);
        cleared.clear();
        assert_eq!(cleared, IntOrString::default());
    }
}
