//! Writes a made-up cluster of any size, as `kubectl get nodes,ds,pods -A -o json` prints it.
//!
//! ```text
//! cargo run --release --example big_dump -- 5000 30 > big.json     # nodes, pods on each
//! ```
//!
//! One pod in thirty is of the DaemonSet `monitoring/node-exporter`; the others are of
//! Deployments of a hundred pods each. Pods are about 7 kB, as real ones are.

use std::io::{self, BufWriter, Write};

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1).filter_map(|a| a.parse::<usize>().ok());
    let nodes = arguments.next().unwrap_or(5000);
    let pods = arguments.next().unwrap_or(30);
    let mut out = BufWriter::new(io::stdout().lock());
    writeln!(out, "{{\n    \"apiVersion\": \"v1\",\n    \"items\": [")?;
    item(&mut out, DAEMON_SET, &[])?;
    for n in 0..nodes {
        out.write_all(b",\n")?;
        item(&mut out, NODE, &[("NODE", &format!("node-{n:05}")), ("ZONE", ["a", "b", "c"][n % 3])])?;
    }
    for n in 0..nodes {
        for p in 0..pods {
            let i = n * pods + p;
            let app = i / 100;
            let owner = if p == 0 { "node-exporter".to_string() } else { format!("app-{app}-6d4f9c7b8d") };
            let suffix = letters(i);
            out.write_all(b",\n")?;
            item(
                &mut out,
                POD,
                &[
                    ("NAME", &format!("{owner}-{suffix}")),
                    ("OWNER", &owner),
                    ("KIND", if p == 0 { "DaemonSet" } else { "ReplicaSet" }),
                    ("NAMESPACE", &if p == 0 { "monitoring".to_string() } else { format!("team-{}", app % 50) }),
                    ("NODE", &format!("node-{n:05}")),
                    ("APP", &if p == 0 { "node-exporter".to_string() } else { format!("app-{app}") }),
                    ("UID", &format!("{:08x}-1c2d-4e5f-8a9b-{:012x}", i, i * 7919)),
                    ("SUFFIX", &suffix),
                    ("VERSION", &(1_000_000 + i).to_string()),
                    ("SECOND", &format!("{:02}", i % 60)),
                ],
            )?;
        }
    }
    writeln!(out, "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {{\n        \"resourceVersion\": \"\"\n    }}\n}}")?;
    out.flush()
}

/// Five letters that are different for every number.
fn letters(mut n: usize) -> String {
    const SOME: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut text = String::new();
    for _ in 0..5 {
        text.push(char::from(SOME[n % SOME.len()]));
        n /= SOME.len();
    }
    text
}

/// Prints compact JSON with `$WORDS` replaced, indented by four as kubectl does.
fn item(out: &mut impl Write, template: &str, words: &[(&str, &str)]) -> io::Result<()> {
    let mut text = template.to_string();
    for (word, value) in words {
        text = text.replace(&format!("${word}$"), value);
    }
    let value: serde_json::Value = serde_json::from_str(&text)?;
    let mut pretty = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut pretty, serde_json::ser::PrettyFormatter::with_indent(b"    "));
    serde::Serialize::serialize(&value, &mut serializer)?;
    for (i, line) in pretty.split(|b| *b == b'\n').enumerate() {
        if i > 0 {
            out.write_all(b"\n")?;
        }
        out.write_all(b"        ")?;
        out.write_all(line)?;
    }
    Ok(())
}

const DAEMON_SET: &str = r#"{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"annotations":{"deprecated.daemonset.template.generation":"1"},"creationTimestamp":"2026-01-01T00:00:00Z","generation":1,"labels":{"app":"node-exporter"},"name":"node-exporter","namespace":"monitoring","uid":"d5"},
"spec":{"selector":{"matchLabels":{"app":"node-exporter"}},"template":{"metadata":{"labels":{"app":"node-exporter"}},"spec":{"containers":[{"name":"main","image":"registry.example.test/node-exporter:1.0","ports":[{"containerPort":9100,"hostPort":9100,"protocol":"TCP"}],"resources":{"requests":{"cpu":"100m","memory":"128Mi"}}}],"tolerations":[{"operator":"Exists"}]}},"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":1,"maxSurge":0}}},
"status":{"observedGeneration":1}}"#;

const NODE: &str = r#"{"apiVersion":"v1","kind":"Node","metadata":{"annotations":{"csi.volume.kubernetes.io/nodeid":"{\"ebs.csi.aws.com\":\"i-0123456789abcdef0\"}","node.alpha.kubernetes.io/ttl":"0","volumes.kubernetes.io/controller-managed-attach-detach":"true"},"creationTimestamp":"2026-01-01T00:00:00Z","labels":{"beta.kubernetes.io/arch":"amd64","beta.kubernetes.io/instance-type":"m5.2xlarge","beta.kubernetes.io/os":"linux","kubernetes.io/arch":"amd64","kubernetes.io/hostname":"$NODE$","kubernetes.io/os":"linux","node.kubernetes.io/instance-type":"m5.2xlarge","topology.kubernetes.io/region":"r1","topology.kubernetes.io/zone":"r1$ZONE$"},"name":"$NODE$","uid":"u-$NODE$"},
"spec":{"podCIDR":"10.0.0.0/24","providerID":"aws:///r1$ZONE$/i-0123456789abcdef0"},
"status":{"addresses":[{"address":"10.0.0.1","type":"InternalIP"},{"address":"$NODE$","type":"Hostname"}],"allocatable":{"cpu":"7910m","ephemeral-storage":"95551679124","hugepages-1Gi":"0","hugepages-2Mi":"0","memory":"31482380Ki","pods":"58"},"capacity":{"cpu":"8","ephemeral-storage":"104845292Ki","hugepages-1Gi":"0","hugepages-2Mi":"0","memory":"32499212Ki","pods":"58"},
"conditions":[{"lastHeartbeatTime":"2026-02-01T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z","message":"kubelet has sufficient memory available","reason":"KubeletHasSufficientMemory","status":"False","type":"MemoryPressure"},{"lastHeartbeatTime":"2026-02-01T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z","message":"kubelet has no disk pressure","reason":"KubeletHasNoDiskPressure","status":"False","type":"DiskPressure"},{"lastHeartbeatTime":"2026-02-01T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z","message":"kubelet is posting ready status","reason":"KubeletReady","status":"True","type":"Ready"}],
"images":[{"names":["registry.example.test/a@sha256:0000000000000000000000000000000000000000000000000000000000000000","registry.example.test/a:1"],"sizeBytes":299513272},{"names":["registry.example.test/b@sha256:1111111111111111111111111111111111111111111111111111111111111111","registry.example.test/b:1"],"sizeBytes":199513272}],"nodeInfo":{"architecture":"amd64","containerRuntimeVersion":"containerd://2.0.0","kernelVersion":"6.1.0","kubeletVersion":"v1.34.3","operatingSystem":"linux","osImage":"Linux"}}}"#;

const POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{"prometheus.io/port":"8080","prometheus.io/scrape":"true","checksum/config":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},"creationTimestamp":"2026-01-15T10:00:$SECOND$Z","generateName":"$OWNER$-","labels":{"app.kubernetes.io/instance":"$APP$","app.kubernetes.io/name":"$APP$","app.kubernetes.io/part-of":"shop","app":"$APP$","pod-template-hash":"6d4f9c7b8d"},"name":"$NAME$","namespace":"$NAMESPACE$","ownerReferences":[{"apiVersion":"apps/v1","blockOwnerDeletion":true,"controller":true,"kind":"$KIND$","name":"$OWNER$","uid":"7e57d004-2b97-4e7a-b45f-$OWNER$"}],"resourceVersion":"$VERSION$","uid":"$UID$"},
"spec":{"containers":[{"env":[{"name":"LOG_LEVEL","value":"info"},{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}},{"name":"DB_PASSWORD","valueFrom":{"secretKeyRef":{"key":"password","name":"db"}}}],"image":"registry.example.test/shop/$APP$:v1.42.0","imagePullPolicy":"IfNotPresent","livenessProbe":{"failureThreshold":3,"httpGet":{"path":"/healthz","port":"http","scheme":"HTTP"},"initialDelaySeconds":15,"periodSeconds":10,"successThreshold":1,"timeoutSeconds":1},"name":"main","ports":[{"containerPort":8080,"name":"http","protocol":"TCP"}],"readinessProbe":{"failureThreshold":3,"httpGet":{"path":"/ready","port":"http","scheme":"HTTP"},"periodSeconds":10,"successThreshold":1,"timeoutSeconds":1},"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},"readOnlyRootFilesystem":true},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","volumeMounts":[{"mountPath":"/etc/config","name":"config"},{"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount","name":"kube-api-access-$SUFFIX$","readOnly":true}]}],"dnsPolicy":"ClusterFirst","enableServiceLinks":true,"nodeName":"$NODE$","preemptionPolicy":"PreemptLowerPriority","priority":0,"restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{"runAsNonRoot":true,"runAsUser":1000},"serviceAccount":"$APP$","serviceAccountName":"$APP$","terminationGracePeriodSeconds":30,"tolerations":[{"effect":"NoExecute","key":"node.kubernetes.io/not-ready","operator":"Exists","tolerationSeconds":300},{"effect":"NoExecute","key":"node.kubernetes.io/unreachable","operator":"Exists","tolerationSeconds":300}],"volumes":[{"configMap":{"defaultMode":420,"name":"$APP$"},"name":"config"},{"name":"kube-api-access-$SUFFIX$","projected":{"defaultMode":420,"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"items":[{"key":"ca.crt","path":"ca.crt"}],"name":"kube-root-ca.crt"}},{"downwardAPI":{"items":[{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"},"path":"namespace"}]}}]}}]},
"status":{"conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-01-15T10:01:$SECOND$Z","status":"True","type":"PodReadyToStartContainers"},{"lastProbeTime":null,"lastTransitionTime":"2026-01-15T10:01:$SECOND$Z","status":"True","type":"Initialized"},{"lastProbeTime":null,"lastTransitionTime":"2026-01-15T10:01:$SECOND$Z","status":"True","type":"Ready"},{"lastProbeTime":null,"lastTransitionTime":"2026-01-15T10:01:$SECOND$Z","status":"True","type":"ContainersReady"},{"lastProbeTime":null,"lastTransitionTime":"2026-01-15T10:00:$SECOND$Z","status":"True","type":"PodScheduled"}],"containerStatuses":[{"containerID":"containerd://e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","image":"registry.example.test/shop/$APP$:v1.42.0","imageID":"registry.example.test/shop/$APP$@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","lastState":{},"name":"main","ready":true,"restartCount":0,"started":true,"state":{"running":{"startedAt":"2026-01-15T10:01:$SECOND$Z"}},"allocatedResources":{"cpu":"100m","memory":"128Mi"},"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}}}],"hostIP":"10.0.0.1","hostIPs":[{"ip":"10.0.0.1"}],"phase":"Running","podIP":"10.1.2.3","podIPs":[{"ip":"10.1.2.3"}],"qosClass":"Burstable","startTime":"2026-01-15T10:00:$SECOND$Z"}}"#;
