//! `-o yaml`: the tree of `-o json` as YAML.

use std::io::{self, Write};

use serde::Serialize;

use crate::render::{json, safe};
use crate::report::{Report, ReportList};

/// Writes one report, or a list of several.
pub fn render(out: &mut impl Write, reports: &[Report], list: bool) -> io::Result<()> {
    match reports {
        [report] if !list => value(out, report),
        reports => value(out, &ReportList::new(reports)),
    }
}

/// Writes any part of the contract.
pub fn value(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let text = yaml_serde::to_string(value).map_err(io::Error::other)?;
    // YAML writes some characters raw that could deceive a terminal; JSON, which is YAML too, need not.
    if text.chars().any(|c| c != '\n' && safe::is_unsafe(c)) {
        return json::value(out, value);
    }
    out.write_all(text.as_bytes())
}
