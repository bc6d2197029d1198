//! Label selectors as typed, label keys and values, device selectors.

use ds_doctor::model::device_selector::Selector;
use ds_doctor::model::object::Labels;
use ds_doctor::model::resource_claim::Device;
use ds_doctor::model::{selector, selector_text};

/// Checks one input.
pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let labels: Labels = [("app".into(), "web".into()), ("tier".into(), text.into())].into();
    if let Ok(read) = selector_text::parse(text) {
        selector::selects(&read, &labels);
        selector::is_empty(&read);
    }
    let _ = (selector::is_qualified_name(text), selector::is_label_value(text));
    if let Ok(read) = Selector::read(text) {
        read.judge("gpu.example.com", &Device::default());
    }
}
