//! The scheduler's own words, held against the verdicts: where they name another reason, a plugin
//! or profile that is not known here may be at work, or the words are old. Both are shown.
//!
//! Upstream: `FitError.Error` of `pkg/scheduler/framework/types.go` (v1.34.3, v1.37.2):
//! `0/N nodes are available: COUNT REASON, COUNT REASON. ...`, sorted, each reason with the number
//! of nodes.

use super::{CheckVerdict, NodeReport};
use crate::cause::Stage;

/// What a pod that is pinned to one node is told of all the others.
const OTHER_NODES: [&str; 2] = ["node(s) didn't satisfy plugin(s) [NodeAffinity]", "node(s) didn't match Pod's node affinity/selector"];

/// The reasons of a message, without what is said of other nodes and of preemption.
pub fn reasons(message: &str) -> Vec<&str> {
    let Some((_, rest)) = message.split_once("nodes are available: ") else { return Vec::new() };
    let end = [". no new claims to deallocate", ". preemption:", " preemption: "].iter().filter_map(|m| rest.find(m)).min();
    let list = rest.split_at(end.unwrap_or(rest.len())).0.trim_end_matches('.');
    let mut found: Vec<&str> = Vec::new();
    let mut start = 0;
    // A comma starts a new reason only before a count: taints and plugin lists have commas of their own.
    for (at, _) in list.match_indices(", ") {
        let next = list.get(at + 2..).unwrap_or_default();
        if counted(next).is_some() {
            found.extend(list.get(start..at).and_then(counted));
            start = at + 2;
        }
    }
    found.extend(list.get(start..).and_then(counted));
    found.retain(|r| !OTHER_NODES.contains(r));
    found
}

fn counted(text: &str) -> Option<&str> {
    let (count, reason) = text.split_once(' ')?;
    (!count.is_empty() && count.chars().all(|c| c.is_ascii_digit())).then_some(reason)
}

/// Where the scheduler and the verdicts disagree on a node, in one sentence; `None` if they don't,
/// or if the scheduler has said nothing that can be compared.
pub fn disagreement(node: &NodeReport) -> Option<String> {
    let message = node.pods.iter().find_map(|p| p.scheduler_message.as_deref())?;
    let theirs = reasons(message);
    if theirs.is_empty() {
        return None;
    }
    let ours: Vec<&str> =
        node.checks.iter().filter(|c| c.verdict == CheckVerdict::Fail).flat_map(|c| c.reasons.iter().map(String::as_str)).collect();
    let unexplained: Vec<&str> = theirs.iter().copied().filter(|r| !ours.contains(r)).collect();
    if unexplained.is_empty() {
        return None;
    }
    if ours.is_empty() {
        // The live pod is judged as it is, and may be refused for what the template does not have.
        if node.causes.iter().any(|c| c.stage == Stage::Scheduling) {
            return None;
        }
        return Some(format!("the scheduler says \"{}\"; none of the checks made here refuses the node now", unexplained.join(", ")));
    }
    Some(format!("the scheduler also says \"{}\", which none of the checks made here finds now", unexplained.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_taken_from_the_message() {
        let cases: [(&str, &[&str]); 6] = [
            (
                "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims to deallocate, preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.",
                &["Insufficient cpu"],
            ),
            (
                "0/2 nodes are available: 1 Insufficient memory, 1 Too many pods. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
                &["Insufficient memory", "Too many pods"],
            ),
            ("0/1 nodes are available: 1 node(s) had untolerated taint(s), 1 x, y.", &["node(s) had untolerated taint(s)", "x, y"]),
            ("0/1 nodes are available: 1 node(s) had untolerated taint {a: b.c/d}.", &["node(s) had untolerated taint {a: b.c/d}"]),
            ("no nodes available to schedule pods", &[]),
            ("", &[]),
        ];
        for (message, want) in cases {
            assert_eq!(reasons(message), want, "{message}");
        }
    }
}
