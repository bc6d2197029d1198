package e2e

import (
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
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Pending",
			"VolumeRestrictions NS/data", "NodeVolumeLimits NS/data", "VolumeBinding NS/data", "VolumeZone NS/data")
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

	scenario(t, "claim-never-bound", func(s *stage) {
		s.node("a")
		s.apply(`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}`)
		s.daemonSet("agent", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Pending", "VolumeBinding NS/data", "VolumeZone NS/data")
	})

	scenario(t, "anti-affinity", func(s *stage) {
		s.needs("InterPodAffinity")
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
		s.needs("InterPodAffinity")
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
		s.needs("PodTopologySpread")
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
		s.needs("PreemptionPending")
		// Nobody ends the victim there: the pod is nominated and has to wait.
		s.apply(priority("vip", 1000))
		s.node("a", bed.NoKubelet)
		s.bystander("victim", "a", "containers: [{name: main, image: example.com/hog:1, resources: {requests: {cpu: 3900m}}}]")
		s.settle()
		s.daemonSet("agent", "priorityClassName: vip\ncontainers: [{name: main, image: example.com/agent:1, resources: {requests: {cpu: 500m}}}]")
		s.until("the pod to be nominated", func() bool {
			return s.podOnOrNil("agent", "a") != nil && s.podOn("agent", "a").Status.NominatedNodeName == "a"
		})
		s.settle()
		s.diagnose("agent", bed.Leave{Scheduler: true}).exit(1).node("a", "Pending", "NodeResourcesFit cpu", "PreemptionPending NS/victim")
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
