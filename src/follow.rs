//! `--watch` and `--wait`: the same diagnosis again and again.
//!
//! Each look reads anew what the answer needs, so that no expired resourceVersion and no dropped
//! watch can leave a gap. A look that fails is told once and tried again. The pause between looks
//! is at least ten times as long as a look takes: following costs a server a tenth of one reader.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::cli::{Follow, Format, Job};
use crate::render::safe;
use crate::report::{Report, State};
use crate::run::{Cluster, exit_code, write};
use crate::source::failure::{Failure, clean};

/// The shortest pause between two looks.
const PAUSE: Duration = Duration::from_secs(2);

/// Follows until the end that was asked for; returns the exit code.
///
/// # Errors
/// If the first look fails, or the DaemonSet goes away.
pub fn follow(job: &Job, follow: Follow, cluster: &mut Cluster, out: &mut impl Write) -> Result<u8> {
    let started = Instant::now();
    let mut before: Option<Vec<Report>> = None;
    let mut trouble = String::new();
    loop {
        let began = Instant::now();
        match cluster.diagnose(job) {
            Ok(reports) => {
                if !trouble.is_empty() {
                    tell("the cluster answers again");
                    trouble.clear();
                }
                let changed = before.as_deref().map(|b| changes(b, &reports));
                match follow {
                    Follow::Watch => show(job, &reports, changed.as_deref(), out)?,
                    Follow::Wait(_) => {
                        if let Some(line) = progress(before.as_deref(), &reports) {
                            tell(&line);
                        }
                        if reports.iter().all(is_done) {
                            write(job, &reports, out)?;
                            return Ok(exit_code(&reports, job.fail_on));
                        }
                    }
                }
                before = Some(reports);
            }
            Err(error) if before.is_none() || error.downcast_ref::<Failure>().is_some_and(Failure::is_gone) => return Err(error),
            Err(error) => {
                let text = format!("{error:#}");
                if text != trouble {
                    tell(&format!("warning: {text}; trying again"));
                    trouble = text;
                }
            }
        }
        let pause = PAUSE.max(began.elapsed() * 10);
        let Follow::Wait(Some(limit)) = follow else {
            thread::sleep(pause);
            continue;
        };
        let left = limit.saturating_sub(started.elapsed());
        if left.is_zero() {
            let reports = before.unwrap_or_default();
            write(job, &reports, out)?;
            out.flush()?;
            tell(&format!("not healthy after {}s", limit.as_secs()));
            return Ok(1);
        }
        thread::sleep(pause.min(left));
    }
}

/// Writes a line to standard error.
fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{}", clean(line));
}

/// One look of `--watch`.
fn show(job: &Job, reports: &[Report], changed: Option<&[String]>, out: &mut impl Write) -> io::Result<()> {
    let on_screen = job.terminal && matches!(job.format, Format::Text | Format::Wide);
    match changed {
        _ if on_screen => {
            write!(out, "\x1b[H\x1b[2J")?;
            write(job, reports, out)?;
            for line in changed.unwrap_or_default() {
                writeln!(out, "* {line}")?;
            }
        }
        None => write(job, reports, out)?,
        Some([]) => {}
        Some(lines) if matches!(job.format, Format::Text | Format::Wide) => {
            let now = reports.first().map(|r| r.now.to_string()).unwrap_or_default();
            for line in lines {
                writeln!(out, "{now} {line}")?;
            }
        }
        Some(_) => write(job, reports, out)?,
    }
    out.flush()
}

/// True if every node that should run the pod has a healthy, current one.
fn is_done(report: &Report) -> bool {
    report.rollout.phase == "complete" && report.summary.states.keys().all(|s| matches!(s, State::Healthy | State::Excluded))
}

/// How far a wait is, if that has changed.
fn progress(before: Option<&[Report]>, after: &[Report]) -> Option<String> {
    let line = |reports: &[Report]| {
        let of = |r: &Report| {
            let count = |state| r.summary.states.get(&state).copied().unwrap_or(0);
            let wanted = r.summary.nodes - count(State::Excluded);
            format!(
                "{}/{}: {} of {wanted} nodes healthy; {}",
                r.daemon_set.namespace,
                r.daemon_set.name,
                count(State::Healthy),
                r.rollout.message
            )
        };
        reports.iter().filter(|r| !is_done(r)).map(of).collect::<Vec<_>>().join(" | ")
    };
    let now = line(after);
    (!now.is_empty() && before.is_none_or(|b| line(b) != now)).then_some(now)
}

/// What is different: a line for each node whose state or causes changed.
fn changes(before: &[Report], after: &[Report]) -> Vec<String> {
    let index = |reports: &[Report]| -> BTreeMap<(String, String), (State, String)> {
        let mut index = BTreeMap::new();
        for report in reports {
            let name = format!("{}/{}", report.daemon_set.namespace, report.daemon_set.name);
            for node in &report.nodes {
                let causes: Vec<String> = node.causes.iter().map(|c| format!("{} {}", c.code, c.detail).trim().to_string()).collect();
                index.insert((name.clone(), node.name.clone()), (node.state, causes.join(", ")));
            }
        }
        index
    };
    let (old, new) = (index(before), index(after));
    let mut lines = Vec::new();
    for (key @ (name, node), (state, causes)) in &new {
        let was = old.get(key);
        if was == Some(&(*state, causes.clone())) {
            continue;
        }
        let from = was.map_or("new", |(state, _)| state.name());
        let why = if causes.is_empty() { String::new() } else { format!(": {causes}") };
        lines.push(format!("{name} {node} {from} → {}{why}", state.name()));
    }
    for (name, node) in old.keys().filter(|k| !new.contains_key(*k)) {
        lines.push(format!("{name} {node} is gone"));
    }
    lines.iter().map(|l| safe::clean(l).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::{Options, diagnose};
    use crate::model::snapshot::Snapshot;

    /// A report on nodes of which each has a ready pod or none.
    fn report(nodes: &[(&str, bool)]) -> Vec<Report> {
        let mut snapshot = Snapshot::default();
        for (name, runs) in nodes {
            let node = serde_json::json!({"metadata": {"name": name}, "status": {"allocatable": {"pods": "9"}}});
            snapshot.objects.nodes.items.push(serde_json::from_value(node).unwrap());
            if *runs {
                let pod = serde_json::json!({"metadata": {"name": format!("a-{name}"), "namespace": "x", "ownerReferences": [
                    {"kind": "DaemonSet", "name": "a", "uid": "u", "controller": true}]}, "spec": {"nodeName": name},
                    "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
                snapshot.objects.pods.items.push(serde_json::from_value(pod).unwrap());
            }
        }
        let ds = serde_json::from_value(serde_json::json!({"metadata": {"name": "a", "namespace": "x", "uid": "u"}})).unwrap();
        vec![diagnose(&snapshot, &ds, &Options::default())]
    }

    #[test]
    fn tells_what_changed() {
        let first = report(&[("n1", true), ("n2", false), ("n3", true)]);
        assert_eq!(changes(&first, &first), [""; 0]);
        let second = report(&[("n1", true), ("n2", true), ("n4", true)]);
        let lines = changes(&first, &second);
        assert_eq!(lines, ["x/a n2 Missing → Healthy", "x/a n4 new → Healthy", "x/a n3 is gone"]);
    }

    #[test]
    fn tells_how_far_a_wait_is() {
        let first = report(&[("n1", true), ("n2", false)]);
        let line = progress(None, &first).unwrap();
        assert!(line.starts_with("x/a: 1 of 2 nodes healthy"), "{line}");
        assert_eq!(progress(Some(&first), &first), None);
    }
}
