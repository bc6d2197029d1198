//! `-o wide`: node by check, as a matrix, with the state and the causes of every node.

use std::io::{self, Write};

use super::Style;
use super::layout::{cut, span, width};
use super::palette::Role;
use super::preflight;
use super::screen::{Row, Screen};
use super::text::{head, missing, rollout, state_role};
use crate::report::{CheckVerdict, NodeReport, Report};

/// Columns that the causes get at least.
const CAUSES: usize = 24;
/// Columns that a node's name gets at most on a narrow terminal.
const NAME: usize = 30;

/// Writes the reports.
pub fn render(out: &mut impl Write, reports: &[Report], style: &Style) -> io::Result<()> {
    let mut screen = Screen::new(out, style);
    for (i, report) in reports.iter().enumerate() {
        if i > 0 {
            screen.blank()?;
        }
        head(&mut screen, report)?;
        screen.blank()?;
        match &report.preflight {
            Some(judged) => preflight::show(&mut screen, report, judged)?,
            None => rollout(&mut screen, report)?,
        }
        screen.blank()?;
        matrix(&mut screen, report, style)?;
        missing(&mut screen, report)?;
    }
    Ok(())
}

/// The sign of a verdict; `-` where the check was not made.
fn sign(verdict: Option<CheckVerdict>, ascii: bool) -> &'static str {
    match (verdict, ascii) {
        (Some(CheckVerdict::Pass), false) => "✓",
        (Some(CheckVerdict::Pass), true) => "+",
        (Some(CheckVerdict::Fail), false) => "✗",
        (Some(CheckVerdict::Fail), true) => "x",
        (Some(CheckVerdict::Unknown), _) => "?",
        (None, _) => "-",
    }
}

/// A heading that is short enough for a narrow terminal.
fn short(plugin: &str) -> &str {
    match plugin {
        "SchedulingGates" => "Gates",
        "NodeUnschedulable" => "Cordon",
        "NodeName" => "Name",
        "TaintToleration" => "Taint",
        "NodeAffinity" => "Affinity",
        "NodePorts" => "Ports",
        "NodeResourcesFit" => "Fit",
        "VolumeRestrictions" => "VolRestr",
        "NodeVolumeLimits" => "VolLimit",
        "VolumeBinding" => "VolBind",
        "VolumeZone" => "VolZone",
        "PodTopologySpread" => "Spread",
        "InterPodAffinity" => "PodAff",
        "DynamicResources" => "Devices",
        "NodeDeclaredFeatures" => "Features",
        other => other,
    }
}

fn verdict(node: &NodeReport, plugin: &str) -> Option<CheckVerdict> {
    node.checks.iter().find(|c| c.plugin == plugin).map(|c| c.verdict)
}

fn matrix<W: Write>(screen: &mut Screen<W>, report: &Report, style: &Style) -> io::Result<()> {
    let mut plugins: Vec<&'static str> = Vec::new();
    for check in report.nodes.iter().flat_map(|n| &n.checks) {
        if !plugins.contains(&check.plugin) {
            plugins.push(check.plugin);
        }
    }
    let passes = |p: &&&str| report.nodes.iter().all(|n| verdict(n, p) == Some(CheckVerdict::Pass));
    let quiet: Vec<&str> = plugins.iter().filter(passes).copied().collect();
    let told: Vec<&str> = plugins.iter().copied().filter(|p| !quiet.contains(p)).collect();

    let longest = report.nodes.iter().map(|n| width(&n.name)).max().unwrap_or(0);
    let names = if screen.width() < 120 { longest.min(NAME) } else { longest.min(64) };
    let state = 13;
    let room = screen.width().saturating_sub(names.max(4) + 2 + state + CAUSES);
    let whole: usize = 8 + told.iter().map(|p| p.len() + 2).sum::<usize>();
    let brief = whole > room;
    let title = |plugin: &'static str| if brief { short(plugin) } else { plugin };
    let mut blocks: Vec<Vec<(&str, &str)>> = vec![vec![("WANTED", "WANTED")]];
    let mut used = 8;
    for plugin in told {
        let title = title(plugin);
        if used + title.len() + 2 > room {
            blocks.push(Vec::new());
            used = 0;
        }
        used += title.len() + 2;
        if let Some(block) = blocks.last_mut() {
            block.push((plugin, title));
        }
    }
    let last = blocks.len().saturating_sub(1);
    for (i, block) in blocks.iter().enumerate() {
        if i > 0 {
            screen.blank()?;
        }
        part(screen, report, block, names, i == last, style)?;
    }
    screen.blank()?;
    let pass = sign(Some(CheckVerdict::Pass), style.ascii);
    let fail = sign(Some(CheckVerdict::Fail), style.ascii);
    let legend = format!(
        "{pass} passes   {fail} refuses   ? not known   - not judged   WANTED: by the DaemonSet controller; the others: the scheduler's verdict on a fresh pod"
    );
    screen.wrapped(0, 2, &[span(Role::Faint, legend)])?;
    if !quiet.is_empty() {
        screen.wrapped(0, 2, &[span(Role::Faint, format!("{pass} on every node: {}", quiet.join(", ")))])?;
    }
    Ok(())
}

fn part<W: Write>(
    screen: &mut Screen<W>,
    report: &Report,
    columns: &[(&str, &str)],
    names: usize,
    causes: bool,
    style: &Style,
) -> io::Result<()> {
    let mut heading = vec!["NODE", "STATE"];
    heading.extend(columns.iter().map(|(_, title)| *title));
    if causes {
        heading.push("CAUSES");
    }
    let taken: usize = names.max(4) + 2 + 13 + columns.iter().map(|(_, title)| title.len() + 2).sum::<usize>();
    let room = screen.width().saturating_sub(taken).max(CAUSES);
    let ellipsis = if style.ascii { "..." } else { "…" };
    let rows: Vec<Row> = report
        .nodes
        .iter()
        .map(|node| {
            let mut cells = vec![node.name.clone(), node.state.name().to_string()];
            for (column, _) in columns {
                let value = if *column == "WANTED" {
                    node.should_run.map_or(Some(CheckVerdict::Unknown), |w| Some(if w { CheckVerdict::Pass } else { CheckVerdict::Fail }))
                } else {
                    verdict(node, column)
                };
                cells.push(sign(value, style.ascii).to_string());
            }
            if causes {
                let codes: Vec<String> = node
                    .causes
                    .iter()
                    .map(|c| if c.detail.is_empty() { c.code.to_string() } else { format!("{} {}", c.code, c.detail) })
                    .collect();
                cells.push(cut(&codes.join("; "), room, ellipsis));
            }
            Row { cells, role: if node.state == crate::report::State::Healthy { Role::Plain } else { state_role(node.state) } }
        })
        .collect();
    screen.table(0, &heading, &rows, &[], &[names])
}
