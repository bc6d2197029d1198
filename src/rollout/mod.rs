//! The rollout: what the strategy allows, how far it is, and what holds it up.

use std::collections::{BTreeMap, BTreeSet};

use crate::cause::{Cause, Entry, Severity};
use crate::controller::should_run::Decision;
use crate::diagnose::Subject;
use crate::report::{NodeReport, Rollout};
use rollback::Advice;
use rollout_budget::{Place, Places};

#[cfg(test)]
mod bed;
pub mod changes;
pub mod correlation;
pub mod old_revision;
pub mod progress;
pub mod revision;
pub mod rollback;
pub mod rollout_budget;
pub mod rollout_idle;
pub mod rollout_on_delete;
pub mod rollout_surge_blocked;
pub mod status;

/// The pages of this folder's codes.
pub static ENTRIES: &[&Entry] =
    &[&old_revision::ENTRY, &rollout_budget::ENTRY, &rollout_idle::ENTRY, &rollout_on_delete::ENTRY, &rollout_surge_blocked::ENTRY];

/// Completes the rollout's part of the report: the budget, who uses it up, what waits, and the
/// causes that follow.
pub fn assess<'a>(
    subject: &Subject<'a>,
    decisions: &BTreeMap<&'a str, Decision>,
    nodes: &mut [NodeReport],
    rollout: &mut Rollout,
    causes: &mut Vec<Cause>,
) {
    rollout.revision = subject.hash.and_then(|h| revision::number(subject, h));
    rollout.revisions = revision::counts(subject);
    let known = subject.snapshot.nodes.is_complete() && subject.snapshot.knows_pods_in(&subject.ds.metadata.namespace);
    let places = Places::find(subject, decisions).filter(|_| known);
    if rollout.strategy == "OnDelete" {
        let cause = rollout_on_delete::cause(subject);
        rollout.phase = if cause.is_some() { "waiting-for-delete" } else { "complete" };
        rollout.waiting = places.map_or_else(Vec::new, |p| owned(p.of(&[Place::Old, Place::Replaceable])));
        causes.extend(cause);
    } else if let (Some(places), Some(unavailable), Some(surge)) = (places, rollout.max_unavailable, rollout.max_surge) {
        let lost = places.lost(subject);
        // With a surge, old pods where none is wanted any more are let go by themselves.
        let wanted = |node: &str| surge == 0 || decisions.get(node).is_some_and(|d| d.should_run);
        let places = places.without_old(|node| !wanted(node));
        rolling(subject, &places, &lost, (unavailable, surge), nodes, rollout, causes);
        rollback::offer_where_all_fail(subject, &places, nodes);
    } else if rollout.phase != "unobserved" {
        rollout.phase = "unknown";
    }
    if rollout.phase != "complete"
        && let Some((old, new)) = revision::previous(subject).zip(subject.hash.and_then(|h| revision::find(subject, h)))
    {
        rollout.changes = changes::changes(old, new);
    }
    let severity = match rollout.phase {
        "stuck" => Severity::Error,
        "waiting-for-delete" => Severity::Warning,
        _ => Severity::Info,
    };
    for cause in nodes.iter_mut().flat_map(|n| &mut n.causes).filter(|c| c.code == old_revision::ENTRY.code) {
        cause.severity = severity;
    }
}

fn rolling(
    subject: &Subject,
    places: &Places,
    lost: &[&str],
    (max_unavailable, max_surge): (i64, i64),
    nodes: &[NodeReport],
    rollout: &mut Rollout,
    causes: &mut Vec<Cause>,
) {
    let surge = max_surge > 0;
    let failing: BTreeSet<&str> = nodes.iter().filter(|n| is_failing(n)).map(|n| n.name.as_str()).collect();
    let hard = |node: &str| failing.contains(node);
    let blockers = if surge { places.surging() } else { places.unavailable() };
    let waiting = places.waiting();
    let allowed = if surge { max_surge } else { max_unavailable };
    let stalled = progress::stalled(subject);
    let patience = i64::from(subject.ds.spec.min_ready_seconds.max(0));
    let phase = progress::phase(places, surge, allowed, stalled.unwrap_or(0).saturating_sub(patience), hard);
    let stuck = phase == "stuck";
    rollout.unavailable = Some(count(places.unavailable().len()));
    if !waiting.is_empty() || surge {
        rollout.blocked_by = owned(blockers.clone());
    }
    rollout.waiting = owned(waiting.clone());
    if rollout.phase != "unobserved" {
        rollout.phase = phase;
    }
    if matches!(phase, "stuck" | "progressing") {
        rollout.stalled_seconds = stalled;
    }
    if !surge && !waiting.is_empty() && count(blockers.len()) >= allowed {
        let mut cause = rollout_budget::cause(subject, &blockers, allowed, &waiting, stuck);
        let unwanted: BTreeSet<&str> = nodes.iter().filter(|n| n.should_run == Some(false)).map(|n| n.name.as_str()).collect();
        let unwanted: Vec<&str> = blockers.iter().filter(|name| unwanted.contains(*name)).copied().collect();
        if !unwanted.is_empty() {
            let counts = if unwanted.len() == 1 { "counts" } else { "count" };
            let names = rollout_budget::names(&unwanted);
            cause.message.push_str(&format!("; {names} {counts} although no pod is wanted there any more"));
        }
        match rollback::advice(subject, places, nodes) {
            Advice::Offer(remedy) => cause.remedies.push(remedy),
            Advice::Alike(code) => {
                cause.message.push_str(&format!("; pods of the old revision fail alike ({code}): going back cures nothing"))
            }
            Advice::None => {}
        }
        causes.push(cause);
    }
    if surge {
        let blocked: Vec<&str> = places.of(&[Place::Changing]).into_iter().filter(|n| hard(n)).collect();
        let known: BTreeSet<&str> = blocked.iter().copied().collect();
        let codes: BTreeSet<&str> =
            nodes.iter().filter(|n| known.contains(n.name.as_str())).flat_map(|n| &n.causes).map(|c| c.code).collect();
        if !blocked.is_empty() {
            let codes: Vec<&str> = codes.into_iter().collect();
            let mut cause = rollout_surge_blocked::cause(subject, &blocked, &codes, allowed, stuck);
            cause.remedies.push(match rollback::advice(subject, places, nodes) {
                Advice::Offer(remedy) => remedy,
                _ => rollout_surge_blocked::old_pod_first(subject),
            });
            causes.push(cause);
        }
        if !lost.is_empty() {
            causes.push(rollout_surge_blocked::lost(subject, lost));
        }
    }
    let open = if surge && !lost.is_empty() { Vec::new() } else { places.open(surge, allowed) };
    let idle = |stalled: &i64| stalled.saturating_sub(patience) > progress::DEADLINE;
    let acted_on = rollout.phase != "unobserved" && !subject.ds.metadata.is_terminating();
    if let Some(stalled) = stalled.filter(idle).filter(|_| acted_on && !open.is_empty()) {
        causes.push(rollout_idle::cause(subject, &open, stalled));
    }
}

/// True if what keeps the node's pod from being available does not pass by itself.
fn is_failing(node: &NodeReport) -> bool {
    node.causes.iter().any(|c| c.severity == Severity::Error && c.code != old_revision::ENTRY.code)
}

fn owned(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_string).collect()
}

fn count(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
