//! The DaemonSet controller's rules: where it wants a pod, which pods are its own, what it counts,
//! and why it may have made none.

use crate::cause::Entry;

pub mod creation;
pub mod misscheduled;
pub mod no_eligible_nodes;
pub mod node_gone;
pub mod ownership;
pub mod recount;
pub mod should_run;
pub mod status_disagrees;
pub mod status_stale;

/// The pages of this folder's codes.
pub static ENTRIES: &[&Entry] =
    &[&misscheduled::ENTRY, &no_eligible_nodes::ENTRY, &node_gone::ENTRY, &status_disagrees::ENTRY, &status_stale::ENTRY];
