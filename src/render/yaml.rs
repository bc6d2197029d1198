//! `-o yaml`: the tree of `-o json` as YAML.

use std::io::{self, Write};

use crate::render::{json, safe};
use crate::report::{Report, ReportList};

/// Writes one report, or a list of several.
pub fn render(out: &mut impl Write, reports: &[Report], list: bool) -> io::Result<()> {
    let text = match reports {
        [report] if !list => yaml_serde::to_string(report),
        reports => yaml_serde::to_string(&ReportList::new(reports)),
    }
    .map_err(io::Error::other)?;
    // YAML writes some characters raw that could deceive a terminal; JSON, which is YAML too, need not.
    if text.chars().any(|c| c != '\n' && safe::is_unsafe(c)) {
        return json::render(out, reports, list);
    }
    out.write_all(text.as_bytes())
}
