//! The HTTP client: kube's own, but that small messages are sent at once.
//!
//! Without `TCP_NODELAY` the first request on each connection waits for the server to acknowledge the
//! end of the TLS handshake, which it delays: 40 ms for every round of requests. kube makes its
//! connector without, and takes no other; through a proxy its client is used as it is.

use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::{Client as HttpClient, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use kube::client::{Body, ConfigExt};
use kube::{Client, Config};
use tower::{BoxError, ServiceBuilder};
use tower_http::decompression::DecompressionLayer;

/// Makes the client; runs the credential plugin, if there is one.
///
/// # Errors
/// If the credentials cannot be had, or the configuration is not usable.
pub fn client(config: Config) -> kube::Result<Client> {
    if config.proxy_url.is_some() {
        return Client::try_from(config);
    }
    let auth = config.auth_layer()?;
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    let mut connector = TimeoutConnector::new(config.rustls_https_connector_with_connector(tcp)?);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    let http: HttpClient<_, Body> = HttpClient::builder(TokioExecutor::new()).build(connector);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        // A proxy may compress what was not to be compressed.
        .layer(DecompressionLayer::new())
        .option_layer(auth)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(http);
    Ok(Client::new(service, config.default_namespace))
}
