//! Host ports and their conflicts.
//!
//! Upstream: `GetHostPorts` of `pkg/scheduler/util/utils.go` and `HostPortInfo` of
//! `k8s.io/kube-scheduler/framework` (v1.37.2).

use std::fmt;

use super::pod::{Container, PodSpec};

/// The address that stands for every address of the host.
const ANY_IP: &str = "0.0.0.0";

/// A port on the host that a pod wants or holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostPort<'a> {
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: &'a str,
    /// The port on the host.
    pub port: i32,
    /// The host's address; `0.0.0.0` for all.
    pub ip: &'a str,
}

impl HostPort<'_> {
    /// True if both cannot be held at once: same protocol and port, and one address covers the
    /// other. `::` is an address like any other, as upstream has it.
    pub fn conflicts_with(&self, other: &HostPort<'_>) -> bool {
        self.protocol == other.protocol && self.port == other.port && (self.ip == other.ip || self.ip == ANY_IP || other.ip == ANY_IP)
    }
}

impl fmt::Display for HostPort<'_> {
    /// `[hostIP:]PROTO/port`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ip != ANY_IP {
            write!(f, "{}:", self.ip)?;
        }
        write!(f, "{}/{}", self.protocol, self.port)
    }
}

/// The host ports of a pod: of its containers and sidecars, not of plain init containers.
///
/// With the host's network a container port without host port stands for itself, as the API
/// server's defaulting has it (`defaultHostNetworkPorts`; done on pods, not on templates).
pub fn host_ports(spec: &PodSpec) -> impl Iterator<Item = HostPort<'_>> {
    spec.containers.iter().chain(spec.init_containers.iter().filter(|c| c.is_sidecar())).flat_map(move |c: &Container| &c.ports).filter_map(
        move |p| {
            let port = if p.host_port == 0 && spec.host_network { p.container_port } else { p.host_port };
            (port > 0).then_some(HostPort {
                protocol: if p.protocol.is_empty() { "TCP" } else { &p.protocol },
                port,
                ip: if p.host_ip.is_empty() { ANY_IP } else { &p.host_ip },
            })
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_as_upstream() {
        let port = |ip, protocol, port| HostPort { protocol, port, ip };
        for (a, b, want) in [
            (port("0.0.0.0", "TCP", 80), port("10.0.0.1", "TCP", 80), true),
            (port("10.0.0.1", "TCP", 80), port("10.0.0.2", "TCP", 80), false),
            (port("::", "TCP", 80), port("10.0.0.1", "TCP", 80), false),
            (port("::", "TCP", 80), port("0.0.0.0", "TCP", 80), true),
            (port("0.0.0.0", "UDP", 80), port("0.0.0.0", "TCP", 80), false),
            (port("0.0.0.0", "TCP", 81), port("0.0.0.0", "TCP", 80), false),
        ] {
            assert_eq!(a.conflicts_with(&b), want, "{a} {b}");
            assert_eq!(b.conflicts_with(&a), want, "{b} {a}");
        }
        assert_eq!(port("10.0.0.1", "UDP", 53).to_string(), "10.0.0.1:UDP/53");
    }
}
