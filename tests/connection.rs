//! The way to the API server when it fails: certificates, proxies, credentials, and servers that
//! answer late, half or never. Each is one line and an exit code, or is got over.

#[path = "support/api_server.rs"]
mod api_server;
mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use api_server::{Act, Rule, Server};
use assert_cmd::Command;
use ds_doctor::model::snapshot::Snapshot;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use serde_json::Value;

/// A case in which a pod is Pending for want of room: exit code 1.
const CASE: &str = "tests/cases/18-insufficient-cpu";

fn world() -> (Snapshot, String, String) {
    let text = std::fs::read_to_string(Path::new(CASE).join("cluster.yaml")).unwrap();
    let dump: Value = yaml_serde::from_str(&text).unwrap();
    let expect: Value = serde_json::from_str(&std::fs::read_to_string(Path::new(CASE).join("expect.json")).unwrap()).unwrap();
    let (namespace, name) = expect["daemonset"].as_str().unwrap().split_once('/').unwrap();
    (support::snapshot(dump["items"].as_array().unwrap(), "v1.34.3"), namespace.into(), name.into())
}

/// The binary, with nothing of this machine's own settings.
fn plugin() -> Command {
    let (_, namespace, name) = world();
    let mut command = Command::cargo_bin("kubectl-ds_doctor").unwrap();
    command.env_clear().env("HOME", "/nonexistent").args(["--now", "2026-11-30T12:00:00Z", "-o", "json", "-n", &namespace, &name]);
    command
}

/// Exit code, standard output, standard error.
fn told(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// One line on standard error with this in it, nothing on standard output, exit code 2.
#[track_caller]
fn refused(what: &str, output: &Output, says: &str) {
    let (code, out, err) = told(output);
    assert!(code == 2 && out.is_empty(), "{what}: {code} {err}{out}");
    assert!(err.contains(says) && err.lines().count() == 1, "{what}: {err}");
    assert!(!err.contains("hunter2"), "{what}: {err}");
}

/// An authority, and certificates that it signs.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    file: tempfile::NamedTempFile,
}

impl Authority {
    fn new(name: &str) -> Authority {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), issuer.pem()).unwrap();
        Authority { issuer, file }
    }

    /// A server's certificate for `host`, valid in these years.
    fn server(&self, host: &str, years: (i32, i32)) -> rustls::ServerConfig {
        let mut params = CertificateParams::new(vec![host.to_string()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(years.0, 1, 1), date_time_ymd(years.1, 1, 1));
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let key = rustls::pki_types::PrivateKeyDer::Pkcs8(key.serialize_der().into());
        config.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key).unwrap()
    }
}

const NOW: (i32, i32) = (2020, 2090);

#[test]
fn certificates() {
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let ca = ours.file.path().to_str().unwrap();
    let other = theirs.file.path().to_str().unwrap();
    // The server's host name and years, flags, and what is said; nothing if it is trusted.
    type Row<'a> = (&'a str, (i32, i32), Vec<&'a str>, &'a str);
    let table: [Row; 9] = [
        ("127.0.0.1", NOW, vec!["--certificate-authority", ca], ""),
        ("127.0.0.1", NOW, vec!["--certificate-authority", other], "UnknownIssuer"),
        ("127.0.0.1", (2019, 2020), vec!["--certificate-authority", ca], "expired"),
        ("127.0.0.1", (2089, 2090), vec!["--certificate-authority", ca], "not valid yet"),
        ("api.test", NOW, vec!["--certificate-authority", ca], "not valid for name"),
        ("api.test", NOW, vec!["--certificate-authority", ca, "--tls-server-name", "api.test"], ""),
        ("api.test", (2019, 2020), vec!["--insecure-skip-tls-verify"], ""),
        ("127.0.0.1", NOW, vec!["--certificate-authority", "/nonexistent/ca.crt"], "/nonexistent/ca.crt"),
        ("127.0.0.1", NOW, vec!["--certificate-authority", "Cargo.toml"], "Cargo.toml holds no certificate"),
    ];
    for (host, years, flags, says) in table {
        let server = Server::tls(world().0, "v1.34.3", ours.server(host, years));
        let output = plugin().args(["--server", &server.url, "--token", "hunter2"]).args(&flags).output().unwrap();
        let what = format!("{host} {years:?} {flags:?}");
        if says.is_empty() {
            assert_eq!(told(&output).0, 1, "{what}: {}", told(&output).2);
        } else {
            refused(&what, &output, says);
            assert!(server.requests().is_empty(), "{what}: nothing is asked of a server that is not trusted");
        }
    }
}

#[test]
fn http_where_https_is_spoken_and_the_other_way_round() {
    let plain = Server::start(world().0, "v1.34.3", true, &[]);
    let url = plain.url.replace("http:", "https:");
    refused("TLS to a plain server", &plugin().args(["--server", &url, "--insecure-skip-tls-verify"]).output().unwrap(), "TLS");
    // What Go's server answers to plain HTTP on a TLS port.
    let go = Server::start(world().0, "v1.34.3", true, &[("/", Act::Plain(400, "Client sent an HTTP request to an HTTPS server.\n"))]);
    refused("plain HTTP to a TLS server", &plugin().args(["--server", &go.url]).output().unwrap(), "HTTP request to an HTTPS server");
}

/// An HTTP proxy that knows one host, and what it was asked.
struct Proxy {
    address: String,
    log: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// `status`: what it answers to CONNECT; with 200 it leads to `target`.
    fn start(status: &'static str, target: &str) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let log = Arc::new(Mutex::new(Vec::new()));
        let (seen, target) = (log.clone(), target.to_string());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, target) = (seen.clone(), target.clone());
                thread::spawn(move || tunnel(stream, status, &target, &seen));
            }
        });
        Proxy { address, log }
    }
}

fn tunnel(stream: TcpStream, status: &str, target: &str, seen: &Mutex<Vec<String>>) {
    let mut client = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if client.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    seen.lock().unwrap().push(head);
    write!(client.get_mut(), "HTTP/1.1 {status}\r\n\r\n").unwrap();
    if !status.starts_with("200") {
        return;
    }
    let server = TcpStream::connect(target).unwrap();
    let (mut from, mut to) = (client.get_ref().try_clone().unwrap(), server.try_clone().unwrap());
    let up = thread::spawn(move || std::io::copy(&mut from, &mut to));
    let _ = std::io::copy(&mut { server }, client.get_mut());
    let _ = up.join();
}

#[test]
fn proxies() {
    let ours = Authority::new("ours");
    let server = Server::tls(world().0, "v1.34.3", ours.server("api.test", NOW));
    let target = server.url.trim_start_matches("https://").to_string();
    let ca = ours.file.path().to_str().unwrap();
    let ask = |env: &[(&str, &str)]| {
        let mut command = plugin();
        command.envs(env.iter().copied()).args(["--server", "https://api.test:6443", "--certificate-authority", ca, "--token", "hunter2"]);
        command.output().unwrap()
    };

    let proxy = Proxy::start("200 Connection established", &target);
    let output = ask(&[("HTTPS_PROXY", &format!("http://me:hunter2@{}", proxy.address))]);
    assert_eq!(told(&output).0, 1, "{}", told(&output).2);
    let seen = proxy.log.lock().unwrap().clone();
    assert!(!seen.is_empty() && seen.iter().all(|head| head.starts_with("CONNECT api.test:6443 ")), "{seen:?}");
    // "me:hunter2" for the proxy; the API's token is for the API alone.
    assert!(seen.iter().all(|head| head.to_lowercase().contains("proxy-authorization: basic bwu6ahvudgvymg==")), "{seen:?}");
    assert!(seen.iter().all(|head| !head.contains("Bearer")), "{seen:?}");

    let proxy = Proxy::start("200 Connection established", &target);
    let output = ask(&[("HTTPS_PROXY", &proxy.address), ("NO_PROXY", "example.org,api.test")]);
    refused("NO_PROXY", &output, "no such host");
    assert!(proxy.log.lock().unwrap().is_empty());

    for (status, says) in [
        ("407 Proxy Authentication Required", "the proxy does not lead there"),
        ("403 Forbidden", "the proxy does not lead there"),
        ("502 Bad Gateway", "the proxy does not lead there"),
    ] {
        let proxy = Proxy::start(status, &target);
        let output = ask(&[("HTTPS_PROXY", &format!("http://me:hunter2@{}", proxy.address))]);
        refused(status, &output, says);
    }
    let nowhere = "cannot reach https://api.test:6443 through the proxy http://127.0.0.1:1: connection refused";
    refused("no proxy there", &ask(&[("HTTPS_PROXY", "http://me:hunter2@127.0.0.1:1")]), nowhere);
    refused("no URL", &ask(&[("HTTPS_PROXY", "http://me:hunter2@")]), "the proxy's URL is no URL");
    refused("scheme", &ask(&[("HTTPS_PROXY", "ftp://me:hunter2@127.0.0.1:1")]), "unsupported scheme");
    // What answers is no proxy at all.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n");
        }
    });
    refused("no proxy's words", &ask(&[("HTTPS_PROXY", &address)]), "cannot reach https://api.test:6443");
}

/// A kubeconfig whose user is as told.
fn kubeconfig(server: &str, user: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    let config = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
         clusters: [{{name: c, cluster: {{server: '{server}'}}}}]\nusers:\n- name: u\n  user:\n    {user}\n"
    );
    std::fs::write(file.path(), config).unwrap();
    file
}

fn exec(script: &str) -> String {
    format!(
        "exec: {{apiVersion: client.authentication.k8s.io/v1, command: /bin/sh, args: ['-c', '{script}'], interactiveMode: Never, \
         env: [{{name: SECRET, value: hunter2}}]}}"
    )
}

#[test]
fn credentials() {
    let credential = r#"echo "{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": \"ExecCredential\", \"status\": {\"token\": \"hunter2\"}}""#;
    let table = [
        (exec("echo $SECRET >&2; exit 3"), "the credential plugin /bin/sh failed (exit status: 3)"),
        (exec("kill -9 $$"), "the credential plugin /bin/sh failed (signal: 9"),
        (exec("echo $SECRET"), "the credential plugin /bin/sh printed no ExecCredential"),
        (exec("echo [$SECRET"), "the credential plugin /bin/sh printed no ExecCredential"),
        (exec("head -c 3000000 /dev/zero"), "the credential plugin /bin/sh printed no ExecCredential"),
        (exec(""), "the credential plugin /bin/sh printed no ExecCredential"),
        (exec("sleep 20"), "the credential plugin /bin/sh did not answer within 1s"),
        (exec("").replace("/bin/sh", "/nonexistent/plugin"), "the credential plugin /nonexistent/plugin could not be started"),
        (exec("").replace("command: /bin/sh, ", ""), "the credential plugin has no command"),
        ("tokenFile: /nonexistent/token".into(), "token file /nonexistent/token"),
        ("tokenFile: /dev/zero".into(), "/dev/zero: is no file"),
        ("{client-certificate: /dev/zero, client-key: /dev/zero}".into(), "/dev/zero: is no file"),
        ("token: \"hunter2\\n\"".into(), "cannot use the credentials: the token has characters that no header can carry"),
        ("{username: me, password: \"hunter2\\n\"}".into(), ""),
        ("{client-certificate-data: aHVudGVyMg==, client-key-data: aHVudGVyMg==}".into(), "cannot get credentials"),
        ("{client-certificate-data: '%hunter2%', client-key-data: '%hunter2%'}".into(), "client"),
    ];
    let server = Server::start(world().0, "v1.34.3", true, &[]);
    for (user, says) in table {
        let config = kubeconfig(&server.url, &user);
        let output = plugin().env("KUBECONFIG", config.path()).args(["--request-timeout", "1s"]).output().unwrap();
        if !says.is_empty() {
            refused(&user, &output, says);
        }
        let (_, out, err) = told(&output);
        assert!(!format!("{out}{err}").contains("hunter2"), "{user}: {err}");
    }
    // A token file ends with a line break.
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "hunter2\n").unwrap();
    let config = kubeconfig(&server.url, &format!("tokenFile: {}", file.path().display()));
    let output = plugin().env("KUBECONFIG", config.path()).output().unwrap();
    assert_eq!(told(&output).0, 1, "{}", told(&output).2);
    // A token that has expired, from a plugin that does not know it.
    let server = Server::start(world().0, "v1.34.3", true, &[("/", Act::Refuse(401))]);
    let config = kubeconfig(&server.url, &exec(credential));
    let output = plugin().env("KUBECONFIG", config.path()).output().unwrap();
    refused("an expired token", &output, "does not accept the credentials (401 Unauthorized); log in again");
}

#[test]
fn servers_that_cannot_be_asked() {
    let endless = plugin().args(["--kubeconfig", "/dev/zero"]).output().unwrap();
    refused("an endless kubeconfig", &endless, "kubeconfig /dev/zero: is no file");
    for (server, says) in [
        ("127.0.0.1:9", "cannot reach http://127.0.0.1:9"),
        ("localhost", "cannot reach http://localhost"),
        ("http://127.0.0.1:99999", "the server's URL has no port behind its colon"),
        ("ftp://127.0.0.1", "the server's URL is neither of http nor of https"),
        ("http://admin:hunter2@127.0.0.1:9/?token=hunter2", "cannot reach http://127.0.0.1:9"),
        ("file:///etc/passwd", "the server's URL"),
        ("/", "the server's URL"),
        ("http://", "the server's URL"),
    ] {
        let config = kubeconfig(server, "{}");
        for arguments in [["--kubeconfig", config.path().to_str().unwrap()], ["--server", server]] {
            refused(server, &plugin().args(arguments).output().unwrap(), says);
        }
    }
}

/// Asks a server with these rules; what came, and how long it took.
fn ask(rules: &[Rule], protobuf: bool, flags: &[&str]) -> (Output, Duration, Server) {
    let server = Server::start(world().0, "v1.34.3", protobuf, rules);
    let began = Instant::now();
    let output = plugin().args(["--server", &server.url, "--token", "hunter2"]).args(flags).output().unwrap();
    (output, began.elapsed(), server)
}

/// `--watch` with credentials that expire: the plugin is asked again, and a change after that is told.
#[test]
fn watching_outlives_its_credentials() {
    let (snapshot, namespace, name) = world();
    let server = Server::start(snapshot, "v1.34.3", true, &[("/", Act::Token("token-1"))]);
    let token = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(token.path(), "token-1").unwrap();
    let script = format!(
        r#"echo "{{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": \"ExecCredential\", \"status\": {{\"token\": \"$(cat {})\"}}}}""#,
        token.path().display()
    );
    let config = kubeconfig(&server.url, &exec(&script));
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("kubectl-ds_doctor"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", "/nonexistent")
        .args(["--now", "2026-11-30T12:00:00Z", "--watch", "-n", &namespace, &name, "--kubeconfig"])
        .arg(config.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let (send, lines) = std::sync::mpsc::channel();
    let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    for stream in [Box::new(out) as Box<dyn Read + Send>, Box::new(err)] {
        let send = send.clone();
        thread::spawn(move || BufReader::new(stream).lines().map_while(Result::ok).try_for_each(|l| send.send(l)));
    }
    let mut seen = Vec::new();
    let mut wait = |want: &str| {
        while !seen.last().is_some_and(|l: &String| l.contains(want)) {
            match lines.recv_timeout(Duration::from_secs(60)) {
                Ok(line) => seen.push(line),
                Err(_) => panic!("no {want:?} in {seen:?}"),
            }
        }
        seen.clone()
    };
    wait("DaemonSet");
    // The old token has expired before the plugin has a new one: told once, and tried again.
    server.rules(&[("/", Act::Token("token-2"))]);
    wait("warning: ");
    std::fs::write(token.path(), "token-2").unwrap();
    wait("the cluster answers again");
    // The next one is there at once, and nobody notices.
    std::fs::write(token.path(), "token-3").unwrap();
    server.rules(&[("/", Act::Token("token-3"))]);
    let node = server.requests().len();
    server.change(|s| s.objects.nodes.items.pop().map(drop).unwrap());
    let seen = wait(" is gone");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(server.requests().len() > node);
    let warnings: Vec<&String> = seen.iter().filter(|l| l.starts_with("warning: ")).collect();
    assert_eq!(warnings.len(), 1, "{seen:?}");
    assert!(
        warnings[0].contains("does not accept the credentials (401 Unauthorized)") && warnings[0].ends_with("; trying again"),
        "{seen:?}"
    );
    assert!(!seen.iter().any(|l| ["token-", "hunter2"].iter().any(|s| l.contains(s))), "{seen:?}");
}

#[test]
fn servers_that_are_slow_are_waited_for_as_long_as_was_said() {
    for (act, protobuf) in [Act::Silent, Act::Trickle, Act::Stuck].into_iter().flat_map(|act| [(act.clone(), true), (act, false)]) {
        for (flags, limit) in [(["--request-timeout", "1s"], "1s"), (["--deadline", "2s"], "2s")] {
            let what = format!("{act:?} {flags:?} {protobuf}");
            let (output, took, _) = ask(&[("/daemonsets/", act.clone())], protobuf, &flags);
            refused(&what, &output, if limit == "1s" { "no answer within 1s" } else { "no answer within" });
            assert!(took < Duration::from_secs(10), "{what}: {took:?}");
            // The nodes are not to be had: no verdict, but a report that says so.
            let (output, took, _) = ask(&[("/nodes", act.clone())], protobuf, &flags);
            let (code, out, err) = told(&output);
            assert_eq!((code, err.as_str()), (3, ""), "{what}: {out}");
            assert!(out.contains("no answer within") && took < Duration::from_secs(10), "{what}: {took:?} {out}");
        }
    }
}

#[test]
fn what_breaks_off_is_asked_for_again() {
    let (healthy, ..) = ask(&[], true, &[]);
    for protobuf in [true, false] {
        for act in [Act::Reset(1), Act::Half(1), Act::Reset(3), Act::RetryAfter(429, 1, 1), Act::RetryAfter(503, 1, 1), Act::Newer] {
            for path in ["/daemonsets/", "/nodes", "/pods"] {
                let (output, took, server) = ask(&[(path, act.clone())], protobuf, &[]);
                assert_eq!(output.status.code(), Some(1), "{path} {act:?}: {}", told(&output).2);
                assert_eq!(told(&output).1, told(&healthy).1, "{path} {act:?} {protobuf}");
                if let Act::RetryAfter(..) = act {
                    assert!(took >= Duration::from_secs(1) && took < Duration::from_secs(5), "{path} {act:?}: {took:?}");
                }
                assert!(server.requests().len() < 60, "{path} {act:?}: {:?}", server.requests());
            }
        }
        let for_good = [
            (Act::Reset(99), "the connection broke"),
            (Act::Half(99), "the connection broke"),
            (Act::RetryAfter(429, 3600, 99), "too many requests (429 TooManyRequests)"),
        ];
        for (act, says) in for_good {
            let (output, took, server) = ask(&[("/daemonsets/", act.clone())], protobuf, &[]);
            refused(&format!("{act:?}"), &output, says);
            assert!(took < Duration::from_secs(10), "{act:?}: {took:?}");
            let tries = server.requests().iter().filter(|r| r.contains("/daemonsets/")).count();
            assert!(tries <= 4, "{act:?}: {tries}");
        }
    }
}

#[test]
fn an_old_server_without_newer_apis() {
    let groups =
        ["/apis/storage.k8s.io", "/apis/node.k8s.io", "/apis/policy", "/apis/resource.k8s.io", "/apis/discovery", "/apis/scheduling"];
    let rules: Vec<Rule> = groups.iter().map(|g| (*g, Act::Refuse(404))).collect();
    for protobuf in [true, false] {
        let (output, ..) = ask(&rules, protobuf, &[]);
        let (code, out, err) = told(&output);
        assert_eq!((code, err.as_str()), (1, ""), "{out}");
        assert!(out.contains("InsufficientResource") || out.contains("NodeResourcesFit"), "{out}");
    }
}

#[test]
fn a_million_events_fit_into_little_memory() {
    let (_, namespace, name) = world();
    for (protobuf, count) in [(true, 1_000_000), (false, 100_000)] {
        let server = Server::start(world().0, "v1.34.3", protobuf, &[("/events", Act::Events(count))]);
        let binary = assert_cmd::cargo::cargo_bin("kubectl-ds_doctor");
        // 400 MB of addresses, code and stacks included.
        let script = format!("ulimit -v 400000; exec {} --server {} -n {namespace} {name} -o json", binary.display(), server.url);
        let output = Command::new("sh").args(["-c", &script]).env_clear().env("HOME", "/nonexistent").output().unwrap();
        let (code, out, err) = told(&output);
        assert_eq!((code, err.as_str()), (1, ""), "{out}");
    }
}
