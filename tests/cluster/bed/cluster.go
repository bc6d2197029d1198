// Package bed brings up real control planes (etcd, API server, controller
// manager, scheduler, and kwok in the kubelets' place) on free loopback ports,
// several side by side, and takes them down again whatever happens.
package bed

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Options of a cluster.
type Options struct {
	// ControlPlane is the folder with the binary of one Kubernetes version, and
	// bin/kubectl of the same version.
	ControlPlane string
	// Tools is the folder with kwok, krew and validate-krew-manifest.
	Tools string
	// Runs is the folder for the data of running clusters.
	Runs string
	// Version is the Kubernetes version of the control plane, like v1.37.2.
	Version string
}

// Cluster is one running control plane.
type Cluster struct {
	dir      string
	options  Options
	apiPort  int
	etcdURL  string
	peerURL  string
	schedule int // the scheduler's port, for its metrics

	etcd, apiServer, controllerManager, scheduler, kwok *process

	// kwokKnows has the names of nodes that kwok has played the kubelet of.
	kwokKnows map[string]bool

	// Admin may do everything.
	Admin   *kubernetes.Clientset
	Dynamic *dynamic.DynamicClient
}

// Admin, Doctor and the Others are the users that the API server knows. Doctor
// and the others may do nothing until a role is bound to them.
const (
	Admin  = "admin"
	Doctor = "doctor"
)

// Others are users for tests of permissions.
func Others() []string {
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("reader-%02d", i))
	}
	return names
}

// Start brings a cluster up. A port can be taken by somebody else at the very
// moment it is handed out, hence the second and third try.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	var err error
	for range 3 {
		var c *Cluster
		if c, err = start(ctx, options); err == nil {
			return c, nil
		}
		if ctx.Err() != nil || !strings.Contains(err.Error(), "address already in use") {
			break
		}
	}
	return nil, err
}

func start(ctx context.Context, options Options) (c *Cluster, err error) {
	if err := os.MkdirAll(options.Runs, 0o755); err != nil {
		return nil, err
	}
	removeStale(options.Runs)
	dir, err := os.MkdirTemp(options.Runs, fmt.Sprintf("%d-", os.Getpid()))
	if err != nil {
		return nil, err
	}
	c = &Cluster{dir: dir, options: options, kwokKnows: map[string]bool{}}
	defer func() {
		if err != nil {
			c.Close()
			c = nil
		}
	}()
	var etcdPort, peerPort int
	for _, port := range []*int{&etcdPort, &peerPort, &c.apiPort, &c.schedule} {
		if *port, err = freePort(); err != nil {
			return c, err
		}
	}
	if err := c.writeFiles(); err != nil {
		return c, err
	}
	c.etcdURL, c.peerURL = fmt.Sprintf("http://127.0.0.1:%d", etcdPort), fmt.Sprintf("http://127.0.0.1:%d", peerPort)
	if err := c.StartEtcd(); err != nil {
		return c, err
	}
	if err := c.StartAPIServer(); err != nil {
		return c, err
	}
	if err := c.connect(); err != nil {
		return c, err
	}
	if err := c.WaitReady(ctx); err != nil {
		return c, err
	}
	if err := c.StartControllerManager(); err != nil {
		return c, err
	}
	if err := c.StartScheduler(); err != nil {
		return c, err
	}
	c.kwok, err = startProcess("kwok", c.path("kwok.log"), filepath.Join(options.Tools, "kwok"),
		"--kubeconfig="+c.Kubeconfig(Admin),
		"--manage-all-nodes=false", "--manage-nodes-with-annotation-selector="+FakeKubelet+"=fake",
		"--node-lease-duration-seconds=40", "--cidr=10.64.0.1/16")
	return c, err
}

// StartEtcd starts etcd, on the data that are there.
func (c *Cluster) StartEtcd() (err error) {
	c.etcd, err = c.component("etcd",
		"--data-dir="+c.path("etcd"), "--name=test",
		"--listen-client-urls="+c.etcdURL, "--advertise-client-urls="+c.etcdURL,
		"--listen-peer-urls="+c.peerURL, "--initial-advertise-peer-urls="+c.peerURL, "--initial-cluster=test="+c.peerURL,
		"--unsafe-no-fsync", "--log-level=error")
	return err
}

// StopEtcd kills etcd; what it has acknowledged is in its files.
func (c *Cluster) StopEtcd() { c.etcd.kill() }

// StartAPIServer starts the API server.
func (c *Cluster) StartAPIServer() (err error) {
	c.apiServer, err = c.component("kube-apiserver",
		"--etcd-servers="+c.etcdURL,
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", c.apiPort),
		"--tls-cert-file="+c.path("serving.crt"), "--tls-private-key-file="+c.path("serving.key"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+c.path("service-account.key"),
		"--service-account-signing-key-file="+c.path("service-account.key"),
		"--token-auth-file="+c.path("tokens.csv"), "--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged=true",
		"--endpoint-reconciler-type=none",
		"--enable-admission-plugins=PodNodeSelector,PodTolerationRestriction", "--admission-control-config-file="+c.path("admission.yaml"),
		"--audit-policy-file="+c.path("audit-policy.yaml"), "--audit-log-path="+c.AuditLog(), "--audit-log-mode=blocking",
		"--max-requests-inflight=2000", "--max-mutating-requests-inflight=1000")
	return err
}

// StopAPIServer kills the API server; connections to it break.
func (c *Cluster) StopAPIServer() { c.apiServer.kill() }

// FakeKubelet is the annotation of nodes on which kwok plays the kubelet. On
// other nodes no kubelet answers.
const FakeKubelet = "kwok.x-k8s.io/node"

// StartControllerManager starts the controllers. The long grace period keeps a
// busy machine from turning nodes unreachable, and the node controller from
// remembering when a node of the same name was last heard of in an earlier
// world; scenarios that want a dead node write its status.
func (c *Cluster) StartControllerManager() (err error) {
	c.controllerManager, err = c.component("kube-controller-manager",
		"--kubeconfig="+c.Kubeconfig(Admin), "--leader-elect=false", "--secure-port=0",
		"--service-account-private-key-file="+c.path("service-account.key"),
		"--root-ca-file="+c.path("ca.crt"),
		"--use-service-account-credentials=false",
		"--node-monitor-period=1s", "--node-monitor-grace-period=24h", "--node-startup-grace-period=24h",
		"--concurrent-namespace-syncs=20", "--concurrent-resource-quota-syncs=10",
		"--kube-api-qps=1000", "--kube-api-burst=2000")
	return err
}

// StopControllerManager leaves the cluster without controllers.
func (c *Cluster) StopControllerManager() { c.controllerManager.kill() }

// StartScheduler starts the default scheduler.
func (c *Cluster) StartScheduler() (err error) {
	c.scheduler, err = c.component("kube-scheduler",
		"--kubeconfig="+c.Kubeconfig(Admin), "--leader-elect=false",
		"--authentication-kubeconfig="+c.Kubeconfig(Admin), "--authorization-kubeconfig="+c.Kubeconfig(Admin),
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", c.schedule), "--cert-dir="+c.path("scheduler"),
		"--authorization-always-allow-paths=/metrics,/healthz",
		"--kube-api-qps=1000", "--kube-api-burst=2000")
	return err
}

// StopScheduler leaves the cluster without a scheduler.
func (c *Cluster) StopScheduler() { c.scheduler.kill() }

// Close takes the cluster down and removes its data.
func (c *Cluster) Close() {
	// Clients first, so that they do not fill their logs with refused connections.
	for _, p := range []*process{c.kwok, c.scheduler, c.controllerManager, c.apiServer, c.etcd} {
		p.kill()
	}
	if os.Getenv("KEEP_CLUSTER_DATA") == "" {
		_ = os.RemoveAll(c.dir)
	}
}

// Running says which component has died, or nil.
func (c *Cluster) Running() error {
	for _, p := range []*process{c.etcd, c.apiServer, c.kwok} {
		if p != nil && !p.running() {
			return fmt.Errorf("%s ended by itself:\n%s", p.name, lastLines(p.log, 15))
		}
	}
	return nil
}

func (c *Cluster) path(name string) string { return filepath.Join(c.dir, name) }

// AuditLog has one line for each request of the users without power.
func (c *Cluster) AuditLog() string { return c.path("audit.log") }

// Kubeconfig is the file of a user of this cluster.
func (c *Cluster) Kubeconfig(user string) string { return c.path("kubeconfig-" + user) }

// KubectlFolder has the kubectl of the control plane's version in it.
func (o Options) KubectlFolder() string { return filepath.Join(o.ControlPlane, "bin") }

func (c *Cluster) component(name string, args ...string) (*process, error) {
	return startProcess(name, c.path(name+".log"), filepath.Join(c.options.ControlPlane, "controlplane"), append([]string{name}, args...)...)
}

func (c *Cluster) writeFiles() error {
	if err := writeCertificates(c.path("ca.crt"), c.path("serving.crt"), c.path("serving.key")); err != nil {
		return err
	}
	if err := writeServiceAccountKey(c.path("service-account.key")); err != nil {
		return err
	}
	ca, err := os.ReadFile(c.path("ca.crt"))
	if err != nil {
		return err
	}
	users := append([]string{Admin, Doctor}, Others()...)
	var tokens strings.Builder
	for _, user := range users {
		group := "readers"
		if user == Admin {
			group = "system:masters"
		}
		fmt.Fprintf(&tokens, "token-%s,%s,%s,%q\n", user, user, user, group)
		config := fmt.Sprintf(kubeconfig, base64.StdEncoding.EncodeToString(ca), c.apiPort, user, user, user, user)
		if err := os.WriteFile(c.Kubeconfig(user), []byte(config), 0o600); err != nil {
			return err
		}
	}
	if err := os.WriteFile(c.path("tokens.csv"), []byte(tokens.String()), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(c.path("admission.yaml"), []byte(admission), 0o600); err != nil {
		return err
	}
	return os.WriteFile(c.path("audit-policy.yaml"), []byte(auditPolicy), 0o600)
}

const kubeconfig = `apiVersion: v1
kind: Config
clusters:
- name: test
  cluster: {certificate-authority-data: %s, server: "https://127.0.0.1:%d"}
users:
- name: %s
  user: {token: token-%s}
contexts:
- name: test
  context: {cluster: test, user: %s}
- name: spare
  context: {cluster: test, user: %s}
current-context: test
`

// Some providers let pods use the system's priority classes only where a quota
// covers them; here it is the class "reserved".
const admission = `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ResourceQuota
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: ResourceQuotaConfiguration
    limitedResources:
    - resource: pods
      matchScopes: [{scopeName: PriorityClass, operator: In, values: [reserved]}]
`

const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, userGroups: [readers]}
- {level: None}
`

func (c *Cluster) connect() error {
	ca, err := os.ReadFile(c.path("ca.crt"))
	if err != nil {
		return err
	}
	config := &rest.Config{
		Host: fmt.Sprintf("https://127.0.0.1:%d", c.apiPort), BearerToken: "token-" + Admin,
		TLSClientConfig: rest.TLSClientConfig{CAData: ca}, QPS: 2000, Burst: 4000,
		Proxy:          nil,
		WarningHandler: rest.NoWarnings{},
	}
	if c.Admin, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	c.Dynamic, err = dynamic.NewForConfig(config)
	return err
}

// WaitReady waits until the API server answers.
func (c *Cluster) WaitReady(ctx context.Context) error {
	return c.wait(ctx, patience, "the API server to be ready", func() bool {
		body, err := c.Admin.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err == nil && string(body) == "ok"
	}, func() error {
		for _, p := range []*process{c.etcd, c.apiServer} {
			if !p.running() {
				return fmt.Errorf("%s ended at once:\n%s", p.name, lastLines(p.log, 15))
			}
		}
		return nil
	})
}

// wait polls until done says so, the time is up, or broken tells why it can't be.
func (c *Cluster) wait(ctx context.Context, limit time.Duration, what string, done func() bool, broken func() error) error {
	deadline := time.Now().Add(limit)
	for !done() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := broken(); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("waited %v in vain for %s", limit, what)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil
}

// SchedulerQueue is how many pods wait in each of the scheduler's queues
// (active, backoff, unschedulable, gated), by its own metrics.
func (c *Cluster) SchedulerQueue(ctx context.Context) (map[string]int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d/metrics", c.schedule), nil)
	if err != nil {
		return nil, err
	}
	answer, err := metricsClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return parseQueue(answer.Body)
}

// The scheduler makes its own certificate; what is asked of it is no secret.
var metricsClient = &http.Client{
	Timeout:   5 * time.Second,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}},
}

// removeStale clears what an earlier run left that could not clean up after
// itself (it was killed outright); its processes are gone with it.
func removeStale(runs string) {
	entries, err := os.ReadDir(runs)
	if err != nil {
		return
	}
	for _, entry := range entries {
		pid, _, ok := strings.Cut(entry.Name(), "-")
		if !ok || slices.ContainsFunc([]byte(pid), func(b byte) bool { return b < '0' || b > '9' }) {
			continue
		}
		if _, err := os.Stat("/proc/" + pid); os.IsNotExist(err) {
			if _, err := os.Stat("/proc/self"); err == nil {
				_ = os.RemoveAll(filepath.Join(runs, entry.Name()))
			}
		}
	}
}
