//! The DaemonSet controller's rules: where it wants a pod, which pods are its own, what it counts,
//! and why it may have made none.

use crate::cause::Entry;

pub mod controller_silent;
pub mod creation;
pub mod daemon_set_terminating;
pub mod empty_selector;
pub mod misscheduled;
pub mod no_eligible_nodes;
pub mod node_gone;
pub mod ownership;
pub mod pod_orphaned;
pub mod project_selector;
pub mod recount;
pub mod selector_overlap;
pub mod should_run;
pub mod status_disagrees;
pub mod status_stale;

/// The pages of this folder's codes.
pub static ENTRIES: &[&Entry] = &[
    &controller_silent::ENTRY,
    &daemon_set_terminating::ENTRY,
    &empty_selector::ENTRY,
    &misscheduled::ENTRY,
    &no_eligible_nodes::ENTRY,
    &node_gone::ENTRY,
    &pod_orphaned::ENTRY,
    &selector_overlap::ENTRY,
    &status_disagrees::ENTRY,
    &status_stale::ENTRY,
];
