//! The rollout: what the strategy allows, how far it is, and what holds it up.

use std::collections::BTreeMap;

use crate::cause::{Cause, Entry};
use crate::controller::should_run::Decision;
use crate::diagnose::Subject;
use crate::report::{NodeReport, Rollout};

pub mod old_revision;
pub mod status;

/// The pages of this folder's codes.
pub static ENTRIES: &[&Entry] = &[&old_revision::ENTRY];

/// Completes the rollout's part of the report: the budget, who uses it up, what waits, and the
/// causes that follow.
pub fn assess(
    subject: &Subject,
    _decisions: &BTreeMap<&str, Decision>,
    _nodes: &mut [NodeReport],
    rollout: &mut Rollout,
    _causes: &mut Vec<Cause>,
) {
    let own = subject.snapshot.controller_revisions.iter().filter(|r| crate::controller::ownership::owns_revision(subject.ds, r));
    rollout.revision = own.map(|r| r.revision).max();
}
