//! What the Pod Security levels forbid.
//!
//! Upstream: `k8s.io/pod-security-admission/policy/check_*.go` (v0.37.2), version `latest`.

use crate::model::pod::{Container, PodSpec, Profile, SeLinuxOptions};
use crate::model::version::ServerVersion;

/// Everything of the spec that the level (`baseline` or `restricted`) forbids, in words.
pub fn violations(level: &str, spec: &PodSpec, version: ServerVersion) -> Vec<String> {
    let mut found = Vec::new();
    if level == "baseline" || level == "restricted" {
        baseline(level, spec, version, &mut found);
    }
    if level == "restricted" {
        restricted(spec, version, &mut found);
    }
    found
}

fn containers(spec: &PodSpec) -> impl Iterator<Item = &Container> {
    spec.init_containers.iter().chain(&spec.containers)
}

/// The names of the containers for which `bad` holds, quoted.
fn names(spec: &PodSpec, bad: impl Fn(&Container) -> bool) -> Option<String> {
    let names: Vec<String> = containers(spec).filter(|c| bad(c)).map(|c| format!("{:?}", c.name)).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

const BASELINE_CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// Allowed sysctls, each from a minor version on.
const SYSCTLS: [(&str, u32); 14] = [
    ("kernel.shm_rmid_forced", 0),
    ("net.ipv4.ip_local_port_range", 0),
    ("net.ipv4.tcp_syncookies", 0),
    ("net.ipv4.ping_group_range", 0),
    ("net.ipv4.ip_unprivileged_port_start", 0),
    ("net.ipv4.ip_local_reserved_ports", 27),
    ("net.ipv4.tcp_keepalive_time", 29),
    ("net.ipv4.tcp_fin_timeout", 29),
    ("net.ipv4.tcp_keepalive_intvl", 29),
    ("net.ipv4.tcp_keepalive_probes", 29),
    ("net.ipv4.tcp_rmem", 32),
    ("net.ipv4.tcp_wmem", 32),
    ("net.ipv4.tcp_slow_start_after_idle", 37),
    ("net.ipv4.tcp_notsent_lowat", 37),
];

/// In a user namespace of its own a pod may be root there (KEP-127).
fn is_relaxed(spec: &PodSpec, version: ServerVersion) -> bool {
    spec.host_users == Some(false) && version >= ServerVersion { major: 1, minor: 35 }
}

fn baseline(level: &str, spec: &PodSpec, version: ServerVersion, found: &mut Vec<String>) {
    let pod = spec.security_context.as_ref();
    let host: Vec<&str> = [("hostNetwork=true", spec.host_network), ("hostPID=true", spec.host_pid), ("hostIPC=true", spec.host_ipc)]
        .into_iter()
        .filter_map(|(name, set)| set.then_some(name))
        .collect();
    if !host.is_empty() {
        found.push(format!("host namespaces ({})", host.join(", ")));
    }
    let paths: Vec<String> = spec.volumes.iter().filter(|v| v.source.host_path.is_some()).map(|v| format!("{:?}", v.name)).collect();
    if !paths.is_empty() {
        found.push(format!("hostPath volumes (volume {})", paths.join(", ")));
    }
    let ports: Vec<String> = containers(spec)
        .flat_map(|c| &c.ports)
        .map(|p| if p.host_port == 0 && spec.host_network { p.container_port } else { p.host_port })
        .filter(|p| *p != 0)
        .map(|p| p.to_string())
        .collect();
    if !ports.is_empty() {
        found.push(format!("hostPort ({})", ports.join(", ")));
    }
    let mut each = |what: &str, bad: &dyn Fn(&Container) -> bool| {
        if let Some(names) = names(spec, bad) {
            found.push(format!("{what} (container {names})"));
        }
    };
    let context = |c: &Container| c.security_context.clone().unwrap_or_default();
    each("privileged", &|c| context(c).privileged == Some(true));
    each("capabilities beyond the default set", &|c| {
        context(c).capabilities.is_some_and(|caps| caps.add.iter().any(|a| !BASELINE_CAPABILITIES.contains(&a.as_str())))
    });
    // The level `restricted` has never relaxed this.
    let relaxed = level == "baseline" && is_relaxed(spec, version);
    each("procMount", &|c| !relaxed && context(c).proc_mount.is_some_and(|p| p != "Default"));
    each("unconfined seccompProfile", &|c| unconfined(context(c).seccomp_profile.as_ref()));
    each("unconfined appArmorProfile", &|c| unconfined(context(c).app_armor_profile.as_ref()));
    each("seLinuxOptions", &|c| bad_se_linux(context(c).se_linux_options.as_ref(), version));
    each("hostProcess", &|c| context(c).windows_options.is_some_and(|w| w.host_process == Some(true)));
    if version >= (ServerVersion { major: 1, minor: 34 }) {
        each("probe or lifecycle host", &|c| {
            [&c.liveness_probe, &c.readiness_probe, &c.startup_probe].into_iter().flatten().any(|p| {
                p.handler.http_get.as_ref().is_some_and(|h| !h.host.is_empty())
                    || p.handler.tcp_socket.as_ref().is_some_and(|t| !t.host.is_empty())
            })
        });
    }
    let Some(pod) = pod else { return };
    if unconfined(pod.seccomp_profile.as_ref()) {
        found.push("unconfined seccompProfile (pod)".into());
    }
    if unconfined(pod.app_armor_profile.as_ref()) {
        found.push("unconfined appArmorProfile (pod)".into());
    }
    if bad_se_linux(pod.se_linux_options.as_ref(), version) {
        found.push("seLinuxOptions (pod)".into());
    }
    if pod.windows_options.as_ref().is_some_and(|w| w.host_process == Some(true)) {
        found.push("hostProcess (pod)".into());
    }
    let allowed = |name: &str| SYSCTLS.iter().any(|(n, minor)| *n == name && version.minor >= *minor);
    let sysctls: Vec<&str> = pod.sysctls.iter().map(|s| s.name.as_str()).filter(|n| !allowed(n)).collect();
    if !sysctls.is_empty() {
        found.push(format!("forbidden sysctls ({})", sysctls.join(", ")));
    }
}

fn unconfined(profile: Option<&Profile>) -> bool {
    profile.is_some_and(|p| p.r#type == "Unconfined")
}

fn bad_se_linux(options: Option<&SeLinuxOptions>, version: ServerVersion) -> bool {
    let Some(o) = options else { return false };
    let engine = o.r#type == "container_engine_t" && version >= ServerVersion { major: 1, minor: 31 };
    let allowed = engine || matches!(o.r#type.as_str(), "" | "container_t" | "container_init_t" | "container_kvm_t");
    !allowed || !o.user.is_empty() || !o.role.is_empty()
}

fn restricted(spec: &PodSpec, version: ServerVersion, found: &mut Vec<String>) {
    let windows = spec.os.as_ref().is_some_and(|o| o.name == "windows");
    let pod = spec.security_context.clone().unwrap_or_default();
    let volumes: Vec<String> = spec
        .volumes
        .iter()
        .filter(|v| {
            let s = &v.source;
            !(s.config_map.is_some()
                || s.csi.is_some()
                || s.downward_api.is_some()
                || s.empty_dir.is_some()
                || s.ephemeral.is_some()
                || s.image.is_some()
                || s.persistent_volume_claim.is_some()
                || s.projected.is_some()
                || s.secret.is_some())
        })
        .map(|v| format!("{:?}", v.name))
        .collect();
    if !volumes.is_empty() {
        found.push(format!("restricted volume types (volume {})", volumes.join(", ")));
    }
    let context = |c: &Container| c.security_context.clone().unwrap_or_default();
    let mut each = |what: &str, bad: &dyn Fn(&Container) -> bool| {
        if let Some(names) = names(spec, bad) {
            found.push(format!("{what} (container {names})"));
        }
    };
    if !windows {
        each("allowPrivilegeEscalation != false", &|c| context(c).allow_privilege_escalation != Some(false));
        each("unrestricted capabilities", &|c| {
            let caps = context(c).capabilities.unwrap_or_default();
            !caps.drop.iter().any(|d| d == "ALL") || caps.add.iter().any(|a| a != "NET_BIND_SERVICE")
        });
        let confined = |p: Option<&Profile>| p.is_some_and(|p| matches!(p.r#type.as_str(), "RuntimeDefault" | "Localhost"));
        let by_pod = confined(pod.seccomp_profile.as_ref());
        each("seccompProfile", &|c| {
            let own = context(c).seccomp_profile;
            if own.is_some() { !confined(own.as_ref()) } else { !by_pod }
        });
    }
    if !is_relaxed(spec, version) {
        each("runAsNonRoot != true", &|c| match context(c).run_as_non_root {
            Some(own) => !own,
            None => pod.run_as_non_root != Some(true),
        });
        each("runAsUser=0", &|c| context(c).run_as_user == Some(0));
        // A word for the pod counts even if every container has its own.
        if pod.run_as_non_root == Some(false) {
            found.push("runAsNonRoot != true (pod)".into());
        }
        if pod.run_as_user == Some(0) {
            found.push("runAsUser=0 (pod)".into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A pod with this security context, whose one container has that one.
    fn pod(own: serde_json::Value, container: serde_json::Value) -> serde_json::Value {
        json!({"securityContext": own, "containers": [{"name": "c", "securityContext": container}]})
    }

    /// What the level `restricted` wants of a container.
    fn strict() -> serde_json::Value {
        json!({"allowPrivilegeEscalation": false, "runAsNonRoot": true, "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}})
    }

    fn with(mut base: serde_json::Value, field: &str, value: serde_json::Value) -> serde_json::Value {
        base[field] = value;
        base
    }

    #[test]
    fn levels_forbid_what_upstream_forbids() {
        let none = || json!({});
        let se_linux = |r#type: &str| json!({"seLinuxOptions": {"type": r#type}});
        let probe = |probe: &str, handler: serde_json::Value| json!({"containers": [{"name": "c", probe: handler}]});
        let unconfined = || json!({"type": "Unconfined"});
        let sysctl = |name: &str| json!({"sysctls": [{"name": name}]});
        let own_users = |spec: serde_json::Value| with(spec, "hostUsers", json!(false));
        let windows = || json!({"windowsOptions": {"hostProcess": true}});
        let volume = |source: &str| with(pod(none(), strict()), "volumes", json!([{"name": "v", source: {}}]));
        let agent = json!({"hostNetwork": true, "containers": [{"name": "c", "ports": [{"containerPort": 9100}], "securityContext": {"privileged": true}}],
            "volumes": [{"name": "v", "hostPath": {"path": "/"}}]});
        for (level, minor, spec, want) in [
            ("privileged", 37, agent.clone(), vec![]),
            (
                "baseline",
                37,
                agent,
                vec![
                    "host namespaces (hostNetwork=true)",
                    "hostPath volumes (volume \"v\")",
                    "hostPort (9100)",
                    "privileged (container \"c\")",
                ],
            ),
            (
                "baseline",
                37,
                json!({"hostPID": true, "hostIPC": true, "containers": []}),
                vec!["host namespaces (hostPID=true, hostIPC=true)"],
            ),
            (
                "baseline",
                37,
                json!({"containers": [{"name": "c", "ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 82}]}]}),
                vec!["hostPort (82)"],
            ),
            ("baseline", 37, pod(none(), none()), vec![]),
            ("baseline", 37, pod(none(), json!({"capabilities": {"add": ["CHOWN"]}})), vec![]),
            (
                "baseline",
                37,
                pod(none(), json!({"capabilities": {"add": ["CHOWN", "NET_ADMIN"]}})),
                vec!["capabilities beyond the default set (container \"c\")"],
            ),
            ("baseline", 37, pod(none(), json!({"procMount": "Default"})), vec![]),
            ("baseline", 37, pod(none(), json!({"procMount": "Unmasked"})), vec!["procMount (container \"c\")"]),
            ("baseline", 35, own_users(pod(none(), json!({"procMount": "Unmasked"}))), vec![]),
            ("baseline", 34, own_users(pod(none(), json!({"procMount": "Unmasked"}))), vec!["procMount (container \"c\")"]),
            ("restricted", 37, own_users(pod(none(), with(strict(), "procMount", json!("Unmasked")))), vec!["procMount (container \"c\")"]),
            ("baseline", 37, pod(none(), json!({"seccompProfile": unconfined()})), vec!["unconfined seccompProfile (container \"c\")"]),
            ("baseline", 37, pod(json!({"seccompProfile": unconfined()}), none()), vec!["unconfined seccompProfile (pod)"]),
            ("baseline", 37, pod(none(), json!({"appArmorProfile": unconfined()})), vec!["unconfined appArmorProfile (container \"c\")"]),
            ("baseline", 37, pod(json!({"appArmorProfile": unconfined()}), none()), vec!["unconfined appArmorProfile (pod)"]),
            ("baseline", 37, pod(json!({"appArmorProfile": {"type": "RuntimeDefault"}}), none()), vec![]),
            ("baseline", 37, pod(se_linux(""), se_linux("container_kvm_t")), vec![]),
            ("baseline", 37, pod(se_linux("spc_t"), none()), vec!["seLinuxOptions (pod)"]),
            ("baseline", 31, pod(none(), se_linux("container_engine_t")), vec![]),
            ("baseline", 30, pod(none(), se_linux("container_engine_t")), vec!["seLinuxOptions (container \"c\")"]),
            ("baseline", 37, pod(none(), json!({"seLinuxOptions": {"user": "u"}})), vec!["seLinuxOptions (container \"c\")"]),
            ("baseline", 37, pod(none(), json!({"seLinuxOptions": {"role": "r"}})), vec!["seLinuxOptions (container \"c\")"]),
            ("baseline", 37, pod(none(), windows()), vec!["hostProcess (container \"c\")"]),
            ("baseline", 37, pod(windows(), none()), vec!["hostProcess (pod)"]),
            ("baseline", 37, pod(json!({"windowsOptions": {"hostProcess": false}}), json!({"windowsOptions": {}})), vec![]),
            ("baseline", 37, probe("livenessProbe", json!({"httpGet": {"port": 80}})), vec![]),
            (
                "baseline",
                34,
                probe("livenessProbe", json!({"httpGet": {"port": 80, "host": "a"}})),
                vec!["probe or lifecycle host (container \"c\")"],
            ),
            ("baseline", 33, probe("livenessProbe", json!({"httpGet": {"port": 80, "host": "a"}})), vec![]),
            (
                "baseline",
                37,
                probe("readinessProbe", json!({"tcpSocket": {"port": 80, "host": "a"}})),
                vec!["probe or lifecycle host (container \"c\")"],
            ),
            ("baseline", 37, probe("startupProbe", json!({"tcpSocket": {"port": 80}})), vec![]),
            ("baseline", 37, pod(sysctl("kernel.msgmax"), none()), vec!["forbidden sysctls (kernel.msgmax)"]),
            ("baseline", 29, pod(sysctl("net.ipv4.tcp_fin_timeout"), none()), vec![]),
            ("baseline", 28, pod(sysctl("net.ipv4.tcp_fin_timeout"), none()), vec!["forbidden sysctls (net.ipv4.tcp_fin_timeout)"]),
            ("restricted", 37, pod(none(), strict()), vec![]),
            (
                "restricted",
                37,
                pod(none(), none()),
                vec![
                    "allowPrivilegeEscalation != false (container \"c\")",
                    "unrestricted capabilities (container \"c\")",
                    "seccompProfile (container \"c\")",
                    "runAsNonRoot != true (container \"c\")",
                ],
            ),
            ("restricted", 37, with(own_users(pod(none(), none())), "os", json!({"name": "windows"})), vec![]),
            (
                "restricted",
                34,
                with(own_users(pod(none(), none())), "os", json!({"name": "windows"})),
                vec!["runAsNonRoot != true (container \"c\")"],
            ),
            (
                "restricted",
                37,
                with(pod(none(), none()), "os", json!({"name": "linux"})),
                vec![
                    "allowPrivilegeEscalation != false (container \"c\")",
                    "unrestricted capabilities (container \"c\")",
                    "seccompProfile (container \"c\")",
                    "runAsNonRoot != true (container \"c\")",
                ],
            ),
            ("restricted", 37, pod(none(), with(strict(), "capabilities", json!({"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}))), vec![]),
            (
                "restricted",
                37,
                pod(none(), with(strict(), "capabilities", json!({"drop": ["ALL"], "add": ["CHOWN"]}))),
                vec!["unrestricted capabilities (container \"c\")"],
            ),
            (
                "restricted",
                37,
                pod(none(), with(strict(), "capabilities", json!({"drop": ["CHOWN"]}))),
                vec!["unrestricted capabilities (container \"c\")"],
            ),
            ("restricted", 37, pod(none(), with(strict(), "seccompProfile", json!(null))), vec!["seccompProfile (container \"c\")"]),
            (
                "restricted",
                37,
                pod(json!({"seccompProfile": {"type": "Localhost"}}), with(strict(), "seccompProfile", json!(null))),
                vec![],
            ),
            ("restricted", 37, pod(json!({"runAsNonRoot": true}), with(strict(), "runAsNonRoot", json!(null))), vec![]),
            (
                "restricted",
                37,
                pod(json!({"runAsNonRoot": true}), with(strict(), "runAsNonRoot", json!(false))),
                vec!["runAsNonRoot != true (container \"c\")"],
            ),
            ("restricted", 37, pod(json!({"runAsNonRoot": false}), strict()), vec!["runAsNonRoot != true (pod)"]),
            ("restricted", 37, pod(none(), with(strict(), "runAsUser", json!(0))), vec!["runAsUser=0 (container \"c\")"]),
            ("restricted", 37, pod(json!({"runAsUser": 0}), strict()), vec!["runAsUser=0 (pod)"]),
            ("restricted", 37, own_users(pod(json!({"runAsUser": 0, "runAsNonRoot": false}), strict())), vec![]),
            ("restricted", 37, volume("emptyDir"), vec![]),
            ("restricted", 37, volume("image"), vec![]),
            ("restricted", 37, volume("projected"), vec![]),
            ("restricted", 37, volume("nfs"), vec!["restricted volume types (volume \"v\")"]),
        ] {
            let read: PodSpec = serde_json::from_value(spec.clone()).unwrap();
            assert_eq!(violations(level, &read, ServerVersion { major: 1, minor }), want, "{level} 1.{minor} {spec}");
        }
    }
}
