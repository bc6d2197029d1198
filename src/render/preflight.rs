//! What is said of a DaemonSet that is only judged: in the words of what would be.

use std::io::{self, Write};

use super::answer::all_of;
use super::layout::span;
use super::palette::Role;
use super::screen::Screen;
use super::words::{count, names, number};
use crate::preflight::{Action, Answer, Change, Preflight};
use crate::report::{NodeReport, Outcome, Report, State};

/// The answer: what would be.
pub fn answer(report: &Report) -> String {
    let of = |wanted: fn(&&NodeReport) -> bool| report.nodes.iter().filter(wanted).count();
    let wanted = of(|n| n.should_run == Some(true));
    let good = of(|n| matches!(n.state, State::Healthy | State::Outdated));
    let unknown = of(|n| n.state == State::Unknown);
    let lacking = wanted.saturating_sub(good + unknown);
    let refused = report.causes.iter().any(|c| matches!(c.code, "InvalidDaemonSet" | "NamespaceMissing"));
    let evicting = of(|n| n.state == State::Healthy && n.preemption.as_ref().is_some_and(|p| p.possible));
    let mut text = if refused {
        "would be refused".to_string()
    } else if wanted == 0 {
        format!("would run on none of {}", count(report.nodes.len(), "node"))
    } else if lacking > 0 {
        format!("would lack a pod on {} of {} that should run it", number(lacking), count(wanted, "node"))
    } else if unknown > 0 {
        format!("{} of {} could not be judged", number(unknown), count(wanted, "node"))
    } else if wanted == report.nodes.len() {
        format!("would run on {}", all_of(wanted))
    } else {
        format!("would run on every node that should run it ({} of {})", number(wanted), number(report.nodes.len()))
    };
    if lacking == 0 && !refused && report.summary.verdict == Outcome::Problems && wanted > 0 {
        let mut codes: Vec<&str> = report.all_causes().filter(|c| c.severity == crate::cause::Severity::Error).map(|c| c.code).collect();
        codes.dedup();
        text += &format!(", but for {}", codes.join(", "));
    }
    if lacking > 0 && !refused {
        text += &super::answer::codes(report, crate::cause::Severity::Error);
    }
    if report.summary.verdict == Outcome::Inconclusive && unknown == 0 {
        text += ", as far as could be read";
    }
    if evicting > 0 {
        text += &format!(", on {} by evicting other pods", number(evicting));
    }
    match &report.preflight {
        Some(judged) if judged.action != Action::Create && !refused => format!("{}; {text}", balance(judged)),
        _ => text,
    }
}

/// How many nodes an update wins and loses.
fn balance(preflight: &Preflight) -> String {
    let of = |wanted| sorted(&preflight.changes).into_iter().find(|(label, _)| *label == wanted).map_or(0, |(_, c)| c.len());
    match (of("gains"), of("loses")) {
        (0, 0) => "gains and loses no node".into(),
        (gains, 0) => format!("gains {}", count(gains, "node")),
        (0, loses) => format!("loses {}", count(loses, "node")),
        (gains, loses) => format!("gains {} and loses {}", count(gains, "node"), number(loses)),
    }
}

/// What a state means for `n` nodes, as it would be.
pub fn situation(state: State, n: usize) -> &'static str {
    match (state, n) {
        (State::Missing, 1) => "its pod would be refused",
        (State::Missing, _) => "their pods would be refused",
        (State::Pending, 1) => "its pod would stay pending",
        (State::Pending, _) => "their pods would stay pending",
        (State::Healthy, _) => "would run the pod",
        (State::Excluded, _) => "would get no pod",
        (state, n) => super::words::situation(state, n),
    }
}

/// A state in one word, as it would be.
fn word(state: State) -> String {
    match state {
        State::Missing => "refused".into(),
        State::Healthy => "would run it".into(),
        State::Unknown => "not known".into(),
        other => other.name().to_lowercase(),
    }
}

/// How many nodes would be in which state.
pub fn states(report: &Report) -> Vec<(State, String)> {
    report.summary.states.iter().map(|(state, n)| (*state, format!("{} {}", number(*n), word(*state)))).collect()
}

/// What is judged, what changes against now, and what the API server says.
pub fn show<W: Write>(screen: &mut Screen<W>, report: &Report, preflight: &Preflight) -> io::Result<()> {
    screen.wrapped(0, 2, &[span(Role::Plain, subject(report, preflight))])?;
    for (label, changes) in sorted(&preflight.changes) {
        let nodes: Vec<&str> = changes.iter().map(|c| c.node.as_str()).collect();
        let role = match label {
            "gains" => Role::Good,
            "loses" => Role::Error,
            _ => Role::Plain,
        };
        let room = screen.width().saturating_sub(30);
        let line = [
            span(role, format!("{label:8}")),
            span(Role::Strong, count(nodes.len(), "node")),
            span(Role::Plain, format!(": {} ({})", names(&nodes, room), ways(&changes))),
        ];
        screen.wrapped(2, 10, &line)?;
    }
    if preflight.changes.is_empty() && preflight.action != Action::Create {
        screen.wrapped(2, 4, &[span(Role::Plain, "no node changes its state")])?;
    }
    let Some(server) = &preflight.server else { return Ok(()) };
    for (what, answer) in [("the DaemonSet", &server.daemon_set), ("a pod of it", &server.pod)] {
        let (role, words) = said(answer);
        screen.wrapped(2, 4, &[span(Role::Plain, format!("API server, dry run of {what}: ")), span(role, words)])?;
        for warning in &answer.warnings {
            screen.wrapped(4, 6, &[span(Role::Warning, "! "), span(Role::Plain, warning)])?;
        }
    }
    Ok(())
}

/// What is judged, in one sentence.
pub fn subject(report: &Report, preflight: &Preflight) -> String {
    let update =
        match (&preflight.replaces_pods, report.rollout.strategy.as_str(), report.rollout.max_surge, report.rollout.max_unavailable) {
            (false, ..) => ", its pods stay".to_string(),
            (true, "OnDelete", ..) => ", each pod is replaced once it is deleted (OnDelete)".into(),
            (true, _, Some(surge), _) if surge > 0 => {
                format!(", its pods are replaced, at most {surge} at once, the new one beside the old")
            }
            (true, _, _, Some(n)) => format!(", its pods are replaced, at most {n} at once"),
            (true, ..) => ", its pods are replaced".into(),
        };
    match preflight.action {
        Action::Create => format!("Judged as if {} were applied; nothing is created", preflight.source),
        Action::Update => format!("Judged as an update by {}{update}; nothing is changed", preflight.source),
        Action::Patch => format!("Judged as if patched by {}{update}; nothing is changed", preflight.source),
    }
}

fn said(answer: &Answer) -> (Role, String) {
    match answer.allowed {
        Some(true) => (Role::Good, "accepted".into()),
        Some(false) => (Role::Error, format!("refused: {}", answer.message)),
        None => (Role::Warning, format!("not told: {}", answer.message)),
    }
}

/// True if a pod is on the node, in whatever health: whether the next one is better cannot be foreseen.
fn has_a_pod(state: State) -> bool {
    matches!(state, State::Healthy | State::Outdated | State::Unhealthy)
}

/// The changes by what they mean: a pod more, a pod less, another trouble.
pub fn sorted(changes: &[Change]) -> Vec<(&'static str, Vec<&Change>)> {
    let kind = |c: &Change| match (has_a_pod(c.before), has_a_pod(c.after)) {
        (false, true) => "gains",
        (true, false) => "loses",
        _ => "changes",
    };
    let of = |wanted| (wanted, changes.iter().filter(|c| kind(c) == wanted).collect::<Vec<_>>());
    ["loses", "gains", "changes"].map(of).into_iter().filter(|(_, c)| !c.is_empty()).collect()
}

/// From which states to which.
pub fn ways(changes: &[&Change]) -> String {
    let then = |c: &Change| match (has_a_pod(c.before), c.after) {
        (true, State::Healthy) => "a new pod".to_string(),
        (_, after) => word(after),
    };
    let mut ways: Vec<String> = changes.iter().map(|c| format!("{} → {}", c.before.name().to_lowercase(), then(c))).collect();
    ways.sort();
    ways.dedup();
    ways.join(", ")
}
