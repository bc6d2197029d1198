//! NodePorts: the host ports that the pod wants are free.
//!
//! Upstream: `pkg/scheduler/framework/plugins/nodeports/node_ports.go`, `Filter` (v1.37.2), with
//! `GetHostPorts` and `HostPortInfo`.

use super::{Cycle, Failure, Filter, Finding, Plugin, Verdict};
use crate::cause::{Entry, Evidence, Fact, Stage};
use crate::model::host_port::{HostPort, host_ports};
use crate::model::pod::Pod;

/// The plugin.
pub const PLUGIN: Plugin = Plugin { name: "NodePorts", entry: &ENTRY, prefilter };

const REASON: &str = "node(s) didn't have free ports for the requested pod ports";

static ENTRY: Entry = Entry {
    code: "NodePorts",
    stage: Stage::Scheduling,
    summary: "A host port that the pod wants is held by another pod on the node",
    doc: "\
## What it means
The pod wants a port on the host that another pod on that node holds. The controller does not look at ports, so it makes the pod and the
scheduler leaves it Pending. With `hostNetwork: true` every container port is a host port, even where the template gives no hostPort.

## How it is recognised
Protocol, port and host address of the pod's containers and sidecars are compared with those of all pods on the node that are not
finished. Address 0.0.0.0 (or none) conflicts with every address. The holder is named with its owner; `(own old pod)` is the DaemonSet's
own pod of the old revision, which happens with maxSurge.

## How to check by hand
    kubectl get pods -A --field-selector spec.nodeName=NODE -o jsonpath='{range .items[*]}{.metadata.namespace}/{.metadata.name} {.spec.containers[*].ports[*].hostPort}{\"\\n\"}{end}'

## How to fix it
Remove the other workload if it is a forgotten install, or give one of the two another port. With maxSurge and a host port, set maxSurge
to 0 and maxUnavailable to 1: the old pod has to go before the new one can come.
",
};

fn prefilter<'a>(cycle: &'a Cycle<'a>) -> Filter<'a> {
    let wanted: Vec<HostPort> = host_ports(cycle.spec).collect();
    Box::new(move |info, want| {
        if wanted.is_empty() {
            return Verdict::Pass;
        }
        let conflicts = || {
            let held = info.port_holders.iter().flat_map(|pod| host_ports(&pod.spec).map(move |held| (*pod, held)));
            held.filter(|(_, held)| !info.freed_ports.contains(held))
                .flat_map(|(pod, held)| wanted.iter().filter(move |p| p.conflicts_with(&held)).map(move |port| (port, held, pod)))
        };
        if conflicts().next().is_none() {
            return Verdict::pass_if_pods_known(info);
        }
        let findings = want.findings(|| {
            let mut findings: Vec<Finding> = conflicts().map(|(port, held, pod)| finding(cycle, port, &held, pod)).collect();
            findings.sort_by(|a, b| (&a.detail, &a.message).cmp(&(&b.detail, &b.message)));
            findings.dedup_by(|a, b| a.detail == b.detail);
            findings
        });
        Verdict::Fail(Failure { reasons: vec![REASON.into()], unresolvable: false, findings })
    })
}

fn finding(cycle: &Cycle, port: &HostPort, held: &HostPort, holder: &Pod) -> Finding {
    let own = if cycle.owns(holder) { " (own old pod)" } else { "" };
    let owner = match holder.metadata.controller() {
        Some(o) => format!(" of {} {}/{}", o.kind, holder.metadata.namespace, o.name),
        None => String::new(),
    };
    Finding {
        detail: format!("{port} {}{own}", holder.owner_name()),
        message: format!("host port {port} is held by pod {}{owner}{own}", holder.full_name()),
        evidence: vec![
            Evidence::new(format!("Pod/{}", holder.full_name()), "spec.containers[*].ports[*].hostPort", held.to_string()),
            Evidence::new(
                format!("DaemonSet/{}", cycle.daemon_set.metadata.full_name()),
                "spec.template.spec.containers[*].ports[*].hostPort",
                port.to_string(),
            ),
        ],
        fact: Fact::HostPort {
            protocol: port.protocol.to_string(),
            port: port.port,
            ip: port.ip.to_string(),
            holder: (holder.metadata.namespace.clone(), holder.metadata.name.clone()),
        },
    }
}
