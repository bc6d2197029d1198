//! Measuring and wrapping: words in roles become lines that are no wider than the terminal.

use unicode_width::UnicodeWidthStr;

use super::palette::Role;

/// A piece of text in one role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The text.
    pub text: String,
    /// What it is.
    pub role: Role,
}

/// A piece of text in this role.
pub fn span(role: Role, text: impl Into<String>) -> Span {
    Span { text: text.into(), role }
}

/// Columns that the text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Breaks spans at blanks into lines of at most `columns`, the first of at most `first`; a word that
/// is wider stays whole, so that it can be copied. Blanks at a break are dropped.
pub fn wrap(spans: &[Span], first: usize, columns: usize) -> Vec<Vec<Span>> {
    let mut lines: Vec<Vec<Span>> = vec![Vec::new()];
    let mut used = 0;
    for word in words(spans) {
        let wide: usize = word.iter().map(|s| width(&s.text)).sum();
        let blank = word.iter().all(|s| s.text.trim().is_empty());
        let room = if lines.len() == 1 { first } else { columns };
        if used > 0 && !blank && used + wide > room {
            trim(lines.last_mut());
            lines.push(Vec::new());
            used = 0;
        }
        if used == 0 && blank && lines.len() > 1 {
            continue;
        }
        used += wide;
        if let Some(line) = lines.last_mut() {
            for piece in word {
                match line.last_mut() {
                    Some(last) if last.role == piece.role => last.text.push_str(&piece.text),
                    _ => line.push(piece),
                }
            }
        }
    }
    trim(lines.last_mut());
    lines
}

/// The spans as words and the blanks between them; a word may have several roles.
fn words(spans: &[Span]) -> Vec<Vec<Span>> {
    let mut words: Vec<Vec<Span>> = Vec::new();
    let mut inside: Option<bool> = None;
    for s in spans {
        let mut rest = s.text.as_str();
        while let Some(first) = rest.chars().next() {
            let blank = first == ' ';
            let end = rest.find(|c: char| (c == ' ') != blank).unwrap_or(rest.len());
            let (piece, tail) = rest.split_at(end);
            rest = tail;
            if inside != Some(blank) {
                words.push(Vec::new());
                inside = Some(blank);
            }
            if let Some(word) = words.last_mut() {
                word.push(span(s.role, piece));
            }
        }
    }
    words
}

fn trim(line: Option<&mut Vec<Span>>) {
    let Some(line) = line else { return };
    while let Some(last) = line.last_mut() {
        let kept = last.text.trim_end_matches(' ').len();
        last.text.truncate(kept);
        if !last.text.is_empty() {
            return;
        }
        line.pop();
    }
}

/// The text cut to `columns`, with an ellipsis if something was lost.
pub fn cut(text: &str, columns: usize, ellipsis: &str) -> String {
    if width(text) <= columns {
        return text.to_string();
    }
    let room = columns.saturating_sub(width(ellipsis));
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        if used + wide > room {
            break;
        }
        used += wide;
        out.push(c);
    }
    out + ellipsis
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, first: usize, columns: usize) -> Vec<String> {
        let lines = wrap(&[span(Role::Plain, text)], first, columns);
        lines.iter().map(|l| l.iter().map(|s| s.text.as_str()).collect()).collect()
    }

    #[test]
    fn lines_break_at_blanks_and_words_stay_whole() {
        let cases: [(&str, usize, &[&str]); 6] = [
            ("one two three", 80, &["one two three"]),
            ("one two three", 7, &["one two", "three"]),
            ("one  two", 4, &["one", "two"]),
            ("a verylongword b", 6, &["a", "verylongword", "b"]),
            ("漢字 漢字", 5, &["漢字", "漢字"]),
            ("", 5, &[""]),
        ];
        for (text, columns, want) in cases {
            assert_eq!(wrapped(text, columns, columns), want, "{text:?} at {columns}");
        }
        assert_eq!(wrapped("one two three", 7, 3), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 3, 9), ["one", "two three"]);
    }

    #[test]
    fn a_word_of_two_roles_is_not_broken() {
        let spans = [span(Role::Plain, "see "), span(Role::Strong, "worker-1"), span(Role::Plain, ", "), span(Role::Strong, "worker-2")];
        let lines = wrap(&spans, 13, 13);
        let text: Vec<String> = lines.iter().map(|l| l.iter().map(|s| s.text.as_str()).collect()).collect();
        assert_eq!(text, ["see worker-1,", "worker-2"]);
    }

    #[test]
    fn cutting_measures_columns() {
        assert_eq!(cut("abcdef", 6, "…"), "abcdef");
        assert_eq!(cut("abcdef", 4, "…"), "abc…");
        assert_eq!(cut("漢字漢", 4, "…"), "漢…");
    }
}
