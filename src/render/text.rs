//! The first screen: the answer, the counters, the rollout, then groups of nodes by cause, worst
//! first, with what to do.

use std::io::{self, Write};

use super::Style;
use super::answer::answer;
use super::layout::{span, width};
use super::palette::{Role, role, symbol};
use super::preflight;
use super::screen::{Row, Screen};
use super::words::{age, count, names, number, situation, states};
use crate::cause::{Cause, RemedyKind, Severity, Stage};
use crate::controller::recount::Counters;
use crate::report::grouping::{Group, Shared, Tried, Variant, groups};
use crate::report::scheduler_words::disagreement;
use crate::report::{NodeReport, Outcome, Report, State};

/// Sentences that differ between the nodes of a group and are shown.
const VARIANTS: usize = 3;
/// Remedies of one cause that are shown.
const REMEDIES: usize = 3;
/// Pieces of evidence that are pointed at.
const EVIDENCE: usize = 5;
/// Groups that are shown with evidence and remedies; further ones with the first sentence of each cause.
const FULL: usize = 6;
/// Columns of a value that is too long for the first screen.
const LONG: usize = 60;

/// Writes the reports, one below the other.
pub fn render(out: &mut impl Write, reports: &[Report], style: &Style) -> io::Result<()> {
    let mut screen = Screen::new(out, style);
    for (i, report) in reports.iter().enumerate() {
        if i > 0 {
            screen.blank()?;
        }
        one(&mut screen, report)?;
    }
    Ok(())
}

fn one<W: Write>(screen: &mut Screen<W>, report: &Report) -> io::Result<()> {
    let groups = groups(report);
    head(screen, report)?;
    if let Some(judged) = &report.preflight {
        screen.blank()?;
        preflight::show(screen, report, judged)?;
    } else if report.summary.verdict != Outcome::Healthy || disagrees(report) {
        screen.blank()?;
        counters(screen, report)?;
    }
    if has_a_rollout(report) {
        screen.blank()?;
        rollout(screen, report)?;
    }
    if !groups.is_empty() {
        screen.blank()?;
    }
    let column = groups.iter().map(|g| width(&title(g))).filter(|w| *w <= 20).max().unwrap_or(0);
    for (i, group) in groups.iter().enumerate() {
        show(screen, report, group, column, i >= FULL)?;
    }
    if groups.len() > FULL && groups.get(FULL).is_some_and(|g| g.severity > Severity::Info) {
        let text = "The groups further down are in short: --node NAME has all of a node, -o json of every one";
        screen.wrapped(0, 2, &[span(Role::Faint, text)])?;
    }
    beside(screen, report)?;
    missing(screen, report)?;
    if report.summary.verdict == Outcome::Problems {
        screen.blank()?;
        let hint = "More: --explain CODE, --node NAME, -o wide (every check on every node)";
        screen.wrapped(0, 2, &[span(Role::Faint, hint)])?;
    }
    Ok(())
}

/// False where the counters and the groups say it all: with every pod updated, or where nothing can
/// be told of one.
fn has_a_rollout(report: &Report) -> bool {
    let r = &report.rollout;
    match r.phase {
        "not-applied" | "updated" => false,
        "unknown" => !(r.blocked_by.is_empty() && r.waiting.is_empty() && r.changes.is_empty()),
        _ => true,
    }
}

/// The answer, and the nodes by state.
pub fn head<W: Write>(screen: &mut Screen<W>, report: &Report) -> io::Result<()> {
    let (role, symbol, sentence) = answer(report);
    let name = format!("{}/{}", report.daemon_set.namespace, report.daemon_set.name);
    screen.wrapped(
        0,
        2,
        &[span(role, symbol), span(Role::Plain, " DaemonSet "), span(Role::Strong, name), span(Role::Plain, ": "), span(role, sentence)],
    )?;
    if report.summary.states.len() < 2 && report.summary.verdict == Outcome::Healthy {
        return Ok(());
    }
    let mut line = vec![span(Role::Plain, count(report.summary.nodes, "node"))];
    let states = if report.preflight.is_some() { preflight::states(report) } else { states(&report.summary.states) };
    for (i, (state, words)) in states.into_iter().enumerate() {
        line.push(span(Role::Plain, if i == 0 { ": " } else { ", " }));
        line.push(span(state_role(state), words));
    }
    screen.wrapped(2, 4, &line)
}

/// The colour of a state.
pub fn state_role(state: State) -> Role {
    match state {
        State::Missing | State::Rejected | State::Pending | State::Unhealthy | State::Misscheduled => Role::Error,
        State::Terminating | State::Unknown => Role::Warning,
        State::Outdated | State::Excluded => Role::Plain,
        State::Healthy => Role::Good,
    }
}

fn readable(report: &Report) -> bool {
    !report.missing.iter().any(|m| m.resource == "nodes" || m.resource == "pods")
}

/// True if the API's counters are not what was counted here.
fn disagrees(report: &Report) -> bool {
    let ds = &report.daemon_set;
    ds.generation > 0 && readable(report) && row(&ds.status.counters, false) != row(&ds.recount, false)
}

fn row(c: &Counters, unknown: bool) -> Vec<String> {
    let updated = c.updated_number_scheduled.filter(|_| !unknown).map_or("?".into(), |n| n.to_string());
    vec![
        c.desired_number_scheduled.to_string(),
        c.current_number_scheduled.to_string(),
        c.number_ready.to_string(),
        updated,
        c.number_available.to_string(),
        c.number_misscheduled.to_string(),
    ]
}

fn counters<W: Write>(screen: &mut Screen<W>, report: &Report) -> io::Result<()> {
    let ds = &report.daemon_set;
    let mut heading = vec!["DESIRED", "CURRENT", "READY", "UP-TO-DATE", "AVAILABLE", "MISSCHEDULED"];
    let right = [false, true, true, true, true, true, true];
    if disagrees(report) {
        heading.insert(0, "");
        let labelled = |label: &str, c: &Counters, role| {
            let mut cells = row(c, false);
            cells.insert(0, label.to_string());
            Row { cells, role }
        };
        let rows = [labelled("status says", &ds.status.counters, Role::Plain), labelled("counted", &ds.recount, Role::Strong)];
        screen.table(2, &heading, &rows, &right, &[])?;
    } else {
        let counters = if ds.generation > 0 { &ds.status.counters } else { &ds.recount };
        screen.table(2, &heading, &[Row { cells: row(counters, false), role: Role::Plain }], &[true; 6], &[])?;
    }
    if !ds.node_selector.is_empty() {
        let selector: Vec<String> = ds.node_selector.iter().map(|(k, v)| format!("{k}={v}")).collect();
        screen.wrapped(2, 4, &[span(Role::Faint, "node selector: "), span(Role::Plain, selector.join(","))])?;
    }
    Ok(())
}

/// The rollout: where it stands, who holds it up, what changes.
pub fn rollout<W: Write>(screen: &mut Screen<W>, report: &Report) -> io::Result<()> {
    let r = &report.rollout;
    let mut strategy = r.strategy.clone();
    if let Some(n) = r.max_unavailable {
        strategy += &format!(", maxUnavailable {n}");
    }
    if let Some(n) = r.max_surge {
        strategy += &format!(", maxSurge {n}");
    }
    let counted = &report.daemon_set.recount;
    let desired = counted.desired_number_scheduled;
    let role = match r.phase {
        "stuck" => Role::Error,
        "complete" => Role::Good,
        "progressing" | "updated" => Role::Plain,
        _ => Role::Warning,
    };
    let mut line = vec![span(Role::Strong, "Rollout"), span(Role::Plain, "  "), span(role, phase(r.phase))];
    if let Some(seconds) = r.stalled_seconds.filter(|s| r.phase == "stuck" && *s >= 60) {
        line.push(span(role, format!(" for {}", age(seconds))));
    }
    let first = r.revisions.iter().filter_map(|c| c.revision).min().filter(|f| Some(*f) != r.revision && r.phase != "complete");
    match (first, r.revision) {
        (Some(from), Some(to)) => line.push(span(Role::Plain, format!(", revision {from} → {to}"))),
        (None, Some(to)) => line.push(span(Role::Plain, format!(", revision {to}"))),
        _ => {}
    }
    if r.phase != "complete" {
        let updated = counted.updated_number_scheduled.map_or("?".into(), |n| n.to_string());
        line.push(span(Role::Plain, format!(": {updated} of {desired} updated, {} available", counted.number_available)));
    }
    line.push(span(Role::Faint, format!(" ({strategy})")));
    screen.wrapped(0, 9, &line)?;
    if r.phase == "complete" {
        return Ok(());
    }
    let room = screen.width().saturating_sub(40);
    let blocked: Vec<&str> = r.blocked_by.iter().map(String::as_str).collect();
    let waiting: Vec<&str> = r.waiting.iter().map(String::as_str).collect();
    let waits = if waiting.len() == 1 { "waits" } else { "wait" };
    let held = match (blocked.len(), waiting.len()) {
        (0, 0) => None,
        (0, _) => Some(format!("{} {waits}", names(&waiting, room))),
        (n, 0) if r.max_surge.is_some_and(|s| s > 0) => {
            let (pods, old) = if n == 1 { ("pod", "the old one stays") } else { ("pods", "the old ones stay") };
            Some(format!("the new {pods} on {} cannot take over yet: {old}", names(&blocked, room)))
        }
        (_, 0) => Some(format!("unavailable: {}", names(&blocked, room))),
        (n, _) => {
            let allowed = r.max_surge.filter(|s| *s > 0).or(r.max_unavailable).unwrap_or(0);
            let whole = i64::try_from(n).is_ok_and(|n| n >= allowed);
            let part = format!("{n} of the budget of {allowed}");
            let verb = format!("{} {}", if n == 1 { "uses" } else { "use" }, if whole { "the whole budget up" } else { &part });
            Some(format!("{} {verb}{} {} {waits}", names(&blocked, room), if whole { ", so" } else { ";" }, names(&waiting, room)))
        }
    };
    if let Some(held) = held {
        screen.wrapped(9, 9, &[span(Role::Plain, held)])?;
    }
    for change in &r.changes {
        screen.wrapped(9, 11, &[span(Role::Faint, "changed: "), span(Role::Plain, change)])?;
    }
    Ok(())
}

fn phase(phase: &str) -> &str {
    match phase {
        "waiting-for-delete" => "waits until old pods are deleted",
        "unobserved" => "not seen by the controller yet",
        "updated" => "done, but not every pod is available",
        "unknown" => "cannot be told",
        other => other,
    }
}

fn title(group: &Group) -> String {
    let codes = group.codes();
    if codes.is_empty() { group.state.name().to_string() } else { codes.join(" + ") }
}

fn show<W: Write>(screen: &mut Screen<W>, report: &Report, group: &Group, column: usize, short: bool) -> io::Result<()> {
    let title = title(group);
    let pad = column.saturating_sub(width(&title));
    let mut line =
        vec![span(role(group.severity), format!("{} {title}", symbol(group.severity))), span(Role::Plain, format!("{:pad$}  ", ""))];
    if group.nodes.is_empty() {
        line.push(span(Role::Plain, "the DaemonSet as a whole"));
    } else {
        let lines = if short || group.follows() { 1 } else { 2 };
        let room = (screen.width().saturating_sub(8) * lines).saturating_sub(width(&title).min(40));
        line.push(span(Role::Strong, count(group.nodes.len(), "node")));
        line.push(span(Role::Plain, format!(", {}: ", since(report, group))));
        line.push(span(Role::Strong, names(&group.names(), room)));
    }
    screen.wrapped(0, 4, &line)?;
    if group.causes.is_empty() && group.state != State::Unknown {
        screen.wrapped(4, 4, &[span(Role::Plain, "no cause was found in what was read")])?;
    }
    let several = group.codes().len() > 1;
    if short {
        for cause in &group.causes {
            let Some(telling) = told(cause).into_iter().next() else { continue };
            let code = if several { format!("{}: ", cause.code) } else { String::new() };
            let more = cause.variants.iter().map(|v| v.nodes.len()).sum::<usize>() > telling.variant.nodes.len();
            let more = if more { " (and the like)" } else { "" };
            let line = [span(Role::Strong, code), span(Role::Plain, &telling.variant.cause.message), span(Role::Faint, more)];
            screen.wrapped(4, 6, &line)?;
        }
        return Ok(());
    }
    for cause in &group.causes {
        sentences(screen, group, cause, several)?;
    }
    disagreements(screen, group)?;
    preemption(screen, group)?;
    if group.severity > Severity::Info {
        remedies(screen, group)?;
    }
    Ok(())
}

/// What the state means for these nodes, and since when.
fn since(report: &Report, group: &Group) -> String {
    if report.preflight.is_some() {
        return preflight::situation(group.state, group.nodes.len()).to_string();
    }
    let words = situation(group.state, group.nodes.len());
    let oldest = group.nodes.iter().flat_map(|n| &n.pods).filter(|p| !p.bound).filter_map(|p| p.created).min();
    match (group.state, oldest) {
        (State::Pending, Some(created)) => format!("{words} for {}", age(report.now.seconds_since(created))),
        _ => words.to_string(),
    }
}

fn sentences<W: Write>(screen: &mut Screen<W>, group: &Group, cause: &Shared, several: bool) -> io::Result<()> {
    let told = told(cause);
    let alone = told.len() == 1;
    for telling in told.iter().take(VARIANTS) {
        let mut line = Vec::new();
        if several {
            line.push(span(Role::Strong, format!("{}: ", cause.code)));
        }
        if !alone || telling.likewise > 0 {
            line.push(span(Role::Plain, format!("{}: ", names(&telling.variant.nodes, 40))));
        }
        line.push(span(Role::Plain, &telling.variant.cause.message));
        if telling.likewise > 0 {
            line.push(span(Role::Faint, format!(" (likewise on {} more)", number(telling.likewise))));
        }
        screen.wrapped(4, 6, &line)?;
    }
    let left: usize = told.iter().skip(VARIANTS).map(|t| t.variant.nodes.len() + t.likewise).sum();
    if left > 0 {
        let text = format!("… and {} with other numbers or names (-o wide or --node has them)", count(left, "node"));
        screen.wrapped(4, 6, &[span(Role::Faint, text)])?;
    }
    match told.first() {
        // What only follows from other causes needs no proof.
        Some(telling) if alone && cause.severity > Severity::Info && (group.nodes.is_empty() || !group.follows()) => {
            evidence(screen, group, telling.variant.cause)
        }
        _ => Ok(()),
    }
}

/// A sentence and on how many more nodes it holds with other names and numbers.
struct Telling<'g, 'a> {
    variant: &'g Variant<'a>,
    likewise: usize,
}

/// The sentences of a cause, those that differ only in names and numbers told once.
fn told<'g, 'a>(cause: &'g Shared<'a>) -> Vec<Telling<'g, 'a>> {
    let mut told: Vec<Telling> = Vec::new();
    let mut shapes: std::collections::BTreeMap<(&str, String), usize> = std::collections::BTreeMap::new();
    for variant in &cause.variants {
        let at = *shapes.entry((&variant.cause.detail, shape(&variant.cause.message))).or_insert(told.len());
        match told.get_mut(at) {
            Some(telling) => telling.likewise += variant.nodes.len(),
            None => told.push(Telling { variant, likewise: 0 }),
        }
    }
    told
}

/// The sentence without its numbers and names: words with a digit, a slash or a hyphen.
fn shape(message: &str) -> String {
    let name = |w: &str| w.chars().any(|c| c.is_ascii_digit() || c == '/' || c == '-');
    message.split(' ').map(|w| if name(w) { "#" } else { w }).collect::<Vec<_>>().join(" ")
}

/// What the evidence says beside the sentence, object by object: values that stand in it, or are the
/// group's nodes, are left out.
fn evidence<W: Write>(screen: &mut Screen<W>, group: &Group, cause: &Cause) -> io::Result<()> {
    let stands = |value: &str| group.nodes.iter().any(|n| n.name == value) || says(&cause.message, value);
    let mut text = String::new();
    let mut object = "";
    let mut left = 0;
    for e in &cause.evidence {
        let value = match &e.value {
            serde_json::Value::String(s) => s.clone(),
            // Lists and objects do not fit a line: -o json has them.
            serde_json::Value::Object(_) | serde_json::Value::Array(_) => continue,
            serde_json::Value::Null => String::new(),
            other => other.to_string(),
        };
        if !value.is_empty() && (stands(&value) || width(&value) > LONG) {
            continue;
        }
        left += 1;
        if left > EVIDENCE {
            continue;
        }
        if e.object != object {
            text += if text.is_empty() { "" } else { "; " };
            text += &e.object;
        } else {
            text += ",";
        }
        object = &e.object;
        text += &format!(" {}", e.field);
        if !value.is_empty() {
            text += &format!(" = {value}");
        }
    }
    match left.saturating_sub(EVIDENCE) {
        0 => {}
        n => text += &format!("; and {n} more"),
    }
    if text.is_empty() {
        return Ok(());
    }
    screen.wrapped(4, 6, &[span(Role::Faint, format!("seen: {text}"))])
}

/// True if the sentence has the value as words of its own; a full stop at its end is no matter.
fn says(sentence: &str, value: &str) -> bool {
    let value = value.trim_end_matches('.');
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '-' || c == '_');
    sentence.match_indices(value).any(|(at, found)| {
        let (before, after) = (sentence.get(..at).unwrap_or_default(), sentence.get(at + found.len()..).unwrap_or_default());
        let part_of_a_number = after.starts_with('.') && after.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
        !inside(before.chars().last()) && !before.ends_with(['.', '/']) && !inside(after.chars().next()) && !part_of_a_number
    })
}

/// Where the scheduler says something else.
fn disagreements<W: Write>(screen: &mut Screen<W>, group: &Group) -> io::Result<()> {
    let mut told: Vec<String> = Vec::new();
    for node in &group.nodes {
        if let Some(words) = disagreement(node)
            && !told.contains(&words)
        {
            told.push(words);
        }
    }
    for words in told.iter().take(VARIANTS) {
        screen.wrapped(4, 6, &[span(Role::Warning, "! "), span(Role::Plain, words)])?;
    }
    Ok(())
}

/// What preemption would do for pods that wait for the scheduler. That it cannot help where nothing
/// but a change of the node or the pod could is left to `--node`.
fn preemption<W: Write>(screen: &mut Screen<W>, group: &Group) -> io::Result<()> {
    // Of a pod that has its place it is no matter whether another would find one.
    let waits = |n: &&&NodeReport| n.causes.iter().any(|c| c.stage == Stage::Scheduling);
    let known: Vec<_> = group.nodes.iter().filter(waits).filter_map(|n| n.preemption.as_ref().map(|p| (n.name.as_str(), p))).collect();
    let Some((_, first)) = known.first() else { return Ok(()) };
    let possible: Vec<&str> = known.iter().filter(|(_, p)| p.possible).map(|(n, _)| *n).collect();
    let text = if first.reason.starts_with("under way") {
        format!("preemption is {}", first.reason)
    } else if possible.is_empty() {
        if first.reason.starts_with("not helpful") || first.reason.starts_with("it cannot be told") {
            return Ok(());
        }
        format!("preemption cannot help{}", reason(first.reason.trim_start_matches("no victims: ")))
    } else if group.nodes.len() == 1 {
        let victims: Vec<&str> = first.victims.iter().map(String::as_str).collect();
        format!("preemption can make room by evicting {}{}", names(&victims, 100), reason(&first.reason))
    } else {
        format!("preemption can make room on {} of {}", number(possible.len()), count(group.nodes.len(), "node"))
    };
    screen.wrapped(4, 6, &[span(Role::Plain, text)])
}

fn reason(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(": {reason}") }
}

fn remedies<W: Write>(screen: &mut Screen<W>, group: &Group) -> io::Result<()> {
    let mut shown: Vec<&Tried> = Vec::new();
    let mut left = 0;
    let mut likewise = false;
    let others = group.causes.iter().flat_map(|c| &c.remedies).any(|t| !is_in_vain(t));
    for cause in &group.causes {
        likewise |= cause.likewise;
        let fresh: Vec<&Tried> = cause.remedies.iter().filter(|t| !shown.iter().any(|s| s.remedy == t.remedy)).collect();
        left += fresh.len();
        // Where something fixes, or shows more, what was tried and does not fix is no help.
        let fresh: Vec<&Tried> = fresh.into_iter().filter(|t| !others || t.remedy.effect.is_none() || !is_in_vain(t)).collect();
        left -= fresh.len().min(REMEDIES);
        shown.extend(fresh.into_iter().take(REMEDIES));
    }
    for tried in shown {
        remedy(screen, tried, group.nodes.len())?;
    }
    let more = match (left, likewise) {
        (0, false) => return Ok(()),
        (0, true) => "the same for the other nodes: --node NAME or -o json".to_string(),
        (n, _) => format!("{} more: --node NAME or -o json", number(n)),
    };
    screen.wrapped(4, 6, &[span(Role::Faint, format!("… {more}"))])
}

/// True for what was tried and lets no node run the pod.
fn is_in_vain(tried: &Tried) -> bool {
    tried.fixed.is_empty() && !tried.still_blocked.is_empty()
}

/// What to do, what it touches, what it would achieve, and the command.
pub fn remedy<W: Write>(screen: &mut Screen<W>, tried: &Tried, nodes: usize) -> io::Result<()> {
    let mut line = vec![span(Role::Plain, format!("→ {}", tried.remedy.title))];
    if let Some(tag) = tag(tried.remedy.kind) {
        line.push(span(Role::Faint, format!(" ({tag})")));
    }
    if let Some(effect) = effect(tried, nodes) {
        line.push(span(Role::Plain, ": "));
        line.push(span(if tried.fixed.is_empty() { Role::Warning } else { Role::Good }, effect));
    }
    screen.wrapped(4, 6, &line)?;
    match &tried.remedy.command {
        Some(command) => screen.command(6, command),
        None => Ok(()),
    }
}

/// What a remedy touches, in words; nothing for one that only looks.
pub fn tag(kind: RemedyKind) -> Option<&'static str> {
    match kind {
        RemedyKind::Inspect => None,
        RemedyKind::Daemonset => Some("changes the DaemonSet"),
        RemedyKind::Node => Some("changes the node or another object"),
        RemedyKind::Disruptive => Some("disruptive"),
    }
}

/// What a remedy would achieve, in words, where it was tried.
pub fn effect(tried: &Tried, nodes: usize) -> Option<String> {
    tried.remedy.effect.as_ref()?;
    let fixed = tried.fixed.len();
    let mut text = match (fixed, nodes) {
        (0, _) if tried.still_blocked.is_empty() => "what it would achieve cannot be told, not everything could be read".to_string(),
        (0, _) => "this alone lets no node run the pod".to_string(),
        (1, 1) => "the node would then run the pod".to_string(),
        (fixed, _) => {
            format!("{} of {} would then run the pod", number(fixed), count(nodes.max(fixed + tried.still_blocked.len()), "node"))
        }
    };
    let mut by_codes: std::collections::BTreeMap<String, Vec<&str>> = std::collections::BTreeMap::new();
    for (node, codes) in &tried.still_blocked {
        let codes: Vec<&str> = codes.iter().copied().collect();
        by_codes.entry(codes.join(", ")).or_default().push(node);
    }
    for (codes, nodes) in by_codes.iter().take(2) {
        text += &format!("; {} would still be blocked by {codes}", names(nodes, 24));
    }
    if by_codes.len() > 2 {
        text += ", and others by something else";
    }
    Some(text)
}

/// What failing pods have in common, and advice that bears on a cause.
fn beside<W: Write>(screen: &mut Screen<W>, report: &Report) -> io::Result<()> {
    // A sentence that stands with its cause is not told twice.
    let told = |sentence: &str| {
        let body = sentence.split_once(": ").map_or(sentence, |(_, body)| body);
        report.all_causes().any(|c| c.message.contains(body))
    };
    let correlations: Vec<&String> = report.correlations.iter().filter(|s| !told(s)).collect();
    if !correlations.is_empty() {
        screen.blank()?;
        screen.line(0, &[span(Role::Strong, "In common")])?;
        for sentence in correlations {
            screen.wrapped(2, 4, &[span(Role::Plain, format!("· {sentence}"))])?;
        }
    }
    let bearing: Vec<_> = report.advice.iter().filter(|a| !a.bears_on.is_empty()).collect();
    if !bearing.is_empty() {
        screen.blank()?;
        screen.line(0, &[span(Role::Strong, "Bears on this")])?;
        for advice in bearing {
            let line = [span(Role::Plain, format!("· {}", advice.message)), span(Role::Faint, format!(" ({})", advice.code))];
            screen.wrapped(2, 4, &line)?;
        }
    }
    Ok(())
}

/// What could not be read, and what that keeps from being known.
pub fn missing<W: Write>(screen: &mut Screen<W>, report: &Report) -> io::Result<()> {
    if report.missing.is_empty() {
        return Ok(());
    }
    screen.blank()?;
    screen.line(0, &[span(Role::Warning, "Could not be read")])?;
    for m in &report.missing {
        let place = m.namespace.as_ref().map_or(String::new(), |n| format!(" in namespace {n}"));
        let what = format!("? {} {}{place}: ", m.verb, m.resource);
        screen.wrapped(2, 4, &[span(Role::Strong, what), span(Role::Plain, &m.effect)])?;
    }
    Ok(())
}
