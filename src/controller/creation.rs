//! Why a wanted pod does not exist.

use crate::cause::Cause;
use crate::controller::status_stale;
use crate::diagnose::Subject;

/// The causes that keep the controller from making pods; the same for every node that lacks one,
/// for the events that tell of them name no node.
pub fn causes(subject: &Subject) -> Vec<Cause> {
    if let Some(lag) = status_stale::lag(subject.ds) {
        return vec![status_stale::node_cause(subject.ds, lag)];
    }
    Vec::new()
}
