package bed

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A bound pod shows that the scheduler found room for it, unless pods come to
// the node that nobody asks the scheduler about.
func TestPlacedPodAgainstFailingCheck(t *testing.T) {
	yes := true
	pod := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "agent-x"},
		Spec:       corev1.PodSpec{NodeName: "a"},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
	report := &Report{Nodes: []NodeReport{{
		Name: "a", State: "Healthy", ShouldRun: &yes,
		Pods:   []PodReport{{Name: "agent-x", Phase: "Running", Bound: true, Ready: true, UpToDate: true}},
		Checks: []Check{{Plugin: "NodePorts", Verdict: "fail", Reasons: []string{"node(s) didn't have free ports for the requested pod ports"}}},
	}}}
	for _, unasked := range []bool{false, true} {
		truth := Truth{
			DaemonSet: &appsv1.DaemonSet{Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: 1, CurrentNumberScheduled: 1, NumberReady: 1}},
			Pods:      map[string][]corev1.Pod{"a": {pod}}, Nodes: []string{"a"}, Unasked: map[string]bool{"a": unasked},
		}
		if wrong := truth.Compare(report, Leave{}); (len(wrong) == 0) != unasked {
			t.Errorf("unasked=%t: %q", unasked, wrong)
		}
	}
}
