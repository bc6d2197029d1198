//! Exact resource quantities.
//!
//! Upstream: `k8s.io/apimachinery/pkg/api/resource` `ParseQuantity`, `Quantity.Value`,
//! `Quantity.MilliValue`, `Quantity.CanonicalizeBytes` (v0.37.2). A quantity is kept as a whole
//! number of nano units, the finest that the API keeps, so that sums and comparisons are exact.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use prost::DecodeError;
use prost::bytes::{Buf, BufMut};
use prost::encoding::{DecodeContext, WireType, skip_field, string};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const NANOS: i128 = 1_000_000_000;
/// Upstream caps binary quantities here (2^63 - 1 units).
const MAX_BINARY: i128 = (i64::MAX as i128) * NANOS;

/// How a quantity is spelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// `500m`, `2`, `3k`, `1G`.
    #[default]
    DecimalSi,
    /// `64Mi`, `2Gi`.
    BinarySi,
    /// `1e3`.
    DecimalExponent,
}

/// A resource quantity: an exact amount with the spelling family it was written in.
///
/// Equality and order look at the amount alone: `1Gi` equals `1024Mi`.
#[derive(Clone, Copy, Default)]
pub struct Quantity {
    nanos: i128,
    format: Format,
}

/// The text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a quantity (such as 500m, 2, 64Mi or 1Gi)")]
pub struct InvalidQuantity(pub String);

impl Quantity {
    /// A whole number of units.
    pub fn units(value: i64, format: Format) -> Self {
        Quantity { nanos: i128::from(value) * NANOS, format }
    }

    /// A whole number of thousandths, as CPU is counted.
    pub fn millis(value: i64) -> Self {
        Quantity { nanos: i128::from(value) * (NANOS / 1000), format: Format::DecimalSi }
    }

    /// The amount in units (bytes, devices), rounded away from zero.
    pub fn value(&self) -> i64 {
        round_away(self.nanos, NANOS)
    }

    /// The amount in thousandths (millicores), rounded away from zero.
    pub fn milli_value(&self) -> i64 {
        round_away(self.nanos, NANOS / 1000)
    }

    /// True for an amount of exactly zero.
    pub fn is_zero(&self) -> bool {
        self.nanos == 0
    }

    /// The spelling family.
    pub fn format(&self) -> Format {
        self.format
    }

    /// This amount and another; a zero takes over the other's spelling, as upstream's `Add`.
    #[must_use]
    pub fn plus(self, other: Quantity) -> Quantity {
        let format = if self.is_zero() { other.format } else { self.format };
        Quantity { nanos: self.nanos.saturating_add(other.nanos), format }
    }

    /// This amount less another; a zero takes over the other's spelling, as upstream's `Sub`.
    #[must_use]
    pub fn minus(self, other: Quantity) -> Quantity {
        let format = if self.is_zero() { other.format } else { self.format };
        Quantity { nanos: self.nanos.saturating_sub(other.nanos), format }
    }

    /// The same amount, rounded away from zero to thousandths: what the API server stores for CPU.
    #[must_use]
    pub fn rounded_to_milli(self) -> Quantity {
        Quantity { nanos: i128::from(self.milli_value()) * (NANOS / 1000), format: self.format }
    }
}

fn round_away(nanos: i128, unit: i128) -> i64 {
    let (whole, rest) = (nanos / unit, nanos % unit);
    let rounded = if rest == 0 { whole } else { whole + rest.signum() };
    rounded.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// The suffix's power and family; `None` if there is no such suffix.
fn suffix(text: &str) -> Option<(Base, Format)> {
    use Format::{BinarySi, DecimalExponent, DecimalSi};
    Some(match text {
        "" => (Base::Ten(0), DecimalSi),
        "n" => (Base::Ten(-9), DecimalSi),
        "u" => (Base::Ten(-6), DecimalSi),
        "m" => (Base::Ten(-3), DecimalSi),
        "k" => (Base::Ten(3), DecimalSi),
        "M" => (Base::Ten(6), DecimalSi),
        "G" => (Base::Ten(9), DecimalSi),
        "T" => (Base::Ten(12), DecimalSi),
        "P" => (Base::Ten(15), DecimalSi),
        "E" => (Base::Ten(18), DecimalSi),
        "Ki" => (Base::Two(10), BinarySi),
        "Mi" => (Base::Two(20), BinarySi),
        "Gi" => (Base::Two(30), BinarySi),
        "Ti" => (Base::Two(40), BinarySi),
        "Pi" => (Base::Two(50), BinarySi),
        "Ei" => (Base::Two(60), BinarySi),
        exponent => {
            let digits = exponent.strip_prefix(['e', 'E'])?;
            (Base::Ten(digits.parse::<i64>().ok()?), DecimalExponent)
        }
    })
}

enum Base {
    Ten(i64),
    Two(u32),
}

impl FromStr for Quantity {
    type Err = InvalidQuantity;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| InvalidQuantity(text.chars().take(80).collect()))
    }
}

fn parse(text: &str) -> Option<Quantity> {
    if text.is_empty() {
        return None;
    }
    let (negative, rest) = match text.as_bytes()[0] {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let digits_end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (whole, rest) = rest.split_at(digits_end);
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(after) => {
            let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
            after.split_at(end)
        }
        None => ("", rest),
    };
    // A sign alone, or "0" with nothing behind it, is zero upstream; other text needs a digit.
    if whole.is_empty() && fraction.is_empty() && !rest.is_empty() {
        return None;
    }
    let (base, mut format) = suffix(rest)?;
    let digits = whole.bytes().chain(fraction.bytes()).map(|b| b - b'0');
    let shift = fraction.len() as i64;
    let nanos = match base {
        Base::Ten(exponent) => scale_ten(digits, exponent.saturating_add(9).saturating_sub(shift)),
        Base::Two(bits) => {
            // At most 2^60 times: read the digits as nano units first, then multiply.
            let unscaled = digits.fold(0i128, |acc, d| acc.saturating_mul(10).saturating_add(d.into()));
            let scaled = unscaled.saturating_mul(1i128 << bits);
            let capped = if shift == 0 { scaled.saturating_mul(NANOS) } else { scale_down(scaled, 9 - shift) };
            capped.min(MAX_BINARY)
        }
    };
    if format == Format::BinarySi && nanos > 0 && nanos < NANOS {
        format = Format::DecimalSi;
    }
    Some(Quantity { nanos: if negative { -nanos } else { nanos }, format })
}

/// `digits × 10^exponent`, rounded up; saturates.
fn scale_ten(digits: impl Iterator<Item = u8> + Clone, exponent: i64) -> i128 {
    if digits.clone().all(|d| d == 0) {
        return 0;
    }
    if exponent >= 0 {
        let value = digits.fold(0i128, |acc, d| acc.saturating_mul(10).saturating_add(d.into()));
        if exponent > 38 {
            return i128::MAX;
        }
        return value.saturating_mul(10i128.saturating_pow(exponent as u32));
    }
    // Digits finer than a nano only decide whether to round up.
    let count = digits.clone().count() as i64;
    let kept = (count + exponent).max(0) as usize;
    let value = digits.clone().take(kept).fold(0i128, |acc, d| acc.saturating_mul(10).saturating_add(d.into()));
    let up = digits.skip(kept).any(|d| d != 0);
    value.saturating_add(i128::from(up))
}

/// `value × 10^exponent`, rounded up; saturates.
fn scale_down(value: i128, exponent: i64) -> i128 {
    if exponent >= 0 {
        return value.saturating_mul(10i128.saturating_pow(exponent.min(38) as u32));
    }
    if exponent < -38 {
        return i128::from(value != 0);
    }
    let divisor = 10i128.pow((-exponent) as u32);
    value / divisor + i128::from(value % divisor != 0)
}

impl fmt::Display for Quantity {
    /// The canonical spelling, as the API server writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0");
        }
        let whole = self.nanos % NANOS == 0;
        let binary = self.format == Format::BinarySi && self.nanos.abs() >= 1024 * NANOS && whole;
        if binary {
            let mut number = self.nanos / NANOS;
            let mut power = 0;
            while number % 1024 == 0 && power < 6 {
                number /= 1024;
                power += 1;
            }
            return write!(f, "{number}{}", ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"][power]);
        }
        let mut number = self.nanos;
        let mut exponent = -9;
        while number % 1000 == 0 && (exponent < 18 || self.format == Format::DecimalExponent) {
            number /= 1000;
            exponent += 3;
        }
        match (self.format, exponent) {
            (_, 0) => write!(f, "{number}"),
            (Format::DecimalExponent, e) => write!(f, "{number}e{e}"),
            (_, e) => write!(f, "{number}{}", ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"][((e + 9) / 3) as usize]),
        }
    }
}

impl fmt::Debug for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Quantity;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a quantity such as 500m or 1Gi")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Quantity, E> {
                text.trim().parse().map_err(E::custom)
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Quantity, E> {
                Ok(Quantity::units(value, Format::DecimalSi))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Quantity, E> {
                self.visit_str(&value.to_string())
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Quantity, E> {
                self.visit_str(&value.to_string())
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// Protobuf form: `message Quantity { optional string string = 1; }`.
impl prost::Message for Quantity {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        string::encode(1, &self.to_string(), buf);
    }

    fn merge_field(&mut self, tag: u32, wire_type: WireType, buf: &mut impl Buf, ctx: DecodeContext) -> Result<(), DecodeError> {
        if tag != 1 {
            return skip_field(wire_type, tag, buf, ctx);
        }
        let mut text = String::new();
        string::merge(wire_type, &mut text, buf, ctx)?;
        // An absent inner text is the zero quantity; the API server sends no malformed ones.
        let parsed = if text.is_empty() { Ok(Quantity::default()) } else { text.parse::<Quantity>() };
        #[allow(deprecated)] // prost offers no other constructor for a value out of its domain
        let quantity = parsed.map_err(|e| DecodeError::new(e.to_string()))?;
        *self = quantity;
        Ok(())
    }

    fn encoded_len(&self) -> usize {
        string::encoded_len(1, &self.to_string())
    }

    fn clear(&mut self) {
        *self = Quantity::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_rounds_and_spells_as_upstream() {
        // text, value, milli value, canonical
        for (text, value, milli, canonical) in [
            ("0", 0, 0, "0"),
            ("100m", 1, 100, "100m"),
            ("499.7m", 1, 500, "499700u"),
            ("0.5", 1, 500, "500m"),
            ("1.5Gi", 1_610_612_736, 1_610_612_736_000, "1536Mi"),
            ("128974848500m", 128_974_849, 128_974_848_500, "128974848500m"),
            ("1e3", 1000, 1_000_000, "1e3"),
            ("1E3", 1000, 1_000_000, "1e3"),
            ("1E", 1_000_000_000_000_000_000, i64::MAX, "1E"),
            ("10Ei", i64::MAX, i64::MAX, "9223372036854775807"),
            ("1024", 1024, 1_024_000, "1024"),
            ("1024Ki", 1_048_576, 1_048_576_000, "1Mi"),
            ("1000Ki", 1_024_000, 1_024_000_000, "1000Ki"),
            ("0.1n", 1, 1, "1n"),
            ("-1.5", -2, -1500, "-1500m"),
            ("0.0001Ki", 1, 103, "102400u"),
            ("1.G", 1_000_000_000, 1_000_000_000_000, "1G"),
            (".5", 1, 500, "500m"),
            ("+2", 2, 2000, "2"),
            ("1500", 1500, 1_500_000, "1500"),
            ("0001", 1, 1000, "1"),
            ("1T", 1_000_000_000_000, 1_000_000_000_000_000, "1T"),
            ("1P", 1_000_000_000_000_000, 1_000_000_000_000_000_000, "1P"),
            ("1Pi", 1_125_899_906_842_624, 1_125_899_906_842_624_000, "1Pi"),
            ("0.0000000001Ki", 1, 1, "103n"),
            ("0.00000000000000000000000000000000000000000000000001Ki", 1, 1, "1n"),
            ("0.0Ki", 0, 0, "0"),
            ("1e-50", 1, 1, "1e-9"),
            ("0e-50", 0, 0, "0"),
        ] {
            let q: Quantity = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!((q.value(), q.milli_value(), q.to_string().as_str()), (value, milli, canonical), "{text}");
        }
    }

    #[test]
    fn refuses_what_upstream_refuses() {
        for text in ["", "abc", "1x", "1 Gi", "1mi", "12e", "1.2.3", "Gi", "--1", "1ee3", "e3", "1Kii", "½"] {
            assert!(text.parse::<Quantity>().is_err(), "{text}");
        }
    }

    #[test]
    fn never_panics_on_long_numbers() {
        for text in
            ["9".repeat(400), format!("0.{}", "9".repeat(400)), format!("{}Ei", "9".repeat(99)), "1e999999".into(), "1e-999999".into()]
        {
            let _ = text.parse::<Quantity>().map(|q| q.plus(q).to_string());
        }
    }

    proptest! {
        #[test]
        fn round_trips(nanos in -(1i128 << 90)..(1i128 << 90), binary: bool) {
            let format = if binary { Format::BinarySi } else { Format::DecimalSi };
            let q = Quantity { nanos, format };
            prop_assume!(!binary || nanos.abs() <= MAX_BINARY);
            prop_assert_eq!(q.to_string().parse::<Quantity>().unwrap(), q);
        }

        #[test]
        fn order_is_that_of_the_amount(a in any::<i64>(), b in any::<i64>()) {
            let (x, y) = (Quantity::millis(a), Quantity::millis(b));
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            prop_assert_eq!(x.milli_value(), a);
        }

        #[test]
        fn value_is_the_ceiling(milli in 0i64..i64::MAX) {
            prop_assert_eq!(Quantity::millis(milli).value(), milli / 1000 + i64::from(milli % 1000 != 0));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,24}") {
            let _ = text.parse::<Quantity>();
        }
    }
}
