//! A pod is there, but it is not healthy: why.

use crate::cause::{Cause, Entry};
use crate::diagnose::Subject;
use crate::model::node_info::NodeInfo;
use crate::model::pod::Pod;

/// The pages of this folder's codes.
pub static ENTRIES: &[&Entry] = &[];

/// Why a bound, failed or terminating pod is not healthy; `info` is its node, if that exists.
pub fn causes(_subject: &Subject, _info: Option<&NodeInfo>, _pod: &Pod) -> Vec<Cause> {
    Vec::new()
}
