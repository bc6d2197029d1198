//! Single values: quantities, times, versions, what is shown, what is quoted for a shell.

use std::str::FromStr;

use ds_doctor::cause::command;
use ds_doctor::model::int_or_string::IntOrString;
use ds_doctor::model::quantity::Quantity;
use ds_doctor::model::time::Time;
use ds_doctor::model::version::ServerVersion;
use ds_doctor::render::{layout, safe};
use ds_doctor::source::failure;

/// The one word that a POSIX shell makes of `text`; `None` if it makes another number of words, or
/// would do anything but read them.
fn word(text: &str) -> Option<String> {
    let mut word = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\'' => loop {
                match rest.next()? {
                    '\'' => break,
                    c => word.push(c),
                }
            },
            '\\' => word.push(rest.next()?),
            c if c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c) => word.push(c),
            _ => return None,
        }
    }
    (!text.is_empty()).then_some(word)
}

/// Checks one input.
pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(quantity) = Quantity::from_str(text) {
        let shown = quantity.to_string();
        let again = Quantity::from_str(&shown).unwrap_or_else(|e| panic!("{text:?}: {e}"));
        assert_eq!(quantity, again, "{text:?} is shown as {shown:?}");
        assert_eq!(again.to_string(), shown);
        assert_eq!((quantity.value(), quantity.milli_value()), (again.value(), again.milli_value()));
        // Beyond what 64 bits of units hold, sums saturate.
        if quantity.value().unsigned_abs() < 1 << 62 {
            assert_eq!(quantity.plus(quantity).minus(quantity), quantity);
        }
    }
    if let Ok(time) = Time::parse(text) {
        let _ = (time.seconds_since(Time::default()), Time::default().since(time).to_string(), time.to_string());
    }
    if let Ok(version) = ServerVersion::from_str(text) {
        assert_eq!(version.to_string().parse(), Ok(version));
        version.features();
    }
    let value: IntOrString = serde_json::from_value(text.into()).unwrap();
    for total in [0, 1, 7, i64::from(i32::MAX)] {
        let (up, down) = (value.scaled(total, true), value.scaled(total, false));
        assert!(up >= down, "{text:?} of {total}: {up:?} {down:?}");
    }
    assert_eq!(word(&command::quote(text)).as_deref(), Some(text));
    let clean = safe::clean(text);
    assert!(!clean.chars().any(safe::is_unsafe));
    assert!(safe::ascii(&clean).is_ascii());
    let line = failure::clean(text);
    assert!(!line.chars().any(safe::is_unsafe), "{line:?}");
    for columns in [0, 1, 20] {
        assert!(layout::width(&layout::cut(&clean, columns, "…")) <= columns.max(1));
    }
}
