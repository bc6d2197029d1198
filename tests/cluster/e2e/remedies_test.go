package e2e

import (
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"ds-doctor/tests/cluster/bed"
)

var (
	remediesApplied atomic.Int32
	remedyKinds     atomic.Int32
)

// TestRemedies gives the commands of remedies that claim to fix nodes to a
// shell, each on a cluster of its own, and sees whether the pods come up there.
func TestRemedies(t *testing.T) {
	t.Parallel()

	// remedies expects at least so many remedies that claim to fix something.
	remedies := func(name string, atLeast int, arrange func(s *stage), args ...string) {
		scenario(t, "remedy-"+name, func(s *stage) {
			found := 1
			for i := 0; i < found; i++ {
				if i > 0 {
					s.again()
				}
				arrange(s)
				s.settle()
				report, _, err := plugin.Doctor(s.ctx, s.cluster.Kubeconfig(bed.Doctor), append([]string{"-n", s.namespace, "agent"}, args...)...)
				s.must(err)
				claims := claims(report)
				if found = len(claims); found < atLeast {
					s.Fatalf("%d remedies claim to fix something, not %d: %+v, %+v", found, atLeast, claims, report.Nodes)
				}
				s.applies(claims[i])
			}
			remedyKinds.Add(1)
		})
	}
	const (
		cpu  = "containers: [{name: main, image: example.com/agent:1, resources: {requests: {cpu: 500m}}}]"
		hog  = "containers: [{name: main, image: example.com/hog:1, resources: {requests: {cpu: 3800m}}}]"
		port = "containers: [{name: main, image: example.com/exporter:1, ports: [{containerPort: 9100, hostPort: 9100}]}]"
	)

	remedies("taint", 2, func(s *stage) {
		s.node("a")
		s.node("b", bed.Taint("dedicated", "db", "NoSchedule"))
		s.daemonSet("agent", "")
	})
	remedies("taint-and-other-tolerations", 2, func(s *stage) {
		s.node("b", bed.Taint("gpu", "", "NoExecute"))
		s.daemonSet("agent", "tolerations: [{key: other, operator: Exists}]")
	})
	remedies("two-taints", 1, func(s *stage) {
		s.node("b", bed.Taint("dedicated", "db", "NoSchedule"), bed.Taint("gpu", "", "NoSchedule"))
		s.daemonSet("agent", "")
	})
	// What leaves a node out by choice is looked into when the node is asked for.
	remedies("node-selector", 2, func(s *stage) {
		s.node("a", bed.Label("example.com/pool", "edge"))
		s.node("b")
		s.daemonSet("agent", "nodeSelector: {example.com/pool: edge}")
	}, "--node", "b")
	remedies("node-affinity", 2, func(s *stage) {
		s.node("b", bed.Label("virtual", "yes"))
		s.daemonSet("agent", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "+
			"[{matchExpressions: [{key: virtual, operator: DoesNotExist}]}]}}}")
	}, "--node", "b")
	remedies("cpu", 3, func(s *stage) {
		s.apply(priority("vip", 1000))
		s.node("a")
		s.bystander("hog", "a", hog)
		s.settle()
		s.daemonSet("agent", cpu)
	})
	remedies("memory-of-two-containers", 1, func(s *stage) {
		s.node("a", bed.Allocatable("memory", "1Gi"))
		s.daemonSet("agent", "containers: [{name: one, image: example.com/one:1, resources: {requests: {memory: 300Mi}}},"+
			" {name: two, image: example.com/two:1, resources: {requests: {memory: 900Mi}}}]")
	})
	remedies("too-many-pods", 1, func(s *stage) {
		s.node("a", bed.Allocatable("pods", "1"))
		s.bystander("only", "a", "")
		s.settle()
		s.daemonSet("agent", "")
	})
	remedies("host-port-of-a-daemonset", 2, func(s *stage) {
		s.node("a")
		s.daemonSet("legacy", port)
		s.settle()
		s.daemonSet("agent", port)
	})
	remedies("host-port-of-a-pod", 2, func(s *stage) {
		s.node("a")
		s.bystander("proxy", "a", "hostNetwork: true\ncontainers: [{name: main, image: example.com/proxy:1, ports: [{containerPort: 8443, protocol: UDP}]}]")
		s.settle()
		s.daemonSet("agent", "hostNetwork: true\ncontainers: [{name: main, image: example.com/agent:1, ports: [{containerPort: 8443, protocol: UDP}]}]")
	})
	remedies("anti-affinity", 2, func(s *stage) {
		s.node("a")
		s.bystander("rival", "a", "")
		s.settle()
		s.daemonSet("agent", "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "+
			"[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: rival}}}]}}")
	})
	remedies("repelled-by-a-running-pod", 1, func(s *stage) {
		s.node("a")
		s.bystander("hermit", "a", "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "+
			"[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: agent}}}]}}")
		s.settle()
		s.daemonSet("agent", "")
	})
	remedies("topology-spread", 1, func(s *stage) {
		s.node("a", bed.Label("rack", "1"))
		s.node("b", bed.Label("rack", "2"))
		s.bystander("one", "a", "")
		s.bystander("two", "a", "")
		s.settle()
		s.daemonSet("agent", "topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, nodeAffinityPolicy: Ignore, "+
			"labelSelector: {matchExpressions: [{key: app, operator: In, values: [agent, one, two]}]}}]")
	})
	remedies("port-and-cpu", 1, func(s *stage) {
		s.node("a")
		s.bystander("hog", "a", "containers: [{name: main, image: example.com/hog:1, ports: [{containerPort: 9100, hostPort: 9100}], resources: {requests: {cpu: 3800m}}}]")
		s.settle()
		s.daemonSet("agent", "containers: [{name: main, image: example.com/agent:1, ports: [{containerPort: 9100, hostPort: 9100}], resources: {requests: {cpu: 500m}}}]")
	})
}

// again empties the cluster for another try of the same.
func (s *stage) again() {
	s.Helper()
	s.must(s.cluster.Clear(s.ctx))
	s.must(s.cluster.Create(s.ctx, s.parse("{apiVersion: v1, kind: Namespace, metadata: {name: "+s.namespace+"}}")...))
	s.grant(bed.Doctor)
}

// claim is a remedy and the nodes on which it is said to bring the pod up.
type claim struct {
	title, command string
	nodes          []string
}

// claims are the remedies of a report, each once, with all the nodes that they are said to fix.
func claims(report *bed.Report) []claim {
	var found []claim
	for _, node := range report.Nodes {
		for _, cause := range node.Causes {
			for _, remedy := range cause.Remedies {
				if remedy.Command == "" || remedy.Effect == nil || len(remedy.Effect.Fixed) == 0 {
					continue
				}
				known := false
				for i := range found {
					if found[i].command == remedy.Command {
						found[i].nodes = append(found[i].nodes, remedy.Effect.Fixed...)
						known = true
					}
				}
				if !known {
					found = append(found, claim{remedy.Title, remedy.Command, remedy.Effect.Fixed})
				}
			}
		}
	}
	return found
}

// applies runs a remedy's command as a user pastes it, and waits for the pods.
func (s *stage) applies(remedy claim) {
	s.Helper()
	shell := exec.CommandContext(s.ctx, "sh", "-euc", remedy.command)
	shell.Env = plugin.Env(s.cluster.Kubeconfig(bed.Admin))
	if said, err := shell.CombinedOutput(); err != nil {
		s.Errorf("%s: %s: %v\n%s", remedy.title, remedy.command, err, said)
		return
	}
	// Up to 1.35 the scheduler does not try a pod again when one that repelled it goes, but after five minutes.
	s.within(7*time.Minute, "the pods that the remedy promised: "+remedy.title+": "+remedy.command, func() bool {
		for _, node := range remedy.nodes {
			pod := s.podOnOrNil("agent", node)
			if pod == nil || pod.DeletionTimestamp != nil || !bed.Ready(pod) {
				return false
			}
		}
		return true
	})
	s.settle()
	report, _, err := plugin.Doctor(s.ctx, s.cluster.Kubeconfig(bed.Doctor), "-n", s.namespace, "agent")
	s.must(err)
	for _, name := range remedy.nodes {
		if node := report.Node(name); node == nil || node.State != "Healthy" {
			s.Errorf("after %s: node %s is %+v", remedy.command, name, node)
		}
	}
	remediesApplied.Add(1)
	s.Logf("came true on %v: %s: %s", remedy.nodes, remedy.title, remedy.command)
}
