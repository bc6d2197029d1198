//! The command line: what was typed, and what it means. No clap type gets past this file.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, CommandFactory, Parser, ValueEnum};

use crate::cause::{alert, registry};
use crate::completion::{self, Typed};
use crate::model::object::LabelSelector;
use crate::model::selector_text;
use crate::model::time::Time;
use crate::model::version::ServerVersion;
use crate::remedy::merge::Kind;
use crate::render::Style;
use crate::source::access::{Access, Secret};

/// Explains, node by node, why a DaemonSet lacks a healthy, current pod.
///
/// Reads the live cluster (or a saved one), runs the DaemonSet controller's and the scheduler's
/// checks again for every node, and says what refuses the pod. Nothing is ever changed.
#[derive(Debug, Parser)]
#[command(name = "kubectl-ds_doctor", bin_name = "kubectl ds-doctor", version, max_term_width = 100, after_help = EXIT_CODES)]
#[command(disable_help_flag = true, disable_version_flag = true, override_usage = "kubectl ds-doctor [NAME...] [flags]")]
struct Args {
    /// DaemonSets: NAME, ds/NAME or daemonset/NAME; none surveys every DaemonSet of the namespace
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// The namespace to look in
    #[arg(short, long, value_name = "NAME", help_heading = SCOPE)]
    namespace: Option<String>,
    /// Look in all namespaces
    #[arg(short = 'A', long, help_heading = SCOPE)]
    all_namespaces: bool,
    /// Only DaemonSets with these labels, such as app=web,tier!=test
    #[arg(short = 'l', long, value_name = "LABELS", help_heading = SCOPE, conflicts_with = "names")]
    selector: Option<String>,
    /// Only this node, with every check on it (repeatable)
    #[arg(long = "node", value_name = "NAME", help_heading = SCOPE)]
    nodes: Vec<String>,

    /// A saved cluster instead of a live one: a file, a directory, or - for standard input
    /// (repeatable); made by: kubectl get ds,pods,nodes,controllerrevisions,events -A -o yaml
    #[arg(long = "snapshot", value_name = "PATH", help_heading = SOURCE)]
    snapshots: Vec<PathBuf>,
    /// The Kubernetes version whose rules apply, such as v1.34 [default: the cluster's]
    #[arg(long, value_name = "VERSION", help_heading = SOURCE)]
    server_version: Option<String>,
    /// Write what was read to a file, to attach or to replay with --snapshot: only the fields
    /// used, no environment values, no secrets; .gz and .zst are packed
    #[arg(long, value_name = "FILE", help_heading = SOURCE)]
    save_snapshot: Option<PathBuf>,
    /// Judge a manifest that is not applied, on that cluster: where its pods would run, wait, be
    /// refused; a file, a directory, or - for standard input (repeatable). Nothing is created
    #[arg(short, long = "filename", value_name = "FILE", help_heading = SOURCE, conflicts_with_all = ["what_if", "selector", "watch", "wait"])]
    filenames: Vec<PathBuf>,
    /// With -f, have the API server check the DaemonSet and a pod of it, too: none or server
    #[arg(long, value_name = "WHO", num_args = 0..=1, require_equals = true, default_value = "none", default_missing_value = "server",
          hide_possible_values = true, help_heading = SOURCE, requires = "filenames", conflicts_with = "snapshots")]
    dry_run: DryRun,
    /// Judge the DaemonSet as a patch would make it, against what it is: a file, - for standard
    /// input, or the patch itself
    #[arg(long, value_name = "PATCH", help_heading = SOURCE, conflicts_with_all = ["watch", "wait"])]
    what_if: Option<String>,
    /// How that patch is meant [default: json for a list, else strategic]
    #[arg(long, value_name = "TYPE", help_heading = SOURCE, requires = "what_if")]
    patch_type: Option<PatchType>,
    /// The moment that ages are counted to, in RFC 3339
    #[arg(long, value_name = "TIME", hide = true)]
    now: Option<String>,

    /// How to write the report
    #[arg(short, long, value_name = "FORMAT", default_value = "text", help_heading = OUTPUT)]
    output: Format,
    /// When to use colour; NO_COLOR and CLICOLOR_FORCE are honoured
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = OUTPUT)]
    color: When,
    /// Draw with ASCII characters only
    #[arg(long, help_heading = OUTPUT)]
    ascii: bool,
    /// Stay, and show what changes, until Ctrl-C
    #[arg(short, long, help_heading = OUTPUT, conflicts_with_all = ["snapshots", "wait"])]
    watch: bool,
    /// Wait until every node has a healthy, current pod, then report
    #[arg(long, help_heading = OUTPUT, conflicts_with = "snapshots")]
    wait: bool,
    /// How long to wait before reporting what is still wrong; 0 is for ever
    #[arg(long, value_name = "DURATION", default_value = "5m", help_heading = OUTPUT, requires = "wait")]
    timeout: String,
    /// Explain a cause by its code, or an alert by its name; or list all codes
    #[arg(long, value_name = "CODE", num_args = 0..=1, default_missing_value = "", help_heading = OUTPUT)]
    explain: Option<String>,
    /// Only advice on the DaemonSets themselves: what harms nothing now and may harm later (with
    /// -o text, json or yaml); advice that bears on what is wrong now counts as a warning, the
    /// rest as info
    #[arg(long, help_heading = OUTPUT, conflicts_with_all = ["watch", "wait"])]
    lint: bool,
    /// The least severity of a cause that makes the exit code 1
    #[arg(long, value_name = "SEVERITY", default_value = "error", help_heading = OUTPUT)]
    fail_on: FailOn,

    /// Path of the kubeconfig file
    #[arg(long, value_name = "PATH", help_heading = CONNECTION)]
    kubeconfig: Option<PathBuf>,
    /// The kubeconfig's context to use
    #[arg(long, value_name = "NAME", help_heading = CONNECTION)]
    context: Option<String>,
    /// The kubeconfig's cluster to use
    #[arg(long, value_name = "NAME", help_heading = CONNECTION)]
    cluster: Option<String>,
    /// The kubeconfig's user to use
    #[arg(long, value_name = "NAME", help_heading = CONNECTION)]
    user: Option<String>,
    /// Address of the API server
    #[arg(short, long, value_name = "URL", help_heading = CONNECTION)]
    server: Option<String>,
    /// Bearer token for the API server
    #[arg(long, value_name = "TOKEN", help_heading = CONNECTION, hide_env_values = true)]
    token: Option<String>,
    /// Impersonate this user
    #[arg(long = "as", value_name = "USER", help_heading = CONNECTION)]
    as_user: Option<String>,
    /// Impersonate this group (repeatable)
    #[arg(long = "as-group", value_name = "GROUP", help_heading = CONNECTION)]
    as_groups: Vec<String>,
    /// Impersonate this UID
    #[arg(long, value_name = "UID", help_heading = CONNECTION)]
    as_uid: Option<String>,
    /// Certificate file of the authority that signed the API server's certificate
    #[arg(long, value_name = "PATH", help_heading = CONNECTION)]
    certificate_authority: Option<PathBuf>,
    /// Client certificate file for TLS
    #[arg(long, value_name = "PATH", help_heading = CONNECTION)]
    client_certificate: Option<PathBuf>,
    /// Client key file for TLS
    #[arg(long, value_name = "PATH", help_heading = CONNECTION)]
    client_key: Option<PathBuf>,
    /// Do not check the API server's certificate
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false,
          action = ArgAction::Set, hide_default_value = true, hide_possible_values = true, value_name = "BOOL", help_heading = CONNECTION)]
    insecure_skip_tls_verify: bool,
    /// The name that the API server's certificate must have
    #[arg(long, value_name = "NAME", help_heading = CONNECTION)]
    tls_server_name: Option<String>,
    /// How long one request may take, such as 5s; 0 is no limit
    #[arg(long, value_name = "DURATION", default_value = "0", help_heading = CONNECTION)]
    request_timeout: String,
    /// How long reading the cluster may take in all
    #[arg(long, value_name = "DURATION", default_value = "5m", help_heading = CONNECTION)]
    deadline: String,

    /// Print this
    #[arg(short, long, action = ArgAction::HelpShort)]
    help: Option<bool>,
    /// Print the version
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,
}

/// The first word of a command line that asks for candidates; kubectl's script says it.
const COMPLETE: &str = "__complete";

const SCOPE: &str = "What to look at";
const SOURCE: &str = "Where to read it";
const OUTPUT: &str = "Output";
const CONNECTION: &str = "Connection (as kubectl)";

const EXIT_CODES: &str = "\
Exit code: 0 all is well, 1 problems were found, 2 could not do what was asked,
3 no problem found but not everything could be read.

Examples:
  kubectl ds-doctor node-exporter -n monitoring
  kubectl ds-doctor -A
  kubectl ds-doctor ds/node-exporter -n monitoring --node worker-7
  kubectl ds-doctor node-exporter -n monitoring --snapshot cluster.yaml -o json
  kubectl ds-doctor -f ds.yaml
  kubectl ds-doctor node-exporter -n monitoring --what-if patch.yaml
  kubectl ds-doctor -A --lint
  kubectl ds-doctor --explain KubeDaemonSetRolloutStuck";

/// How the report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// Every node and check as a matrix.
    Wide,
    /// The contract `ds-doctor/v1`.
    Json,
    /// The same as YAML.
    Yaml,
    /// For an incident channel.
    Markdown,
    /// The nodes and pods concerned, one a line.
    Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DryRun {
    None,
    Server,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PatchType {
    Strategic,
    Merge,
    Json,
}

/// The least severity of a cause that makes the exit code 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A wanted pod is absent or unhealthy, or a rollout is stuck.
    Error,
    /// What is likely not meant.
    Warning,
    /// Anything at all.
    Info,
    /// None.
    Never,
}

/// What is to be done.
#[derive(Debug)]
pub enum Task {
    /// Diagnose.
    Diagnose(Box<Job>),
    /// Write the page of a code; of all of them if `None`.
    Explain(Option<String>, Style),
    /// Tell kubectl what the word at the cursor can be.
    Complete(Typed),
}

/// A diagnosis to be made.
#[derive(Debug)]
pub struct Job {
    /// Where from.
    pub source: Source,
    /// Of what.
    pub scope: Scope,
    /// What is judged without being there.
    pub proposal: Option<Proposal>,
    /// The moment that ages are counted to.
    pub now: Option<Time>,
    /// The version whose rules apply.
    pub server_version: Option<String>,
    /// Where what was read is saved.
    pub save: Option<PathBuf>,
    /// How it is written.
    pub format: Format,
    /// Only advice.
    pub lint: bool,
    /// For which terminal.
    pub style: Style,
    /// What makes the exit code 1.
    pub fail_on: FailOn,
    /// Look again and again.
    pub follow: Option<Follow>,
    /// Standard output is a terminal.
    pub terminal: bool,
    /// Standard error is a terminal: progress may be shown.
    pub progress: bool,
}

/// What is judged without being there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposal {
    /// DaemonSets of manifests.
    Manifests {
        /// Files and directories; `-` is standard input.
        files: Vec<PathBuf>,
        /// The API server is asked, too.
        dry_run: bool,
    },
    /// What a patch makes of a DaemonSet.
    Patch {
        /// A file, `-`, or the patch itself.
        patch: String,
        /// How it is meant, if the user said.
        kind: Option<Kind>,
    },
}

/// Looking again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// Until Ctrl-C.
    Watch,
    /// Until all is well, at most so long; `None` is for ever.
    Wait(Option<Duration>),
}

/// Where the cluster is read from.
#[derive(Debug)]
pub enum Source {
    /// A live cluster.
    Live(Box<Access>),
    /// Files and directories; `-` is standard input.
    Files(Vec<PathBuf>),
}

/// Which DaemonSets, and which nodes.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Names; empty is all.
    pub names: Vec<String>,
    /// The namespace that was given.
    pub namespace: Option<String>,
    /// Every namespace.
    pub all_namespaces: bool,
    /// Labels that DaemonSets must have, as they were typed and read.
    pub selector: Option<(String, LabelSelector)>,
    /// Nodes; empty is all.
    pub nodes: BTreeSet<String>,
}

/// The command as clap knows it, for the completion scripts.
pub fn command() -> clap::Command {
    Args::command()
}

/// What `--explain` takes, for completion.
fn codes() -> Vec<(String, String)> {
    let codes = registry::entries().into_iter().map(|entry| (entry.code.to_string(), entry.summary.to_string()));
    let alerts = alert::ALERTS.iter().map(|alert| (alert.name.to_string(), "an alert, and the codes that answer it".to_string()));
    codes.chain(alerts).collect()
}

/// Reads the command line.
///
/// # Errors
/// clap's own message, with its exit code; help and version are such.
pub fn parse(args: impl IntoIterator<Item = std::ffi::OsString>) -> Result<Task, clap::Error> {
    let words: Vec<std::ffi::OsString> = args.into_iter().collect();
    if words.get(1).is_some_and(|word| word == COMPLETE) {
        let typed: Vec<String> = words.iter().skip(2).map(|word| word.to_string_lossy().into_owned()).collect();
        return Ok(Task::Complete(completion::read(&Args::command(), &codes(), &typed)));
    }
    let args = Args::try_parse_from(words)?;
    let color = args.color;
    let style = Style { width: width(), color: wants_color(color), ascii: args.ascii || !speaks_utf8() };
    if let Some(code) = args.explain {
        return Ok(Task::Explain(Some(code).filter(|c| !c.is_empty()), style));
    }
    let job = derive(args, style).map_err(|message| Args::command().error(clap::error::ErrorKind::ValueValidation, message))?;
    Ok(Task::Diagnose(Box::new(job)))
}

fn derive(args: Args, style: Style) -> Result<Job, String> {
    let scope = Scope {
        names: names(&args.names)?,
        namespace: args.namespace,
        all_namespaces: args.all_namespaces,
        selector: args.selector.map(|text| selector_text::parse(&text).map(|read| (text, read))).transpose()?,
        nodes: args.nodes.into_iter().collect(),
    };
    if let Some(version) = &args.server_version {
        version.parse::<ServerVersion>().map_err(|e| e.to_string())?;
    }
    let now = args.now.map(|t| Time::parse(&t).map_err(|_| format!("--now {t:?} is not an RFC 3339 time"))).transpose()?;
    let timeout = Some(duration("--timeout", &args.timeout)?).filter(|d| !d.is_zero());
    let follow = match (args.watch, args.wait) {
        (true, _) => Some(Follow::Watch),
        (_, true) => Some(Follow::Wait(timeout)),
        _ => None,
    };
    if args.lint && !matches!(args.output, Format::Text | Format::Json | Format::Yaml) {
        return Err("--lint is written with -o text, json or yaml".into());
    }
    let kind = args.patch_type.map(|kind| match kind {
        PatchType::Strategic => Kind::Strategic,
        PatchType::Merge => Kind::Merge,
        PatchType::Json => Kind::Json,
    });
    let proposal = match args.what_if {
        Some(patch) => Some(Proposal::Patch { patch, kind }),
        None if args.filenames.is_empty() => None,
        None => Some(Proposal::Manifests { files: args.filenames, dry_run: args.dry_run == DryRun::Server }),
    };
    let source = if args.snapshots.is_empty() {
        Source::Live(Box::new(Access {
            kubeconfig: args.kubeconfig,
            context: args.context,
            cluster: args.cluster,
            user: args.user,
            server: args.server,
            token: args.token.map(Secret),
            as_user: args.as_user,
            as_groups: args.as_groups,
            as_uid: args.as_uid,
            certificate_authority: args.certificate_authority,
            client_certificate: args.client_certificate,
            client_key: args.client_key,
            insecure_skip_tls_verify: args.insecure_skip_tls_verify,
            tls_server_name: args.tls_server_name,
            request_timeout: Some(duration("--request-timeout", &args.request_timeout)?).filter(|d| !d.is_zero()),
            deadline: Some(duration("--deadline", &args.deadline)?).filter(|d| !d.is_zero()).unwrap_or(Duration::from_secs(86400)),
        }))
    } else {
        Source::Files(args.snapshots)
    };
    Ok(Job {
        source,
        scope,
        proposal,
        now,
        server_version: args.server_version,
        save: args.save_snapshot,
        format: args.output,
        lint: args.lint,
        style,
        fail_on: args.fail_on,
        follow,
        terminal: std::io::stdout().is_terminal(),
        progress: std::io::stderr().is_terminal(),
    })
}

const TYPES: [&str; 5] = ["ds", "daemonset", "daemonsets", "daemonset.apps", "daemonsets.apps"];

/// `NAME`, `ds/NAME`, or kubectl's `ds NAME...`.
fn names(typed: &[String]) -> Result<Vec<String>, String> {
    let typed = match typed {
        [first, rest @ ..] if !rest.is_empty() && TYPES.contains(&first.as_str()) => rest,
        all => all,
    };
    let mut names: Vec<String> = Vec::new();
    for text in typed {
        let name = match text.split_once('/') {
            Some((kind, name)) if TYPES.contains(&kind.to_ascii_lowercase().as_str()) => name,
            Some(_) => return Err(format!("{text:?} is no DaemonSet: give NAME or ds/NAME, and its namespace with -n")),
            None => text,
        };
        let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
        if name.is_empty() || name.len() > 253 || !name.chars().all(fine) {
            return Err(format!("{text:?} cannot be the name of a DaemonSet"));
        }
        if !names.iter().any(|n| n == name) {
            names.push(name.to_string());
        }
    }
    Ok(names)
}

/// Go's durations (`1m30s`, `500ms`); a bare number is seconds, as kubectl reads it.
fn duration(flag: &str, text: &str) -> Result<Duration, String> {
    let bad = || format!("{flag} {text:?} is not a duration (such as 5s, 2m or 500ms)");
    if let Ok(seconds) = text.parse::<u64>() {
        return Ok(Duration::from_secs(seconds));
    }
    let (mut rest, mut total) = (text, 0.0_f64);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(bad)?;
        let (number, unit) = rest.split_at(digits);
        let number: f64 = number.parse().map_err(|_| bad())?;
        let (scale, length) = [("ms", 0.001), ("us", 1e-6), ("ns", 1e-9), ("h", 3600.0), ("m", 60.0), ("s", 1.0)]
            .into_iter()
            .find(|(name, _)| unit.starts_with(name))
            .map(|(name, scale)| (scale, name.len()))
            .ok_or_else(bad)?;
        total += number * scale;
        rest = &unit[length..];
    }
    if text.is_empty() { Err(bad()) } else { Duration::try_from_secs_f64(total).map_err(|_| bad()) }
}

fn width() -> usize {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(80, |(w, _)| usize::from(w.0)).max(40)
}

fn wants_color(when: When) -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto if set("NO_COLOR").is_some() => false,
        When::Auto if set("CLICOLOR_FORCE").is_some_and(|v| v != "0") => true,
        When::Auto => std::io::stdout().is_terminal() && set("TERM").is_none_or(|t| t != "dumb"),
    }
}

/// False if the locale says that the terminal takes no UTF-8; one that says nothing may well.
fn speaks_utf8() -> bool {
    let said = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(|n| std::env::var(n).ok()).find(|v| !v.is_empty());
    said.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(words: &str) -> Result<Job, String> {
        let words = std::iter::once("kubectl-ds_doctor").chain(words.split_whitespace()).map(Into::into);
        match parse(words) {
            Ok(Task::Diagnose(job)) => Ok(*job),
            Ok(Task::Explain(code, _)) => Err(format!("explain {code:?}")),
            Ok(Task::Complete(typed)) => Err(format!("complete {typed:?}")),
            Err(e) => Err(e.to_string()),
        }
    }

    #[test]
    fn the_command_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn names_as_kubectl_takes_them() {
        for (words, want) in [
            ("a", "a"),
            ("ds/a daemonset/b daemonsets.apps/c", "a b c"),
            ("ds a b", "a b"),
            ("daemonset a", "a"),
            ("ds", "ds"),
            ("a a", "a"),
            ("", ""),
        ] {
            assert_eq!(job(words).unwrap().scope.names.join(" "), want, "{words}");
        }
        for words in ["pod/a", "monitoring/a", "ds/", "A", "a_b"] {
            assert!(job(words).is_err(), "{words}");
        }
    }

    #[test]
    fn durations() {
        for (text, want) in [
            ("0", Some(0)),
            ("5", Some(5000)),
            ("5s", Some(5000)),
            ("1m30s", Some(90_000)),
            ("500ms", Some(500)),
            ("1.5h", Some(5_400_000)),
        ] {
            assert_eq!(duration("-", text).ok().map(|d| d.as_millis()), want, "{text}");
        }
        for text in ["", "s", "5x", "-1s", "1e999s", "5s5", "99999999999999999999h"] {
            assert!(duration("-", text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_source_is_live_unless_a_snapshot_is_given() {
        let Source::Live(access) =
            job("a --context c --as me --as-group g --as-group h --request-timeout 2s --insecure-skip-tls-verify").unwrap().source
        else {
            panic!()
        };
        assert_eq!((access.context.as_deref(), access.as_user.as_deref()), (Some("c"), Some("me")));
        assert_eq!(access.as_groups, ["g", "h"]);
        assert_eq!(access.request_timeout, Some(Duration::from_secs(2)));
        assert!(access.insecure_skip_tls_verify);
        assert_eq!(job("a").unwrap().follow, None);
        assert_eq!(job("a -w").unwrap().follow, Some(Follow::Watch));
        assert_eq!(job("a --wait").unwrap().follow, Some(Follow::Wait(Some(Duration::from_secs(300)))));
        assert_eq!(job("a --wait --timeout 0").unwrap().follow, Some(Follow::Wait(None)));
        let Source::Files(paths) = job("a --snapshot x --snapshot -").unwrap().source else { panic!() };
        assert_eq!(paths, [PathBuf::from("x"), PathBuf::from("-")]);
    }

    #[test]
    fn what_is_judged_without_being_there() {
        let files = |dry_run| Some(Proposal::Manifests { files: vec!["x".into()], dry_run });
        let patch = |kind| Some(Proposal::Patch { patch: "y".into(), kind });
        for (words, want) in [
            ("a", None),
            ("-f x", files(false)),
            ("--filename x --dry-run=none", files(false)),
            ("-f x --dry-run=server", files(true)),
            ("-f x --dry-run", files(true)),
            ("a --what-if y", patch(None)),
            ("a --what-if y --patch-type merge", patch(Some(Kind::Merge))),
        ] {
            assert_eq!(job(words).unwrap().proposal, want, "{words}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for words in [
            "--bogus",
            "a -l app=x",
            "-o xml",
            "--server-version new",
            "--now yesterday",
            "-l ,",
            "--request-timeout soon",
            "--timeout 5s",
            "-w --wait",
            "--wait --snapshot x",
            "--wait --timeout soon",
            "-f x --what-if y",
            "-f x -w",
            "--dry-run=server",
            "-f x --dry-run=server --snapshot y",
            "a --patch-type json",
        ] {
            assert!(job(words).is_err(), "{words}");
        }
        assert_eq!(job("--explain").unwrap_err(), "explain None");
        assert_eq!(job("--explain NodePorts").unwrap_err(), "explain Some(\"NodePorts\")");
    }
}
