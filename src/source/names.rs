//! Names of a live cluster and of the kubeconfig, for completion. Whoever waits for them has just
//! pressed a key: there is little time, and what cannot be had is left out.

use std::path::PathBuf;
use std::time::Duration;

use kube::config::Kubeconfig;
use prost::Message;
use serde::de::DeserializeOwned;

use super::access::{Access, Secret, connect};
use super::api::{Api, Ask, Raw};
use super::api_error::not_json;
use super::lists::path;
use super::progress::Progress;
use super::protobuf::Malformed;
use crate::completion::{Kind, Typed};
use crate::model::daemon_set::DaemonSet;
use crate::model::node::Node;
use crate::model::object::Object;
use crate::model::policy::Namespace;

/// How long a shell is kept waiting at most.
const PATIENCE: Duration = Duration::from_secs(5);

/// More candidates than these help nobody.
const ENOUGH: usize = 1000;

/// The names that the word at the cursor can be; none where they cannot be read.
pub async fn known(typed: &Typed) -> Vec<String> {
    match &typed.kind {
        Kind::Context => of_kubeconfig(typed, |config| config.contexts.into_iter().map(|c| c.name).collect()),
        Kind::Cluster => of_kubeconfig(typed, |config| config.clusters.into_iter().map(|c| c.name).collect()),
        Kind::User => of_kubeconfig(typed, |config| config.auth_infos.into_iter().map(|u| u.name).collect()),
        Kind::DaemonSet(_) | Kind::Namespace | Kind::Node => {
            tokio::time::timeout(PATIENCE, of_cluster(typed)).await.ok().flatten().unwrap_or_default()
        }
        Kind::Word(_) | Kind::File | Kind::Free => Vec::new(),
    }
}

fn of_kubeconfig(typed: &Typed, names: impl Fn(Kubeconfig) -> Vec<String>) -> Vec<String> {
    let config = match typed.flag("kubeconfig") {
        Some(path) => Kubeconfig::read_from(path),
        None => Kubeconfig::read(),
    };
    config.map(names).unwrap_or_default()
}

async fn of_cluster(typed: &Typed) -> Option<Vec<String>> {
    let connection = connect(&access(typed)).await.ok()?;
    let namespace = typed.flag("namespace").unwrap_or(&connection.namespace).to_string();
    let api = Api::new(connection.client, Some(PATIENCE), PATIENCE, Progress::new(false));
    match typed.kind {
        Kind::Namespace => list::<Namespace>(&api, path("namespaces", None), "namespaces").await,
        Kind::Node => list::<Node>(&api, path("nodes", None), "nodes").await,
        _ => {
            let one = (!typed.flags.contains_key("all-namespaces")).then_some(namespace.as_str());
            list::<DaemonSet>(&api, path("daemonsets.apps", one), "daemonsets").await
        }
    }
}

async fn list<T: Object + Message + Default + DeserializeOwned>(api: &Api, path: String, resource: &'static str) -> Option<Vec<String>> {
    let ask = Ask { path, resource, at_most: ENOUGH, ..Ask::default() };
    let read = |raw: Raw| match raw {
        Raw::Protobuf(bytes) => Ok(Some(T::decode(bytes).map_err(Malformed::from)?)),
        Raw::Json(text) => serde_json::from_slice(text).map(Some).map_err(not_json),
    };
    let page = api.list::<T>(&ask, &read).await.ok()?;
    Some(page.items.iter().map(|object| object.meta().name.to_string()).collect())
}

/// The connection flags that have been typed already.
fn access(typed: &Typed) -> Access {
    let text = |long: &str| typed.flag(long).map(String::from);
    let path = |long: &str| typed.flag(long).map(PathBuf::from);
    Access {
        kubeconfig: path("kubeconfig"),
        context: text("context"),
        cluster: text("cluster"),
        user: text("user"),
        server: text("server"),
        token: text("token").map(Secret),
        as_user: text("as"),
        as_groups: typed.flags.get("as-group").cloned().unwrap_or_default(),
        as_uid: text("as-uid"),
        certificate_authority: path("certificate-authority"),
        client_certificate: path("client-certificate"),
        client_key: path("client-key"),
        insecure_skip_tls_verify: typed.flags.contains_key("insecure-skip-tls-verify"),
        tls_server_name: text("tls-server-name"),
        request_timeout: Some(PATIENCE),
        deadline: PATIENCE,
    }
}
