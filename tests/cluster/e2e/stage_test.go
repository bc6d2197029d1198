package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"ds-doctor/tests/cluster/bed"
)

// stage is an empty cluster and a namespace for one scenario.
type stage struct {
	*testing.T
	ctx       context.Context
	cluster   *bed.Cluster
	namespace string
	// without names the parts of the control plane that are stopped.
	without map[string]bool
}

// scenario runs one test on a cluster of its own for the time being.
func scenario(t *testing.T, name string, act func(s *stage)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		cluster := <-clusters
		s := &stage{T: t, ctx: t.Context(), cluster: cluster, namespace: "s-" + name, without: map[string]bool{}}
		defer func() {
			s.ctx = context.Background()
			if onlyReads(t, cluster) == 0 && !t.Skipped() {
				t.Errorf("the audit log has no request of the plugin")
			}
			s.restore()
			clusters <- cluster
		}()
		s.must(cluster.Create(s.ctx, s.parse("{apiVersion: v1, kind: Namespace, metadata: {name: "+s.namespace+"}}")...))
		s.grant(bed.Doctor)
		act(s)
		if !t.Failed() {
			passed()
		}
	})
}

// needs skips a scenario about a cause that the plugin does not tell yet.
func (s *stage) needs(code string) {
	s.Helper()
	if !plugin.Knows(code) {
		s.Skipf("ds-doctor has no cause %s", code)
	}
}

// restore leaves the cluster empty and whole for the next scenario.
func (s *stage) restore() {
	if s.without["kube-controller-manager"] {
		s.must(s.cluster.StartControllerManager())
	}
	if s.without["kube-scheduler"] {
		s.must(s.cluster.StartScheduler())
	}
	if err := s.cluster.Clear(s.ctx); err != nil {
		s.Errorf("clear: %v", err)
	}
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stage) parse(text string) []*bed.Object {
	s.Helper()
	objects, err := bed.Parse(text)
	s.must(err)
	return objects
}

// grant binds the documented least ClusterRole to a user.
func (s *stage) grant(user string) {
	s.Helper()
	role, err := os.ReadFile(filepath.Join(bed.Root(), "deploy", "clusterrole.yaml"))
	s.must(err)
	s.must(s.cluster.Create(s.ctx, s.parse(string(role))...))
	s.apply(fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ds-doctor}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %[1]s}]`, user))
}

// node makes nodes with kwok in the kubelet's place.
func (s *stage) node(name string, options ...func(*bed.Object)) {
	s.Helper()
	s.must(s.cluster.Create(s.ctx, bed.Node(name, options...)))
}

// apply makes objects; those without a namespace go to the scenario's.
func (s *stage) apply(text string) {
	s.Helper()
	for _, object := range s.parse(text) {
		if object.GetNamespace() == "" {
			object.SetNamespace(s.namespace)
		}
		if !bed.Namespaced(object.GetKind()) {
			object.SetNamespace("")
		}
		s.must(s.cluster.Create(s.ctx, object))
	}
}

// daemonSet makes a DaemonSet from the pod's spec and further fields of the
// DaemonSet's own spec.
func (s *stage) daemonSet(name, podSpec string, spec ...string) {
	s.Helper()
	s.apply(fmt.Sprintf(`
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: %[1]s}
spec:
  selector: {matchLabels: {app: %[1]s}}
%[2]s
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
%[3]s`, name, indent(strings.Join(spec, "\n"), 2), indent(withContainers(podSpec), 6)))
}

func withContainers(podSpec string) string {
	if strings.Contains(podSpec, "containers:") {
		return podSpec
	}
	return podSpec + "\ncontainers: [{name: main, image: example.com/agent:1}]"
}

func indent(text string, by int) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.Repeat(" ", by) + lines[i]
	}
	return strings.Join(lines, "\n")
}

// bystander is a pod that is bound to a node from the start.
func (s *stage) bystander(name, node, podSpec string) {
	s.Helper()
	s.apply(fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s, labels: {app: %s}}\nspec:\n  nodeName: %s\n%s",
		name, name, node, indent(withContainers(podSpec), 2)))
}

// patch changes an object with a merge patch.
func (s *stage) patch(kind, name, patch string) {
	s.Helper()
	_, err := s.cluster.Resource(kind, s.namespace).Patch(s.ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	s.must(err)
}

// update changes the DaemonSet's template with a strategic merge patch.
func (s *stage) update(name, patch string) {
	s.Helper()
	_, err := s.cluster.Resource("DaemonSet", s.namespace).Patch(s.ctx, name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	s.must(err)
}

// kubelet writes a pod's status as the kubelet would; kwok can't. The pod is
// the DaemonSet's on that node.
func (s *stage) kubelet(ds, node, status string) {
	s.Helper()
	pod := s.podOn(ds, node)
	objects := s.parse(fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: %s}\nstatus:\n%s", pod.Name, s.namespace, indent(status, 2)))
	s.must(s.cluster.PatchStatus(s.ctx, objects[0], objects[0].Object["status"]))
}

func (s *stage) podOn(ds, node string) *corev1.Pod {
	s.Helper()
	pod := s.podOnOrNil(ds, node)
	if pod == nil {
		s.Fatalf("no pod of %s on %s", ds, node)
	}
	return pod
}

func (s *stage) podOnOrNil(ds, node string) *corev1.Pod {
	s.Helper()
	truth, err := s.cluster.Truth(s.ctx, s.namespace, ds)
	s.must(err)
	if pods := truth.Pods[node]; len(pods) > 0 {
		return &pods[len(pods)-1]
	}
	return nil
}

// hasEvent tells whether an event with that reason is in the namespace.
func (s *stage) hasEvent(reason string) bool {
	s.Helper()
	events, err := s.cluster.Admin.CoreV1().Events(s.namespace).List(s.ctx, metav1.ListOptions{})
	s.must(err)
	return slices.ContainsFunc(events.Items, func(event corev1.Event) bool { return event.Reason == reason })
}

// refuses tells whether the API server refuses a pod with these words.
func (s *stage) refuses(name, words string) bool {
	s.Helper()
	pod := s.parse("{apiVersion: v1, kind: Pod, metadata: {name: " + name + "}, spec: {containers: [{name: main, image: 'example.com/agent:1'}]}}")[0]
	_, err := s.cluster.Resource("Pod", s.namespace).Create(s.ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err != nil && strings.Contains(err.Error(), words)
}

var (
	getNow    = metav1.GetOptions{}
	deleteNow = metav1.DeleteOptions{}
)

// stopScheduler and stopControllerManager leave the cluster without that part
// until the scenario ends.
func (s *stage) stopScheduler() {
	s.cluster.StopScheduler()
	s.without["kube-scheduler"] = true
}

func (s *stage) stopControllerManager() {
	s.cluster.StopControllerManager()
	s.without["kube-controller-manager"] = true
}

// until polls for a state of the cluster.
func (s *stage) until(what string, done func() bool) {
	s.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for !done() {
		s.must(s.cluster.Running())
		if time.Now().After(deadline) {
			s.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// settle waits until the controllers and the scheduler have nothing left to do.
func (s *stage) settle() {
	s.Helper()
	s.must(s.cluster.Settle(s.ctx, bed.Unsettled{
		Scheduler: s.without["kube-scheduler"], ControllerManager: s.without["kube-controller-manager"],
	}))
}

// verdict is what ds-doctor said, with the test that expects something of it.
type verdict struct {
	*stage
	*bed.Report
	result bed.Result
}

// diagnose runs `kubectl ds-doctor` as the user with the least role, and
// compares every node with the cluster.
func (s *stage) diagnose(ds string, leave bed.Leave, args ...string) *verdict {
	s.Helper()
	report, result, err := plugin.Doctor(s.ctx, s.cluster.Kubeconfig(bed.Doctor), append([]string{"-n", s.namespace, ds}, args...)...)
	if err != nil {
		s.Fatal(err)
	}
	truth, err := s.cluster.Truth(s.ctx, s.namespace, ds)
	s.must(err)
	leave.Scheduler = leave.Scheduler || s.without["kube-scheduler"]
	leave.Status = leave.Status || s.without["kube-controller-manager"]
	leave.Creation = leave.Creation || s.without["kube-controller-manager"]
	for _, difference := range truth.Compare(report, leave) {
		s.Errorf("report and cluster differ: %s", difference)
	}
	if len(report.Missing) > 0 {
		s.Errorf("the least role is not enough: %+v", report.Missing)
	}
	return &verdict{stage: s, Report: report, result: result}
}

// node expects a state and exactly these causes. A cause without its detail
// stands for any detail.
func (v *verdict) node(name, state string, causes ...string) *verdict {
	v.Helper()
	node := v.Report.Node(name)
	if node == nil {
		v.Errorf("node %s is not in the report", name)
		return v
	}
	if node.State != state {
		v.Errorf("node %s is %s, not %s; causes %v", name, node.State, state, node.Causes)
	}
	v.expect("node "+name, node.Causes, causes)
	return v
}

// workload expects exactly these causes of the DaemonSet as a whole.
func (v *verdict) workload(causes ...string) *verdict {
	v.Helper()
	v.expect("the DaemonSet", v.Report.Causes, causes)
	return v
}

func (v *verdict) expect(of string, have []bed.Cause, want []string) {
	v.Helper()
	var texts []string
	for _, cause := range have {
		texts = append(texts, cause.String())
	}
	left := slices.Clone(texts)
	for _, wanted := range want {
		wanted = strings.ReplaceAll(wanted, "NS/", v.namespace+"/")
		at := slices.IndexFunc(left, func(text string) bool {
			code, _, _ := strings.Cut(text, " ")
			return text == wanted || code == wanted
		})
		if at < 0 {
			v.Errorf("causes of %s are %q, without %q", of, texts, wanted)
			continue
		}
		left = slices.Delete(left, at, at+1)
	}
	if len(left) > 0 {
		sort.Strings(left)
		v.Errorf("causes of %s are %q, of which nobody expected %q", of, texts, left)
	}
}

// exit expects an exit code.
func (v *verdict) exit(code int) *verdict {
	v.Helper()
	if v.result.Exit != code {
		v.Errorf("%s, not %d\n%s", v.result, code, v.result.Stderr)
	}
	return v
}
