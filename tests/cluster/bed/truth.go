package bed

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Truth is what the cluster itself says about one DaemonSet.
type Truth struct {
	DaemonSet *appsv1.DaemonSet
	// Pods that the DaemonSet owns, by the node that they are for.
	Pods map[string][]corev1.Pod
	// Nodes that exist.
	Nodes []string
	// Unasked are nodes to which pods come that the scheduler has not placed: their
	// DaemonSet's template names the node. They take what others hold already.
	Unasked map[string]bool
}

// Truth reads it.
func (c *Cluster) Truth(ctx context.Context, namespace, name string) (*Truth, error) {
	ds, err := c.Admin.AppsV1().DaemonSets(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	nodes, err := c.Admin.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	pods, err := c.Admin.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	sets, err := c.Admin.AppsV1().DaemonSets("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	truth := &Truth{DaemonSet: ds, Pods: map[string][]corev1.Pod{}, Unasked: map[string]bool{}}
	for _, set := range sets.Items {
		if name := set.Spec.Template.Spec.NodeName; name != "" {
			truth.Unasked[name] = true
		}
	}
	for _, node := range nodes.Items {
		truth.Nodes = append(truth.Nodes, node.Name)
	}
	for _, pod := range pods.Items {
		if owner := metav1.GetControllerOf(&pod); owner != nil && owner.UID == ds.UID {
			node := TargetNode(&pod)
			truth.Pods[node] = append(truth.Pods[node], pod)
		}
	}
	return truth, nil
}

// TargetNode is the node that a pod is bound to, or pinned to by the controller.
func TargetNode(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return pod.Spec.NodeName
	}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, field := range term.MatchFields {
				if field.Key == "metadata.name" && len(field.Values) == 1 {
					return field.Values[0]
				}
			}
		}
	}
	return ""
}

// Waits tells whether the pod is to be placed but is not, and what the
// scheduler said about it.
func Waits(pod *corev1.Pod) (message string, waits bool) {
	if pod.Spec.NodeName != "" {
		return "", false
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return condition.Message, true
		}
	}
	return "", true
}

// Leave says what of a comparison does not hold in a scenario.
type Leave struct {
	// Status: the controller has not caught up, so its counters are old.
	Status bool
	// Scheduler: the scheduler has not judged, or not since things changed.
	Scheduler bool
	// Creation: the controller can't or won't make the pods that it wants.
	Creation bool
}

// Compare lists every point at which the report differs from the cluster.
func (t *Truth) Compare(report *Report, leave Leave) []string {
	var wrong []string
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, name := range t.Nodes {
		if report.Node(name) == nil {
			say("node %s is not in the report", name)
		}
	}
	desired, current, misscheduled, ready := 0, 0, 0, 0
	for i := range report.Nodes {
		node := &report.Nodes[i]
		pods := t.Pods[node.Name]
		for _, difference := range comparePods(node, pods) {
			say("node %s: %s", node.Name, difference)
		}
		exists := slices.Contains(t.Nodes, node.Name)
		if exists && node.ShouldRun == nil {
			say("node %s: whether the pod is wanted is not answered", node.Name)
			continue
		}
		wanted := node.ShouldRun != nil && *node.ShouldRun
		if wanted {
			desired++
		}
		if len(pods) > 0 && exists {
			if wanted {
				current++
				// The controller counts a terminating pod until it is gone.
				if slices.ContainsFunc(pods, func(p corev1.Pod) bool { return readyCondition(&p) }) {
					ready++
				}
			} else {
				misscheduled++
			}
		}
		if wanted && len(pods) == 0 && !leave.Creation {
			say("node %s: said to be wanted, but the controller made no pod (state %s, causes %v)", node.Name, node.State, node.Causes)
		}
		if !leave.Scheduler {
			for _, difference := range compareScheduling(node, pods, t.Unasked[node.Name]) {
				say("node %s: %s", node.Name, difference)
			}
		}
	}
	if !leave.Status {
		status := t.DaemonSet.Status
		for _, counter := range []struct {
			name         string
			theirs, ours int
		}{
			{"desiredNumberScheduled", int(status.DesiredNumberScheduled), desired},
			{"currentNumberScheduled", int(status.CurrentNumberScheduled), current},
			{"numberMisscheduled", int(status.NumberMisscheduled), misscheduled},
			{"numberReady", int(status.NumberReady), ready},
		} {
			if counter.theirs != counter.ours {
				say("%s is %d by the controller, %d by the report's nodes", counter.name, counter.theirs, counter.ours)
			}
			if recount, ok := report.DaemonSet.Recount[counter.name].(float64); ok && int(recount) != counter.theirs {
				say("%s is %d by the controller, %v by the recount", counter.name, counter.theirs, recount)
			}
		}
	}
	return wrong
}

// Ready tells whether the pod is ready and not on its way out.
func Ready(pod *corev1.Pod) bool { return pod.DeletionTimestamp == nil && readyCondition(pod) }

func readyCondition(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func comparePods(node *NodeReport, pods []corev1.Pod) (wrong []string) {
	describe := func(name, phase string, bound, ready, terminating bool) string {
		return fmt.Sprintf("%s %s bound=%t ready=%t terminating=%t", name, phase, bound, ready, terminating)
	}
	var theirs, ours []string
	for _, pod := range pods {
		theirs = append(theirs, describe(pod.Name, string(pod.Status.Phase), pod.Spec.NodeName != "", Ready(&pod), pod.DeletionTimestamp != nil))
	}
	for _, pod := range node.Pods {
		ours = append(ours, describe(pod.Name, pod.Phase, pod.Bound, pod.Ready, pod.Terminating))
	}
	sort.Strings(theirs)
	sort.Strings(ours)
	if !slices.Equal(theirs, ours) {
		wrong = append(wrong, fmt.Sprintf("pods are %v in the cluster, %v in the report", theirs, ours))
	}
	return wrong
}

// filterOrder is the order in which the default profile asks its plugins.
var filterOrder = []string{
	"SchedulingGates", "NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
	"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity",
	"DynamicResources", "NodeDeclaredFeatures",
}

var (
	agreed   = map[string]int{}
	agreedMu sync.Mutex
)

func agreedOn(plugin string) {
	agreedMu.Lock()
	defer agreedMu.Unlock()
	agreed[plugin]++
}

// Agreed is on how many waiting pods scheduler and report agreed, by the plugin
// that refuses.
func Agreed() string {
	agreedMu.Lock()
	defer agreedMu.Unlock()
	var texts []string
	for _, plugin := range filterOrder {
		if n := agreed[plugin]; n > 0 {
			texts = append(texts, fmt.Sprintf("%s %d", plugin, n))
		}
	}
	return strings.Join(texts, ", ")
}

// compareScheduling holds the checks on a node against what the scheduler did
// with the pod there. The scheduler stops at the first plugin that refuses, so
// its words are those of the first check that fails.
func compareScheduling(node *NodeReport, pods []corev1.Pod, unasked bool) (wrong []string) {
	failing := map[string][]string{}
	for _, check := range node.Checks {
		if check.Verdict == "fail" {
			failing[check.Plugin] = check.Reasons
		}
	}
	for i := range pods {
		pod := &pods[i]
		message, waits := Waits(pod)
		if !waits {
			// Its place was found in the state of then: only what later pods and
			// changes cannot undo is compared. The checks are about the template of now.
			if !unasked && pod.DeletionTimestamp == nil && len(pods) == 1 && len(node.Pods) == 1 && node.Pods[0].UpToDate {
				for _, plugin := range []string{"NodePorts", "NodeResourcesFit", "VolumeBinding", "VolumeZone"} {
					if reasons, fails := failing[plugin]; fails {
						wrong = append(wrong, fmt.Sprintf("the scheduler placed pod %s, the check %s fails: %v", pod.Name, plugin, reasons))
					}
				}
			}
			continue
		}
		if message == "" {
			wrong = append(wrong, fmt.Sprintf("the scheduler has said nothing on pod %s", pod.Name))
			continue
		}
		said := ParseUnschedulable(message)
		plugin := firstFailing(failing, said)
		if plugin == "" {
			wrong = append(wrong, fmt.Sprintf("the scheduler says %q, the checks that fail are %v", message, failing))
		} else {
			agreedOn(plugin)
		}
	}
	return wrong
}

// firstFailing names the check whose reasons are the scheduler's words, if no
// check before it fails too.
func firstFailing(failing map[string][]string, said Unschedulable) string {
	for _, plugin := range filterOrder {
		reasons, fails := failing[plugin]
		if !fails {
			continue
		}
		if said.PreFilter != "" {
			// All nodes were refused at once; other plugins were not asked on this one.
			if slices.ContainsFunc(reasons, func(reason string) bool { return strings.Contains(said.PreFilter, reason) }) {
				return plugin
			}
			continue
		}
		if sameSet(reasons, said.Reasons) {
			return plugin
		}
		return ""
	}
	return ""
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	sort.Strings(a)
	sort.Strings(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}
