//! CreateInvalid: the pod made from the template is not valid.
//!
//! Upstream: `ValidatePodCreate` of `pkg/apis/core/validation/validation.go` (v1.37.2): what only
//! shows on the pod, such as a request above a limit that a LimitRange set.

use super::refusal;
use crate::cause::{Cause, Entry, Stage};
use crate::diagnose::Subject;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "CreateInvalid",
    stage: Stage::Creation,
    summary: "The pod made from the template fails the API server's validation",
    doc: "\
## What it means
The template was accepted, but the pod that comes of it is not valid: admission changed something (a LimitRange set a limit below the
request, a webhook edited it), or a field may not be set on a pod.

## How it is recognised
A FailedCreate event says `Pod ... is invalid` with the field and the reason.

## How to check by hand
    kubectl -n NAMESPACE describe ds NAME
    kubectl -n NAMESPACE get limitranges -o yaml

## How to fix it
Change the named field in the template; for a request above a limit, set the limit in the template yourself.
",
};

/// Reads upstream's text.
pub fn from_event(subject: &Subject, text: &str) -> Option<Vec<Cause>> {
    let (_, rest) = text.split_once("\" is invalid: ")?;
    let rest = rest.trim_start_matches('[');
    let field = rest.split(": ").next().unwrap_or_default();
    let message = format!("the pod made from the template is not valid: {rest}");
    Some(vec![refusal(&ENTRY, field, message).evidence(subject.object(), format!("spec.template.{field}"), rest)])
}
