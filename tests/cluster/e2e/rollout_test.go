package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ds-doctor/tests/cluster/bed"
)

// A new template on its way.
func TestRollout(t *testing.T) {
	t.Parallel()

	const (
		nextImage = `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.com/agent:2"}]}}}}`
		tooMuch   = `{"spec":{"template":{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"100"}}}]}}}}`
	)

	// resolved expects the numbers that the strategy comes down to.
	resolved := func(v *verdict, unavailable, surge int) {
		v.Helper()
		if fmt.Sprint(v.Report.Rollout.MaxUnavailable) != fmt.Sprint(unavailable) || fmt.Sprint(v.Report.Rollout.MaxSurge) != fmt.Sprint(surge) {
			v.Errorf("maxUnavailable is %v and maxSurge %v, not %d and %d", v.Report.Rollout.MaxUnavailable, v.Report.Rollout.MaxSurge, unavailable, surge)
		}
	}
	count := func(v *verdict, state string) int { return v.Report.Summary.States[state] }

	scenario(t, "rollout-complete", func(s *stage) {
		s.node("a")
		s.node("b")
		s.daemonSet("agent", "")
		s.settle()
		s.update("agent", nextImage)
		s.until("the new revision", func() bool { return s.updated("agent") })
		s.settle()
		v := s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy").node("b", "Healthy")
		resolved(v, 1, 0)
		if v.Report.Rollout.Phase != "complete" {
			v.Errorf("phase %q", v.Report.Rollout.Phase)
		}
	})

	// stuck: a release that fits nowhere takes as many pods down as the budget allows.
	stuck := func(name, maxUnavailable string, nodes, budget int) {
		scenario(t, name, func(s *stage) {
			for i := range nodes {
				s.node(fmt.Sprintf("n%d", i))
			}
			s.daemonSet("agent", "", "updateStrategy: {rollingUpdate: {maxUnavailable: "+maxUnavailable+"}}")
			s.settle()
			s.update("agent", tooMuch)
			s.until("the budget to be used up", func() bool { return s.unplaced("agent") == budget })
			s.settle()
			v := s.diagnose("agent", bed.Leave{}).exit(1)
			resolved(v, budget, 0)
			if count(v, "Pending") != budget || count(v, "Outdated") != nodes-budget {
				v.Errorf("states are %v, not %d Pending and %d Outdated", v.Report.Summary.States, budget, nodes-budget)
			}
			if v.Report.Rollout.Phase != "stuck" {
				v.Errorf("phase %q: %s", v.Report.Rollout.Phase, v.Report.Rollout.Message)
			}
			v.workload(fmt.Sprintf("RolloutBudget %d/%d", budget, budget))
			for _, node := range v.Report.Nodes {
				if node.State == "Outdated" {
					v.expect("node "+node.Name, node.Causes, []string{"OldRevision"})
				} else {
					v.expect("node "+node.Name, node.Causes, []string{"NodeResourcesFit cpu"})
				}
			}
		})
	}
	stuck("stuck-max-unavailable-number", "2", 5, 2)
	// 30 % of 5 is 1.5, which is rounded up.
	stuck("stuck-max-unavailable-percent", "30%", 5, 2)

	scenario(t, "surge-blocked", func(s *stage) {
		s.node("a")
		s.node("b")
		s.daemonSet("agent", "containers: [{name: main, image: 'example.com/agent:1', ports: [{containerPort: 80, hostPort: 8080}]}]",
			"updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}")
		s.settle()
		s.update("agent", nextImage)
		s.until("the surge pod to wait", func() bool { return s.unplaced("agent") == 1 })
		s.settle()
		v := s.diagnose("agent", bed.Leave{Scheduler: true}).exit(1)
		resolved(v, 0, 1)
		blocked := 0
		for _, node := range v.Report.Nodes {
			for _, cause := range node.Causes {
				if cause.Code == "RolloutSurgeBlocked" {
					blocked++
				}
			}
		}
		if blocked == 0 {
			for _, cause := range v.Report.Causes {
				if cause.Code == "RolloutSurgeBlocked" {
					blocked++
				}
			}
		}
		if blocked == 0 {
			v.Errorf("no cause RolloutSurgeBlocked: %+v, %+v", v.Report.Causes, v.Report.Nodes)
		} else {
			covered("RolloutSurgeBlocked")
		}
	})

	scenario(t, "on-delete", func(s *stage) {
		s.node("a")
		s.node("b")
		s.daemonSet("agent", "", "updateStrategy: {type: OnDelete}")
		s.settle()
		s.update("agent", nextImage)
		s.settle()
		s.must(s.cluster.Resource("Pod", s.namespace).Delete(s.ctx, s.podOn("agent", "b").Name, deleteNow))
		s.until("the pod on b to be new", func() bool { return s.images("agent", "b") == "example.com/agent:2" })
		s.settle()
		v := s.diagnose("agent", bed.Leave{}).node("b", "Healthy").node("a", "Outdated", "OldRevision").workload("RolloutOnDelete")
		if v.Report.Rollout.Strategy != "OnDelete" {
			v.Errorf("strategy %q", v.Report.Rollout.Strategy)
		}
	})

	scenario(t, "on-delete-in-order", func(s *stage) {
		// A pod that serves nobody costs nothing when it goes: it is the first to be deleted.
		s.node("a")
		s.node("bare", bed.NoKubelet)
		s.daemonSet("agent", "", "updateStrategy: {type: OnDelete}")
		s.settle()
		s.kubelet("agent", "bare", `
phase: Running
conditions: [{type: Ready, status: "False"}]
containerStatuses:
- {name: main, ready: false, started: true, restartCount: 0, image: "example.com/agent:1", imageID: "x", state: {running: {startedAt: "2026-01-01T00:00:00Z"}}}`)
		s.update("agent", nextImage)
		s.settle()
		v := s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Outdated", "OldRevision").node("bare", "Unhealthy", "NotReady").workload("RolloutOnDelete")
		want := "delete pod " + s.podOn("agent", "bare").Name
		for _, cause := range v.Report.Causes {
			if len(cause.Remedies) == 0 || !strings.HasSuffix(cause.Remedies[0].Command, want) {
				v.Errorf("remedies %+v, not %q first", cause.Remedies, want)
			}
		}
	})

	scenario(t, "budget-of-a-node-that-is-left", func(s *stage) {
		// The pod on a tainted node does not go, and no pod is wanted there any more: it uses the budget up all the same.
		s.node("bare", bed.NoKubelet)
		s.node("b")
		s.node("c")
		s.daemonSet("agent", "")
		s.settle()
		s.kubelet("agent", "bare", `
phase: Running
conditions: [{type: Ready, status: "True"}, {type: ContainersReady, status: "True"}]
containerStatuses:
- {name: main, ready: true, started: true, restartCount: 0, image: "example.com/agent:1", imageID: "x", state: {running: {startedAt: "2026-01-01T00:00:00Z"}}}`)
		s.patch("Pod", s.podOn("agent", "bare").Name, `{"metadata":{"finalizers":["example.com/hold"]}}`)
		s.patch("Node", "bare", `{"spec":{"taints":[{"key":"drained","value":"yes","effect":"NoExecute"}]}}`)
		s.until("the pod to be terminating", func() bool { return s.podOn("agent", "bare").DeletionTimestamp != nil })
		s.update("agent", nextImage)
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).
			node("bare", "Terminating", "TaintToleration drained=yes:NoExecute", "Terminating finalizer example.com/hold").
			node("b", "Outdated", "OldRevision").node("c", "Outdated", "OldRevision").workload("RolloutBudget 1/1")
	})

	scenario(t, "hash-collision", func(s *stage) {
		// Another revision has the name that the template's hash makes: the controller counts a collision
		// and takes another name.
		s.node("a")
		s.daemonSet("agent", "")
		s.settle()
		name := s.revisions()[0]
		s.must(s.cluster.Resource("DaemonSet", s.namespace).Delete(s.ctx, "agent", deleteNow))
		s.until("its revision and pod to be gone", func() bool {
			pods, err := s.cluster.Admin.CoreV1().Pods(s.namespace).List(s.ctx, listAll)
			s.must(err)
			return len(s.revisions())+len(pods.Items) == 0
		})
		s.apply("{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: " + name + "}, revision: 1, data: {spec: {other: true}}}")
		s.daemonSet("agent", "")
		s.until("the new revision", func() bool { return s.updated("agent") })
		s.settle()
		v := s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy").workload()
		if v.Report.Rollout.Phase != "complete" {
			v.Errorf("phase %q", v.Report.Rollout.Phase)
		}
		have, err := s.cluster.Admin.AppsV1().DaemonSets(s.namespace).Get(s.ctx, "agent", getNow)
		s.must(err)
		if have.Status.CollisionCount == nil || *have.Status.CollisionCount != 1 {
			v.Errorf("the collision did not come about: %v", have.Status.CollisionCount)
		}
	})

	scenario(t, "orphaned-revision", func(s *stage) {
		// While the controller is away, a revision loses its owner: the pods are of the current one all the same.
		s.node("a")
		s.daemonSet("agent", "")
		s.settle()
		s.stopControllerManager()
		s.patch("ControllerRevision", s.revisions()[0], `{"metadata":{"ownerReferences":null}}`)
		s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy").workload()
		s.must(s.cluster.StartControllerManager())
		s.without["kube-controller-manager"] = false
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy").workload()
	})

	scenario(t, "rollout-idle", func(s *stage) {
		s.node("a")
		s.node("b")
		s.daemonSet("agent", "")
		s.settle()
		s.update("agent", tooMuch)
		s.until("the budget to be used up", func() bool { return s.unplaced("agent") == 1 })
		s.settle()
		s.stopControllerManager()
		for _, node := range []string{"a", "b"} {
			s.patchStatus("Node", node, "allocatable: {cpu: '1000'}")
		}
		s.until("the new pod to be placed", func() bool { return s.unplaced("agent") == 0 })
		s.settle()
		// The budget is free again, and the controller, which does not run, has had a quarter of an hour.
		later := time.Now().Add(15 * time.Minute).UTC().Format(time.RFC3339)
		s.diagnose("agent", bed.Leave{}, "--now", later).exit(1).workload("RolloutIdle")
	})

	scenario(t, "rollback", func(s *stage) {
		s.node("a")
		s.node("b")
		s.daemonSet("agent", "")
		s.settle()
		s.update("agent", tooMuch)
		s.until("the budget to be used up", func() bool { return s.unplaced("agent") == 1 })
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1)
		undone := plugin.Kubectl(s.ctx, s.cluster.Kubeconfig(bed.Admin), "rollout", "undo", "-n", s.namespace, "ds/agent")
		if undone.Exit != 0 {
			s.Fatalf("%s\n%s", undone, undone.Stderr)
		}
		s.until("the old revision", func() bool { return s.updated("agent") && s.unplaced("agent") == 0 })
		s.settle()
		v := s.diagnose("agent", bed.Leave{}).exit(0).node("a", "Healthy").node("b", "Healthy")
		if v.Report.Rollout.Phase != "complete" {
			v.Errorf("phase %q", v.Report.Rollout.Phase)
		}
	})
}

// revisions are the names of the namespace's ControllerRevisions.
func (s *stage) revisions() []string {
	s.Helper()
	list, err := s.cluster.Admin.AppsV1().ControllerRevisions(s.namespace).List(s.ctx, listAll)
	s.must(err)
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// unplaced counts the pods that wait for a place.
func (s *stage) unplaced(ds string) int {
	s.Helper()
	truth, err := s.cluster.Truth(s.ctx, s.namespace, ds)
	s.must(err)
	n := 0
	for _, pods := range truth.Pods {
		for i := range pods {
			if _, waits := bed.Waits(&pods[i]); waits && pods[i].DeletionTimestamp == nil {
				n++
			}
		}
	}
	return n
}

func (s *stage) images(ds, node string) string {
	if pod := s.podOnOrNil(ds, node); pod != nil && pod.DeletionTimestamp == nil {
		return pod.Spec.Containers[0].Image
	}
	return ""
}
