//! The API server's version as far as saved objects tell it.

use crate::model::node::Node;
use crate::model::pod::Pod;
use crate::model::version::ServerVersion;

/// A version, with the text that says so.
pub type Told = (ServerVersion, String);

/// That of the API server whose pod this is, by its image; `None` for another pod, or a digest alone.
pub fn of_pod(pod: &Pod) -> Option<Told> {
    if pod.metadata.namespace != "kube-system" {
        return None;
    }
    let server = pod.spec.containers.iter().find(|c| c.name == "kube-apiserver")?;
    let (_, tag) = server.image.split('@').next()?.rsplit_once(':')?;
    Some((tag.parse().ok()?, tag.to_string()))
}

/// The older of two: while servers are updated one by one, what all of them know counts.
pub fn oldest(a: Option<Told>, b: Option<Told>) -> Option<Told> {
    a.into_iter().chain(b).min()
}

/// The newest kubelet's: a guess, for the API server is never older than a kubelet.
pub fn of_kubelets(nodes: &[Node]) -> Option<ServerVersion> {
    nodes.iter().filter_map(|n| n.status.node_info.kubelet_version.parse().ok()).max()
}
