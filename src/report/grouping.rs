//! Nodes that lack a good pod for the same causes, put together, so that 3,000 nodes are a few
//! lines. Nothing is lost: a group names its nodes, and what differs between them stands beside.

use std::collections::{BTreeMap, BTreeSet};

use super::{NodeReport, Report, State};
use crate::cause::{Cause, Remedy, Severity, Stage};

/// More groups than this that differ only in their causes' details become one.
const MOST_ALIKE: usize = 5;

/// Nodes of one state with the same causes.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// Their state.
    pub state: State,
    /// The worst severity of their causes.
    pub severity: Severity,
    /// The nodes, by name; none for a cause of the DaemonSet as a whole.
    pub nodes: Vec<&'a NodeReport>,
    /// What they have in common, worst first, else in the report's order.
    pub causes: Vec<Shared<'a>>,
}

/// A cause that the nodes of a group share.
#[derive(Clone, Debug)]
pub struct Shared<'a> {
    /// Its code.
    pub code: &'static str,
    /// Its severity.
    pub severity: Severity,
    /// The different sentences, the one of most nodes first.
    pub variants: Vec<Variant<'a>>,
    /// The first node's remedies, with what they would achieve on all nodes of the group.
    pub remedies: Vec<Tried<'a>>,
    /// True if other nodes of the group have other remedies (the same for another pod, say).
    pub likewise: bool,
}

/// The nodes for which a cause reads the same.
#[derive(Clone, Debug)]
pub struct Variant<'a> {
    /// The cause, as the first of these nodes has it.
    pub cause: &'a Cause,
    /// Their names.
    pub nodes: Vec<&'a str>,
}

/// A remedy with the union of its effects.
#[derive(Clone, Debug)]
pub struct Tried<'a> {
    /// The remedy.
    pub remedy: &'a Remedy,
    /// Nodes that would then run the pod.
    pub fixed: BTreeSet<&'a str>,
    /// Nodes that would still lack it, with the codes of what blocks them.
    pub still_blocked: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

/// Causes as code and detail.
type Named<'a> = Vec<(&'a str, &'a str)>;

/// The groups of a report, worst first: the DaemonSet's own causes, then its nodes.
pub fn groups(report: &Report) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = report.causes.iter().filter(|c| !told_by_a_node(report, c)).map(of_workload).collect();
    groups.extend(by_causes(&report.nodes, MOST_ALIKE));
    sort(&mut groups);
    groups
}

/// The groups of nodes; more than `most` that differ only in their causes' details become one.
fn by_causes(nodes: &[NodeReport], most: usize) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut exact: BTreeMap<(State, Named), Vec<&NodeReport>> = BTreeMap::new();
    for node in nodes.iter().filter(|n| n.state != State::Healthy || !n.causes.is_empty()) {
        let causes = node.causes.iter().map(|c| (c.code, c.detail.as_str())).collect();
        exact.entry((node.state, causes)).or_default().push(node);
    }
    let mut alike: BTreeMap<(State, Vec<&str>), Vec<Vec<&NodeReport>>> = BTreeMap::new();
    for ((state, causes), nodes) in exact {
        alike.entry((state, causes.into_iter().map(|(code, _)| code).collect())).or_default().push(nodes);
    }
    for ((state, _), sets) in alike {
        if sets.len() > most {
            let mut all: Vec<&NodeReport> = sets.into_iter().flatten().collect();
            all.sort_by(|a, b| a.name.cmp(&b.name));
            groups.push(of_nodes(state, all));
        } else {
            groups.extend(sets.into_iter().map(|nodes| of_nodes(state, nodes)));
        }
    }
    sort(&mut groups);
    groups
}

/// Worst first; what follows from other causes last of its severity.
fn sort(groups: &mut [Group]) {
    groups.sort_by(|a, b| {
        let key = |g: &Group| (std::cmp::Reverse(g.severity), g.follows(), !g.nodes.is_empty(), g.state, std::cmp::Reverse(g.nodes.len()));
        key(a).cmp(&key(b)).then_with(|| a.first().cmp(&b.first()))
    });
}

/// A cause of the whole that names a node which has it too is told there, and so is one that nodes
/// have in the same words.
fn told_by_a_node(report: &Report, cause: &Cause) -> bool {
    let same = |c: &Cause| c.code == cause.code && c.message == cause.message;
    let named = report.nodes.iter().find(|n| n.name == cause.detail);
    named.is_some_and(|n| n.causes.iter().any(|c| c.code == cause.code)) || report.nodes.iter().any(|n| n.causes.iter().any(same))
}

fn of_workload(cause: &Cause) -> Group<'_> {
    let variants = vec![Variant { cause, nodes: Vec::new() }];
    let remedies = cause.remedies.iter().map(Tried::new).collect();
    let shared = Shared { code: cause.code, severity: cause.severity, variants, remedies, likewise: false };
    Group { state: State::Healthy, severity: cause.severity, nodes: Vec::new(), causes: vec![shared] }
}

fn of_nodes(state: State, nodes: Vec<&NodeReport>) -> Group<'_> {
    let places = nodes.iter().map(|n| n.causes.len()).max().unwrap_or(0);
    let mut causes: Vec<Shared> = (0..places).filter_map(|place| shared(place, &nodes)).collect();
    // The worst is why; what is only said beside it comes after.
    causes.sort_by_key(|c| std::cmp::Reverse(c.severity));
    let severity = causes.iter().map(|c| c.severity).max().unwrap_or(match state {
        State::Healthy | State::Excluded | State::Outdated => Severity::Info,
        State::Unknown | State::Terminating => Severity::Warning,
        State::Missing | State::Rejected | State::Pending | State::Unhealthy | State::Misscheduled => Severity::Error,
    });
    Group { state, severity, nodes, causes }
}

/// The cause at one place of every node's list; the codes there are the same.
fn shared<'a>(place: usize, nodes: &[&'a NodeReport]) -> Option<Shared<'a>> {
    let causes: Vec<(&'a str, &'a Cause)> = nodes.iter().filter_map(|n| n.causes.get(place).map(|c| (n.name.as_str(), c))).collect();
    let (_, first) = *causes.first()?;
    let mut variants: Vec<Variant> = Vec::new();
    let mut by_message: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut remedies: Vec<Tried> = first.remedies.iter().map(Tried::new).collect();
    let mut likewise = false;
    for &(node, cause) in &causes {
        let at = *by_message.entry((&cause.message, &cause.detail)).or_insert_with(|| {
            variants.push(Variant { cause, nodes: Vec::new() });
            variants.len() - 1
        });
        if let Some(variant) = variants.get_mut(at) {
            variant.nodes.push(node);
        }
        for remedy in &cause.remedies {
            match remedies.iter_mut().find(|t| same(t.remedy, remedy)) {
                Some(known) => known.add(remedy),
                None => likewise = true,
            }
        }
    }
    variants.sort_by_key(|v| std::cmp::Reverse(v.nodes.len()));
    let severity = causes.iter().map(|(_, c)| c.severity).max()?;
    Some(Shared { code: first.code, severity, variants, remedies, likewise })
}

fn same(a: &Remedy, b: &Remedy) -> bool {
    a.kind == b.kind && a.title == b.title && a.command == b.command
}

impl<'a> Tried<'a> {
    /// A remedy with its own effect.
    pub fn new(remedy: &'a Remedy) -> Self {
        let mut tried = Tried { remedy, fixed: BTreeSet::new(), still_blocked: BTreeMap::new() };
        tried.add(remedy);
        tried
    }

    fn add(&mut self, remedy: &'a Remedy) {
        let Some(effect) = &remedy.effect else { return };
        self.fixed.extend(effect.fixed.iter().map(String::as_str));
        for (node, codes) in &effect.still_blocked {
            self.still_blocked.entry(node).or_default().extend(codes.iter().map(String::as_str));
        }
    }
}

impl<'a> Group<'a> {
    /// The different codes, in order.
    pub fn codes(&self) -> Vec<&'static str> {
        let mut codes: Vec<&'static str> = Vec::new();
        for cause in &self.causes {
            if !codes.contains(&cause.code) {
                codes.push(cause.code);
            }
        }
        codes
    }

    /// The names of the nodes.
    pub fn names(&self) -> Vec<&'a str> {
        self.nodes.iter().map(|n| n.name.as_str()).collect()
    }

    /// True if all its causes are the rollout's: what follows from other causes stands below them.
    pub fn follows(&self) -> bool {
        let stages = self.causes.iter().flat_map(|c| c.variants.first()).map(|v| v.cause.stage);
        !self.causes.is_empty() && stages.into_iter().all(|s| s == Stage::Rollout)
    }

    fn first(&self) -> (&'static str, &'a str) {
        let code = self.causes.first().map_or("", |c| c.code);
        (code, self.nodes.first().map_or("", |n| n.name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::registry::find;

    fn node(name: &str, state: State, causes: &[(&str, &str)]) -> NodeReport {
        let causes = causes.iter().map(|(code, detail)| Cause::new(find(code).unwrap(), *detail, format!("{code} on {name}"))).collect();
        NodeReport {
            name: name.into(),
            state,
            should_run: Some(true),
            should_continue_running: Some(true),
            pods: Vec::new(),
            checks: Vec::new(),
            preemption: None,
            causes,
        }
    }

    /// The groups as "severity state codes: nodes".
    fn grouped(nodes: &[NodeReport], most: usize) -> Vec<String> {
        let groups = by_causes(nodes, most);
        groups.iter().map(|g| format!("{:?} {:?} {}: {}", g.severity, g.state, g.codes().join("+"), g.names().join(","))).collect()
    }

    #[test]
    fn nodes_with_the_same_causes_share_a_group() {
        let nodes = [
            node("a", State::Pending, &[("NodePorts", "TCP/1 x/y")]),
            node("b", State::Pending, &[("NodePorts", "TCP/1 x/y")]),
            node("c", State::Pending, &[("NodePorts", "TCP/2 x/y")]),
            node("d", State::Pending, &[("NodePorts", "TCP/1 x/y"), ("NodeResourcesFit", "cpu")]),
            node("e", State::Healthy, &[]),
            node("f", State::Unknown, &[]),
        ];
        let want = [
            "Error Pending NodePorts: a,b",
            "Error Pending NodePorts: c",
            "Error Pending NodePorts+NodeResourcesFit: d",
            "Warning Unknown : f",
        ];
        assert_eq!(grouped(&nodes, 5), want);
        assert_eq!(grouped(&nodes, 1)[0], "Error Pending NodePorts: a,b,c", "many alike become one");
    }
}
