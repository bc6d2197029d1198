package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
		s.daemonSet("healthy", "")
		s.daemonSet("pending", "containers: [{name: main, image: 'example.com/agent:1', resources: {requests: {cpu: 200m}}}]")
		s.settle()
		full := map[string]*verdict{"healthy": s.diagnose("healthy", bed.Leave{}).exit(0), "pending": s.diagnose("pending", bed.Leave{}).exit(1)}

		users := bed.Others()
		for _, one := range permissions(s) {
			user := users[0]
			users = users[1:]
			s.bind(user, one.left)
			for name, known := range full {
				s.less(known, user, name, one.taken)
			}
		}
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
		if !names(report.Missing, "nodes") {
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

// less runs the plugin for a user who lacks one resource, and holds the answer
// against that of the user who lacks none: what it says must be true, and what
// it can't say it must name.
func (s *stage) less(full *verdict, user, ds, taken string) {
	s.Helper()
	result := plugin.Kubectl(s.ctx, s.cluster.Kubeconfig(user), "ds-doctor", "-o", "json", "-n", s.namespace, ds)
	what := fmt.Sprintf("%s without %s", ds, taken)
	if taken == "daemonsets" {
		if result.Exit != 2 || !strings.Contains(result.Stderr, "daemonsets") {
			s.Errorf("%s: exit code %d, %q", what, result.Exit, result.Stderr)
		}
		return
	}
	report := &bed.Report{}
	if err := json.Unmarshal([]byte(result.Stdout), report); err != nil {
		s.Errorf("%s: %v: %s%s", what, err, result.Stdout, result.Stderr)
		return
	}
	unknown := false
	for _, known := range full.Report.Nodes {
		node := report.Node(known.Name)
		if node == nil || node.State == "Unknown" {
			unknown = true
			continue
		}
		if node.State != known.State && taken != "controllerrevisions" {
			s.Errorf("%s: node %s is said to be %s, and is %s", what, known.Name, node.State, known.State)
		}
		for _, cause := range node.Causes {
			if cause.Severity == "error" && !slices.ContainsFunc(known.Causes, func(k bed.Cause) bool { return k.String() == cause.String() }) {
				s.Errorf("%s: node %s is said to have %s, and has %v", what, known.Name, cause, known.Causes)
			}
		}
	}
	if unknown && !names(report.Missing, taken) {
		s.Errorf("%s: nodes are unknown, and the missing permission is not named: %+v", what, report.Missing)
	}
	for _, missing := range report.Missing {
		if missing.Verb == "" || missing.Effect == "" {
			s.Errorf("%s: says too little: %+v", what, missing)
		}
		if plural, _, _ := strings.Cut(missing.Resource, "."); plural != taken {
			s.Errorf("%s: names %s, which can be read", what, missing.Resource)
		}
	}
	if slices.Contains([]string{"nodes", "pods", "controllerrevisions"}, taken) && !names(report.Missing, taken) {
		s.Errorf("%s: the missing permission is not named: %+v", what, report.Missing)
	}
	switch {
	case unknown && result.Exit != 3 && result.Exit != 1, !unknown && len(report.Missing) == 0 && result.Exit != full.result.Exit:
		s.Errorf("%s: exit code %d, with everything %d; missing %+v", what, result.Exit, full.result.Exit, report.Missing)
	case unknown && full.result.Exit == 0 && result.Exit != 3:
		s.Errorf("%s: exit code %d though there is doubt", what, result.Exit)
	}
}

// names tells whether a resource is among those that could not be read.
func names(missing []bed.Missing, resource string) bool {
	return slices.ContainsFunc(missing, func(m bed.Missing) bool {
		plural, _, _ := strings.Cut(m.Resource, ".")
		return plural == resource
	})
}

type permission struct {
	taken string
	left  []rbacv1.PolicyRule
}

// permissions is the documented role without one resource, for each of them.
func permissions(s *stage) []permission {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(bed.Root(), "deploy", "clusterrole.yaml"))
	s.must(err)
	var role rbacv1.ClusterRole
	s.must(yaml.UnmarshalStrict(text, &role))
	var all []permission
	for i, rule := range role.Rules {
		for _, verb := range rule.Verbs {
			if verb != "get" && verb != "list" {
				s.Errorf("the documented role may %s %v", verb, rule.Resources)
			}
		}
		for _, resource := range rule.Resources {
			left := slices.Clone(role.Rules)
			left[i].Resources = slices.DeleteFunc(slices.Clone(rule.Resources), func(r string) bool { return r == resource })
			if len(left[i].Resources) == 0 {
				left = slices.Delete(left, i, i+1)
			}
			all = append(all, permission{resource, left})
		}
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

// onlyReads fails if the API server has seen anything but reads from the
// plugin's users, or a read that the documented role does not need to allow.
func onlyReads(t *testing.T, cluster *bed.Cluster) (requests int) {
	t.Helper()
	log, err := os.Open(cluster.AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var event struct {
			Verb       string `json:"verb"`
			RequestURI string `json:"requestURI"`
			UserAgent  string `json:"userAgent"`
			ObjectRef  struct {
				Resource string `json:"resource"`
			} `json:"objectRef"`
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		requests++
		if event.Verb != "get" && event.Verb != "list" && event.Verb != "watch" {
			t.Errorf("%s %s by %s", event.Verb, event.RequestURI, event.UserAgent)
		}
		if event.ObjectRef.Resource == "secrets" {
			t.Errorf("secrets were read: %s by %s", event.RequestURI, event.UserAgent)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return requests
}
