//! `--explain`: the page of a code, or the list of all.

use std::io::{self, Write};

use crate::cause::{Entry, Stage, registry};
use crate::render::Style;
use crate::render::layout::span;
use crate::render::palette::Role;
use crate::render::screen::{Row, Screen};

/// A stage in words.
pub fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Controller => "the controller wants no pod there",
        Stage::Creation => "the pod cannot be created",
        Stage::Scheduling => "the scheduler cannot place the pod",
        Stage::Kubelet => "the kubelet refuses or evicts the pod",
        Stage::Running => "the pod is on its node and not healthy",
        Stage::Rollout => "old revisions, and books that disagree",
    }
}

/// Writes the page of one code.
pub fn page(out: &mut impl Write, entry: &Entry, style: &Style) -> io::Result<()> {
    let mut screen = Screen::new(out, style);
    screen.wrapped(0, 2, &[span(Role::Strong, entry.code), span(Role::Plain, format!("  {}", entry.summary))])?;
    for line in entry.doc.lines() {
        screen.line(0, &[span(Role::Plain, line)])?;
    }
    Ok(())
}

/// Writes every code with its meaning in one line, by stage.
pub fn list(out: &mut impl Write, style: &Style) -> io::Result<()> {
    let mut screen = Screen::new(out, style);
    let rows: Vec<Row> =
        registry::entries().iter().map(|e| Row { cells: vec![e.code.to_string(), e.summary.to_string()], role: Role::Plain }).collect();
    screen.table(0, &["CODE", "MEANING"], &rows, &[], &[])
}
