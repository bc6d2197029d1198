//! An API server on loopback that serves the objects of a dump, in protobuf and JSON, and does
//! what a scenario wants instead on the paths it names. Every request is logged.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::Duration;

use ds_doctor::model::object::Object;
use ds_doctor::model::selector;
use ds_doctor::model::selector_text;
use ds_doctor::model::snapshot::Snapshot;
use prost::Message;
use serde_json::{Value, json};

/// What the server does with a request.
#[derive(Clone, Debug)]
#[allow(dead_code)] // each test binary uses its own part
pub enum Act {
    /// Answers as the API would.
    Serve,
    /// Answers with this status, in the API's words.
    Refuse(u16),
    /// The same with `Retry-After: 0`, so many times; then serves.
    Busy(u16, usize),
    /// Answers with these bytes, of this type.
    Raw(&'static str, &'static str),
    /// Sends half of the answer and hangs up, so many times; then serves.
    Half(usize),
    /// Answers with this status and plain text.
    Plain(u16, &'static str),
    /// Answers with this status and these JSON bytes, and a warning, as a dry run is answered.
    Dry(u16, &'static str),
    /// Says nothing.
    Silent,
    /// Sends half of the answer and resets the connection, so many times; then serves.
    Reset(usize),
    /// Sends the head of the answer, then a byte now and then.
    Trickle,
    /// Sends half of the answer, then nothing more.
    Stuck,
    /// Refuses with this status and `Retry-After` of these seconds, so many times; then serves.
    RetryAfter(u16, u32, usize),
    /// Serves, with fields that nobody knows yet in every object.
    Newer,
    /// Serves a list of so many events, whatever is asked for.
    Events(usize),
    /// Serves pages of this many objects, whatever is asked for.
    Pages(usize),
    /// Serves the first page of one, then says that the rest is gone, until all is asked for at once.
    Gone,
    /// Serves a list as it was before the object of this name came; the object itself is served.
    Before(&'static str),
    /// The same, but of the object itself it answers with this status.
    BeforeAnd(&'static str, u16),
    /// Refuses whoever comes without this token.
    Token(&'static str),
    /// Serves, with this `Date`.
    Dated(&'static str),
}

/// A rule: what to do where the path and query contain a text.
pub type Rule = (&'static str, Act);

/// A running server.
pub struct Server {
    /// `http://127.0.0.1:PORT`.
    pub url: String,
    /// Method and path of each request.
    pub log: Arc<Mutex<Vec<String>>>,
    world: Arc<World>,
}

struct World {
    snapshot: RwLock<Snapshot>,
    version: String,
    protobuf: bool,
    rules: RwLock<Vec<Rule>>,
    counts: Mutex<Vec<usize>>,
}

impl Server {
    /// Serves `snapshot`; `protobuf` says whether it can.
    pub fn start(snapshot: Snapshot, version: &str, protobuf: bool, rules: &[Rule]) -> Server {
        Server::with(snapshot, version, protobuf, rules, None)
    }

    /// The same over TLS.
    #[allow(dead_code)]
    pub fn tls(snapshot: Snapshot, version: &str, config: rustls::ServerConfig) -> Server {
        Server::with(snapshot, version, true, &[], Some(Arc::new(config)))
    }

    fn with(snapshot: Snapshot, version: &str, protobuf: bool, rules: &[Rule], tls: Option<Arc<rustls::ServerConfig>>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let log = Arc::new(Mutex::new(Vec::new()));
        let counts = Mutex::new(vec![0; rules.len()]);
        let (snapshot, rules) = (RwLock::new(snapshot), RwLock::new(rules.to_vec()));
        let world = Arc::new(World { snapshot, version: version.into(), protobuf, rules, counts });
        let (server_log, served) = (log.clone(), world.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (world, log, tls) = (served.clone(), server_log.clone(), tls.clone());
                thread::spawn(move || match tls {
                    None => connection(stream, &world, &log),
                    Some(config) => {
                        let session = rustls::ServerConnection::new(config).unwrap();
                        connection(rustls::StreamOwned::new(session, stream), &world, &log);
                    }
                });
            }
        });
        Server { url, log, world }
    }

    /// Changes the cluster.
    #[allow(dead_code)] // each test binary uses its own part
    pub fn change(&self, change: impl FnOnce(&mut Snapshot)) {
        change(&mut self.world.snapshot.write().unwrap());
    }

    /// Does other things from now on.
    #[allow(dead_code)]
    pub fn rules(&self, rules: &[Rule]) {
        *self.world.counts.lock().unwrap() = vec![0; rules.len()];
        *self.world.rules.write().unwrap() = rules.to_vec();
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

/// What a connection is made of.
trait Stream: Read + Write {
    /// The next close is a reset.
    fn reset(&self);
}

impl Stream for TcpStream {
    fn reset(&self) {
        socket2::SockRef::from(self).set_linger(Some(Duration::ZERO)).unwrap();
    }
}

impl Stream for rustls::StreamOwned<rustls::ServerConnection, TcpStream> {
    fn reset(&self) {
        self.sock.reset();
    }
}

fn connection(stream: impl Stream, world: &World, log: &Mutex<Vec<String>>) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut first = String::new();
        if stream.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        let (mut accept, mut token) = (String::new(), String::new());
        let mut length = 0;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).is_err() {
                return;
            }
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("accept:") {
                accept = value.trim().to_string();
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("authorization: bearer ") {
                token = value.trim().to_string();
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).unwrap();
        let mut words = first.split_whitespace();
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default().to_string());
        log.lock().unwrap().push(format!("{method} {target}"));
        let protobuf = world.protobuf && accept.contains("protobuf");
        if !answer(stream.get_mut(), &target, protobuf, &token, world) {
            return;
        }
    }
}

/// Answers one request; false to hang up.
fn answer(out: &mut impl Stream, target: &str, protobuf: bool, token: &str, world: &World) -> bool {
    let (act, count) = {
        let rules = world.rules.read().unwrap();
        match rules.iter().enumerate().find(|(_, (part, _))| target.contains(part)) {
            Some((i, (_, act))) => {
                let mut counts = world.counts.lock().unwrap();
                counts[i] += 1;
                (act.clone(), counts[i])
            }
            None => (Act::Serve, 0),
        }
    };
    let (code, media, body) = match act {
        Act::Refuse(code) => refusal(code, protobuf),
        Act::Token(right) if token != right => refusal(401, protobuf),
        Act::BeforeAnd(name, code) if target.ends_with(name) => refusal(code, protobuf),
        Act::Before(name) | Act::BeforeAnd(name, _) if !target.ends_with(name) => {
            serve(target, protobuf, world, |name_of| name_of != name, None, false)
        }
        Act::Busy(code, times) | Act::RetryAfter(code, _, times) if count <= times => refusal(code, protobuf),
        Act::Raw(media, body) => (200, media, body.as_bytes().to_vec()),
        Act::Plain(code, text) => (code, "text/plain; charset=utf-8", text.as_bytes().to_vec()),
        Act::Dry(code, body) => (code, "application/json", body.as_bytes().to_vec()),
        Act::Silent => {
            thread::sleep(Duration::from_secs(20));
            return false;
        }
        Act::Events(count) => return events(out, count, protobuf).is_ok(),
        Act::Gone if target.contains("continue=") => refusal(410, protobuf),
        Act::Gone if target.contains("limit=") => serve(target, protobuf, world, |_| true, Some(1), false),
        Act::Pages(size) => serve(target, protobuf, world, |_| true, Some(size), false),
        Act::Newer => serve(target, protobuf, world, |_| true, None, true),
        _ => serve(target, protobuf, world, |_| true, None, false),
    };
    let retry = match (&act, code) {
        (Act::RetryAfter(_, seconds, _), 429 | 503) => format!("Retry-After: {seconds}\r\n"),
        (Act::Dry(..), _) => "Warning: 299 - \"deprecated\"\r\n".into(),
        (_, 429 | 503) => "Retry-After: 0\r\n".into(),
        _ => String::new(),
    };
    let date = if let Act::Dated(date) = act { format!("Date: {date}\r\n") } else { String::new() };
    let head = format!("HTTP/1.1 {code} X\r\nContent-Type: {media}\r\n{date}{retry}Content-Length: {}\r\n\r\n", body.len());
    if let Act::Trickle = act {
        let mut sent = out.write_all(head.as_bytes());
        for byte in body {
            sent = sent.and_then(|()| out.write_all(&[byte])).and_then(|()| out.flush());
            if sent.is_err() {
                return false;
            }
            thread::sleep(Duration::from_millis(100));
        }
        return true;
    }
    let reset = matches!(act, Act::Reset(times) if count <= times);
    let half = reset || matches!(act, Act::Stuck) || matches!(act, Act::Half(times) if count <= times);
    let sent = if half { &body[..body.len() / 2] } else { &body[..] };
    let written = out.write_all(head.as_bytes()).and_then(|()| out.write_all(sent)).and_then(|()| out.flush());
    match act {
        Act::Stuck => thread::sleep(Duration::from_secs(20)),
        Act::Reset(_) if reset => {
            // What was sent should be read before the reset overtakes it.
            thread::sleep(Duration::from_millis(50));
            out.reset();
        }
        _ => {}
    }
    written.is_ok() && !half
}

/// A list of events on one pod, made while it is sent.
fn events(out: &mut impl Stream, count: usize, protobuf: bool) -> std::io::Result<()> {
    let event = |i: usize| {
        json!({"metadata": {"name": format!("e{i}"), "namespace": "x", "uid": format!("{i:036}")}, "type": "Warning", "reason": "FailedCreate",
            "message": format!("event {i} {}", "of a storm ".repeat(40)), "involvedObject": {"kind": "DaemonSet", "namespace": "x", "name": "a"}})
    };
    let mut out = std::io::BufWriter::new(out);
    let media = if protobuf { PROTOBUF } else { "application/json" };
    write!(out, "HTTP/1.1 200 X\r\nContent-Type: {media}\r\nConnection: close\r\n\r\n")?;
    if !protobuf {
        write!(out, "{{\"kind\": \"EventList\", \"metadata\": {{}}, \"items\": [{}", event(0))?;
        for i in 1..count {
            write!(out, ",{}", event(i))?;
        }
        write!(out, "]}}")?;
        out.flush()?;
        return Err(std::io::ErrorKind::Other.into());
    }
    let one = serde_json::from_value::<ds_doctor::model::event::Event>(event(0)).unwrap().encode_to_vec();
    let mut item = Vec::new();
    prost::encoding::bytes::encode(2, &one, &mut item);
    let mut head = b"k8s\0".to_vec();
    prost::encoding::encode_key(2, prost::encoding::WireType::LengthDelimited, &mut head);
    prost::encoding::encode_varint((item.len() * count) as u64, &mut head);
    out.write_all(&head)?;
    for _ in 0..count {
        out.write_all(&item)?;
    }
    out.flush()?;
    Err(std::io::ErrorKind::Other.into())
}

/// A field of this number that nobody knows: a message with a text in it.
const NEW_FIELD: &[u8] = &[0xc2, 0x3e, 5, 0x0a, 3, b'n', b'e', b'w'];

/// Adds what nobody knows to every object in the tree.
fn newer(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(newer),
        Value::Object(map) => {
            map.values_mut().for_each(newer);
            // Maps of strings take strings alone.
            if !map.is_empty() && map.values().any(|v| !v.is_string()) {
                map.insert("fieldOfTomorrow".into(), json!({"deep": [1, null, {"x": 1.5}]}));
            }
        }
        _ => {}
    }
}

#[derive(Clone, PartialEq, Message)]
struct Unknown {
    #[prost(bytes = "vec", tag = 2)]
    raw: Vec<u8>,
}

fn envelope(raw: Vec<u8>) -> Vec<u8> {
    [b"k8s\0".as_slice(), &Unknown { raw }.encode_to_vec()].concat()
}

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

fn refusal(code: u16, protobuf: bool) -> (u16, &'static str, Vec<u8>) {
    let (reason, message) = match code {
        401 => ("Unauthorized", "Unauthorized"),
        403 => ("Forbidden", "pods is forbidden: User \"u\" cannot list it"),
        404 => ("NotFound", "the server could not find the requested resource"),
        410 => ("Expired", "The provided continue parameter is too old"),
        429 => ("TooManyRequests", "too many requests"),
        _ => ("InternalError", "an error on the server"),
    };
    if protobuf {
        let status = ds_doctor::source::protobuf::Status { metadata: Default::default(), message: message.into(), reason: reason.into() };
        (code, PROTOBUF, envelope(status.encode_to_vec()))
    } else {
        let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message, "code": code});
        (code, "application/json", status.to_string().into_bytes())
    }
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(b) = rest.next() {
        if b == b'%' {
            let hex = [rest.next().unwrap(), rest.next().unwrap()];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&hex).unwrap(), 16).unwrap());
        } else {
            bytes.push(b);
        }
    }
    String::from_utf8(bytes).unwrap()
}

struct Wanted {
    resource: String,
    namespace: Option<String>,
    name: Option<String>,
    labels: String,
    fields: String,
    offset: usize,
    limit: usize,
}

fn wanted(target: &str) -> Wanted {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let group = if parts[0] == "api" { String::new() } else { format!(".{}", parts[1]) };
    parts.drain(..if parts[0] == "api" { 2 } else { 3 });
    let mut namespace = None;
    if parts[0] == "namespaces" && parts.len() > 2 {
        namespace = Some(parts[1].to_string());
        parts.drain(..2);
    }
    let value =
        |key: &str| query.split('&').filter_map(|p| p.split_once('=')).find(|(k, _)| *k == key).map(|(_, v)| decode(v)).unwrap_or_default();
    Wanted {
        resource: format!("{}{group}", parts[0]),
        namespace,
        name: parts.get(1).map(|n| n.to_string()),
        labels: value("labelSelector"),
        fields: value("fieldSelector"),
        offset: value("continue").parse().unwrap_or(0),
        limit: value("limit").parse().unwrap_or(0),
    }
}

/// One object in both encodings, for what selectors look at.
struct Served {
    json: Value,
    protobuf: Vec<u8>,
}

/// The objects that are asked for and of a name that is `there`.
fn serve(
    target: &str,
    protobuf: bool,
    world: &World,
    there: impl Fn(&str) -> bool,
    page: Option<usize>,
    is_newer: bool,
) -> (u16, &'static str, Vec<u8>) {
    if target == "/version" {
        return (200, "application/json", json!({"gitVersion": world.version}).to_string().into_bytes());
    }
    let wanted = wanted(target);
    let mut found: Option<Vec<Served>> = None;
    let snapshot = world.snapshot.read().unwrap();
    macro_rules! kinds { ($($field:ident)*) => { $( {
        if let Some(items) = of(&snapshot.objects.$field.items, &wanted) { found = Some(items); }
    } )* } }
    kinds!(nodes pods daemon_sets controller_revisions events namespaces service_accounts priority_classes runtime_classes limit_ranges
        resource_quotas pod_disruption_budgets persistent_volume_claims persistent_volumes storage_classes csi_nodes csi_drivers
        csi_storage_capacities volume_attachments resource_claims resource_claim_templates device_classes resource_slices device_taint_rules leases
        validating_webhooks mutating_webhooks services endpoint_slices horizontal_pod_autoscalers);
    let Some(mut items) = found else { return refusal(404, protobuf) };
    items.retain(|i| there(i.json["metadata"]["name"].as_str().unwrap_or_default()));
    if is_newer {
        for item in &mut items {
            newer(&mut item.json);
            item.protobuf.extend(NEW_FIELD);
        }
    }
    if wanted.name.is_some() {
        return match items.into_iter().next() {
            None => refusal(404, protobuf),
            Some(one) if protobuf => (200, PROTOBUF, envelope(one.protobuf)),
            Some(one) => (200, "application/json", one.json.to_string().into_bytes()),
        };
    }
    let size = page.or(Some(wanted.limit).filter(|l| *l > 0)).unwrap_or(usize::MAX);
    let rest = items.len().saturating_sub(wanted.offset);
    let next = if rest > size { (wanted.offset + size).to_string() } else { String::new() };
    let items = items.into_iter().skip(wanted.offset).take(size);
    if protobuf {
        let mut raw = Vec::new();
        let remaining_item_count = (rest > size).then(|| (rest - size) as i64);
        let meta = ds_doctor::source::protobuf::ListMeta { resource_version: "7".into(), r#continue: next, remaining_item_count };
        prost::encoding::message::encode(1, &meta, &mut raw);
        for item in items {
            prost::encoding::bytes::encode(2, &item.protobuf, &mut raw);
        }
        (200, PROTOBUF, envelope(raw))
    } else {
        let items: Vec<Value> = items.map(|i| i.json).collect();
        (200, "application/json", json!({"kind": "XList", "metadata": {"continue": next}, "items": items}).to_string().into_bytes())
    }
}

/// The objects of one kind that are wanted; `None` if another kind is.
fn of<T: Object + Message + serde::Serialize>(items: &[T], wanted: &Wanted) -> Option<Vec<Served>> {
    let singular = wanted.resource.split('.').next().unwrap();
    let kind = T::KIND.to_ascii_lowercase();
    let plural = match kind.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if kind.ends_with('s') => format!("{kind}es"),
        None => format!("{kind}s"),
    };
    if singular != plural {
        return None;
    }
    let labels = (!wanted.labels.is_empty()).then(|| selector_text::parse(&wanted.labels).unwrap());
    let found = items.iter().filter(|i| {
        let meta = i.meta();
        wanted.namespace.as_ref().is_none_or(|n| *n == meta.namespace)
            && wanted.name.as_ref().is_none_or(|n| *n == meta.name)
            && labels.as_ref().is_none_or(|l| selector::selects(l, &meta.labels))
    });
    let served = found.map(|i| Served { json: serde_json::to_value(i).unwrap(), protobuf: i.encode_to_vec() });
    let has_fields = |s: &Served| {
        wanted.fields.split(',').filter(|f| !f.is_empty()).all(|field| {
            let (path, value) = field.split_once('=').unwrap();
            let pointer = format!("/{}", path.replace('.', "/"));
            s.json.pointer(&pointer).and_then(Value::as_str).unwrap_or_default() == value
        })
    };
    Some(served.filter(has_fields).collect())
}
