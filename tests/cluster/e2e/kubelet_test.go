package e2e

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ds-doctor/tests/cluster/bed"
)

// A pod is bound and not healthy. No kubelet runs here, so what only a kubelet
// writes is written by a patch of the pod's status (the calls of s.kubelet);
// everything else is the real controllers' answer to it.
func TestKubelet(t *testing.T) {
	t.Parallel()

	// unhealthy: the pod on b gets the status that its kubelet would write.
	unhealthy := func(name, state string, status string, causes ...string) {
		scenario(t, name, func(s *stage) {
			s.node("a")
			s.node("b", bed.NoKubelet)
			s.daemonSet("agent", "containers: [{name: main, image: 'example.com/agent:1', resources: {limits: {memory: 64Mi}}}]")
			s.settle()
			s.kubelet("agent", "b", status)
			s.settle()
			s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Healthy").node("b", state, causes...)
		})
	}

	const running = `
phase: Running
conditions: [{type: Ready, status: "True"}, {type: ContainersReady, status: "True"}, {type: Initialized, status: "True"}]
containerStatuses:
- {name: main, ready: true, started: true, restartCount: 0, image: "example.com/agent:1", imageID: "x", state: {running: {startedAt: "2026-01-01T00:00:00Z"}}}`

	const notReady = `
- {type: Initialized, status: "True"}
- {type: Ready, status: "False", reason: ContainersNotReady, message: "containers with unready status: [main]"}
- {type: ContainersReady, status: "False", reason: ContainersNotReady}`

	unhealthy("image-pull", "Unhealthy", `
phase: Pending
conditions:`+notReady+`
containerStatuses:
- {name: main, ready: false, restartCount: 0, image: "example.com/agent:1", imageID: "", state: {waiting: {reason: ImagePullBackOff, message: "Back-off pulling image"}}}`,
		"ImagePull ImagePullBackOff")

	unhealthy("crash-loop", "Unhealthy", `
phase: Running
conditions:`+notReady+`
containerStatuses:
- name: main
  ready: false
  restartCount: 7
  image: "example.com/agent:1"
  imageID: ""
  state: {waiting: {reason: CrashLoopBackOff, message: "back-off 5m0s restarting failed container"}}
  lastState: {terminated: {exitCode: 3, reason: Error}}`,
		"CrashLoop exit 3")

	unhealthy("out-of-memory", "Unhealthy", `
phase: Running
conditions:`+notReady+`
containerStatuses:
- name: main
  ready: false
  restartCount: 4
  image: "example.com/agent:1"
  imageID: ""
  state: {waiting: {reason: CrashLoopBackOff, message: "back-off 1m20s restarting failed container"}}
  lastState: {terminated: {exitCode: 137, reason: OOMKilled}}`,
		"OOMKilled limit 64Mi")

	unhealthy("probe", "Unhealthy", `
phase: Running
conditions:`+notReady+`
containerStatuses:
- {name: main, ready: false, started: true, restartCount: 0, image: "example.com/agent:1", imageID: "x", state: {running: {startedAt: "2026-01-01T00:00:00Z"}}}`,
		"NotReady")

	scenario(t, "no-kubelet", func(s *stage) {
		s.node("a")
		s.node("b", bed.NoKubelet)
		s.daemonSet("agent", "")
		s.settle()
		s.diagnose("agent", bed.Leave{}).node("a", "Healthy").node("b", "Unhealthy", "KubeletSilent")
	})

	scenario(t, "rejected-by-kubelet", func(s *stage) {
		// The controller replaces failed pods, with back-off; the pod that stays
		// failed is the picture of one moment, so the controller is stopped.
		s.node("a")
		s.node("b", bed.NoKubelet)
		s.daemonSet("agent", "")
		s.settle()
		s.stopControllerManager()
		s.kubelet("agent", "b", "phase: Failed\nreason: OutOfcpu\nmessage: \"Pod was rejected: Node didn't have enough resource: cpu, requested: 300, used: 3900, capacity: 4000\"")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Healthy").node("b", "Rejected", "KubeletRejected OutOfcpu")
	})

	scenario(t, "evicted", func(s *stage) {
		s.node("a")
		s.node("b", bed.NoKubelet)
		s.daemonSet("agent", "")
		s.settle()
		s.stopControllerManager()
		s.kubelet("agent", "b", "phase: Failed\nreason: Evicted\nmessage: \"The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi, available: 800Mi. \"")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Healthy").node("b", "Rejected", "Evicted")
	})

	scenario(t, "terminating-with-finalizer", func(s *stage) {
		s.node("a", bed.NoKubelet)
		s.daemonSet("agent", "terminationGracePeriodSeconds: 0")
		s.settle()
		s.kubelet("agent", "a", running)
		pod := s.podOn("agent", "a")
		s.patch("Pod", pod.Name, `{"metadata":{"finalizers":["example.com/hold"]}}`)
		s.must(s.cluster.Resource("Pod", s.namespace).Delete(s.ctx, pod.Name, deleteNow))
		s.until("the pod to be terminating", func() bool { return s.podOn("agent", "a").DeletionTimestamp != nil })
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Terminating", "Terminating finalizer example.com/hold")
	})

	scenario(t, "min-ready-seconds", func(s *stage) {
		s.node("a")
		s.daemonSet("agent", "", "minReadySeconds: 3600")
		s.settle()
		s.diagnose("agent", bed.Leave{}).node("a", "Unhealthy", "MinReadySeconds 3600")
	})

	scenario(t, "node-not-ready", func(s *stage) {
		// The node's condition is its kubelet's to write, the pod's the node
		// controller's after its grace period; the taints are its real answer.
		s.node("a")
		s.node("b", bed.NoKubelet)
		s.daemonSet("agent", "tolerations: [{operator: Exists}]")
		s.settle()
		s.kubelet("agent", "b", running)
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0).node("b", "Healthy")
		down := bed.Node("b", bed.NotReady)
		// As a kubelet does, it says so again and again, until it has been heard.
		s.until("the node controller to taint the node", func() bool {
			s.must(s.cluster.PatchStatus(s.ctx, down, map[string]any{"conditions": down.Object["status"].(map[string]any)["conditions"]}))
			node, err := s.cluster.Admin.CoreV1().Nodes().Get(s.ctx, "b", getNow)
			s.must(err)
			return slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
				return taint.Key == "node.kubernetes.io/not-ready" && taint.Effect == corev1.TaintEffectNoSchedule
			})
		})
		s.kubelet("agent", "b", "conditions: [{type: Ready, status: 'False'}]")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Healthy").node("b", "Unhealthy", "NodeNotReady")
	})
}

// A part of the control plane does not run.
func TestStopped(t *testing.T) {
	t.Parallel()

	scenario(t, "no-scheduler", func(s *stage) {
		s.node("a")
		s.settle()
		s.stopScheduler()
		s.daemonSet("agent", "")
		s.until("the controller to make the pod", func() bool { return s.podOnOrNil("agent", "a") != nil })
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Pending", "SchedulerSilent")
	})

	scenario(t, "no-controller", func(s *stage) {
		s.node("a")
		s.settle()
		s.stopControllerManager()
		s.daemonSet("agent", "")
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Missing", "StatusStale")
	})

	scenario(t, "controller-behind", func(s *stage) {
		s.node("a")
		s.daemonSet("agent", "")
		s.settle()
		s.stopControllerManager()
		s.update("agent", `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.com/agent:2"}]}}}}`)
		v := s.diagnose("agent", bed.Leave{})
		if has := v.Report.Node("a"); has == nil || len(has.Causes)+len(v.Report.Causes) == 0 {
			s.Errorf("nothing is said although the controller has not seen the change: %+v", has)
		}
		// Once it is back, all is well.
		s.must(s.cluster.StartControllerManager())
		s.without["kube-controller-manager"] = false
		s.settle()
		s.until("the new revision", func() bool { return s.updated("agent") })
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy")
	})
}

// updated tells whether the controller has rolled the current template out.
func (s *stage) updated(ds string) bool {
	s.Helper()
	have, err := s.cluster.Admin.AppsV1().DaemonSets(s.namespace).Get(s.ctx, ds, metav1.GetOptions{})
	s.must(err)
	status := have.Status
	return status.ObservedGeneration == have.Generation && status.UpdatedNumberScheduled == status.DesiredNumberScheduled &&
		status.NumberAvailable == status.DesiredNumberScheduled
}
