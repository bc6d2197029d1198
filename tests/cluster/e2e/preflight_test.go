package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ds-doctor/tests/cluster/bed"
)

// What -f and --what-if foretell is then done, and has to come true.
func TestForetold(t *testing.T) {
	t.Parallel()

	scenario(t, "manifest", func(s *stage) {
		s.node("free")
		s.node("full")
		s.node("port", bed.Label("pool", "edge"))
		s.node("tainted", bed.Taint("dedicated", "db", "NoSchedule"))
		s.node("cordoned", bed.Cordoned)
		s.bystander("hog", "full", "containers: [{name: main, image: example.com/hog:1, resources: {requests: {cpu: 3900m}}}]")
		s.bystander("proxy", "port", "containers: [{name: main, image: example.com/proxy:1, ports: [{containerPort: 1, hostPort: 9100}]}]")
		s.settle()
		file := s.file("agent.yaml", daemonSetText("agent", "hostNetwork: true\n"+
			"containers: [{name: main, image: example.com/agent:1, ports: [{containerPort: 9100}], resources: {requests: {cpu: 300m}}}]"))
		foretold := s.foretell(bed.Doctor, "-f", file).exit(1).
			node("free", "Healthy").node("cordoned", "Healthy").
			node("full", "Pending", "NodeResourcesFit cpu").node("port", "Pending", "NodePorts TCP/9100 NS/proxy").
			node("tainted", "Excluded", "TaintToleration dedicated=db:NoSchedule")
		if pods := s.podCount("agent"); pods > 0 {
			s.Errorf("%d pods are there before anything was applied", pods)
		}
		s.kubectl("apply", "-f", file)
		s.settle()
		s.cameTrue(foretold, s.diagnose("agent", bed.Leave{}))
	})

	scenario(t, "manifest-refused", func(s *stage) {
		s.node("a")
		s.apply("{apiVersion: v1, kind: ResourceQuota, metadata: {name: few}, spec: {hard: {requests.memory: 1Gi}}}")
		s.apply("{apiVersion: v1, kind: LimitRange, metadata: {name: bounds}, spec: {limits: [{type: Container, max: {cpu: 1}}]}}")
		s.patch("Namespace", s.namespace, `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"baseline"}}}`)
		s.until("the quota to be counted", func() bool {
			quota, err := s.cluster.Resource("ResourceQuota", s.namespace).Get(s.ctx, "few", getNow)
			s.must(err)
			status, _ := quota.Object["status"].(map[string]any)
			return status["hard"] != nil
		})
		fits := "containers: [{name: main, image: example.com/agent:1, resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {cpu: 200m}}}]"
		for name, pod := range map[string]string{
			"pod-security":    "hostNetwork: true\n" + fits,
			"service-account": "serviceAccountName: nobody\n" + fits,
			"priority-class":  "priorityClassName: nobody\n" + fits,
			"runtime-class":   "runtimeClassName: nobody\n" + fits,
			"quota":           "containers: [{name: main, image: example.com/agent:1, resources: {requests: {memory: 2Gi, cpu: 1m}, limits: {cpu: 1}}}]",
			"limit-range":     "containers: [{name: main, image: example.com/agent:1, resources: {requests: {memory: 1Mi}, limits: {cpu: 2}}}]",
			"fits":            fits,
		} {
			file := s.file(name+".yaml", daemonSetText(name, pod))
			foretold := s.foretell(bed.Doctor, "-f", file)
			s.kubectl("apply", "-f", file)
			if name != "fits" {
				foretold.exit(1)
				s.until("the refusal of "+name, func() bool {
					ds, err := s.cluster.Admin.AppsV1().DaemonSets(s.namespace).Get(s.ctx, name, getNow)
					s.must(err)
					refused, err := s.cluster.CreationRefused(s.ctx, ds)
					s.must(err)
					return refused
				})
			}
			s.settle()
			live := s.diagnose(name, bed.Leave{Creation: name != "fits"})
			s.cameTrue(foretold, live)
			if state := live.Report.Node("a").State; (state == "Healthy") != (name == "fits") {
				s.Errorf("%s: node a is %s", name, state)
			}
			s.must(s.cluster.Resource("DaemonSet", s.namespace).Delete(s.ctx, name, deleteNow))
			s.until("the pods of "+name+" to go", func() bool { return s.podCount(name) == 0 })
		}
	})

	scenario(t, "manifest-invalid", func(s *stage) {
		s.node("a")
		s.settle()
		labels := strings.Replace(daemonSetText("agent", ""), "labels: {app: agent}", "labels: {app: other}", 1)
		typo := daemonSetText("agent", "hostNetwrok: true")
		elsewhere := strings.Replace(daemonSetText("agent", ""), "{name: agent}", "{name: agent, namespace: nowhere}", 1)
		for _, wrong := range []struct{ text, code string }{
			{labels, "InvalidDaemonSet"}, {typo, "InvalidDaemonSet"}, {elsewhere, "NamespaceMissing"},
		} {
			file := s.file("agent.yaml", wrong.text)
			args := []string{"-n", s.namespace}
			if wrong.code == "NamespaceMissing" {
				args = nil
			}
			report, result, err := plugin.Doctor(s.ctx, s.cluster.Kubeconfig(bed.Doctor), append(args, "-f", file)...)
			s.must(err)
			if result.Exit != 1 || len(report.Causes) != 1 || report.Causes[0].Code != wrong.code || report.Node("a").State != "Missing" {
				s.Errorf("%s, causes %v, node %+v, not %s\n%s", result, report.Causes, report.Node("a"), wrong.code, wrong.text)
			}
			covered(wrong.code)
			applied := plugin.Kubectl(s.ctx, s.cluster.Kubeconfig(bed.Admin), append(args, "apply", "-f", file)...)
			if applied.Exit == 0 {
				s.Errorf("kubectl applies what was called %s: %s\n%s", wrong.code, applied.Stdout, wrong.text)
			}
		}
	})

	// An update: with maxSurge the new pod must fit beside the old one.
	scenario(t, "manifest-update", func(s *stage) {
		s.node("roomy")
		s.node("tight", bed.Allocatable("cpu", "500m"))
		s.node("tainted", bed.Taint("dedicated", "db", "NoSchedule"))
		surge := "updateStrategy: {type: RollingUpdate, rollingUpdate: {maxSurge: '100%', maxUnavailable: 0}}"
		cpu := "containers: [{name: main, image: example.com/agent:1, resources: {requests: {cpu: 300m}}}]"
		s.daemonSet("agent", cpu, surge)
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0)
		file := s.file("agent.yaml", daemonSetText("agent", "tolerations: [{operator: Exists, key: dedicated}]\n"+strings.Replace(cpu, ":1,", ":2,", 1), surge))
		foretold := s.foretell(bed.Doctor, "-f", file).exit(1).
			node("roomy", "Healthy").node("tainted", "Healthy").node("tight", "Pending", "NodeResourcesFit cpu")
		s.kubectl("apply", "-f", file)
		s.settle()
		live := s.diagnose("agent", bed.Leave{Scheduler: true})
		for _, node := range live.Report.Nodes {
			// Beside the old pod of the tight node, which stays.
			fresh := slices.IndexFunc(node.Pods, func(p bed.PodReport) bool { return p.UpToDate })
			if fresh < 0 || node.Pods[fresh].Bound != (foretold.Report.Node(node.Name).State == "Healthy") {
				s.Errorf("node %s was foretold to be %s, and has %+v", node.Name, foretold.Report.Node(node.Name).State, node.Pods)
			}
		}
	})

	patches := []struct{ name, how, patch string }{
		{"tolerate", "strategic", `{"spec":{"template":{"spec":{"tolerations":[{"key":"dedicated","operator":"Exists"}]}}}}`},
		{"less-cpu", "strategic", "spec: {template: {spec: {containers: [{name: main, resources: {requests: {cpu: 50m}}}]}}}"},
		{"too-much-cpu", "strategic", `{"spec":{"template":{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"64"}}}]}}}}`},
		{"another-port", "json", `[{"op":"replace","path":"/spec/template/spec/containers/0/ports/0/hostPort","value":9200}]`},
		{"no-more-edge", "json", `[{"op":"add","path":"/spec/template/spec/nodeSelector","value":{"pool":"core"}}]`},
		{"second-container-removed", "strategic", `{"spec":{"template":{"spec":{"containers":[{"name":"side","$patch":"delete"}]}}}}`},
		{"unknown-account", "merge", `{"spec":{"template":{"spec":{"serviceAccountName":"nobody"}}}}`},
		{"strategy-alone", "merge", `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}`},
	}
	for _, change := range patches {
		scenario(t, "what-if-"+change.name, func(s *stage) {
			s.node("core", bed.Label("pool", "core"))
			s.node("edge", bed.Label("pool", "edge"))
			s.node("full", bed.Label("pool", "core"), bed.Allocatable("cpu", "300m"))
			s.node("tainted", bed.Label("pool", "core"), bed.Taint("dedicated", "db", "NoSchedule"))
			s.bystander("proxy", "edge", "containers: [{name: main, image: example.com/proxy:1, ports: [{containerPort: 1, hostPort: 9100}]}]")
			s.settle()
			s.daemonSet("agent", "containers: [{name: main, image: example.com/agent:1, ports: [{containerPort: 9100, hostPort: 9100}], resources: {requests: {cpu: 200m}}},"+
				" {name: side, image: example.com/side:1, resources: {requests: {cpu: 200m}}}]", "updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: '100%'}}")
			s.settle()
			s.diagnose("agent", bed.Leave{}).exit(1).node("core", "Healthy").node("edge", "Pending", "NodePorts TCP/9100 NS/proxy").
				node("full", "Pending", "NodeResourcesFit cpu").node("tainted", "Excluded", "TaintToleration dedicated=db:NoSchedule")
			args := []string{"agent", "--what-if", s.file("patch.yaml", change.patch)}
			if change.how == "merge" {
				args = append(args, "--patch-type", "merge")
			}
			foretold := s.foretell(bed.Doctor, args...)
			// The patch itself in the place of its file's name.
			args[2] = change.patch
			if inline := s.foretell(bed.Doctor, args...); brief(inline.Report.Node("core")) != brief(foretold.Report.Node("core")) {
				s.Errorf("from a file and from the command line: %s, %s", brief(foretold.Report.Node("core")), brief(inline.Report.Node("core")))
			}
			s.kubectl("patch", "ds", "agent", "--type="+change.how, "-p", change.patch)
			if change.name == "unknown-account" {
				s.until("the refusal to be reported", func() bool { return s.hasEvent("FailedCreate") })
			}
			s.settle()
			s.cameTrue(foretold, s.diagnose("agent", bed.Leave{Creation: change.name == "unknown-account"}))
		})
	}

	scenario(t, "what-if-wrong", func(s *stage) {
		s.node("a")
		s.daemonSet("agent", "")
		s.settle()
		for _, wrong := range []struct{ patch, how string }{
			{`[{"op":"remove","path":"/spec/template/spec/nodeSelector"}]`, "json"},
			{`[{"op":"test","path":"/spec/minReadySeconds","value":7}]`, "json"},
			{`{"spec":{"template":`, "strategic"},
			{`{"spec":{"template":{"spec":{"containers":[{"image":"example.com/unnamed:1"}]}}}}`, "strategic"},
		} {
			ours := plugin.Kubectl(s.ctx, s.cluster.Kubeconfig(bed.Doctor), "ds-doctor", "-n", s.namespace, "agent", "--what-if", wrong.patch, "--patch-type", wrong.how)
			theirs := plugin.Kubectl(s.ctx, s.cluster.Kubeconfig(bed.Admin), "-n", s.namespace, "patch", "ds", "agent", "--dry-run=server", "--type="+wrong.how, "-p", wrong.patch)
			if ours.Exit != 2 || ours.Stdout != "" || strings.Count(strings.TrimSpace(ours.Stderr), "\n") > 0 || theirs.Exit == 0 {
				s.Errorf("%s: exit code %d, %q%q; kubectl: %d, %s", wrong.patch, ours.Exit, ours.Stdout, ours.Stderr, theirs.Exit, theirs.Stderr)
			}
		}
		// The selector cannot be changed: the patch is well formed, what it makes is refused.
		selector := `{"spec":{"selector":{"matchLabels":{"app":"other"}}}}`
		s.foretell(bed.Doctor, "agent", "--what-if", selector).exit(1).workload("InvalidDaemonSet spec.selector", "InvalidDaemonSet spec.template.metadata.labels")
		if theirs := plugin.Kubectl(s.ctx, s.cluster.Kubeconfig(bed.Admin), "-n", s.namespace, "patch", "ds", "agent", "-p", selector); theirs.Exit == 0 {
			s.Errorf("kubectl changes the selector: %s", theirs.Stdout)
		}
	})
}

// --dry-run=server, with and without the right to it. These are the only requests that are not reads.
func TestServerDryRun(t *testing.T) {
	t.Parallel()

	// may gives the plugin's user a role of this name with these rules.
	may := func(s *stage, role, rules string) {
		s.apply(`
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: ` + role + `}, rules: ` + rules + `}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: ` + role + `}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ` + role + `}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ` + bed.Doctor + `}]`)
	}
	const (
		everything = `[{apiGroups: [apps], resources: [daemonsets], verbs: [create, patch]}, {apiGroups: [""], resources: [pods], verbs: [create]}]`
		podsAlone  = `[{apiGroups: [""], resources: [pods], verbs: [create]}]`
		setsAlone  = `[{apiGroups: [apps], resources: [daemonsets], verbs: [create, patch]}]`
	)
	try := func(s *stage, name, podSpec string) (*verdict, answers) {
		s.Helper()
		v := s.foretell(bed.Doctor, "-f", s.file(name+".yaml", daemonSetText(name, podSpec)), "--dry-run=server")
		var whole struct{ Preflight struct{ Server answers } }
		s.must(json.Unmarshal([]byte(v.result.Stdout), &whole))
		return v, whole.Preflight.Server
	}

	scenario(t, "dry-run-allowed", func(s *stage) {
		s.node("a")
		s.node("tainted", bed.Taint("dedicated", "db", "NoSchedule"))
		may(s, "try", everything)
		s.apply(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: pinned}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations:
  - {expression: "!object.spec.containers.exists(c, c.image.endsWith(':latest'))", message: "pin the image"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: pinned}
spec:
  policyName: pinned
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ` + s.namespace + `}}}`)
		s.until("the policy to be in force", func() bool { return s.refuses("example.com/agent:latest", "pin the image") })

		v, server := try(s, "agent", "")
		v.exit(0).node("a", "Healthy").node("tainted", "Excluded", "TaintToleration dedicated=db:NoSchedule")
		if !server.DaemonSet.yes() || !server.Pod.yes() {
			s.Errorf("the API server's answers: %+v", server)
		}
		s.sent("create daemonsets.apps", "create pods")

		// What no check can know.
		v, server = try(s, "latest", "containers: [{name: main, image: 'example.com/agent:latest'}]")
		v.exit(1).node("a", "Missing", "CreateAdmissionPolicy")
		if !server.DaemonSet.yes() || !server.Pod.no("pin the image") {
			s.Errorf("the API server's answers: %+v", server)
		}
		s.sent("create daemonsets.apps", "create pods")

		v, server = try(s, "invalid", "containers: [{name: Not A Name, image: 'example.com/agent:1'}]")
		v.exit(1).node("a", "Missing", "CreateInvalid", "InvalidDaemonSet").
			workload("InvalidDaemonSet spec.template.spec.containers[0].name")
		if !server.DaemonSet.no("spec.template.spec.containers[0].name") {
			s.Errorf("the API server's answers: %+v", server)
		}
		s.sent("create daemonsets.apps", "create pods")

		// Nothing of all this is there.
		if sets, err := s.cluster.Admin.AppsV1().DaemonSets("").List(s.ctx, listAll); err != nil || len(sets.Items) > 0 {
			s.Errorf("a dry run has made %+v (%v)", sets, err)
		}
		if pods, err := s.cluster.Admin.CoreV1().Pods("").List(s.ctx, listAll); err != nil || len(pods.Items) > 0 {
			s.Errorf("a dry run has made %+v (%v)", pods, err)
		}

		// One that is there is applied over; the right to make one is not needed for it.
		s.daemonSet("agent", "")
		s.settle()
		s.patch("Role", "try", `{"rules":[{"apiGroups":["apps"],"resources":["daemonsets"],"verbs":["patch"]},{"apiGroups":[""],"resources":["pods"],"verbs":["create"]}]}`)
		s.until("the narrower role to be in force", func() bool {
			can := plugin.Kubectl(s.ctx, s.cluster.Kubeconfig(bed.Admin), "auth", "can-i", "create", "daemonsets", "-n", s.namespace, "--as", bed.Doctor)
			return can.Exit != 0
		})
		before, err := s.cluster.Resource("DaemonSet", s.namespace).Get(s.ctx, "agent", getNow)
		s.must(err)
		v, server = try(s, "agent", "tolerations: [{operator: Exists}]")
		v.exit(0).node("a", "Healthy").node("tainted", "Healthy")
		if !server.DaemonSet.yes() || !server.Pod.yes() {
			s.Errorf("the API server's answers: %+v", server)
		}
		s.sent("patch daemonsets.apps", "create pods")
		after, err := s.cluster.Resource("DaemonSet", s.namespace).Get(s.ctx, "agent", getNow)
		s.must(err)
		if after.GetResourceVersion() != before.GetResourceVersion() {
			s.Errorf("a dry run has changed the DaemonSet: %s", after)
		}
	})

	scenario(t, "dry-run-forbidden", func(s *stage) {
		s.node("a")
		v, server := try(s, "agent", "")
		v.exit(3).node("a", "Healthy")
		if server.DaemonSet.Allowed != nil || server.Pod.Allowed != nil {
			s.Errorf("the API server's answers: %+v", server)
		}
		s.missing(v, "create daemonsets.apps", "create pods")
		s.sent("create daemonsets.apps", "create pods")

		// Half of it is allowed.
		may(s, "try", setsAlone)
		s.until("the role to be in force", func() bool {
			can := plugin.Kubectl(s.ctx, s.cluster.Kubeconfig(bed.Admin), "auth", "can-i", "create", "daemonsets", "-n", s.namespace, "--as", bed.Doctor)
			return can.Exit == 0
		})
		v, server = try(s, "agent", "")
		v.exit(3).node("a", "Healthy")
		if !server.DaemonSet.yes() || server.Pod.Allowed != nil {
			s.Errorf("the API server's answers: %+v", server)
		}
		s.missing(v, "create pods")
		s.sent("create daemonsets.apps", "create pods")

		// Of one that is there it is the patch that is forbidden.
		s.daemonSet("other", "")
		s.settle()
		may(s, "pods", podsAlone)
		s.must(s.cluster.Resource("RoleBinding", s.namespace).Delete(s.ctx, "try", deleteNow))
		s.until("the role to be out of force", func() bool {
			can := plugin.Kubectl(s.ctx, s.cluster.Kubeconfig(bed.Admin), "auth", "can-i", "patch", "daemonsets", "-n", s.namespace, "--as", bed.Doctor)
			return can.Exit != 0
		})
		v, server = try(s, "other", "")
		v.exit(3).node("a", "Healthy")
		if server.DaemonSet.Allowed != nil || !server.Pod.yes() {
			s.Errorf("the API server's answers: %+v", server)
		}
		s.missing(v, "patch daemonsets.apps")
		s.sent("patch daemonsets.apps", "create pods")

		// Without being asked for, nothing but reads is sent.
		s.foretell(bed.Doctor, "-f", s.file("agent.yaml", daemonSetText("agent", ""))).exit(0)
		s.sent()
	})
}

// answers are what the API server said to a dry run.
type answers struct{ DaemonSet, Pod answer }

type answer struct {
	Allowed *bool
	Message string
}

func (a answer) yes() bool { return a.Allowed != nil && *a.Allowed }

func (a answer) no(words string) bool {
	return a.Allowed != nil && !*a.Allowed && strings.Contains(a.Message, words)
}

// foretell judges what is not there, as a user. The cluster that was saved on
// the way must give the same again, byte for byte, where it alone was asked.
func (s *stage) foretell(user string, args ...string) *verdict {
	s.Helper()
	s.settle()
	args = slices.Concat([]string{"-n", s.namespace}, args)
	saved := filepath.Join(s.TempDir(), "saved.json")
	report, result, err := plugin.Doctor(s.ctx, s.cluster.Kubeconfig(user), slices.Concat(args, []string{"--save-snapshot", saved})...)
	s.must(err)
	if !slices.Contains(args, "--dry-run=server") {
		again := plugin.Kubectl(s.ctx, "", slices.Concat([]string{"ds-doctor", "-o", "json"}, args, []string{"--snapshot", saved})...)
		if again.Stdout != result.Stdout || again.Exit != result.Exit {
			s.Errorf("the saved cluster gives another report (exit code %d, not %d)\n%s", again.Exit, result.Exit, firstDifference(result.Stdout, again.Stdout+again.Stderr))
		}
	}
	if report.Rollout.Phase != "not-applied" && !strings.Contains(result.Stdout, `"preflight"`) {
		s.Errorf("%s does not say that it is not applied: %+v", result, report.Rollout)
	}
	return &verdict{stage: s, Report: report, result: result}
}

// cameTrue holds what was foretold against the live report, which is held
// against the cluster where it is made.
func (s *stage) cameTrue(foretold, live *verdict) {
	s.Helper()
	if len(foretold.Report.Nodes) != len(live.Report.Nodes) {
		s.Errorf("%d nodes were foretold, %d are there", len(foretold.Report.Nodes), len(live.Report.Nodes))
	}
	for _, node := range live.Report.Nodes {
		before := foretold.Report.Node(node.Name)
		if before == nil {
			s.Errorf("nothing was foretold of node %s", node.Name)
			continue
		}
		told := *before
		if told.State == "Missing" {
			// What would keep the pod from its place is foretold too; of one that is not made it shows nowhere.
			told.Causes = slices.DeleteFunc(slices.Clone(told.Causes), func(c bed.Cause) bool { return !strings.HasPrefix(c.Code, "Create") })
		}
		if brief(&told) != brief(&node) {
			s.Errorf("node %s was foretold to be %s, and is %s", node.Name, brief(before), brief(&node))
		}
	}
	foretoldTrue.Add(int32(len(live.Report.Nodes)))
}

// file writes a file that is gone after the scenario.
func (s *stage) file(name, text string) string {
	s.Helper()
	path := filepath.Join(s.TempDir(), name)
	s.must(os.WriteFile(path, []byte(text), 0o600))
	return path
}

// kubectl does something as the administrator, in the scenario's namespace.
func (s *stage) kubectl(args ...string) {
	s.Helper()
	result := plugin.Kubectl(s.ctx, s.cluster.Kubeconfig(bed.Admin), append([]string{"-n", s.namespace}, args...)...)
	if result.Exit != 0 {
		s.Fatalf("%s\n%s", result, result.Stderr)
	}
}

// podCount is how many pods of a DaemonSet's name there are.
func (s *stage) podCount(name string) int {
	s.Helper()
	options := listAll
	options.LabelSelector = "app=" + name
	pods, err := s.cluster.Admin.CoreV1().Pods(s.namespace).List(s.ctx, options)
	s.must(err)
	return len(pods.Items)
}

// missing expects these gaps of the report, and no others.
func (s *stage) missing(v *verdict, want ...string) {
	s.Helper()
	var have []string
	for _, gap := range v.Report.Missing {
		have = append(have, gap.Verb+" "+gap.Resource)
		if gap.Namespace != s.namespace || gap.Effect == "" {
			s.Errorf("a gap without its place or effect: %+v", gap)
		}
	}
	slices.Sort(have)
	if !slices.Equal(have, want) {
		s.Errorf("said to be missing: %q, not %q", have, want)
	}
}
