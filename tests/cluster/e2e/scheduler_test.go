package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"ds-doctor/tests/cluster/bed"
)

// The controller made the pod, and the scheduler does not place it.
func TestScheduler(t *testing.T) {
	t.Parallel()

	scenario(t, "host-port-of-another-daemonset", func(s *stage) {
		s.node("a", bed.Label("old", "yes"))
		s.node("b")
		port := "containers: [{name: main, image: example.com/exporter:1, ports: [{containerPort: 9100, hostPort: 9100}]}]"
		s.daemonSet("legacy", "nodeSelector: {old: 'yes'}\n"+port)
		s.settle()
		s.daemonSet("agent", port)
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).
			node("a", "Pending", "NodePorts TCP/9100 NS/legacy").node("b", "Healthy")
	})

	scenario(t, "host-network-port", func(s *stage) {
		// The port is written as containerPort only; hostNetwork makes it a host port.
		s.node("a")
		s.bystander("proxy", "a", "hostNetwork: true\ncontainers: [{name: main, image: example.com/proxy:1, ports: [{containerPort: 8443, protocol: UDP}]}]")
		s.settle()
		s.daemonSet("agent", "hostNetwork: true\ncontainers: [{name: main, image: example.com/agent:1, ports: [{containerPort: 8443, protocol: UDP}]}]")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Pending", "NodePorts UDP/8443 NS/proxy")
	})

	scenario(t, "node-full", func(s *stage) {
		s.node("cpu")
		s.node("both", bed.Allocatable("memory", "1Gi"))
		s.node("free")
		s.bystander("hog", "cpu", "containers: [{name: main, image: example.com/hog:1, resources: {requests: {cpu: 3800m}}}]")
		s.bystander("hog2", "both", "containers: [{name: main, image: example.com/hog:1, resources: {requests: {cpu: '3.9', memory: 900Mi}}}]")
		s.settle()
		s.daemonSet("agent", "containers: [{name: main, image: example.com/agent:1, resources: {requests: {cpu: 300m, memory: 200Mi}}}]")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).
			node("cpu", "Pending", "NodeResourcesFit cpu").
			node("both", "Pending", "NodeResourcesFit cpu", "NodeResourcesFit memory").
			node("free", "Healthy")
	})

	scenario(t, "too-many-pods", func(s *stage) {
		s.node("a", bed.Allocatable("pods", "1"))
		s.bystander("only", "a", "")
		s.settle()
		s.daemonSet("agent", "")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Pending", "NodeResourcesFit pods")
	})

	scenario(t, "extended-resource", func(s *stage) {
		s.node("gpu", bed.Allocatable("example.com/gpu", "1"))
		s.node("plain")
		s.daemonSet("agent", "containers: [{name: main, image: example.com/agent:1, resources: {limits: {example.com/gpu: 1}}}]")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("gpu", "Healthy").node("plain", "Pending", "NodeResourcesFit example.com/gpu")
	})

	scenario(t, "request-above-allocatable", func(s *stage) {
		s.node("small", bed.Allocatable("memory", "1Gi"), bed.Allocatable("ephemeral-storage", "1Gi"))
		s.daemonSet("agent", `
initContainers: [{name: unpack, image: example.com/unpack:1, resources: {requests: {memory: 2Gi, ephemeral-storage: 2Gi}}}]`)
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).
			node("small", "Pending", "NodeResourcesFit memory", "NodeResourcesFit ephemeral-storage")
	})

	scenario(t, "claim-missing", func(s *stage) {
		s.node("a")
		s.daemonSet("agent", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Pending", "VolumeBinding NS/data")
	})

	scenario(t, "volume-in-one-zone", func(s *stage) {
		s.node("a", bed.Label("topology.kubernetes.io/zone", "north"))
		s.node("b", bed.Label("topology.kubernetes.io/zone", "south"))
		s.apply(boundVolume("north-1", "data", s.namespace, "north"))
		s.until("the claim to be bound", func() bool {
			claim, err := s.cluster.Resource("PersistentVolumeClaim", s.namespace).Get(s.ctx, "data", getNow)
			s.must(err)
			status, _ := claim.Object["status"].(map[string]any)
			return status["phase"] == "Bound"
		})
		s.daemonSet("agent", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Healthy").node("b", "Pending", "VolumeBinding NS/data north-1")
	})

	// claimed makes a bound claim of a volume with these labels that every node can use.
	claimed := func(s *stage, mode, labels string) {
		s.apply(fmt.Sprintf(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: %[1]s-data, labels: %[3]s}
spec:
  storageClassName: manual
  accessModes: [%[2]s]
  capacity: {storage: 1Gi}
  claimRef: {namespace: %[1]s, name: data}
  hostPath: {path: /data}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: manual, volumeName: %[1]s-data, accessModes: [%[2]s], resources: {requests: {storage: 1Gi}}}`, s.namespace, mode, labels))
		s.until("the claim to be bound", func() bool {
			claim, err := s.cluster.Resource("PersistentVolumeClaim", s.namespace).Get(s.ctx, "data", getNow)
			s.must(err)
			status, _ := claim.Object["status"].(map[string]any)
			return status["phase"] == "Bound"
		})
	}

	scenario(t, "volume-labelled-with-a-zone", func(s *stage) {
		s.node("a", bed.Label("topology.kubernetes.io/zone", "north"))
		s.node("b", bed.Label("topology.kubernetes.io/zone", "south"))
		claimed(s, "ReadWriteMany", "{topology.kubernetes.io/zone: north}")
		s.daemonSet("agent", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Healthy").node("b", "Pending", "VolumeZone")
	})

	scenario(t, "volume-of-one-pod", func(s *stage) {
		s.node("a")
		claimed(s, "ReadWriteOncePod", "{}")
		s.apply(`
apiVersion: v1
kind: Pod
metadata: {name: holder}
spec:
  containers: [{name: main, image: example.com/agent:1}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]`)
		s.settle()
		s.daemonSet("agent", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Pending", "VolumeRestrictions NS/data NS/holder")
	})

	scenario(t, "claim-never-bound", func(s *stage) {
		s.node("a")
		s.apply(`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}`)
		s.daemonSet("agent", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Pending", "VolumeBinding NS/data")
	})

	scenario(t, "anti-affinity", func(s *stage) {
		s.node("a")
		s.node("b")
		s.bystander("rival", "a", "")
		s.settle()
		s.daemonSet("agent", `
affinity:
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
    - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: rival}}}`)
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Pending", "InterPodAffinity NS/rival").node("b", "Healthy")
	})

	scenario(t, "repelled-by-a-running-pod", func(s *stage) {
		s.node("a")
		s.bystander("hermit", "a", `
affinity:
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
    - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: agent}}}`)
		s.settle()
		s.daemonSet("agent", "")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Pending", "InterPodAffinity NS/hermit")
	})

	scenario(t, "topology-label-missing", func(s *stage) {
		s.node("a", bed.Label("rack", "1"))
		s.node("b")
		s.daemonSet("agent", `
topologySpreadConstraints:
- {maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: agent}}}`)
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Healthy").node("b", "Pending", "PodTopologySpread")
	})

	scenario(t, "scheduling-gate", func(s *stage) {
		s.node("a")
		s.daemonSet("agent", "schedulingGates: [{name: example.com/wait}]")
		s.settle()
		s.diagnose("agent", bed.Leave{Scheduler: true}).exit(1).node("a", "Pending", "SchedulingGates")
	})

	scenario(t, "unknown-scheduler", func(s *stage) {
		s.node("a")
		s.daemonSet("agent", "schedulerName: my-scheduler")
		s.settle()
		s.diagnose("agent", bed.Leave{Scheduler: true}).exit(1).node("a", "Pending", "SchedulerName my-scheduler")
	})

	scenario(t, "runtime-class-selector", func(s *stage) {
		// The selector comes in at admission: the controller wants the pod
		// everywhere, the scheduler can't place it on the second node.
		s.apply(`
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: sandboxed}
handler: sandboxed
scheduling: {nodeSelector: {sandbox: "yes"}}
overhead: {podFixed: {cpu: 250m}}`)
		s.node("a", bed.Label("sandbox", "yes"))
		s.node("b")
		s.node("c", bed.Label("sandbox", "yes"), bed.Allocatable("cpu", "300m"))
		s.daemonSet("agent", "runtimeClassName: sandboxed\ncontainers: [{name: main, image: example.com/agent:1, resources: {requests: {cpu: 100m}}}]")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Healthy").
			node("b", "Pending", "NodeAffinity nodeSelector sandbox=yes (added at admission)").
			node("c", "Pending", "NodeResourcesFit cpu")
	})

	scenario(t, "preemption", func(s *stage) {
		s.apply(priority("vip", 1000))
		s.node("a")
		s.bystander("victim", "a", "containers: [{name: main, image: example.com/hog:1, resources: {requests: {cpu: 3900m}}}]")
		s.settle()
		s.daemonSet("agent", "priorityClassName: vip\ncontainers: [{name: main, image: example.com/agent:1, resources: {requests: {cpu: 500m}}}]")
		s.until("the victim to be evicted", func() bool {
			_, err := s.cluster.Resource("Pod", s.namespace).Get(s.ctx, "victim", getNow)
			return err != nil
		})
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy")
	})

	scenario(t, "preemption-waits", func(s *stage) {
		// Nobody ends the victim there: the pod is nominated and has to wait.
		s.apply(priority("vip", 1000))
		s.node("bare", bed.NoKubelet)
		s.bystander("victim", "bare", "containers: [{name: main, image: example.com/hog:1, resources: {requests: {cpu: 3900m}}}]")
		s.settle()
		s.daemonSet("agent", "priorityClassName: vip\ncontainers: [{name: main, image: example.com/agent:1, resources: {requests: {cpu: 500m}}}]")
		s.until("the pod to be nominated", func() bool {
			return s.podOnOrNil("agent", "bare") != nil && s.podOn("agent", "bare").Status.NominatedNodeName == "bare"
		})
		s.settle()
		s.diagnose("agent", bed.Leave{Scheduler: true}).exit(1).node("bare", "Pending", "NodeResourcesFit cpu", "PreemptionPending NS/victim")
	})

	scenario(t, "nominated-pod", func(s *stage) {
		// The room of a pod that was evicted is kept for the one that evicted it.
		s.apply(priority("vip", 1000))
		s.node("bare", bed.NoKubelet)
		s.bystander("victim", "bare", "containers: [{name: main, image: example.com/hog:1, resources: {requests: {cpu: 3900m}}}]")
		s.settle()
		s.daemonSet("agent", "containers: [{name: main, image: example.com/agent:1, resources: {requests: {cpu: 500m}}}]")
		s.settle()
		s.apply(`
apiVersion: v1
kind: Pod
metadata: {name: vip}
spec:
  priorityClassName: vip
  nodeSelector: {kubernetes.io/hostname: bare}
  containers: [{name: main, image: example.com/hog:1, resources: {requests: {cpu: 3900m}}}]`)
		s.until("the pod to be nominated", func() bool {
			vip, err := s.cluster.Admin.CoreV1().Pods(s.namespace).Get(s.ctx, "vip", getNow)
			s.must(err)
			return vip.Status.NominatedNodeName == "bare"
		})
		// The scheduler would place it at once.
		s.stopScheduler()
		s.removeNow("victim")
		s.diagnose("agent", bed.Leave{}).exit(1).node("bare", "Pending", "NominatedPod NS/vip")
	})

	scenario(t, "scheduler-refuses", func(s *stage) {
		// The words are of a state that is gone, and nobody says others.
		s.node("a")
		s.bystander("hog", "a", "containers: [{name: main, image: example.com/hog:1, resources: {requests: {cpu: 3900m}}}]")
		s.settle()
		s.daemonSet("agent", "containers: [{name: main, image: example.com/agent:1, resources: {requests: {cpu: 500m}}}]")
		s.settle()
		s.stopScheduler()
		s.removeNow("hog")
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Pending", "SchedulerRefuses")
	})

	scenario(t, "cordoned-for-a-changed-pod", func(s *stage) {
		// The controller tolerates cordoning for its pods. A pod that lost this (a
		// webhook rewrote it) is made here by hand, in the controller's absence.
		s.node("a", bed.Cordoned)
		s.daemonSet("agent", "nodeSelector: {pool: later}")
		s.settle()
		s.stopControllerManager()
		ds, err := s.cluster.Admin.AppsV1().DaemonSets(s.namespace).Get(s.ctx, "agent", getNow)
		s.must(err)
		s.patch("Node", "a", `{"metadata":{"labels":{"pool":"later"}}}`)
		s.apply(`
apiVersion: v1
kind: Pod
metadata:
  name: agent-x7k2p
  labels: {app: agent}
  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: ` + string(ds.UID) + `, controller: true}]
spec:
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [a]}]}]}}}
  containers: [{name: main, image: "example.com/agent:1"}]`)
		s.settle()
		v := s.diagnose("agent", bed.Leave{Scheduler: true}).exit(1)
		if node := v.Report.Node("a"); node.State != "Pending" || !slices.ContainsFunc(node.Causes, func(c bed.Cause) bool { return c.Code == "NodeUnschedulable" }) {
			s.Errorf("node a is %s for %v, not Pending for NodeUnschedulable", node.State, node.Causes)
		} else {
			covered("NodeUnschedulable")
		}
	})

	scenario(t, "volume-limit", func(s *stage) {
		s.node("a")
		s.node("b")
		for node, count := range map[string]string{"a": "1", "b": "2"} {
			s.apply("{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: " + node + "}, spec: {drivers: [{name: csi.example.com, nodeID: " + node + ", allocatable: {count: " + count + "}}]}}")
		}
		for _, claim := range []string{"other", "data"} {
			s.apply(csiVolume(claim, s.namespace))
		}
		s.must(s.cluster.ClaimsBound(s.ctx))
		for _, node := range []string{"a", "b"} {
			s.bystander("uses-one-on-"+node, node, "volumes: [{name: data, persistentVolumeClaim: {claimName: other}}]\n"+
				"containers: [{name: main, image: example.com/db:1, volumeMounts: [{name: data, mountPath: /data}]}]")
		}
		s.settle()
		s.daemonSet("agent", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]\n"+
			"containers: [{name: main, image: example.com/agent:1, volumeMounts: [{name: data, mountPath: /data}]}]")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Pending", "NodeVolumeLimits").node("b", "Healthy")
	})

	scenario(t, "device-claim", func(s *stage) {
		s.node("gpu", bed.Label("gpu", "yes"))
		s.node("taken", bed.Label("gpu", "yes"))
		s.node("plain")
		s.apply(`
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.example.com'"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}`)
		for _, node := range []string{"gpu", "taken"} {
			s.apply("{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: gpus-" + node + "}, spec: {driver: gpu.example.com, nodeName: " + node +
				", pool: {name: " + node + ", generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}}")
		}
		claims := "resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]\n" +
			"containers: [{name: main, image: example.com/agent:1, resources: {claims: [{name: gpu}]}}]"
		s.apply("apiVersion: v1\nkind: Pod\nmetadata: {name: trainer}\nspec:\n" + indent("nodeSelector: {kubernetes.io/hostname: taken}\n"+claims, 2))
		s.settle()
		s.daemonSet("agent", claims)
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("gpu", "Healthy").node("plain", "Pending", "DynamicResources").node("taken", "Pending", "DynamicResources")
	})

	scenario(t, "undeclared-feature", func(s *stage) {
		if s.before("v1.36") {
			s.unheardOf("NodeDeclaredFeatures", "nodes declare features since 1.36")
		}
		s.node("a", bed.Declares("RestartAllContainersOnContainerExits"))
		s.node("b")
		s.daemonSet("agent", `
containers:
- name: main
  image: example.com/agent:1
  restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: In, values: [42]}}]
  restartPolicy: Always`)
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Healthy").node("b", "Pending", "NodeDeclaredFeatures RestartAllContainersOnContainerExits")
	})

	scenario(t, "no-preemption-among-equals", func(s *stage) {
		s.apply(priority("vip", 1000))
		s.node("a")
		s.bystander("equal", "a", "priorityClassName: vip\ncontainers: [{name: main, image: example.com/hog:1, resources: {requests: {cpu: 3900m}}}]")
		s.settle()
		s.daemonSet("agent", "priorityClassName: vip\ncontainers: [{name: main, image: example.com/agent:1, resources: {requests: {cpu: 500m}}}]")
		s.settle()
		v := s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Pending", "NodeResourcesFit cpu")
		if p := v.Report.Node("a").Preemption; p != nil && p.Possible {
			s.Errorf("preemption is said to be possible: %+v", p)
		}
	})
}

func priority(name string, value int) string {
	return "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: " + name + "}\nvalue: " + strconv.Itoa(value)
}

// csiVolume is a volume of a CSI driver, and the claim that takes it.
func csiVolume(name, namespace string) string {
	return `
apiVersion: v1
kind: PersistentVolume
metadata: {name: csi-` + name + `}
spec:
  storageClassName: manual
  accessModes: [ReadWriteMany]
  capacity: {storage: 1Gi}
  claimRef: {namespace: ` + namespace + `, name: ` + name + `}
  csi: {driver: csi.example.com, volumeHandle: handle-` + name + `}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: ` + name + `}
spec: {storageClassName: manual, volumeName: csi-` + name + `, accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}`
}

// boundVolume is a volume that only one zone reaches, and the claim that takes it.
func boundVolume(volume, claim, namespace, zone string) string {
	return `
apiVersion: v1
kind: PersistentVolume
metadata: {name: ` + volume + `}
spec:
  storageClassName: manual
  accessModes: [ReadWriteMany]
  capacity: {storage: 1Gi}
  claimRef: {namespace: ` + namespace + `, name: ` + claim + `}
  hostPath: {path: /data}
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [` + zone + `]}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: ` + claim + `}
spec: {storageClassName: manual, volumeName: ` + volume + `, accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}`
}
