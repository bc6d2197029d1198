//! Advice on the DaemonSet itself: what harms nothing now and may harm later.

use serde::Serialize;

use crate::cause::{Evidence, Remedy};

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Advice {
    /// The stable code, in kebab case: `no-requests`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// The facts that show it.
    pub evidence: Vec<Evidence>,
    /// What to do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy>,
    /// The codes of the report's causes that the advice bears on; empty if it bears on none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bears_on: Vec<&'static str>,
}
