//! Node by check, as a matrix.

use std::io::{self, Write};

use crate::render::Style;
use crate::render::layout::span;
use crate::render::palette::Role;
use crate::render::screen::Screen;
use crate::report::Report;

/// Writes the reports.
pub fn render(out: &mut impl Write, reports: &[Report], style: &Style) -> io::Result<()> {
    let mut screen = Screen::new(out, style);
    for report in reports {
        let ds = &report.daemon_set;
        screen.wrapped(0, 2, &[span(Role::Strong, format!("DaemonSet {}/{}", ds.namespace, ds.name))])?;
    }
    Ok(())
}
