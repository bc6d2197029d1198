//! An API server on loopback that serves the objects of a dump, in protobuf and JSON, and does
//! what a scenario wants instead on the paths it names. Every request is logged.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
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
    /// Says nothing.
    Silent,
    /// Serves pages of this many objects, whatever is asked for.
    Pages(usize),
    /// Serves the first page of one, then says that the rest is gone, until all is asked for at once.
    Gone,
}

/// A rule: what to do where the path and query contain a text.
pub type Rule = (&'static str, Act);

/// A running server.
pub struct Server {
    /// `http://127.0.0.1:PORT`.
    pub url: String,
    /// Method and path of each request.
    pub log: Arc<Mutex<Vec<String>>>,
}

struct World {
    snapshot: Snapshot,
    version: String,
    protobuf: bool,
    rules: Vec<Rule>,
    counts: Mutex<Vec<usize>>,
}

impl Server {
    /// Serves `snapshot`; `protobuf` says whether it can.
    pub fn start(snapshot: Snapshot, version: &str, protobuf: bool, rules: &[Rule]) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let log = Arc::new(Mutex::new(Vec::new()));
        let counts = Mutex::new(vec![0; rules.len()]);
        let world = Arc::new(World { snapshot, version: version.into(), protobuf, rules: rules.to_vec(), counts });
        let server_log = log.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (world, log) = (world.clone(), server_log.clone());
                thread::spawn(move || connection(stream, &world, &log));
            }
        });
        Server { url, log }
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

fn connection(stream: TcpStream, world: &World, log: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut out = stream;
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        let mut accept = String::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("accept:") {
                accept = value.trim().to_string();
            }
        }
        let mut words = first.split_whitespace();
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default().to_string());
        log.lock().unwrap().push(format!("{method} {target}"));
        let protobuf = world.protobuf && accept.contains("protobuf");
        if !answer(&mut out, &target, protobuf, world) {
            return;
        }
    }
}

/// Answers one request; false to hang up.
fn answer(out: &mut TcpStream, target: &str, protobuf: bool, world: &World) -> bool {
    let rule = world.rules.iter().position(|(part, _)| target.contains(part));
    let (act, count) = match rule {
        Some(i) => {
            let mut counts = world.counts.lock().unwrap();
            counts[i] += 1;
            (world.rules[i].1.clone(), counts[i])
        }
        None => (Act::Serve, 0),
    };
    let (code, media, body) = match act {
        Act::Refuse(code) => refusal(code, protobuf),
        Act::Busy(code, times) if count <= times => refusal(code, protobuf),
        Act::Raw(media, body) => (200, media, body.as_bytes().to_vec()),
        Act::Silent => {
            thread::sleep(Duration::from_secs(20));
            return false;
        }
        Act::Gone if target.contains("continue=") => refusal(410, protobuf),
        Act::Gone if target.contains("limit=") => serve(target, protobuf, world, Some(1)),
        Act::Pages(size) => serve(target, protobuf, world, Some(size)),
        _ => serve(target, protobuf, world, None),
    };
    let retry = if code == 429 || code == 503 { "Retry-After: 0\r\n" } else { "" };
    let head = format!("HTTP/1.1 {code} X\r\nContent-Type: {media}\r\n{retry}Content-Length: {}\r\n\r\n", body.len());
    let half = matches!(act, Act::Half(times) if count <= times);
    let sent = if half { &body[..body.len() / 2] } else { &body[..] };
    let written = out.write_all(head.as_bytes()).and_then(|()| out.write_all(sent)).and_then(|()| out.flush());
    if half {
        let _ = out.shutdown(std::net::Shutdown::Both);
    }
    written.is_ok() && !half
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

fn serve(target: &str, protobuf: bool, world: &World, page: Option<usize>) -> (u16, &'static str, Vec<u8>) {
    if target == "/version" {
        return (200, "application/json", json!({"gitVersion": world.version}).to_string().into_bytes());
    }
    let wanted = wanted(target);
    let mut found: Option<Vec<Served>> = None;
    macro_rules! kinds { ($($field:ident)*) => { $( {
        if let Some(items) = of(&world.snapshot.objects.$field.items, &wanted) { found = Some(items); }
    } )* } }
    kinds!(nodes pods daemon_sets controller_revisions events namespaces service_accounts priority_classes runtime_classes limit_ranges
        resource_quotas pod_disruption_budgets persistent_volume_claims persistent_volumes storage_classes csi_nodes csi_drivers
        csi_storage_capacities volume_attachments resource_claims resource_claim_templates device_classes resource_slices device_taint_rules leases
        validating_webhooks mutating_webhooks services endpoint_slices);
    let Some(items) = found else { return refusal(404, protobuf) };
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
        let meta = ds_doctor::source::protobuf::ListMeta { resource_version: "7".into(), r#continue: next };
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
