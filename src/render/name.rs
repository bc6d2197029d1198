//! `-o name`: what is concerned, one a line, for pipes: `pod/NAMESPACE/NAME` where a pod of the
//! DaemonSet is there that is not as it should be, `node/NAME` where there is none.

use std::io::{self, Write};

use crate::cause::Severity;
use crate::render::safe;
use crate::report::{NodeReport, Report, State};

/// Writes the names, in the order of the reports, each once.
pub fn render(out: &mut impl Write, reports: &[Report]) -> io::Result<()> {
    let mut written = std::collections::BTreeSet::new();
    for report in reports {
        let namespace = &report.daemon_set.namespace;
        for node in report.nodes.iter().filter(|n| concerned(n)) {
            let good = |p: &&crate::report::PodReport| !(p.available && p.up_to_date != Some(false) && node.state != State::Misscheduled);
            let mut names: Vec<String> = node.pods.iter().filter(good).map(|p| format!("pod/{namespace}/{}", p.name)).collect();
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
