//! The way to the terminal: text is made safe here, wrapped to the width, and coloured.

use std::borrow::Cow;
use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::Style;
use super::layout::{Span, span, wrap};
use super::palette::Role;
use super::safe;

/// Writes lines for a terminal.
pub struct Screen<'a, W: Write> {
    out: &'a mut W,
    style: Style,
}

impl<'a, W: Write> Screen<'a, W> {
    /// A screen of this style.
    pub fn new(out: &'a mut W, style: &Style) -> Self {
        Screen { out, style: *style }
    }

    /// Columns.
    pub fn width(&self) -> usize {
        self.style.width.max(20)
    }

    /// The text without what could steer the terminal, in ASCII if only that can be shown.
    pub fn safe<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let clean = safe::clean(text);
        if !self.style.ascii {
            return clean;
        }
        Cow::Owned(safe::ascii(&clean).into_owned())
    }

    /// An empty line.
    pub fn blank(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    /// Spans, wrapped; the first line is indented by `first`, the others by `rest`.
    pub fn wrapped(&mut self, first: usize, rest: usize, spans: &[Span]) -> io::Result<()> {
        let safe: Vec<Span> = spans.iter().map(|s| span(s.role, self.safe(start(&s.text)))).collect();
        let room = |indent: usize| self.width().saturating_sub(indent).max(20);
        for (i, line) in wrap(&safe, room(first), room(rest)).iter().enumerate() {
            self.write(if i == 0 { first } else { rest }, line)?;
        }
        Ok(())
    }

    /// One line that is never wrapped.
    pub fn line(&mut self, indent: usize, spans: &[Span]) -> io::Result<()> {
        let safe: Vec<Span> = spans.iter().map(|s| span(s.role, self.safe(&s.text))).collect();
        self.write(indent, &safe)
    }

    /// A command to copy, on a line of its own that is never wrapped.
    pub fn command(&mut self, indent: usize, command: &str) -> io::Result<()> {
        self.line(indent, &[span(Role::Command, command)])
    }

    /// Rows below a heading; `right` says which columns are numbers, `most` how wide columns may
    /// be at most (0: as wide as they are).
    pub fn table(&mut self, indent: usize, heading: &[&str], rows: &[Row], right: &[bool], most: &[usize]) -> io::Result<()> {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(heading.iter().map(|h| self.safe(h).into_owned()));
        let ellipsis = if self.style.ascii { "..." } else { "…" };
        for row in rows {
            let cells = row.cells.iter().enumerate().map(|(i, c)| match most.get(i) {
                Some(&most) if most > 0 => super::layout::cut(&self.safe(c), most, ellipsis),
                _ => self.safe(c).into_owned(),
            });
            table.add_row(cells.collect::<Vec<_>>());
        }
        let columns = heading.len();
        for (i, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if i + 1 < columns { 2 } else { 0 }));
            if right.get(i).copied().unwrap_or(false) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let roles = std::iter::once(Role::Faint).chain(rows.iter().map(|r| r.role));
        for (line, role) in table.lines().zip(roles) {
            self.write(indent, &[span(role, line.trim_end())])?;
        }
        Ok(())
    }

    fn write(&mut self, indent: usize, spans: &[Span]) -> io::Result<()> {
        if spans.iter().any(|s| !s.text.is_empty()) {
            write!(self.out, "{:indent$}", "")?;
        }
        for s in spans {
            if self.style.color { write!(self.out, "{}", s.role.paint(&s.text))? } else { write!(self.out, "{}", s.text)? }
        }
        writeln!(self.out)
    }
}

/// What fits on some screens of a text; messages may have megabytes, and `-o json` has them whole.
fn start(text: &str) -> &str {
    const LONGEST: usize = 4000;
    text.char_indices().nth(LONGEST).map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}

/// A row of a table.
#[derive(Clone, Debug)]
pub struct Row {
    /// The cells.
    pub cells: Vec<String>,
    /// The row's role.
    pub role: Role,
}
