//! `--explain`: the page of a code, or the list of all.

use std::io::{self, Write};

use super::Style;
use super::layout::span;
use super::palette::Role;
use super::screen::Screen;
use crate::cause::alert::{self, Alert};
use crate::cause::{Entry, Stage, registry};

/// Columns that a meaning needs beside its code; with less it stands below it.
const LEAST: usize = 34;

/// A stage in words.
pub fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Controller => "The controller wants no pod on the node, or too many",
        Stage::Creation => "The pod cannot be created",
        Stage::Scheduling => "The scheduler cannot place the pod",
        Stage::Kubelet => "The kubelet refuses or evicts the pod",
        Stage::Running => "The pod is on its node and not healthy",
        Stage::Rollout => "Old revisions, and books that disagree",
    }
}

/// The other codes that a page names.
pub fn also(entry: &Entry) -> Vec<&'static str> {
    let words: Vec<&str> = entry.doc.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let others = registry::entries().into_iter().map(|e| e.code);
    others.filter(|code| *code != entry.code && words.contains(code)).collect()
}

/// The codes of the same stage.
pub fn beside(entry: &Entry) -> Vec<&'static str> {
    registry::entries().into_iter().filter(|e| e.stage == entry.stage && e.code != entry.code).map(|e| e.code).collect()
}

/// Writes the page of one code.
pub fn page(out: &mut impl Write, entry: &Entry, style: &Style) -> io::Result<()> {
    let mut screen = Screen::new(out, style);
    screen.wrapped(0, 2, &[span(Role::Strong, entry.code), span(Role::Plain, format!(": {}", entry.summary))])?;
    screen.wrapped(0, 2, &[span(Role::Faint, stage_name(entry.stage))])?;
    let mut paragraph = String::new();
    for line in entry.doc.lines() {
        let ends = line.is_empty() || line.starts_with("## ") || line.starts_with("    ");
        if ends {
            flush(&mut screen, &mut paragraph)?;
        }
        if let Some(heading) = line.strip_prefix("## ") {
            screen.blank()?;
            screen.line(0, &[span(Role::Strong, heading)])?;
        } else if let Some(command) = line.strip_prefix("    ") {
            screen.command(4, command)?;
        } else if !line.is_empty() {
            if line.starts_with("- ") {
                flush(&mut screen, &mut paragraph)?;
            } else if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line.trim_start());
        }
    }
    flush(&mut screen, &mut paragraph)?;
    let named = also(entry);
    let alerts = alert::alerts_of(entry);
    if !alerts.is_empty() {
        screen.blank()?;
        screen.line(0, &[span(Role::Strong, "Alerts that it answers")])?;
        for alert in alerts {
            screen.wrapped(2, 4, &[span(Role::Plain, alert.name), span(Role::Faint, format!(": {}", alert.runbook()))])?;
        }
    }
    screen.blank()?;
    if !named.is_empty() {
        screen.wrapped(0, 10, &[span(Role::Strong, "Also see  "), span(Role::Plain, named.join(", "))])?;
    }
    let beside = beside(entry);
    if !beside.is_empty() {
        screen.wrapped(0, 12, &[span(Role::Strong, "Same stage  "), span(Role::Plain, beside.join(", "))])?;
    }
    Ok(())
}

fn flush<W: Write>(screen: &mut Screen<W>, paragraph: &mut String) -> io::Result<()> {
    if !paragraph.is_empty() {
        screen.wrapped(2, if paragraph.starts_with("- ") { 4 } else { 2 }, &[span(Role::Plain, std::mem::take(paragraph))])?;
    }
    Ok(())
}

/// Writes what an alert watches, and the codes that answer it.
pub fn alert(out: &mut impl Write, alert: &Alert, style: &Style) -> io::Result<()> {
    let mut screen = Screen::new(out, style);
    screen.wrapped(0, 2, &[span(Role::Strong, alert.name), span(Role::Plain, ": an alert of the Kubernetes monitoring mixin")])?;
    screen.wrapped(0, 2, &[span(Role::Faint, alert.runbook())])?;
    screen.blank()?;
    screen.line(0, &[span(Role::Strong, "What it watches")])?;
    screen.wrapped(2, 2, &[span(Role::Plain, alert.watches)])?;
    screen.blank()?;
    screen.line(0, &[span(Role::Strong, "How to ask")])?;
    screen.command(4, "kubectl ds-doctor DAEMONSET -n NAMESPACE")?;
    screen.blank()?;
    screen.line(0, &[span(Role::Strong, "Codes that answer it")])?;
    codes(&mut screen, &alert.entries())
}

/// Writes every code with its meaning in one line, by stage.
pub fn list(out: &mut impl Write, style: &Style) -> io::Result<()> {
    let mut screen = Screen::new(out, style);
    codes(&mut screen, &registry::entries())?;
    screen.blank()?;
    let hint = "kubectl ds-doctor --explain CODE says what a code means, how to check it by hand and how to fix it; it takes the names of \
        Prometheus alerts, too, such as KubeDaemonSetRolloutStuck";
    screen.wrapped(0, 2, &[span(Role::Faint, hint)])
}

fn codes<W: Write>(screen: &mut Screen<W>, entries: &[&Entry]) -> io::Result<()> {
    let longest = entries.iter().map(|e| e.code.len()).max().unwrap_or(0);
    let mut stage = None;
    for entry in entries {
        if stage != Some(entry.stage) {
            if stage.is_some() {
                screen.blank()?;
            }
            stage = Some(entry.stage);
            screen.line(0, &[span(Role::Strong, stage_name(entry.stage))])?;
        }
        if screen.width() < longest + LEAST {
            screen.line(2, &[span(Role::Command, entry.code)])?;
            screen.wrapped(4, 4, &[span(Role::Plain, entry.summary)])?;
            continue;
        }
        let line = [span(Role::Command, format!("{:longest$}", entry.code)), span(Role::Plain, format!("  {}", entry.summary))];
        screen.wrapped(2, longest + 4, &line)?;
    }
    Ok(())
}
