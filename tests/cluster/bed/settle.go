package bed

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Namespaced tells whether objects of the kind live in a namespace.
func Namespaced(kind string) bool {
	for _, k := range kinds {
		if k.kind == kind {
			return k.namespaced
		}
	}
	return false
}

// Unsettled names the parts that do not run, so that nobody waits for them.
type Unsettled struct {
	Scheduler, ControllerManager bool
}

// patience is how long a busy machine may take for what an idle one does in seconds.
const patience = 3 * time.Minute

// quiet is how long nothing may change before the cluster counts as settled.
const quiet = 1500 * time.Millisecond

// backoff is how long the scheduler may put off a pod that it will judge again.
const backoff = 12 * time.Second

// queued tells whether the scheduler is about to judge a pod: what it says of it
// may be of before its node was there.
func (c *Cluster) queued(ctx context.Context) bool {
	queue, err := c.SchedulerQueue(ctx)
	return err == nil && queue["active"]+queue["backoff"] > 0
}

// Settle waits until every component has done what it can: the node controller
// has seen the nodes, each DaemonSet has been synced, each pod is bound or has
// been judged, the kubelets' stand-in has started what is bound, and nothing has
// changed for a while.
func (c *Cluster) Settle(ctx context.Context, without Unsettled) error {
	deadline := time.Now().Add(patience)
	last, since := "", time.Now()
	nudged := time.Now()
	for {
		state, waiting, err := c.state(ctx, without)
		if err != nil {
			return err
		}
		if state != last || waiting != "" {
			last, since = state, time.Now()
		}
		if still := time.Since(since); still >= quiet && (without.Scheduler || still > backoff || !c.queued(ctx)) {
			return nil
		}
		if err := c.Running(); err != nil {
			return err
		}
		if time.Since(nudged) > 10*time.Second {
			nudged = time.Now()
			if err := c.nudgeKwok(ctx); err != nil {
				return err
			}
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the cluster does not settle: %s", waiting)
		}
		time.Sleep(150 * time.Millisecond)
	}
}

// nudgeKwok touches the nodes and pods that kwok should have started. It misses
// some: those that appear just while it takes a node's lease over.
func (c *Cluster) nudgeKwok(ctx context.Context) error {
	touch := []byte(fmt.Sprintf(`{"metadata":{"annotations":{"nudged":%q}}}`, time.Now()))
	nodes, err := c.Admin.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	fake := map[string]bool{}
	for _, node := range nodes.Items {
		if fake[node.Name] = node.Annotations[FakeKubelet] != ""; !fake[node.Name] {
			continue
		}
		if ready := slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}); !ready {
			if _, err := c.Admin.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, touch, metav1.PatchOptions{}); err != nil {
				return err
			}
		}
	}
	pods, err := c.Admin.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, pod := range pods.Items {
		if pod.Status.Phase == corev1.PodPending && fake[pod.Spec.NodeName] || pod.DeletionTimestamp != nil && fake[pod.Spec.NodeName] {
			_, err := c.Admin.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, touch, metav1.PatchOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
	}
	return nil
}

// state is everything whose change means that somebody is still at work, and
// what is certainly not done yet.
func (c *Cluster) state(ctx context.Context, without Unsettled) (state, waiting string, err error) {
	var text strings.Builder
	nodes, err := c.Admin.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", "", err
	}
	fake := map[string]bool{}
	for _, node := range nodes.Items {
		fake[node.Name] = node.Annotations[FakeKubelet] != ""
		fmt.Fprintln(&text, node.Name, node.Spec.Taints, node.Spec.Unschedulable, node.Labels)
		ready := false
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady {
				ready = condition.Status == corev1.ConditionTrue
				fmt.Fprintln(&text, condition.Status)
			}
		}
		if fake[node.Name] && !ready && node.Annotations["scenario/down"] == "" {
			waiting = "node " + node.Name + " is not ready"
		}
		if !without.ControllerManager {
			if tainted := hasTaint(&node, "node.kubernetes.io/not-ready", corev1.TaintEffectNoSchedule) || hasTaint(&node, "node.kubernetes.io/unreachable", corev1.TaintEffectNoSchedule); tainted == ready {
				waiting = "the node controller has not seen the state of " + node.Name
			}
		}
	}
	sets, err := c.Admin.AppsV1().DaemonSets("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", "", err
	}
	for _, ds := range sets.Items {
		// A pointer prints as its address, which is another in each list.
		collisions := int32(0)
		if ds.Status.CollisionCount != nil {
			collisions, ds.Status.CollisionCount = *ds.Status.CollisionCount, nil
		}
		fmt.Fprintln(&text, ds.Namespace, ds.Name, ds.Generation, collisions, ds.Status)
		if !without.ControllerManager && ds.DeletionTimestamp == nil && behind(&ds) {
			waiting = "DaemonSet " + ds.Name + " has not been synced"
		}
	}
	pods, err := c.Admin.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", "", err
	}
	for _, pod := range pods.Items {
		fmt.Fprintln(&text, pod.Namespace, pod.Name, pod.Spec.NodeName, pod.Status.Phase, pod.DeletionTimestamp != nil, pod.Status.NominatedNodeName)
		for _, condition := range pod.Status.Conditions {
			fmt.Fprintln(&text, condition.Type, condition.Status, condition.Message)
		}
		switch {
		case pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil:
			if !without.Scheduler && pod.Spec.SchedulerName == corev1.DefaultSchedulerName && len(pod.Status.Conditions) == 0 {
				waiting = "the scheduler has not judged pod " + pod.Name
			}
		case pod.Status.Phase == corev1.PodPending && fake[pod.Spec.NodeName] && pod.DeletionTimestamp == nil && pod.Annotations["scenario/kept"] == "":
			waiting = "kwok has not started pod " + pod.Name
		case pod.DeletionTimestamp != nil && fake[pod.Spec.NodeName] && len(pod.Finalizers) == 0:
			waiting = "pod " + pod.Name + " is still terminating"
		}
	}
	return text.String(), waiting, nil
}

func behind(ds *appsv1.DaemonSet) bool { return ds.Status.ObservedGeneration < ds.Generation }

func hasTaint(node *corev1.Node, key string, effect corev1.TaintEffect) bool {
	for _, taint := range node.Spec.Taints {
		if taint.Key == key && taint.Effect == effect {
			return true
		}
	}
	return false
}

// JudgeAgain replaces the scheduler by a new one and waits until it has judged
// every pod that is not bound.
func (c *Cluster) JudgeAgain(ctx context.Context) error {
	c.StopScheduler()
	if err := c.StartScheduler(); err != nil {
		return err
	}
	err := c.wait(ctx, patience, "the new scheduler to judge every pod", func() bool {
		queue, err := c.SchedulerQueue(ctx)
		if err != nil || queue["active"]+queue["backoff"] > 0 {
			return false
		}
		pods, err := c.Admin.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName="})
		if err != nil {
			return false
		}
		waiting := 0
		for _, pod := range pods.Items {
			if pod.Spec.SchedulerName == corev1.DefaultSchedulerName && pod.DeletionTimestamp == nil {
				waiting++
			}
		}
		return queue["unschedulable"]+queue["gated"] == waiting
	}, c.Running)
	if err != nil {
		return err
	}
	return c.Settle(ctx, Unsettled{})
}

// ClaimsBound waits until each claim that names its volume is bound to it.
func (c *Cluster) ClaimsBound(ctx context.Context) error {
	return c.wait(ctx, patience, "the claims to be bound", func() bool {
		claims, err := c.Admin.CoreV1().PersistentVolumeClaims("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false
		}
		for _, claim := range claims.Items {
			if claim.Spec.VolumeName != "" && claim.Status.Phase != corev1.ClaimBound {
				return false
			}
		}
		return true
	}, c.Running)
}

// CreationRefused tells whether the API server refuses the DaemonSet's pods.
func (c *Cluster) CreationRefused(ctx context.Context, ds *appsv1.DaemonSet) (bool, error) {
	events, err := c.Admin.CoreV1().Events(ds.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: "reason=FailedCreate,involvedObject.name=" + ds.Name,
	})
	if err != nil {
		return false, err
	}
	for _, event := range events.Items {
		if event.InvolvedObject.UID == ds.UID {
			return true, nil
		}
	}
	return false, nil
}
