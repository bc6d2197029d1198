package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	_ "unsafe" // go:linkname

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/daemon"
	daemonutil "k8s.io/kubernetes/pkg/controller/daemon/util"
	testingclock "k8s.io/utils/clock/testing"
)

//go:linkname syncDaemonSet k8s.io/kubernetes/pkg/controller/daemon.(*DaemonSetsController).syncDaemonSet
func syncDaemonSet(dsc *daemon.DaemonSetsController, ctx context.Context, key string) error

// now is the controller's clock. Objects of the corpora are older, so that minReadySeconds has one answer.
var now = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// controllerAnswer is what one sync of the DaemonSet did.
type controllerAnswer struct {
	status  appsv1.DaemonSetStatus
	hash    string
	current *appsv1.ControllerRevision
	created []*v1.Pod
	deleted map[string]string // namespace/name -> node
}

// runController runs the real sync once. The stores are filled by hand and no informer runs, so that the sync sees the
// objects as given and never its own writes.
func runController(ctx context.Context, cl *cluster) (*controllerAnswer, error) {
	client, dsc, err := newController(ctx, cl)
	if err != nil {
		return nil, err
	}
	if err := syncDaemonSet(dsc, ctx, cl.ds.Namespace+"/"+cl.ds.Name); err != nil {
		return nil, fmt.Errorf("syncDaemonSet: %w", err)
	}
	ans := &controllerAnswer{}
	ans.created, ans.deleted = writes(client, cl)
	ds, err := client.AppsV1().DaemonSets(cl.ds.Namespace).Get(ctx, cl.ds.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	ans.status = ds.Status
	// The current revision is the one that the sync made or kept, always the highest.
	revs, err := client.AppsV1().ControllerRevisions(cl.ds.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var last int64 = -1
	for _, r := range revs.Items {
		if metav1.IsControlledBy(&r, cl.ds) && r.Revision > last {
			last, ans.hash, ans.current = r.Revision, r.Labels[appsv1.DefaultDaemonSetUniqueLabelKey], &r
		}
	}
	return ans, nil
}

// newController is upstream's, on a fake API.
func newController(ctx context.Context, cl *cluster) (*fake.Clientset, *daemon.DaemonSetsController, error) {
	client := fake.NewSimpleClientset(cl.copies(nil)...)
	// The fake API has no generateName.
	var made int
	var mu sync.Mutex
	client.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		pod := a.(clienttesting.CreateAction).GetObject().(*v1.Pod)
		if made++; pod.Name == "" {
			pod.Name = fmt.Sprintf("%snew%d", pod.GenerateName, made)
		}
		return false, nil, nil
	})
	factory := informers.NewSharedInformerFactory(client, 0)
	apps, core := factory.Apps().V1(), factory.Core().V1()
	dsc, err := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(),
		client, flowcontrol.NewFakeBackOff(50*time.Millisecond, 500*time.Millisecond, testingclock.NewFakeClock(now)))
	if err != nil {
		return nil, nil, err
	}
	for _, o := range cl.copies(nil) {
		switch o := o.(type) {
		case *appsv1.DaemonSet:
			apps.DaemonSets().Informer().GetStore().Add(o)
		case *appsv1.ControllerRevision:
			apps.ControllerRevisions().Informer().GetStore().Add(o)
		case *v1.Pod:
			core.Pods().Informer().GetStore().Add(o)
		case *v1.Node:
			core.Nodes().Informer().GetStore().Add(o)
		}
	}
	return client, dsc, nil
}

// writes are the pods that the controller created, and those that it deleted with their nodes.
func writes(client *fake.Clientset, cl *cluster) (created []*v1.Pod, deleted map[string]string) {
	deleted = map[string]string{}
	for _, a := range client.Actions() {
		if a.GetResource().Resource != "pods" {
			continue
		}
		switch a := a.(type) {
		case clienttesting.CreateActionImpl:
			created = append(created, a.GetObject().(*v1.Pod))
		case clienttesting.DeleteActionImpl:
			name := a.GetNamespace() + "/" + a.GetName()
			for _, p := range cl.pods {
				if p.Namespace+"/"+p.Name == name {
					deleted[name] = targetNode(p)
				}
			}
		}
	}
	return created, deleted
}

// targetNode is the node that a pod is on or, not bound yet, pinned to.
func targetNode(p *v1.Pod) string {
	if p.Spec.NodeName != "" {
		return p.Spec.NodeName
	}
	n, _ := daemonutil.GetTargetNodeName(p)
	return n
}

// controllerVerdict asks upstream about one node: the decision itself, then each part of it.
func controllerVerdict(logger klog.Logger, cl *cluster, ans *controllerAnswer, node *v1.Node) ControllerVerdict {
	var c ControllerVerdict
	c.ShouldRun, c.ShouldContinueRunning = nodeShouldRun(logger, node, cl.ds)
	spec := cl.ds.Spec.Template.Spec.DeepCopy()
	daemonutil.AddOrUpdateDaemonPodTolerations(spec)
	c.TemplateNodeNameOk = spec.NodeName == "" || spec.NodeName == node.Name
	sel := &v1.Pod{Spec: v1.PodSpec{NodeSelector: spec.NodeSelector}}
	c.NodeSelectorOk, _ = nodeaffinity.GetRequiredNodeAffinity(sel).Match(node)
	aff := &v1.Pod{Spec: v1.PodSpec{Affinity: spec.Affinity}}
	var err error
	c.NodeAffinityOk, err = nodeaffinity.GetRequiredNodeAffinity(aff).Match(node)
	if err != nil {
		c.AffinityParseError = err.Error()
	}
	c.TaintsOk = true
	for i := range node.Spec.Taints {
		t := &node.Spec.Taints[i]
		if t.Effect != v1.TaintEffectPreferNoSchedule && !tolerates(logger, spec.Tolerations, t) {
			c.TaintsOk = false
			c.UntoleratedTaints = append(c.UntoleratedTaints, t.ToString())
		}
	}
	for _, p := range ans.created {
		c.CreatesPod = c.CreatesPod || targetNode(p) == node.Name
	}
	for name, n := range ans.deleted {
		if n == node.Name {
			c.DeletesPods = append(c.DeletesPods, name)
		}
	}
	slices.Sort(c.DeletesPods)
	return c
}

func (ans *controllerAnswer) verdict(ds *DaemonSetVerdict) {
	ds.Status, ds.Hash, ds.CreatedOn = ans.status, ans.hash, []string{}
	for _, p := range ans.created {
		ds.CreatedOn = append(ds.CreatedOn, targetNode(p))
	}
	for name, n := range ans.deleted {
		ds.Deleted = append(ds.Deleted, name+"@"+n)
	}
	slices.Sort(ds.CreatedOn)
	slices.SortFunc(ds.Deleted, strings.Compare)
}
