//! A pod exists and has no node: why.

use crate::cause::{Cause, Entry};
use crate::diagnose::{Subject, filter_causes};
use crate::model::node_info::NodeInfo;
use crate::model::pod::Pod;

/// The pages of this folder's codes.
pub static ENTRIES: &[&Entry] = &[];

/// Why a pod that is pinned to this node is Pending.
pub fn causes(subject: &Subject, info: &NodeInfo, pod: &Pod) -> Vec<Cause> {
    filter_causes(subject, info, pod)
}
