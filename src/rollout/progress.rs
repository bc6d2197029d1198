//! How far the rollout is: done, on its way, or stuck.
//!
//! Upstream knows no such thing for DaemonSets. A Deployment counts as failed after
//! `progressDeadlineSeconds`, 600 by default (`pkg/apis/apps/v1/defaults.go`, v1.37.2); that is
//! taken over here, and the kinds of trouble that do not pass by themselves need not be waited for.

use std::collections::BTreeSet;

use super::rollout_budget::{Place, Places};
use crate::diagnose::Subject;
use crate::model::time::Time;

/// Seconds without progress, beyond minReadySeconds, after which a rollout is stuck.
pub const DEADLINE: i64 = 600;

/// The seconds since anything of the rollout moved: a pod of the current revision was made or
/// became ready, an old one was deleted, or the revision itself was made.
pub fn stalled(subject: &Subject) -> Option<i64> {
    let now = subject.snapshot.now;
    let revision = subject.hash.and_then(|h| super::revision::find(subject, h)).and_then(|r| r.metadata.creation_timestamp);
    let pods = subject.pods.values().flatten().flat_map(|pod| {
        let meta = &pod.metadata;
        let deleted = meta
            .deletion_timestamp
            .map(|due| Time { seconds: due.seconds.saturating_sub(meta.deletion_grace_period_seconds.unwrap_or(0)), nanos: due.nanos });
        let current = subject.is_updated(pod) == Some(true);
        let ready = pod.condition("Ready").filter(|c| c.status == "True").and_then(|c| c.last_transition_time);
        [deleted, meta.creation_timestamp.filter(|_| current), ready.filter(|_| current)].into_iter().flatten()
    });
    revision.into_iter().chain(pods).filter(|t| *t <= now).max().map(|t| now.seconds_since(t))
}

/// The phase of a rolling update. `hard` says of a node that its trouble does not pass by itself.
/// `updated`: every pod is new, and not all are available; what they lack is not the rollout's.
pub fn phase(places: &Places, surge: bool, allowed: i64, stalled: i64, hard: impl Fn(&str) -> bool) -> &'static str {
    let allowed = usize::try_from(allowed.max(1)).unwrap_or(usize::MAX);
    let waiting = places.of(&[Place::Old, Place::Replaceable]);
    let blockers = if surge { places.surging() } else { places.unavailable() };
    // An old pod that is not available is replaced at once, whatever ails it.
    let replaceable: BTreeSet<&str> = places.of(&[Place::Replaceable]).into_iter().collect();
    let blocked = blockers.iter().filter(|n| hard(n) && !replaceable.contains(*n)).count();
    if waiting.is_empty() && places.of(&[Place::Changing]).is_empty() {
        // Every pod is new: what is left is that they become available.
        let open = places.unavailable();
        return match open.iter().filter(|n| !hard(n)).count() {
            _ if open.is_empty() => "complete",
            n if n > 0 && stalled <= DEADLINE => "progressing",
            _ => "updated",
        };
    }
    // Where none waits, the new pods beside old ones are all that is left.
    let all = waiting.is_empty() && blocked > 0 && blocked == blockers.len();
    if blocked >= allowed || all || stalled > DEADLINE { "stuck" } else { "progressing" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stuck_is_told_from_slow() {
        use Place::{Changing, Done, New, Old, Replaceable, Vacant};
        let none: &[&str] = &[];
        for (places, surge, allowed, stalled, hard, want) in [
            (vec![Done, Done], false, 1, 9999, none, "complete"),
            (vec![New, Old], false, 1, 10, none, "progressing"),
            (vec![New, Old], false, 1, 601, none, "stuck"),
            (vec![New, Old], false, 1, 10, &["n0"], "stuck"),
            (vec![New, Vacant, Old], false, 2, 10, &["n0"], "progressing"),
            (vec![New, Vacant, Old], false, 2, 10, &["n0", "n1"], "stuck"),
            (vec![New, Done], false, 1, 10, &["n0"], "updated"),
            (vec![New, Done], false, 1, 601, none, "updated"),
            (vec![New, Done], false, 1, 10, none, "progressing"),
            (vec![Replaceable, Old], false, 1, 10, &["n0"], "progressing"),
            (vec![Replaceable, Old], false, 1, 601, &["n0"], "stuck"),
            (vec![Changing, Changing], true, 2, 10, &["n0", "n1"], "stuck"),
            (vec![Changing, Done], true, 2, 10, &["n0"], "stuck"),
            (vec![Changing, Done], true, 2, 10, none, "progressing"),
            (vec![Changing, Old], true, 2, 10, &["n0"], "progressing"),
            (vec![Changing, Old], true, 1, 10, &["n0"], "stuck"),
        ] {
            let names: Vec<String> = (0..places.len()).map(|i| format!("n{i}")).collect();
            let map = Places(names.iter().map(String::as_str).zip(places.iter().copied()).collect());
            assert_eq!(phase(&map, surge, allowed, stalled, |n| hard.contains(&n)), want, "{places:?} {stalled} {hard:?}");
        }
    }
}
