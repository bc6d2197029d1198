//! Why a request to the API server gave nothing, and whether trying again is right.

use std::time::Duration;

use super::failure::clean;
use super::protobuf::Malformed;

/// How long a server may ask to be left alone.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Times that a request is sent, at most.
const TRIES: u32 = 4;

/// Why a request gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// The server answered, and said no.
    #[error("{message} ({code}{})", if reason.is_empty() { String::new() } else { format!(" {reason}") })]
    Refused {
        /// The HTTP status.
        code: u16,
        /// The API's word for it.
        reason: String,
        /// The server's words.
        message: String,
        /// How long the server wants to be left alone.
        wait: Option<Duration>,
    },
    /// Something answered that is not the Kubernetes API.
    #[error("the answer is not the Kubernetes API's but {0}; is there a proxy or login page in between?")]
    NotKubernetes(String),
    /// The answer could not be read.
    #[error("{0}")]
    Malformed(#[from] Malformed),
    /// No answer in time.
    #[error("no answer within {}", seconds(*.0))]
    Timeout(Duration),
    /// The connection could not be made, or broke.
    #[error("{0}")]
    Transport(Transport),
}

/// What is wrong with the connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Transport {
    /// Nobody listens.
    #[error("connection refused")]
    Refused,
    /// The name is not known.
    #[error("no such host")]
    Unresolved,
    /// The proxy does not lead to the server.
    #[error("the proxy does not lead there ({0})")]
    Proxy(String),
    /// The certificate, or the protocol, is not right.
    #[error("TLS: {0}")]
    Tls(String),
    /// The credentials could not be had.
    #[error("{0}")]
    Credentials(String),
    /// It broke.
    #[error("the connection broke: {0}")]
    Broke(String),
}

fn seconds(d: Duration) -> String {
    if d.subsec_millis() == 0 { format!("{}s", d.as_secs()) } else { format!("{}ms", d.as_millis()) }
}

impl ApiError {
    /// The HTTP status, if the server gave one.
    pub fn code(&self) -> Option<u16> {
        match self {
            ApiError::Refused { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// True for 403.
    pub fn is_forbidden(&self) -> bool {
        self.code() == Some(403)
    }

    /// True for 404.
    pub fn is_not_found(&self) -> bool {
        self.code() == Some(404)
    }

    /// How long to wait before trying again; `None` if that is of no use. `tries` were made.
    pub fn retry(&self, tries: u32) -> Option<Duration> {
        if tries >= TRIES {
            return None;
        }
        let backoff = Duration::from_millis(200 << tries.min(6));
        match self {
            ApiError::Refused { code: 429 | 500 | 502 | 503 | 504, wait, .. } => Some(wait.unwrap_or(backoff)),
            ApiError::Malformed(Malformed::EndedEarly) | ApiError::Transport(Transport::Broke(_)) => Some(backoff),
            _ => None,
        }
        .filter(|wait| *wait <= LONGEST_WAIT)
    }
}

/// What is wrong with JSON.
pub fn not_json(error: serde_json::Error) -> ApiError {
    if error.is_eof() {
        return Malformed::EndedEarly.into();
    }
    // Only where, never what: a value may be secret.
    Malformed::Not(format!("bad JSON at line {} column {}", error.line(), error.column())).into()
}

/// Sorts a client error, and takes from its text nothing that could hold a credential.
pub fn transport(error: &kube::Error) -> Transport {
    if let kube::Error::Auth(auth) = error {
        return Transport::Credentials(super::access::credentials(auth, None));
    }
    let mut innermost = String::new();
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(e) = next {
        if let Some(auth) = e.downcast_ref::<kube::client::AuthError>() {
            return Transport::Credentials(super::access::credentials(auth, None));
        }
        if let Some(io) = e.downcast_ref::<std::io::Error>()
            && io.kind() == std::io::ErrorKind::ConnectionRefused
        {
            return Transport::Refused;
        }
        innermost = e.to_string();
        if innermost.contains("failed to lookup address") || innermost.contains("dns error") {
            return Transport::Unresolved;
        }
        if innermost.contains("tls handshake eof") {
            return Transport::Tls("the server hung up in the handshake: does it speak TLS?".into());
        }
        if let (Some(why), None) = (innermost.strip_prefix("tunnel error: "), e.source()) {
            return Transport::Proxy(clean(why));
        }
        if innermost.contains("certificate") || innermost.contains("TLS") || innermost.contains("corrupt message") {
            return Transport::Tls(clean(&innermost));
        }
        next = e.source();
    }
    Transport::Broke(clean(&innermost))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_again_where_that_can_help() {
        let refused = |code, wait: Option<u64>| ApiError::Refused {
            code,
            reason: String::new(),
            message: String::new(),
            wait: wait.map(Duration::from_secs),
        };
        let ms = |n| Some(Duration::from_millis(n));
        for (error, tries, want) in [
            (refused(429, Some(2)), 1, ms(2000)),
            (refused(429, Some(31)), 1, None),
            (refused(503, None), 1, ms(400)),
            (refused(503, None), 4, None),
            (refused(500, None), 2, ms(800)),
            (refused(502, None), 3, ms(1600)),
            (refused(504, None), 1, ms(400)),
            (refused(409, None), 1, None),
            (refused(410, None), 1, None),
            (refused(403, None), 1, None),
            (refused(401, None), 1, None),
            (ApiError::Transport(Transport::Refused), 1, None),
            (ApiError::Transport(Transport::Broke("x".into())), 1, ms(400)),
            (ApiError::Malformed(Malformed::EndedEarly), 1, ms(400)),
            (ApiError::Malformed(Malformed::Not("x".into())), 1, None),
            (ApiError::Timeout(Duration::from_secs(60)), 1, None),
        ] {
            assert_eq!(error.retry(tries), want, "{error:?} {tries}");
        }
    }
}
