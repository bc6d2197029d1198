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
                first(r),
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
        let command = format!("kubectl ds-doctor {} -n {}", worst.daemon_set.name, worst.daemon_set.namespace);
        screen.line(0, &[span(Role::Faint, "the whole story of one: "), span(Role::Command, command)])?;
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

/// The worst state and its cause in a few words.
fn first(report: &Report) -> String {
    let groups = groups(report);
    let worst = groups.iter().find(|g| g.severity > crate::cause::Severity::Info);
    match worst {
        Some(g) if g.nodes.is_empty() => g.codes().join(" + "),
        Some(g) => {
            let codes = g.codes().join(" + ");
            let more = if groups.iter().filter(|o| o.severity == g.severity).count() > 1 { ", …" } else { "" };
            format!("{} {}: {codes}{more}", number(g.nodes.len()), g.state.name().to_lowercase())
        }
        None if report.summary.verdict == Outcome::Inconclusive => "not fully read".into(),
        None if report.rollout.phase == "complete" => "healthy".into(),
        None => format!("healthy, rollout {}", report.rollout.phase),
    }
}
