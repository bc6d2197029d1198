//! What a reader of a live cluster is asked for.

use std::collections::BTreeSet;

use crate::model::daemon_set::DaemonSet;
use crate::model::time::Time;
use crate::remedy::merge::Patch;

/// What is asked of the cluster.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// DaemonSets by name; none is all.
    pub names: Vec<String>,
    /// The namespace; `None` is the context's.
    pub namespace: Option<String>,
    /// All namespaces.
    pub all_namespaces: bool,
    /// Labels of the DaemonSets, as typed.
    pub selector: String,
    /// Nodes to be judged in full.
    pub nodes: BTreeSet<String>,
    /// The moment that ages are counted to, instead of now.
    pub now: Option<Time>,
    /// The version whose rules apply, instead of the server's.
    pub server_version: Option<String>,
    /// Advice on the DaemonSets is what is asked for: what only that needs is read, too.
    pub advice: bool,
    /// What is to be judged without being there; then a DaemonSet of that name need not be there.
    pub proposed: Proposed,
}

/// What is to be judged without being there.
#[derive(Clone, Debug, Default)]
pub enum Proposed {
    /// Nothing: what is there is judged.
    #[default]
    Nothing,
    /// These DaemonSets, their namespace the context's where they name none.
    DaemonSets(Vec<DaemonSet>),
    /// What a patch makes of those that are there.
    Patch(Patch),
}
