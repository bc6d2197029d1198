//! Which cluster, as whom: kubectl's connection flags and kubeconfig rules.
//!
//! Upstream: `genericclioptions.ConfigFlags` of `k8s.io/cli-runtime`, `clientcmd` of
//! `k8s.io/client-go` (v0.37.2). Credentials never get into a message.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kube::client::AuthError;
use kube::config::{AuthInfo, Cluster, Context, KubeConfigOptions, Kubeconfig, KubeconfigError, NamedAuthInfo, NamedCluster, NamedContext};
use kube::{Client, Config};

use super::client;
use super::endless;
use super::failure::{Failure, clean};
use super::proxy;
use crate::cause::command::quote;

/// A credential plugin gets so long: time enough to log in with a browser.
const CREDENTIALS_PATIENCE: Duration = Duration::from_secs(120);

/// kubectl's connection flags, with its meanings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Access {
    /// `--kubeconfig`.
    pub kubeconfig: Option<PathBuf>,
    /// `--context`.
    pub context: Option<String>,
    /// `--cluster`.
    pub cluster: Option<String>,
    /// `--user`.
    pub user: Option<String>,
    /// `--server`.
    pub server: Option<String>,
    /// `--token`.
    pub token: Option<Secret>,
    /// `--as`.
    pub as_user: Option<String>,
    /// `--as-group`.
    pub as_groups: Vec<String>,
    /// `--as-uid`.
    pub as_uid: Option<String>,
    /// `--certificate-authority`.
    pub certificate_authority: Option<PathBuf>,
    /// `--client-certificate`.
    pub client_certificate: Option<PathBuf>,
    /// `--client-key`.
    pub client_key: Option<PathBuf>,
    /// `--insecure-skip-tls-verify`.
    pub insecure_skip_tls_verify: bool,
    /// `--tls-server-name`.
    pub tls_server_name: Option<String>,
    /// `--request-timeout`; `None` is no limit.
    pub request_timeout: Option<Duration>,
    /// When to give up reading altogether.
    pub deadline: Duration,
}

impl Access {
    /// The flags that lead another kubectl to the same cluster, as the same user: those that name parts of
    /// a kubeconfig. An address may hold a password, and is of no use without the credentials.
    pub fn flags(&self) -> String {
        let file = self.kubeconfig.as_ref().map(|path| path.display().to_string());
        let given = [("--kubeconfig", &file), ("--context", &self.context), ("--cluster", &self.cluster), ("--user", &self.user)];
        let flags = given.into_iter().filter_map(|(flag, value)| Some(format!("{flag}={}", value.as_ref()?)));
        flags.map(|flag| quote(&flag).into_owned()).collect::<Vec<_>>().join(" ")
    }
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("<hidden>")
    }
}

/// A client, and how to call what it leads to.
pub struct Connection {
    /// The client.
    pub client: Client,
    /// The namespace of the context.
    pub namespace: String,
    /// `https://host:port`, without credentials.
    pub server: String,
    /// The context's name; `None` inside a cluster.
    pub context: Option<String>,
    /// `http://host:port` of the proxy, without credentials.
    pub proxy: Option<String>,
}

impl Connection {
    /// `server https://host:port (context "name")`.
    pub fn place(&self) -> String {
        match &self.context {
            Some(context) => format!("{} (context {context:?})", self.server),
            None => self.server.clone(),
        }
    }

    /// The same with the way there: where nothing answers it may be the proxy's fault.
    pub fn way(&self) -> String {
        match &self.proxy {
            Some(proxy) => format!("{} through the proxy {proxy}", self.place()),
            None => self.place(),
        }
    }
}

/// Makes a client; runs the credential plugin, if there is one.
///
/// # Errors
/// If there is no configuration, it is wrong, or the credentials cannot be had.
pub async fn connect(access: &Access) -> Result<Connection, Failure> {
    let (config, context) = config(access).await?;
    let namespace = config.default_namespace.clone();
    let server = address(&config.cluster_url);
    let proxy = config.proxy_url.as_ref().map(address);
    let place = format!("cannot get credentials for {server}");
    let plugin = config.auth_info.exec.as_ref().and_then(|e| e.command.clone());
    // A plugin is waited for on a thread of its own: it may hang.
    let client = tokio::task::spawn_blocking(move || client::client(config));
    let patience = access.request_timeout.unwrap_or(CREDENTIALS_PATIENCE).min(access.deadline);
    let client = match tokio::time::timeout(patience, client).await {
        Err(_) => {
            let plugin = called(plugin.as_deref());
            return Err(Failure::new(format!("{place}: {plugin} did not answer within {}s", patience.as_secs())));
        }
        Ok(Err(_)) => return Err(Failure::new(format!("{place}: the answer of {} could not be read", called(plugin.as_deref())))),
        Ok(Ok(Err(error))) => return Err(client_failure(&place, &error, plugin.as_deref())),
        Ok(Ok(Ok(client))) => client,
    };
    Ok(Connection { client, namespace, server, context, proxy })
}

/// `scheme://host:port` of a URL.
fn address(url: &http::Uri) -> String {
    let host = url.host().unwrap_or_default();
    let port = url.port_u16().map(|p| format!(":{p}")).unwrap_or_default();
    clean(&format!("{}://{host}{port}", url.scheme_str().unwrap_or("http")))
}

/// How messages name the credential plugin: never by its arguments or environment.
fn called(plugin: Option<&str>) -> String {
    plugin.map_or("the credential plugin".into(), |command| format!("the credential plugin {command}"))
}

fn client_failure(place: &str, error: &kube::Error, plugin: Option<&str>) -> Failure {
    match error {
        kube::Error::Auth(auth @ AuthError::AuthExecRun { .. }) => {
            Failure::new(format!("{place}: {}", credentials(auth, plugin))).hint("run it by hand to see why")
        }
        kube::Error::Auth(auth) => Failure::new(format!("{place}: {}", credentials(auth, plugin))),
        kube::Error::ProxyProtocolUnsupported { .. } | kube::Error::ProxyProtocolDisabled { .. } => {
            Failure::new("the proxy's URL has an unsupported scheme").hint("http, https and socks5 are supported")
        }
        kube::Error::InferKubeconfig(error) => Failure::new(format!("{place}: {}", kubeconfig_text(error))),
        kube::Error::RustlsTls(error) => Failure::new(format!("{place}: {error}")),
        _ => Failure::new(format!("{place}: the client configuration is not usable")),
    }
}

/// What is wrong with getting credentials; never what a plugin printed, for that may be one.
pub fn credentials(error: &AuthError, plugin: Option<&str>) -> String {
    let plugin = called(plugin);
    match error {
        AuthError::AuthExecStart(io) => format!("{plugin} could not be started: {io}"),
        AuthError::AuthExecRun { out, .. } => format!("{plugin} failed ({})", out.status),
        AuthError::AuthExecParse(_) | AuthError::ExecPluginFailed => format!("{plugin} printed no ExecCredential"),
        AuthError::MissingCommand => "the credential plugin has no command".into(),
        AuthError::ReadTokenFile(io, path) => format!("token file {}: {io}", path.display()),
        AuthError::InvalidBearerToken(_) => "the token has characters that no header can carry".into(),
        AuthError::InvalidBasicAuth(_) => "user name or password have characters that no header can carry".into(),
        AuthError::MalformedTokenExpirationDate(_) => "the credential plugin's expirationTimestamp is no time".into(),
        AuthError::Oidc(_) => "the OIDC token could not be refreshed; log in again".into(),
        _ => "the credentials could not be had".into(),
    }
}

/// The client configuration, and the context it is of.
async fn config(access: &Access) -> Result<(Config, Option<String>), Failure> {
    let (kubeconfig, from) = load(access)?;
    let has_own_server = access.server.is_some();
    let is_empty = kubeconfig.contexts.is_empty() && kubeconfig.clusters.is_empty();
    if is_empty && !has_own_server {
        if access.context.is_some() || access.kubeconfig.is_some() || access.cluster.is_some() {
            return Err(no_context(access.context.as_deref(), &kubeconfig, &from));
        }
        return match Config::incluster() {
            Ok(mut config) => {
                override_user(access, &mut config.auth_info);
                config.proxy_url = proxy::from_env(&config.cluster_url)?;
                config.default_retry = false;
                Ok((config, None))
            }
            Err(_) => Err(Failure::new(format!("no cluster to ask: {from} has no context, and this is no pod in a cluster"))
                .hint("set KUBECONFIG or --kubeconfig, or judge a saved cluster with --snapshot")),
        };
    }
    let context = access.context.clone().or_else(|| kubeconfig.current_context.clone()).filter(|c| !c.is_empty());
    let (kubeconfig, options) = overridden(access, kubeconfig, context.as_deref(), &from)?;
    let own_proxy =
        kubeconfig.clusters.first().and_then(|c| c.cluster.as_ref()).and_then(|c| c.proxy_url.clone()).filter(|p| !p.is_empty());
    let authority = kubeconfig.clusters.first().and_then(|c| c.cluster.as_ref()).and_then(|c| c.certificate_authority.clone());
    named_files(&kubeconfig)?;
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(|e| Failure::new(kubeconfig_text(&e)))?;
    if let Some(wrong) = url_fault(&config.cluster_url) {
        return Err(Failure::new(format!("the server's URL {wrong}")).hint("it should look like https://HOST:6443"));
    }
    if let (Some(path), Some([])) = (&authority, config.root_cert.as_deref()) {
        return Err(Failure::new(format!("certificate authority {path} holds no certificate")));
    }
    mend_token(&mut config.auth_info)?;
    config.proxy_url = match own_proxy {
        Some(own) => Some(proxy::parse(&own)?),
        None => proxy::from_env(&config.cluster_url)?,
    };
    // Retries are made by `api`, which knows the deadline.
    config.default_retry = false;
    Ok((config, context))
}

/// The kubeconfig files, merged, and how to call them.
fn load(access: &Access) -> Result<(Kubeconfig, String), Failure> {
    let one = |path: &Path| -> Result<Kubeconfig, Failure> {
        endless::check(path).map_err(|e| Failure::new(format!("kubeconfig {}: {e}", path.display())))?;
        Kubeconfig::read_from(path).map_err(|e| Failure::new(format!("kubeconfig {}: {}", path.display(), kubeconfig_text(&e))))
    };
    if let Some(path) = &access.kubeconfig {
        return Ok((one(path)?, path.display().to_string()));
    }
    let named = std::env::var_os("KUBECONFIG").filter(|v| !v.is_empty());
    let paths: Vec<PathBuf> = match &named {
        Some(list) => std::env::split_paths(list).filter(|p| !p.as_os_str().is_empty()).collect(),
        None => std::env::home_dir().map(|home| home.join(".kube/config")).into_iter().collect(),
    };
    let mut merged = Kubeconfig::default();
    for path in &paths {
        // As kubectl: files that are not there do not count.
        if path.exists() {
            merged = merged.merge(one(path)?).map_err(|e| Failure::new(kubeconfig_text(&e)))?;
        }
    }
    let names: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    Ok((merged, if names.is_empty() { "the kubeconfig".into() } else { names.join(", ") }))
}

/// The one context that is meant, with the flags laid over it.
fn overridden(
    access: &Access,
    kubeconfig: Kubeconfig,
    context: Option<&str>,
    from: &str,
) -> Result<(Kubeconfig, KubeConfigOptions), Failure> {
    let chosen = match context {
        Some(name) => match kubeconfig.contexts.iter().find(|c| c.name == name) {
            Some(named) => named.context.clone().unwrap_or_default(),
            None => return Err(no_context(Some(name), &kubeconfig, from)),
        },
        None if access.server.is_some() || access.cluster.is_some() => Context::default(),
        None => return Err(no_context(None, &kubeconfig, from)),
    };
    let cluster_name = access.cluster.clone().unwrap_or_else(|| chosen.cluster.clone());
    let cluster = kubeconfig.clusters.iter().find(|c| c.name == cluster_name).and_then(|c| c.cluster.clone());
    let mut cluster = match cluster {
        Some(cluster) => cluster,
        None if access.server.is_some() && access.cluster.is_none() => Cluster::default(),
        None => return Err(Failure::new(format!("{from} has no cluster {cluster_name:?}"))),
    };
    let user_name = access.user.clone().or_else(|| chosen.user.clone()).unwrap_or_default();
    let user = kubeconfig.auth_infos.iter().find(|u| u.name == user_name).and_then(|u| u.auth_info.clone());
    if user.is_none() && access.user.is_some() {
        return Err(Failure::new(format!("{from} has no user {user_name:?}")));
    }
    let mut user = user.unwrap_or_default();
    if let Some(server) = &access.server {
        cluster.server = Some(server.clone());
    }
    if let Some(path) = &access.certificate_authority {
        cluster.certificate_authority = Some(path.display().to_string());
        cluster.certificate_authority_data = None;
    }
    if access.insecure_skip_tls_verify {
        cluster.insecure_skip_tls_verify = Some(true);
        cluster.certificate_authority = None;
        cluster.certificate_authority_data = None;
    }
    if let Some(name) = &access.tls_server_name {
        cluster.tls_server_name = Some(name.clone());
    }
    override_user(access, &mut user);
    with_scheme(&mut cluster, &user);
    let context = Context {
        cluster: "chosen".into(),
        user: Some("chosen".into()),
        namespace: chosen.namespace.filter(|n| !n.is_empty()),
        ..Context::default()
    };
    let reduced = Kubeconfig {
        clusters: vec![NamedCluster { name: "chosen".into(), cluster: Some(cluster), ..NamedCluster::default() }],
        auth_infos: vec![NamedAuthInfo { name: "chosen".into(), auth_info: Some(user), ..NamedAuthInfo::default() }],
        contexts: vec![NamedContext { name: "chosen".into(), context: Some(context), ..NamedContext::default() }],
        current_context: Some("chosen".into()),
        ..Kubeconfig::default()
    };
    Ok((reduced, KubeConfigOptions::default()))
}

/// Gives a server without a scheme the one that client-go gives it (`defaultServerUrlFor` of `rest/url_utils.go`).
fn with_scheme(cluster: &mut Cluster, user: &AuthInfo) {
    let given = |text: &Option<String>| text.as_ref().is_some_and(|t| !t.is_empty());
    let secure = given(&cluster.certificate_authority)
        || given(&cluster.certificate_authority_data)
        || given(&user.client_certificate)
        || given(&user.client_certificate_data)
        || cluster.insecure_skip_tls_verify == Some(true);
    if let Some(server) = cluster.server.as_mut().filter(|s| !s.is_empty() && !s.contains("://")) {
        *server = format!("{}://{server}", if secure { "https" } else { "http" });
    }
}

/// What is wrong with the server's URL: the client would panic, or ask another port.
fn url_fault(url: &http::Uri) -> Option<&'static str> {
    let after_host = url.authority().map_or("", |a| a.as_str().rsplit(['@', ']']).next().unwrap_or_default());
    match url.host() {
        None | Some("") => Some("has no host"),
        Some(_) if !matches!(url.scheme_str(), Some("http" | "https")) => Some("is neither of http nor of https"),
        Some(_) if url.port_u16().is_none() && after_host.contains(':') => Some("has no port behind its colon"),
        Some(_) => None,
    }
}

/// Refuses files that do not end: they are read whole.
fn named_files(kubeconfig: &Kubeconfig) -> Result<(), Failure> {
    let users = kubeconfig.auth_infos.iter().filter_map(|u| u.auth_info.as_ref());
    let of_users = users.flat_map(|u| [&u.token_file, &u.client_certificate, &u.client_key]);
    let clusters = kubeconfig.clusters.iter().filter_map(|c| c.cluster.as_ref());
    for path in clusters.map(|c| &c.certificate_authority).chain(of_users).flatten() {
        endless::check(Path::new(path)).map_err(|e| Failure::new(format!("{path}: {e}")))?;
    }
    Ok(())
}

/// Takes the blanks off a token in a file, as client-go does, and refuses one that the client would
/// panic on.
fn mend_token(user: &mut AuthInfo) -> Result<(), Failure> {
    if let (None, Some(path)) = (&user.token, &user.token_file) {
        // A file that cannot be read is the client's to report.
        let text = std::fs::read_to_string(path).unwrap_or_default();
        if text.trim() != text {
            user.token = Some(text.trim().to_string().into());
        }
    }
    let shown = serde_json::to_value(&*user).unwrap_or_default();
    let token = shown["token"].as_str().unwrap_or_default();
    if http::HeaderValue::try_from(token).is_err() {
        return Err(Failure::new("cannot use the credentials: the token has characters that no header can carry"));
    }
    Ok(())
}

/// Lays the user flags over a user.
fn override_user(access: &Access, user: &mut AuthInfo) {
    if let Some(token) = &access.token {
        user.token = Some(token.0.clone().into());
        (user.token_file, user.exec, user.auth_provider) = (None, None, None);
        (user.username, user.password) = (None, None);
    }
    if let Some(path) = &access.client_certificate {
        user.client_certificate = Some(path.display().to_string());
        user.client_certificate_data = None;
    }
    if let Some(path) = &access.client_key {
        user.client_key = Some(path.display().to_string());
        user.client_key_data = None;
    }
    if let Some(name) = &access.as_user {
        user.impersonate = Some(name.clone());
    }
    if let Some(uid) = &access.as_uid {
        user.impersonate_uid = Some(uid.clone());
    }
    if !access.as_groups.is_empty() {
        user.impersonate_groups = Some(access.as_groups.clone());
    }
}

fn no_context(name: Option<&str>, kubeconfig: &Kubeconfig, from: &str) -> Failure {
    let mut names: Vec<&str> = kubeconfig.contexts.iter().map(|c| c.name.as_str()).collect();
    names.sort_unstable();
    let failure = match name {
        Some(name) => Failure::new(format!("{from} has no context {name:?}")),
        None => Failure::new(format!("{from} has no current context")),
    };
    if names.is_empty() { failure } else { failure.hint(format!("choose one with --context: {}", names.join(", "))) }
}

/// What is wrong with a kubeconfig; a parser's text would quote the file, tokens and all.
fn kubeconfig_text(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::ReadConfig(io, _) => io.to_string(),
        KubeconfigError::Parse(error) => match error.location() {
            Some(at) => format!("not a kubeconfig: bad YAML at line {} column {}", at.line(), at.column()),
            None => "not a kubeconfig: bad YAML".into(),
        },
        KubeconfigError::MissingClusterUrl => "the cluster has no server URL".into(),
        KubeconfigError::ParseClusterUrl(_) => "the server's URL is no URL".into(),
        KubeconfigError::ParseProxyUrl(_) => "the proxy's URL is no URL".into(),
        KubeconfigError::ParseNoProxy(_) => "NO_PROXY cannot be read".into(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "
apiVersion: v1
kind: Config
current-context: one
contexts:
- {name: one, context: {cluster: c1, user: u1, namespace: team}}
- {name: two, context: {cluster: c2, user: gone}}
- {name: broken, context: {cluster: missing, user: u1}}
clusters:
- {name: c1, cluster: {server: 'https://one:6443', certificate-authority-data: eA==}}
- {name: c2, cluster: {server: 'https://two:6443'}}
users:
- {name: u1, user: {tokenFile: /nowhere, username: x, password: y}}
";

    async fn chosen(access: Access) -> Result<(Config, Option<String>), Failure> {
        let context = access.context.clone().or(Some("one".into()));
        let (kubeconfig, options) = overridden(&access, Kubeconfig::from_yaml(CONFIG).unwrap(), context.as_deref(), "the file")?;
        Ok((Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(|e| Failure::new(kubeconfig_text(&e)))?, context))
    }

    #[test]
    fn urls() {
        for (server, want) in [
            ("https://a:6443", None),
            ("https://u:p@a", None),
            ("http://[::1]", None),
            ("http://[::1]:80", None),
            ("ftp://a", Some("is neither of http nor of https")),
            ("127.0.0.1:80", Some("is neither of http nor of https")),
            ("/path", Some("has no host")),
            ("http://a:99999", Some("has no port behind its colon")),
        ] {
            assert_eq!(url_fault(&server.parse().unwrap()), want, "{server}");
        }
    }

    #[tokio::test]
    async fn flags_are_laid_over_the_context() {
        let skip = Access { insecure_skip_tls_verify: true, ..Access::default() };
        let (config, _) = chosen(skip.clone()).await.unwrap();
        assert_eq!((config.cluster_url.host(), config.default_namespace.as_str()), (Some("one"), "team"));
        assert!(config.accept_invalid_certs && config.root_cert.is_none());
        let (config, _) = chosen(Access { context: Some("two".into()), ..Access::default() }).await.unwrap();
        assert_eq!((config.cluster_url.host(), config.default_namespace.as_str()), (Some("two"), "default"));
        let (config, _) = chosen(Access { cluster: Some("c2".into()), ..skip.clone() }).await.unwrap();
        assert_eq!((config.cluster_url.host(), config.default_namespace.as_str()), (Some("two"), "team"));
        for (server, context, want) in [
            ("127.0.0.1:8001", "one", "https://127.0.0.1:8001/"), // it has an authority
            ("127.0.0.1:8001", "two", "http://127.0.0.1:8001/"),
            ("http://127.0.0.1:8001", "one", "http://127.0.0.1:8001/"),
        ] {
            let access = Access { server: Some(server.into()), context: Some(context.into()), ..Access::default() };
            let (kubeconfig, _) = overridden(&access, Kubeconfig::from_yaml(CONFIG).unwrap(), Some(context), "the file").unwrap();
            let server = kubeconfig.clusters[0].cluster.as_ref().and_then(|c| c.server.clone()).unwrap();
            assert_eq!(server.parse::<http::Uri>().unwrap().to_string(), want);
        }
        let with_token = Access { token: Some(Secret("t".into())), as_user: Some("me".into()), as_groups: vec!["g".into()], ..skip };
        assert_eq!(format!("{:?}", with_token.token), "Some(<hidden>)");
        let (config, _) = chosen(with_token).await.unwrap();
        assert!(config.auth_info.token.is_some() && config.auth_info.token_file.is_none() && config.auth_info.password.is_none());
        assert_eq!(config.auth_info.impersonate.as_deref(), Some("me"));
    }

    #[tokio::test]
    async fn what_is_not_there_is_named() {
        let line = |access| async { chosen(access).await.err().map(|e| e.to_string()) };
        let access = Access::default;
        for (access, want) in [
            (
                Access { context: Some("three".into()), ..access() },
                "the file has no context \"three\"; choose one with --context: broken, one, two",
            ),
            (Access { context: Some("broken".into()), ..access() }, "the file has no cluster \"missing\""),
            (Access { user: Some("u2".into()), ..access() }, "the file has no user \"u2\""),
            (Access { cluster: Some("c3".into()), ..access() }, "the file has no cluster \"c3\""),
        ] {
            assert_eq!(line(access).await.as_deref(), Some(want));
        }
    }

    #[test]
    fn a_broken_kubeconfig_is_not_quoted() {
        let error = Kubeconfig::from_yaml("users:\n- name: u\n  user: {token: [hunter2}\n").unwrap_err();
        let text = kubeconfig_text(&error);
        assert!(text.starts_with("not a kubeconfig: bad YAML") && !text.contains("hunter2"), "{text}");
    }
}
