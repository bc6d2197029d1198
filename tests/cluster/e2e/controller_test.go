package e2e

import (
	"strings"
	"testing"

	"ds-doctor/tests/cluster/bed"
)

// What the DaemonSet controller wants, and what changes under a running pod.
func TestController(t *testing.T) {
	t.Parallel()

	scenario(t, "healthy", func(s *stage) {
		s.node("a")
		s.node("b")
		s.daemonSet("agent", "")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy").node("b", "Healthy").workload()
	})

	scenario(t, "node-added", func(s *stage) {
		s.node("a")
		s.daemonSet("agent", "")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0)
		s.node("b")
		s.node("c", bed.Taint("dedicated", "db", "NoSchedule"))
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy").node("b", "Healthy").
			node("c", "Excluded", "TaintToleration dedicated=db:NoSchedule")
	})

	scenario(t, "label-removed", func(s *stage) {
		s.node("a", bed.Label("pool", "edge"))
		s.node("b", bed.Label("pool", "edge"))
		s.daemonSet("agent", "nodeSelector: {pool: edge}")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0)
		s.patch("Node", "b", `{"metadata":{"labels":{"pool":null}}}`)
		s.gone("agent", "b")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy").
			node("b", "Excluded", "NodeAffinity nodeSelector pool=edge")
	})

	scenario(t, "affinity", func(s *stage) {
		s.node("a", bed.Label("tier", "3"))
		s.node("b", bed.Label("tier", "1"))
		s.node("c")
		s.daemonSet("agent", `
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
      - matchExpressions:
        - {key: tier, operator: Gt, values: ["2"]}`)
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy").
			node("b", "Excluded", "NodeAffinity tier Gt [2]").node("c", "Excluded", "NodeAffinity tier Gt [2]")
	})

	scenario(t, "node-names", func(s *stage) {
		s.node("a")
		s.node("b")
		s.daemonSet("agent", `
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
      - matchFields:
        - {key: metadata.name, operator: In, values: [a]}`)
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy").
			node("b", "Excluded", "NodeAffinity metadata.name In [a]")
	})

	scenario(t, "template-node-name", func(s *stage) {
		s.node("a")
		s.node("b")
		s.daemonSet("agent", "nodeName: a")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy").node("b", "Excluded", "NodeName")
	})

	scenario(t, "no-eligible-node", func(s *stage) {
		s.node("a")
		s.node("b")
		s.daemonSet("agent", "nodeSelector: {pool: nowhere}")
		s.settle()
		s.diagnose("agent", bed.Leave{}).
			node("a", "Excluded", "NodeAffinity nodeSelector pool=nowhere").
			node("b", "Excluded", "NodeAffinity nodeSelector pool=nowhere").workload("NoEligibleNodes")
	})

	scenario(t, "taints", func(s *stage) {
		s.node("plain")
		s.node("tolerated", bed.Taint("dedicated", "infra", "NoSchedule"))
		s.node("other-value", bed.Taint("dedicated", "db", "NoSchedule"))
		s.node("execute", bed.Taint("maintenance", "", "NoExecute"))
		s.node("both", bed.Taint("gpu", "present", "NoSchedule"), bed.Taint("spot", "", "NoExecute"))
		s.node("preferred", bed.Taint("busy", "", "PreferNoSchedule"))
		s.daemonSet("agent", "tolerations: [{key: dedicated, operator: Equal, value: infra, effect: NoSchedule}]")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0).
			node("plain", "Healthy").node("tolerated", "Healthy").node("preferred", "Healthy").
			node("other-value", "Excluded", "TaintToleration dedicated=db:NoSchedule").
			node("execute", "Excluded", "TaintToleration maintenance:NoExecute").
			node("both", "Excluded", "TaintToleration gpu=present:NoSchedule", "TaintToleration spot:NoExecute")
	})

	scenario(t, "taint-under-running-pod", func(s *stage) {
		s.node("a")
		s.node("b")
		s.daemonSet("agent", "")
		s.settle()
		s.patch("Node", "b", `{"spec":{"taints":[{"key":"gpu","value":"present","effect":"NoSchedule"}]}}`)
		s.settle()
		// The taint alone does not make the controller count again; a touch does.
		s.touch("agent")
		s.settle()
		s.diagnose("agent", bed.Leave{}).node("a", "Healthy").
			node("b", "Misscheduled", "Misscheduled", "TaintToleration gpu=present:NoSchedule")
	})

	scenario(t, "noexecute-under-running-pod", func(s *stage) {
		s.node("a")
		s.node("b")
		s.daemonSet("agent", "")
		s.settle()
		s.patch("Node", "b", `{"spec":{"taints":[{"key":"maintenance","effect":"NoExecute"}]}}`)
		s.gone("agent", "b")
		s.touch("agent")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy").
			node("b", "Excluded", "TaintToleration maintenance:NoExecute")
	})

	scenario(t, "cordon", func(s *stage) {
		s.node("a")
		s.node("b", bed.Cordoned)
		s.daemonSet("agent", "")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy").node("b", "Healthy")
	})

	scenario(t, "drain", func(s *stage) {
		s.node("a")
		s.node("b")
		s.daemonSet("agent", "")
		s.bystander("other", "b", "")
		s.settle()
		drained := plugin.Kubectl(s.ctx, s.cluster.Kubeconfig(bed.Admin), "drain", "b", "--ignore-daemonsets", "--force", "--timeout=60s")
		if drained.Exit != 0 {
			s.Fatalf("%s\n%s", drained, drained.Stderr)
		}
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy").node("b", "Healthy")
	})

	scenario(t, "new-node-not-ready", func(s *stage) {
		s.node("a")
		s.node("bare", bed.NoKubelet, bed.NotReady)
		s.daemonSet("agent", "")
		s.settle()
		s.diagnose("agent", bed.Leave{}).node("a", "Healthy").
			node("bare", "Excluded", "TaintToleration node.kubernetes.io/not-ready:NoSchedule")
	})

	scenario(t, "autoscaler", func(s *stage) {
		s.node("a")
		s.daemonSet("agent", "")
		s.apply("{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: more}, spec: {maxReplicas: 3, " +
			"scaleTargetRef: {apiVersion: apps/v1, kind: DaemonSet, name: agent}}}")
		s.settle()
		said := plugin.Kubectl(s.ctx, s.cluster.Kubeconfig(bed.Doctor), "ds-doctor", "--lint", "-n", s.namespace, "agent")
		if !strings.Contains(said.Stdout, "HorizontalPodAutoscaler more") {
			s.Errorf("%s\n%s%s", said, said.Stdout, said.Stderr)
		}
	})

	scenario(t, "selector-overlap", func(s *stage) {
		s.node("a")
		s.daemonSet("agent", "")
		s.apply(`
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: twin}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: main, image: example.com/twin:1}]}`)
		s.settle()
		s.diagnose("agent", bed.Leave{}).node("a", "Healthy").workload("SelectorOverlap NS/twin")
	})

	scenario(t, "deleted-node", func(s *stage) {
		s.node("a")
		s.node("bare", bed.NoKubelet)
		s.daemonSet("agent", "")
		s.settle()
		s.stopControllerManager()
		s.must(s.cluster.Resource("Node", "").Delete(s.ctx, "bare", deleteNow))
		full := s.diagnose("agent", bed.Leave{Status: true}).node("a", "Healthy").node("bare", "Misscheduled", "NodeGone").workload("NodeGone bare", "StatusDisagrees desired 2 vs 1")

		// A node that is in no list is asked for by its name: it may just have joined.
		for _, one := range permissions(s) {
			if one.verb == "get" && one.resource == "nodes" {
				s.bind(bed.Others()[0], one.left)
				if !s.less(full, bed.Others()[0], "agent", one, map[access]bool{{"get", "nodes", ""}: true}) {
					s.Errorf("the node was not asked for by its name")
				}
			}
		}
	})
}

// gone waits until the controller has removed the pod from the node.
func (s *stage) gone(ds, node string) {
	s.Helper()
	s.until("the pod on "+node+" to go", func() bool {
		truth, err := s.cluster.Truth(s.ctx, s.namespace, ds)
		s.must(err)
		return len(truth.Pods[node]) == 0
	})
}

// touch has the controller look at the DaemonSet again.
func (s *stage) touch(ds string) {
	s.Helper()
	s.patch("DaemonSet", ds, `{"metadata":{"annotations":{"touched":"yes"}}}`)
}
