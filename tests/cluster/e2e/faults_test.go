package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"ds-doctor/tests/cluster/bed"
)

// Parts of the control plane die and come back while the plugin is at work.
// Nothing may hang, nothing may be told that is not so, and afterwards the
// answer must be the right one.
func TestFaults(t *testing.T) {
	t.Parallel()

	// dies ends and starts a part of the control plane.
	type part struct {
		name        string
		stop        func(c *bed.Cluster)
		start       func(c *bed.Cluster) error
		takesTheAPI bool
	}
	parts := []part{
		{"kube-apiserver", (*bed.Cluster).StopAPIServer, (*bed.Cluster).StartAPIServer, true},
		{"etcd", (*bed.Cluster).StopEtcd, (*bed.Cluster).StartEtcd, true},
		{"kube-scheduler", (*bed.Cluster).StopScheduler, (*bed.Cluster).StartScheduler, false},
		{"kube-controller-manager", (*bed.Cluster).StopControllerManager, (*bed.Cluster).StartControllerManager, false},
	}
	// restart brings the part back, and the cluster to rest.
	restart := func(s *stage, p part) {
		s.Helper()
		s.must(p.start(s.cluster))
		s.must(s.cluster.WaitReady(s.ctx))
	}

	for _, p := range parts {
		scenario(t, "runs-while-"+p.name+"-restarts", func(s *stage) {
			s.node("a")
			s.node("b", bed.Taint("dedicated", "db", "NoSchedule"))
			s.node("full", bed.Allocatable("cpu", "100m"))
			s.daemonSet("healthy", "nodeSelector: {kubernetes.io/hostname: a}")
			s.daemonSet("pending", "containers: [{name: main, image: example.com/agent:1, resources: {requests: {cpu: 200m}}}]")
			s.settle()
			stop := make(chan struct{})
			ended := make(chan map[string]int)
			// Runs begin before the end, during the absence and after the return.
			for _, ds := range []string{"healthy", "pending"} {
				go func() {
					exits := map[string]int{}
					for {
						select {
						case <-stop:
							ended <- exits
							return
						default:
						}
						began := time.Now()
						report, result, err := plugin.Doctor(context.Background(), s.cluster.Kubeconfig(bed.Doctor), "-n", s.namespace, ds, "--request-timeout=10s")
						if took := time.Since(began); took > 90*time.Second {
							s.Errorf("a run took %v: %s", took, result)
						}
						exits[fmt.Sprint(ds, " exit ", result.Exit)]++
						if wrong := told(ds, report, result, err); wrong != "" {
							s.Errorf("while %s restarts, %s: %s\n%s", p.name, ds, wrong, result.Stderr)
						}
					}
				}()
			}
			for range 2 {
				time.Sleep(700 * time.Millisecond)
				p.stop(s.cluster)
				time.Sleep(1500 * time.Millisecond)
				restart(s, p)
			}
			time.Sleep(time.Second)
			close(stop)
			s.Logf("%v, %v", <-ended, <-ended)
			s.settle()
			s.diagnose("healthy", bed.Leave{}).exit(0).node("a", "Healthy")
			s.diagnose("pending", bed.Leave{}).exit(1).node("a", "Healthy").node("full", "Pending", "NodeResourcesFit cpu").
				node("b", "Excluded", "TaintToleration dedicated=db:NoSchedule")
		})

		scenario(t, "watch-while-"+p.name+"-restarts", func(s *stage) {
			s.node("a")
			s.daemonSet("agent", "")
			s.settle()
			watch, err := plugin.Start(s.ctx, s.cluster.Kubeconfig(bed.Doctor), "-n", s.namespace, "agent", "--watch", "--request-timeout=5s")
			s.must(err)
			defer watch.Stop()
			s.untilShown("the first look", watch.Stdout, "agent")
			p.stop(s.cluster)
			if p.takesTheAPI {
				s.untilShown("the trouble", watch.Stderr, "trying again")
			} else {
				time.Sleep(2500 * time.Millisecond)
			}
			restart(s, p)
			if p.takesTheAPI {
				s.untilShown("the return", watch.Stderr, "the cluster answers again")
			}
			// A new node shows that it follows on, and that all parts work again.
			s.node("new")
			s.until("the new node's pod", func() bool {
				pod := s.podOnOrNil("agent", "new")
				return pod != nil && bed.Ready(pod)
			})
			s.untilShown("the change", func() string { return healthyLines(watch.Stdout(), "new") }, "new")
			if code := watch.Stop(); code != 130 && code != -1 {
				s.Errorf("Ctrl-C ended the watch with exit code %d", code)
			}
			s.settle()
			s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy").node("new", "Healthy")
		})

		scenario(t, "wait-while-"+p.name+"-restarts", func(s *stage) {
			s.node("a", bed.Allocatable("cpu", "100m"))
			s.daemonSet("agent", "containers: [{name: main, image: example.com/agent:1, resources: {requests: {cpu: 200m}}}]")
			s.settle()
			wait, err := plugin.Start(s.ctx, s.cluster.Kubeconfig(bed.Doctor), "-n", s.namespace, "agent", "--wait", "--timeout=120s", "--request-timeout=5s", "-o", "json")
			s.must(err)
			s.untilShown("the first look", wait.Stderr, "0 of 1 nodes healthy")
			p.stop(s.cluster)
			time.Sleep(2500 * time.Millisecond)
			restart(s, p)
			// Now the node gets room.
			s.patchStatus("Node", "a", "{allocatable: {cpu: '4'}, capacity: {cpu: '4'}}")
			if code := wait.Wait(); code != 0 {
				s.Errorf("the wait ended with exit code %d\n%s%s", code, wait.Stderr(), wait.Stdout())
			}
			s.settle()
			s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy")
		})
	}
}

// told is what is wrong with an answer that was given while parts of the
// cluster were away: it may be none, never a false one.
func told(ds string, report *bed.Report, result bed.Result, err error) string {
	if result.Exit == 2 {
		if lines := strings.Count(strings.TrimSpace(result.Stderr), "\n") + 1; lines != 1 {
			return fmt.Sprintf("exit code 2 with %d lines", lines)
		}
		return ""
	}
	if err != nil {
		return err.Error()
	}
	allowed := map[string][]string{
		"a":    {"Healthy"},
		"b":    {"Excluded TaintToleration dedicated=db:NoSchedule"},
		"full": {"Pending NodeResourcesFit cpu"},
	}
	if ds == "healthy" {
		allowed = map[string][]string{
			"a": {"Healthy"}, "b": {"Excluded NodeAffinity nodeSelector kubernetes.io/hostname=a; TaintToleration dedicated=db:NoSchedule",
				"Excluded TaintToleration dedicated=db:NoSchedule; NodeAffinity nodeSelector kubernetes.io/hostname=a"},
			"full": {"Excluded NodeAffinity nodeSelector kubernetes.io/hostname=a"},
		}
	}
	for i := range report.Nodes {
		node := &report.Nodes[i]
		have := strings.TrimSpace(brief(node))
		right := false
		for _, fine := range allowed[node.Name] {
			right = right || have == fine
		}
		// What could not be read is not known, and that is said.
		if !right && !(node.State == "Unknown" && len(report.Missing) > 0) && !(len(report.Missing) > 0 && len(node.Causes) == 0) {
			return fmt.Sprintf("node %s is said to be %q (missing %+v)", node.Name, have, report.Missing)
		}
	}
	want := map[string][]int{"healthy": {0}, "pending": {1}}[ds]
	if len(report.Missing) > 0 {
		want = append(want, 3)
	}
	for _, code := range want {
		if result.Exit == code {
			return ""
		}
	}
	return fmt.Sprintf("%s, missing %+v", result, report.Missing)
}

// untilShown polls what a command in the background has written.
func (s *stage) untilShown(what string, text func() string, words string) {
	s.Helper()
	deadline := time.Now().Add(patience)
	for !strings.Contains(text(), words) {
		if time.Now().After(deadline) {
			s.Fatalf("%s is not shown: %q", what, text())
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// healthyLines are those that tell of a node that it is healthy.
func healthyLines(text, node string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, node) && strings.Contains(line, "Healthy") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
