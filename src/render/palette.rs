//! What colours mean. The sixteen colours of the terminal's own theme, so that they can be read on
//! a light and on a dark background; nothing is told by colour alone.

use owo_colors::Style as Paint;

use crate::cause::Severity;

/// What a piece of text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Plain text.
    #[default]
    Plain,
    /// A heading, or what answers.
    Strong,
    /// What may be skipped at first.
    Faint,
    /// An error.
    Error,
    /// A warning.
    Warning,
    /// All is well.
    Good,
    /// A command to copy.
    Command,
}

impl Role {
    /// The text in this role's colour.
    pub fn paint(self, text: &str) -> String {
        let paint = match self {
            Role::Plain => return text.to_string(),
            Role::Strong => Paint::new().bold(),
            Role::Faint => Paint::new().dimmed(),
            Role::Error => Paint::new().red().bold(),
            Role::Warning => Paint::new().yellow().bold(),
            Role::Good => Paint::new().green(),
            Role::Command => Paint::new().cyan(),
        };
        paint.style(text).to_string()
    }
}

/// The role of a severity.
pub fn role(severity: Severity) -> Role {
    match severity {
        Severity::Error => Role::Error,
        Severity::Warning => Role::Warning,
        Severity::Info => Role::Plain,
    }
}

/// The symbol of a severity; one column wide, in ASCII too.
pub fn symbol(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "✗",
        Severity::Warning => "!",
        Severity::Info => "·",
    }
}
