//! Which proxy leads to the API server, as kubectl finds it.
//!
//! Upstream: `ProxyFromEnvironment` of Go's `net/http` (golang.org/x/net/http/httpproxy): the
//! variable of the URL's scheme, `NO_PROXY`, and never a proxy to this machine itself.

use std::net::IpAddr;

use http::Uri;

use super::failure::Failure;

/// The proxy that the environment names for `url`.
///
/// # Errors
/// If it is no URL.
pub fn from_env(url: &Uri) -> Result<Option<Uri>, Failure> {
    let var = |names: [&str; 2]| names.into_iter().filter_map(|n| std::env::var(n).ok()).find(|v| !v.is_empty());
    let proxy = if url.scheme_str() == Some("https") { var(["HTTPS_PROXY", "https_proxy"]) } else { var(["HTTP_PROXY", "http_proxy"]) };
    match proxy {
        Some(proxy) if wanted(url, &var(["NO_PROXY", "no_proxy"]).unwrap_or_default()) => parse(&proxy).map(Some),
        _ => Ok(None),
    }
}

/// Reads a proxy's URL; without a scheme it is http.
///
/// # Errors
/// If it is no URL. The text is not repeated, for it may hold a password.
pub fn parse(text: &str) -> Result<Uri, Failure> {
    let text = if text.contains("://") { text.replacen("socks5h://", "socks5://", 1) } else { format!("http://{text}") };
    text.parse().ok().filter(|uri: &Uri| uri.host().is_some()).ok_or_else(|| Failure::new("the proxy's URL is no URL"))
}

/// True unless `no_proxy` takes `url` out.
fn wanted(url: &Uri, no_proxy: &str) -> bool {
    let host = url.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    let ip: Option<IpAddr> = host.parse().ok();
    if host == "localhost" || ip.is_some_and(|ip| ip.is_loopback()) {
        return false;
    }
    let port = url.port_u16().unwrap_or(if url.scheme_str() == Some("https") { 443 } else { 80 });
    !no_proxy.split(',').map(|entry| entry.trim().to_ascii_lowercase()).any(|entry| excludes(&entry, &host, ip, port))
}

fn excludes(entry: &str, host: &str, ip: Option<IpAddr>, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    if let Some((net, bits)) = entry.split_once('/') {
        return match (net.parse::<IpAddr>(), bits.parse::<u32>(), ip) {
            (Ok(net), Ok(bits), Some(ip)) => same_net(net, ip, bits),
            _ => false,
        };
    }
    let (entry, entry_port) = match entry.rsplit_once(':') {
        Some((name, digits)) if !name.contains(':') => (name, digits.parse::<u16>().ok()),
        _ => (entry, None),
    };
    if entry.is_empty() || entry_port.is_some_and(|p| p != port) {
        return false;
    }
    if let Ok(other) = entry.parse::<IpAddr>() {
        return ip == Some(other);
    }
    // `.x.org` and `*.x.org` are what lies below it, `x.org` is itself as well.
    let entry = entry.trim_start_matches('*');
    match entry.strip_prefix('.') {
        Some(_) => host.ends_with(entry),
        None => host == entry || host.strip_suffix(entry).is_some_and(|rest| rest.ends_with('.')),
    }
}

fn same_net(a: IpAddr, b: IpAddr, bits: u32) -> bool {
    match (a, b) {
        (IpAddr::V4(a), IpAddr::V4(b)) if bits <= 32 => (a.to_bits() ^ b.to_bits()).checked_shr(32 - bits).unwrap_or(0) == 0,
        (IpAddr::V6(a), IpAddr::V6(b)) if bits <= 128 => (a.to_bits() ^ b.to_bits()).checked_shr(128 - bits).unwrap_or(0) == 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_proxy_as_go() {
        for (url, no_proxy, want) in [
            ("https://api.x.org:6443", "", true),
            ("https://localhost:6443", "", false),
            ("https://127.0.0.2:6443", "", false),
            ("https://[::1]:6443", "", false),
            ("https://api.x.org", "*", false),
            ("https://api.x.org", "y.org, x.org", false),
            ("https://api.x.org", ".x.org", false),
            ("https://x.org", ".x.org", true),
            ("https://x.org", "*.x.org", true),
            ("https://ax.org", "x.org", true),
            ("https://api.x.org", "api.x.org:443", false),
            ("https://api.x.org:6443", "api.x.org:443", true),
            ("https://10.1.2.3", "10.0.0.0/8", false),
            ("https://11.1.2.3", "10.0.0.0/8", true),
            ("https://11.1.2.3", "0.0.0.0/0", false),
            ("https://10.1.2.3", "10.1.2.3", false),
            ("https://[fd00::1]", "fd00::/16", false),
        ] {
            assert_eq!(wanted(&url.parse().unwrap(), no_proxy), want, "{url} {no_proxy}");
        }
    }

    #[test]
    fn urls() {
        assert_eq!(parse("proxy:3128").unwrap().to_string(), "http://proxy:3128/");
        assert_eq!(parse("socks5h://p:1").unwrap().scheme_str(), Some("socks5"));
        assert_eq!(parse("http://user:secret@").unwrap_err().to_string(), "the proxy's URL is no URL");
    }
}
