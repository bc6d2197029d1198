//! Remedies that were tried: each is applied to the cluster in memory and judged again before it
//! is shown. Nothing is ever applied to a real cluster.
//!
//! Nodes with the same cause are one group; each change is tried once for the group, so the work
//! grows with the number of groups and nodes, not with their product.

use std::collections::BTreeMap;

use crate::cause::command::command;
use crate::cause::{Cause, Effect, Fact, Remedy, RemedyKind, Severity, Stage};
use crate::diagnose::Subject;
use crate::report::{NodeReport, State};

pub mod by_hand;
pub mod held;
pub mod merge;
pub mod patch;
pub mod proposal;
pub mod trial;

use proposal::{NODES, Proposal, proposals};
use trial::{Change, try_out};

/// How many groups are tried, the largest first; how many nodes a command names.
const GROUPS: usize = 24;
/// More holders of one port than this are not told to go one by one.
const HOLDERS: usize = 5;
const NAMED: usize = 12;

/// Which cause of which node: indexes into the report.
type Place = (usize, usize);

/// Adds to the causes of the nodes what was tried against them.
pub fn propose(subject: &Subject, nodes: &mut [NodeReport]) {
    let mut groups: BTreeMap<(&'static str, String), Vec<Place>> = BTreeMap::new();
    for (n, node) in nodes.iter().enumerate().filter(|(_, node)| lacks_pod(node)) {
        for (c, cause) in node.causes.iter().enumerate().filter(|(_, c)| is_tried(c)) {
            groups.entry((cause.code, cause.detail.clone())).or_default().push((n, c));
        }
    }
    let mut groups = pooled(nodes, groups);
    groups.sort_by_key(|(places, _)| usize::MAX - places.len());
    let mut found: Vec<(Place, Remedy)> = Vec::new();
    for (places, many_holders) in groups.into_iter().take(GROUPS) {
        let remedies = tried(subject, nodes, &places);
        found.extend(remedies.into_iter().filter(|(_, r)| !many_holders || r.kind != RemedyKind::Disruptive));
    }
    for ((n, c), remedy) in found {
        if let Some(cause) = nodes.get_mut(n).and_then(|node| node.causes.get_mut(c)) {
            cause.remedies.push(remedy);
        }
    }
}

/// The groups, with those put together that want one port and differ only in who holds it, if they
/// are many: then it is the port that is to be changed, not its holders that are to go.
fn pooled(nodes: &[NodeReport], groups: BTreeMap<(&'static str, String), Vec<Place>>) -> Vec<(Vec<Place>, bool)> {
    let port = |places: &[Place]| {
        let (n, c) = places.first()?;
        match &nodes.get(*n)?.causes.get(*c)?.fact {
            Fact::HostPort { protocol, port, ip, .. } => Some(format!("{protocol}/{port} {ip}")),
            _ => None,
        }
    };
    let (mut whole, mut by_port) = (Vec::new(), BTreeMap::<String, Vec<Vec<Place>>>::new());
    for places in groups.into_values() {
        match port(&places) {
            Some(port) => by_port.entry(port).or_default().push(places),
            None => whole.push((places, false)),
        }
    }
    for sets in by_port.into_values() {
        if sets.len() > HOLDERS {
            let mut places: Vec<Place> = sets.into_iter().flatten().collect();
            places.sort_unstable();
            whole.push((places, true));
        } else {
            whole.extend(sets.into_iter().map(|places| (places, false)));
        }
    }
    whole
}

/// True for a cause that a change here can take away; what the scheduler is about to settle needs none.
fn is_tried(cause: &Cause) -> bool {
    match cause.stage {
        Stage::Controller => true,
        Stage::Scheduling => cause.severity > Severity::Info,
        _ => matches!(cause.fact, Fact::Quota { .. }),
    }
}

/// True for a node that a change could give a pod.
fn lacks_pod(node: &NodeReport) -> bool {
    matches!(node.state, State::Pending | State::Missing | State::Excluded | State::Outdated)
}

/// The remedies for the causes at these places, which are alike.
fn tried(subject: &Subject, nodes: &[NodeReport], places: &[Place]) -> Vec<(Place, Remedy)> {
    let group: Vec<&NodeReport> = places.iter().filter_map(|(n, _)| nodes.get(*n)).collect();
    let Some(cause) = places.first().and_then(|(n, c)| nodes.get(*n)?.causes.get(*c)) else { return Vec::new() };
    let mut judged: Vec<(Proposal, BTreeMap<String, Vec<String>>)> = Vec::new();
    for proposal in proposals(subject, cause, &group) {
        if let Some(blocked) = try_out(subject, &proposal.changes, proposal.preempts, &group) {
            judged.push((proposal, blocked));
        }
    }
    // Evicting others is only worth telling if it helps.
    judged.retain(|(proposal, blocked)| proposal.kind != RemedyKind::Disruptive || blocked.values().any(Vec::is_empty));
    // Also where nothing but the end of other work would do alone.
    let gentle = |p: &Proposal| p.kind != RemedyKind::Disruptive;
    if judged.iter().filter(|(p, _)| gentle(p)).all(|(_, blocked)| !blocked.values().any(Vec::is_empty))
        && let Some(all) = together(subject, &group)
        && let Some(blocked) = try_out(subject, &all.changes, all.preempts, &group)
        && blocked.values().any(Vec::is_empty)
        && (gentle(&all) || judged.iter().all(|(_, blocked)| !blocked.values().any(Vec::is_empty)))
    {
        judged.insert(0, (all, blocked));
    }
    // What fixes most comes first, else the order of the proposals stays; a priority that evicts
    // whatever is in its way comes last.
    judged.sort_by_key(|(p, blocked)| (p.preempts, usize::MAX - blocked.values().filter(|b| b.is_empty()).count()));
    let names: Vec<&str> = group.iter().map(|n| n.name.as_str()).collect();
    let mut found = Vec::new();
    for (proposal, blocked) in &judged {
        for (place, node) in places.iter().zip(&group) {
            found.push((*place, remedy(proposal, &node.name, &names, blocked)));
        }
    }
    found
}

/// The first change against each cause of the group's first node, all at once: those of the
/// DaemonSet as one patch, each made for what the ones before it leave.
fn together(subject: &Subject, group: &[&NodeReport]) -> Option<Proposal> {
    let first = group.first()?;
    let mut ds = subject.ds.clone();
    let (mut operations, mut others, mut titles) = (Vec::new(), Vec::<Proposal>::new(), Vec::new());
    for cause in first.causes.iter().filter(|c| is_tried(c)) {
        let changed = subject.with(&ds, subject.nodes.clone(), true);
        let Some(part) = proposals(&changed, cause, group).into_iter().next().filter(|p| !titles.contains(&p.title)) else { continue };
        titles.push(part.title.clone());
        match part.changes.as_slice() {
            [Change::DaemonSet(more)] => {
                let next = patch::patched(&ds, more).ok()?;
                operations.extend(more.clone());
                drop(changed);
                ds = next;
            }
            _ => others.push(part),
        }
    }
    if titles.len() < 2 {
        return None;
    }
    let own = (!operations.is_empty()).then(|| proposal::daemon_set(subject, String::new(), operations));
    let parts: Vec<Proposal> = own.into_iter().chain(others).collect();
    Some(Proposal {
        title: titles.join(", and "),
        kind: parts.iter().map(|p| p.kind).max()?,
        changes: parts.iter().flat_map(|p| p.changes.clone()).collect(),
        preempts: parts.iter().any(|p| p.preempts),
        commands: parts.into_iter().flat_map(|p| p.commands).collect(),
    })
}

/// The remedy as the cause of one node has it, with what it does there.
fn remedy(proposal: &Proposal, node: &str, group: &[&str], blocked: &BTreeMap<String, Vec<String>>) -> Remedy {
    let named: Vec<&str> = if group.len() <= NAMED { group.to_vec() } else { vec![node] };
    let names = command(named);
    let lines: Vec<String> = proposal.commands.iter().map(|line| line.replace(NODES, &names)).collect();
    let mut effect = Effect::default();
    match blocked.get(node) {
        Some(codes) if codes.is_empty() => effect.fixed.push(node.to_string()),
        Some(codes) => {
            effect.still_blocked.insert(node.to_string(), codes.clone());
        }
        None => {}
    }
    Remedy {
        title: proposal.title.clone(),
        kind: proposal.kind,
        command: (!lines.is_empty()).then(|| lines.into_iter().take(NAMED).collect::<Vec<_>>().join(" && ")),
        effect: Some(effect),
    }
}
