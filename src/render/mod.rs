//! One file per output format. What a rendering depends on comes in as values: the reports and
//! the [`Style`]. Everything that is meant for a terminal goes through [`screen::Screen`], which
//! is the one place where untrusted text is made safe.

pub mod answer;
pub mod explain;
pub mod json;
pub mod layout;
pub mod lint;
pub mod markdown;
pub mod name;
pub mod node;
pub mod palette;
pub mod preflight;
#[cfg(test)]
pub mod published;
pub mod safe;
pub mod screen;
pub mod survey;
pub mod text;
pub mod wide;
pub mod words;
pub mod yaml;

/// How to write for a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal; lines are wrapped there, except commands.
    pub width: usize,
    /// Colour beside words and symbols.
    pub color: bool,
    /// ASCII alone, for a locale that is not UTF-8.
    pub ascii: bool,
}

impl Default for Style {
    /// 80 columns, no colour, UTF-8: what a pipe gets.
    fn default() -> Self {
        Style { width: 80, color: false, ascii: false }
    }
}
