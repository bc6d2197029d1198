package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"ds-doctor/tests/cluster/bed"
)

// Users who may read less than the documented role. Every other scenario runs
// as a user who has exactly that role.
func TestPermissions(t *testing.T) {
	t.Parallel()

	scenario(t, "permissions", func(s *stage) {
		s.node("a")
		s.node("b", bed.Taint("gpu", "present", "NoSchedule"))
		s.node("c", bed.Allocatable("cpu", "100m"))
		s.apply(`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: elsewhere}
webhooks:
- name: elsewhere.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  namespaceSelector: {matchLabels: {no: namespace}}
  clientConfig: {service: {namespace: ` + s.namespace + `, name: nobody}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}}`)
		sets := []string{"healthy", "pending", "volumes", "devices", "affine", "refused"}
		s.daemonSet("healthy", "")
		s.daemonSet("pending", "containers: [{name: main, image: 'example.com/agent:1', resources: {requests: {cpu: 200m}}}]")
		s.daemonSet("volumes", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]")
		s.daemonSet("devices", "resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]")
		s.daemonSet("affine", "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "+
			"[{topologyKey: kubernetes.io/hostname, namespaceSelector: {matchLabels: {no: namespace}}, labelSelector: {matchLabels: {app: nobody}}}]}}")
		s.daemonSet("refused", "serviceAccountName: nobody")
		s.until("the refusal to be reported", func() bool { return s.hasEvent("FailedCreate") })
		s.settle()
		full, asked := map[string]*verdict{}, map[string]map[access]bool{}
		for _, name := range sets {
			before := len(s.audited(bed.Doctor))
			full[name] = s.diagnose(name, bed.Leave{Creation: name == "refused"})
			asked[name] = map[access]bool{}
			for _, request := range s.audited(bed.Doctor)[before:] {
				asked[name][request] = true
			}
		}
		full["healthy"].exit(0)

		users := bed.Others()
		var wanted atomic.Int32
		var runs sync.WaitGroup
		atOnce := make(chan struct{}, 4)
		all := permissions(s)
		for i, one := range all {
			s.bind(users[i], one.left)
			for _, name := range sets {
				runs.Add(1)
				atOnce <- struct{}{}
				go func() {
					defer runs.Done()
					defer func() { <-atOnce }()
					if s.less(full[name], users[i], name, one, asked[name]) {
						wanted.Add(1)
					}
				}()
			}
		}
		runs.Wait()
		s.Logf("%d permissions taken away one by one, each with %d DaemonSets; %d times that was to be seen", len(all), len(sets), wanted.Load())
	})

	scenario(t, "namespace-role", func(s *stage) {
		s.node("a")
		s.node("b", bed.Taint("gpu", "present", "NoSchedule"))
		s.daemonSet("agent", "")
		s.settle()
		user := bed.Others()[0]
		role, err := os.ReadFile(filepath.Join(bed.Root(), "deploy", "role.yaml"))
		s.must(err)
		s.apply(string(role))
		s.apply(fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ds-doctor}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %[1]s}]`, user))
		report, result, err := plugin.Doctor(s.ctx, s.cluster.Kubeconfig(user), "-n", s.namespace, "agent")
		s.must(err)
		if result.Exit != 3 {
			s.Errorf("%s, not 3", result)
		}
		if !slices.ContainsFunc(report.Missing, func(m bed.Missing) bool { return m.Verb == "list" && m.Resource == "nodes" && m.Namespace == "" }) {
			s.Errorf("nodes are not named as unreadable: %+v", report.Missing)
		}
		if node := report.Node("a"); node == nil || len(node.Pods) != 1 || !node.Pods[0].Ready {
			s.Errorf("the pod on node a is not told of: %+v", node)
		}
		// Whoever may not read another namespace gets one clear line.
		denied := plugin.Kubectl(s.ctx, s.cluster.Kubeconfig(user), "ds-doctor", "-n", "kube-system", "other")
		if denied.Exit != 2 || !strings.Contains(denied.Stderr, "daemonsets") || strings.Count(strings.TrimSpace(denied.Stderr), "\n") > 1 {
			s.Errorf("%s: %q", denied, denied.Stderr)
		}
	})
}

// welcome are the reads that only add to an answer: without them it holds, says
// less, and nothing is amiss.
var welcome = []string{"list daemonsets.apps", "list poddisruptionbudgets.policy", "get leases.coordination.k8s.io",
	"list validatingwebhookconfigurations.admissionregistration.k8s.io", "list mutatingwebhookconfigurations.admissionregistration.k8s.io",
	"list services", "list endpointslices.discovery.k8s.io"}

// less runs the plugin for a user who lacks one permission, and holds the answer
// against that of the user who lacks none: what it says must be true, and what
// it can't say it must name: verb, resource and scope. It returns whether the
// permission was one that the answer needs.
func (s *stage) less(full *verdict, user, ds string, one permission, asked map[access]bool) (needed bool) {
	s.Helper()
	result := plugin.Kubectl(s.ctx, s.cluster.Kubeconfig(user), "ds-doctor", "-o", "json", "-n", s.namespace, ds)
	what := fmt.Sprintf("%s without %s %s", ds, one.verb, one.resource)
	if one.verb+" "+one.resource == "get daemonsets.apps" {
		if result.Exit != 2 || !strings.Contains(result.Stderr, "daemonsets") {
			s.Errorf("%s: exit code %d, %q", what, result.Exit, result.Stderr)
		}
		return true
	}
	report := &bed.Report{}
	if err := json.Unmarshal([]byte(result.Stdout), report); err != nil {
		s.Errorf("%s: %v: %s%s", what, err, result.Stdout, result.Stderr)
		return false
	}
	unknown := false
	for _, known := range full.Report.Nodes {
		node := report.Node(known.Name)
		if node == nil || node.State == "Unknown" {
			unknown = true
			continue
		}
		if node.State != known.State && one.resource != "controllerrevisions.apps" {
			s.Errorf("%s: node %s is said to be %s, and is %s", what, known.Name, node.State, known.State)
		}
		for _, cause := range node.Causes {
			// Where a check cannot be judged, the scheduler's own words are all there is.
			if cause.Code == "SchedulerRefuses" && len(report.Missing) > 0 {
				continue
			}
			if cause.Severity == "error" && !slices.ContainsFunc(known.Causes, func(k bed.Cause) bool { return k.String() == cause.String() }) {
				s.Errorf("%s: node %s is said to have %s, and has %v", what, known.Name, cause, known.Causes)
			}
		}
	}
	// Where the whole cluster may not be listed, the namespace is asked; both count as one.
	scopes := map[string]bool{}
	for request := range asked {
		if request.verb == one.verb && request.resource == one.resource {
			scopes[request.namespace] = true
		}
	}
	needed = len(scopes) > 0 && !slices.Contains(welcome, one.verb+" "+one.resource)
	named := false
	for _, missing := range report.Missing {
		if missing.Verb != one.verb || missing.Resource != one.resource || missing.Effect == "" {
			s.Errorf("%s: names %+v", what, missing)
			continue
		}
		named = true
		if !scopes[missing.Namespace] {
			s.Errorf("%s: is said to be missing in namespace %q, and was asked for in %v", what, missing.Namespace, scopes)
		}
	}
	if needed != named {
		s.Errorf("%s: asked for: %t, named as missing: %t", what, needed, named)
	}
	wrong := slices.ContainsFunc(report.Nodes, func(n bed.NodeReport) bool {
		return slices.ContainsFunc(n.Causes, func(c bed.Cause) bool { return c.Severity == "error" })
	})
	want := full.result.Exit
	// Of a node that is well, events say nothing that could be in doubt.
	if needed && !wrong && one.resource != "events" {
		want = 3
	}
	if result.Exit != want {
		s.Errorf("%s: exit code %d, not %d; unknown nodes: %t, missing %+v", what, result.Exit, want, unknown, report.Missing)
	}
	return needed
}

// access is one request as RBAC sees it.
type access struct{ verb, resource, namespace string }

// audited is what the API server has been asked by a user, in order.
func (s *stage) audited(user string) (requests []access) {
	s.Helper()
	log, err := os.ReadFile(s.cluster.AuditLog())
	s.must(err)
	for line := range strings.Lines(string(log)) {
		var event struct {
			Verb string `json:"verb"`
			User struct {
				Username string `json:"username"`
			} `json:"user"`
			ObjectRef struct {
				Resource  string `json:"resource"`
				APIGroup  string `json:"apiGroup"`
				Namespace string `json:"namespace"`
			} `json:"objectRef"`
		}
		s.must(json.Unmarshal([]byte(line), &event))
		if event.User.Username != user || event.ObjectRef.Resource == "" {
			continue
		}
		ref := event.ObjectRef
		resource := ref.Resource
		if ref.APIGroup != "" {
			resource += "." + ref.APIGroup
		}
		if resource == "namespaces" {
			ref.Namespace = "" // the request is about it, not in it
		}
		requests = append(requests, access{event.Verb, resource, ref.Namespace})
	}
	return requests
}

type permission struct {
	verb, resource string
	left           []rbacv1.PolicyRule
}

// permissions is the documented role without one verb of one resource, for each of them.
func permissions(s *stage) []permission {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(bed.Root(), "deploy", "clusterrole.yaml"))
	s.must(err)
	var role rbacv1.ClusterRole
	s.must(yaml.UnmarshalStrict(text, &role))
	// Each rule taken apart, so that one can be left out.
	var single []rbacv1.PolicyRule
	for _, rule := range role.Rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					if verb != "get" && verb != "list" {
						s.Errorf("the documented role may %s %v", verb, rule.Resources)
					}
					single = append(single, rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}})
				}
			}
		}
	}
	var all []permission
	for i, rule := range single {
		resource := rule.Resources[0]
		if rule.APIGroups[0] != "" {
			resource += "." + rule.APIGroups[0]
		}
		all = append(all, permission{rule.Verbs[0], resource, slices.Delete(slices.Clone(single), i, i+1)})
	}
	return all
}

// bind gives a user these rules and no others.
func (s *stage) bind(user string, rules []rbacv1.PolicyRule) {
	s.Helper()
	text, err := json.Marshal(rules)
	s.must(err)
	s.apply(fmt.Sprintf(`
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: %[1]s}, rules: %[2]s}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %[1]s}]`, user, text))
}

// auditEvent is what the API server's audit log says of a request.
type auditEvent struct {
	Verb       string `json:"verb"`
	RequestURI string `json:"requestURI"`
	UserAgent  string `json:"userAgent"`
	ObjectRef  struct {
		Resource string `json:"resource"`
		APIGroup string `json:"apiGroup"`
	} `json:"objectRef"`
}

func (e auditEvent) reads() bool { return e.Verb == "get" || e.Verb == "list" || e.Verb == "watch" }

// dryRun holds for a request that the API server forgets when it has checked it.
func (e auditEvent) dryRun() bool {
	uri, err := url.Parse(e.RequestURI)
	return err == nil && slices.Equal(uri.Query()["dryRun"], []string{"All"})
}

// auditEvents are the requests that the plugin's users have sent in this scenario.
func (s *stage) auditEvents() (events []auditEvent) {
	s.Helper()
	log, err := os.Open(s.cluster.AuditLog())
	s.must(err)
	defer log.Close()
	_, err = log.Seek(s.auditFrom, io.SeekStart)
	s.must(err)
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var event auditEvent
		s.must(json.Unmarshal(lines.Bytes(), &event))
		events = append(events, event)
	}
	s.must(lines.Err())
	return events
}

// sent expects that since it was asked last just these requests were sent that
// are no reads, all of them dry runs.
func (s *stage) sent(want ...string) {
	s.Helper()
	s.until(fmt.Sprintf("the API server to note %q", want), func() bool {
		var have []string
		for _, event := range s.auditEvents() {
			if !event.reads() && event.dryRun() {
				name := event.Verb + " " + event.ObjectRef.Resource
				if event.ObjectRef.APIGroup != "" {
					name += "." + event.ObjectRef.APIGroup
				}
				have = append(have, name)
			}
		}
		if len(have) < s.dryRuns+len(want) {
			return false
		}
		if have = have[s.dryRuns:]; !slices.Equal(have, want) {
			s.Errorf("requests that are no reads: %q, not %q", have, want)
		}
		s.dryRuns += len(have)
		return true
	})
}

// onlyReads fails if the API server has seen anything but reads from the
// plugin's users in this scenario, and the dry runs that it has expected.
func (s *stage) onlyReads() {
	s.Helper()
	events, dryRuns := s.auditEvents(), 0
	for _, event := range events {
		switch {
		case event.ObjectRef.Resource == "secrets":
			s.Errorf("secrets were read: %s by %s", event.RequestURI, event.UserAgent)
		case event.reads():
		case event.dryRun() && dryRuns < s.dryRuns:
			dryRuns++
		default:
			s.Errorf("%s %s by %s", event.Verb, event.RequestURI, event.UserAgent)
		}
	}
	if len(events) == 0 && !s.Skipped() {
		s.Errorf("the audit log has no request of the plugin")
	}
}
