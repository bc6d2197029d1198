//! The survey: a line for every DaemonSet, worst first.

use std::io::{self, Write};

use super::Style;
use super::answer::answer;
use super::layout::{span, width};
use super::palette::Role;
use super::screen::{Row, Screen};
use super::words::{count, number};
use crate::report::grouping::groups;
use crate::report::{Outcome, Report};

/// Columns that the answer gets at least.
const ANSWER: usize = 24;

/// Writes the survey.
pub fn render(out: &mut impl Write, reports: &[Report], style: &Style) -> io::Result<()> {
    render_with(out, reports, style, "")
}

/// The same; `again` are the flags that lead to the same cluster.
pub fn render_with(out: &mut impl Write, reports: &[Report], style: &Style, again: &str) -> io::Result<()> {
    let mut screen = Screen::new(out, style);
    let mut sorted: Vec<&Report> = reports.iter().collect();
    sorted.sort_by(|a, b| {
        let key = |r: &Report| (rank(r), std::cmp::Reverse(r.worst()), std::cmp::Reverse(lacking(r)));
        let name = |r: &Report| (r.daemon_set.namespace.clone(), r.daemon_set.name.clone());
        key(a).cmp(&key(b)).then_with(|| name(a).cmp(&name(b)))
    });
    let longest = |f: fn(&Report) -> &str| sorted.iter().map(|r| width(f(r))).max().unwrap_or(0);
    let namespace = longest(|r| &r.daemon_set.namespace).max("NAMESPACE".len());
    let name = longest(|r| &r.daemon_set.name).max("NAME".len());
    let room = screen.width().saturating_sub(3 + namespace + 2 + name + 2 + 9 + 7 + 12).max(ANSWER);
    let rows: Vec<Row> = sorted
        .iter()
        .map(|r| {
            let (role, symbol, _) = answer(r);
            let c = &r.daemon_set.recount;
            let cells = vec![
                symbol.to_string(),
                r.daemon_set.namespace.clone(),
                r.daemon_set.name.clone(),
                c.desired_number_scheduled.to_string(),
                c.number_ready.to_string(),
                c.updated_number_scheduled.map_or("?".into(), |n| n.to_string()),
                first(r, room),
            ];
            Row { cells, role: if r.summary.verdict == Outcome::Healthy && role == Role::Good { Role::Plain } else { role } }
        })
        .collect();
    let heading = ["", "NAMESPACE", "NAME", "DESIRED", "READY", "UP-TO-DATE", "ANSWER"];
    screen.table(0, &heading, &rows, &[false, false, false, true, true, true, false], &[0, 0, 0, 0, 0, 0, room])?;
    screen.blank()?;
    let of = |rank_wanted: u8| sorted.iter().filter(|r| rank(r) == rank_wanted).count();
    let mut parts = Vec::new();
    for (n, words) in [(of(0), "with problems"), (of(1), "not fully read"), (of(2), "with warnings"), (of(3), "healthy")] {
        if n > 0 {
            parts.push(format!("{} {words}", number(n)));
        }
    }
    let sum = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    screen.wrapped(0, 2, &[span(Role::Strong, format!("{}{sum}", count(sorted.len(), "DaemonSet")))])?;
    if let Some(worst) = sorted.first().filter(|r| r.summary.verdict != Outcome::Healthy) {
        let command = format!("kubectl ds-doctor {} -n {} {again}", worst.daemon_set.name, worst.daemon_set.namespace);
        screen.line(0, &[span(Role::Faint, "The whole story of one: "), span(Role::Command, command.trim_end())])?;
    }
    Ok(())
}

/// Worst first.
fn rank(report: &Report) -> u8 {
    match report.summary.verdict {
        Outcome::Problems => 0,
        Outcome::Inconclusive => 1,
        Outcome::Healthy if report.worst() == Some(crate::cause::Severity::Warning) => 2,
        Outcome::Healthy => 3,
    }
}

fn lacking(report: &Report) -> usize {
    report.nodes.iter().filter(|n| super::words::lacks(n)).count()
}

/// How many nodes are concerned and why, with as many codes as there is room for.
fn first(report: &Report, room: usize) -> String {
    let groups = groups(report);
    let worst = groups.iter().find(|g| g.severity > crate::cause::Severity::Info);
    match worst {
        Some(g) => {
            let mut codes: Vec<&str> = Vec::new();
            for code in groups.iter().filter(|o| o.severity == g.severity).flat_map(|o| o.codes()) {
                if !codes.contains(&code) {
                    codes.push(code);
                }
            }
            let head = match (lacking(report), g.nodes.len()) {
                (0, 0) => String::new(),
                (0, n) => format!("{} {}: ", number(n), g.state.name().to_lowercase()),
                (n, _) => format!("{} lack{} it: ", number(n), if n == 1 { "s" } else { "" }),
            };
            let some = |n: usize| codes.iter().take(n).copied().collect::<Vec<_>>().join(", ");
            let told = |n: usize| format!("{head}{}{}", some(n), if n < codes.len() { ", …" } else { "" });
            (1..=codes.len()).rev().map(told).find(|text| width(text) <= room).unwrap_or_else(|| told(codes.len().min(1)))
        }
        None if report.summary.verdict == Outcome::Inconclusive => "not fully read".into(),
        None if report.rollout.phase == "complete" => "healthy".into(),
        None => format!("healthy, rollout {}", report.rollout.phase),
    }
}
