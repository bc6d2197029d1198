//! The answer in one sentence: the first line of every screen.

use super::palette::Role;
use super::words::{count, lacks, number};
use crate::cause::Severity;
use crate::report::grouping::Group;
use crate::report::{Outcome, Report, State};

/// The answer: its role, its symbol and what follows the DaemonSet's name.
pub fn answer(report: &Report) -> (Role, &'static str, String) {
    let warnings = groups_of(report, Severity::Warning);
    if report.preflight.is_some() {
        let (role, symbol) = match report.summary.verdict {
            Outcome::Problems => (Role::Error, "✗"),
            Outcome::Inconclusive => (Role::Warning, "?"),
            Outcome::Healthy if warnings > 0 => (Role::Warning, "!"),
            Outcome::Healthy => (Role::Good, "✓"),
        };
        let more = if symbol == "!" { format!("; {}", count(warnings, "warning")) } else { String::new() };
        return (role, symbol, super::preflight::answer(report) + &more);
    }
    match report.summary.verdict {
        Outcome::Problems => (Role::Error, "✗", problems(report)),
        Outcome::Inconclusive if report.nodes.iter().any(lacks) => (Role::Warning, "?", format!("{}; {}", healthy(report), unread(report))),
        Outcome::Inconclusive => (Role::Warning, "?", format!("no problem found, but {}", unread(report))),
        Outcome::Healthy if warnings > 0 => {
            let codes = codes(report, Severity::Warning);
            (Role::Warning, "!", format!("{}; {}{codes}", healthy(report), count(warnings, "warning")))
        }
        Outcome::Healthy if report.nodes.iter().any(lacks) => (Role::Plain, "·", healthy(report)),
        Outcome::Healthy => (Role::Good, "✓", healthy(report)),
    }
}

fn groups_of(report: &Report, severity: Severity) -> usize {
    crate::report::grouping::groups(report).iter().filter(|g| g.severity == severity).count()
}

/// The codes of nodes' causes of this severity, those of the first groups first: ` (NodePorts, CrashLoop)`.
pub fn codes(report: &Report, severity: Severity) -> String {
    let groups = crate::report::grouping::groups(report);
    let of = |wanted: &dyn Fn(&Group) -> bool| {
        let mut codes: Vec<&str> = Vec::new();
        for code in groups.iter().filter(|g| wanted(g)).flat_map(|g| &g.causes).filter(|c| c.severity == severity).map(|c| c.code) {
            if !codes.contains(&code) {
                codes.push(code);
            }
        }
        codes
    };
    // What follows from other causes is not why, unless there is nothing else.
    let mut codes = of(&|g| g.severity == severity && (severity < Severity::Error || !g.follows()));
    if codes.is_empty() {
        codes = of(&|g| g.severity == severity);
    }
    if codes.is_empty() && severity == Severity::Error {
        codes = groups.iter().filter(|g| g.nodes.first().is_some_and(|n| lacks(n))).flat_map(Group::codes).collect();
        codes.dedup();
    }
    let more = if codes.len() > CODES { ", …" } else { "" };
    codes.truncate(CODES);
    if codes.is_empty() { String::new() } else { format!(" ({}{more})", codes.join(", ")) }
}

/// Codes that the answer names.
const CODES: usize = 3;

fn healthy(report: &Report) -> String {
    let all = report.nodes.len();
    let wanted = report.nodes.iter().filter(|n| n.should_run == Some(true)).count();
    let outdated = report.nodes.iter().filter(|n| n.state == State::Outdated).count();
    let unhealthy = report.nodes.iter().filter(|n| lacks(n)).count();
    if wanted == 0 {
        format!("wanted on none of {}", count(all, "node"))
    } else if unhealthy > 0 {
        format!("{} of {} not available yet", number(unhealthy), count(wanted, "node"))
    } else if outdated > 0 {
        format!("healthy, {} of {} still of an old revision", number(outdated), count(wanted, "node"))
    } else if wanted == all {
        format!("healthy on {}", all_of(all))
    } else {
        format!("healthy on every node that should run it ({} of {})", number(wanted), number(all))
    }
}

/// Every one of `n` nodes, in words.
pub fn all_of(n: usize) -> String {
    match n {
        1 => "the one node".into(),
        2 => "both nodes".into(),
        n => format!("all {}", count(n, "node")),
    }
}

fn unread(report: &Report) -> String {
    let unknown = report.nodes.iter().filter(|n| n.state == State::Unknown).count();
    if unknown > 0 { format!("{} could not be judged", count(unknown, "node")) } else { "not everything could be read".into() }
}

fn problems(report: &Report) -> String {
    let wanted = report.nodes.iter().filter(|n| n.should_run == Some(true)).count();
    let lacking = report.nodes.iter().filter(|n| lacks(n)).count();
    let stray = report.nodes.iter().filter(|n| n.state == State::Misscheduled).count();
    let mut parts = Vec::new();
    if lacking > 0 {
        let verb = if lacking == 1 { "lacks" } else { "lack" };
        parts.push(format!("{} of {} {verb} a healthy pod", number(lacking), count(wanted, "node")));
    }
    match stray {
        0 => {}
        1 => parts.push("a pod runs on 1 node where none should".into()),
        n => parts.push(format!("pods run on {} where none should", count(n, "node"))),
    }
    if let Some(last) = parts.last_mut() {
        *last += &codes(report, Severity::Error);
    }
    let kept = report.nodes.iter().filter(|n| n.state == State::Outdated && n.causes.iter().any(|c| c.severity == Severity::Error)).count();
    match (report.rollout.phase == "stuck", kept) {
        (true, 0) if lacking > 0 && report.rollout.waiting.is_empty() => {}
        (true, 0) => parts.push("the rollout is stuck".into()),
        (true, kept) => parts.push(format!("the rollout is stuck, {} of an old revision", count(kept, "node"))),
        (false, 0) => {}
        (false, kept) => parts.push(format!("{} of {} cannot get the current revision", number(kept), count(wanted, "node"))),
    }
    if parts.is_empty() {
        let mut codes: Vec<&str> = report.all_causes().filter(|c| c.severity == Severity::Error).map(|c| c.code).collect();
        codes.sort_unstable();
        codes.dedup();
        parts.push(codes.join(", "));
    }
    parts.join("; ")
}
