package e2e

import (
	"slices"
	"strconv"
	"strings"
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

	// event is what the kubelet (or another component) says about the pod.
	type event struct{ component, reason, message string }

	// bound: the pod on bare gets the status and the events that its kubelet would write.
	bound := func(name, podSpec, status string, events []event, check func(v *verdict)) {
		scenario(t, name, func(s *stage) {
			s.node("a")
			s.node("bare", bed.NoKubelet)
			s.daemonSet("agent", podSpec)
			s.settle()
			s.kubelet("agent", "bare", strings.ReplaceAll(status, "NS/", s.namespace+"/"))
			for _, e := range events {
				s.says(s.podOn("agent", "bare"), e.component, e.reason, e.message)
			}
			s.settle()
			check(s.diagnose("agent", bed.Leave{}).node("a", "Healthy"))
		})
	}
	unhealthy := func(name, state string, status string, causes ...string) {
		bound(name, "containers: [{name: main, image: 'example.com/agent:1', resources: {limits: {memory: 64Mi}}}]", status, nil,
			func(v *verdict) { v.exit(1).node("bare", state, causes...) })
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

	waits := func(reason, message string) string {
		return `
phase: Pending
conditions:` + notReady + `
containerStatuses:
- {name: main, ready: false, restartCount: 0, image: "example.com/agent:1", imageID: "", state: {waiting: {reason: ` + reason + `, message: ` + strconv.Quote(message) + `}}}`
	}

	unhealthy("secret-missing", "Unhealthy", waits("CreateContainerConfigError", `secret "tls" not found`), "ConfigMissing secret/tls")
	unhealthy("config-key-missing", "Unhealthy", waits("CreateContainerConfigError", "couldn't find key app.yaml in ConfigMap NS/settings"), "ConfigMissing configmap/settings")
	unhealthy("container-cannot-be-made", "Unhealthy", waits("CreateContainerError", `failed to generate spec: path "/x" is mounted on "/" but it is not a shared mount`),
		"ContainerCreateError CreateContainerError")

	unhealthy("init-container", "Unhealthy", `
phase: Pending
conditions:
- {type: Initialized, status: "False", reason: ContainersNotInitialized}
- {type: Ready, status: "False", reason: ContainersNotReady}
initContainerStatuses:
- {name: first, ready: false, started: false, restartCount: 0, image: "example.com/first:1", imageID: "x", state: {running: {startedAt: "2026-01-01T00:00:00Z"}}}
containerStatuses:
- {name: main, ready: false, restartCount: 0, image: "example.com/agent:1", imageID: "", state: {waiting: {reason: PodInitializing}}}`,
		"InitContainer first")

	// with: the pod waits, and events say why.
	with := func(name, cause string, events ...event) {
		bound(name, "volumes: [{name: data, hostPath: {path: /data}}, {name: settings, configMap: {name: settings}}]", waits("ContainerCreating", ""), events,
			func(v *verdict) { v.exit(1).node("bare", "Unhealthy", cause) })
	}
	with("sandbox-network", "SandboxFailed network plugin", event{"kubelet", "FailedCreatePodSandBox",
		`Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "x": plugin type="calico" failed (add): stat /var/lib/calico/nodename: no such file or directory`})
	with("sandbox-address", "SandboxFailed no IP address", event{"kubelet", "FailedCreatePodSandBox",
		`Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "x": plugin type="aws-cni" failed (add): failed to assign an IP address to container`})
	with("volume-mount", "VolumeMount data", event{"kubelet", "FailedMount", `MountVolume.SetUp failed for volume "data" : hostPath type check failed: /data is not a directory`})
	with("volume-of-a-config-map", "ConfigMissing configmap/settings", event{"kubelet", "FailedMount", `MountVolume.SetUp failed for volume "settings" : configmap "settings" not found`})
	with("volume-attach", "VolumeAttach pvc-1", event{"attachdetach-controller", "FailedAttachVolume",
		`Multi-Attach error for volume "pvc-1" Volume is already exclusively attached to one node and can't be attached to another`})
	bound("starting", "", waits("ContainerCreating", ""), nil, func(v *verdict) { v.node("bare", "Unhealthy", "Starting") })

	scenario(t, "no-kubelet", func(s *stage) {
		s.node("a")
		s.node("bare", bed.NoKubelet)
		s.daemonSet("agent", "")
		s.settle()
		s.diagnose("agent", bed.Leave{}).node("a", "Healthy").node("bare", "Unhealthy", "KubeletSilent")
	})

	// ended: the controller replaces pods that have ended, with back-off. The pod
	// that stays is the picture of one moment, so the controller is stopped.
	ended := func(name string, pictures ...[2]string) {
		scenario(t, name, func(s *stage) {
			s.node("a")
			s.node("bare", bed.NoKubelet)
			s.daemonSet("agent", "")
			s.settle()
			s.stopControllerManager()
			for _, picture := range pictures {
				s.kubelet("agent", "bare", picture[0])
				s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Healthy").node("bare", "Rejected", picture[1])
			}
		})
	}
	failed := func(reason, message string) string {
		return "phase: Failed\nreason: " + reason + "\nmessage: " + strconv.Quote(message)
	}
	ended("rejected-by-kubelet",
		[2]string{failed("OutOfcpu", "Pod was rejected: Node didn't have enough resource: cpu, requested: 300, used: 3900, capacity: 4000"), "KubeletRejected OutOfcpu"},
		[2]string{failed("OutOfpods", "Pod was rejected: Node didn't have enough resource: pods, requested: 1, used: 110, capacity: 110"), "KubeletRejected OutOfpods"},
		[2]string{failed("NodeAffinity", "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"), "KubeletRejected NodeAffinity"},
		[2]string{failed("UnexpectedAdmissionError", "Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices example.com/gpu, which is unexpected"), "KubeletRejected UnexpectedAdmissionError"},
		[2]string{failed("TopologyAffinityError", "Pod was rejected: Resources cannot be allocated with Topology locality"), "KubeletRejected TopologyAffinityError"},
		[2]string{failed("NodeShutdown", "Pod was rejected: Pod was rejected as the node is shutting down."), "KubeletRejected NodeShutdown"},
		[2]string{failed("Terminated", "Pod was terminated in response to imminent node shutdown."), "KubeletRejected Terminated"},
		[2]string{failed("Preempting", "Preempted in order to admit critical pod"), "KubeletPreempted"},
	)
	ended("evicted",
		[2]string{failed("Evicted", "The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi, available: 800Mi. "), "Evicted DiskPressure"},
		[2]string{failed("Evicted", "The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi. "), "Evicted MemoryPressure"},
	)
	ended("succeeded", [2]string{"phase: Succeeded", "PodSucceeded"})

	scenario(t, "recreated", func(s *stage) {
		// The controller's own answer to a failed pod: it deletes it, says so, and
		// makes another.
		s.node("a")
		s.node("bare", bed.NoKubelet)
		s.daemonSet("agent", "")
		s.settle()
		first := s.podOn("agent", "bare").Name
		s.kubelet("agent", "bare", failed("OutOfcpu", "Pod was rejected: Node didn't have enough resource: cpu"))
		s.until("the pod to be replaced", func() bool {
			pod := s.podOnOrNil("agent", "bare")
			return pod != nil && pod.Name != first && pod.Spec.NodeName != ""
		})
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Healthy").node("bare", "Unhealthy", "PodRecreated")
	})

	scenario(t, "recreated-none-there", func(s *stage) {
		// The moment before the next try: its pod is taken away by hand.
		s.node("a")
		s.node("bare", bed.NoKubelet)
		s.daemonSet("agent", "")
		s.settle()
		s.kubelet("agent", "bare", failed("OutOfcpu", "Pod was rejected: Node didn't have enough resource: cpu"))
		s.until("the controller to tell of the failed pod", func() bool { return s.hasEvent("FailedDaemonPod") })
		s.settle()
		s.stopControllerManager()
		s.removeNow(s.podOn("agent", "bare").Name)
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Healthy").node("bare", "Missing", "PodRecreated")
	})

	scenario(t, "terminating-with-finalizer", func(s *stage) {
		s.node("bare", bed.NoKubelet)
		s.daemonSet("agent", "terminationGracePeriodSeconds: 0")
		s.settle()
		s.kubelet("agent", "bare", running)
		pod := s.podOn("agent", "bare")
		s.patch("Pod", pod.Name, `{"metadata":{"finalizers":["example.com/hold"]}}`)
		s.must(s.cluster.Resource("Pod", s.namespace).Delete(s.ctx, pod.Name, deleteNow))
		s.until("the pod to be terminating", func() bool { return s.podOn("agent", "bare").DeletionTimestamp != nil })
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("bare", "Terminating", "Terminating finalizer example.com/hold")
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
		s.node("bare", bed.NoKubelet)
		s.daemonSet("agent", "tolerations: [{operator: Exists}]")
		s.settle()
		s.kubelet("agent", "bare", running)
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0).node("bare", "Healthy")
		down := bed.Node("bare", bed.NotReady)
		// As a kubelet does, it says so again and again, until it has been heard.
		s.until("the node controller to taint the node", func() bool {
			s.must(s.cluster.PatchStatus(s.ctx, down, map[string]any{"conditions": down.Object["status"].(map[string]any)["conditions"]}))
			node, err := s.cluster.Admin.CoreV1().Nodes().Get(s.ctx, "bare", getNow)
			s.must(err)
			return slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
				return taint.Key == "node.kubernetes.io/not-ready" && taint.Effect == corev1.TaintEffectNoSchedule
			})
		})
		s.kubelet("agent", "bare", "conditions: [{type: Ready, status: 'False'}]")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Healthy").node("bare", "Unhealthy", "NodeNotReady")
	})
}

// A kubelet that has gone silent: what the node controller then writes of the node
// is a patch here (its grace period would be long), the rest is its real answer.
func TestSilentKubelet(t *testing.T) {
	t.Parallel()

	scenario(t, "kubelet-silent", func(s *stage) {
		s.node("a")
		s.node("bare", bed.NoKubelet)
		s.daemonSet("agent", "tolerations: [{operator: Exists}]")
		s.settle()
		s.kubelet("agent", "bare", `
phase: Running
conditions: [{type: Ready, status: "True"}, {type: ContainersReady, status: "True"}, {type: Initialized, status: "True"}]
containerStatuses:
- {name: main, ready: true, started: true, restartCount: 0, image: "example.com/agent:1", imageID: "x", state: {running: {startedAt: "2026-01-01T00:00:00Z"}}}`)
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0).node("bare", "Healthy")
		s.apply("{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: bare, namespace: kube-node-lease}, " +
			"spec: {holderIdentity: bare, leaseDurationSeconds: 40, renewTime: '2026-01-01T00:00:00.000000Z'}}")
		s.patchStatus("Node", "bare", "conditions: [{type: Ready, status: Unknown, reason: NodeStatusUnknown, message: Kubelet stopped posting node status.}]")
		s.until("the node controller to taint the node", func() bool {
			node, err := s.cluster.Admin.CoreV1().Nodes().Get(s.ctx, "bare", getNow)
			s.must(err)
			return slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == "node.kubernetes.io/unreachable" })
		})
		s.settle()
		v := s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Healthy").node("bare", "Unhealthy", "NodeNotReady")
		for _, cause := range v.Report.Node("bare").Causes {
			if !strings.Contains(cause.Message, "last heard of") {
				v.Errorf("the node's lease is not told of: %q", cause.Message)
			}
		}
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

	scenario(t, "pod-orphaned", func(s *stage) {
		s.node("a")
		s.daemonSet("agent", "")
		s.settle()
		pod := s.podOn("agent", "a").Name
		s.stopControllerManager()
		s.patch("Pod", pod, `{"metadata":{"ownerReferences":null}}`)
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Missing", "PodOrphaned NS/"+pod)
		// Once the controller is back it adopts the pod, and makes no other.
		s.must(s.cluster.StartControllerManager())
		s.without["kube-controller-manager"] = false
		s.until("the adoption", func() bool { return s.podOnOrNil("agent", "a") != nil })
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy")
		if adopted := s.podOn("agent", "a").Name; adopted != pod {
			s.Errorf("pod %s was made in place of %s", adopted, pod)
		}
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
