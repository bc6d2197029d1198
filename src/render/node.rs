//! `--node`: everything about single nodes: pods, every check with its verdict and reasons, the
//! scheduler's own words, and every cause with its evidence and remedies.

use std::io::{self, Write};

use super::Style;
use super::answer::answer;
use super::layout::span;
use super::palette::{Role, role, symbol};
use super::preflight;
use super::screen::{Row, Screen};
use super::text::{effect, missing, rollout, state_role, tag};
use super::words::{age, situation};
use crate::cause::{Cause, Remedy};
use crate::report::grouping::Tried;
use crate::report::scheduler_words::disagreement;
use crate::report::{CheckVerdict, NodeReport, PodReport, Report};

/// Writes every node of the reports in full.
pub fn render(out: &mut impl Write, reports: &[Report], style: &Style) -> io::Result<()> {
    let mut screen = Screen::new(out, style);
    for (i, report) in reports.iter().enumerate() {
        if i > 0 {
            screen.blank()?;
        }
        let name = format!("{}/{}", report.daemon_set.namespace, report.daemon_set.name);
        if report.nodes.len() > 1 {
            let (role, symbol, sentence) = answer(report);
            let line = [
                span(role, symbol),
                span(Role::Plain, " DaemonSet "),
                span(Role::Strong, name),
                span(Role::Plain, " on these nodes: "),
                span(role, sentence),
            ];
            screen.wrapped(0, 2, &line)?;
        } else {
            screen.wrapped(0, 2, &[span(Role::Plain, "DaemonSet "), span(Role::Strong, name)])?;
        }
        match &report.preflight {
            Some(judged) => preflight::show(&mut screen, report, judged)?,
            None => rollout(&mut screen, report)?,
        }
        for cause in &report.causes {
            full(&mut screen, cause, 0, &[])?;
        }
        for node in &report.nodes {
            screen.blank()?;
            one(&mut screen, report, node)?;
        }
        missing(&mut screen, report)?;
    }
    Ok(())
}

fn yes(value: Option<bool>) -> &'static str {
    match value {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not known",
    }
}

fn one<W: Write>(screen: &mut Screen<W>, report: &Report, node: &NodeReport) -> io::Result<()> {
    let line = [
        span(Role::Plain, "Node "),
        span(Role::Strong, &node.name),
        span(Role::Plain, ": "),
        span(
            state_role(node.state),
            if report.preflight.is_some() { preflight::situation(node.state, 1) } else { situation(node.state, 1) },
        ),
    ];
    screen.wrapped(0, 2, &line)?;
    let wanted = format!(
        "the DaemonSet controller wants a pod here: {}; lets one that runs stay: {}",
        yes(node.should_run),
        yes(node.should_continue_running)
    );
    screen.wrapped(2, 4, &[span(Role::Plain, wanted)])?;
    pods(screen, report, node)?;
    for cause in &node.causes {
        screen.blank()?;
        full(screen, cause, 2, &node.pods)?;
    }
    checks(screen, node)?;
    words(screen, node)?;
    if let Some(p) = &node.preemption {
        screen.blank()?;
        let under_way = p.reason.starts_with("under way");
        let verdict = if p.possible {
            "can make room"
        } else if under_way {
            "is"
        } else {
            "cannot help"
        };
        let colon = if under_way { " " } else { ": " };
        let why = if p.reason.is_empty() { String::new() } else { format!("{colon}{}", p.reason) };
        screen.wrapped(2, 4, &[span(Role::Strong, "Preemption "), span(Role::Plain, format!("{verdict}{why}"))])?;
        for victim in &p.victims {
            let budget = if p.violating.contains(victim) { ", against its PodDisruptionBudget" } else { "" };
            screen.wrapped(4, 6, &[span(Role::Plain, format!("would evict {victim}{budget}"))])?;
        }
    }
    Ok(())
}

fn pods<W: Write>(screen: &mut Screen<W>, report: &Report, node: &NodeReport) -> io::Result<()> {
    if node.pods.is_empty() {
        return screen.wrapped(2, 4, &[span(Role::Plain, "no pod of the DaemonSet is here")]);
    }
    let word = |b: bool| if b { "yes" } else { "no" }.to_string();
    let rows: Vec<Row> = node
        .pods
        .iter()
        .map(|p| Row {
            cells: vec![
                p.name.clone(),
                if p.terminating { "Terminating".into() } else { p.phase.clone() },
                word(p.ready),
                word(p.available),
                yes(p.up_to_date).to_string(),
                p.restarts.to_string(),
                p.created.map_or("?".into(), |c| age(report.now.seconds_since(c))),
            ],
            role: Role::Plain,
        })
        .collect();
    let heading = ["POD", "PHASE", "READY", "AVAILABLE", "UP-TO-DATE", "RESTARTS", "AGE"];
    screen.table(2, &heading, &rows, &[false, false, false, false, false, true, true], &[])
}

fn checks<W: Write>(screen: &mut Screen<W>, node: &NodeReport) -> io::Result<()> {
    if node.checks.is_empty() {
        return Ok(());
    }
    screen.blank()?;
    let title = "The scheduler's checks on a fresh pod here, own pods left out";
    screen.wrapped(2, 4, &[span(Role::Strong, title)])?;
    let of = |verdict| node.checks.iter().filter(move |c| c.verdict == verdict);
    for check in of(CheckVerdict::Fail) {
        let line =
            [span(Role::Error, format!("✗ {}", check.plugin)), span(Role::Plain, format!("  refuses: {}", check.reasons.join("; ")))];
        screen.wrapped(4, 6, &line)?;
    }
    for check in of(CheckVerdict::Unknown) {
        let line =
            [span(Role::Warning, format!("? {}", check.plugin)), span(Role::Plain, format!("  not known: {}", check.reasons.join("; ")))];
        screen.wrapped(4, 6, &line)?;
    }
    let passed: Vec<&str> = of(CheckVerdict::Pass).map(|c| c.plugin).collect();
    if !passed.is_empty() {
        screen.wrapped(4, 6, &[span(Role::Good, "✓ "), span(Role::Plain, format!("passed: {}", passed.join(", ")))])?;
    }
    Ok(())
}

/// The scheduler's own words, and whether they are explained.
fn words<W: Write>(screen: &mut Screen<W>, node: &NodeReport) -> io::Result<()> {
    for pod in &node.pods {
        let Some(message) = pod.scheduler_message.as_ref().filter(|m| !m.is_empty()) else { continue };
        screen.blank()?;
        screen.wrapped(2, 4, &[span(Role::Strong, "The scheduler's own words "), span(Role::Plain, format!("about pod {}", pod.name))])?;
        screen.wrapped(4, 4, &[span(Role::Plain, message)])?;
    }
    if let Some(words) = disagreement(node) {
        screen.wrapped(4, 6, &[span(Role::Warning, "! "), span(Role::Plain, words)])?;
    }
    Ok(())
}

/// A cause with everything about it.
fn full<W: Write>(screen: &mut Screen<W>, cause: &Cause, indent: usize, pods: &[PodReport]) -> io::Result<()> {
    let line = [
        span(role(cause.severity), format!("{} {}", symbol(cause.severity), cause.code)),
        span(Role::Strong, if cause.detail.is_empty() { String::new() } else { format!(" {}", cause.detail) }),
    ];
    screen.wrapped(indent, indent + 4, &line)?;
    screen.wrapped(indent + 4, indent + 4, &[span(Role::Plain, &cause.message)])?;
    for e in &cause.evidence {
        let value = match &e.value {
            serde_json::Value::String(s) => s.clone(),
            other => other.to_string(),
        };
        // The scheduler's own words stand below.
        if !value.is_empty() && pods.iter().any(|p| p.scheduler_message.as_deref() == Some(&value)) {
            continue;
        }
        let line = [span(Role::Faint, format!("{} {} = ", e.object, e.field)), span(Role::Plain, value)];
        screen.wrapped(indent + 4, indent + 6, &line)?;
    }
    for remedy in &cause.remedies {
        advice(screen, remedy, indent + 4)?;
    }
    Ok(())
}

fn advice<W: Write>(screen: &mut Screen<W>, remedy: &Remedy, indent: usize) -> io::Result<()> {
    let mut line = vec![span(Role::Plain, format!("→ {}", remedy.title))];
    if let Some(tag) = tag(remedy.kind) {
        line.push(span(Role::Faint, format!(" ({tag})")));
    }
    if let Some(words) = effect(&Tried::new(remedy), 1) {
        line.push(span(Role::Plain, format!(": {words}")));
    }
    screen.wrapped(indent, indent + 2, &line)?;
    match &remedy.command {
        Some(command) => screen.command(indent + 2, command),
        None => Ok(()),
    }
}
