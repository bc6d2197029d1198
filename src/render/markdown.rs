//! `-o markdown`: compact, for the incident channel: the answer, the counters, the groups with
//! what to do. Everything that others wrote is escaped or stands in code.

use std::io::{self, Write};

use super::Style;
use super::answer::answer;
use super::palette::symbol;
use super::preflight;
use super::safe;
use super::text::{effect, tag};
use super::words::{count, names, situation, states};
use crate::cause::Severity;
use crate::report::grouping::{Group, groups};
use crate::report::{Report, State};

/// Sentences of a cause that are shown.
const VARIANTS: usize = 3;
/// Remedies of a cause that are shown.
const REMEDIES: usize = 2;
/// Characters of names that are listed.
const NAMES: usize = 160;

/// Writes the reports.
pub fn render(out: &mut impl Write, reports: &[Report], style: &Style) -> io::Result<()> {
    let mut text = Vec::new();
    for (i, report) in reports.iter().enumerate() {
        if i > 0 {
            writeln!(text)?;
        }
        one(&mut text, report)?;
    }
    if style.ascii { out.write_all(safe::ascii(&String::from_utf8_lossy(&text)).as_bytes()) } else { out.write_all(&text) }
}

/// Text that is shown as it is: no markup, link, mention or HTML.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in safe::clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '@' => out.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '#' | '|' | '!' | '~' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Text in code; the fence is longer than any run of backticks within.
fn code(text: &str) -> String {
    let text = safe::clean(text);
    let fence = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

fn one(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let ds = &report.daemon_set;
    let (_, symbol, sentence) = answer(report);
    writeln!(out, "**{symbol} DaemonSet {}: {}**", code(&format!("{}/{}", ds.namespace, ds.name)), plain(&sentence))?;
    writeln!(out)?;
    let states = if report.preflight.is_some() { preflight::states(report) } else { states(&report.summary.states) };
    let states: Vec<String> = states.into_iter().map(|(_, words)| words).collect();
    writeln!(out, "{}: {}  ", count(report.summary.nodes, "node"), states.join(", "))?;
    if let Some(judged) = &report.preflight {
        writeln!(out, "{}", plain(&preflight::subject(report, judged)))?;
        for (label, changes) in preflight::sorted(&judged.changes) {
            let nodes: Vec<&str> = changes.iter().map(|c| c.node.as_str()).collect();
            let (of, ways) = (count(nodes.len(), "node"), preflight::ways(&changes));
            writeln!(out, "- {label} {of}: {} ({ways})", code(&names(&nodes, NAMES)))?;
        }
        return groups_and_gaps(out, report);
    }
    let c = &ds.recount;
    let updated = c.updated_number_scheduled.map_or("?".into(), |n| n.to_string());
    writeln!(
        out,
        "desired {}, current {}, ready {}, up to date {updated}, available {}, misscheduled {}  ",
        c.desired_number_scheduled, c.current_number_scheduled, c.number_ready, c.number_available, c.number_misscheduled
    )?;
    writeln!(out, "rollout: {} ({})", report.rollout.phase, plain(&report.rollout.strategy))?;
    groups_and_gaps(out, report)
}

fn groups_and_gaps(out: &mut impl Write, report: &Report) -> io::Result<()> {
    for group in groups(report) {
        writeln!(out)?;
        show(out, report, &group)?;
    }
    if !report.missing.is_empty() {
        writeln!(out)?;
        writeln!(out, "**Could not be read**")?;
        for m in &report.missing {
            writeln!(out, "- {}: {}", code(&format!("{} {}", m.verb, m.resource)), plain(&m.effect))?;
        }
    }
    Ok(())
}

fn show(out: &mut impl Write, report: &Report, group: &Group) -> io::Result<()> {
    let codes = group.codes();
    let title = if codes.is_empty() { group.state.name().to_string() } else { codes.join(" + ") };
    let names: Vec<&str> = group.names();
    let place = if names.is_empty() {
        "the DaemonSet as a whole".to_string()
    } else {
        let judged = report.preflight.is_some();
        let words = if judged { preflight::situation(group.state, names.len()) } else { situation(group.state, names.len()) };
        format!("{}, {words}: {}", count(names.len(), "node"), code(&self::names(&names, NAMES)))
    };
    writeln!(out, "{} **{title}** {place}", symbol(group.severity))?;
    if codes.is_empty() && group.state != State::Unknown {
        writeln!(out, "- no cause was found in what was read")?;
    }
    for cause in &group.causes {
        for variant in cause.variants.iter().take(VARIANTS) {
            let at = if cause.variants.len() > 1 { format!("{}: ", code(&self::names(&variant.nodes, 40))) } else { String::new() };
            writeln!(out, "- {at}{}", plain(&variant.cause.message))?;
        }
        let left: usize = cause.variants.iter().skip(VARIANTS).map(|v| v.nodes.len()).sum();
        if left > 0 {
            writeln!(out, "- … and {} with other numbers or names", count(left, "node"))?;
        }
        if group.severity == Severity::Info {
            continue;
        }
        for tried in cause.remedies.iter().take(REMEDIES) {
            let tag = tag(tried.remedy.kind).map_or(String::new(), |t| format!(" ({t})"));
            let effect = effect(tried, group.nodes.len()).map_or(String::new(), |e| format!(": {}", plain(&e)));
            writeln!(out, "- → {}{tag}{effect}", plain(&tried.remedy.title))?;
            if let Some(command) = &tried.remedy.command {
                let command = safe::clean(command);
                let fence = "`".repeat(longest_run(&command).max(2) + 1);
                writeln!(out, "  {fence}sh\n  {command}\n  {fence}")?;
            }
        }
    }
    Ok(())
}
