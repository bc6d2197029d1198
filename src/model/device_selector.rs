//! Selectors of devices, as far as they can be judged exactly.
//!
//! Upstream: `k8s.io/dynamic-resource-allocation/cel` (v0.37.2), an environment of cel-go. Here a
//! part of the language is read: comparisons, `in`, `has`, `&&`, `||`, `!`, `cel.bind`, optional
//! attributes with `orValue`, string tests, and the methods of quantities and versions. Whatever
//! else an expression has makes it [`Unreadable`]: it is never guessed at.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::device_selector_parser::parse;
use super::quantity::Quantity;
use super::resource_claim::{Device, DeviceAttribute};

/// The expression has something that is not judged here; says what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub String);

/// A selector that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Selector(Expr);

/// What a selector says of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It matches, or not.
    Match(bool),
    /// Upstream's evaluation ends with this error.
    Error(String),
    /// It cannot be told here.
    Unjudged(String),
}

/// A device attribute or capacity by domain and name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub capacity: bool,
    pub domain: String,
    pub id: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Value(Value),
    Driver,
    AllowMultiple,
    At(Place),
    AtOr(Place, Box<Expr>),
    Has(Place),
    HasDomain(bool, String),
    Not(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Compare(Operator, Box<Expr>, Box<Expr>),
    In(Box<Expr>, Vec<Expr>),
    Method(Method, Box<Expr>, Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Method {
    StartsWith,
    EndsWith,
    Contains,
    CompareTo,
    IsLessThan,
    IsGreaterThan,
}

/// A value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Bool(bool),
    Int(i64),
    Text(String),
    Quantity(Quantity),
    Version(Version),
}

/// What stops an evaluation.
#[derive(Clone, Debug, PartialEq)]
enum Stop {
    Error(String),
    Unjudged(String),
}

/// A version as semver 2.0.0 orders it; what is behind `+` does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    numbers: [u64; 3],
    pre: Vec<String>,
}

impl Selector {
    /// Reads an expression.
    pub fn read(expression: &str) -> Result<Selector, Unreadable> {
        parse(expression).map(Selector)
    }

    /// Judges a device of this driver.
    pub fn judge(&self, driver: &str, device: &Device) -> Answer {
        let subject = Subject { driver, device };
        match subject.value(&self.0) {
            Ok(Value::Bool(answer)) => Answer::Match(answer),
            Ok(_) => Answer::Unjudged("its result is not a boolean".into()),
            Err(Stop::Error(error)) => Answer::Error(error),
            Err(Stop::Unjudged(why)) => Answer::Unjudged(why),
        }
    }
}

/// The attribute of this full or short name; a name without a domain is the driver's.
pub fn lookup<'d, T>(map: &'d BTreeMap<String, T>, driver: &str, domain: &str, id: &str) -> Option<&'d T> {
    map.get(&format!("{domain}/{id}")).or_else(|| if domain == driver { map.get(id) } else { None })
}

struct Subject<'d> {
    driver: &'d str,
    device: &'d Device,
}

impl Subject<'_> {
    fn value(&self, expr: &Expr) -> Result<Value, Stop> {
        Ok(match expr {
            Expr::Value(value) => value.clone(),
            Expr::Driver => Value::Text(self.driver.to_string()),
            Expr::AllowMultiple => Value::Bool(self.device.allow_multiple_allocations.unwrap_or(false)),
            Expr::At(place) => match self.find(place)? {
                Some(value) => value,
                None => return Err(Stop::Error(format!("no such key: {}", place.id))),
            },
            Expr::AtOr(place, other) => match self.find(place)? {
                Some(value) => value,
                None => self.value(other)?,
            },
            Expr::Has(place) => Value::Bool(self.has(place)),
            Expr::HasDomain(capacity, domain) => Value::Bool(self.has_domain(*capacity, domain)),
            Expr::Not(inner) => Value::Bool(!self.truth(inner)?),
            Expr::And(a, b) => Value::Bool(self.junction(a, b, false)?),
            Expr::Or(a, b) => Value::Bool(self.junction(a, b, true)?),
            Expr::Compare(operator, a, b) => Value::Bool(compare(*operator, &self.value(a)?, &self.value(b)?)?),
            Expr::In(item, list) => {
                let item = self.value(item)?;
                let mut found = false;
                for other in list {
                    found = found || equal(&item, &self.value(other)?)?;
                }
                Value::Bool(found)
            }
            Expr::Method(method, target, argument) => call(*method, &self.value(target)?, &self.value(argument)?)?,
        })
    }

    fn truth(&self, expr: &Expr) -> Result<bool, Stop> {
        match self.value(expr)? {
            Value::Bool(truth) => Ok(truth),
            _ => Err(Stop::Unjudged("a part that is not a boolean is used as one".into())),
        }
    }

    /// `&&` and `||`: the decisive value wins over an error on the other side.
    fn junction(&self, a: &Expr, b: &Expr, decisive: bool) -> Result<bool, Stop> {
        let a = self.truth(a);
        if a == Ok(decisive) {
            return Ok(decisive);
        }
        let b = self.truth(b);
        match (a, b) {
            (_, Ok(b)) if b == decisive => Ok(decisive),
            (Err(Stop::Unjudged(why)), _) | (_, Err(Stop::Unjudged(why))) => Err(Stop::Unjudged(why)),
            (Err(stop), _) | (_, Err(stop)) => Err(stop),
            (Ok(_), Ok(_)) => Ok(!decisive),
        }
    }

    fn find(&self, place: &Place) -> Result<Option<Value>, Stop> {
        if place.capacity {
            let found = lookup(&self.device.capacity, self.driver, &place.domain, &place.id);
            return Ok(found.map(|c| Value::Quantity(c.value)));
        }
        match lookup(&self.device.attributes, self.driver, &place.domain, &place.id) {
            Some(attribute) => value_of(attribute).map(Some),
            None => Ok(None),
        }
    }

    fn has(&self, place: &Place) -> bool {
        if place.capacity {
            lookup(&self.device.capacity, self.driver, &place.domain, &place.id).is_some()
        } else {
            lookup(&self.device.attributes, self.driver, &place.domain, &place.id).is_some()
        }
    }

    fn has_domain(&self, capacity: bool, domain: &str) -> bool {
        let of = |name: &String| name.split_once('/').map_or(self.driver, |(domain, _)| domain) == domain;
        if capacity { self.device.capacity.keys().any(of) } else { self.device.attributes.keys().any(of) }
    }
}

fn value_of(attribute: &DeviceAttribute) -> Result<Value, Stop> {
    match attribute {
        DeviceAttribute { int: Some(int), .. } => Ok(Value::Int(*int)),
        DeviceAttribute { bool: Some(bool), .. } => Ok(Value::Bool(*bool)),
        DeviceAttribute { string: Some(string), .. } => Ok(Value::Text(string.clone())),
        DeviceAttribute { version: Some(version), .. } => match Version::read(version) {
            Some(version) => Ok(Value::Version(version)),
            None => Err(Stop::Unjudged(format!("{version:?} is not a version"))),
        },
        _ => Err(Stop::Unjudged("an attribute has a value of a kind that is not known here".into())),
    }
}

/// Plain values of different types are not equal; quantities and versions equal only their own.
fn equal(a: &Value, b: &Value) -> Result<bool, Stop> {
    use Value::{Bool, Int, Text};
    Ok(match (a, b) {
        (Value::Quantity(a), Value::Quantity(b)) => a == b,
        (Value::Version(a), Value::Version(b)) => a.order(b) == Ordering::Equal,
        (Bool(a), Bool(b)) => a == b,
        (Int(a), Int(b)) => a == b,
        (Text(a), Text(b)) => a == b,
        (Bool(_) | Int(_) | Text(_), Bool(_) | Int(_) | Text(_)) => false,
        _ => return Err(Stop::Unjudged("values of different types are compared".into())),
    })
}

fn compare(operator: Operator, a: &Value, b: &Value) -> Result<bool, Stop> {
    let order = match (operator, a, b) {
        (Operator::Equal, _, _) => return equal(a, b),
        (Operator::NotEqual, _, _) => return equal(a, b).map(|same| !same),
        (_, Value::Int(a), Value::Int(b)) => a.cmp(b),
        (_, Value::Text(a), Value::Text(b)) => a.cmp(b),
        _ => return Err(Stop::Unjudged("values without an order are compared".into())),
    };
    Ok(match operator {
        Operator::Less => order.is_lt(),
        Operator::LessOrEqual => order.is_le(),
        Operator::Greater => order.is_gt(),
        Operator::GreaterOrEqual => order.is_ge(),
        Operator::Equal | Operator::NotEqual => false,
    })
}

fn call(method: Method, target: &Value, argument: &Value) -> Result<Value, Stop> {
    let order = match (target, argument) {
        (Value::Text(text), Value::Text(part)) => {
            return match method {
                Method::StartsWith => Ok(Value::Bool(text.starts_with(part.as_str()))),
                Method::EndsWith => Ok(Value::Bool(text.ends_with(part.as_str()))),
                Method::Contains => Ok(Value::Bool(text.contains(part.as_str()))),
                _ => Err(Stop::Unjudged("a method is called on a text that it is not of".into())),
            };
        }
        (Value::Quantity(a), Value::Quantity(b)) => a.cmp(b),
        (Value::Version(a), Value::Version(b)) => a.order(b),
        _ => return Err(Stop::Unjudged("a method is called on a value that it is not of".into())),
    };
    match method {
        Method::CompareTo => Ok(Value::Int(order as i64)),
        Method::IsLessThan => Ok(Value::Bool(order.is_lt())),
        Method::IsGreaterThan => Ok(Value::Bool(order.is_gt())),
        _ => Err(Stop::Unjudged("a method is called on a value that it is not of".into())),
    }
}

impl Version {
    /// Reads a version in semver's strict form.
    pub(super) fn read(text: &str) -> Option<Version> {
        let ok = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let number = |part: &str| {
            let plain = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) && (part == "0" || !part.starts_with('0'));
            if plain { part.parse::<u64>().ok() } else { None }
        };
        let (text, build) = text.split_once('+').map_or((text, None), |(text, build)| (text, Some(build)));
        if build.is_some_and(|b| !b.split('.').all(ok)) {
            return None;
        }
        let (core, pre) = text.split_once('-').map_or((text, None), |(core, pre)| (core, Some(pre)));
        let [major, minor, patch] = core.split('.').collect::<Vec<_>>()[..] else { return None };
        let pre: Vec<String> = pre.map(|p| p.split('.').map(str::to_string).collect()).unwrap_or_default();
        let leading_zero = |part: &str| part.len() > 1 && part.starts_with('0') && part.bytes().all(|b| b.is_ascii_digit());
        if !pre.iter().all(|p| ok(p) && !leading_zero(p)) {
            return None;
        }
        Some(Version { numbers: [number(major)?, number(minor)?, number(patch)?], pre })
    }

    fn order(&self, other: &Version) -> Ordering {
        let numbers = self.numbers.cmp(&other.numbers);
        let pre = match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let parts = self.pre.iter().zip(&other.pre).map(|(a, b)| match (a.parse::<u64>(), b.parse::<u64>()) {
                    (Ok(a), Ok(b)) => a.cmp(&b),
                    (Ok(_), Err(_)) => Ordering::Less,
                    (Err(_), Ok(_)) => Ordering::Greater,
                    (Err(_), Err(_)) => a.cmp(b),
                });
                parts.into_iter().find(|o| o.is_ne()).unwrap_or_else(|| self.pre.len().cmp(&other.pre.len()))
            }
        };
        numbers.then(pre)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device() -> Device {
        serde_json::from_value(serde_json::json!({
            "name": "gpu-0",
            "attributes": {
                "model": {"string": "A100"}, "index": {"int": 3}, "ecc": {"bool": true}, "driverVersion": {"version": "1.10.0"},
                "other.example.com/rack": {"string": "r7"},
            },
            "capacity": {"memory": {"value": "40Gi"}},
        }))
        .unwrap()
    }

    #[test]
    fn judges_as_cel_does() {
        let yes = Answer::Match(true);
        let no = Answer::Match(false);
        let error = |key: &str| Answer::Error(format!("no such key: {key}"));
        for (expression, want) in [
            ("true", yes.clone()),
            ("device.driver == 'gpu.example.com'", yes.clone()),
            ("device.driver == \"other\"", no.clone()),
            ("device.attributes[\"gpu.example.com\"].model == 'A100'", yes.clone()),
            ("device.attributes['gpu.example.com']['model'] != 'A100'", no.clone()),
            ("device.attributes['other.example.com'].rack.startsWith('r')", yes.clone()),
            // The driver's own attributes are not another domain's.
            ("device.attributes['other.example.com'].model == 'A100'", error("model")),
            ("device.attributes['gpu.example.com'].missing == 'x'", error("missing")),
            // The decisive side wins over an error, on either side.
            ("device.attributes['a'].b == 'x' && device.driver == 'other'", no.clone()),
            ("device.driver == 'gpu.example.com' || device.attributes['a'].b == 'x'", yes.clone()),
            ("device.attributes['a'].b == 'x' || device.driver == 'gpu.example.com'", yes.clone()),
            ("device.attributes['a'].b == 'x' && true", error("b")),
            ("has(device.attributes['gpu.example.com'].model)", yes.clone()),
            ("!has(device.attributes['gpu.example.com'].nope)", yes.clone()),
            ("'model' in device.attributes['gpu.example.com']", yes.clone()),
            ("'a.example.com' in device.attributes", no.clone()),
            ("device.attributes['gpu.example.com'].index >= 3 && device.attributes['gpu.example.com'].index < 4", yes.clone()),
            ("device.attributes['gpu.example.com'].ecc", yes.clone()),
            ("device.attributes['gpu.example.com'].model in ['H100', 'A100']", yes.clone()),
            // Values of different types are not equal.
            ("device.attributes['gpu.example.com'].model == 3", no.clone()),
            ("device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) >= 0", yes.clone()),
            ("device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('40Gi'))", no.clone()),
            ("device.attributes['gpu.example.com'].driverVersion.isGreaterThan(semver('1.9.0'))", yes.clone()),
            ("device.attributes['gpu.example.com'].driverVersion.compareTo(semver('1.10.0-rc.1')) == 1", yes.clone()),
            ("cel.bind(d, device.attributes['gpu.example.com'], d.ecc && d.index == 3)", yes.clone()),
            ("device.attributes['gpu.example.com'].?nope.orValue('x') == 'x'", yes.clone()),
            ("device.allowMultipleAllocations == false", yes.clone()),
            ("(device.driver == 'x' || true) && !(false)", yes.clone()),
        ] {
            let answer = Selector::read(expression).map(|s| s.judge("gpu.example.com", &device()));
            assert_eq!(answer, Ok(want), "{expression}");
        }
    }

    #[test]
    fn what_is_not_judged_is_said_so() {
        for expression in [
            "device.attributes['a'].b.matches('x.*')",
            "device.attributes['a'].all(x, true)",
            "device.driver == 'a' ? true : false",
            "size(device.driver) > 3",
            "device.driver ==",
            "1.5 < 2.0",
            "variables.x == 1",
            "device.driver = 'a'",
            "",
        ] {
            assert!(Selector::read(expression).is_err(), "{expression}");
        }
        let mixed = Selector::read("device.attributes['gpu.example.com'].driverVersion == '1.10.0'").unwrap();
        assert!(matches!(mixed.judge("gpu.example.com", &device()), Answer::Unjudged(_)));
    }

    #[test]
    fn versions_order_as_semver() {
        for (a, b, want) in [
            ("1.0.0", "1.0.0+build", Ordering::Equal),
            ("1.0.0-alpha", "1.0.0", Ordering::Less),
            ("1.0.0-alpha.2", "1.0.0-alpha.10", Ordering::Less),
            ("1.0.0-1", "1.0.0-a", Ordering::Less),
            ("2.0.0", "10.0.0", Ordering::Less),
        ] {
            assert_eq!(Version::read(a).unwrap().order(&Version::read(b).unwrap()), want, "{a} {b}");
        }
        for bad in ["1.0", "01.0.0", "1.0.0-", "1.0.0-01", "v1.0.0", ""] {
            assert_eq!(Version::read(bad), None, "{bad}");
        }
    }
}
