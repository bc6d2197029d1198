//! `-f` and `--what-if`: reads what is to be judged without being there, and has it judged.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};

use crate::cli::{Job, Proposal, Scope};
use crate::controller::should_run::decide;
use crate::diagnose::Options;
use crate::model::daemon_set::DaemonSet;
use crate::model::snapshot::{Objects, Snapshot};
use crate::model::toleration::daemon_pod_tolerations;
use crate::preflight::Answers;
use crate::preflight::turn::{Item, each};
use crate::remedy::merge::Patch;
use crate::report::Report;
use crate::run::{chosen, focus, nodes_are_there};
use crate::source::files::Focus;
use crate::source::manifests::{self, Manifest, Manifests, whole_text};
use crate::source::read_error::ReadError;
use crate::source::request::Proposed;
use crate::source::yaml_words::as_kubectl_reads;

/// What is to be judged.
#[derive(Debug)]
pub enum Plan {
    /// What is there.
    Nothing,
    /// DaemonSets of manifests.
    Manifests {
        /// What the files hold.
        read: Box<Manifests>,
        /// The API server is asked, too.
        dry_run: bool,
    },
    /// What a patch makes of what is there.
    Patch {
        /// The patch.
        patch: Patch,
        /// Its name.
        name: String,
    },
}

/// A patch is not longer.
const LONGEST: u64 = 16 << 20;

fn text(input: impl Read) -> Result<String> {
    whole_text(input, LONGEST)?.context("is larger than 16 MiB, as no patch is")
}

/// Asks the API server about a manifest: whether a DaemonSet of its name is there, and the name of
/// a node for its pod.
pub type Ask<'a> = dyn Fn(&Manifest, bool, Option<&str>) -> Answers + 'a;

impl Plan {
    /// Reads the files that the job names.
    ///
    /// # Errors
    /// In one line, if they cannot be read or are not what they should be.
    pub fn read(job: &Job) -> Result<Plan> {
        match &job.proposal {
            None => Ok(Plan::Nothing),
            Some(Proposal::Manifests { files, dry_run }) => {
                let mut read = Box::new(manifests::read(files)?);
                read.items.retain(|i| job.scope.names.is_empty() || job.scope.names.contains(&i.ds.metadata.name));
                if read.items.is_empty() {
                    bail!("no DaemonSet {} in the files of -f", job.scope.names.join(" or "));
                }
                Ok(Plan::Manifests { read, dry_run: *dry_run })
            }
            Some(Proposal::Patch { patch, kind }) => {
                let (name, text) = match patch.as_str() {
                    text if is_inline(text) => ("the patch".to_string(), text.to_string()),
                    "-" => ("standard input".to_string(), text(std::io::stdin().lock()).context("standard input: cannot be read")?),
                    path => {
                        let file = std::fs::File::open(path).map_err(|e| ReadError::io(path, e))?;
                        (path.to_string(), text(file).with_context(|| format!("{path}: cannot be read"))?)
                    }
                };
                let json = text.trim_start().starts_with(['{', '[']);
                let text = if json { text } else { as_kubectl_reads(&text).into_owned() };
                let patch = Patch::parse(&text, *kind).map_err(|e| anyhow!("{name}: {}", e.lines().next().unwrap_or_default()))?;
                Ok(Plan::Patch { patch, name })
            }
        }
    }

    /// Puts objects that name no namespace into the user's, or this one.
    ///
    /// # Errors
    /// If one is of another than the user's.
    pub fn settle(&mut self, scope: &Scope, namespace: &str) -> Result<()> {
        match self {
            Plan::Manifests { read, .. } => read.settle(scope.namespace.as_deref(), namespace).map_err(|e| anyhow!(e)),
            Plan::Nothing | Plan::Patch { .. } => Ok(()),
        }
    }

    /// The DaemonSets whose pods are needed in full.
    pub fn focus(&self, scope: &Scope) -> Focus {
        match self {
            Plan::Manifests { read, .. } => {
                Focus { namespace: None, names: read.items.iter().map(|i| i.ds.metadata.name.clone()).collect() }
            }
            Plan::Nothing | Plan::Patch { .. } => focus(scope),
        }
    }

    /// What a live cluster is read for.
    pub fn proposed(&self) -> Proposed {
        match self {
            Plan::Nothing => Proposed::Nothing,
            Plan::Manifests { read, .. } => Proposed::DaemonSets(read.items.iter().map(|i| i.ds.clone()).collect()),
            Plan::Patch { patch, .. } => Proposed::Patch(patch.clone()),
        }
    }

    /// Judges on what was read; `ask` reaches the API server, if there is one.
    ///
    /// # Errors
    /// If the DaemonSet to be patched is not there, or cannot be patched so.
    pub fn judge(self, snapshot: Snapshot, scope: &Scope, namespace: Option<&str>, ask: Option<&Ask>) -> Result<Vec<Report>> {
        let options = Options { nodes: scope.nodes.clone(), ..Options::default() };
        let complete = snapshot.nodes.is_complete();
        let (items, others) = match self {
            Plan::Nothing => (Vec::new(), Objects::default()),
            Plan::Manifests { read, dry_run } => {
                let ask = ask.filter(|_| dry_run);
                let Manifests { items, others } = *read;
                (items.into_iter().map(|manifest| item(manifest, &snapshot, ask)).collect(), others)
            }
            Plan::Patch { patch, name } => {
                let mut items = Vec::new();
                for ds in chosen(&snapshot, scope, namespace)? {
                    let patched = patch.apply(ds).map_err(|e| anyhow!("{name}: {e}"))?;
                    items.push(Item {
                        ds: patched.daemon_set,
                        source: name.clone(),
                        patch: Some(patched.replaces_pods),
                        unsure: patched.unsure,
                        ..Item::default()
                    });
                }
                (items, Objects::default())
            }
        };
        let reports = each(snapshot, items, &others, &options);
        nodes_are_there(&reports, scope, complete)?;
        Ok(reports)
    }
}

/// True for a patch itself, in the place of its file's name.
fn is_inline(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) || text.contains('\n') || (text.contains(": ") && !Path::new(text).exists())
}

fn item(manifest: Manifest, snapshot: &Snapshot, ask: Option<&Ask>) -> Item {
    let server = ask.map(|ask| {
        let exists = snapshot.daemon_set(&manifest.ds.metadata.namespace, &manifest.ds.metadata.name).is_some();
        ask(&manifest, exists, a_node(snapshot, &manifest.ds).as_deref())
    });
    Item { ds: manifest.ds, source: manifest.source, file: manifest.file, faults: manifest.faults, server, ..Item::default() }
}

/// A node that a pod would be made for.
fn a_node(snapshot: &Snapshot, ds: &DaemonSet) -> Option<String> {
    let tolerations = daemon_pod_tolerations(&ds.spec.template.spec);
    let features = snapshot.version.features();
    let wanted = snapshot.nodes.iter().filter(|n| decide(ds, &tolerations, n, &features).should_run);
    wanted.map(|n| n.name().to_string()).min()
}
