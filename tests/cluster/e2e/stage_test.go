package e2e

import (
	"context"
	"encoding/json"
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
	"k8s.io/apimachinery/pkg/util/version"

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
	// auditFrom is where in the audit log the scenario begins, dryRuns how many it has expected.
	auditFrom int64
	dryRuns   int
}

// scenario runs one test on a cluster of its own for the time being.
func scenario(t *testing.T, name string, act func(s *stage)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		cluster := <-clusters
		if bed.TimeIsUp() {
			clusters <- cluster
			leftOut.Add(1)
			t.Skip("left out, the time is up")
		}
		s := &stage{T: t, ctx: t.Context(), cluster: cluster, namespace: "s-" + name, without: map[string]bool{}}
		if log, err := os.Stat(cluster.AuditLog()); err == nil {
			s.auditFrom = log.Size()
		}
		defer func() {
			s.ctx = context.Background()
			s.onlyReads()
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
	s.apply(daemonSetText(name, podSpec, spec...))
}

// daemonSetText is a manifest without a namespace.
func daemonSetText(name, podSpec string, spec ...string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: DaemonSet
metadata: {name: %[1]s}
spec:
  selector: {matchLabels: {app: %[1]s}}
%[2]s
  template:
    metadata:
      labels: {app: %[1]s}
    spec:
%[3]s
`, name, indent(strings.Join(spec, "\n"), 2), indent(withContainers(podSpec), 6))
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

// patchStatus writes an object's status as the component that owns it would.
func (s *stage) patchStatus(kind, name, status string) {
	s.Helper()
	patch := s.parse(status)[0].Object
	body, err := json.Marshal(map[string]any{"status": patch})
	s.must(err)
	_, err = s.cluster.Resource(kind, s.namespace).Patch(s.ctx, name, types.MergePatchType, body, metav1.PatchOptions{}, "status")
	s.must(err)
}

// says is an event about a pod, as the kubelet of its node (or another
// component) would write it.
func (s *stage) says(pod *corev1.Pod, component, reason, message string) {
	s.Helper()
	now := metav1.Now()
	_, err := s.cluster.Admin.CoreV1().Events(s.namespace).Create(s.ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: pod.Name + "."},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: s.namespace, Name: pod.Name, UID: pod.UID},
		Source:         corev1.EventSource{Component: component, Host: pod.Spec.NodeName},
		Type:           corev1.EventTypeWarning, Reason: reason, Message: message,
		FirstTimestamp: now, LastTimestamp: now, Count: 3,
	}, metav1.CreateOptions{})
	s.must(err)
}

// removeNow deletes a pod without waiting for any kubelet.
func (s *stage) removeNow(name string) {
	s.Helper()
	now := int64(0)
	s.must(s.cluster.Resource("Pod", s.namespace).Delete(s.ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now}))
}

// before tells whether the control plane is older than a minor version.
func (s *stage) before(minor string) bool {
	return version.MustParseGeneric(options.Version).LessThan(version.MustParseGeneric(minor))
}

// hasEvent tells whether an event with that reason is in the namespace.
func (s *stage) hasEvent(reason string) bool {
	s.Helper()
	events, err := s.cluster.Admin.CoreV1().Events(s.namespace).List(s.ctx, metav1.ListOptions{})
	s.must(err)
	return slices.ContainsFunc(events.Items, func(event corev1.Event) bool { return event.Reason == reason })
}

// refuses tells whether the API server refuses a pod of an image with these words.
func (s *stage) refuses(image, words string) bool {
	s.Helper()
	pod := s.parse("{apiVersion: v1, kind: Pod, metadata: {name: pod}, spec: {containers: [{name: main, image: '" + image + "'}]}}")[0]
	_, err := s.cluster.Resource("Pod", s.namespace).Create(s.ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err != nil && strings.Contains(err.Error(), words)
}

var (
	getNow    = metav1.GetOptions{}
	listAll   = metav1.ListOptions{}
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

// patience is how long a busy machine may take for what an idle one does in seconds.
const patience = 3 * time.Minute

// until polls for a state of the cluster.
func (s *stage) until(what string, done func() bool) {
	s.Helper()
	s.within(patience, what, done)
}

// within is until with another patience.
func (s *stage) within(patience time.Duration, what string, done func() bool) {
	s.Helper()
	deadline := time.Now().Add(patience)
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
	saved := filepath.Join(s.TempDir(), "saved.json")
	report, result, err := plugin.Doctor(s.ctx, s.cluster.Kubeconfig(bed.Doctor), append([]string{"-n", s.namespace, ds, "--save-snapshot", saved}, args...)...)
	if err != nil {
		s.Fatal(err)
	}
	// What was saved gives the same report again, byte for byte.
	again := plugin.Kubectl(s.ctx, "", append([]string{"ds-doctor", "-o", "json", "-n", s.namespace, ds, "--snapshot", saved}, args...)...)
	if again.Stdout != result.Stdout || again.Exit != result.Exit {
		s.Errorf("the saved cluster gives another report (exit code %d, not %d)\n%s", again.Exit, result.Exit, firstDifference(result.Stdout, again.Stdout+again.Stderr))
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

// firstDifference is where two texts part.
func firstDifference(live, replayed string) string {
	a, b := strings.Split(live, "\n"), strings.Split(replayed, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d: live %q, replayed %q", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines live, %d replayed", len(a), len(b))
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
		code, _, _ := strings.Cut(wanted, " ")
		covered(code)
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
