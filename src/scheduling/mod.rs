//! A pod exists and has no node: why.

pub mod scheduling_gates;

use crate::cause::{Cause, Entry};
use crate::diagnose::{Subject, filter_causes};
use crate::model::node_info::NodeInfo;
use crate::model::pod::Pod;

/// The pages of this folder's codes.
pub static ENTRIES: &[&Entry] = &[&scheduling_gates::ENTRY];

/// Why a pod that is pinned to this node is Pending.
pub fn causes(subject: &Subject, info: &NodeInfo, pod: &Pod) -> Vec<Cause> {
    filter_causes(subject, info, pod)
}
