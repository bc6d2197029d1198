//! Why the world could not be read: one line for the user.

use std::fmt;

use crate::safe::is_unsafe;

/// What went wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    what: String,
    hint: Option<String>,
    gone: bool,
    unauthorized: bool,
}

impl Failure {
    /// The same, as the certain word that what was asked for does not exist.
    #[must_use]
    pub fn gone(mut self) -> Self {
        self.gone = true;
        self
    }

    /// True if what was asked for does not exist: trying again is of no use.
    pub fn is_gone(&self) -> bool {
        self.gone
    }

    /// The same, as a refusal of the credentials.
    #[must_use]
    pub fn unauthorized(mut self) -> Self {
        self.unauthorized = true;
        self
    }

    /// True if other credentials may help.
    pub fn is_unauthorized(&self) -> bool {
        self.unauthorized
    }

    /// A failure without advice.
    pub fn new(what: impl fmt::Display) -> Self {
        Failure { what: clean(&what.to_string()), hint: None, gone: false, unauthorized: false }
    }

    /// Adds what the user can do.
    #[must_use]
    pub fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(clean(&hint.to_string()));
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

/// One line of at most 500 characters, without anything that a terminal would obey: servers,
/// files and names are not to be trusted.
pub fn clean(text: &str) -> String {
    const LONGEST: usize = 500;
    let mut line = String::new();
    for word in text.split(char::is_whitespace).filter(|w| !w.chars().all(is_unsafe)) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(|c| !is_unsafe(*c)));
        if line.len() > LONGEST {
            let end = line.char_indices().map(|(i, _)| i).take_while(|&i| i <= LONGEST).last().unwrap_or(0);
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_harmless_line() {
        assert_eq!(clean("a\n\tb \u{1b}[31mred\u{7} \u{202e}x"), "a b [31mred x");
        assert_eq!(clean("zero\u{200b}width \u{e0041}\u{feff} \u{ad}"), "zerowidth");
        assert_eq!(clean(&"ä".repeat(600)).chars().count(), 251);
        assert_eq!(Failure::new("no such file: x\n").hint("give another").to_string(), "no such file: x; give another");
    }
}
