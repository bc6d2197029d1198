//! `-o json`: the contract, indented.

use std::io::{self, Write};

use crate::report::{Report, ReportList};

/// Writes one report, or a list of several.
pub fn render(out: &mut impl Write, reports: &[Report], list: bool) -> io::Result<()> {
    match reports {
        [report] if !list => serde_json::to_writer_pretty(&mut *out, report)?,
        reports => serde_json::to_writer_pretty(&mut *out, &ReportList::new(reports))?,
    }
    writeln!(out)
}
