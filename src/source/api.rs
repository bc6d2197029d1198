//! Requests to the API server: bounded, retried where that is right, decoded while they arrive.
//!
//! Only GET is ever sent, but for the dry run that `--dry-run=server` asks for. `resourceVersion` is
//! left unset: a diagnosis must not be stale, and since 1.31 the server answers such consistent reads
//! from its cache. Lists are asked for whole, which a server since 1.33 streams; older ones are asked
//! page by page.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use futures::TryStreamExt;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, DATE, RETRY_AFTER, WARNING};
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use prost::Message;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;

use super::api_error::{ApiError, Transport, not_json, transport};
use super::clock::Clock;
use super::failure::clean;
use super::json_items;
use super::progress::Progress;
use super::protobuf::{self, Malformed, Status};

/// How many requests are under way at once: enough to hide round trips, and more is slower.
const AT_ONCE: usize = 16;

/// A server that sends nothing for so long is taken for dead.
const SILENCE: Duration = Duration::from_secs(60);

/// Objects per page, where pages are asked for.
const PAGE: u32 = 500;

/// An error message or single object is not larger.
const LARGEST_BODY: usize = 16 << 20;

/// What to ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// Such as `/api/v1/nodes`.
    pub path: String,
    /// Such as `nodes`; what progress is told of.
    pub resource: &'static str,
    /// Labels to have.
    pub label_selector: String,
    /// Fields to have.
    pub field_selector: String,
    /// Stop after so many objects; 0 is no limit.
    pub at_most: usize,
}

/// What a server is to try without doing it.
#[derive(Debug)]
pub struct DryRun<'a> {
    /// Such as `/api/v1/namespaces/NS/pods`; of the object itself for `apply`.
    pub path: &'a str,
    /// The object is there: as `kubectl apply --server-side` would change it, else as it would be created.
    pub apply: bool,
    /// The object as JSON.
    pub body: Vec<u8>,
}

/// The text of a Warning header, `299 - "text"`.
fn warning(header: &str) -> Option<String> {
    let text = header.split_once('"')?.1.rsplit_once('"')?.0;
    Some(clean(&text.replace("\\\"", "\"")))
}

/// The connection to one API server.
pub struct Api {
    client: Client,
    slots: Semaphore,
    /// Longest time for one request, answer included; none if `None`.
    request_timeout: Option<Duration>,
    /// When to give everything up.
    deadline: Instant,
    /// True if lists are to be asked for page by page.
    pages: std::cell::Cell<bool>,
    progress: RefCell<Progress>,
    clock: Clock,
}

/// A list that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    /// Its objects.
    pub items: Vec<T>,
    /// True if there are more than `at_most`.
    pub cut: bool,
}

impl Api {
    /// A connection through `client`.
    pub fn new(client: Client, request_timeout: Option<Duration>, deadline: Duration, progress: Progress) -> Self {
        Api {
            client,
            slots: Semaphore::new(AT_ONCE),
            request_timeout,
            deadline: Instant::now() + deadline,
            pages: std::cell::Cell::new(false),
            progress: RefCell::new(progress),
            clock: Clock::default(),
        }
    }

    /// Asks for lists page by page from now on.
    pub fn in_pages(&self) {
        self.pages.set(true);
    }

    /// The server's time, if it differs from this machine's.
    pub fn now(&self) -> jiff::Timestamp {
        self.clock.at(jiff::Timestamp::now())
    }

    /// Ends the progress line, so that something else can be written.
    pub fn quiet(&self) {
        self.progress.borrow_mut().end();
    }

    /// Reads a list; `read` reads each object, and says if it is to be held.
    ///
    /// # Errors
    /// If it cannot be read whole.
    pub async fn list<T>(&self, ask: &Ask, read: &dyn Fn(Raw) -> Result<Option<T>, ApiError>) -> Result<Page<T>, ApiError>
    where
        T: Message + Default + DeserializeOwned,
    {
        let mut items = Vec::new();
        let mut page = String::new();
        let mut whole = !self.pages.get() && ask.at_most == 0;
        let mut format = Format::Protobuf;
        loop {
            let before = items.len();
            let mut tries = 0;
            let next = loop {
                tries += 1;
                let url = url(ask, if whole { 0 } else { PAGE }, &page);
                match self.timed(self.list_once(&url, format, ask, read, &mut items)).await {
                    Ok(next) => break Ok(next),
                    Err(error) => {
                        items.truncate(before);
                        // Protobuf text must be UTF-8, which a server does not make sure of; its JSON always is.
                        if format == Format::Protobuf && matches!(error, ApiError::Malformed(Malformed::Not(_))) {
                            format = Format::Json;
                            continue;
                        }
                        match error.retry(tries) {
                            Some(wait) if Instant::now() + wait < self.deadline => tokio::time::sleep(wait).await,
                            _ => break Err(error),
                        }
                    }
                }
            };
            match next {
                Ok(next) if next.is_empty() => return Ok(Page { items, cut: false }),
                Ok(_) if ask.at_most > 0 && items.len() >= ask.at_most => return Ok(Page { items, cut: true }),
                Ok(next) => page = next,
                // The pages' common moment is too long ago: all at once, as client-go's pager does.
                Err(error) if error.code() == Some(410) && !page.is_empty() => {
                    items.clear();
                    page.clear();
                    whole = true;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// How many objects a list has, if the server tells in protobuf.
    ///
    /// # Errors
    /// If it cannot be asked.
    pub async fn count(&self, path: &str) -> Result<Option<usize>, ApiError> {
        let url = format!("{path}?limit=1");
        let (bytes, is) = self
            .retried(|| async {
                let (response, is) = self.send(&url, Format::Protobuf).await?;
                Ok((self.body(response).await?, is))
            })
            .await?;
        if is == Format::Protobuf { Ok(protobuf::count(&bytes)?) } else { Ok(None) }
    }

    /// Reads one object.
    ///
    /// # Errors
    /// If it cannot be read.
    pub async fn get<T>(&self, path: &str, resource: &'static str) -> Result<T, ApiError>
    where
        T: Message + Default + DeserializeOwned,
    {
        let mut format = Format::Protobuf;
        let body = |format: Format| async move {
            self.retried(|| async {
                let (response, is) = self.send(path, format).await?;
                Ok((self.body(response).await?, is))
            })
            .await
        };
        loop {
            let (bytes, is) = body(format).await?;
            let object = match is {
                Format::Protobuf => protobuf::object(&bytes).map_err(ApiError::from),
                Format::Json => serde_json::from_slice(&bytes).map_err(not_json),
            };
            match object {
                Err(ApiError::Malformed(_)) if is == Format::Protobuf => format = Format::Json,
                Ok(object) => {
                    self.progress.borrow_mut().add(resource, 1);
                    return Ok(object);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads what is JSON only, such as `/version`.
    ///
    /// # Errors
    /// If it cannot be read.
    pub async fn get_json<T: DeserializeOwned>(&self, path: &str) -> Result<T, ApiError> {
        self.retried(|| async {
            let (response, _) = self.send(path, Format::Json).await?;
            serde_json::from_slice(&self.body(response).await?).map_err(not_json)
        })
        .await
    }

    /// Has the server check what it would make of an object, which it then forgets: `dryRun=All` is
    /// set here and nowhere else, so that nothing can be sent without it. Never tried again.
    ///
    /// # Errors
    /// If the server refuses, or does not answer.
    pub async fn dry_run(&self, ask: DryRun<'_>) -> Result<(Vec<String>, Vec<u8>), ApiError> {
        let (method, media) = if ask.apply { ("PATCH", "application/apply-patch+yaml") } else { ("POST", "application/json") };
        let force = if ask.apply { "&force=true" } else { "" };
        let url = format!("{}?dryRun=All&fieldManager=kubectl-ds-doctor&fieldValidation=Warn{force}", ask.path);
        let request = Request::builder().method(method).uri(url).header(ACCEPT, "application/json").header(CONTENT_TYPE, media);
        let request = request.body(Body::from(ask.body)).map_err(|e| ApiError::Transport(Transport::Broke(e.to_string())))?;
        self.timed(async {
            let response = timely(self.client.send(request)).await?;
            if !response.status().is_success() {
                return Err(self.refusal(response).await);
            }
            let warnings = response.headers().get_all(WARNING).iter().filter_map(|v| v.to_str().ok()).filter_map(warning).collect();
            Ok((warnings, self.body(response).await?))
        })
        .await
    }

    async fn retried<T, F: Future<Output = Result<T, ApiError>>>(&self, once: impl Fn() -> F) -> Result<T, ApiError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.timed(once()).await {
                Ok(value) => return Ok(value),
                Err(error) => match error.retry(tries) {
                    Some(wait) if Instant::now() + wait < self.deadline => tokio::time::sleep(wait).await,
                    _ => return Err(error),
                },
            }
        }
    }

    /// Holds a request to its time, and all of them to their number.
    async fn timed<T>(&self, request: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
        let _slot = self.slots.acquire().await;
        let left = self.deadline.saturating_duration_since(Instant::now());
        let limit = self.request_timeout.map_or(left, |t| t.min(left));
        match tokio::time::timeout(limit, request).await {
            Ok(result) => result,
            Err(_) => Err(ApiError::Timeout(limit)),
        }
    }

    async fn list_once<T>(
        &self,
        url: &str,
        format: Format,
        ask: &Ask,
        read: &dyn Fn(Raw) -> Result<Option<T>, ApiError>,
        items: &mut Vec<T>,
    ) -> Result<String, ApiError>
    where
        T: Message + Default + DeserializeOwned,
    {
        let (response, is) = self.send(url, format).await?;
        let mut body = response.into_body().into_data_stream();
        let most = if ask.at_most > 0 { ask.at_most } else { usize::MAX };
        let full = std::cell::Cell::new(false);
        let mut take = |raw: Raw| {
            if items.len() < most {
                items.extend(read(raw)?);
            }
            full.set(items.len() >= most);
            Ok::<(), ApiError>(())
        };
        let mut protobuf = protobuf::Items::default();
        let mut json = json_items::Items::default();
        while let Some(chunk) = timely(body.try_next()).await? {
            let mut count = 0;
            match is {
                Format::Protobuf => protobuf.feed(&chunk, &mut |bytes: &[u8]| {
                    count += 1;
                    take(Raw::Protobuf(bytes))
                })?,
                Format::Json => json.feed(&chunk, &mut |text: &[u8]| {
                    count += 1;
                    take(Raw::Json(text))
                })?,
            }
            self.progress.borrow_mut().add(ask.resource, count);
            // A server may give more than a page: what is not wanted is not waited for.
            if full.get() {
                return Ok(String::from("more"));
            }
        }
        Ok(match is {
            Format::Protobuf => protobuf.finish()?.r#continue,
            Format::Json => json.finish()?.r#continue,
        })
    }

    /// Sends a GET; what is not a success, or in no known format, is an error.
    async fn send(&self, url: &str, format: Format) -> Result<(Response<Body>, Format), ApiError> {
        let accept = match format {
            Format::Protobuf => "application/vnd.kubernetes.protobuf,application/json",
            Format::Json => "application/json",
        };
        // Compressing costs the server more time than it saves on any but slow links.
        let request = Request::get(url).header(ACCEPT, accept).header(ACCEPT_ENCODING, "identity").body(Body::empty());
        let request = request.map_err(|e| ApiError::Transport(Transport::Broke(e.to_string())))?;
        let response = timely(self.client.send(request)).await?;
        if let Some(date) = response.headers().get(DATE).and_then(|v| v.to_str().ok()) {
            self.clock.heard(date, jiff::Timestamp::now());
        }
        if response.status() != StatusCode::OK {
            return Err(self.refusal(response).await);
        }
        let media = response.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let media = media.split(';').next().unwrap_or_default().trim();
        match media {
            protobuf::MEDIA_TYPE => Ok((response, Format::Protobuf)),
            "application/json" => Ok((response, Format::Json)),
            "" => Err(ApiError::NotKubernetes("of no stated type".into())),
            other => Err(ApiError::NotKubernetes(clean(other))),
        }
    }

    /// What a response that is no success says.
    async fn refusal(&self, response: Response<Body>) -> ApiError {
        let status = response.status();
        let header = |name| response.headers().get(name).and_then(|v| v.to_str().ok());
        let wait = header(RETRY_AFTER).and_then(|v| v.trim().parse().ok()).map(Duration::from_secs);
        let media = header(CONTENT_TYPE).unwrap_or_default().to_string();
        let body = self.body(response).await.unwrap_or_default();
        let (reason, message) = if media.starts_with(protobuf::MEDIA_TYPE) {
            let said = protobuf::object::<Status>(&body).unwrap_or_default();
            (said.reason, said.message)
        } else if media.starts_with("application/json") {
            let said: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
            let text = |key: &str| said[key].as_str().unwrap_or_default().to_string();
            (text("reason"), text("message"))
        } else if media.starts_with("text/plain") {
            // Such as Go's "Client sent an HTTP request to an HTTPS server."
            let line = body.split(|b| *b == b'\n').next().unwrap_or_default();
            (String::new(), String::from_utf8_lossy(line.get(..200).unwrap_or(line)).into_owned())
        } else {
            Default::default()
        };
        let message = if message.is_empty() { status.canonical_reason().unwrap_or("the server refused").to_string() } else { message };
        ApiError::Refused { code: status.as_u16(), reason: clean(&reason), message: without_credentials(&clean(&message)), wait }
    }

    async fn body(&self, response: Response<Body>) -> Result<Vec<u8>, ApiError> {
        let mut stream = response.into_body().into_data_stream();
        let mut bytes = Vec::new();
        while let Some(chunk) = timely(stream.try_next()).await? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > LARGEST_BODY {
                return Err(Malformed::Not("one object of more than 16 MiB".into()).into());
            }
        }
        Ok(bytes)
    }
}

/// A message without what follows `Bearer` or `Basic`: some servers and proxies repeat what they were sent.
fn without_credentials(message: &str) -> String {
    let mut hide = false;
    let words = message.split(' ').map(|word| {
        let shown = if std::mem::take(&mut hide) { "<hidden>" } else { word };
        let last = word.rsplit([':', '"', '\'', '=', '[']).next().unwrap_or_default();
        hide = ["bearer", "basic"].iter().any(|scheme| last.eq_ignore_ascii_case(scheme));
        shown
    });
    words.collect::<Vec<_>>().join(" ")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Protobuf,
    Json,
}

/// The bytes of one object.
#[derive(Clone, Copy, Debug)]
pub enum Raw<'a> {
    /// In protobuf.
    Protobuf(&'a [u8]),
    /// In JSON.
    Json(&'a [u8]),
}

/// Waits for the server's next sign of life.
async fn timely<T>(next: impl Future<Output = Result<T, kube::Error>>) -> Result<T, ApiError> {
    match tokio::time::timeout(SILENCE, next).await {
        Ok(result) => result.map_err(|e| ApiError::Transport(transport(&e))),
        Err(_) => Err(ApiError::Timeout(SILENCE)),
    }
}

/// The path and query of a request.
fn url(ask: &Ask, limit: u32, page: &str) -> String {
    let mut url = ask.path.clone();
    let mut sign = '?';
    let limit = if limit == 0 { String::new() } else { limit.to_string() };
    for (key, value) in
        [("labelSelector", &ask.label_selector), ("fieldSelector", &ask.field_selector), ("limit", &limit), ("continue", &page.to_string())]
    {
        if !value.is_empty() {
            url.push(sign);
            url.push_str(key);
            url.push('=');
            escape(value, &mut url);
            sign = '&';
        }
    }
    url
}

/// Writes `text` as a part of a URL.
pub fn escape(text: &str, url: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            url.push(byte as char);
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        let ask = Ask { path: "/api/v1/pods".into(), ..Ask::default() };
        assert_eq!(url(&ask, 0, ""), "/api/v1/pods");
        let ask = Ask { label_selector: "a=b,c in (d)".into(), field_selector: "spec.nodeName=n".into(), ..ask };
        assert_eq!(
            url(&ask, 500, "x=="),
            "/api/v1/pods?labelSelector=a%3Db%2Cc%20in%20%28d%29&fieldSelector=spec.nodeName%3Dn&limit=500&continue=x%3D%3D"
        );
    }

    #[test]
    fn credentials_that_are_repeated_are_hidden() {
        for (given, want) in [
            ("no access with Authorization: Bearer abc.def for you", "no access with Authorization: Bearer <hidden> for you"),
            ("bad header \"basic YWJj\"", "bad header \"basic <hidden>"),
            ("User \"a\" cannot list nodes", "User \"a\" cannot list nodes"),
        ] {
            assert_eq!(without_credentials(given), want);
        }
    }

    #[test]
    fn warnings() {
        for (header, want) in [
            (r#"299 - "unknown field \"spec.x\"""#, Some(r#"unknown field "spec.x""#)),
            (r#"299 k8s "deprecated""#, Some("deprecated")),
            ("299 -", None),
        ] {
            assert_eq!(warning(header).as_deref(), want);
        }
    }
}
