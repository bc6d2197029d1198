//! Names, messages and events are written by others: what could steer a terminal or deceive its
//! reader is shown, never sent.

use std::borrow::Cow;

pub use crate::safe::is_unsafe;

/// The text with what is unsafe written out as `\u{1b}`; line breaks and tabs become a blank.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c if is_unsafe(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The text in ASCII: the symbols of this program get a stand-in, other characters are written out.
pub fn ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '→' => out.push_str("->"),
            '…' => out.push_str("..."),
            '✗' | '×' => out.push('x'),
            '✓' => out.push_str("ok"),
            '·' | '–' | '—' | '•' => out.push('-'),
            '‘' | '’' => out.push('\''),
            '“' | '”' => out.push('"'),
            '≤' => out.push_str("<="),
            '≥' => out.push_str(">="),
            '≠' => out.push_str("!="),
            c if c.is_ascii() => out.push(c),
            c => out.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_written_out() {
        let cases = [
            ("plain näme 漢字", "plain näme 漢字"),
            ("red \u{1b}[31m", "red \\u{1b}[31m"),
            ("title \u{1b}]0;x\u{7}", "title \\u{1b}]0;x\\u{7}"),
            ("c1 \u{9b}2J", "c1 \\u{9b}2J"),
            ("back\u{8}space", "back\\u{8}space"),
            ("over\rwritten\nline\ttab", "over written line tab"),
            ("bidi \u{202e}txt\u{2066}", "bidi \\u{202e}txt\\u{2066}"),
            ("zero\u{200b}width\u{feff}", "zero\\u{200b}width\\u{feff}"),
            ("line\u{2028}separator", "line\\u{2028}separator"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
        ];
        for (given, want) in cases {
            assert_eq!(clean(given), want);
        }
    }

    #[test]
    fn ascii_has_no_other_character() {
        assert_eq!(ascii("4 → 5 … ✗ · é"), "4 -> 5 ... x - \\u{e9}");
    }
}
