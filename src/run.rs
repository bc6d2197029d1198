//! From a job to an exit code: source → snapshot → reports → output.

use std::io::{self, Write};

use anyhow::{Context, Result, bail};

use crate::cause::command::quote;
use crate::cause::{Severity, alert, registry};
use crate::cli::{FailOn, Format, Job, Proposal, Scope, Source, Task};
use crate::completion;
use crate::diagnose::{Options, diagnose_of};
use crate::follow;
use crate::lint::Advice;
use crate::model::daemon_set::DaemonSet;
use crate::model::index::Index;
use crate::model::selector;
use crate::model::snapshot::Snapshot;
use crate::proposal::Plan;
use crate::render;
use crate::report::{AdviceList, Outcome, Report};
use crate::source::access::Access;
use crate::source::capture;
use crate::source::cluster::{Reading, Session};
use crate::source::dry_run;
use crate::source::failure::Failure;
use crate::source::files::{self, Focus, ReadOptions};
use crate::source::manifests::Manifest;
use crate::source::names;
use crate::source::progress::Progress;
use crate::source::request::{Proposed, Request};

/// Does what was asked; returns the exit code.
///
/// # Errors
/// If it cannot be done: one line that says what, where, and what to do.
pub fn run(task: Task, out: &mut impl Write) -> Result<u8> {
    match task {
        Task::Explain(code, style) => {
            match code {
                None => render::explain::list(out, &style)?,
                Some(code) => match (registry::find(&code), alert::find(&code)) {
                    (Some(entry), _) => render::explain::page(out, entry, &style)?,
                    (None, Some(alert)) => render::explain::alert(out, alert, &style)?,
                    (None, None) => bail!("no cause has the code {code:?}{}; --explain without a code lists them", meant(&code)),
                },
            }
            Ok(0)
        }
        Task::Complete(typed) => {
            let runtime = runtime()?;
            let known = runtime.block_on(names::known(&typed));
            // A credential plugin that still runs is not waited for.
            runtime.shutdown_background();
            out.write_all(completion::answer(&typed, &known).as_bytes())?;
            Ok(0)
        }
        Task::Diagnose(job) => once(&job, out),
    }
}

/// What drives requests and signals.
fn runtime() -> Result<tokio::runtime::Runtime> {
    // With too few files left to open, tokio panics where it could say so.
    #[cfg(unix)]
    let room: Vec<_> =
        (0..4).map(|_| std::os::unix::net::UnixStream::pair()).collect::<std::io::Result<_>>().context("no connection can be opened")?;
    #[cfg(unix)]
    drop(room);
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

fn once(job: &Job, out: &mut impl Write) -> Result<u8> {
    let reports = match &job.source {
        Source::Files(paths) => {
            let mut plan = Plan::read(job)?;
            plan.settle(&job.scope, job.scope.namespace.as_deref().unwrap_or("default"))?;
            let focus = plan.focus(&job.scope);
            let options = ReadOptions { now: job.now, version: job.server_version.clone(), focus };
            let snapshot = files::read(paths, &options)?;
            save(job, &snapshot)?;
            match plan {
                Plan::Nothing => judge(&snapshot, job, job.scope.namespace.as_deref())?,
                plan => plan.judge(snapshot, &job.scope, job.scope.namespace.as_deref(), None)?,
            }
        }
        Source::Live(access) => {
            let plan = Plan::read(job)?;
            let mut cluster = Cluster::open(access)?;
            match (job.follow, plan) {
                (Some(follow), _) => return follow::follow(job, follow, &mut cluster, out),
                (None, Plan::Nothing) => {
                    let reading = cluster.read(job)?;
                    let reports = cluster.addressed(judge(&reading.snapshot, job, reading.namespace.as_deref())?);
                    // The process is about to end: a large cluster is not taken apart before.
                    std::mem::forget(reading);
                    reports
                }
                (None, plan) => cluster.foresee(job, plan)?,
            }
        }
    };
    write(job, &reports, out)?;
    Ok(if job.lint { lint_exit_code(&reports, job.fail_on) } else { exit_code(&reports, job.fail_on) })
}

/// Writes what was read to where the user wants it.
fn save(job: &Job, snapshot: &Snapshot) -> Result<()> {
    let Some(path) = &job.save else { return Ok(()) };
    capture::save(snapshot, path).with_context(|| format!("{}: cannot be written", path.display()))
}

/// The DaemonSets whose pods are needed in full.
pub fn focus(scope: &Scope) -> Focus {
    Focus { namespace: scope.namespace.clone().filter(|_| !scope.all_namespaces), names: scope.names.clone() }
}

/// A live cluster.
pub struct Cluster {
    runtime: Option<tokio::runtime::Runtime>,
    session: Session,
    access: Access,
    /// The credentials were accepted once.
    accepted: bool,
}

impl Cluster {
    fn open(access: &Access) -> Result<Cluster> {
        let runtime = runtime()?;
        match runtime.block_on(Session::open(access)) {
            Ok(session) => Ok(Cluster { runtime: Some(runtime), session, access: access.clone(), accepted: false }),
            Err(failure) => {
                runtime.shutdown_background();
                Err(failure.into())
            }
        }
    }

    /// Reads the cluster as it is now, and diagnoses what was asked for.
    ///
    /// # Errors
    /// If the DaemonSets cannot be read.
    pub fn diagnose(&mut self, job: &Job) -> Result<Vec<Report>> {
        let reading = self.read(job)?;
        judge(&reading.snapshot, job, reading.namespace.as_deref()).map(|reports| self.addressed(reports))
    }

    /// Reads the cluster as it is now.
    fn read(&mut self, job: &Job) -> Result<Reading> {
        let request = request(job);
        let Some(runtime) = &self.runtime else { bail!("the connection is closed") };
        let mut result = runtime.block_on(self.session.read(&request, Progress::new(job.progress)));
        if self.accepted && result.as_ref().is_err_and(Failure::is_unauthorized) {
            // They have expired: the kubeconfig or its plugin may have new ones.
            self.session = runtime.block_on(Session::open(&self.access))?;
            result = runtime.block_on(self.session.read(&request, Progress::new(job.progress)));
        }
        let reading = result?;
        self.accepted = true;
        save(job, &reading.snapshot)?;
        Ok(reading)
    }

    /// The reports with commands that go to this cluster.
    fn addressed(&self, mut reports: Vec<Report>) -> Vec<Report> {
        let flags = self.access.flags();
        if !flags.is_empty() {
            reports.iter_mut().for_each(|r| r.address(&flags));
        }
        reports
    }

    /// Reads the cluster, and judges what is not there.
    fn foresee(&self, job: &Job, mut plan: Plan) -> Result<Vec<Report>> {
        plan.settle(&job.scope, self.session.namespace())?;
        let Some(runtime) = &self.runtime else { bail!("the connection is closed") };
        let request = Request { proposed: plan.proposed(), ..request(job) };
        let reading = runtime.block_on(self.session.read(&request, Progress::new(job.progress)))?;
        save(job, &reading.snapshot)?;
        let api = self.session.api();
        let ask = |manifest: &Manifest, exists: bool, node: Option<&str>| runtime.block_on(dry_run::ask(&api, manifest, exists, node));
        plan.judge(reading.snapshot, &job.scope, reading.namespace.as_deref(), Some(&ask)).map(|reports| self.addressed(reports))
    }
}

/// What is asked of a live cluster.
fn request(job: &Job) -> Request {
    let scope = &job.scope;
    Request {
        names: scope.names.clone(),
        namespace: scope.namespace.clone(),
        all_namespaces: scope.all_namespaces,
        selector: scope.selector.as_ref().map(|s| s.0.clone()).unwrap_or_default(),
        nodes: scope.nodes.clone(),
        now: job.now,
        server_version: job.server_version.clone(),
        advice: job.lint,
        proposed: Proposed::Nothing,
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // A credential plugin that hangs is not waited for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Diagnoses what the scope names. Without a namespace, a snapshot is searched as a whole.
fn judge(snapshot: &Snapshot, job: &Job, namespace: Option<&str>) -> Result<Vec<Report>> {
    let scope = &job.scope;
    let chosen = chosen(snapshot, scope, namespace)?;
    // What the checks say of nodes that are well is in these formats only.
    let in_full = matches!(job.format, Format::Json | Format::Yaml | Format::Wide) || !scope.nodes.is_empty();
    let options = Options { nodes: scope.nodes.clone(), without_checks: !in_full, ..Options::default() };
    let index = Index::new(snapshot);
    let reports: Vec<Report> = chosen.iter().map(|ds| diagnose_of(&index, ds, &options)).collect();
    nodes_are_there(&reports, scope, snapshot.nodes.is_complete())?;
    Ok(reports)
}

/// Complains of a node that was named and is not there.
///
/// # Errors
/// That.
pub fn nodes_are_there(reports: &[Report], scope: &Scope, complete: bool) -> Result<()> {
    for node in &scope.nodes {
        let known = |r: &Report| r.nodes.iter().any(|n| n.name == *node);
        if !reports.is_empty() && !reports.iter().any(known) && complete {
            bail!("there is no node {node:?}");
        }
    }
    Ok(())
}

/// The DaemonSets that the scope names, by namespace and name.
///
/// # Errors
/// If one is not there, or there is none at all.
pub fn chosen<'a>(snapshot: &'a Snapshot, scope: &Scope, namespace: Option<&str>) -> Result<Vec<&'a DaemonSet>> {
    let namespace = if scope.all_namespaces { None } else { namespace };
    let mut chosen: Vec<&DaemonSet> = Vec::new();
    let there = || snapshot.daemon_sets.iter().filter(|d| namespace.is_none_or(|n| d.metadata.namespace == n));
    for name in &scope.names {
        let before = chosen.len();
        chosen.extend(there().filter(|d| d.metadata.name == *name));
        match chosen.len() - before {
            0 => bail!(not_found(snapshot, name, namespace)),
            1 => {}
            _ if scope.all_namespaces => {}
            _ => bail!(
                "{name:?} is in several namespaces: {}; choose one with -n, or all with -A",
                chosen[before..].iter().map(|d| d.metadata.namespace.as_str()).collect::<Vec<_>>().join(", ")
            ),
        }
    }
    if scope.names.is_empty() {
        let labels = scope.selector.as_ref().map(|s| &s.1);
        chosen.extend(there().filter(|d| labels.is_none_or(|l| selector::selects(l, &d.metadata.labels))));
    }
    chosen.sort_by_key(|d| (&d.metadata.namespace, &d.metadata.name));
    if chosen.is_empty() {
        match namespace {
            Some(namespace) => bail!("no DaemonSet in namespace {namespace:?}; -A looks in all of them"),
            None => bail!("no DaemonSet there"),
        }
    }
    Ok(chosen)
}

/// Says that a DaemonSet is not there, and which ones the user may have meant.
fn not_found(snapshot: &Snapshot, name: &str, namespace: Option<&str>) -> String {
    let place = namespace.map(|n| format!(" in namespace {n:?}")).unwrap_or_default();
    let close =
        close_names(name, snapshot.daemon_sets.iter().map(|d| (d.metadata.namespace.as_str(), d.metadata.name.as_str())), namespace);
    let hint = if close.is_empty() { String::new() } else { format!("; did you mean {}?", close.join(" or ")) };
    format!("DaemonSet {name:?} not found{place}{hint}")
}

/// The closest names, as what to type: at most three.
pub fn close_names<'a>(name: &str, there: impl Iterator<Item = (&'a str, &'a str)>, namespace: Option<&str>) -> Vec<String> {
    let mut close: Vec<(usize, bool, &str, &str)> = there
        .map(|(ns, other)| (distance(name, other), namespace.is_some_and(|n| n != ns), ns, other))
        .filter(|(distance, _, _, other)| *distance <= 2.max(name.len() / 3) || other.contains(name) || name.contains(other))
        .collect();
    close.sort_unstable();
    close
        .iter()
        .take(3)
        .map(|(_, elsewhere, ns, other)| if *elsewhere || namespace.is_none() { format!("{other} -n {ns}") } else { other.to_string() })
        .collect()
}

/// Which code or alert may have been meant.
fn meant(code: &str) -> String {
    let code = code.to_ascii_lowercase();
    let known = registry::entries().into_iter().map(|e| e.code).chain(alert::ALERTS.iter().map(|a| a.name));
    let close = known.map(|name| (distance(&code, &name.to_ascii_lowercase()), name)).min();
    close.filter(|(edits, _)| *edits <= 2.max(code.len() / 3)).map_or(String::new(), |(_, name)| format!(" (did you mean {name}?)"))
}

/// Edits from one name to the other (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// Writes the reports in the format that was asked for.
///
/// # Errors
/// The output's.
pub fn write(job: &Job, reports: &[Report], out: &mut impl Write) -> io::Result<()> {
    let manifests = matches!(job.proposal, Some(Proposal::Manifests { .. }));
    let list = if manifests { reports.len() != 1 } else { job.scope.names.len() != 1 || job.scope.all_namespaces };
    let style = &job.style;
    match job.format {
        Format::Json if job.lint => render::json::value(out, &AdviceList::new(reports)),
        Format::Yaml if job.lint => render::yaml::value(out, &AdviceList::new(reports)),
        _ if job.lint => render::lint::render(out, reports, style),
        Format::Text if job.scope.names.is_empty() && job.scope.nodes.is_empty() && job.proposal.is_none() => {
            render::survey::render_with(out, reports, style, &again(job))
        }
        Format::Text if !job.scope.nodes.is_empty() => render::node::render(out, reports, style),
        Format::Text => render::text::render(out, reports, style),
        Format::Wide => render::wide::render(out, reports, style),
        Format::Json => render::json::render(out, reports, list),
        Format::Yaml => render::yaml::render(out, reports, list),
        Format::Markdown => render::markdown::render(out, reports, style),
        Format::Name => render::name::render(out, reports, job.scope.all_namespaces),
    }
}

/// The flags that lead to the same cluster again; what came by standard input does not come again.
fn again(job: &Job) -> String {
    match &job.source {
        Source::Live(access) => access.flags(),
        Source::Files(paths) => {
            let flags = paths.iter().map(|path| quote(&format!("--snapshot={}", path.display())).into_owned());
            flags.collect::<Vec<_>>().join(" ")
        }
    }
}

/// 1 for a problem, 3 if none was found but not everything could be read, else 0.
pub fn exit_code(reports: &[Report], fail_on: FailOn) -> u8 {
    let least = match fail_on {
        FailOn::Error => Some(Severity::Error),
        FailOn::Warning => Some(Severity::Warning),
        FailOn::Info => Some(Severity::Info),
        FailOn::Never => None,
    };
    let bad = |r: &Report| least.is_some_and(|least| r.summary.verdict == Outcome::Problems || r.worst() >= Some(least));
    if reports.iter().any(bad) {
        1
    } else if reports.iter().any(|r| r.summary.verdict == Outcome::Inconclusive) {
        3
    } else {
        0
    }
}

/// 1 for advice that counts, 3 if not everything could be read that it is drawn from, else 0.
///
/// Advice that bears on what is wrong is a warning, the rest is info; what is only said to be known
/// counts for nothing.
pub fn lint_exit_code(reports: &[Report], fail_on: FailOn) -> u8 {
    let counts = |a: &Advice| match fail_on {
        FailOn::Error | FailOn::Never => false,
        FailOn::Warning => !a.bears_on.is_empty(),
        FailOn::Info => a.asks,
    };
    if reports.iter().flat_map(|r| &r.advice).any(counts) {
        1
    } else if reports.iter().flat_map(|r| &r.missing).any(|m| m.resource != "events") {
        3
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_offered() {
        let there = [("monitoring", "node-exporter"), ("kube-system", "kube-proxy"), ("legacy", "node-exporter")];
        for (name, namespace, want) in [
            ("node-exporter", Some("default"), "node-exporter -n legacy|node-exporter -n monitoring"),
            ("node-exporte", Some("monitoring"), "node-exporter|node-exporter -n legacy"),
            ("proxy", None, "kube-proxy -n kube-system"),
            ("fluentd", None, ""),
        ] {
            assert_eq!(close_names(name, there.into_iter(), namespace).join("|"), want, "{name}");
        }
    }

    #[test]
    fn codes_that_were_meant() {
        for (code, want) in
            [("nodeport", "NodePorts"), ("TaintTolerations", "TaintToleration"), ("KubeDaemonsetRolloutStuk", "KubeDaemonSetRolloutStuck")]
        {
            assert_eq!(meant(code), format!(" (did you mean {want}?)"));
        }
        assert_eq!(meant("x"), "");
    }

    #[test]
    fn edits() {
        for (a, b, want) in [("", "abc", 3), ("abc", "abc", 0), ("kitten", "sitting", 3), ("ab", "ba", 2)] {
            assert_eq!(distance(a, b), want);
        }
    }
}
