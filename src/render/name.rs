//! `-o name`: what is concerned, one a line, for pipes: `pod/NAME`, as kubectl takes it, where a pod
//! of the DaemonSet is there that is not as it should be, `node/NAME` where there is none. Of several
//! namespaces, where kubectl's form would not say which, `pod/NAMESPACE/NAME`.

use std::io::{self, Write};

use crate::cause::Severity;
use crate::render::safe;
use crate::report::{NodeReport, Report, State};

/// Writes the names, in the order of the reports, each once; `namespaced` with the pods' namespaces.
pub fn render(out: &mut impl Write, reports: &[Report], namespaced: bool) -> io::Result<()> {
    let mut written = std::collections::BTreeSet::new();
    let namespaces: std::collections::BTreeSet<&str> = reports.iter().map(|r| r.daemon_set.namespace.as_str()).collect();
    let namespaced = namespaced || namespaces.len() > 1;
    for report in reports {
        let namespace = &report.daemon_set.namespace;
        for node in report.nodes.iter().filter(|n| concerned(n)) {
            let good = |p: &&crate::report::PodReport| !(p.available && p.up_to_date != Some(false) && node.state != State::Misscheduled);
            let place = if namespaced { format!("{namespace}/") } else { String::new() };
            let mut names: Vec<String> = node.pods.iter().filter(good).map(|p| format!("pod/{place}{}", p.name)).collect();
            if names.is_empty() {
                names.push(format!("node/{}", node.name));
            }
            for name in names {
                if written.insert(name.clone()) {
                    writeln!(out, "{}", safe::clean(&name))?;
                }
            }
        }
    }
    Ok(())
}

/// A healthy node is of no concern, nor one that is left out by design.
fn concerned(node: &NodeReport) -> bool {
    match node.state {
        State::Healthy => false,
        State::Excluded => node.causes.iter().any(|c| c.severity > Severity::Info),
        _ => true,
    }
}
