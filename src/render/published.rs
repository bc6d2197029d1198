//! Files of the repository that are made from the program: a test holds each against what the
//! program says now; `UPDATE=1 cargo test --lib current` writes them anew.

use std::collections::BTreeMap;
use std::path::Path;

use super::explain;
use crate::cause::alert::alerts_of;
use crate::cause::registry;

/// Compares a file of the repository with its right content, or writes it if `UPDATE` is set.
pub fn check(path: &str, right: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, right).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == right, "{path} is not current; UPDATE=1 cargo test --lib current writes it");
}

#[test]
fn the_pages_of_the_causes_are_current() {
    let mut text = String::from(
        "# Causes\n\nEvery code that a report can carry, by the stage at which the pod is lost. `kubectl ds-doctor --explain CODE` prints the \
         same page;\n`docs/causes.md#code`, in lower case, is a link for a runbook. Made from the program: `UPDATE=1 cargo test --lib current`.\n",
    );
    let entries = registry::entries();
    text += "\n| alert | codes that make it fire |\n|---|---|\n";
    let mut by_alert: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for entry in &entries {
        alerts_of(entry).iter().for_each(|alert| by_alert.entry(alert.name).or_default().push(link(entry.code)));
    }
    for (alert, codes) in by_alert {
        text += &format!("| `{alert}` | {} |\n", codes.join(", "));
    }
    let mut stage = None;
    for entry in &entries {
        if stage != Some(entry.stage) {
            stage = Some(entry.stage);
            text += &format!("\n**{}**\n\n", explain::stage_name(entry.stage));
        }
        text += &format!("- {}: {}\n", link(entry.code), entry.summary);
    }
    for entry in &entries {
        // The pages' own headings stand below the code's.
        let doc = entry.doc.trim_end().replace("\n## ", "\n### ").replacen("## ", "### ", 1);
        text += &format!("\n## {}\n\n{}. {}.\n\n{doc}\n", entry.code, entry.summary, explain::stage_name(entry.stage));
        let alerts: Vec<String> = alerts_of(entry).iter().map(|a| format!("[`{}`]({})", a.name, a.runbook())).collect();
        if !alerts.is_empty() {
            text += &format!("\nAlerts: {}\n", alerts.join(", "));
        }
        let also: Vec<String> = explain::also(entry).into_iter().map(link).collect();
        if !also.is_empty() {
            text += &format!("\nAlso see {}.\n", also.join(", "));
        }
    }
    check("docs/causes.md", &text);
}

fn link(code: &str) -> String {
    format!("[{code}](#{})", code.to_lowercase())
}
