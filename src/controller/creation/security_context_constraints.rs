//! CreateSecurityContextConstraint: no OpenShift constraint admits the pod.
//!
//! OpenShift's admission plugin `security.openshift.io/SecurityContextConstraint`.

use super::refusal;
use crate::cause::{Cause, Entry, Stage};
use crate::diagnose::Subject;

/// The page.
pub static ENTRY: Entry = Entry {
    code: "CreateSecurityContextConstraint",
    stage: Stage::Creation,
    summary: "No SecurityContextConstraints of OpenShift admit the pod",
    doc: "\
## What it means
On OpenShift the pod's ServiceAccount needs the use of SecurityContextConstraints that allow what the pod asks for (host paths, host
network, privileged, user). None that it may use does.

## How it is recognised
A FailedCreate event says `unable to validate against any security context constraint`, with what each constraint refused.

## How to check by hand
    oc -n NAMESPACE adm policy who-can use scc privileged
    oc get scc

## How to fix it
Grant the ServiceAccount the least constraint that fits: `oc adm policy add-scc-to-user SCC -z SERVICEACCOUNT -n NAMESPACE`.
",
};

/// Reads OpenShift's text.
pub fn from_event(subject: &Subject, text: &str) -> Option<Vec<Cause>> {
    let (_, words) = text.split_once("unable to validate against any security context constraint")?;
    let message = format!("no SecurityContextConstraints admit the pod{words}");
    let account = &subject.ds.spec.template.spec.service_account_name;
    Some(vec![refusal(&ENTRY, "", message).evidence(subject.object(), "spec.template.spec.serviceAccountName", account.as_str())])
}
