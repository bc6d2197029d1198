//! Every code, in one place: `--explain`, the docs and the tests read it.

use super::Entry;

/// Every entry, by stage and code.
pub fn entries() -> Vec<&'static Entry> {
    let mut all: Vec<&'static Entry> = Vec::new();
    all.extend(crate::filter::PLUGINS.iter().map(|p| p.entry));
    all.extend(crate::controller::ENTRIES);
    all.extend(crate::controller::creation::ENTRIES);
    all.extend(crate::preflight::ENTRIES);
    all.extend(crate::scheduling::ENTRIES);
    all.extend(crate::lifecycle::ENTRIES);
    all.extend(crate::rollout::ENTRIES);
    all.sort_by_key(|e| (e.stage, e.code));
    all
}

/// The entry of a code; the case of letters does not matter.
pub fn find(code: &str) -> Option<&'static Entry> {
    entries().into_iter().find(|e| e.code.eq_ignore_ascii_case(code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::HEADINGS;

    #[test]
    fn codes_are_unique() {
        let mut codes: Vec<_> = entries().iter().map(|e| e.code.to_ascii_lowercase()).collect();
        codes.sort();
        let count = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), count);
    }

    #[test]
    fn every_page_has_its_headings_in_order() {
        for entry in entries() {
            let found: Vec<&str> = entry.doc.lines().filter(|l| l.starts_with("## ")).collect();
            assert_eq!(found, HEADINGS, "{}", entry.code);
            assert!(!entry.summary.is_empty() && !entry.summary.contains('\n') && entry.summary.len() <= 100, "{}", entry.code);
            for heading in HEADINGS {
                let body = entry.doc.split(heading).nth(1).unwrap_or_default();
                assert!(body.trim_start().chars().next().is_some_and(|c| c != '#'), "{}: {heading} is empty", entry.code);
            }
        }
    }
}
